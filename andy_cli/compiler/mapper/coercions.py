"""Find what else a value may stand for, by the kind that the schema wants."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeGuard

from andy_cli.compiler.bodies.typed import kind_of
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.enum_members import find_exact_member, find_members
from andy_cli.compiler.mapper.json_values import (
    GROUPED,
    LONE_GROUP,
    NULL_WORDS,
    REWRITERS,
    STANDARD_KINDS,
    WITH_DECIMAL_COMMA,
    follows_format,
    is_bracketed,
    parse_boolean,
    parse_number,
    parse_quantity,
    parse_structure,
    rewrite_in_format,
    simplify_number,
    write_json,
)
from andy_cli.compiler.mapper.prepared_schema import SchemaNode
from andy_cli.compiler.mapper.synonyms import (
    UNITS,
    canonical_words,
    content_words,
    plain_name,
    relation_cost,
    says_nothing,
)
from andy_cli.foreign_values import WrittenFloat

CALL_NAME_KEYS = "name tool toolname function functionname call action".split()
CALL_ARGUMENT_KEYS = frozenset("arguments args parameters params input toolinput kwargs".split())
MIN_MILLISECONDS, MAX_MILLISECONDS = 1000, 1_000_000
MAX_EXACT_INTEGER = 2**53
VALUE_KEYS = frozenset("value const default val content text data result answer item items".split())
BODY_KEYS = frozenset("body payload json data requestbody rawbody jsonbody".split())
SI_UNITS = frozenset(
    "m kg s k a j n w v hz pa ms meter meters kilogram kilograms second seconds".split()
)
COMMA_IN_ONE = frozenset("city location address place destination point author title".split())
"""Things whose names have commas in them."""
NUMBER_SIGN = Expression(r"#(\d{1,15})")
"""A number by its sign, as issues are named: `#12`."""
NUMBERED = frozenset(["number", "identifier"])
SHELL_WORD = Expression(r"\d*[;|&<>]|[()]+$|`|\$\(|(?:~|\$[A-Za-z_{])\S*$")
"""A word that the shell would not take as it is: `2>&1`, `&&`, `~/a`, `$HOME`."""
TYPE_KEYS = STANDARD_KINDS | frozenset("str int float bool list dict".split())
SIMPLE_KINDS = frozenset(["string", "integer", "number", "boolean"])
PATH = "path"
"""The format of a path, which may have commas: its parts are the names of other files."""
COMMA_FREE_FORMATS = frozenset(["email", "date", "uuid", "uri"])
SCHEMA_KEYS = frozenset(
    "type title description format name required enum minimum maximum examples key kind".split()
)


class Coercion(NamedTuple):
    """Another way to take a value; it need not fit yet."""

    cost: int
    """Above CERTAIN (rename_properties.py) it is a guess, made for tools that only look."""
    value: object
    change: str = ""
    """The correction in words; empty: it is made from the two values."""


def convert_milliseconds(
    arguments: dict[str, object], node: SchemaNode
) -> tuple[dict[str, object], list[str]]:
    """Convert a thousand and more to seconds where `x-unit` is `s`: they are milliseconds.

    What would still be a thousand seconds afterwards is left as it is.
    """
    converted, changes = arguments, list[str]()
    for name in node.timed:
        child, value = node.child(name), arguments.get(name)
        seconds = None if child is None else convert_to_seconds(value, child)
        if seconds is not None:
            converted = {**converted, name: seconds}
            changes.append(f"{name}: {value} ms -> {seconds} s")
    return converted, changes


def convert_to_seconds(value: object, node: SchemaNode) -> int | float | None:
    """The seconds that so many milliseconds are; None if these are none."""
    if node.schema.get("x-unit") != "s" or not is_number(value):
        return None
    if not MIN_MILLISECONDS <= value < MAX_MILLISECONDS:
        return None
    seconds = value / 1000
    if "number" in node.kinds and not seconds.is_integer():
        return seconds
    # Rounded up: the tool is given its time.
    return -int(-seconds // 1)


def resolve_written_floats(value: object, node: SchemaNode | None) -> object:
    """Turn each WrittenFloat into its text where the schema takes a text and no number, else into
    a plain float.

    A value that holds none is returned itself.
    """
    if not holds_written_float(value):
        return value
    if isinstance(value, dict):
        return {
            key: resolve_written_floats(item, node and node.child(key))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            resolve_written_floats(item, node and node.item(at)) for at, item in enumerate(value)
        ]
    return resolve_written_float(value, node) if isinstance(value, WrittenFloat) else value


def holds_written_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(holds_written_float, value.values()))
    if isinstance(value, list):
        return any(map(holds_written_float, value))
    return isinstance(value, WrittenFloat)


def resolve_written_float(number: WrittenFloat, node: SchemaNode | None) -> str | float:
    plain_number = float(number)
    if node is None or node.fits(plain_number):
        return plain_number
    return str(number) if node.fits(str(number)) else plain_number


def match_number_forms(arguments: dict[str, object], node: SchemaNode) -> dict[str, object]:
    """Write numbers in the form their type declares: 3 for an integer that was written 3.0.

    For JSON both are one number, so nothing is corrected and nothing is told; programs that are
    called with the arguments do tell them apart. Objects inside are data, and stay as they are.
    Arguments in which no number has another form come back as they are, not as a copy.
    """
    formed = arguments
    for name in node.counted:
        child = node.child(name)
        if name in arguments and child is not None:
            value = match_number_form(arguments[name], child)
            if value is not arguments[name]:
                formed = {**formed, name: value}
    return formed


def match_number_form(value: object, node: SchemaNode, in_list: bool = False) -> object:
    """The value itself, unless a number in it is written in the form of another type."""
    if isinstance(value, list):
        return _match_list_form(value, node)
    if not is_number(value) or not abs(value) < MAX_EXACT_INTEGER:
        return value
    if isinstance(value, float):
        is_whole = {"integer"} <= node.kinds <= {"integer", "null"} and value.is_integer()
        return int(value) if is_whole else value
    # A lone whole number is a float in every language; in a list of floats it is not.
    is_float = in_list and node.floating and "integer" not in node.kinds
    return float(value) if is_float else value


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _match_list_form(value: list[object], node: SchemaNode) -> list[object]:
    if node.branches:
        node = next((branch for branch in node.branches if branch.fits(value)), node)
    formed: list[object] = []
    for index, item in enumerate(value):
        child = node.item(index)
        formed.append(item if child is None else match_number_form(item, child, in_list=True))
    changed = any(
        changed_item is not item for changed_item, item in zip(formed, value, strict=True)
    )
    return formed if changed else value


def find_called_name(value: Mapping[str, object], declared: Set[str] = frozenset()) -> str | None:
    """The tool that an object calls; None: it is no call. A call is no value, its result is."""
    items = {plain_name(key): item for key, item in value.items()}
    undeclared = {key: item for key, item in items.items() if key not in declared}
    if not undeclared.keys() & CALL_ARGUMENT_KEYS:
        return None
    names = map(undeclared.get, CALL_NAME_KEYS)
    return next((name for name in names if isinstance(name, str)), None)


def find_coercions(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """Everything else the value may stand for where `node` is asked, `name` being its property."""
    kind = kind_of(value)
    if kind in SIMPLE_KINDS:
        for member_cost, member in find_members(value, node.choices):
            yield Coercion(member_cost, member)
    if value is not None:
        yield from COERCIONS[kind](value, node, name)
    if node.takes("array") and may_be_item(value, node):
        yield Coercion(2, [value])


def may_be_item(value: object, node: SchemaNode) -> bool:
    """Tell whether a value may be the one item of a list: not a list, and no word for nothing
    unless that is one of the choices."""
    if isinstance(value, list | None) or is_bracketed(value):
        return False
    item = node.item(0)
    is_choice = item is not None and find_exact_member(value, item.choices) is not None
    return is_choice or not is_null_word(value)


def is_null_word(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in NULL_WORDS


def coerce_text(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    text = str(value)
    if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`":
        yield Coercion(1, text[1:-1])
    if node.takes("number") or node.takes("integer"):
        yield from read_number(text, node, name)
    yield from read_constant(text, node)
    yield from read_structure(text, node, name)
    if node.takes("string") and not node.choices:
        yield from respell_text(text, node)


def read_constant(text: str, node: SchemaNode) -> Iterator[Coercion]:
    if node.takes("boolean") and (truth := parse_boolean(text)) is not None:
        yield Coercion(1, truth)
    if node.takes("null") and is_null_word(text):
        yield Coercion(2, None)


def read_number(text: str, node: SchemaNode, name: str) -> Iterator[Coercion]:
    unit = node.schema.get("x-unit", "")
    yield from read_number_sign(text, node, name)
    number = parse_number(text)
    if number is not None and (
        node.takes("number") or not WITH_DECIMAL_COMMA.fullmatch(text.strip())
    ):
        yield Coercion(price_number(text.strip(), node), number)
        return
    quantity = parse_quantity(text, f"{name} {node.about} {unit}")
    # What is said to be seconds is never taken for milliseconds.
    if quantity is not None and convert_to_seconds(quantity, node) is None:
        # A tool that declares its unit, or names it, leaves nothing to guess.
        yield Coercion(2 if unit or names_unit(text, name) else 4, quantity)


def read_number_sign(text: str, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """Read `#12`: a guess, except where the number names something (`issue_number`)."""
    numbered = NUMBER_SIGN.fullmatch(text.strip()) if node.takes("integer") else None
    if numbered is not None:
        is_counted = plain_name(name).endswith("count")
        is_name = not (is_counted or NUMBERED.isdisjoint(canonical_words(name)[-1:]))
        yield Coercion(1 if is_name else 4, int(numbered[1]))


def price_number(text: str, node: SchemaNode) -> int:
    """Price taking a text for a number: a guess where it may say another one."""
    # Half of the world writes one and a half as `1,500` and `1,5`; `+2` may be two more.
    may_be_decimal = node.takes("number") and LONE_GROUP.fullmatch(text)
    if may_be_decimal or WITH_DECIMAL_COMMA.fullmatch(text) or text.startswith("+"):
        return 4
    return 1


def names_unit(text: str, name: str) -> bool:
    """Tell whether a name says the unit that a text has: `21 km` under `distance_km`.

    It leaves the number to guess where that has a comma: `1,500 km` may be one and a half.
    """
    text = text.strip()
    is_plain_unit = text[-1:].isalpha() or text.endswith("%")
    is_plain = is_plain_unit and text[:1].isdigit() and "," not in text
    return is_plain and parse_quantity(text, name) is not None


def read_structure(text: str, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """The list or object a text is, or is the only thing in."""
    takes_array, takes_object = node.takes("array"), node.takes("object")
    if not takes_array and not takes_object:
        return
    if (structure := parse_structure(text)) is not None:
        yield Coercion(1, structure)
    if takes_array:
        yield from split_at_commas(text, node, name)
    if takes_object and (only_property := node.only) and not is_bracketed(text):
        yield Coercion(5, {only_property: text})


def split_at_commas(text: str, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """The parts between commas, where each fits; never of a text that begins as a list."""
    item = node.item(0)
    if item is None or is_bracketed(text):
        return
    numeric = bool(item.kinds) and item.kinds <= {"number", "integer"}
    text_parts = split_parts(text, numeric)
    if not text_parts:
        return
    if numeric:
        yield from read_numbers(text, text_parts)
    elif item.choices:
        yield from read_choices(text_parts, item)
    elif is_said_to_be_split(node, item):
        yield Coercion(1, text_parts)
    elif is_written_as_list(text, text_parts, item):
        # A place has commas of its own: `Paris, France` is asked, as one and as two are as good.
        yield Coercion(2 if content_words(name) & COMMA_IN_ONE else 1, text_parts)


def split_parts(text: str, numeric: bool) -> list[str]:
    """The parts between commas, of numbers also between blanks; none where there is only one."""
    text_parts = [text_part.strip(" \t\n'\"") for text_part in text.split(",")]
    if numeric and len(text_parts) == 1:
        text_parts = text.split()
    return text_parts if len(text_parts) > 1 and all(text_parts) else []


def read_choices(text_parts: list[str], item: SchemaNode) -> Iterator[Coercion]:
    if all(find_exact_member(text_part, item.choices) is not None for text_part in text_parts):
        yield Coercion(1, text_parts)


def read_numbers(text: str, text_parts: list[str]) -> Iterator[Coercion]:
    numbers = [parse_number(text_part) for text_part in text_parts]
    # `5,1, 5,3` may be two numbers with decimals.
    is_mixed = "." not in text and 0 < text.count(", ") < text.count(",")
    if None not in numbers and not is_mixed:
        yield Coercion(3 if GROUPED.fullmatch(text.strip()) else 2, numbers)


def is_written_as_list(text: str, text_parts: list[str], item: SchemaNode) -> bool:
    """Tell whether a blank follows each comma, as in a list, and no item may hold just that."""
    return len(text_parts) == text.count(", ") + 1 and item.schema.get("format") != PATH


def is_said_to_be_split(node: SchemaNode, item: SchemaNode) -> bool:
    """Tell whether commas part the items: by the description, or because no item holds one."""
    return is_comma_separated(node) or item.schema.get("format") in COMMA_FREE_FORMATS


def is_comma_separated(node: SchemaNode) -> bool:
    return "comma" in node.about and "separat" in node.about


def respell_text(text: str, node: SchemaNode) -> Iterator[Coercion]:
    """Write the text in the declared format or pattern."""
    for certain, rewritten in rewrite_in_format(text, str(node.schema.get("format", ""))):
        yield Coercion(1 if certain else 6, rewritten)
    if "pattern" in node.schema or "maxLength" in node.schema:
        yield Coercion(1, text.strip())
    if "pattern" in node.schema:
        for spelling_cost, spelling in find_spellings(text.strip()):
            if spelling != text and node.fits(spelling):
                yield Coercion(spelling_cost, spelling)


def find_spellings(text: str) -> list[tuple[int, str]]:
    """(cost, a text as a pattern may want it): another case, other separators, none."""
    joined = "".join(letter for letter in text if letter not in " -.()/")
    return [
        (2, text.upper()),
        (2, text.lower()),
        (2, text.title()),
        (3, text.replace(" ", "_").lower()),
        (3, text.replace("_", "-").replace(" ", "-")),
        (5, joined),
        (5, joined.upper()),
    ]


def coerce_boolean(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    if node.takes("string"):
        yield Coercion(1, "true" if value else "false")


def coerce_number(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    if not isinstance(value, int | float):
        return
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
    if low is not None and high is not None and low > high:
        return
    if low is not None and value < low:
        yield Coercion(8, low)
    if high is not None and value > high:
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


def coerce_list(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    if not isinstance(value, list) or not value:
        return
    if len(value) == 1:
        yield Coercion(2, value[0])
    if node.takes("string") and not node.choices:
        yield from join_list(value, node, name)
    if node.takes("object"):
        yield from read_entries(value, node)
    item = node.item(0) if node.takes("array") else None
    if item is not None and item.kinds == frozenset(["array"]):
        yield Coercion(2, [value])


def join_list(value: list[object], node: SchemaNode, name: str) -> Iterator[Coercion]:
    """One text for a list, in the form that the description asks for."""
    are_simple = all(isinstance(item, str | int | float) for item in value)
    if are_simple and is_comma_separated(node):
        yield Coercion(3, ",".join(map(str, value)))
    elif "json" in node.about:
        yield Coercion(2, write_json(value))
    elif are_simple and is_command_line(node, name) and is_one_command(value):
        yield Coercion(2, shlex.join(map(str, value)))


def is_command_line(node: SchemaNode, name: str) -> bool:
    """Tell whether a text is a command line, by its name and its description: one that only
    speaks of command lines may be a note."""
    return "command line" in node.about and relation_cost("command", name, "", "") is not None


def is_one_command(value: list[object]) -> bool:
    """Tell whether a list is one program and its arguments: not several command lines, and without
    operators of the shell."""
    is_program = len(value) > 1 and len(str(value[0]).split()) == 1
    return is_program and not any(SHELL_WORD.match(str(word)) for word in value)


def read_entries(value: list[object], node: SchemaNode) -> Iterator[Coercion]:
    """The object that a list stands for: of pairs, of small objects, of values in order."""
    objects = [entry for entry in value if isinstance(entry, dict)]
    pairs = dict(filter(None, map(read_pair, objects)))
    if len(pairs) == len(value):
        yield Coercion(2, pairs)
    elif len(objects) == len(value):
        merged = {key: item for entry in objects for key, item in entry.items()}
        # Of a key that two of them have one value would be lost.
        if len(merged) == sum(map(len, objects)):
            yield Coercion(4, merged)
    elif len(value) == len(node.properties) and has_one_order(node):
        yield Coercion(3, dict(zip(node.properties, value, strict=True)))


def read_pair(entry: Mapping[str, object]) -> tuple[str, object] | None:
    """`{"name": "path", "value": "a"}`; None: it is no pair."""
    name = next((entry[key] for key in ("name", "key", "parameter") if key in entry), None)
    return (name, entry["value"]) if isinstance(name, str) and "value" in entry else None


def has_one_order(node: SchemaNode) -> bool:
    """Tell whether values in order can stand under no other names: each is of another kind."""
    kinds = [child.kinds for name in node.properties if (child := node.child(name))]
    return len(set(kinds)) == len(kinds) == len(node.properties)


def coerce_object(value: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    if not isinstance(value, Mapping) or node.takes("object"):
        return
    if find_called_name(value) is not None:
        return
    yield from unwrap_value(value, node, name)
    if wants_json(node, name) and node.takes("string") and not node.choices:
        yield Coercion(2, write_json(value))
    if node.takes("array") and value:
        yield from read_as_list(value, node)


def wants_json(node: SchemaNode, name: str) -> bool:
    """Tell whether a text is to be JSON: a body is, unless it is said to be text, as a mail's."""
    return "json" in node.about or (plain_name(name) in BODY_KEYS and "text" not in node.about)


