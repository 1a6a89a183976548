"""One value to one place of a schema, keyed on the rule that it breaks."""

from collections.abc import Iterator, Mapping

from andy_cli.compiler.mapper.fits import Fit, Scope, cheapest
from andy_cli.compiler.mapper.nodes import Node
from andy_cli.compiler.mapper.objects import as_object, unwrapped
from andy_cli.compiler.mapper.readings import readings
from andy_cli.compiler.mapper.texts import shown

DEEPEST = 14
READINGS = 3
"""How often one value is taken for something else on the way: text, list in it, item of it."""


def fit(value: object, node: Node, scope: Scope, name: str = "", depth: int = 0) -> Fit | None:
    """The value, corrected as far as the schema forces it; None where it does not.

    `name`: the property it stands under. A value that fits comes back as it is, at no cost.
    """
    if node.fits(value):
        return Fit(0, value)
    return corrected(value, node, scope, name, depth, READINGS)


def corrected(
    value: object, node: Node, scope: Scope, name: str, depth: int, again: int
) -> Fit | None:
    scope.steps -= 1
    if depth > DEEPEST or node.never or scope.steps < 0:
        return None
    if node.branches:
        found = [
            each
            for branch in node.branches
            if (each := tried(value, branch, scope, name, depth + 1, again))
        ]
        return cheapest(found, node)
    return cheapest(candidates(value, node, scope, name, depth, again), node)


def tried(value: object, node: Node, scope: Scope, name: str, depth: int, again: int) -> Fit | None:
    if node.fits(value):
        return Fit(0, value)
    return corrected(value, node, scope, name, depth, again)


def candidates(
    value: object, node: Node, scope: Scope, name: str, depth: int, again: int
) -> Iterator[Fit]:
    if isinstance(value, dict) and node.takes("object"):
        asked = len(scope.questions)
        shapes = list(as_objects(value, node, scope, depth))
        yield from shapes
        if not shapes and len(scope.questions) > asked:
            return
    if isinstance(value, list) and node.takes("array"):
        yield from as_array(value, node, scope, depth)
    for reading in readings(value, node, name) if again > 0 else ():
        if not scope.allows(reading.cost):
            continue
        taken = tried(reading.value, node, scope, name, depth + 1, again - 1)
        if taken is not None:
            receipt = reading.change or f"{shown(value)} -> {shown(taken.value)}"
            changes = taken.changes if reading.change else ()
            yield Fit(reading.cost + taken.cost, taken.value, (receipt, *changes))


def as_objects(value: Mapping[str, object], node: Node, scope: Scope, depth: int) -> Iterator[Fit]:
    def inner(each: object, child: Node, called: str) -> Fit | None:
        return fit(each, child, scope, called, depth + 1)

    for shape in unwrapped(value, node, scope):
        if made := as_object(shape, node, scope, inner):
            yield made


def as_array(value: list[object], node: Node, scope: Scope, depth: int) -> Iterator[Fit]:
    """Each item on its own; items that say nothing fall away where none may stand."""
    items: list[object] = []
    changes: list[str] = []
    cost = 0
    for at, each in enumerate(value):
        child = node.item(at)
        made = Fit(0, each) if child is None else fit(each, child, scope, "", depth + 1)
        if made is None:
            if each is not None or not scope.liberties:
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
    yield Fit(cost, items, tuple(dict.fromkeys(changes)))
