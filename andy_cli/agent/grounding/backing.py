"""Which line of a result backs each sentence of an answer? Pure.

A sentence is tied to a line by the names and figures that both have, and by nothing else.
"""

import re
from collections.abc import Iterator

from andy_cli.agent.grounding.claims import Evidence, SentenceBacking
from andy_cli.agent.grounding.evidence import joins_words
from andy_cli.agent.grounding.figures.answer_figures import find_figures
from andy_cli.agent.grounding.name_claims import CODE, FORMS, QUOTE, is_telling
from andy_cli.agent.grounding.text.folding import fold_text, remove_escapes
from andy_cli.agent.grounding.text.layout import Sentence, read_entry, split_sentences
from andy_cli.compiler.expression import Expression

SNIPPET = 160
PIECE = Expression(r"[^\n{}]+")
ITEM = Expression(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+|\s*\|")


def find_backing(answer: str, evidence: Evidence) -> tuple[SentenceBacking, ...]:
    """Tie each sentence of the answer to the line that has most of its names and figures."""
    lines = [
        (number, line.strip(), fold_text(remove_escapes(line)))
        for number, result in enumerate(evidence.results)
        for line in split_lines(result)
    ]
    return tuple(back_sentence(each, lines) for each in split_sentences(answer))


def split_lines(result: str) -> Iterator[str]:
    """Lines, or the records of JSON that stands in one line."""
    for match in PIECE.finditer(result):
        if re.search(r"\w", match[0]):
            yield match[0]


def back_sentence(sentence: Sentence, lines: list[tuple[int, str, str]]) -> SentenceBacking:
    said = sentence.text.strip()
    marks = {fold_text(each) for each in find_marks(sentence.text) if len(each) > 1}
    best, most = None, 0
    for number, line, text in lines:
        shared = sum(contains_mark(text, each) for each in marks)
        if shared > most:
            best, most = (number, line), shared
    return (
        SentenceBacking(said, None)
        if best is None
        else SentenceBacking(said, best[0], best[1][:SNIPPET])
    )


def find_marks(text: str) -> Iterator[str]:
    """The names and figures of a sentence."""
    for _, pattern, _ in FORMS:
        yield from (match[0] for match in pattern.compiled.finditer(text))
    yield from CODE.compiled.findall(text)
    for match in QUOTE.compiled.finditer(text):
        if is_telling(inner := match[match.lastindex or 1]):
            yield inner.strip(" .,!?")
    yield from (each.text for each in find_figures(text, ()))
    if item := ITEM.match(text):
        yield read_entry(text[item.end() :], 0).text


def contains_mark(text: str, mark: str) -> bool:
    """Whether it stands there, as no part of a longer word or figure."""
    at = text.find(mark)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(mark) :][:1]
        if not (before and joins_words(before) and joins_words(mark[0])) and not (
            after and joins_words(after) and joins_words(mark[-1])
        ):
            return True
        at = text.find(mark, at + 1)
    return False
