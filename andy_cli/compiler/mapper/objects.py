"""An object to the properties a schema declares: what was put in a wrapper, under which names."""

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from andy_cli.compiler.mapper.arrange import rename_properties
from andy_cli.compiler.mapper.fits import FittedValue, MappingScope
from andy_cli.compiler.mapper.nodes import SchemaNode
from andy_cli.compiler.mapper.sorting import FitProperty
from andy_cli.compiler.mapper.texts import NULL_WORDS, parse_structure, write_short
from andy_cli.compiler.mapper.words import plain_name

WRAPPERS = frozenset(
    "arguments args kwargs parameters params properties input inputs payload request data object "
    "body json value values toolinput functionargs argument param options root result fields "
    "functionarguments callarguments positional".split()
)
CALL_NAME_KEYS = "name tool toolname function functionname call action".split()
CALL_ARGUMENT_KEYS = frozenset("arguments args parameters params input toolinput kwargs".split())
LABEL_KEYS = frozenset(
    "type name tool function title description required additionalproperties schema id toolname "
    "functionname call method action command strict".split()
)


class ObjectShape(NamedTuple):
    """An object as given, or as it stood in a wrapper."""

    cost: int
    given: Mapping[str, object]
    change: str = ""


def unwrap_object(
    value: Mapping[str, object], node: SchemaNode, scope: MappingScope
) -> Iterator[ObjectShape]:
    declared = {plain_name(name) for name in node.properties}
    called = find_called_name(value, declared)
    if called is not None and not (node.is_whole and plain_name(called) == plain_name(scope.tool)):
        return
    yield ObjectShape(0, value)
    for key, each in value.items():
        name = plain_name(key)
        if name in declared or not (name in WRAPPERS or name == plain_name(scope.tool)):
            continue
        inner = parse_structure(each) if isinstance(each, str) else each
        if isinstance(inner, list):
            inner = _read_pairs(inner) or _only_object(inner) or _name_positional(inner, node)
        if not isinstance(inner, dict):
            continue
        others = {
            other: kept
            for other, kept in value.items()
            if other != key
            and (plain_name(other) in declared or plain_name(other) not in LABEL_KEYS)
        }
        if not others.keys() & inner.keys():
            yield ObjectShape(2, {**others, **inner}, f"took what stood in {key}")


def find_called_name(value: Mapping[str, object], declared: Set[str] = frozenset()) -> str | None:
    """The tool that an object calls; None: it is no call. A call is no value, its result is."""
    keys = {plain_name(key): item for key, item in value.items() if plain_name(key) not in declared}
    if not keys.keys() & CALL_ARGUMENT_KEYS:
        return None
    return next((name for key in CALL_NAME_KEYS if isinstance(name := keys.get(key), str)), None)


def _read_pairs(values: list[object]) -> dict[str, object] | None:
    """`[{"name": "path", "value": "a"}]`."""
    pairs = {
        str(each["name"]): each["value"]
        for each in values
        if isinstance(each, dict) and "value" in each and "name" in each
    }
    return pairs if len(pairs) == len(values) else None


def _only_object(values: list[object]) -> dict[str, object] | None:
    first = values[0] if len(values) == 1 else None
    return first if isinstance(first, dict) else None


def _name_positional(values: list[object], node: SchemaNode) -> dict[str, object] | None:
    """Positional values of a whole call under the names, in the order they are declared."""
    if not node.is_whole or not len(node.required) <= len(values) <= len(node.properties):
        return None
    return dict(zip(node.properties, values, strict=False))


def fit_object(
    shape: ObjectShape, node: SchemaNode, scope: MappingScope, inner: FitProperty
) -> FittedValue | None:
    sorting = rename_properties(shape.given, node, scope, inner)
    if sorting is None:
        return None
    made = dict(sorting.assigned)
    cost, changes = shape.cost + sorting.cost, list(sorting.changes)
    wrong = node.wrong(made)
    for name, each in sorting.assigned.items() if wrong else ():
        child = node.child(name) if name in wrong else None
        if child is None:
            continue
        fitted = inner(each, child, name)
        if fitted is None:
            price = _omission_cost(each, name, node, child)
            if price is None or not scope.allows(price):
                return None
            cost += price
            changes.append(f"dropped {name}: {write_short(each)}")
            del made[name]
            continue
        made[name] = fitted.value
        cost += fitted.cost
        changes.extend(fitted.changes)
    return FittedValue(cost, made, tuple(filter(None, (shape.change, *dict.fromkeys(changes)))))


def _omission_cost(value: object, name: str, node: SchemaNode, child: SchemaNode) -> int | None:
    """What it costs to take an optional value for none; None: it says something."""
    if name in node.required or (child.takes("string") and not child.choices):
        return None
    if isinstance(value, str) and value.strip().lower() in NULL_WORDS:
        return 3 if value.strip() else 5
    return 5 if value in ({}, []) else None
