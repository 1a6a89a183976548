"""Which tool is meant."""

from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.offered import offered_names
from andy_cli.compiler.mapper.schemas import parameters
from andy_cli.compiler.mapper.words import alike, plain, stem, stems, words
from andy_cli.messages import Schema

SURE = 80
AHEAD = 8
PREFIXES = frozenset(
    "functions function tools tool api apis mcp default namespace call run use invoke execute "
    "repo browser assistant recipient to call0 call1".split()
)
VERBS = frozenset(
    map(
        stem,
        "set add remove delete create update write send play stop pause start run cancel undo "
        "clear reset open close enable disable book buy sell pay upload download move copy rename "
        "edit insert append replace hide lock unlock mute unmute post put import export install "
        "uninstall approve reject follow unfollow block archive restore mark unmark share "
        "subscribe unsubscribe convert resume skip next previous queue save load erase".split(),
    )
)
"""What is done; a name with another of them means another tool."""
READING = frozenset(
    map(
        stem,
        "get fetch find search list read look lookup show view check calculate calc compute "
        "determine evaluate estimate retrieve query info information data".split(),
    )
)
"""Words that tell no two tools apart."""
FOREIGN = 70


class Found(NamedTuple):
    name: str
    sure: bool
    """Nothing but case, style and prefixes differs; else it is a guess."""


def find(written: str, arguments: object, tools: Tools) -> Found | None:
    """The registered tool; None where none, or more than one, may be meant."""
    if written in tools:
        return Found(written, True)
    offers = {offer: name for name, offer in offered_names(tools).items()}
    if written in offers:
        return Found(offers[written], True)
    written = written.partition("(")[0]
    asked = plain(written)
    if not asked:
        return None
    same = [name for name in tools if plain(name) == asked or asked in _aliases(tools[name])]
    if same:
        return Found(same[0], True) if len(same) == 1 else None
    return (
        _contained(written, tools)
        or _alike(written, tools)
        or _by_arguments(written, arguments, tools)
    )


def _aliases(tool: Schema) -> list[str]:
    function = tool.get("function", tool)
    declared = function.get("x-aliases") if isinstance(function, Mapping) else None
    return [plain(str(each)) for each in declared] if isinstance(declared, list) else []


def _contained(written: str, tools: Tools) -> Found | None:
    """`functions.read_file:0` or `gmail.send` for `send`: more words, or fewer, at the front."""
    asked = [word for word in words(written) if word]
    while len(asked) > 1 and asked[-1].isdigit():
        asked.pop()
    hits: list[tuple[int, str, list[str]]] = []
    for name in tools:
        own = list(words(name))
        longer, shorter = (asked, own) if len(asked) > len(own) else (own, asked)
        if shorter and longer[len(longer) - len(shorter) :] == shorter:
            hits.append((len(shorter), name, longer[: len(longer) - len(shorter)]))
    most = max((length for length, _, _ in hits), default=0)
    best = [(name, extra) for length, name, extra in hits if length == most]
    if len(best) != 1:
        return None
    name, extra = best[0]
    if set(extra) <= PREFIXES:
        return Found(name, True)
    return Found(name, False) if _akin(written, name) else None


def _alike(written: str, tools: Tools) -> Found | None:
    """One name far ahead of all others, and no other verb in it."""
    scores = sorted(((_score(written, name), name) for name in tools), reverse=True)
    if not scores or scores[0][0] < SURE:
        return None
    if len(scores) > 1 and scores[0][0] - scores[1][0] < AHEAD:
        return None
    name = scores[0][1]
    return Found(name, False) if _akin(written, name) and not _foreign(written, name) else None


def _akin(written: str, name: str) -> bool:
    """Both do the same thing: `cancel_order` is no `order`."""
    return stems(written) & VERBS == stems(name) & VERBS


def _foreign(written: str, name: str) -> bool:
    """Each has words of its own, and these have nothing in common: price, history."""
    one, other = stems(written) - READING, stems(name) - READING
    mine, theirs = " ".join(sorted(one - other)), " ".join(sorted(other - one))
    return bool(mine and theirs) and alike(mine, theirs) < FOREIGN


def _by_arguments(written: str, arguments: object, tools: Tools) -> Found | None:
    """The one tool that takes exactly these arguments, two at least, if its name is not foreign."""
    if not isinstance(arguments, Mapping) or len(arguments) < 2:
        return None
    hits = [
        name
        for name, tool in tools.items()
        if arguments.keys() <= _named(tool, "properties")
        and _named(tool, "required") <= arguments.keys()
    ]
    if len(hits) != 1:
        return None
    shared = (stems(written) & stems(hits[0])) - VERBS - READING
    return Found(hits[0], False) if shared and _akin(written, hits[0]) else None


def _named(tool: Schema, word: str) -> frozenset[str]:
    found = parameters(tool).get(word)
    return frozenset(map(str, found)) if isinstance(found, Mapping | list) else frozenset()


def _score(written: str, name: str) -> float:
    one, other = stems(written), stems(name)
    if one and one == other:
        return 100
    return alike(written, name)


def nearest(name: str, tools: Tools) -> list[str]:
    """At most three names that come close, for `did you mean`."""
    # Costs 45 ms and is needed only where a name is unknown.
    from rapidfuzz import fuzz, process

    spoken = {each: " ".join(words(each)) for each in tools}
    found = process.extract(
        " ".join(words(name)), spoken, scorer=fuzz.WRatio, score_cutoff=60, limit=3
    )
    return [each for _, _, each in found]
