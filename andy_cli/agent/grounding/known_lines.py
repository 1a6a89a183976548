"""Hold an answer without any call against the lines of the results of earlier turns. Pure.

Such an answer may as well be advice, or what everybody may know. It tells of a line where other
words of that line stand beside what it says.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import FILE, Claim, find_key_words
from andy_cli.agent.grounding.figures.figure_claims import HOLDS, count_digits, find_letter_pairs
from andy_cli.agent.grounding.text.segmentation import (
    Sentence,
    blank_spans,
    find_sentence,
    fold_text,
    split_words,
)
from andy_cli.agent.grounding.text.vocabulary import STOP

ADVISED_KINDS = frozenset(["code", "file", "path"])
"""Kinds of names that advice has too, of what is still to be made."""
SHARED = 2
"""Words by which a text is about a line."""
WORD = re.compile(r"[^\W\d_]+")
RECORD_END = re.compile(r"[\n{}]")
"""Between lines, and the records of JSON, which may all stand in one."""


class KnownLine(NamedTuple):
    words: AbstractSet[str]
    """Those that tell something."""
    numbers: AbstractSet[str]


def keep_claims_of_lines(
    claims: Sequence[Claim], spoken: Sequence[Sentence], results: str
) -> list[Claim]:
    """Keep the claims that are about a line of the folded results."""
    lines = list(map(read_line, RECORD_END.split(results))) if claims else []
    return [claim for claim in claims if is_of_line(claim, spoken, lines)]


def read_line(text: str) -> KnownLine:
    numbers = frozenset(word for word in split_words(text) if count_digits(word))
    return KnownLine((find_key_words(text) | find_letter_pairs(text)) - STOP, numbers)


def is_of_line(claim: Claim, spoken: Sequence[Sentence], lines: Sequence[KnownLine]) -> bool:
    """Tell whether a claim is about one of the lines. A quotation is by its words in small letters:
    a translation of a line has but its names and figures."""
    if claim.kind == "quote":
        return shares_words(" ".join(filter(str.islower, WORD.findall(claim.text))), lines)
    if claim.kind == "item" and FILE.fullmatch(claim.text):
        return True  # the rest of its list is known
    sentence = find_sentence(spoken, claim.start)
    if sentence is None or claim.kind in ADVISED_KINDS:
        return False
    if claim.kind in HOLDS:
        # Such a figure stands in place of one of the line.
        told = read_line(fold_text(sentence.text)).numbers
        lines = [line for line in lines if line.numbers - told]
    span = (claim.start - sentence.start, claim.end - sentence.start)
    return shares_words(blank_spans(sentence.text, [span]), lines)


def shares_words(text: str, lines: Sequence[KnownLine]) -> bool:
    words = read_line(fold_text(text)).words
    return any(len(words & line.words) >= SHARED for line in lines)
