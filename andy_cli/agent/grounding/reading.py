"""One answer as the audit reads it: its sentences, lists and tables, beside the evidence. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Sentence, lists, tables
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.vocabulary import MONTHS, STOP, WEEKDAYS
from andy_cli.compiler.expression import Expression

ROW = re.compile(r"[ \t>]*(?:[-*•+–|]|\d{1,3}[.)]\s)")
FREE = Expression(
    r"\b(?:both|all|are|is|am|be|you['’]re|they['’]re) (?:both |all )?(?:free|available)\b"
    r"|\b(?:free|available|open) (?:at|from|on|between|after|before|slots?|times?|windows?"
    r"|hours?)\b"
    r"|\b(?:slots?|gaps?) (?:at|from|on|between|is|are|in)\b|\bfreie\w? (?:zeit|termin|slot)\w*"
    r"|\b(?:could|can) (?:i|we) meet\b|\bbeide (?:frei|zeit)\b|\bdisponibles? (?:à|de|entre)\b",
    re.IGNORECASE,
)
"""What is told lies between the times that were given."""

CALENDAR = frozenset([*MONTHS, *WEEKDAYS])


class Reading:
    """One answer, held against one body of evidence."""

    def __init__(self, answer: str, prose: str, spoken: Sequence[Sentence], index: Index) -> None:
        self.answer = answer
        self.prose = prose
        self.spoken = spoken
        self.starts = [each.start for each in spoken]
        self.index = index
        self.lists = lists(prose)
        self.tables = tables(prose) if "|" in prose else []
        self.item_starts = [group[0].start for group in self.lists]
        self.about: dict[int, bool] = {}
        self.between = bool(FREE.search(prose) or FREE.search(index.evidence.user))

    def sentence(self, at: int) -> Sentence | None:
        place = bisect_right(self.starts, at) - 1
        return self.spoken[place] if place >= 0 else None

    def following(self, at: int) -> int:
        """How many items the list has that follows in a few lines."""
        place = bisect_right(self.item_starts, at)
        if place < len(self.lists) and self.prose.count("\n", at, self.item_starts[place]) <= 3:
            return len(self.lists[place])
        return 0

    def is_about(self, sentence: Sentence, without: str = "") -> bool:
        """Is it about what was found, or ordinary knowledge that shares no word with it?"""
        if not without and sentence.start in self.about:
            return self.about[sentence.start]
        text = folded(sentence.text.replace(without, " ") if without else sentence.text)
        telling = {
            each
            for each in words_of(text)
            if len(each) > 2 and each not in STOP and not each[0].isdigit()
        }
        shared = sum(each in self.index.given_words for each in telling)
        names = re.findall(r"(?<=[\w,] )[A-Z][a-z]{2,}", sentence.text)
        foreign = any(folded(each) not in self.index.words | CALENDAR for each in names)
        answer = bool(shared) or len(telling) < 4 or not foreign
        if foreign and len(telling) > 5:
            answer = shared >= 2 or shared / len(telling) >= 0.2
        if not without:
            self.about[sentence.start] = answer
        return answer

    def telling(self, word: str) -> bool:
        if len(word) < 2 or word[0].isdigit() or word in STOP:
            return False
        if word in CALENDAR and self.index.gives(r"\d{4}-\d\d-\d\d"):
            return True
        return word in self.index.stems or singular(word) in self.index.stems

    def leads(self, claim: Claim) -> bool:
        """Does its line, of a list or a table, begin with a name of the results?"""
        start = self.prose.rfind("\n", 0, claim.start) + 1
        lead = self.prose[start : claim.start][:80]
        if not ROW.match(lead):
            return False
        if lead.lstrip().startswith("|") and any(
            self.index.holds(each) for each in folded(lead).split() if each.strip("|*_")
        ):
            return True
        return any(map(self.telling, words_of(folded(lead))))


NEAR = 300
"""Characters of a sentence that are looked at around a claim: a bound, so that an endless sentence
costs no more than its length."""


def words_before(claim: Claim, sentence: Sentence) -> str:
    at = claim.start - sentence.start
    return sentence.text[max(0, at - NEAR) : at]


def words_after(claim: Claim, sentence: Sentence) -> str:
    at = claim.end - sentence.start
    return sentence.text[at : at + NEAR]


def around(claim: Claim, sentence: Sentence) -> str:
    """What stands near it in its sentence, before and after."""
    return f"{words_before(claim, sentence)}{claim.text}{words_after(claim, sentence)}"