def read_as_list(value: Mapping[str, object], node: SchemaNode) -> Iterator[Coercion]:
    """The list that an object is: items by number, or one list for each property of them."""
    if all(map(str.isdigit, value)):
        yield Coercion(2, [value[key] for key in sorted(value, key=int)])
    item = node.item(0)
    if item is None or not item.takes("object"):
        return
    columns = [column for column in value.values() if isinstance(column, list)]
    lengths = set(map(len, columns))
    if len(columns) == len(value) and len(lengths) == 1:
        rows = zip(*columns, strict=True)
        yield Coercion(3, [dict(zip(value, row, strict=True)) for row in rows])


def is_value_key(key: str, name: str) -> bool:
    """Tell whether a key in an object only says again what the whole is."""
    is_known_word = plain_name(key) in VALUE_KEYS | TYPE_KEYS or plain_name(key) == plain_name(name)
    return is_known_word or (bool(name) and relation_cost(key, name, "", "") is not None)


def is_named_by_format(key: str, value: object) -> bool:
    """Tell whether a key only says what form its text has: `{"dateTime": "2026-03-01T12:00"}`."""
    text_format = next((name for name in REWRITERS if plain_name(name) == plain_name(key)), "")
    if not text_format or not isinstance(value, str):
        return False
    return follows_format(value, text_format) or any(rewrite_in_format(value, text_format))


