"""Correct a value to one place of a schema, at the least cost, with a receipt for each change."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from andy_cli.compiler.mapper.coercions import find_called_name, find_coercions
from andy_cli.compiler.mapper.json_input import NULL_WORDS, parse_structure, write_short
from andy_cli.compiler.mapper.rename_properties import (
    FitProperty,
    FittedValue,
    MappingScope,
    pick_cheapest,
    rename_properties,
)
from andy_cli.compiler.mapper.schema_node import SchemaNode
from andy_cli.compiler.mapper.synonyms import plain_name

WRAPPERS = frozenset(
    "arguments args kwargs parameters params properties input inputs payload request data object "
    "body json value values toolinput functionargs argument param options root result fields "
    "functionarguments callarguments positional".split()
)
LABEL_KEYS = frozenset(
    "type name tool function title description required additionalproperties schema id toolname "
    "functionname call method action command strict".split()
)
DEEPEST_CORRECTION = 14
MOST_COERCIONS = 3
"""How often one value is taken for something else on the way: text, list in it, item of it."""


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


def fit_value(
    value: object, node: SchemaNode, scope: MappingScope, name: str = "", depth: int = 0
) -> FittedValue | None:
    """The value, corrected as far as the schema forces it; None where it does not.

    `name`: the property it stands under. A value that fits comes back as it is, at no cost.
    """
    if node.fits(value):
        return FittedValue(0, value)
    return correct_value(value, node, scope, name, depth, MOST_COERCIONS)


def correct_value(
    value: object, node: SchemaNode, scope: MappingScope, name: str, depth: int, again: int
) -> FittedValue | None:
    scope.steps -= 1
    if depth > DEEPEST_CORRECTION or node.never or scope.steps < 0:
        return None
    if node.branches:
        found = [
            each
            for branch in node.branches
            if (each := try_value(value, branch, scope, name, depth + 1, again))
        ]
        return pick_cheapest(found, node)
    return pick_cheapest(find_candidates(value, node, scope, name, depth, again), node)


def try_value(
    value: object, node: SchemaNode, scope: MappingScope, name: str, depth: int, again: int
) -> FittedValue | None:
    if node.fits(value):
        return FittedValue(0, value)
    return correct_value(value, node, scope, name, depth, again)


def find_candidates(
    value: object, node: SchemaNode, scope: MappingScope, name: str, depth: int, again: int
) -> Iterator[FittedValue]:
    if isinstance(value, dict) and node.takes("object"):
        asked = len(scope.questions)
        shapes = list(fit_shapes(value, node, scope, depth))
        yield from shapes
        if not shapes and len(scope.questions) > asked:
            return
    if isinstance(value, list) and node.takes("array"):
        yield from fit_array(value, node, scope, depth)
    for reading in find_coercions(value, node, name) if again > 0 else ():
        if not scope.allows(reading.cost):
            continue
        taken = try_value(reading.value, node, scope, name, depth + 1, again - 1)
        if taken is not None:
            receipt = reading.change or f"{write_short(value)} -> {write_short(taken.value)}"
            changes = taken.changes if reading.change else ()
            yield FittedValue(reading.cost + taken.cost, taken.value, (receipt, *changes))


def fit_shapes(
    value: Mapping[str, object], node: SchemaNode, scope: MappingScope, depth: int
) -> Iterator[FittedValue]:
    def inner(each: object, child: SchemaNode, called: str) -> FittedValue | None:
        return fit_value(each, child, scope, called, depth + 1)

    for shape in unwrap_object(value, node, scope):
        if made := fit_object(shape, node, scope, inner):
            yield made


def fit_array(
    value: list[object], node: SchemaNode, scope: MappingScope, depth: int
) -> Iterator[FittedValue]:
    """Each item on its own; items that say nothing fall away where none may stand."""
    items: list[object] = []
    changes: list[str] = []
    cost = 0
    for at, each in enumerate(value):
        child = node.item(at)
        made = (
            FittedValue(0, each) if child is None else fit_value(each, child, scope, "", depth + 1)
        )
        if made is None:
            if each is not None or not scope.may_guess:
                return
            cost += 4
            changes.append("dropped null")
            continue
        cost += made.cost
        changes.extend(made.changes)
        items.append(made.value)
    if node.schema.get("uniqueItems") and not node.fits(items):
        unique = [each for at, each in enumerate(items) if each not in items[:at]]
        if len(unique) < len(items):
            cost, items = cost + 3, unique
            changes.append("dropped what was there twice")
    yield FittedValue(cost, items, tuple(dict.fromkeys(changes)))
