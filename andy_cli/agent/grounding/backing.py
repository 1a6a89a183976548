"""The line of a result that backs each sentence of an answer. Pure.

A sentence is tied to a line by the names and figures that both have, and by nothing else.
"""

from collections.abc import Iterator

from andy_cli.agent.grounding.evidence import Evidence, SentenceBacking, joins_words
from andy_cli.agent.grounding.figures.answer_figures import find_figures
from andy_cli.agent.grounding.name_claims import CODE, FORMS, QUOTE, is_telling
from andy_cli.agent.grounding.text.segmentation import (
    Sentence,
    fold_text,
    read_entry,
    remove_escapes,
    split_sentences,
)
from andy_cli.compiler.expression import Expression

SNIPPET = 160
PIECE = Expression(r"[^\n{}]+")
ITEM = Expression(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+|\s*\|")
LETTER = Expression(r"\w")


def find_backing(answer: str, evidence: Evidence) -> tuple[SentenceBacking, ...]:
    """Tie each sentence of the answer to the line that has most of its names and figures."""
    lines = [
        (number, line.strip(), fold_text(remove_escapes(line)))
        for number, result in enumerate(evidence.results)
        for line in split_lines(result)
    ]
    return tuple(back_sentence(sentence, lines) for sentence in split_sentences(answer))


def split_lines(result: str) -> Iterator[str]:
    """Split a result into lines, or the records of JSON that stands in one line."""
    for match in PIECE.finditer(result):
        if LETTER.search(match[0]):
            yield match[0]


def back_sentence(sentence: Sentence, lines: list[tuple[int, str, str]]) -> SentenceBacking:
    text = sentence.text.strip()
    telling_marks = {
        fold_text(telling_mark)
        for telling_mark in find_marks(sentence.text)
        if len(telling_mark) > 1
    }
    best_line, most_shared = None, 0
    for number, line, folded in lines:
        shared = sum(contains_mark(folded, telling_mark) for telling_mark in telling_marks)
        if shared > most_shared:
            best_line, most_shared = (number, line), shared
    if best_line is None:
        return SentenceBacking(text, None)
    return SentenceBacking(text, best_line[0], best_line[1][:SNIPPET])


def find_marks(text: str) -> Iterator[str]:
    """Find the names and figures of a sentence."""
    for _, pattern, _ in FORMS:
        yield from (match[0] for match in pattern.finditer(text))
    yield from CODE.compiled.findall(text)
    for match in QUOTE.finditer(text):
        quotation = match[match.lastindex or 1]
        if is_telling(quotation):
            yield quotation.strip(" .,!?")
    yield from (figure.text for figure in find_figures(text, ()))
    if item := ITEM.match(text):
        yield read_entry(text[item.end() :], 0).text


def contains_mark(text: str, mark: str) -> bool:
    """Tell whether it stands there, as no part of a longer word or figure."""
    start = text.find(mark)
    while start >= 0:
        character_before, character_after = text[start - 1 : start], text[start + len(mark) :][:1]
        if not is_one_word(character_before, mark[0]) and not is_one_word(
            mark[-1], character_after
        ):
            return True
        start = text.find(mark, start + 1)
    return False


def is_one_word(character_before: str, character_after: str) -> bool:
    """Tell whether two characters, if both are there, stand in one word."""
    return (
        bool(character_before and character_after)
        and joins_words(character_before)
        and joins_words(character_after)
    )
