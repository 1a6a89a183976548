"""One value to one place of a schema, keyed on the rule that it breaks."""

from collections.abc import Iterator, Mapping

from andy_cli.compiler.mapper.fits import FittedValue, MappingScope, pick_cheapest
from andy_cli.compiler.mapper.nodes import SchemaNode
from andy_cli.compiler.mapper.objects import fit_object, unwrap_object
from andy_cli.compiler.mapper.readings import find_coercions
from andy_cli.compiler.mapper.texts import write_short

DEEPEST_CORRECTION = 14
MOST_COERCIONS = 3
"""How often one value is taken for something else on the way: text, list in it, item of it."""


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
