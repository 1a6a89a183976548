"""The kinds of values there are, whatever a schema calls them."""

from collections.abc import Mapping

KIND_NAMES = {
    "string": "string str text char character varchar uuid url uri path date datetime",
    "integer": "integer int long short byte bigint int32 int64 uint",
    "number": "number float double decimal real numeric",
    "boolean": "boolean bool",
    "array": "array list tuple set sequence arraylist vector",
    "object": "object dict map dictionary hashmap struct record json",
    "null": "null none nil void undefined nonetype",
    "": "any anything object|any mixed unknown variant",
}
KINDS = {word: kind for kind, words in KIND_NAMES.items() for word in words.split()}
STANDARD_KINDS = frozenset(["string", "integer", "number", "boolean", "array", "object", "null"])
FLOAT_NAMES = frozenset(["float", "double"])


def parse_kind(name: str) -> str:
    """The JSON Schema type a name means; empty where anything may stand.

    `List[str]` and `array<string>` are arrays.
    """
    plain = name.strip().lower()
    return KINDS.get(plain) or KINDS.get(plain.partition("[")[0].partition("<")[0], "")


def kind_of(value: object) -> str:
    """The JSON kind of a value; whole fractions are numbers here."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def equal_as_json(one: object, other: object) -> bool:
    """Equal as JSON: 3 and 3.0 are, 1 and true are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            equal_as_json(one[key], other[key]) for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal_as_json, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and one == other
