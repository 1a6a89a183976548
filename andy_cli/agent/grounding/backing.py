"""Which line of a result backs each sentence of an answer? Pure.

A sentence is tied to a line by the names and figures that both have, and by nothing else.
"""

import re
from collections.abc import Iterator

from andy_cli.agent.grounding.claim import Backed, Evidence
from andy_cli.agent.grounding.evidence import joins
from andy_cli.agent.grounding.figures import find_figures
from andy_cli.agent.grounding.folding import folded, unescaped
from andy_cli.agent.grounding.layout import Sentence, entry, sentences
from andy_cli.agent.grounding.names import CODE, FORMS, QUOTE, telling
from andy_cli.compiler.expression import Expression

SNIPPET = 160
PIECE = Expression(r"[^\n{}]+")
ITEM = Expression(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+|\s*\|")


def backing(answer: str, evidence: Evidence) -> tuple[Backed, ...]:
    """Tie each sentence of the answer to the line that has most of its names and figures."""
    lines = [
        (number, line.strip(), folded(unescaped(line)))
        for number, result in enumerate(evidence.results)
        for line in pieces(result)
    ]
    return tuple(backed(each, lines) for each in sentences(answer))


def pieces(result: str) -> Iterator[str]:
    """Lines, or the records of JSON that stands in one line."""
    for match in PIECE.finditer(result):
        if re.search(r"\w", match[0]):
            yield match[0]


def backed(sentence: Sentence, lines: list[tuple[int, str, str]]) -> Backed:
    said = sentence.text.strip()
    marks = {folded(each) for each in ties(sentence.text) if len(each) > 1}
    best, most = None, 0
    for number, line, text in lines:
        shared = sum(holds(text, each) for each in marks)
        if shared > most:
            best, most = (number, line), shared
    return Backed(said, None) if best is None else Backed(said, best[0], best[1][:SNIPPET])


def ties(text: str) -> Iterator[str]:
    """The names and figures of a sentence."""
    for _, pattern, _ in FORMS:
        yield from (match[0] for match in pattern.compiled.finditer(text))
    yield from CODE.compiled.findall(text)
    for match in QUOTE.compiled.finditer(text):
        if telling(inner := match[match.lastindex or 1]):
            yield inner.strip(" .,!?")
    yield from (each.text for each in find_figures(text, ()))
    if item := ITEM.match(text):
        yield entry(text[item.end() :], 0).text


def holds(text: str, mark: str) -> bool:
    """Whether it stands there, as no part of a longer word or figure."""
    at = text.find(mark)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(mark) :][:1]
        if not (before and joins(before) and joins(mark[0])) and not (
            after and joins(after) and joins(mark[-1])
        ):
            return True
        at = text.find(mark, at + 1)
    return False
