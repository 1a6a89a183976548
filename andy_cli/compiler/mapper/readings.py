"""What else a value may stand for, by the kind that the schema wants."""

from collections.abc import Iterator, Mapping

from andy_cli.compiler.mapper import enums, formats
from andy_cli.compiler.mapper.fits import Reading
from andy_cli.compiler.mapper.kinds import STANDARD, kind_of
from andy_cli.compiler.mapper.nodes import Node
from andy_cli.compiler.mapper.texts import (
    GROUPED,
    NOTHING,
    begun,
    measured,
    number_of,
    structure,
    truth_of,
    whole,
    written,
)
from andy_cli.compiler.mapper.units import in_seconds
from andy_cli.compiler.mapper.words import plain

VALUES = frozenset("value const default val content text data result answer item items".split())
BODIES = frozenset("body payload json data requestbody rawbody jsonbody".split())
TYPES = STANDARD | frozenset("str int float bool list dict".split())
ABOUT = frozenset(
    "type title description format name required enum minimum maximum examples key kind".split()
)


def readings(value: object, node: Node, name: str) -> Iterator[Reading]:
    kind = kind_of(value)
    if kind in ("string", "integer", "number", "boolean"):
        yield from (Reading(cost, each) for cost, each in enums.members(value, node.choices))
    if kind == "string":
        yield from of_text(str(value), node, name)
    elif isinstance(value, bool):
        yield from of_truth(value, node)
    elif isinstance(value, int | float):
        yield from of_number(value, node)
    elif isinstance(value, list):
        yield from of_list(value, node)
    elif isinstance(value, Mapping):
        yield from of_object(value, node, name)
    if kind not in ("array", "null") and node.takes("array") and not begun(value):
        yield Reading(2, [value])