def read_only_key(key: str, value: object) -> Iterator[Coercion]:
    """The one item of an object, under a key that says nothing or only how it is written."""
    if says_nothing(key):
        yield Coercion(4, value)
    elif is_named_by_format(key, value):
        yield Coercion(2, value)


def unwrap_value(value: Mapping[str, object], node: SchemaNode, name: str) -> Iterator[Coercion]:
    """The one value that an object holds: `{"type": "string", "value": "a"}`."""
    items = {plain_name(key): item for key, item in value.items()}
    value_keys = [item_key for item_key in items if is_value_key(item_key, name)]
    if "value" in value_keys or len(value_keys) == 1:
        yield from read_value_key(items, value_keys, node, name)
    elif len(value) == 1:
        yield from read_only_key(*next(iter(value.items())))
    elif items.keys() >= {"enum", "type"}:
        yield Coercion(2, items["enum"])


def read_value_key(
    items: Mapping[str, object], value_keys: list[str], node: SchemaNode, name: str
) -> Iterator[Coercion]:
    """The item under one of the keys for it, where nothing or only its unit stands beside."""
    value = items["value" if "value" in value_keys else value_keys[0]]
    other_items = {
        key: item
        for key, item in items.items()
        if key not in value_keys and not _says_only_form(key, item, value_keys, name)
    }
    if not other_items:
        yield Coercion(2, value)
    elif other_items.keys() <= {"unit", "units"}:
        yield from read_with_unit(value, next(iter(other_items.values())), node, name)


