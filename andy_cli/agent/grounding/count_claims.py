"""Numbers of files that an answer says were moved, copied or deleted, and that were fewer. Pure."""

import itertools
import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.action_claims import LOCAL_LOOKS, find_reports, mask_quotations
from andy_cli.agent.grounding.evidence import FILE, ActionRecord, Claim, EvidenceIndex
from andy_cli.agent.grounding.figures.figure_claims import AnswerFigure, find_figures, read_values
from andy_cli.agent.grounding.text.languages import detect_languages
from andy_cli.agent.grounding.text.segmentation import Sentence, split_words

FILE_TOOLS = frozenset(["move", "copy", "trash"])
COUNTED_ACTIONS = frozenset(["move", "copy", "delete", "rename"])
AMOUNT = re.compile(r"\w+ (?P<count>[\d,]+) (?:files (?P<end>to|into) |\w+ and \d|folders )")
"""Behind `moved`, `copied` and `put`, where it is several."""
NOUN = re.compile(r"\s?[^\W\d]")
BEFORE, BEHIND = re.compile(r"\W*(?:[\w’']+\s+){0,3}"), re.compile(r"\s*(?:[\w’']+\s+)?")
"""Words that may stand between a number and the verb: `4 songs have been moved`, `Moved all 4`."""


def find_count_claims(spoken: Sequence[Sentence], index: EvidenceIndex) -> Iterator[Claim]:
    """Find the number beside a deed that is greater than that of the files all calls did it to. One
    file may hold more things than one."""
    calls = [call for call in index.evidence.actions or () if call.effect not in LOCAL_LOOKS]
    count = count_all_files(calls)
    named = split_words("\n".join(call.arguments for call in calls))
    for sentence in spoken if count > 1 else ():
        figure = find_number_of_deed(sentence)
        if figure and figure.text not in named and min(read_values(figure)).value > count:
            start = sentence.start + figure.start
            yield Claim(figure.text, start, start + len(figure.text), "count")


def count_all_files(calls: Sequence[ActionRecord]) -> int:
    counts = [*map(count_files, calls)]
    return sum(counts) if all(counts) else 0


def find_number_of_deed(sentence: Sentence) -> AnswerFigure | None:
    """Find the one figure of a sentence where it is a number close to a verb for such a deed."""
    text = FILE.sub(lambda name: "x" * len(name[0]), mask_quotations(sentence.text))
    figure, *others = [*find_figures(text, ()), None]
    if figure is None or len(others) > 1 or sentence.question or not is_number_of(figure, text):
        return None
    verbs = (
        report.match.span("done")
        for language, action in itertools.product(detect_languages(text), COUNTED_ACTIONS)
        for report in find_reports(sentence, text, language, action, takes_weak=False)
    )
    return figure if any(is_beside(figure, *verb, text) for verb in verbs) else None


def is_beside(figure: AnswerFigure, start: int, end: int, text: str) -> bool:
    """Tell whether a figure stands close before or behind the verb that is there in the text;
    before it with hardly a word in front of it, as in `All but 4` it is of others."""
    if figure.end <= start:
        is_first = len(split_words(text[: figure.start])) < 2
        return is_first and BEFORE.fullmatch(text[figure.end : start]) is not None
    return end <= figure.start and BEHIND.fullmatch(text[end : figure.start]) is not None


def is_number_of(figure: AnswerFigure, text: str) -> bool:
    """Tell whether it is a number with a word behind it: not that of `photo 7`."""
    return figure.kind in ("number", "spelled") and NOUN.match(text[figure.end :]) is not None


def count_files(call: ActionRecord) -> int:
    """Count the files that a call moved, copied or put into the trash; 0 where that is not known,
    as of a folder."""
    if call.tool not in FILE_TOOLS or not call.ok:
        return 0
    amount = AMOUNT.match(call.did)
    if amount:
        return int(amount["count"].replace(",", "")) if amount["end"] else 0
    return int(FILE.search(call.did) is not None)
