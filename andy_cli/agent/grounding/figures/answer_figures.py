"""Find the figures in an answer, and read what they stand for. Pure."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.figures.dates import DATE, TIME, WEEKDAY, is_possible, list_days
from andy_cli.agent.grounding.figures.quantities import (
    ANY_NUMBER,
    DURATION,
    FIGURE,
    NUMBER,
    SCALES,
    SIZE,
    Quantity,
    read_clock_seconds,
    read_duration,
    read_number,
    read_number_word,
)
from andy_cli.agent.grounding.text.segmentation import Sentence, fold_text
from andy_cli.agent.grounding.text.vocabulary import NUMBER_WORDS
from andy_cli.compiler.expression import Expression

PERCENT = Expression(
    rf"(?<![\w.])[-+−]?(?P<number>{NUMBER})\s?"
    r"(?:%|％|percent\b|prozent\b|por cient?o\b|pour cent\b|процент\w*)",
    re.I,
)
VERSION = Expression(r"(?<![\w.])v?\d+(?:\.\d+){2,}(?!\w)|\bv\d+(?:\.\d+)*\b", re.I)
PLAIN = Expression(
    rf"(?<![a-zA-Z_.,#/:\d-])(?P<number>{NUMBER})\s?(?P<scale>{'|'.join(SCALES)})?"
    r"(?![a-zA-Z_\d]|[.,:/-]\d)",
    re.I,
)
ORDINAL = Expression(r"\b\d+(?:st|nd|rd|th|er|ème|º|ª)\b|第\d+", re.I)
COUNTED = sorted((word for word, value in NUMBER_WORDS.items() if value > 1), key=len, reverse=True)
SPELLED = Expression(rf"(?<!\w)(?:{'|'.join(COUNTED)})(?!\w)", re.I)
DAY_NAME = Expression(
    rf"(?<!\w)(?:{WEEKDAY})s?(?!\w)|[月火水木金土日]曜日?|(?:星期|周)[一二三四五六日]", re.I
)
KINDS: Sequence[tuple[str, Expression]] = (
    ("date", DATE), ("size", SIZE), ("time", TIME), ("duration", DURATION), ("percent", PERCENT),
    ("version", VERSION), ("", ORDINAL), ("weekday", DAY_NAME), ("number", PLAIN),
    ("spelled", SPELLED),
)  # fmt: skip


class AnswerFigure(NamedTuple):
    """A figure of the answer."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_figures(prose: str, taken_spans: Sequence[tuple[int, int]]) -> list[AnswerFigure]:
    """Find the figures of a text, outside of what is taken, in order."""
    remaining_text = prose
    for start, end in taken_spans:
        remaining_text = blank_span(remaining_text, start, end)
    figures: list[AnswerFigure] = []
    for kind, pattern in KINDS:
        for match in pattern.finditer(remaining_text):
            if kind == "date" and not any(map(is_possible, list_days(match))):
                continue  # `17.80.` at the end of a sentence
            text = match[0].rstrip(" .,")
            if kind:
                figures.append(AnswerFigure(kind, text, match.start()))
            remaining_text = blank_span(remaining_text, match.start(), match.start() + len(text))
    return sorted(figures, key=lambda figure: figure.start)


def blank_span(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{chr(0) * (end - start)}{text[end:]}"


def is_marker(figure: AnswerFigure, sentence: Sentence) -> bool:
    """Tell whether it is the number of a list's item or of a row."""
    text_before = sentence.text[: figure.start - sentence.start]
    text_after = sentence.text[figure.end - sentence.start :][:2]
    if text_before.strip(" \t#>*_|(") or text_after[:1] not in ("", ".", ")", ":", " "):
        return False
    return text_after.startswith(" |") or (len(figure.text) < 3 and text_after[:1] != " ")


def read_values(figure: AnswerFigure) -> list[Quantity]:
    match figure.kind:
        case "date" | "weekday" | "version":
            return []
        case "spelled":
            value = read_number_word(figure.text)
            return [] if value is None else [Quantity(float(value), 0.1)]
        case "time" | "duration":
            seconds = [Quantity(value, 30) for value in read_clock_seconds(figure.text)]
            return seconds or read_duration(figure.text)
        case _:
            number = FIGURE.search(fold_text(figure.text)) or ANY_NUMBER.search(figure.text)
            return read_number(number[0]) if number else []
