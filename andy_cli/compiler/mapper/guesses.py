"""Names that are matched without certainty: much alike, or the only ones left.

Only for tools that merely read.
"""

from collections.abc import Mapping

from andy_cli.compiler.mapper.sorting import Sorting
from andy_cli.compiler.mapper.words import alike, opposite, plain, shortened, stem, stems, words

Pair = tuple[str, str]
"""A name as written, and a declared one."""

SIMILAR = 86
AHEAD = 8
MOST = 40
"""Unknown names that are looked at; who writes more has not this tool in mind."""


def by_likeness(sorting: Sorting) -> None:
    """`city_name` for `city`: much alike, and far ahead of all others. What must be given first."""
    for wanted in (sorting.missing, sorting.free):
        scores = {
            (written, name): score
            for written in sorting.rest
            for name in wanted
            if (score := likeness(written, name)) >= SIMILAR
        }
        for (written, name), score in sorted(scores.items(), key=lambda item: -item[1]):
            if written not in sorting.rest or name in sorting.kept:
                continue
            rivals = {
                pair: other
                for pair, other in scores.items()
                if (pair[0] == written) != (pair[1] == name)
                and pair[0] in sorting.rest
                and pair[1] not in sorting.kept
            }
            ahead = score - max(rivals.values(), default=0) >= AHEAD
            if (ahead or _spared(written, name, rivals, scores)) and sorting.fits(
                sorting.rest[written], name
            ):
                sorting.rename(written, name, 5)


def _spared(
    written: str, name: str, rivals: Mapping[Pair, float], scores: Mapping[Pair, float]
) -> bool:
    """The name is all that it can mean, and whatever else may mean the name can mean another."""
    if any(pair[0] == written for pair in rivals):
        return False
    return all(any(other[0] == pair[0] and other[1] != name for other in scores) for pair in rivals)


def likeness(written: str, name: str) -> float:
    one, other = stems(written), stems(name)
    if one and one == other:
        return 100
    if opposite(written, name):
        return 0
    if one and other and (one < other or other < one):
        same_end = stem(words(written)[-1]) == stem(words(name)[-1])
        return 88 + 10 * len(one & other) / max(len(one), len(other)) + 8 * same_end
    if shortened(plain(written), plain(name)) or (one and plain(name).startswith(plain(written))):
        return 87
    return 0 if len(written) < 3 else alike(written, name)


def by_elimination(sorting: Sorting) -> None:
    """A value that is left over and fits, as it is, nothing but one thing that is missing."""
    missing = sorting.missing
    fits = {
        name: [written for written, each in sorting.rest.items() if _meant(sorting, written, name)]
        for name in missing
    }
    for name, hits in fits.items():
        if len(hits) == 1 and sum(hits[0] in each for each in fits.values()) == 1:
            sorting.rename(hits[0], name, 7)


def _meant(sorting: Sorting, written: str, name: str) -> bool:
    child = sorting.node.child(name)
    if child is None or not child.kinds or opposite(written, name):
        return False
    # What looks like another name of something that is given says that again, or more of it.
    if any(likeness(written, kept) >= SIMILAR for kept in sorting.kept if kept != name):
        return False
    each = sorting.rest[written]
    only = len(sorting.rest) == 1 and not isinstance(each, list | dict)
    return child.fits(each) or (only and sorting.fits(each, name))
