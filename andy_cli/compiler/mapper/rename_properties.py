"""Assign what was given to the properties that are declared, under whatever names it came.

From the surest strategy to the loosest; each looks only at what the ones before left over. A name
that could mean two properties, or a property that two names could mean, is a question.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.json_values import equal_as_json, parse_structure, write_short
from andy_cli.compiler.mapper.prepared_schema import SchemaNode
from andy_cli.compiler.mapper.synonyms import (
    GUESS_COST,
    SAME_COST,
    begins_as,
    canonical_words,
    content_words,
    is_about,
    is_count,
    is_silent,
    is_wrapper,
    join_words,
    may_fill,
    plain_name,
    relation_cost,
)
from andy_cli.messages import Problem

CERTAIN = 3
"""The dearest step that guesses nothing: the schema leaves nothing else it could mean."""
POSITIONAL_NAME = Expression(r"_*(?:args?|params?|parameters?|positional|p)?[_ \[]*(\d{1,2})\]?_*")
ONLY_FLAGS = frozenset(["boolean"])
MAX_UNKNOWN = 40
"""Unknown names that are looked at; who writes more has not this tool in mind."""


class FittedValue(NamedTuple):
    """A value that fits."""

    cost: int
    value: object
    changes: tuple[str, ...] = ()
    """The corrections, for a person: `file -> path`, `"3" -> 3`."""


@dataclass(slots=True)
class MappingScope:
    """One correction under way."""

    may_guess: bool
    """Steps dearer than CERTAIN may be taken."""
    tool: str = ""
    is_strict: bool = False
    """Everything is required, and null is how an optional value is said not to be given."""
    questions: list[Problem] = field(default_factory=list)
    """Choices between two corrections that were equally good, in words."""
    steps: int = 5000
    """Values that may still be looked at: hostile schemas must not take for ever."""

    def allows(self, change_cost: int) -> bool:
        return change_cost <= CERTAIN or self.may_guess

    def ask(self, path: str, rule_name: str, message: str) -> None:
        if all(question.message != message for question in self.questions):
            self.questions.append(Problem(path, rule_name, message))


def pick_cheapest(fitted_values: Iterable[FittedValue], node: SchemaNode) -> FittedValue | None:
    """Choose the value that guesses least; None if there is none, or if two are as good.

    Two different values at one price are a question, not a choice.
    """
    ranked = sorted(fitted_values, key=lambda fitted: fitted.cost)
    cheapest: FittedValue | None = None
    for fitted in ranked:
        if cheapest is not None and fitted.cost > cheapest.cost:
            break
        if not node.fits(fitted.value):
            continue
        if cheapest is not None and not equal_as_json(cheapest.value, fitted.value):
            return None
        cheapest = cheapest or fitted
    return cheapest


FitProperty = Callable[[object, SchemaNode, str], FittedValue | None]
"""(value, place, name) -> how the value of a property fits."""


@dataclass(slots=True)
class Assignment:
    """The given values by declared property, while strategies work on it."""

    node: SchemaNode
    scope: MappingScope
    fit_property: FitProperty
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

    def record_change(self, change_cost: int, change: str) -> None:
        self.cost += change_cost
        self.changes.append(change)

    def rename(self, written: str, name: str, change_cost: int) -> None:
        self.assigned[name] = self.unknown.pop(written)
        self.record_change(change_cost, f"{written} -> {name}")

    def drop(self, written: str, reason: str) -> None:
        self.unknown.pop(written)
        self.record_change(2, f"dropped {written}: {reason}")

    def drop_repeats(self, written_names: list[str]) -> None:
        """Keep the first of several names that came with one value."""
        for written in written_names[1:]:
            self.drop(written, f"it says the same as {written_names[0]}")

    def ask(self, path: str, rule_name: str, message: str) -> None:
        self.ambiguous = True
        self.scope.ask(path, rule_name, message)

    def ask_which(self, name: str, written_names: list[str]) -> None:
        joined_names = " and ".join(written_names)
        self.ask(name, "required", f"{joined_names} both stand for {name}: which is meant?")

    def fits(self, value: object, name: str) -> bool:
        child = self.node.child(name)
        return child is None or self.fit_property(value, child, name) is not None

    def object_given_for(self, name: str) -> dict[str, object] | None:
        """The object a property was given, empty if it was not; None: it was given no object."""
        assigned_value = self.assigned.get(name, {})
        return assigned_value if isinstance(assigned_value, dict) else None


def rename_properties(
    given_arguments: Mapping[str, object],
    node: SchemaNode,
    scope: MappingScope,
    fit_property: FitProperty,
) -> Assignment:
    """Try every strategy in turn.

    It is ambiguous where names are a question, or something is left that may not be dropped.
    """
    declared = {
        name: value
        for name, value in given_arguments.items()
        if name in node.properties or node.child(name) is not None
    }
    unknown = {name: value for name, value in given_arguments.items() if name not in declared}
    assignment = Assignment(node, scope, fit_property, declared, unknown)
    for apply_strategy, needs_unknown in STRATEGIES:
        if assignment.unknown or not needs_unknown:
            apply_strategy(assignment)
    return assignment


def drop_nulls(assignment: Assignment) -> None:
    """Drop null for what need not be given: it is the same as not giving it.

    Under a name that is the caller's own, as in a table of settings, it may say something.
    """
    for name in [name for name, value in assignment.assigned.items() if value is None]:
        child = assignment.node.child(name)
        if child is None or child.fits(None):
            continue
        if name in assignment.node.properties or assignment.scope.may_guess:
            del assignment.assigned[name]
            assignment.record_change(1, f"dropped {name}: null")


def assign_by_style(assignment: Assignment) -> None:
    """Read `filePath` as `file_path`; where both are given the declared name wins."""
    spellings = {name: [plain_name(name)] for name in assignment.node.properties}
    assign_spellings(assignment, spellings, 1)


def assign_by_alias(assignment: Assignment) -> None:
    """Read names that the tool itself declares as other names of a parameter."""
    declared: dict[str, list[str]] = {}
    for name in assignment.node.properties:
        child = assignment.node.child(name)
        aliases = child.schema.get("x-aliases") if child else None
        if isinstance(aliases, list):
            declared[name] = list({plain_name(str(alias)): None for alias in aliases})
    if declared:
        assign_spellings(assignment, declared, 2)


def assign_spellings(
    assignment: Assignment, spellings: Mapping[str, Iterable[str]], change_cost: int
) -> None:
    """Assign unknown names that are one of a property's spellings, plain as `plain_name` is."""
    written: dict[str, list[str]] = {}
    for unknown in assignment.unknown:
        written.setdefault(plain_name(unknown), []).append(unknown)
    for name, others in spellings.items():
        spelled_names = [unknown for other in others for unknown in written.get(other, ())]
        written_names = [unknown for unknown in spelled_names if unknown in assignment.unknown]
        if written_names:
            assign_hits(assignment, name, written_names, change_cost)


