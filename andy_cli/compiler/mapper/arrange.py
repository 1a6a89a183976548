"""What was given, sorted under the names that are declared.

From the surest step to the loosest; each looks only at what the ones before left over. A name that
could mean two properties, or a property that two names could mean, is a question.
"""

from collections.abc import Iterable, Mapping

from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.fits import FREE, Scope
from andy_cli.compiler.mapper.kinds import same
from andy_cli.compiler.mapper.meaning import (
    SAME,
    canonical,
    content,
    is_about,
    is_count,
    is_silent,
    is_wrapper,
    may_fill,
    relation,
)
from andy_cli.compiler.mapper.nodes import Node
from andy_cli.compiler.mapper.sorting import Inner, Sorting
from andy_cli.compiler.mapper.texts import shown, structure
from andy_cli.compiler.mapper.words import plain

NUMBERED = Expression(r"_*(?:args?|params?|parameters?|positional|p)?[_ \[]*(\d{1,2})\]?_*")
MOST = 40
"""Unknown names that are looked at; who writes more has not this tool in mind."""


def arranged(given: Mapping[str, object], node: Node, scope: Scope, inner: Inner) -> Sorting | None:
    """None where names are a question, or where something is left that may not be dropped."""
    kept = {key: each for key, each in given.items() if _stays(key, node)}
    rest = {key: each for key, each in given.items() if key not in kept}
    sorting = Sorting(node, scope, inner, kept, rest)
    nothing(sorting)
    if sorting.rest:
        for step in (by_style, by_alias, by_place, by_dots):
            step(sorting)
    out_of_siblings(sorting)
    if sorting.rest:
        into_siblings(sorting)
        out_of_unknown(sorting)
        if len(sorting.rest) <= MOST:
            by_meaning(sorting)
        if scope.liberties:
            by_elimination(sorting)
    forced(sorting)
    leftovers(sorting)
    return None if sorting.torn else sorting


def _stays(name: str, node: Node) -> bool:
    return name in node.properties or node.child(name) is not None


def nothing(sorting: Sorting) -> None:
    """Null for what need not be given is the same as not giving it."""
    for name in [name for name, each in sorting.kept.items() if each is None]:
        child = sorting.node.child(name)
        if child is not None and not child.fits(None):
            del sorting.kept[name]
            sorting.paid(1, f"dropped {name}: null")


def by_style(sorting: Sorting) -> None:
    """`filePath` for `file_path`; where both are given the declared name wins."""
    match(sorting, {name: [plain(name)] for name in sorting.node.properties}, 1)


def by_alias(sorting: Sorting) -> None:
    """Names that the tool itself declares as other names of a parameter."""
    declared: dict[str, list[str]] = {}
    for name in sorting.node.properties:
        child = sorting.node.child(name)
        other = child.schema.get("x-aliases") if child else None
        if isinstance(other, list):
            declared[name] = [*{plain(str(each)): None for each in other}]
    if declared:
        match(sorting, declared, 2)


def match(sorting: Sorting, names: Mapping[str, Iterable[str]], cost: int) -> None:
    written: dict[str, list[str]] = {}
    for each in sorting.rest:
        written.setdefault(plain(each), []).append(each)
    for name, others in names.items():
        hits = [each for other in others for each in written.get(other, ()) if each in sorting.rest]
        if not hits:
            continue
        if name in sorting.kept:
            for each in hits:
                sorting.rest.pop(each)
                sorting.paid(2, f"dropped {each}: {name} is given")
        elif len(hits) > 1 and not _agree([sorting.rest[each] for each in hits]):
            tear(sorting, name, hits)
        else:
            for each in hits[1:]:
                sorting.rest.pop(each)
                sorting.paid(2, f"dropped {each}: it says the same as {hits[0]}")
            sorting.rename(hits[0], name, cost)


def _agree(values: list[object]) -> bool:
    return all(same(values[0], each) for each in values[1:])


def tear(sorting: Sorting, name: str, hits: list[str]) -> None:
    sorting.torn = True
    said = " and ".join(hits)
    sorting.scope.ask(name, "required", f"{said} both stand for {name}: which is meant?")


