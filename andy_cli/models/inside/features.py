"""How well a tool fits a request, by words alone: a handful of figures for each tool. Pure."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.words import (
    IDLE,
    MUSIC_FILE,
    SHELL,
    SHELL_ENGLISH,
    Found,
    meanings,
    mistyped,
    stem,
    things,
    topics,
    verbs,
    words,
)

KIND_TOPICS = {
    "url": {"+web", "+page"},
    "mail": {"+email", "+contact"},
    "file": {"+file", "+document"},
    "folder": {"+folder"},
    "phone": {"+phone"},
    "sum": {"+math"},
    "shell": {"+shell"},
    "music": {"+music", "+file"},
}


class Parameter(NamedTuple):
    name: str
    about: str
    needed: bool


PARAMETER = re.compile(r"(?:^|; )(\w+)( \(needed\))?: ")
"""`file (needed): which song; path: which folder`"""


def parameters(hints: str) -> tuple[Parameter, ...]:
    """The parameters in the second line of what a choice is about."""
    _, *parts = PARAMETER.split(hints)
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return tuple(Parameter(name, about, bool(needed)) for name, needed, about in triples)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a tool."""

    verbs: frozenset[str]
    verb_stems: frozenset[str]
    topic_words: tuple[str, ...]
    hint_words: tuple[str, ...]
    main_topics: frozenset[str]
    """Of name and description."""
    topics: frozenset[str]
    """Of the parameters as well."""
    takes: frozenset[str]
    """Topics of what it is given: of the parameters, else of what is named in the singular."""
    parameters: tuple[Parameter, ...] = ()


@cache
def profile(choice: Choice) -> Profile:
    name = choice.text.rpartition(",")[2].strip().lower()
    about, _, written = choice.about.partition("\n")
    taken = parameters(written)
    hints = "; ".join(f"{each.name}: {each.about}" for each in taken) or written
    named, described = words(name), words(about)
    doing = [word for word in named if verbs(word) and not word.endswith("ing")] or described[:1]
    if described and verbs(described[0]) and not set(doing) & set(described):
        doing = [*doing, described[0]]
    if described[1:2] == ["or"] and verbs(described[2]):
        doing = [*doing, described[2]]  # `Pause or resume the music`
    objects = dict.fromkeys(
        stem(word) for word in (*described, *named) if word not in IDLE and word not in doing[:1]
    )
    hinted = dict.fromkeys(stem(word) for word in words(hints) if word not in IDLE)
    main = {topic for word in (*named, *described) for topic in topics(word)}
    known = main | {topic for word in words(hints) for topic in topics(word)}
    return Profile(
        verbs=frozenset(verb for word in doing for verb in verbs(word)),
        verb_stems=frozenset(map(stem, doing)),
        topic_words=tuple(objects),
        hint_words=tuple(hinted),
        main_topics=frozenset(main),
        topics=frozenset(known),
        takes=_taken(described, words(hints)),
        parameters=taken,
    )