def assign_hits(
    assignment: Assignment, name: str, written_names: list[str], change_cost: int
) -> None:
    child = assignment.node.child(name)
    takes_null = child is None or child.fits(None)
    for written in list(written_names):
        if assignment.unknown[written] is None and not takes_null:
            written_names.remove(written)
            assignment.drop(written, "null")
    if not written_names:
        return
    if name in assignment.assigned:
        for written in written_names:
            assignment.drop(written, f"{name} is given")
    elif _are_all_same([assignment.unknown[written] for written in written_names]):
        assignment.drop_repeats(written_names)
        assignment.rename(written_names[0], name, change_cost)
    else:
        assignment.ask_which(name, written_names)


def _are_all_same(values: list[object]) -> bool:
    return all(equal_as_json(values[0], value) for value in values[1:])


def assign_by_meaning(assignment: Assignment) -> None:
    """Assign names that say the same as one declared name alone."""
    if len(assignment.unknown) > MAX_UNKNOWN:
        return
    claims: dict[str, list[str]] = {}
    for written in assignment.unknown:
        if name := find_meant_name(assignment, written):
            claims.setdefault(name, []).append(written)
    for name, written_names in claims.items():
        if _are_all_same([assignment.unknown[written] for written in written_names]):
            assignment.drop_repeats(written_names)
            assignment.rename(
                written_names[0], name, name_cost(assignment, written_names[0], name) or 0
            )
        elif name in assignment.missing_names:
            assignment.ask_which(name, written_names)


