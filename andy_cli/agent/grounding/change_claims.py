"""Values of a file that an answer tells otherwise than an edit of the turn left them. Pure.

An edit says what stood in the file and what stands there now: `port = 8081`, `port = 9000`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.action_claims import LOCAL_LOOKS
from andy_cli.agent.grounding.evidence import ActionRecord, Claim, EvidenceIndex, parse_result
from andy_cli.agent.grounding.text.languages import detect_languages
from andy_cli.agent.grounding.text.segmentation import Sentence, fold_text, split_words
from andy_cli.agent.grounding.text.vocabulary import STOP

NUMBER = re.compile(r"(?<![\d.,])\d+(?!\d|[.,]\d)")
REACH = 2
"""Words between a figure and what it is told of."""
STEM = 4
"""Letters by which a word and its plural are the same."""


class ChangedValue(NamedTuple):
    """The one figure that an edit replaced, and the file and the beginnings of words beside it."""

    old: str
    new: str
    beside: frozenset[str]

    def is_beside(self, text: str) -> bool:
        return any(word[:STEM] in self.beside for word in split_words(fold_text(text)))


def find_change_claims(spoken: Sequence[Sentence], index: EvidenceIndex) -> Iterator[Claim]:
    """Find the figures that are said to be so now of a changed value: the one before, and the one
    that the user wished and no call wrote. What the edit wrote is nowhere in the answer."""
    told = NUMBER.findall("\n".join(sentence.text for sentence in spoken))
    values = [value for value in list_changed_values(index) if value.new not in told]
    for sentence in spoken if values else ():
        beside = [value for value in values if value.is_beside(sentence.text)]
        figures = list_false_figures(beside, index)
        for match in find_present_figures(sentence):
            if match[0] in figures:
                start = sentence.start + match.start()
                yield Claim(match[0], start, start + len(match[0]), "changed")


def find_present_figures(sentence: Sentence) -> Iterator[re.Match[str]]:
    """Find the figures that stand close behind a word for now: `is now 8080`, and not `now has a
    minute instead of 30`."""
    text, languages = sentence.text, detect_languages(sentence.text)
    if sentence.question or any(language.unreal.search(text) for language in languages):
        return
    ends = [match.end() for language in languages for match in language.now.finditer(text)]
    yield from (match for match in NUMBER.finditer(text) if is_close(text, ends, match.start()))


def is_close(text: str, ends: Sequence[int], start: int) -> bool:
    """Tell whether few words stand between one of these ends and a start behind it."""
    return any(end <= start and len(split_words(text[end:start])) <= REACH for end in ends)


def list_false_figures(values: Sequence[ChangedValue], index: EvidenceIndex) -> set[str]:
    """List the figures that these do not have now."""
    figures = {value.old for value in values}
    return figures.union(*(list_wished_figures(value, index) for value in values))


def list_wished_figures(value: ChangedValue, index: EvidenceIndex) -> set[str]:
    """List the figures that the user, and nobody else, named for the value, unless what was written
    is of his too."""
    words = split_words(fold_text(index.evidence.user))
    nearby = ((word, words[max(at - REACH - 1, 0) : at + 2]) for at, word in enumerate(words))
    wished = {word for word, beside in nearby if value.is_beside(" ".join(beside))}
    actions = (action.text for action in index.evidence.actions or ())
    known_texts = [index.given, *index.evidence.history, *actions]
    is_wished = value.new in NUMBER.findall(index.evidence.user)
    return set() if is_wished else wished.difference(*map(NUMBER.findall, known_texts))


def list_changed_values(index: EvidenceIndex) -> list[ChangedValue]:
    """List the values that edits of the turn changed for good, and that stood in one place. What
    ran or was written after them may have put them back."""
    values: list[ChangedValue] = []
    for action in index.evidence.actions or ():
        value = read_changed_value(action) if action.is_new_success else None
        if value:
            values.append(value)
        elif action.effect not in LOCAL_LOOKS:
            values = []
    written, given = {value.new for value in values}, NUMBER.findall(index.given)
    return [value for value in values if value.old not in written and given.count(value.old) < 2]


def read_changed_value(action: ActionRecord) -> ChangedValue | None:
    """Read which figure an edit replaced by another, if nothing else."""
    values = parse_result(action.arguments)
    if not isinstance(values, dict):
        return None
    path, *texts = (fold_text(str(values.get(n, ""))) for n in ("path", "old_string", "new_string"))
    old, new = (frozenset(split_words(text)) for text in texts)
    if len(old - new) != 1 or len(new - old) != 1 or not "".join(old ^ new).isdecimal():
        return None
    beside = {word[:STEM] for word in (old & new) - STOP | {*split_words(path.rpartition("/")[2])}}
    (was,), (now,) = old - new, new - old
    return ChangedValue(was, now, frozenset(filter(str.isalpha, beside)))
