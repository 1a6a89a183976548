"""Find what else a value may stand for, by the kind that the schema wants."""

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from andy_cli.compiler.mapper.enum_members import find_exact_member, find_members
from andy_cli.compiler.mapper.json_input import (
    GROUPED,
    NULL_WORDS,
    STANDARD_KINDS,
    is_bracketed,
    kind_of,
    parse_boolean,
    parse_number,
    parse_quantity,
    parse_structure,
    simplify_number,
    write_json,
)
from andy_cli.compiler.mapper.schema_node import SchemaNode
from andy_cli.compiler.mapper.synonyms import (
    UNITS,
    content_words,
    plain_name,
    relation_cost,
    says_nothing,
)
from andy_cli.compiler.mapper.text_formats import rewrite_in_format

CALL_NAME_KEYS = "name tool toolname function functionname call action".split()
CALL_ARGUMENT_KEYS = frozenset("arguments args parameters params input toolinput kwargs".split())
LEAST_MILLISECONDS, MOST_MILLISECONDS = 1000, 1_000_000
LARGEST_EXACT = 2**53
VALUE_KEYS = frozenset("value const default val content text data result answer item items".split())
BODY_KEYS = frozenset("body payload json data requestbody rawbody jsonbody".split())
SI_UNITS = frozenset(
    "m kg s k a j n w v hz pa ms meter meters kilogram kilograms second seconds".split()
)
COMMA_IN_ONE = frozenset("city location address place destination point author title".split())
"""Things whose names have commas in them."""
TYPE_KEYS = STANDARD_KINDS | frozenset("str int float bool list dict".split())
SCHEMA_KEYS = frozenset(
    "type title description format name required enum minimum maximum examples key kind".split()
)


class Coercion(NamedTuple):
    """Another way to take a value; it need not fit yet."""

    cost: int
    value: object
    change: str = ""
    """The receipt; empty: it is made from the two values."""


def find_called_name(value: Mapping[str, object], declared: Set[str] = frozenset()) -> str | None:
    """The tool that an object calls; None: it is no call. A call is no value, its result is."""
    keys = {plain_name(key): item for key, item in value.items() if plain_name(key) not in declared}
    if not keys.keys() & CALL_ARGUMENT_KEYS:
        return None
    return next((name for key in CALL_NAME_KEYS if isinstance(name := keys.get(key), str)), None)


def convert_units(
    arguments: dict[str, object], node: SchemaNode
) -> tuple[dict[str, object], list[str]]:
    """A thousand and more where `x-unit` is `s` are milliseconds.

    What would still be a thousand seconds afterwards is left as it is.
    """
    made, changes = arguments, list[str]()
    for name in node.timed:
        child, value = node.child(name), arguments.get(name)
        seconds = None if child is None else convert_to_seconds(value, child)
        if seconds is not None:
            made = {**made, name: seconds}
            changes.append(f"{name}: {value} ms -> {seconds} s")
    return made, changes


def convert_to_seconds(value: object, node: SchemaNode) -> int | float | None:
    """The seconds that so many milliseconds are; None if these are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if node.schema.get("x-unit") != "s" or not LEAST_MILLISECONDS <= value < MOST_MILLISECONDS:
        return None
    return _round_seconds(value / 1000, "number" not in node.kinds)


def _round_seconds(seconds: float, always: bool) -> int | float:
    """Whole seconds where the schema wants them: rounded up, the tool is given its time."""
    return -int(-seconds // 1) if always or seconds.is_integer() else seconds


def match_number_form(value: object, node: SchemaNode, in_list: bool = False) -> object:
    """The value itself, unless a number in it is written in the form of another type."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        wanted = bool(node.kinds) and node.kinds <= {"integer", "null"}
        return int(value) if wanted and value.is_integer() and abs(value) < LARGEST_EXACT else value
    if isinstance(value, int):
        # A lone whole number is a float in every language; in a list of floats it is not.
        wanted = in_list and node.floating and "integer" not in node.kinds
        return float(value) if wanted and abs(value) < LARGEST_EXACT else value
    if not isinstance(value, list):
        return value
    if node.branches:
        node = next((each for each in node.branches if each.fits(value)), node)
    return _match_list_form(value, node)


def _match_list_form(value: list[object], node: SchemaNode) -> list[object]:
    made = [
        each if (child := node.item(at)) is None else match_number_form(each, child, in_list=True)
        for at, each in enumerate(value)
    ]
    changed = any(one is not other for one, other in zip(made, value, strict=True))
    return made if changed else value


def match_number_forms(value: dict[str, object], node: SchemaNode) -> dict[str, object]:
    """The arguments themselves, or with parameters that are numbers or lists of them formed."""
    made = value
    for key in node.counted:
        child = node.child(key)
        if key in value and child is not None:
            each = match_number_form(value[key], child)
            if each is not value[key]:
                made = {**made, key: each}
    return made


