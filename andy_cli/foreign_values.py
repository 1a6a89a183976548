"""Values that others wrote, read without a fault: JSON, schemas, texts with half characters."""

import base64
import json
from collections.abc import Mapping
from typing import Any

MAX_SCHEMA_DEPTH = 40
"""Levels of a schema that are read."""
MAPS_OF_SCHEMAS = ("properties", "$defs", "definitions")
SCHEMA_KEYWORDS = "items prefixItems additionalProperties anyOf oneOf allOf".split()


def read_json(text: str | bytes, otherwise: object = None) -> object:
    """The value of a JSON text; `otherwise` for a text that is none, or nested too deeply."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
    return value


class WrittenFloat(float):
    """A float that Python would write differently: `3.10`, `1e3`. `str` gives it as it was written,
    since a model that leaves out the quotation marks of a version means that text."""

    __slots__ = ("_text",)
    _text: str

    def __new__(cls, text: str) -> "WrittenFloat":
        number = super().__new__(cls, text)
        number._text = text
        return number

    def __str__(self) -> str:
        return self._text


def read_float(text: str) -> float:
    """Read a float of JSON that a model wrote; a WrittenFloat keeps how it was written."""
    number = float(text)
    return number if str(number) == text else WrittenFloat(text)


def as_record(value: object) -> Mapping[str, Any]:
    """The object that was sent; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def as_records(value: object) -> list[Mapping[str, Any]]:
    """The objects in the list that was sent, whatever else was in it; none for anything else."""
    elements = value if isinstance(value, list | tuple) else ()
    return [element for element in elements if isinstance(element, Mapping)]


def text_of(record: Mapping[str, object], key: str) -> str:
    """The text under a key; empty for anything else."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def decode_base64url(text: str) -> bytes:
    """The bytes of a base64url text, which many write without its padding. Raises ValueError."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def replace_surrogates(text: str) -> str:
    """Join the halves of characters, and replace those that are alone: no request can hold them.

    They come with file names that are not UTF-8, out of `\\ud83d` in what a model writes, and from
    servers that cut a text between them.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def standardize_required(schema: Mapping[str, object], depth: int = 0) -> dict[str, object]:
    """Write at each object of a JSON Schema which of its properties are required.

    Earlier drafts, and many who write schemas by hand, say `required: true` in the property.
    """
    standard = {
        keyword: _standardize_inner(keyword, value, depth + 1)
        for keyword, value in schema.items()
        if keyword != "required" or not isinstance(value, bool)
    }
    if _find_flags(schema):
        standard["required"] = list_required(schema)
    return standard


def _standardize_inner(keyword: str, value: object, depth: int) -> object:
    if depth > MAX_SCHEMA_DEPTH:
        return value
    if isinstance(value, Mapping) and keyword in MAPS_OF_SCHEMAS:
        return {name: _standardize_part(part, depth) for name, part in value.items()}
    if isinstance(value, list) and keyword in SCHEMA_KEYWORDS:
        return [_standardize_part(part, depth) for part in value]
    return _standardize_part(value, depth) if keyword in SCHEMA_KEYWORDS else value


def _standardize_part(part: object, depth: int) -> object:
    return standardize_required(part, depth) if isinstance(part, Mapping) else part


def list_required(schema: Mapping[str, object]) -> list[str]:
    """List the properties that an object's schema requires; what a property says itself holds."""
    written = schema.get("required")
    listed = written if isinstance(written, list) else ()
    names = dict.fromkeys(name for name in listed if isinstance(name, str))
    for name, is_required in _find_flags(schema).items():
        if is_required:
            names.setdefault(name)
        else:
            names.pop(name, None)
    return list(names)


def _find_flags(schema: Mapping[str, object]) -> dict[str, bool]:
    """Find the properties that say of themselves whether they are required."""
    properties = schema.get("properties")
    flags: dict[str, bool] = {}
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("required"), bool):
            flags[str(name)] = bool(part["required"])
        if part.get("optional") is True:
            flags[str(name)] = False
    return flags