def find_meant_name(assignment: Assignment, written: str) -> str:
    """Find the declared name that a written one stands for; empty: none, or more than one."""
    lowest_cost, nearest_names = find_nearest_properties(assignment, written)
    if len(nearest_names) > 1:
        nearest_names = _prefer_names(assignment, written, nearest_names)
    if len(nearest_names) != 1 or not assignment.scope.allows(lowest_cost):
        return ""
    name = nearest_names[0]
    if names_part_of_two(assignment, written, name):
        return ""
    return name if assignment.fits(assignment.unknown[written], name) else ""


def _prefer_names(assignment: Assignment, written: str, names: list[str]) -> list[str]:
    """Prefer the name of the same words, as working_dir to cwd for `working_directory`, else those
    that must be given."""
    same_names = [name for name in names if join_words(name) == join_words(written)]
    required_names = [name for name in names if name in assignment.node.required]
    return same_names if len(same_names) == 1 else required_names


def find_nearest_properties(assignment: Assignment, written: str) -> tuple[int, list[str]]:
    """(what it costs, the properties not given that a name may stand for at that cost)."""
    costs: dict[str, int] = {}
    for name in assignment.free_names:
        # So many of a thing are not the thing.
        if is_count(written) and not _takes_numbers(assignment, name):
            continue
        if property_cost := name_cost(assignment, written, name):
            costs[name] = property_cost
    lowest_cost = min(costs.values(), default=0)
    nearest_names = [name for name, cost in costs.items() if cost == lowest_cost]
    return lowest_cost, nearest_names


def names_part_of_two(assignment: Assignment, written: str, name: str) -> bool:
    """Tell whether a name says less than the declared one, and as much of another: `currency`."""
    written_words = set(canonical_words(written))
    if content_words(written) == content_words(name) != set():
        return False
    if not written_words < set(canonical_words(name)):
        return False
    others = [other for other in assignment.node.properties if other != name]
    return any(written_words < set(canonical_words(other)) for other in others)


def _takes_numbers(assignment: Assignment, name: str) -> bool:
    child = assignment.node.child(name)
    return child is None or bool(child.kinds & {"integer", "number"})


def name_cost(assignment: Assignment, written: str, name: str) -> int | None:
    child = assignment.node.child(name)
    cost = relation_cost(written, name, assignment.scope.tool, child.about if child else "")
    if cost is not None and cost > SAME_COST and child is not None and child.kinds == ONLY_FLAGS:
        # Any word of a flag may turn it round: `dry_run`, `skip_tests`.
        return max(cost, GUESS_COST)
    return cost


def assign_last_missing(assignment: Assignment) -> None:
    """Take what is left over for what is missing, where a name says nothing: `value`, `input`."""
    missing = assignment.missing_names
    if len(missing) != 1 or not assignment.scope.may_guess:
        return
    name, alone = missing[0], len(assignment.unknown) == 1
    written_names = [
        written
        for written in assignment.unknown
        if _may_stand_for(assignment, written, name, alone)
    ]
    if len(written_names) == 1:
        assignment.rename(written_names[0], name, 7)


def _may_stand_for(assignment: Assignment, written: str, name: str, alone: bool) -> bool:
    child = assignment.node.child(name)
    value = assignment.unknown[written]
    if child is None or not child.kinds:
        return False
    if alone and len(child.choices) > 1 and begins_as(name, written):
        return child.fits(value)
    if not may_fill(written, name, alone):
        return False
    simple = alone and not isinstance(value, list | dict)
    return child.fits(value) or (simple and assignment.fits(value, name))


def assign_by_position(assignment: Assignment) -> None:
    """Read `arg0`, `param_1`, `0` as the values in the order they are declared."""
    numbered = {written: POSITIONAL_NAME.fullmatch(written) for written in assignment.unknown}
    positions = {written: int(match[1]) for written, match in numbered.items() if match}
    if not positions or assignment.assigned or len(positions) != len(assignment.unknown):
        return
    first_position = min(positions.values())
    names = list(assignment.node.properties)
    if first_position > 1 or max(positions.values()) - first_position >= len(names):
        return
    for written, position in positions.items():
        assignment.rename(written, names[position - first_position], 3)