def by_meaning(sorting: Sorting) -> None:
    """Names that say the same as one declared name alone."""
    claims: dict[str, list[str]] = {}
    for written in sorting.rest:
        if name := meant_name(sorting, written):
            claims.setdefault(name, []).append(written)
    for name, hits in claims.items():
        if _agree([sorting.rest[written] for written in hits]):
            for written in hits[1:]:
                sorting.rest.pop(written)
                sorting.paid(2, f"dropped {written}: it says the same as {hits[0]}")
            sorting.rename(hits[0], name, cost_of(sorting, hits[0], name) or 0)
        elif name in sorting.missing:
            tear(sorting, name, hits)


def meant_name(sorting: Sorting, written: str) -> str:
    """The declared name that a written one stands for; empty: none, or more than one."""
    costs = {name: cost for name in sorting.free if (cost := cost_of(sorting, written, name))}
    if is_count(written):
        # So many of a thing are not the thing.
        costs = {name: cost for name, cost in costs.items() if _is_number(sorting, name)}
    least = min(costs.values(), default=0)
    hits = [name for name, cost in costs.items() if cost == least]
    if len(hits) > 1:
        hits = [name for name in hits if name in sorting.node.required]
    if len(hits) != 1 or not sorting.scope.allows(least) or is_split(sorting, written, hits[0]):
        return ""
    return hits[0] if sorting.fits(sorting.rest[written], hits[0]) else ""


def is_split(sorting: Sorting, written: str, name: str) -> bool:
    """Whether a name that says less than the declared one says as much of another: `currency`."""
    said = set(canonical(written))
    if content(written) == content(name) != set() or not said < set(canonical(name)):
        return False
    others = [other for other in sorting.node.properties if other != name]
    return any(said < set(canonical(other)) for other in others)


def _is_number(sorting: Sorting, name: str) -> bool:
    child = sorting.node.child(name)
    return child is None or bool(child.kinds & {"integer", "number"})


def cost_of(sorting: Sorting, written: str, name: str) -> int | None:
    child = sorting.node.child(name)
    return relation(written, name, sorting.scope.tool, child.about if child else "")


def by_elimination(sorting: Sorting) -> None:
    """What is left over for what is missing, where a name says nothing: `value`, `input`."""
    missing = sorting.missing
    alone = len(missing) == len(sorting.rest) == 1
    for name in missing if len(missing) == 1 else ():
        hits = [written for written in sorting.rest if _may_fill(sorting, written, name, alone)]
        if len(hits) == 1:
            sorting.rename(hits[0], name, 7)


def _may_fill(sorting: Sorting, written: str, name: str, alone: bool) -> bool:
    child = sorting.node.child(name)
    if child is None or not child.kinds or not may_fill(written, name, alone):
        return False
    value = sorting.rest[written]
    simple = alone and not isinstance(value, list | dict)
    return child.fits(value) or (simple and sorting.fits(value, name))


def by_place(sorting: Sorting) -> None:
    """`arg0`, `param_1`, `0`: the values in the order they are declared."""
    found = {each: NUMBERED.fullmatch(each) for each in sorting.rest}
    places = {each: int(hit[1]) for each, hit in found.items() if hit}
    if not places or sorting.kept or len(places) != len(sorting.rest):
        return
    first = min(places.values())
    names = list(sorting.node.properties)
    if first > 1 or max(places.values()) - first >= len(names):
        return
    for written, at in places.items():
        sorting.rename(written, names[at - first], 3)


def by_dots(sorting: Sorting) -> None:
    """`location.city` is the city of the location."""
    for written in list(sorting.rest):
        head, dot, tail = written.partition(".")
        child = sorting.node.child(head) if dot and tail else None
        if child is None or not child.takes("object"):
            continue
        inside = sorting.kept.get(head, {})
        if isinstance(inside, dict) and tail not in inside:
            sorting.kept[head] = {**inside, tail: sorting.rest.pop(written)}
            sorting.paid(2, f"{written} -> {head}/{tail}")


