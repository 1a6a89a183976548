"""Figures that an answer gives a value after an edit of the turn gave it another one. Pure.

An edit says what stood in the file and what stands there now: `port = 8081`, `port = 9000`.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.action_claims import LOCAL_LOOKS
from andy_cli.agent.grounding.evidence import ActionRecord, Claim, EvidenceIndex, parse_result
from andy_cli.agent.grounding.text.languages import detect_languages
from andy_cli.agent.grounding.text.segmentation import Sentence, fold_text, split_words
from andy_cli.agent.grounding.text.vocabulary import STOP

NUMBER = re.compile(r"(?<![a-zA-Z\d_.,])\d+(?:[.,]\d{1,2})?(?!\d|[.,]\d)")
"""Not `1.850`, which is another figure in another language."""
MAX_WORDS_BETWEEN = 2
"""Between a figure and the word that it belongs to."""
STEM_LENGTH = 4
"""Letters by which words are compared, so that a plural is the same word."""
UNIT_FACTORS = (24, 60, 1000, 1024, 3600)
"""Of one unit in another: seconds, bytes and metres in larger ones."""


class ChangedValue(NamedTuple):
    """The one figure that an edit replaced, and the file and the beginnings of words beside it."""

    old: str
    new: str
    beside: frozenset[str]

    def is_beside(self, text: str) -> bool:
        return any(word[:STEM_LENGTH] in self.beside for word in split_words(fold_text(text)))


def find_change_claims(spoken: Sequence[Sentence], index: EvidenceIndex) -> Iterator[Claim]:
    """Find the figures that an answer calls the present value where it is another: the one that an
    edit replaced, and the one that the user asked for and no call wrote. An answer that has what
    the edit wrote is left alone."""
    told = find_values("\n".join(sentence.text for sentence in spoken))
    values = [value for value in list_changed_values(index) if value.new not in told]
    for sentence in spoken if values else ():
        beside = [value for value in values if value.is_beside(sentence.text)]
        figures = list_false_figures(beside, index)
        for match in find_present_figures(sentence):
            if read_value(match) in figures:
                start = sentence.start + match.start()
                yield Claim(match[0], start, start + len(match[0]), "changed")


def find_present_figures(sentence: Sentence) -> Iterator[re.Match[str]]:
    """Find the figures close behind a word for now: that of `is now 8080`, not that of `now has a
    minute instead of 30`."""
    text, languages = sentence.text, detect_languages(sentence.text)
    if sentence.question or any(language.unreal.search(text) for language in languages):
        return
    ends = [match.end() for language in languages for match in language.now.finditer(text)]
    yield from (match for match in NUMBER.finditer(text) if is_close(text, ends, match.start()))


def is_close(text: str, ends: Sequence[int], start: int) -> bool:
    """Tell whether few words stand between one of these ends and a start behind it."""
    return any(
        end <= start and len(split_words(text[end:start])) <= MAX_WORDS_BETWEEN for end in ends
    )


def list_false_figures(values: Sequence[ChangedValue], index: EvidenceIndex) -> set[str]:
    """List the figures that none of these values has now."""
    figures = {value.old for value in values}
    return figures.union(*(list_wished_figures(value, index) for value in values))


def list_wished_figures(value: ChangedValue, index: EvidenceIndex) -> set[str]:
    """List the figures that only the user named for the value; none if the user also named the one
    that was written."""
    user = index.evidence.user
    wished = {
        read_value(match)
        for match in NUMBER.finditer(user)
        if value.is_beside(take_neighbours(user, match)) and not is_step(read_value(match), value)
    }
    actions = (action.text for action in index.evidence.actions or ())
    known_texts = [index.given, *index.evidence.history, *actions]
    is_wished = value.new in find_values(user)
    return set() if is_wished else wished.difference(*map(find_values, known_texts))


def is_step(figure: str, value: ChangedValue) -> bool:
    """Tell whether an edit wrote a figure in another unit, or added or took it, also in percent."""
    step, old, new = map(float, (figure, value.old, value.new))
    amounts = (step, old * step / 100)
    is_added = any(math.isclose(abs(new - old), amount, abs_tol=0.01) for amount in amounts)
    return is_added or any(new == step * unit or step == new * unit for unit in UNIT_FACTORS)


def take_neighbours(text: str, figure: re.Match[str]) -> str:
    """Take the words before a figure that may belong to it, and the one behind it."""
    before, behind = text[: figure.start()].split(), text[figure.end() :].split()
    return " ".join(before[-MAX_WORDS_BETWEEN - 1 :] + behind[:1])


def find_values(text: str) -> list[str]:
    """Find the figures of a text in one spelling."""
    return [*map(read_value, NUMBER.finditer(part_cells(text)))]


def part_cells(text: str) -> str:
    """Put blanks for the commas of a text that is made of rows: several, with no blank behind."""
    return text.replace(",", " ") if text.count(",") > 1 and ", " not in text else text


def read_value(figure: re.Match[str]) -> str:
    """Read a figure into one spelling: `13.5` for `13,50`."""
    whole, _, fraction = figure[0].replace(",", ".").partition(".")
    return f"{whole}.{fraction}".rstrip("0").rstrip(".") if fraction else whole


def list_changed_values(index: EvidenceIndex) -> list[ChangedValue]:
    """List the values that edits of the turn changed and that stood in one place. Edits before
    something ran or was written do not count: that may have put the values back."""
    values: list[ChangedValue] = []
    for action in index.evidence.actions or ():
        value = read_changed_value(action) if action.is_new_success else None
        if value:
            values.append(value)
        elif action.effect not in LOCAL_LOOKS:
            values = []
    written, given = {value.new for value in values}, find_values(index.given)
    return [value for value in values if value.old not in written and given.count(value.old) < 2]


def read_changed_value(action: ActionRecord) -> ChangedValue | None:
    """Read the figure that an edit replaced by another; None if it changed anything else."""
    values = parse_result(action.arguments)
    if not isinstance(values, dict):
        return None
    path, *texts = (fold_text(str(values.get(n, ""))) for n in ("path", "old_string", "new_string"))
    old, new = (frozenset(find_values(text)) for text in texts)
    words, new_words = (frozenset(split_words(NUMBER.sub(" ", part_cells(text)))) for text in texts)
    if len(old - new) != 1 or len(new - old) != 1 or words != new_words:
        return None
    beside = {word[:STEM_LENGTH] for word in words - STOP | {*split_words(path.rpartition("/")[2])}}
    (was,), (now,) = old - new, new - old
    return ChangedValue(was, now, frozenset(filter(str.isalpha, beside)))