def nest_dotted_names(assignment: Assignment) -> None:
    """Read `location.city` as the city of the location."""
    for written in list(assignment.unknown):
        name, separator, inner_name = written.partition(".")
        child = assignment.node.child(name) if separator and inner_name else None
        if child is None or not child.takes("object"):
            continue
        inside = assignment.object_given_for(name)
        if inside is not None and inner_name not in inside:
            assignment.assigned[name] = {**inside, inner_name: assignment.unknown.pop(written)}
            assignment.record_change(2, f"{written} -> {name}/{inner_name}")


def lift_from_siblings(assignment: Assignment) -> None:
    """Lift what stands one level too deep: `location: {city, unit}`, `unit` beside `location`."""
    for name, value in list(assignment.assigned.items()):
        child = assignment.node.child(name) if isinstance(value, dict) else None
        if isinstance(value, dict) and child is not None:
            lift_from_sibling(assignment, name, value, child)


def lift_from_sibling(
    assignment: Assignment, name: str, value: dict[str, object], child: SchemaNode
) -> None:
    takes_object = child.takes("object")
    if takes_object and not child.properties:
        return
    open_names = assignment.missing_names if child.fits(value) else assignment.free_names
    liftable_names = set(open_names) - set(child.properties)
    remaining = dict(value)
    lifted = {key: remaining.pop(key) for key in value if key in liftable_names}
    if not lifted or not (remaining or takes_object):
        return
    assignment.assigned.update(lifted)
    assignment.assigned[name] = remaining
    assignment.record_change(CERTAIN, f"{', '.join(lifted)} taken out of {name}")


def lift_from_wrappers(assignment: Assignment) -> None:
    """Lift what stands one level too deep, under a name that nothing is known of."""
    for written, value in list(assignment.unknown.items()):
        if not is_wrapper(written, assignment.scope.tool):
            continue
        inner = _read_only_object(value)
        if not inner:
            continue
        names = {key: _find_same_names(assignment, key) for key in inner}
        lifted = {
            same_names[0]: inner[key] for key, same_names in names.items() if len(same_names) == 1
        }
        is_list = not isinstance(value, dict)
        fills_missing = not lifted.keys().isdisjoint(assignment.missing_names)
        # The one entry of a list is data, as a row is, where nothing that is missing is in it.
        if len(lifted) == len(inner) and (fills_missing or not is_list):
            assignment.unknown.pop(written)
            assignment.assigned.update(lifted)
            assignment.record_change(CERTAIN, f"took what stood in {written}")


def _read_only_object(value: object) -> dict[str, object] | None:
    """Read an object, also as JSON in a text, or as all that is in a list."""
    value = parse_structure(value) if isinstance(value, str) else value
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return value if isinstance(value, dict) else None


def _find_same_names(assignment: Assignment, key: str) -> list[str]:
    open_names = assignment.free_names
    exact = [name for name in open_names if plain_name(name) == plain_name(key)]
    return exact or [name for name in open_names if relation_cost(key, name, "", "") == SAME_COST]


def move_into_siblings(assignment: Assignment) -> None:
    """Move what stands one level too shallow: `city` beside `location`, where it is declared."""
    for written, inner_places in find_inner_places(assignment).items():
        if len(inner_places) == 1:
            name, inner_name = inner_places[0]
            inside = assignment.object_given_for(name) or {}
            assignment.assigned[name] = {**inside, inner_name: assignment.unknown.pop(written)}
            assignment.record_change(CERTAIN, f"{written} -> {name}/{inner_name}")


def find_inner_places(assignment: Assignment) -> dict[str, list[tuple[str, str]]]:
    """By unknown name, the (property, property in it) it may be, where that was not given."""
    inner_places: dict[str, list[tuple[str, str]]] = {}
    for name in assignment.node.properties:
        child = assignment.node.child(name)
        inside = assignment.object_given_for(name)
        if child is None or not child.properties or inside is None:
            continue
        open_names = {plain_name(inner): inner for inner in child.properties if inner not in inside}
        for written in assignment.unknown:
            if plain_name(written) in open_names:
                inner_places.setdefault(written, []).append((name, open_names[plain_name(written)]))
    return inner_places


