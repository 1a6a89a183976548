"""Correct a value to one place of a schema, at the least cost, with a receipt for each change."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from andy_cli.compiler.mapper.coercions import find_called_name, find_coercions, read_number
from andy_cli.compiler.mapper.json_values import NULL_WORDS, parse_structure, write_short
from andy_cli.compiler.mapper.prepared_schema import SchemaNode
from andy_cli.compiler.mapper.rename_properties import (
    CERTAIN,
    FitProperty,
    FittedValue,
    MappingScope,
    pick_cheapest,
    rename_properties,
)
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
NUMERIC = frozenset(["integer", "number"])
MAX_CORRECTION_DEPTH = 14
MAX_COERCIONS = 3
"""Times that one value is taken for something else on the way: text, list in it, item of it."""


class ObjectShape(NamedTuple):
    """An object as given, or as it stood in a wrapper."""

    cost: int
    given: Mapping[str, object]
    change: str = ""


def unwrap_object(
    value: Mapping[str, object], node: SchemaNode, scope: MappingScope
) -> Iterator[ObjectShape]:
    """Yield the object itself, then with what stands in each wrapper of it taken out."""
    declared = frozenset(map(plain_name, node.properties))
    tool = plain_name(scope.tool)
    called = find_called_name(value, declared)
    if called is not None and not (node.is_whole and plain_name(called) == tool):
        return
    yield ObjectShape(0, value)
    wrappers = {*WRAPPERS, tool} - declared
    for key in value:
        unwrapped = _unwrap(value, key, node, declared) if plain_name(key) in wrappers else None
        if unwrapped is not None:
            yield ObjectShape(2, unwrapped, f"took what stood in {key}")


def _unwrap(
    value: Mapping[str, object], key: str, node: SchemaNode, declared: Set[str]
) -> dict[str, object] | None:
    """The arguments in a wrapper with those beside it; None where one would hide another."""
    inner = _read_wrapped(value[key], node)
    if inner is None:
        return None
    other_items = {other: item for other, item in value.items() if other != key}
    others = _drop_label_keys(other_items, declared)
    return None if others.keys() & inner.keys() else {**others, **inner}


def _read_wrapped(wrapped: object, node: SchemaNode) -> dict[str, object] | None:
    """The arguments in a wrapper: an object, pairs, one object in a list, values in order."""
    inner = parse_structure(wrapped) if isinstance(wrapped, str) else wrapped
    if isinstance(inner, list):
        return _read_pairs(inner) or _only_object(inner) or _name_positional(inner, node)
    return inner if isinstance(inner, dict) else None


def _drop_label_keys(value: Mapping[str, object], declared: Set[str]) -> dict[str, object]:
    """Without the keys that only say what the object is, unless the tool declares them."""
    unwanted = LABEL_KEYS - declared
    return {key: item for key, item in value.items() if plain_name(key) not in unwanted}


def _read_pairs(values: list[object]) -> dict[str, object] | None:
    """`[{"name": "path", "value": "a"}]`."""
    pairs: dict[str, object] = {}
    for named_value in values:
        match named_value:
            case {"name": name, "value": value}:
                pairs[str(name)] = value
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
    shape: ObjectShape, node: SchemaNode, scope: MappingScope, fit_property: FitProperty
) -> FittedValue | None:
    """Rename and correct the properties of an object; None where one of them cannot be."""
    assignment = rename_properties(shape.given, node, scope, fit_property)
    if assignment.ambiguous:
        return None
    fitted = dict(assignment.assigned)
    total_cost, changes = shape.cost + assignment.cost, list(assignment.changes)
    wrong = node.find_invalid_keys(fitted)
    for name, value in assignment.assigned.items():
        child = node.child(name) if name in wrong else None
        if child is None:
            continue
        property_fit = fit_property(value, child, name)
        if property_fit is None:
            dropping_cost = _omission_cost(value, name, node, child)
            if dropping_cost is None or not scope.allows(dropping_cost):
                return None
            total_cost += dropping_cost
            changes.append(f"dropped {name}: {write_short(value)}")
            del fitted[name]
            continue
        fitted[name] = property_fit.value
        total_cost += property_fit.cost
        changes.extend(property_fit.changes)
    return FittedValue(
        total_cost, fitted, tuple(filter(None, (shape.change, *dict.fromkeys(changes))))
    )


def fit_in_part(
    value: Mapping[str, object], node: SchemaNode, scope: MappingScope
) -> Iterator[dict[str, object]]:
    """Yield the object under the names that were meant, with all that fits as it fits.

    For telling what is wrong with it: only what cannot be corrected is left as it was.
    """

    def fit_property(inner: object, child: SchemaNode, name: str) -> FittedValue | None:
        return fit_value(inner, child, scope, name, 1)

    for shape in unwrap_object(value, node, scope):
        assignment = rename_properties(shape.given, node, scope, fit_property)
        unnamed = assignment.unknown if assignment.ambiguous else {}
        partly_fitted = {**assignment.assigned, **unnamed}
        for name, inner in assignment.assigned.items():
            child = node.child(name)
            if child is not None:
                partly_fitted[name] = fit_as_far(inner, child, scope, name)
        yield partly_fitted


def fit_as_far(value: object, node: SchemaNode, scope: MappingScope, name: str) -> object:
    """Correct a value, or of one that does not fit what is in it, as far as that goes."""
    if fitted := fit_value(value, node, scope, name, 1):
        return fitted.value
    if isinstance(value, list) and node.takes("array"):
        places = [(item, node.item(index)) for index, item in enumerate(value)]
        return [fit_as_far(item, place, scope, "") if place else item for item, place in places]
    if isinstance(value, dict) and node.takes("object"):
        return next(fit_in_part(value, node, scope), value)
    return read_kind(value, node)


def read_kind(value: object, node: SchemaNode) -> object:
    """Read a value as one of the kind that is wanted, though it does not fit: of the text `"900"`
    it is told that 900 is too much, not that it is no number."""
    if not isinstance(value, str) or not node.kinds & NUMERIC:
        return value
    numbers = (number.value for number in read_number(value, node, "") if number.cost <= CERTAIN)
    return next(numbers, value)


def _omission_cost(value: object, name: str, node: SchemaNode, child: SchemaNode) -> int | None:
    """Price taking an optional value for none; None: it says something."""
    is_text = child.takes("string") and not child.choices
    # An empty text says something, but where it may not be empty.
    if name in node.required or (is_text and value != ""):
        return None
    if isinstance(value, str) and value.strip().lower() in NULL_WORDS:
        return 3 if value.strip() else 5
    return 5 if value in ({}, []) else None


def fit_value(
    value: object,
    node: SchemaNode,
    scope: MappingScope,
    name: str = "",
    depth: int = 0,
    coercions_left: int = MAX_COERCIONS,
) -> FittedValue | None:
    """Correct a value as far as the schema forces it; None where it does not.

    `name`: the property it stands under. `coercions_left`: how often the value may still be taken
    for something else. A value that fits comes back as it is, at no cost.
    """
    if node.fits(value):
        return FittedValue(0, value)
    scope.steps -= 1
    if depth > MAX_CORRECTION_DEPTH or node.never or scope.steps < 0:
        return None
    if not node.branches:
        return pick_cheapest(find_candidates(value, node, scope, name, depth, coercions_left), node)
    branch_fits = [
        fit_value(value, branch, scope, name, depth + 1, coercions_left)
        for branch in list_meant_branches(value, node)
    ]
    return pick_cheapest([branch_fit for branch_fit in branch_fits if branch_fit is not None], node)


def list_meant_branches(value: object, node: SchemaNode) -> Sequence[SchemaNode]:
    """List the alternatives that an object says it is, as by `"kind": "email"`; all, if it does
    not say."""
    given = value if isinstance(value, dict) else {}
    said_branches = [branch for branch in node.branches if _is_said(given, branch)]
    return said_branches or node.branches


def _is_said(given: Mapping[str, object], branch: SchemaNode) -> bool:
    children = [(name, branch.child(name)) for name in given if name in branch.properties]
    return any(child and child.choices == [given[name]] for name, child in children)


def find_candidates(
    value: object, node: SchemaNode, scope: MappingScope, name: str, depth: int, coercions_left: int
) -> Iterator[FittedValue]:
    """Yield all that a value may be corrected to; nothing more where an object is a question."""
    if isinstance(value, dict) and node.takes("object"):
        earlier_questions = len(scope.questions)
        shapes = list(fit_shapes(value, node, scope, depth))
        yield from shapes
        if not shapes and len(scope.questions) > earlier_questions:
            return
    if isinstance(value, list) and node.takes("array"):
        yield from fit_array(value, node, scope, name, depth)
    if coercions_left > 0:
        yield from fit_coercions(value, node, scope, name, depth, coercions_left)


def fit_coercions(
    value: object, node: SchemaNode, scope: MappingScope, name: str, depth: int, coercions_left: int
) -> Iterator[FittedValue]:
    """Fit whatever else the value may stand for, as far as the scope pays for it."""
    for coercion in find_coercions(value, node, name):
        if not scope.allows(coercion.cost):
            continue
        fitted = fit_value(coercion.value, node, scope, name, depth + 1, coercions_left - 1)
        if fitted is not None:
            changes: tuple[str, ...] = (coercion.change, *fitted.changes)
            if not coercion.change:
                changes = (f"{write_short(value)} -> {write_short(fitted.value)}",)
            yield FittedValue(coercion.cost + fitted.cost, fitted.value, changes)


def fit_shapes(
    value: Mapping[str, object], node: SchemaNode, scope: MappingScope, depth: int
) -> Iterator[FittedValue]:
    def fit_property(inner: object, child: SchemaNode, name: str) -> FittedValue | None:
        return fit_value(inner, child, scope, name, depth + 1)

    for shape in unwrap_object(value, node, scope):
        if fitted := fit_object(shape, node, scope, fit_property):
            yield fitted


def fit_array(
    value: list[object], node: SchemaNode, scope: MappingScope, name: str, depth: int
) -> Iterator[FittedValue]:
    """Fit each item on its own; items that say nothing fall away where none may stand."""
    items: list[object] = []
    changes: list[str] = []
    total_cost = 0
    for index, item in enumerate(value):
        child = node.item(index)
        item_name = _name_item(item, name)
        item_fit = (
            fit_value(item, child, scope, item_name, depth + 1) if child else FittedValue(0, item)
        )
        if item_fit is not None:
            total_cost += item_fit.cost
            changes.extend(item_fit.changes)
            items.append(item_fit.value)
        elif item is None and scope.may_guess:
            total_cost += 4
            changes.append("dropped null")
        else:
            return
    unique = items
    if node.schema.get("uniqueItems") and not node.fits(items):
        unique = drop_repeats(items)
    if len(unique) < len(items):
        total_cost += 3
        changes.append("dropped what was there twice")
    yield FittedValue(total_cost, unique, tuple(dict.fromkeys(changes)))


def _name_item(item: object, name: str) -> str:
    """Return the list's name for an item with a single member (`[{"path": "a"}]` for `paths`), else
    nothing: a second member may mean something."""
    return name if isinstance(item, dict) and len(item) == 1 else ""


def drop_repeats(items: list[object]) -> list[object]:
    return [item for index, item in enumerate(items) if item not in items[:index]]
