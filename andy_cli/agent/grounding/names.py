"""Names without quotes: `Morning Light, Harbour and Ghost Town`, `by Luna Park`. Pure.

A capital tells a name from prose, and its neighbours tell whether it is one of the results: in an
enumeration most of which is known, what is not known was made up.
"""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Sentence
from andy_cli.agent.grounding.vocabulary import (
    KNOWN_NAMES,
    LABELS,
    MONTHS,
    NUMBER_WORDS,
    STOP,
    WEEKDAYS,
)
from andy_cli.compiler.expression import Expression

CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’.&-]*(?<![.])"
SMALL = r"(?:of|the|a|de|la|le|du|des|del|van|von|der|in|on|to|for|y|&)"
NAME = rf"{CAPITAL}(?:\s(?:{SMALL}\s){{0,2}}(?:{CAPITAL}|\d+\b))*"
ASIDE = Expression(r"\s?\([^()\n]*\)")
BETWEEN = Expression(r",\s(?:and\s|or\s|und\s|et\s|y\s)?|\s(?:and|or|und|oder|et|ou|y|o|&)\s|:\s")
LEADING = Expression(rf"\s*(?:the\s)?({NAME})(?=$|\s|[.,;!?])")
TRAILING = Expression(rf"(?:^|(?<=\s))({NAME})$")
QUOTED = Expression(r"[\"“„«][^\"“”»\n]*[\"”“»]|`[^`\n]*`")
GERMAN = Expression(r"\b(?:der|die|das|und|den|dem|ist|sind|ich|hast|eine[nrm]?|von|vom|mit)\b")
"""German writes every noun with a capital."""

RUN = Expression(rf"{CAPITAL}(?:\s(?:(?:of|the|a|de|la|van|von|and)\s)?{CAPITAL}){{1,3}}")
OWNER = Expression(rf"\b(?:by|from|von|par|por|sender|artist|author)\s+({NAME})(?=$|\W)")
OWNERS = r"\b(?:by|from|artist|author|sender|owner|organizer|assignee|von|composer|name)\b"
TITLES = frozenset(
    "mr mrs ms miss dr prof sir herr herrn frau mme monsieur madame señor señora".split()
)

PLAIN = TITLES | KNOWN_NAMES | LABELS | STOP | MONTHS.keys() | WEEKDAYS.keys() | NUMBER_WORDS.keys()


def strange_names(sentence: Sentence, index: Index) -> Iterator[Claim]:
    """Names in an enumeration, or after `by`, that the results do not know."""
    whole = QUOTED.sub(lambda match: "\0" * len(match[0]), sentence.text)
    text = ASIDE.sub(lambda match: "\0" * len(match[0]), sentence.text)
    text = QUOTED.sub(lambda match: "\0" * len(match[0]), text)
    nouns = GERMAN.search(text) is not None
    yield from altered(sentence, whole, index)
    yield from siblings([*enumerated(text)], sentence.start, index, nouns)
    for match in ASIDE.finditer(sentence.text):
        inner = match[0].strip(" ()")
        at = sentence.start + match.start() + match[0].index("(") + 1
        yield from siblings([*enumerated(f", {inner}")], at - 2, index, nouns)
    if index.gives(OWNERS):
        for match in OWNER.finditer(text):
            behind = re.search(r"[\w)]([*_\"”»`']{1,3})?\s?$", text[: match.start()])
            if not (behind and named_before(text[: match.start()], index)):
                continue
            if strange(match[1], index) and not index.says(folded(match[1])):
                yield claim(match[1], sentence.start + match.start(1))


def named_before(text: str, index: Index) -> bool:
    """Does the last word name one of the results: `Harbour by ...`?"""
    word = re.search(r"([A-ZÀ-Þ0-9][\w'’-]*|\0)[\W_]{0,4}$", text)
    return word is not None and (word[1] == "\0" or folded(word[1]) in index.given_words)


def altered(sentence: Sentence, text: str, index: Index) -> Iterator[Claim]:
    """A name of several words that is one of the results but for one word: `Maya Chan`."""
    for match in RUN.finditer(text):
        name = match[0].removesuffix("'s").removesuffix("’s")
        words = tuple(each for each in words_of(folded(name)) if each not in STOP)
        while words and words[0] in PLAIN:
            words = words[1:]
        if len(words) < 2 or index.says(folded(name)):
            continue
        for at, word in enumerate(words):
            rest = (*words[:at], "", *words[at + 1 :])
            if rest in index.half_names and word not in index.words and word.isalpha():
                yield claim(name, sentence.start + match.start())
                break


def siblings(
    found: Sequence[tuple[str, int]], at_start: int, index: Index, nouns: bool
) -> Iterator[Claim]:
    """Of names beside each other those that are strange while a neighbour is known."""
    known = [index.says(folded(name), given=True) for name, _ in found]
    for at, (name, start) in enumerate(found):
        beside = known[max(0, at - 1) : at] + known[at + 1 : at + 2]
        if (
            any(beside)
            and not known[at]
            and strange(name, index)
            and not (nouns and " " not in name)
        ):
            yield claim(name, at_start + start)


def claim(name: str, start: int) -> Claim:
    return Claim(name, start, start + len(name), "name")


def enumerated(text: str) -> Iterator[tuple[str, int]]:
    """The names that stand between commas and `and`, with prose before the first and after the
    last."""
    cuts = [each.span() for each in BETWEEN.finditer(text)]
    if not cuts:
        return
    edges = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    for start, end in zip(edges, ends, strict=True):
        piece = text[start:end].rstrip(' .!?*_"\0')
        shift = len(piece) - len(piece.lstrip(' *_"'))
        body = piece[shift:]
        match = LEADING.match(body)
        if start and match:
            yield match[1], start + shift + match.start(1)
        elif not start and text[end : end + 1] != ":" and (trailing := TRAILING.search(body[-60:])):
            place = max(0, len(body) - 60) + trailing.start(1)
            if place or start:
                yield trailing[1], start + shift + place


def strange(name: str, index: Index) -> bool:
    telling = [each for each in words_of(folded(name)) if each not in STOP and each.isalpha()]
    if not telling or all(each in PLAIN for each in telling) or len(name) < 3:
        return False
    return any(
        each not in index.words and each.removesuffix("s") not in index.words and each not in PLAIN
        for each in telling
    )