def gather_into_list(assignment: Assignment) -> None:
    """Make the one item of a list that is missing of what stands one level too shallow."""
    missing = assignment.missing_names
    child = assignment.node.child(missing[0]) if len(missing) == 1 else None
    item = child.item(0) if child is not None and child.takes("array") else None
    gathered = _name_as_item(assignment.unknown, item) if item is not None else None
    if gathered is None:
        return
    written_names = ", ".join(assignment.unknown)
    assignment.unknown.clear()
    assignment.assigned[missing[0]] = [gathered]
    assignment.record_change(CERTAIN, f"{written_names} -> {missing[0]}/0")


def _name_as_item(given: Mapping[str, object], item: SchemaNode) -> dict[str, object] | None:
    """Name what was given as an item of a list does; None: it is none, or lacks what that needs."""
    inner_names = {plain_name(inner): inner for inner in item.properties}
    named = {inner_names.get(plain_name(written), ""): value for written, value in given.items()}
    is_item = bool(item.required) and set(item.required) <= named.keys() - {""}
    if not is_item or "" in named or len(named) < len(given):
        return None
    has_several = any(_is_several(value, item.child(name)) for name, value in named.items())
    return None if has_several else named


def _is_several(value: object, child: SchemaNode | None) -> bool:
    """Tell whether a list is given for one thing: it may be one for each of several items."""
    return isinstance(value, list) and child is not None and not child.takes("array")


def fill_forced_values(assignment: Assignment) -> None:
    """Give what must be given and can be one thing only: its default, the only choice, or null."""
    for name in assignment.missing_names:
        child = assignment.node.child(name)
        if child is None:
            continue
        if "default" in child.schema and child.fits(child.schema["default"]):
            value = child.schema["default"]
        elif len(child.choices) == 1:
            value = child.choices[0]
        elif assignment.scope.is_strict and child.fits(None):
            value = None
        else:
            continue
        assignment.assigned[name] = value
        assignment.record_change(2, f"{name} = {write_short(value)}")


def drop_unknown_names(assignment: Assignment) -> None:
    """Drop unknown arguments where none may be given, else leave them as they are."""
    if not assignment.node.closed:
        assignment.assigned.update(assignment.unknown)
        return
    for written, value in assignment.unknown.items():
        change_cost = 2 if value is None or assignment.node.takes_nothing else 6
        needed = change_cost > 2 and is_needed(assignment, written)
        if needed or not assignment.scope.allows(change_cost):
            question = f"there is no {written}; what was it for?"
            assignment.ask(written, "additionalProperties", question)
            return
        assignment.record_change(change_cost, f"dropped {written}: {write_short(value)}")


def is_needed(assignment: Assignment, written: str) -> bool:
    """Tell whether a call without that argument would say something else."""
    if not assignment.assigned and not is_silent(written):
        return True
    return any(
        is_about(written, name) or _says_value_of(assignment, written, name)
        for name in assignment.free_names
    )


def _says_value_of(assignment: Assignment, written: str, name: str) -> bool:
    """Tell whether what was given is, by its value, a choice or an object of a free property."""
    child, value = assignment.node.child(name), assignment.unknown[written]
    if child is None or not child.fits(value):
        return False
    is_choice = isinstance(value, str) and len(child.choices) > 1
    return is_choice or (isinstance(value, dict) and bool(value))


STRATEGIES: tuple[tuple[Callable[[Assignment], None], bool], ...] = (
    # (strategy, it needs an unknown name): what it changes
    (drop_nulls, False),  # `{"limit": null}` -> `{}`
    (assign_by_style, True),  # `filePath` -> `file_path`
    (assign_by_alias, True),  # `fname` -> `path`, declared in `x-aliases`
    (assign_by_position, True),  # `arg0`, `arg1` -> the first, the second property
    (nest_dotted_names, True),  # `location.city` -> `{"location": {"city": ...}}`
    (lift_from_siblings, False),  # `{"location": {"unit": ...}}` -> `unit`
    (move_into_siblings, True),  # `city` -> `{"location": {"city": ...}}`
    (gather_into_list, True),  # `text` -> `{"notes": [{"text": ...}]}`
    (lift_from_wrappers, True),  # `{"options": {"limit": 3}}` -> `limit`
    (assign_by_meaning, True),  # `max_results` -> `limit`
    (assign_last_missing, True),  # `value` -> the one that is missing
    (fill_forced_values, False),  # what is missing -> its default, its only choice, null
    (drop_unknown_names, False),  # `flavour` -> nothing, or a question
)
"""The order matters: a surer reading must have its name before a looser one may take it."""
