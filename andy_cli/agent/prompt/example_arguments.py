"""Make example arguments of a call: each fits its schema, `<path>` where any text does.

No validator is asked, for it would cost more than the whole prompt: what is not sure to fit is
`NoSureExample`, and another tool makes the example.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from andy_cli.compiler.mapper.json_schema import resolve_reference, standardize_schema
from andy_cli.messages import Schema

Part = Mapping[str, Any]

MAX_DEPTH = 6
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
    root_schema = standardize_schema(schema)
    try:
        return _make_object(root_schema, root_schema, 0)
    except (NoSureExample, RecursionError):
        return None


def _make_value(name: str, schema: object, root_schema: Part, depth: int) -> object:
    merged_schema = _merge_schema(schema, root_schema, depth)
    if "const" in merged_schema:
        return merged_schema["const"]
    if "enum" in merged_schema:
        return next((value for value in merged_schema["enum"] if value is not None), None)
    kind = _find_kind(merged_schema)
    if kind == "object":
        return _make_object(merged_schema, root_schema, depth)
    if kind == "array":
        return _make_list(name, merged_schema, root_schema, depth)
    return _make_scalar(name, merged_schema, kind)


def _make_scalar(name: str, merged_schema: Part, kind: str) -> object:
    match kind:
        case "boolean":
            return True
        case "integer":
            return _make_number(merged_schema, is_whole=True)
        case "number":
            return _make_number(merged_schema, is_whole=False)
        case "string":
            return _make_text(name, merged_schema)
    raise NoSureExample


def _merge_schema(schema: object, root_schema: Part, depth: int) -> Part:
    """Follow the reference of a schema, join its parts and take one alternative."""
    if depth > MAX_DEPTH or not isinstance(schema, Mapping):
        raise NoSureExample
    merged_schema = dict(schema)
    joined: list[object] = [*merged_schema.pop("allOf", ())]
    if reference := merged_schema.pop("$ref", ""):
        joined.append(resolve_reference(reference, root_schema))
    for key in ("anyOf", "oneOf"):
        choices = [choice for choice in merged_schema.pop(key, ()) if choice != {"type": "null"}]
        joined += choices[:1]
    for schema in joined:
        merged_schema = {**_merge_schema(schema, root_schema, depth + 1), **merged_schema}
    if UNREAD & merged_schema.keys():
        raise NoSureExample
    return merged_schema


def _find_kind(merged_schema: Part) -> str:
    kinds = merged_schema.get("type")
    if isinstance(kinds, list):
        kinds = next((kind for kind in kinds if kind != "null"), None)
    if kinds is None:
        guess = {"properties": "object", "items": "array"}
        return next((kind for key, kind in guess.items() if key in merged_schema), "string")
    return str(kinds)


def _make_object(schema: Part, root_schema: Part, depth: int) -> dict[str, object]:
    merged_schema = _merge_schema(schema, root_schema, depth)
    properties = merged_schema.get("properties") or {}
    required = merged_schema.get("required") or ()
    arguments: dict[str, object] = {}
    for name in required or properties:
        try:
            arguments[name] = _make_value(name, properties.get(name, {}), root_schema, depth + 1)
        except NoSureExample:
            if required:
                raise
    return arguments


def _make_list(name: str, merged_schema: Part, root_schema: Part, depth: int) -> list[object]:
    prefix = merged_schema.get("prefixItems", ())
    elements = [_make_value(name, schema, root_schema, depth + 1) for schema in prefix]
    fewest_items, most_items = (
        merged_schema.get("minItems", 0),
        merged_schema.get("maxItems", math.inf),
    )
    count = max(fewest_items, min(1, most_items)) - len(elements)
    if len(elements) + max(count, 0) > most_items or (
        count > 1 and merged_schema.get("uniqueItems")
    ):
        raise NoSureExample
    if count <= 0:
        return elements
    return [
        *elements,
        *[_make_value(name, merged_schema.get("items", {}), root_schema, depth + 1)] * count,
    ]


def _make_number(merged_schema: Part, is_whole: bool) -> int | float:
    low = max(
        merged_schema.get("minimum", -math.inf), merged_schema.get("exclusiveMinimum", -math.inf)
    )
    high = min(
        merged_schema.get("maximum", math.inf), merged_schema.get("exclusiveMaximum", math.inf)
    )
    excluded = (merged_schema.get("exclusiveMinimum"), merged_schema.get("exclusiveMaximum"))
    for number in _list_numbers(low, high, merged_schema.get("multipleOf", 1), is_whole):
        if not low <= number <= high or number in excluded:
            continue
        multiple = merged_schema.get("multipleOf", number)
        if (multiple and not number % multiple) or (number == 0 and low <= 0):
            return number
    raise NoSureExample


def _list_numbers(
    low: float, high: float, multiple: float, is_whole: bool
) -> Iterator[int | float]:
    yield from (1, 10, 0)
    nearest_bound = low if math.isfinite(low) else high
    if not math.isfinite(nearest_bound):
        yield int(multiple) if multiple == int(multiple) else multiple
        return
    steps = (
        math.ceil(nearest_bound / multiple)
        if nearest_bound == low
        else math.floor(nearest_bound / multiple)
    )
    for count in (steps, steps + 1, steps - 1):
        value = count * multiple
        if value == int(value):
            yield int(value)
        elif not is_whole:
            yield value
    if not is_whole and math.isfinite(low + high):
        yield (low + high) / 2


def _make_text(name: str, merged_schema: Part) -> str:
    shortest, longest = merged_schema.get("minLength", 0), merged_schema.get("maxLength", math.inf)
    pattern, text_format = merged_schema.get("pattern"), merged_schema.get("format", "")
    placeholder = f"<{name}>"
    long_placeholder = placeholder * 9
    for text in (
        merged_schema.get("default"),
        FORMATS.get(text_format),
        placeholder,
        long_placeholder,
        *TEXTS,
    ):
        if not isinstance(text, str) or (text_format in FORMATS and text != FORMATS[text_format]):
            continue
        if text == long_placeholder and longest < math.inf:
            text = text[: int(longest)]
        if shortest <= len(text) <= longest and (not pattern or re.search(pattern, text)):
            return text
    raise NoSureExample
