"""An object to the properties a schema declares: what was put in a wrapper, under which names."""

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from andy_cli.compiler.mapper.arrange import arranged
from andy_cli.compiler.mapper.fits import Fit, Scope
from andy_cli.compiler.mapper.nodes import Node
from andy_cli.compiler.mapper.sorting import Inner
from andy_cli.compiler.mapper.texts import NOTHING, shown, structure
from andy_cli.compiler.mapper.words import plain

WRAPPERS = frozenset(
    "arguments args kwargs parameters params properties input inputs payload request data object "
    "body json value values toolinput functionargs argument param options root result fields "
    "functionarguments callarguments positional".split()
)
CALLED = "name tool toolname function functionname call action".split()
CALLED_WITH = frozenset("arguments args parameters params input toolinput kwargs".split())
LABELS = frozenset(
    "type name tool function title description required additionalproperties schema id toolname "
    "functionname call method action command strict".split()
)


class Shape(NamedTuple):
    """An object as given, or as it stood in a wrapper."""

    cost: int
    given: Mapping[str, object]
    change: str = ""


def unwrapped(value: Mapping[str, object], node: Node, scope: Scope) -> Iterator[Shape]:
    declared = {plain(name) for name in node.properties}
    called = name_of_call(value, declared)
    if called is not None and not (node.is_whole and plain(called) == plain(scope.tool)):
        return
    yield Shape(0, value)
    for key, each in value.items():
        name = plain(key)
        if name in declared or not (name in WRAPPERS or name == plain(scope.tool)):
            continue
        inner = structure(each) if isinstance(each, str) else each
        if isinstance(inner, list):
            inner = _pairs(inner) or _alone(inner) or as_named(inner, node)
        if not isinstance(inner, dict):
            continue
        others = {
            other: kept
            for other, kept in value.items()
            if other != key and (plain(other) in declared or plain(other) not in LABELS)
        }
        if not others.keys() & inner.keys():
            yield Shape(2, {**others, **inner}, f"took what stood in {key}")


def name_of_call(value: Mapping[str, object], declared: Set[str] = frozenset()) -> str | None:
    """The tool that an object calls; None: it is no call. A call is no value, its result is."""
    keys = {plain(key): item for key, item in value.items() if plain(key) not in declared}
    if not keys.keys() & CALLED_WITH:
        return None
    return next((name for key in CALLED if isinstance(name := keys.get(key), str)), None)


def _pairs(values: list[object]) -> dict[str, object] | None:
    """`[{"name": "path", "value": "a"}]`."""
    pairs = {
        str(each["name"]): each["value"]
        for each in values
        if isinstance(each, dict) and "value" in each and "name" in each
    }
    return pairs if len(pairs) == len(values) else None


def _alone(values: list[object]) -> dict[str, object] | None:
    first = values[0] if len(values) == 1 else None
    return first if isinstance(first, dict) else None


def as_named(values: list[object], node: Node) -> dict[str, object] | None:
    """Positional values of a whole call under the names, in the order they are declared."""
    if not node.is_whole or not len(node.required) <= len(values) <= len(node.properties):
        return None
    return dict(zip(node.properties, values, strict=False))


def as_object(shape: Shape, node: Node, scope: Scope, inner: Inner) -> Fit | None:
    sorting = arranged(shape.given, node, scope, inner)
    if sorting is None:
        return None
    made = dict(sorting.kept)
    cost, changes = shape.cost + sorting.cost, list(sorting.changes)
    wrong = node.wrong(made)
    for name, each in sorting.kept.items() if wrong else ():
        child = node.child(name) if name in wrong else None
        if child is None:
            continue
        fitted = inner(each, child, name)
        if fitted is None:
            price = _left_out(each, name, node, child)
            if price is None or not scope.allows(price):
                return None
            cost += price
            changes.append(f"dropped {name}: {shown(each)}")
            del made[name]
            continue
        made[name] = fitted.value
        cost += fitted.cost
        changes.extend(fitted.changes)
    return Fit(cost, made, tuple(filter(None, (shape.change, *dict.fromkeys(changes)))))


def _left_out(value: object, name: str, node: Node, child: Node) -> int | None:
    """What it costs to take an optional value for none; None: it says something."""
    if name in node.required or (child.takes("string") and not child.choices):
        return None
    if isinstance(value, str) and value.strip().lower() in NOTHING:
        return 3 if value.strip() else 5
    return 5 if value in ({}, []) else None
