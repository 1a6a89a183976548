"""Values without a type of their own, typed by the tool's schema."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from andy_cli.compiler.bodies import json_text
from andy_cli.compiler.expression import Expression
from andy_cli.foreign_values import read_float, read_json
from andy_cli.messages import Schema

WHOLE_NUMBER = Expression(r"[+-]?[0-9]+(\.0+)?")
NUMBER = Expression(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ITEM = Expression(r"<(item|element|value)>([^<>]*)</\1>")
ITEMS = Expression(r"(?:\s*<(?:item|element|value)>[^<>]*</(?:item|element|value)>)+\s*")
"""A list as elements."""
MAX_CHARACTERS = 4000
"""Characters of a number; Python reads no integer of more than 4300 digits."""


def parse_typed(
    text: str, schema: Schema | None, root_schema: Schema | None = None, quoted: bool = False
) -> object:
    """The value in a type the schema allows; a text that fits none stays a text. Never raises.

    `quoted`: the notation may write a text as a JSON string.
    """
    schema = schema or {}
    kinds = allowed_kinds(schema, root_schema or schema)
    if not kinds:
        return parse_untyped(text)
    stripped = text.strip()
    if "null" in kinds and stripped in ("null", "None"):
        return None
    value = read_as_kinds(stripped, kinds)
    if value is not None:
        return value
    return unquote_text(text) if quoted else text


def read_as_kinds(text: str, kinds: frozenset[str]) -> object | None:
    """The text as the first of these types that it can be; None where it stays a text."""
    for kind, read in KIND_READERS.items():
        value = read(text) if kind in kinds else None
        if value is not None:
            return value
    return None if "string" in kinds else read_json(text)


def add_value(
    arguments: dict[str, object],
    key: str,
    value: object,
    schema: Schema | None,
    root_schema: Schema,
) -> bool:
    """Put a value under its key; a second one makes a list where the schema wants a list.

    False where two values were written for one.
    """
    if key in arguments and "array" in allowed_kinds(schema or {}, root_schema):
        earlier_value = arguments[key]
        earlier_items = earlier_value if isinstance(earlier_value, list) else [earlier_value]
        arguments[key] = [*earlier_items, *(value if isinstance(value, list) else [value])]
        return True
    is_only_value = key not in arguments or arguments[key] == value
    arguments[key] = value
    return is_only_value


def parse_whole_number(text: str) -> int | None:
    is_whole = len(text) < MAX_CHARACTERS and WHOLE_NUMBER.fullmatch(text)
    return int(text.partition(".")[0]) if is_whole else None


def parse_array(text: str) -> object | None:
    if ITEMS.fullmatch(text):
        return [match[2] for match in ITEM.finditer(text)]
    return parse_structure_of(list, text)


def parse_structure_of(structure_type: type, text: str) -> object | None:
    """A list or an object in JSON, perhaps escaped once too often."""
    if text[:1] not in "{[":
        return None
    for attempt in dict.fromkeys((text, json_text.unescape_once(text))):
        value = json_text.read_value(attempt)
        if isinstance(value, structure_type):
            return value
    return None


def parse_typed_number(text: str) -> int | float | None:
    if len(text) > MAX_CHARACTERS or not NUMBER.fullmatch(text):
        return None
    if WHOLE_NUMBER.fullmatch(text) and "." not in text:
        return int(text)
    value = read_float(text)
    return value if value not in (float("inf"), float("-inf")) else None


KIND_READERS: Mapping[str, Callable[[str], object | None]] = {
    "integer": parse_whole_number,
    "number": parse_typed_number,
    "boolean": lambda text: {"true": True, "false": False}.get(text.lower()),
    "object": partial(parse_structure_of, dict),
    "array": parse_array,
}
"""Tried in this order for the types that a schema allows; None where the text is none of it."""


def parse_untyped(text: str) -> object:
    """No schema says what it is: JSON if it is wholly that, else the text."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[", '"') or stripped in ("true", "false", "null"):
        try:
            value: object = json.loads(stripped, parse_constant=str)
        except (ValueError, RecursionError):
            return text
        return value
    if stripped == "None":
        return None
    number = parse_typed_number(stripped)
    return text if number is None or stripped[:1] in "+." else number


def unquote_text(text: str) -> str:
    """GLM writes texts as JSON strings at times: unwrapped only if the whole value is one."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        value = read_json(text)
        return value if isinstance(value, str) else text
    return text


def allowed_kinds(schema: Schema, root_schema: Schema, depth: int = 0) -> frozenset[str]:
    """The types a schema lets through, by `type`, `enum`, `const`, `anyOf` and `$ref`."""
    if depth > 5:
        return frozenset()
    kind = schema.get("type")
    kinds = {kind} if isinstance(kind, str) else set(kind or ())
    for branch in _list_branches(schema, root_schema):
        kinds |= allowed_kinds(branch, root_schema, depth + 1)
    if not kinds:
        members = list(schema.get("enum") or ())
        if "const" in schema:
            members.append(schema["const"])
        kinds = {kind_of(member) for member in members}
    return frozenset(OTHER_NAMES.get(kind, kind) for kind in kinds)


def _list_branches(schema: Schema, root_schema: Schema) -> Iterator[Schema]:
    """The schemas that a schema is made of: what it refers to, and its alternatives."""
    if isinstance(schema.get("$ref"), str):
        yield follow_reference(schema["$ref"], root_schema)
    for word in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(word) or ():
            if isinstance(branch, Mapping):
                yield branch


OTHER_NAMES = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean",
    "dict": "object", "list": "array", "tuple": "array", "any": "",
}  # fmt: skip
"""Names that people write for JSON Schema's types."""


def follow_reference(reference: str, root_schema: Schema) -> Schema:
    target: object = root_schema
    for segment in reference.removeprefix("#/").split("/"):
        target = target.get(segment, {}) if isinstance(target, Mapping) else {}
    return target if isinstance(target, Mapping) else {}


def kind_of(value: object) -> str:
    """The JSON kind of a value; whole fractions are numbers here."""
    if isinstance(value, bool):
        return "boolean"
    for kind, types in (("integer", int), ("number", float), ("string", str), ("array", list)):
        if isinstance(value, types):
            return kind
    return "null" if value is None else "object"