def out_of_siblings(sorting: Sorting) -> None:
    """One level too deep: `location: {city, unit}` where `unit` stands beside `location`."""
    for name, each in list(sorting.kept.items()):
        child = sorting.node.child(name) if isinstance(each, dict) else None
        if not isinstance(each, dict) or child is None:
            continue
        if child.takes("object") and not child.properties:
            continue
        wanted = sorting.missing if child.fits(each) else sorting.free
        moved = {
            key: inner
            for key, inner in each.items()
            if key in wanted and key not in child.properties
        }
        if not moved or not sorting.scope.allows(FREE):
            continue
        left = {key: inner for key, inner in each.items() if key not in moved}
        if not left and not child.takes("object"):
            continue
        sorting.kept.update(moved)
        sorting.kept[name] = left
        sorting.paid(FREE, f"{', '.join(moved)} taken out of {name}")


def out_of_unknown(sorting: Sorting) -> None:
    """One level too deep, under a name that nothing is known of."""
    for written, each in list(sorting.rest.items()):
        if not is_wrapper(written, sorting.scope.tool):
            continue
        inner = structure(each) if isinstance(each, str) else each
        if not isinstance(inner, dict) or not inner:
            continue
        names = {key: _same_names(sorting, key) for key in inner}
        moved = {found[0]: inner[key] for key, found in names.items() if len(found) == 1}
        if len(moved) == len(inner):
            sorting.rest.pop(written)
            sorting.kept.update(moved)
            sorting.paid(FREE, f"took what stood in {written}")


def _same_names(sorting: Sorting, key: str) -> list[str]:
    exact = [name for name in sorting.free if plain(name) == plain(key)]
    return exact or [name for name in sorting.free if relation(key, name, "", "") == SAME]


def into_siblings(sorting: Sorting) -> None:
    """One level too shallow: `city` beside `location`, which is where it is declared."""
    homes: dict[str, list[tuple[str, str]]] = {}
    for name in sorting.node.properties:
        child = sorting.node.child(name)
        inside = sorting.kept.get(name, {})
        if child is None or not child.properties or not isinstance(inside, dict):
            continue
        free = {plain(each): each for each in child.properties if each not in inside}
        for written in sorting.rest:
            if plain(written) in free:
                homes.setdefault(written, []).append((name, free[plain(written)]))
    for written, places in homes.items():
        if len(places) == 1:
            name, inner = places[0]
            inside = sorting.kept.get(name, {})
            base = inside if isinstance(inside, dict) else {}
            sorting.kept[name] = {**base, inner: sorting.rest.pop(written)}
            sorting.paid(FREE, f"{written} -> {name}/{inner}")


def forced(sorting: Sorting) -> None:
    """What must be given and can be one thing only: its default, or the only value allowed."""
    for name in sorting.missing:
        child = sorting.node.child(name)
        if child is None:
            continue
        if "default" in child.schema and child.fits(child.schema["default"]):
            value = child.schema["default"]
        elif len(child.choices) == 1:
            value = child.choices[0]
        else:
            continue
        sorting.kept[name] = value
        sorting.paid(2, f"{name} = {shown(value)}")


def leftovers(sorting: Sorting) -> None:
    """Unknown arguments are dropped where none may be given, else they stay as they are."""
    if not sorting.node.closed:
        sorting.kept.update(sorting.rest)
        return
    for written, value in sorting.rest.items():
        price = 2 if value is None or not sorting.node.properties else 6
        if not sorting.scope.allows(price) or (price > 2 and is_needed(sorting, written)):
            sorting.torn = True
            sorting.scope.ask(
                written, "additionalProperties", f"there is no {written}; what was it for?"
            )
            return
        sorting.paid(price, f"dropped {written}: {shown(value)}")


def is_needed(sorting: Sorting, written: str) -> bool:
    """Whether a call without that argument would say something else."""
    if not sorting.kept and not is_silent(written):
        return True
    return any(is_about(written, name) for name in sorting.free)