def _says_only_form(key: str, item: object, value_keys: Sequence[str], name: str) -> bool:
    """Tell whether an item only describes a value: `"type": "string"`, or the type that is the key
    of the value, as in `{"type": "text", "text": "a"}`; `"type": "bcc"` says more."""
    if key not in ("type", "kind"):
        return key in SCHEMA_KEYS
    said_type = str(item)
    return plain_name(said_type) in value_keys or is_value_key(said_type, name)


def read_with_unit(value: object, unit: object, node: SchemaNode, name: str) -> Iterator[Coercion]:
    """A number beside its unit, where the schema states that one, or none and it is of the SI."""
    about = content_words(name) | content_words(node.about)
    if parse_quantity(f"{value} {unit}", f"{name} {node.about}") is not None:
        yield Coercion(4, value)
    elif plain_name(str(unit)) in SI_UNITS and not about & UNITS:
        yield Coercion(7, value)


COERCIONS: dict[str, Callable[[object, SchemaNode, str], Iterator[Coercion]]] = {
    "boolean": coerce_boolean,
    "integer": coerce_number,
    "number": coerce_number,
    "string": coerce_text,
    "array": coerce_list,
    "object": coerce_object,
}
"""By the kind of a value that is not null: (value, its place, its property) -> all it may mean."""