def find_coercions(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    kind = kind_of(value)
    if kind in ("string", "integer", "number", "boolean"):
        yield from (Coercion(cost, each) for cost, each in find_members(value, node.choices))
    if kind == "string":
        yield from coerce_text(str(value), node, name)
    elif isinstance(value, bool):
        yield from coerce_boolean(value, node)
    elif isinstance(value, int | float):
        yield from coerce_number(value, node)
    elif isinstance(value, list):
        yield from coerce_list(value, node)
    elif isinstance(value, Mapping):
        yield from coerce_object(value, node, name)
    if kind not in ("array", "null") and node.takes("array") and not is_bracketed(value):
        yield Coercion(2, [value])


def coerce_text(text: str, node: SchemaNode, name: str) -> Iterator[Coercion]:
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`":
        yield Coercion(1, text[1:-1])
    numeric = node.takes("number") or node.takes("integer")
    if numeric and (number := parse_number(text)) is not None:
        yield Coercion(1, number)
    elif numeric and (number := parse_quantity(text, f"{name} {node.about}")) is not None:
        yield Coercion(4, number)
    if node.takes("boolean") and (truth := parse_boolean(text)) is not None:
        yield Coercion(1, truth)
    if node.takes("null") and text.strip().lower() in NULL_WORDS:
        yield Coercion(2, None)
    if (node.takes("array") or node.takes("object")) and (
        found := parse_structure(text)
    ) is not None:
        yield Coercion(1, found)
    if node.takes("array"):
        yield from split_at_commas(text, node, name)
    if node.takes("object") and (only := node.only) and not is_bracketed(text):
        yield Coercion(5, {only: text})
    if node.takes("string") and not node.choices:
        yield from respell_text(text, node)


def split_at_commas(text: str, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """What stands between commas, where each piece fits; never of what begins as a list."""
    item = node.item(0)
    if is_bracketed(text):
        return
    parts = [part.strip(" \t\n'\"") for part in text.split(",")]
    numeric = item is not None and bool(item.kinds) and item.kinds <= {"number", "integer"}
    if numeric and len(parts) == 1:
        parts = text.split()
    if item is None or len(parts) < 2 or not all(parts):
        return
    if numeric:
        numbers = [parse_number(part) for part in parts]
        if None not in numbers:
            yield Coercion(3 if GROUPED.fullmatch(text.strip()) else 2, numbers)
    elif item.choices:
        if all(find_exact_member(part, item.choices) is not None for part in parts):
            yield Coercion(1, parts)
    elif is_said_to_be_split(node, item) or len(parts) == text.count(", ") + 1:
        # A place has commas of its own: `Paris, France` is asked, as one and as two are as good.
        whole = content_words(name) & COMMA_IN_ONE and not is_said_to_be_split(node, item)
        yield Coercion(2 if whole else 1, parts)


def is_said_to_be_split(node: SchemaNode, item: SchemaNode) -> bool:
    """Whether commas part the items: by the description, or because no item holds one."""
    described = "comma" in node.about and "separat" in node.about
    return described or item.schema.get("format") in ("email", "date", "uuid", "uri")


def respell_text(text: str, node: SchemaNode) -> Iterator[Coercion]:
    """The same text in the declared format or pattern."""
    for sure, each in rewrite_in_format(text, str(node.schema.get("format", ""))):
        yield Coercion(1 if sure else 6, each)
    if "pattern" in node.schema or "maxLength" in node.schema:
        bare = text.strip()
        yield Coercion(1, bare)
    if "pattern" in node.schema:
        joined = "".join(each for each in bare if each not in " -.()/")
        for cost, each in (
            (2, bare.upper()), (2, bare.lower()), (2, bare.title()),
            (3, bare.replace(" ", "_").lower()), (3, bare.replace("_", "-").replace(" ", "-")),
            (5, joined), (5, joined.upper()),
        ):  # fmt: skip
            if each != text and node.fits(each):
                yield Coercion(cost, each)


def coerce_boolean(value: bool, node: SchemaNode) -> Iterator[Coercion]:
    if node.takes("string"):
        yield Coercion(1, "true" if value else "false")


def coerce_number(value: int | float, node: SchemaNode) -> Iterator[Coercion]:
    if node.takes("string"):
        yield Coercion(1, write_json(value))
    if node.takes("boolean") and (truth := parse_boolean(value)) is not None:
        yield Coercion(2, truth)
    if node.takes("integer") and isinstance(value, float) and value.is_integer():
        yield Coercion(1, simplify_number(value))
    if (seconds := convert_to_seconds(value, node)) is not None:
        yield Coercion(1, seconds, f"{value} ms -> {seconds} s")
    if node.limits:
        yield from clamp_number(value, node)


def clamp_number(value: int | float, node: SchemaNode) -> Iterator[Coercion]:
    """The nearest number allowed, for what only says how much is shown."""
    low, high = number_bounds(node)
    if low is not None and value < low and (high is None or low <= high):
        yield Coercion(8, low)
    if high is not None and value > high and (low is None or low <= high):
        yield Coercion(8, high)


def number_bounds(node: SchemaNode) -> tuple[int | float | None, int | float | None]:
    """The least and the greatest number allowed; None where open."""
    schema = node.schema
    low, high = schema.get("minimum"), schema.get("maximum")
    if node.kinds <= frozenset(["integer", "null"]):
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        low = above + 1 if isinstance(above, int) and low is None else low
        high = below - 1 if isinstance(below, int) and high is None else high
    return low, high


def coerce_list(value: list[object], node: SchemaNode) -> Iterator[Coercion]:
    if len(value) == 1:
        yield Coercion(2, value[0])
    if node.takes("string") and value and not node.choices:
        plain_items = all(isinstance(each, str | int | float) for each in value)
        if plain_items and "comma" in node.about and "separat" in node.about:
            yield Coercion(3, ",".join(map(str, value)))
        elif "json" in node.about:
            yield Coercion(2, write_json(value))
    if node.takes("object") and value:
        yield from read_entries(value, node)
    item = node.item(0) if node.takes("array") else None
    if item is not None and item.takes("array") and len(item.kinds) == 1 and value:
        yield Coercion(2, [value])


def read_entries(value: list[object], node: SchemaNode) -> Iterator[Coercion]:
    """A list that says what belongs under names: pairs, small objects, values in order."""
    pairs: dict[str, object] = {}
    for each in value:
        if isinstance(each, dict):
            name = next((each[key] for key in ("name", "key", "parameter") if key in each), None)
            if isinstance(name, str) and "value" in each:
                pairs[name] = each["value"]
    if len(pairs) == len(value):
        yield Coercion(2, pairs)
    elif all(isinstance(each, dict) for each in value):
        merged: dict[str, object] = {}
        for each in value:
            merged.update(each if isinstance(each, dict) else {})
        if len(merged) == sum(len(each) for each in value if isinstance(each, dict)):
            yield Coercion(4, merged)
    elif len(value) == len(node.properties) and has_one_order(node):
        yield Coercion(3, dict(zip(node.properties, value, strict=True)))


def has_one_order(node: SchemaNode) -> bool:
    """Whether values in order can stand under no other names: each is of another kind."""
    kinds = [child.kinds for name in node.properties if (child := node.child(name))]
    return len(set(kinds)) == len(kinds) == len(node.properties)


def coerce_object(value: Mapping[str, object], node: SchemaNode, name: str) -> Iterator[Coercion]:
    if node.takes("object") or find_called_name(value) is not None:
        return
    yield from unwrap_value(value, node, name)
    as_text = "json" in node.about or plain_name(name) in BODY_KEYS
    if as_text and node.takes("string") and not node.choices:
        yield Coercion(2, write_json(value))
    if node.takes("array") and value:
        yield from read_as_list(value, node)


def read_as_list(value: Mapping[str, object], node: SchemaNode) -> Iterator[Coercion]:
    """Items by number, or as one list for each of their properties."""
    item = node.item(0)
    if all(key.isdigit() for key in value):
        yield Coercion(2, [value[key] for key in sorted(value, key=int)])
    lists = [part for part in value.values() if isinstance(part, list)]
    even = len(lists) == len(value) and len(set(map(len, lists))) == 1
    if even and item is not None and item.takes("object"):
        yield Coercion(3, [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)])


def is_value_key(key: str, name: str) -> bool:
    """Whether a key in an object only says again what the whole is."""
    known = plain_name(key) in VALUE_KEYS | TYPE_KEYS or plain_name(key) == plain_name(name)
    return known or (bool(name) and relation_cost(key, name, "", "") is not None)


def unwrap_value(value: Mapping[str, object], node: SchemaNode, name: str) -> Iterator[Coercion]:
    """What an object is about that only holds one value: `{"type": "string", "value": "a"}`."""
    names = {plain_name(key): key for key in value}
    found = [key for key, given in names.items() if is_value_key(given, name)]
    if "value" in found or len(found) == 1:
        chosen = names["value" if "value" in found else found[0]]
        others = [key for key in names if key not in (*SCHEMA_KEYS, *found)]
        if not others:
            yield Coercion(2, value[chosen])
        elif set(others) <= {"unit", "units"}:
            yield from read_with_unit(value[chosen], value[names[others[0]]], node, name)
    elif len(value) == 1 and says_nothing(next(iter(value))):
        yield Coercion(4, next(iter(value.values())))
    elif "enum" in names and "type" in names:
        yield Coercion(2, value[names["enum"]])


def read_with_unit(value: object, unit: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """A number beside its unit, where the schema states that one, or none and it is of the SI."""
    if parse_quantity(f"{value} {unit}", f"{name} {node.about}") is not None:
        yield Coercion(4, value)
    elif (
        plain_name(str(unit)) in SI_UNITS
        and not (content_words(name) | content_words(node.about)) & UNITS
    ):
        yield Coercion(7, value)
