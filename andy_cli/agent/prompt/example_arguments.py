"""Make example arguments of a call: each fits its schema, `<path>` where any text does.

No validator is asked, for it would cost more than the whole prompt: what is not sure to fit is
`NoSureExample`, and another tool makes the example.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from andy_cli.compiler.mapper.standard_schema import resolve_reference, standardize_schema
from andy_cli.messages import Schema

Part = Mapping[str, Any]

DEEPEST = 6
UNREAD = frozenset(
    "not if then else contains propertyNames dependentSchemas dependentRequired patternProperties"
    " unevaluatedItems unevaluatedProperties minProperties".split()
)
"""Rules that are not followed: with one of them nothing is sure."""

FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "name@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "url": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
TEXTS = (
    *("text", "A1", "AB12", "en-US", "12:00", "12:00:00", "2026", "2026-01", "1.0", "1.0.0"),
    *("#aabbcc", "#a", "+1234567890", "/a", "a/b", "@name", "a.txt", "https://example.org", "1h"),
    *("A1:B2", "Word", "two words", *FORMATS.values()),
    *(character * count for character in "aA1" for count in range(1, 17)),
)
"""Texts that may fit a pattern."""


class NoSureExample(Exception):
    """No value is sure to fit."""


def make_example_arguments(schema: Schema) -> dict[str, object] | None:
    """Make arguments that fit: the required ones, else all there are; None if none is sure to."""
    root = standardize_schema(schema)
    try:
        return _make_object(root, root, 0)
    except (NoSureExample, RecursionError):
        return None


def _make_value(name: str, schema: object, root: Part, depth: int) -> object:
    part = _merge_schema(schema, root, depth)
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return next((value for value in part["enum"] if value is not None), None)
    kind = _find_kind(part)
    if kind == "object":
        return _make_object(part, root, depth)
    if kind == "array":
        return _make_list(name, part, root, depth)
    return _make_scalar(name, part, kind)


def _make_scalar(name: str, part: Part, kind: str) -> object:
    match kind:
        case "boolean":
            return True
        case "integer":
            return _make_number(part, whole=True)
        case "number":
            return _make_number(part, whole=False)
        case "string":
            return _make_text(name, part)
    raise NoSureExample


def _merge_schema(schema: object, root: Part, depth: int) -> Part:
    """Follow the reference of a schema, join its parts and take one alternative."""
    if depth > DEEPEST or not isinstance(schema, Mapping):
        raise NoSureExample
    part = dict(schema)
    joined: list[object] = [*part.pop("allOf", ())]
    if reference := part.pop("$ref", ""):
        joined.append(resolve_reference(reference, root))
    for key in ("anyOf", "oneOf"):
        choices = [choice for choice in part.pop(key, ()) if choice != {"type": "null"}]
        joined += choices[:1]
    for schema in joined:
        part = {**_merge_schema(schema, root, depth + 1), **part}
    if UNREAD & part.keys():
        raise NoSureExample
    return part


def _find_kind(part: Part) -> str:
    kinds = part.get("type")
    if isinstance(kinds, list):
        kinds = next((kind for kind in kinds if kind != "null"), None)
    if kinds is None:
        guess = {"properties": "object", "items": "array"}
        return next((kind for key, kind in guess.items() if key in part), "string")
    return str(kinds)


def _make_object(schema: Part, root: Part, depth: int) -> dict[str, object]:
    part = _merge_schema(schema, root, depth)
    properties = part.get("properties") or {}
    required = part.get("required") or ()
    arguments: dict[str, object] = {}
    for name in required or properties:
        try:
            arguments[name] = _make_value(name, properties.get(name, {}), root, depth + 1)
        except NoSureExample:
            if required:
                raise
    return arguments


def _make_list(name: str, part: Part, root: Part, depth: int) -> list[object]:
    prefix = part.get("prefixItems", ())
    elements = [_make_value(name, schema, root, depth + 1) for schema in prefix]
    least, most = part.get("minItems", 0), part.get("maxItems", math.inf)
    count = max(least, min(1, most)) - len(elements)
    if len(elements) + max(count, 0) > most or (count > 1 and part.get("uniqueItems")):
        raise NoSureExample
    if count <= 0:
        return elements
    return [*elements, *[_make_value(name, part.get("items", {}), root, depth + 1)] * count]


def _make_number(part: Part, whole: bool) -> int | float:
    low = max(part.get("minimum", -math.inf), part.get("exclusiveMinimum", -math.inf))
    high = min(part.get("maximum", math.inf), part.get("exclusiveMaximum", math.inf))
    excluded = (part.get("exclusiveMinimum"), part.get("exclusiveMaximum"))
    for number in _list_numbers(low, high, part.get("multipleOf", 1), whole):
        if not low <= number <= high or number in excluded:
            continue
        step = part.get("multipleOf", number)
        if (step and not number % step) or (number == 0 and low <= 0):
            return number
    raise NoSureExample


def _list_numbers(low: float, high: float, step: float, whole: bool) -> Iterator[int | float]:
    yield from (1, 10, 0)
    near = low if math.isfinite(low) else high
    if not math.isfinite(near):
        yield int(step) if step == int(step) else step
        return
    steps = math.ceil(near / step) if near == low else math.floor(near / step)
    for count in (steps, steps + 1, steps - 1):
        value = count * step
        if value == int(value):
            yield int(value)
        elif not whole:
            yield value
    if not whole and math.isfinite(low + high):
        yield (low + high) / 2


def _make_text(name: str, part: Part) -> str:
    least, most = part.get("minLength", 0), part.get("maxLength", math.inf)
    pattern, form = part.get("pattern"), part.get("format", "")
    placeholder = f"<{name}>"
    long_placeholder = placeholder * 9
    for text in (part.get("default"), FORMATS.get(form), placeholder, long_placeholder, *TEXTS):
        if not isinstance(text, str) or (form in FORMATS and text != FORMATS[form]):
            continue
        if text == long_placeholder and most < math.inf:
            text = text[: int(most)]
        if least <= len(text) <= most and (not pattern or re.search(pattern, text)):
            return text
    raise NoSureExample