def _taken(described: Sequence[str], hints: Sequence[str]) -> frozenset[str]:
    """`List the files in a folder` takes a folder, not a file."""
    single = [word for word in described if not word.endswith("s")]
    return frozenset(topic for word in (hints or single) for topic in topics(word))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a request."""

    text: str
    words: tuple[str, ...]
    """Stems of the words that mean something, things left out."""
    first: tuple[str, ...]
    """The first few words that could be verbs, in order."""
    topical: tuple[str, ...]
    """Those of the words that stand for a topic."""
    asks: bool
    """It starts like a question."""
    topics: frozenset[str]
    kinds: frozenset[str]
    things: tuple[Found, ...]
    bare: bool
    """It is one word and names nothing: `continue`."""
    state: str
    """The stem of what is asked to go on: `what is playing?`"""
    points: bool
    """It says which of several: the last one, number 3, any."""


TELL = re.compile(r"\b(?:tell|give) (?:me|us)\b", re.I)
"""Not a wish to have something spoken."""
STATE = re.compile(
    r"^\W*(?:\w+\s+){0,3}?(?:(?:is|are)|\w+'s)\s+(?:\w+\s+){0,3}?(?!\w+thing\b)(\w+ing)\b(?!\s+(?:to|the|in)\b)",
    re.I,
)
"""`What is playing?` asks how things are; nothing is to be played."""
SLIPS = (
    (re.compile(r"\b(what|that|who|where|how|it|let)s\b", re.I), r"\1's"),
    (re.compile(r"\bwich\b", re.I), "which"),
)
POINTING = re.compile(
    r"\b(?:the|my|a|your) (?:very )?(?:first|second|third|last|latest|newest|next)\b(?! \d)"
    r"|\b(?:first|second|third|last|latest|newest|next) (?:one|song|track|file|item|entry|result"
    r"|e?mail|message|event|page|document|note)\b|\b(?:any|random|some|one)\b(?! \d)"
    r"|\b(?:some|any)thing (?:by|from|of)\b|\b(?:songs?|tracks?|music|files?) by\b",
    re.I,
)
FILLING = frozenset("it again now right back nice good currently play else more really".split())
"""Words that may stand beside an order and name nothing."""
ASKING = re.compile(r"^\W*(?:what|which|who|any|do|does|did|is|are|how|where|when)\b", re.I)


def asked(text: str) -> Asked:
    for slip, meant in SLIPS:
        text = slip.sub(meant, text)
    found = things(text)
    rest = text
    for each in reversed(found):
        rest = rest[: each.start] + " \u00b6 " + rest[each.end :]
    said = _spelled(words(TELL.sub("", rest)))
    state = STATE.search(rest)
    going_on = state[1].lower() if state else ""
    kinds = {each.kind for each in found}
    if any(each.kind in {"file", "quote"} and MUSIC_FILE.search(each.text) for each in found):
        kinds.add("music")
    if shell_line(text, found):
        kinds.add("shell")
    telling = [word for word in said if word not in IDLE]
    return Asked(
        text=text,
        words=tuple(map(stem, telling)),
        first=tuple(stem(word) for word in said if verbs(word) and word != going_on)[:3],
        topical=tuple(stem(word) for word in telling if topics(word)),
        asks=bool(ASKING.search(text)),
        topics=frozenset(topic for word in telling for topic in topics(word)),
        kinds=frozenset(kinds),
        things=tuple(found),
        bare=len(telling) == 1 and not found,
        state=stem(going_on),
        points=bool(POINTING.search(text)) or bool(re.search(r"\b\d+\b", rest)),
    )


def _spelled(said: list[str]) -> list[str]:
    """With the first word that says something as it was meant: `plya` is `play`."""
    at = next((at for at, word in enumerate(said) if word not in IDLE), None)
    if at is None or meanings(said[at]):
        return said
    return [*said[:at], mistyped(said[at]) or said[at], *said[at + 1 :]]


def shell_line(text: str, found: Sequence[Found]) -> bool:
    """Whether a command for a shell stands in it: quoted, after `run`, or all there is."""
    meant = [each.text for each in found if each.kind == "quote"]
    meant += re.findall(r"\b(?:run|execute|command|exec)\b:?\s+(\S.*)", text, re.I)
    if any((part.split() or [""])[0].lower() in SHELL | SHELL_ENGLISH for part in meant):
        return True
    return (text.split() or [""])[0] in SHELL


def features(request: Asked, tools: Sequence[Profile]) -> list[dict[str, float]]:
    frequency: dict[str, int] = {}
    for tool in tools:
        for word in tool.topic_words:
            frequency[word] = frequency.get(word, 0) + 1
    rarity = {word: math.log((len(tools) + 1) / count) for word, count in frequency.items()}
    implied = frozenset(t for kind in request.kinds for t in KIND_TOPICS.get(kind, ()))
    return [_figures(request, tool, rarity, implied) for tool in tools]


def _figures(
    request: Asked, tool: Profile, rarity: dict[str, float], implied: frozenset[str]
) -> dict[str, float]:
    matches = {word: _match(word, request, implied) for word in tool.topic_words}
    gained = sum(rarity[word] * match for word, match in matches.items())
    total = sum(rarity[word] for word in tool.topic_words) or 1.0
    said = [verbs(word) for word in request.first]
    common = [bool(each & tool.verbs) for each in said]
    unexplained = [kind for kind in request.kinds if kind in KIND_TOPICS and not _takes(tool, kind)]
    explained = [kind for kind in request.kinds if kind in KIND_TOPICS and _takes(tool, kind)]
    hints = sum(word in request.words for word in tool.hint_words)
    return {
        "cover": gained / total,
        "sum": min(gained, 6.0) / 3,
        "verb": float(any(common)),
        "first": float(bool(common) and common[0]),
        "clash": float(bool(said) and not any(common)),
        "hint": min(hints, 2) / 2,
        "thing": float(len(explained)),
        "stray": float(len(unexplained)),
        "name": float(bool(tool.verb_stems & set(request.words))),
        "missed": min(sum(not _shared(word, tool) for word in request.topical), 3) / 3,
        "state": float(bool(tool.verbs & GIVING) and request.state in tool.topic_words),
        "sole": float(bool(common) and common[0] and request.bare),
        "lacks": float(lacks(request, tool)),
        "asks": float(request.asks and bool(tool.verbs & GIVING)),
    }


def lacks(request: Asked, tool: Profile) -> bool:
    """The tool needs something, and nothing in the request could be it."""
    if request.kinds or request.points or not any(each.needed for each in tool.parameters):
        return False
    return all(
        word in FILLING
        or word in request.first[:1]
        or word in tool.topic_words
        or bool(verbs(word) & tool.verbs)
        or bool(topics(word) & tool.topics)
        for word in request.words
    )


GIVING = frozenset({"list", "search", "read", "recall", "fetch"})
"""What tools do that answer a question."""


def _shared(word: str, tool: Profile) -> bool:
    return word in tool.topic_words or word in tool.hint_words or bool(topics(word) & tool.topics)


def _takes(tool: Profile, kind: str) -> bool:
    return bool(KIND_TOPICS[kind] & tool.takes)


def _match(word: str, request: Asked, implied: frozenset[str]) -> float:
    if word in request.words:
        return 1.0
    about = topics(word)
    if about & request.topics:
        return 0.7
    if about & implied:
        return 0.6
    if meanings(word) & {v for each in request.words for v in verbs(each)}:
        return 0.2
    return 0.0
