"""What was given, sorted under the names that are declared.

From the surest step to the loosest; each looks only at what the ones before left over. A name that
could mean two properties, or a property that two names could mean, is a question.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.json_input import equal_as_json, parse_structure, write_short
from andy_cli.compiler.mapper.schema_node import SchemaNode
from andy_cli.compiler.mapper.synonyms import (
    SAME_COST,
    canonical_words,
    content_words,
    is_about,
    is_count,
    is_silent,
    is_wrapper,
    may_fill,
    plain_name,
    relation_cost,
)
from andy_cli.messages import Problem

CERTAIN = 3
"""The dearest step that takes no liberty: the schema leaves nothing else it could mean."""
POSITIONAL_NAME = Expression(r"_*(?:args?|params?|parameters?|positional|p)?[_ \[]*(\d{1,2})\]?_*")
MOST_UNKNOWN = 40
"""Unknown names that are looked at; who writes more has not this tool in mind."""


class FittedValue(NamedTuple):
    """A value that fits."""

    cost: int
    value: object
    changes: tuple[str, ...] = ()
    """Receipts: `file -> path`, `"3" -> 3`."""


@dataclass(slots=True)
class MappingScope:
    """One correction under way."""

    may_guess: bool
    """Steps dearer than FREE may be taken."""
    tool: str = ""
    questions: list[Problem] = field(default_factory=list)
    """Where two corrections were equally good, in words."""
    steps: int = 5000
    """How many more values may be looked at: hostile schemas must not take for ever."""

    def allows(self, cost: int) -> bool:
        return cost <= CERTAIN or self.may_guess

    def ask(self, path: str, rule: str, message: str) -> None:
        if all(each.message != message for each in self.questions):
            self.questions.append(Problem(path, rule, message))


def pick_cheapest(fits: Iterable[FittedValue], node: SchemaNode) -> FittedValue | None:
    """The one that takes the fewest liberties; None if there is none, or if two are as good."""
    ranked = sorted(fits, key=lambda fit: fit.cost)
    best: FittedValue | None = None
    for fit in ranked:
        if best is not None and fit.cost > best.cost:
            break
        if not node.fits(fit.value):
            continue
        if best is not None and not equal_as_json(best.value, fit.value):
            return None
        best = best or fit
    return best


FitProperty = Callable[[object, SchemaNode, str], FittedValue | None]
"""(value, place, name) -> how the value of a property fits."""


@dataclass(slots=True)
class Assignment:
    node: SchemaNode
    scope: MappingScope
    inner: FitProperty
    assigned: dict[str, object]
    """By declared name, and what else may stand there."""
    unknown: dict[str, object]
    """Names that nothing is known of."""
    cost: int = 0
    changes: list[str] = field(default_factory=list)
    ambiguous: bool = False
    """There is a question."""

    @property
    def missing_names(self) -> list[str]:
        return [name for name in self.node.required if name not in self.assigned]

    @property
    def free_names(self) -> list[str]:
        """Declared names that were not given."""
        return [name for name in self.node.properties if name not in self.assigned]

    def record_change(self, cost: int, change: str) -> None:
        self.cost += cost
        self.changes.append(change)

    def rename(self, written: str, name: str, cost: int) -> None:
        self.assigned[name] = self.unknown.pop(written)
        self.record_change(cost, f"{written} -> {name}")

    def fits(self, value: object, name: str) -> bool:
        child = self.node.child(name)
        return child is None or self.inner(value, child, name) is not None


def rename_properties(
    given: Mapping[str, object], node: SchemaNode, scope: MappingScope, inner: FitProperty
) -> Assignment | None:
    """None where names are a question, or where something is left that may not be dropped."""
    kept = {key: each for key, each in given.items() if _is_declared(key, node)}
    rest = {key: each for key, each in given.items() if key not in kept}
    sorting = Assignment(node, scope, inner, kept, rest)
    drop_nulls(sorting)
    if sorting.unknown:
        for step in (assign_by_style, assign_by_alias, assign_by_position, nest_dotted_names):
            step(sorting)
    lift_from_siblings(sorting)
    if sorting.unknown:
        move_into_siblings(sorting)
        lift_from_wrappers(sorting)
        if len(sorting.unknown) <= MOST_UNKNOWN:
            assign_by_meaning(sorting)
        if scope.may_guess:
            assign_last_missing(sorting)
    fill_forced_values(sorting)
    drop_unknown_names(sorting)
    return None if sorting.ambiguous else sorting


def _is_declared(name: str, node: SchemaNode) -> bool:
    return name in node.properties or node.child(name) is not None


def drop_nulls(sorting: Assignment) -> None:
    """Null for what need not be given is the same as not giving it."""
    for name in [name for name, each in sorting.assigned.items() if each is None]:
        child = sorting.node.child(name)
        if child is not None and not child.fits(None):
            del sorting.assigned[name]
            sorting.record_change(1, f"dropped {name}: null")


def assign_by_style(sorting: Assignment) -> None:
    """`filePath` for `file_path`; where both are given the declared name wins."""
    assign_spellings(sorting, {name: [plain_name(name)] for name in sorting.node.properties}, 1)


def assign_by_alias(sorting: Assignment) -> None:
    """Names that the tool itself declares as other names of a parameter."""
    declared: dict[str, list[str]] = {}
    for name in sorting.node.properties:
        child = sorting.node.child(name)
        other = child.schema.get("x-aliases") if child else None
        if isinstance(other, list):
            declared[name] = [*{plain_name(str(each)): None for each in other}]
    if declared:
        assign_spellings(sorting, declared, 2)


def assign_spellings(sorting: Assignment, names: Mapping[str, Iterable[str]], cost: int) -> None:
    written: dict[str, list[str]] = {}
    for each in sorting.unknown:
        written.setdefault(plain_name(each), []).append(each)
    for name, others in names.items():
        hits = [
            each for other in others for each in written.get(other, ()) if each in sorting.unknown
        ]
        if not hits:
            continue
        if name in sorting.assigned:
            for each in hits:
                sorting.unknown.pop(each)
                sorting.record_change(2, f"dropped {each}: {name} is given")
        elif len(hits) > 1 and not are_all_same([sorting.unknown[each] for each in hits]):
            ask_which(sorting, name, hits)
        else:
            for each in hits[1:]:
                sorting.unknown.pop(each)
                sorting.record_change(2, f"dropped {each}: it says the same as {hits[0]}")
            sorting.rename(hits[0], name, cost)


def are_all_same(values: list[object]) -> bool:
    return all(equal_as_json(values[0], each) for each in values[1:])


def ask_which(sorting: Assignment, name: str, hits: list[str]) -> None:
    sorting.ambiguous = True
    said = " and ".join(hits)
    sorting.scope.ask(name, "required", f"{said} both stand for {name}: which is meant?")


def assign_by_meaning(sorting: Assignment) -> None:
    """Names that say the same as one declared name alone."""
    claims: dict[str, list[str]] = {}
    for written in sorting.unknown:
        if name := find_meant_name(sorting, written):
            claims.setdefault(name, []).append(written)
    for name, hits in claims.items():
        if are_all_same([sorting.unknown[written] for written in hits]):
            for written in hits[1:]:
                sorting.unknown.pop(written)
                sorting.record_change(2, f"dropped {written}: it says the same as {hits[0]}")
            sorting.rename(hits[0], name, name_cost(sorting, hits[0], name) or 0)
        elif name in sorting.missing_names:
            ask_which(sorting, name, hits)


def find_meant_name(sorting: Assignment, written: str) -> str:
    """The declared name that a written one stands for; empty: none, or more than one."""
    costs = {
        name: cost for name in sorting.free_names if (cost := name_cost(sorting, written, name))
    }
    if is_count(written):
        # So many of a thing are not the thing.
        costs = {name: cost for name, cost in costs.items() if _takes_numbers(sorting, name)}
    least = min(costs.values(), default=0)
    hits = [name for name, cost in costs.items() if cost == least]
    if len(hits) > 1:
        hits = [name for name in hits if name in sorting.node.required]
    if (
        len(hits) != 1
        or not sorting.scope.allows(least)
        or names_part_of_two(sorting, written, hits[0])
    ):
        return ""
    return hits[0] if sorting.fits(sorting.unknown[written], hits[0]) else ""


def names_part_of_two(sorting: Assignment, written: str, name: str) -> bool:
    """Whether a name that says less than the declared one says as much of another: `currency`."""
    said = set(canonical_words(written))
    if content_words(written) == content_words(name) != set() or not said < set(
        canonical_words(name)
    ):
        return False
    others = [other for other in sorting.node.properties if other != name]
    return any(said < set(canonical_words(other)) for other in others)


def _takes_numbers(sorting: Assignment, name: str) -> bool:
    child = sorting.node.child(name)
    return child is None or bool(child.kinds & {"integer", "number"})


def name_cost(sorting: Assignment, written: str, name: str) -> int | None:
    child = sorting.node.child(name)
    return relation_cost(written, name, sorting.scope.tool, child.about if child else "")


def assign_last_missing(sorting: Assignment) -> None:
    """What is left over for what is missing, where a name says nothing: `value`, `input`."""
    missing = sorting.missing_names
    alone = len(missing) == len(sorting.unknown) == 1
    for name in missing if len(missing) == 1 else ():
        hits = [
            written for written in sorting.unknown if _may_stand_for(sorting, written, name, alone)
        ]
        if len(hits) == 1:
            sorting.rename(hits[0], name, 7)


def _may_stand_for(sorting: Assignment, written: str, name: str, alone: bool) -> bool:
    child = sorting.node.child(name)
    if child is None or not child.kinds or not may_fill(written, name, alone):
        return False
    value = sorting.unknown[written]
    simple = alone and not isinstance(value, list | dict)
    return child.fits(value) or (simple and sorting.fits(value, name))


def assign_by_position(sorting: Assignment) -> None:
    """`arg0`, `param_1`, `0`: the values in the order they are declared."""
    found = {each: POSITIONAL_NAME.fullmatch(each) for each in sorting.unknown}
    places = {each: int(hit[1]) for each, hit in found.items() if hit}
    if not places or sorting.assigned or len(places) != len(sorting.unknown):
        return
    first = min(places.values())
    names = list(sorting.node.properties)
    if first > 1 or max(places.values()) - first >= len(names):
        return
    for written, at in places.items():
        sorting.rename(written, names[at - first], 3)


def nest_dotted_names(sorting: Assignment) -> None:
    """`location.city` is the city of the location."""
    for written in list(sorting.unknown):
        head, dot, tail = written.partition(".")
        child = sorting.node.child(head) if dot and tail else None
        if child is None or not child.takes("object"):
            continue
        inside = sorting.assigned.get(head, {})
        if isinstance(inside, dict) and tail not in inside:
            sorting.assigned[head] = {**inside, tail: sorting.unknown.pop(written)}
            sorting.record_change(2, f"{written} -> {head}/{tail}")


def lift_from_siblings(sorting: Assignment) -> None:
    """One level too deep: `location: {city, unit}` where `unit` stands beside `location`."""
    for name, each in list(sorting.assigned.items()):
        child = sorting.node.child(name) if isinstance(each, dict) else None
        if not isinstance(each, dict) or child is None:
            continue
        if child.takes("object") and not child.properties:
            continue
        wanted = sorting.missing_names if child.fits(each) else sorting.free_names
        moved = {
            key: inner
            for key, inner in each.items()
            if key in wanted and key not in child.properties
        }
        if not moved or not sorting.scope.allows(CERTAIN):
            continue
        left = {key: inner for key, inner in each.items() if key not in moved}
        if not left and not child.takes("object"):
            continue
        sorting.assigned.update(moved)
        sorting.assigned[name] = left
        sorting.record_change(CERTAIN, f"{', '.join(moved)} taken out of {name}")


def lift_from_wrappers(sorting: Assignment) -> None:
    """One level too deep, under a name that nothing is known of."""
    for written, each in list(sorting.unknown.items()):
        if not is_wrapper(written, sorting.scope.tool):
            continue
        inner = parse_structure(each) if isinstance(each, str) else each
        if not isinstance(inner, dict) or not inner:
            continue
        names = {key: _find_same_names(sorting, key) for key in inner}
        moved = {found[0]: inner[key] for key, found in names.items() if len(found) == 1}
        if len(moved) == len(inner):
            sorting.unknown.pop(written)
            sorting.assigned.update(moved)
            sorting.record_change(CERTAIN, f"took what stood in {written}")


def _find_same_names(sorting: Assignment, key: str) -> list[str]:
    exact = [name for name in sorting.free_names if plain_name(name) == plain_name(key)]
    return exact or [
        name for name in sorting.free_names if relation_cost(key, name, "", "") == SAME_COST
    ]


def move_into_siblings(sorting: Assignment) -> None:
    """One level too shallow: `city` beside `location`, which is where it is declared."""
    homes: dict[str, list[tuple[str, str]]] = {}
    for name in sorting.node.properties:
        child = sorting.node.child(name)
        inside = sorting.assigned.get(name, {})
        if child is None or not child.properties or not isinstance(inside, dict):
            continue
        free = {plain_name(each): each for each in child.properties if each not in inside}
        for written in sorting.unknown:
            if plain_name(written) in free:
                homes.setdefault(written, []).append((name, free[plain_name(written)]))
    for written, places in homes.items():
        if len(places) == 1:
            name, inner = places[0]
            inside = sorting.assigned.get(name, {})
            base = inside if isinstance(inside, dict) else {}
            sorting.assigned[name] = {**base, inner: sorting.unknown.pop(written)}
            sorting.record_change(CERTAIN, f"{written} -> {name}/{inner}")


def fill_forced_values(sorting: Assignment) -> None:
    """What must be given and can be one thing only: its default, or the only value allowed."""
    for name in sorting.missing_names:
        child = sorting.node.child(name)
        if child is None:
            continue
        if "default" in child.schema and child.fits(child.schema["default"]):
            value = child.schema["default"]
        elif len(child.choices) == 1:
            value = child.choices[0]
        else:
            continue
        sorting.assigned[name] = value
        sorting.record_change(2, f"{name} = {write_short(value)}")


def drop_unknown_names(sorting: Assignment) -> None:
    """Unknown arguments are dropped where none may be given, else they stay as they are."""
    if not sorting.node.closed:
        sorting.assigned.update(sorting.unknown)
        return
    for written, value in sorting.unknown.items():
        price = 2 if value is None or not sorting.node.properties else 6
        if not sorting.scope.allows(price) or (price > 2 and is_needed(sorting, written)):
            sorting.ambiguous = True
            sorting.scope.ask(
                written, "additionalProperties", f"there is no {written}; what was it for?"
            )
            return
        sorting.record_change(price, f"dropped {written}: {write_short(value)}")


def is_needed(sorting: Assignment, written: str) -> bool:
    """Whether a call without that argument would say something else."""
    if not sorting.assigned and not is_silent(written):
        return True
    return any(is_about(written, name) for name in sorting.free_names)
