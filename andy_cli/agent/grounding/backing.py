"""Which piece of a result backs each sentence of an answer? Pure."""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.claim import Backed, Evidence
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import sentences
from andy_cli.agent.grounding.vocabulary import STOP
from andy_cli.compiler.expression import Expression


def backing(answer: str, evidence: Evidence) -> tuple[Backed, ...]:
    """Each sentence of the answer with the line of a result that shares most of its rare words."""
    lines: list[tuple[int, str]] = []
    places: dict[str, list[int]] = {}
    for number, result in enumerate(evidence.results):
        for line in pieces(result):
            for word in set(words_of(folded(line))):
                if word not in STOP:
                    places.setdefault(word, []).append(len(lines))
            lines.append((number, line.strip()))
    return tuple(backed(each.text.strip(), lines, places) for each in sentences(answer))


SNIPPET = 160

PIECE = Expression(r"[^\n{}]+")


def pieces(result: str) -> Iterator[str]:
    """Lines, or the records of JSON that stands in one line."""
    for match in PIECE.finditer(result):
        if re.search(r"\w", match[0]):
            yield match[0]


def backed(sentence: str, lines: Sequence[tuple[int, str]], places: dict[str, list[int]]) -> Backed:
    votes: dict[int, float] = {}
    for word in set(words_of(folded(sentence))):
        at = places.get(word, ())
        # A word of every line tells nothing, and would make this quadratic.
        if 0 < len(at) <= 50:
            for place in at:
                votes[place] = votes.get(place, 0.0) + 1 / len(at)
    if not votes:
        return Backed(sentence, None)
    best = max(votes, key=lambda each: (votes[each], -each))
    number, line = lines[best]
    return Backed(sentence, number, line[:SNIPPET])