def of_text(text: str, node: Node, name: str) -> Iterator[Reading]:
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`":
        yield Reading(1, text[1:-1])
    numeric = node.takes("number") or node.takes("integer")
    if numeric and (number := number_of(text)) is not None:
        yield Reading(1, number)
    elif numeric and (number := measured(text, f"{name} {node.about}")) is not None:
        yield Reading(4, number)
    if node.takes("boolean") and (truth := truth_of(text)) is not None:
        yield Reading(1, truth)
    if node.takes("null") and text.strip().lower() in NOTHING:
        yield Reading(2, None)
    if (node.takes("array") or node.takes("object")) and (found := structure(text)) is not None:
        yield Reading(1, found)
    if node.takes("array"):
        yield from split(text, node)
    if node.takes("object") and (only := node.only) and not begun(text):
        yield Reading(5, {only: text})
    if node.takes("string") and not node.choices:
        yield from respelled(text, node)


def split(text: str, node: Node) -> Iterator[Reading]:
    """At commas, only where the items themselves or the description say so."""
    item = node.item(0)
    bare = text.strip()
    listed = bare[:1] == "[" and bare[-1:] == "]"
    parts = [each.strip(" \t\n'\"") for each in (bare[1:-1] if listed else bare).split(",")]
    if item is not None and item.takes("number") | item.takes("integer") and len(parts) == 1:
        parts = bare.split()
    if len(parts) < 2 or not all(parts):
        return
    if listed and structure(bare) is None:
        yield Reading(1, parts)
    if item is not None and item.kinds and item.kinds <= {"number", "integer"}:
        numbers = [number_of(each) for each in parts]
        if None not in numbers:
            yield Reading(3 if GROUPED.fullmatch(text.strip()) else 2, numbers)
    elif item is not None and item.choices:
        if all(enums.exact(each, item.choices) is not None for each in parts):
            yield Reading(1, parts)
    elif "comma" in node.about and "separat" in node.about:
        yield Reading(1, parts)


def respelled(text: str, node: Node) -> Iterator[Reading]:
    """The same text in the declared format or pattern."""
    for sure, each in formats.rewritten(text, str(node.schema.get("format", ""))):
        yield Reading(1 if sure else 6, each)
    if "pattern" in node.schema or "maxLength" in node.schema:
        bare = text.strip()
        yield Reading(1, bare)
    if "pattern" in node.schema:
        joined = "".join(each for each in bare if each not in " -.()/")
        for cost, each in (
            (2, bare.upper()), (2, bare.lower()), (2, bare.title()),
            (3, bare.replace(" ", "_").lower()), (3, bare.replace("_", "-").replace(" ", "-")),
            (5, joined), (5, joined.upper()),
        ):  # fmt: skip
            if each != text and node.fits(each):
                yield Reading(cost, each)


def of_truth(value: bool, node: Node) -> Iterator[Reading]:
    if node.takes("string"):
        yield Reading(1, "true" if value else "false")
    if node.takes("integer") or node.takes("number"):
        yield Reading(4, int(value))


def of_number(value: int | float, node: Node) -> Iterator[Reading]:
    if node.takes("string"):
        yield Reading(1, written(value))
    if node.takes("boolean") and (truth := truth_of(value)) is not None:
        yield Reading(2, truth)
    if node.takes("integer") and isinstance(value, float) and value.is_integer():
        yield Reading(1, whole(value))
    if (seconds := in_seconds(value, node)) is not None:
        yield Reading(1, seconds, f"{value} ms -> {seconds} s")
    low, high = bounds(node)
    if low is not None and value < low and (high is None or low <= high):
        yield Reading(8, low)
    if high is not None and value > high and (low is None or low <= high):
        yield Reading(8, high)


def bounds(node: Node) -> tuple[int | float | None, int | float | None]:
    """The least and the greatest number allowed; None where open."""
    schema = node.schema
    low, high = schema.get("minimum"), schema.get("maximum")
    if node.kinds <= frozenset(["integer", "null"]):
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        low = above + 1 if isinstance(above, int) and low is None else low
        high = below - 1 if isinstance(below, int) and high is None else high
    return low, high


def of_list(value: list[object], node: Node) -> Iterator[Reading]:
    if len(value) == 1:
        yield Reading(2, value[0])
    if node.takes("string") and value and not node.choices:
        plain_items = all(isinstance(each, str | int | float) for each in value)
        if plain_items and "comma" in node.about and "separat" in node.about:
            yield Reading(3, ",".join(map(str, value)))
        elif "json" in node.about:
            yield Reading(2, written(value))
    if node.takes("object") and value:
        yield from entries(value, node)
    item = node.item(0) if node.takes("array") else None
    if item is not None and item.takes("array") and len(item.kinds) == 1 and value:
        yield Reading(2, [value])


def entries(value: list[object], node: Node) -> Iterator[Reading]:
    """A list that says what belongs under names: pairs, small objects, values in order."""
    pairs: dict[str, object] = {}
    for each in value:
        if isinstance(each, dict):
            name = next((each[key] for key in ("name", "key", "parameter") if key in each), None)
            if isinstance(name, str) and "value" in each:
                pairs[name] = each["value"]
    if len(pairs) == len(value):
        yield Reading(2, pairs)
    elif all(isinstance(each, dict) for each in value):
        merged: dict[str, object] = {}
        for each in value:
            merged.update(each if isinstance(each, dict) else {})
        if len(merged) == sum(len(each) for each in value if isinstance(each, dict)):
            yield Reading(4, merged)
    elif len(node.required) <= len(value) <= len(node.properties):
        yield Reading(3, dict(zip(node.properties, value, strict=False)))


def of_object(value: Mapping[str, object], node: Node, name: str) -> Iterator[Reading]:
    if node.takes("object"):
        return
    yield from held(value, name)
    as_text = "json" in node.about or plain(name) in BODIES
    if as_text and node.takes("string") and not node.choices:
        yield Reading(2, written(value))
    if node.takes("array") and value:
        first = next(iter(value.values()))
        if all(key.isdigit() for key in value):
            yield Reading(2, [value[key] for key in sorted(value, key=int)])
        elif len(value) == 1 and isinstance(first, list):
            yield Reading(2, first)


def held(value: Mapping[str, object], name: str) -> Iterator[Reading]:
    """What an object is about that only holds one value: `{"type": "string", "value": "a"}`."""
    names = {plain(key): key for key in value}
    found = [key for key in names if key in VALUES or key == plain(name) or key in TYPES]
    if len(found) == 1 or "value" in found:
        chosen = "value" if "value" in found else found[0]
        only_about = all(key in ABOUT or key in found for key in names)
        yield Reading(2 if only_about else 7, value[names[chosen]])
    elif len(value) == 1:
        yield Reading(4, next(iter(value.values())))
    elif "enum" in names and "type" in names:
        yield Reading(2, value[names["enum"]])
