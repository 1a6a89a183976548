"""The grounding audit: what in an answer does nothing support? (C2, C23, C32, R16)

Looked at are names, addresses, ids, titles and figures, and only when there are results; and what
the answer says was done, always. What everybody knows is never looked at: offers, questions,
examples, code, ordinary knowledge. Pure, and linear in the answer and the evidence.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.arithmetic import MANY, RECKONED, SUMMED, follows, rounding, sums_up
from andy_cli.agent.grounding.claim import Backed, Claim, Deed, Evidence
from andy_cli.agent.grounding.counts import CORE, count_holds, some_hold
from andy_cli.agent.grounding.deeds import deed_claims
from andy_cli.agent.grounding.entities import COMMON, COUNT, TALLY, entities
from andy_cli.agent.grounding.evidence import Index, folded, words_of
from andy_cli.agent.grounding.layout import (
    NEGATION,
    OUTPUT,
    Entry,
    Sentence,
    blanked,
    fences,
    lists,
    sentences,
    tables,
)
from andy_cli.agent.grounding.marking import marked, rewrite_request
from andy_cli.agent.grounding.names import strange_names
from andy_cli.agent.grounding.quantities import FIGURE, Figure, approximate, readings
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.support import derived_holds, holds
from andy_cli.agent.grounding.vocabulary import (
    EXTENSIONS,
    ITEMS,
    KNOWN_NAMES,
    LABELS,
    MONTHS,
    STOP,
    WEEKDAYS,
)
from andy_cli.compiler.expression import Expression

__all__ = [
    "Backed", "Claim", "Deed", "Evidence", "backing", "marked", "rewrite_request", "unsupported",
]  # fmt: skip

NAMES = frozenset(["file", "path", "address", "url", "id"])
"""Claims wherever they stand, but in offers to make them and denials that they are there."""
MAKING = Expression(
    r"\b(?:(?:save|write|create|export|generate|make|put|add|speicher\w*|erstell\w*"
    r"|enregistrer|créer|guardar"
    r"|crear|new|called|named|example|instance)\W+(?:[\w'’]+\W+){0,6}|(?:as|to|into|like"
    r"|such as|e\.g\.,?|als|en"
    r"|nach|in)\s+(?:an? |the |new )*)[*_`\"'“]*$",
    re.IGNORECASE,
)
"""What follows is to be made, or is an example."""
EXAMPLE = Expression(
    r"\b(?:like|such as|e\.g\.,?|example|instance|wie|comme|como|in the form(?:at)?"
    r"|of the form|z\.\s?b\.)\W*$", re.IGNORECASE
)
MEANING = Expression(
    r"\b(?:means?|translat\w+|in (?:english|german|french|spanish)|auf \w+|bedeutet|heißt|signifie"
    r"|significa|as in|so-called|literally|meaning)\b",
    re.IGNORECASE,
)
"""What is quoted after it is a translation or an explanation."""
DEFINITION = Expression(
    r"\W*(?:In (?:an?|most|many|general)|An?)\s[a-z]|\W*(?:(?:An?"
    r"|The)\s)?(?:[A-Z][\w'’-]*\s(?:of\s)?){1,4}(?:is|are|was|were) (?:an?|the|one of)\b"
)
"""`Mars is the fourth planet ...`: what everybody may know."""
KINDS_LACKING = {
    "duration": r"\d:\d\d|second|minute|hour|duration|length|\d ?(?:s|min|h|ms)\b",
    "percent": r"%|percent|ratio|share",
    "size": r"\d ?[kmgt]i?b?\b|byte|size",
}
"""How a result shows that it has figures of this kind at all."""
FIGURES = frozenset(["number", "percent", "size", "duration"])
"""Claims only beside a word of the results: of others everybody may know something."""
RATE = re.compile(r"\s(?:a|an|per|pro|par|por|each|every)\s\w", re.IGNORECASE)
TO_TIME = re.compile(r"\s?(?:to|bis|-|–|until|à|a)\s?\d{1,2}(?::\d\d| ?[ap]\.?m)", re.IGNORECASE)
INNER_CAPITAL = re.compile(r"\S\s[\"'(*_“„«]{0,4}[A-ZÀ-Þ]")
SPECIFIC = Expression(r"(?:(?<=\w\s)|(?<=[*`\"“_(]))[A-ZÀ-Þ0-9`][\w-]+|\w+[_.]\w+")
PRECISE = re.compile(r"\d[.,]\d\d\b|\d\d[.,]\d|\d{4}|\d[.,]\d{3}")
YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
ROW = re.compile(r"[ \t>]*(?:[-*•+–|]|\d{1,3}[.)]\s)")
UNIT_AFTER = re.compile(
    r"\d?(?:\s?(?:to|or|and|bis|oder|–|-)\s?\d[\d.,]*)?[\s*_`-]{0,4}([^\W\d_]+(?:/[hs])?)"
)
MEASURE = Expression(
    r"(?:feet|foot|ft|inch(?:es)?|yards?|miles?|mph|km/h|m/s|kmh|knots|met(?:er|re)s?|centimet\w+"
    r"|millimet\w+|kilomet\w+|km|cm|mm|m|db|decibels?|years?|months?|weeks?|days?|nights?|decades?"
    r"|centur(?:y|ies)|degrees?|°\s?[cf]?|watts?|kwh|volts?|amps?|calories|kcal|pounds?|lbs?|ounces?"
    r"|oz|grams?|g|kg|kilograms?|kilos?|tonnes?|tons?|lit(?:er|re)s?|ml|cups?|tbsp|tsp|tablespoons?"
    r"|teaspoons?|gallons?|acres|hectares|hz|khz|mhz|ghz|pixels?|px|dpi|jahre\w*|monate\w*|wochen?"
    r"|tagen?|meter|grad|ans|mois|semaines?|jours?|años|meses|semanas|días|people|inhabitants"
    r"|einwohner|habitants|people|times|mal|fois|bits?)\b|°",
    re.IGNORECASE,
)
"""Units: where the results have nothing in one, a figure in it is a conversion or is known to all."""
UNITS = {
    "c": r"°|temp|\bt?(?:min|max)\b|high|low|celsius|metric|degree|grad",
    "f": r"°|temp|\bt?(?:min|max)\b|high|low|fahrenheit|imperial|degree", "": r"°|temp|degree",
    "gr": r"°|temp|\bt?(?:min|max)\b|high|low|grad|celsius", "de": r"°|temp|high|low",
    "km": r"\bk?m\b|km|kilom|distan", "ki": r"\bk?m\b|km|kg|kilo|distan", "m/": r"m/s|_ms\b", "mi": r"mi\b|mile|distan", "m": r"\dm\b|\bm\b|met(?:er|re)|_m\b",
    "da": r"\bda(?:y|te)|\d ?d\b|\d{4}-\d\d|tag", "ni": r"night|check", "ye": r"year|\bage\b",
    "we": r"week|\d{4}-\d\d", "mo": r"month|\d{4}-\d\d", "ti": r"times|count|\bruns?\b|restart",
    "ta": r"tag|\d{4}-\d\d|datum", "wo": r"woche|\d{4}-\d\d", "ja": r"jahr",
    "kc": r"kcal|calor", "ca": r"kcal|calor", "kg": r"kg|weight|mass", "mm": r"mm", "pe": r"people|person",
}  # fmt: skip
"""By the first letters of a unit: how results show that they have figures in it."""
EXPLAINED = Expression(
    r"\bmeans\b|\bstands? for\b|\bbedeutet\b|\bsignifie\b|\bby the way\b|\bübrigens\b"
    r"|\b(?:sensible|reasonable|recommended|advised|considered|normally|nowadays|benchmark"
    r"|rule of thumb|faustregel|limit of many|at least|at most|mindestens"
    r"|höchstens|au moins|al menos|since (?:version|python|node|java)|deprecated|by default|requires?"
    r"|perhaps|maybe|probably|likely|typical(?:ly)?|usually|comparison|compared|fun fact|in general"
    r"|vielleicht|wohl|üblicherweise|meist(?:ens)?|peut-être|souvent|quizás?|suelen?|normalmente"
    r"|expect an?|on top|allows?|last (?:\d|for)|guidelines?|experts?|scientists?|on earth|in (?:most|many|some) (?:countries|cases))\b",
    re.IGNORECASE,
)
"""Ordinary knowledge, or advice."""
FREE = Expression(
    r"\b(?:both|all|are|is|am|be|you['’]re|they['’]re) (?:both |all )?(?:free|available)\b"
    r"|\b(?:free|available|open) (?:at|from|on|between|after|before|slots?|times?|windows?|hours?)\b"
    r"|\b(?:slots?|gaps?) (?:at|from|on|between|is|are|in)\b|\bfreie\w? (?:zeit|termin|slot)\w*"
    r"|\b(?:could|can) (?:i|we) meet\b|\bbeide (?:frei|zeit)\b|\bdisponibles? (?:à|de|entre)\b",
    re.IGNORECASE,
)
"""What is told lies between the times that were given."""
RECORDED = Expression(
    r"\b(?:modified|changed|updated|created|saved|sent|received|dated|due|scheduled|published|added"
    r"|recorded|taken|uploaded|starts?|ends?|expires?|from)\b",
    re.IGNORECASE,
)
"""A date is told of a record."""
PLACED = Expression(r"\b(?:in|inside|under|at|from|dans|en|unter)\s[*_`\"]*$", re.IGNORECASE)
ORDER = Expression(
    r"\b(?:step|option|part|phase|level|point|chapter|section|version|top|first|last|next"
    r"|number|no\.?"
    r"|schritt|étape|paso|scale of|python|tip|rule|choice|example)\s*[#*_]*$",
    re.IGNORECASE,
)

CALENDAR = frozenset([*MONTHS, *WEEKDAYS])


def unsupported(answer: str, evidence: Evidence) -> tuple[Claim, ...]:
    """The claims in the answer that results, user and history do not hold, in order, each text
    once."""
    index = Index(evidence)
    blocks = fences(answer)
    prose = blanked(answer, [(start, end) for start, end, _ in blocks])
    spoken = sentences(prose)
    found = list(deed_claims(spoken, index, answer))
    if evidence.results:
        found += Audit(answer, prose, spoken, index).unsupported()
        for start, end, language in blocks:
            if language in OUTPUT:
                found += shown_output(answer, start, end, index)
    return once(found)


def once(found: Sequence[Claim]) -> tuple[Claim, ...]:
    seen: dict[str, Claim] = {}
    for claim in sorted(found, key=lambda each: (each.start, -each.end)):
        seen.setdefault(claim.text, claim)
    return tuple(seen.values())


def shown_output(answer: str, start: int, end: int, index: Index) -> Iterator[Claim]:
    """A fence that shows a result, not code: some of its names are known, so all must be."""
    named = [each for each in entities(answer[start:end], ()) if each.kind in {*NAMES, "size"}]
    known = [holds(each, "", index) for each in named]
    if sum(known) * 2 < len(known):
        return
    for claim, good in zip(named, known, strict=True):
        if not good:
            yield claim._replace(start=claim.start + start, end=claim.end + start)


class Audit:
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

    def unsupported(self) -> Iterator[Claim]:
        entries = [each for group in (*self.lists, *self.tables) for each in group]
        named = [
            Claim(each.text, each.start, each.end, "file")
            for each in entries
            if is_file_name(each.text)
        ]
        taken = [(each.start, each.end) for each in named]
        for claim in entities(self.prose, taken):
            if self.given(claim):
                continue
            sentence = self.sentence(claim.start)
            if claim.kind == "tally":
                claim = self.settled(claim)
            if sentence and self.claimed(claim, sentence) and not self.held(claim, sentence):
                yield claim
        for sentence in self.spoken:
            if INNER_CAPITAL.search(sentence.text) and not (sentence.question or sentence.offer):
                yield from strange_names(sentence, self.index)
        yield from (each for each in named if not holds(each, "", self.index))
        for group in self.lists:
            yield from self.strangers(group, listed=True)
        for column in self.tables:
            yield from self.strangers(column, listed=False)

    def given(self, claim: Claim) -> bool:
        """Does it stand in the evidence as it is? That settles most, and is quick to see."""
        if claim.kind in {"file", "path", "address"}:
            # Those may be the end of another name.
            return False
        text = folded(claim.text)
        if claim.kind in {"number", "percent"}:
            text = text.strip("-+−$€£¥ ")
            return self.index.given_figure(text) if text[:1].isdigit() else False
        if claim.kind in {"date", "time"} and text[0].isdigit() and text[-1].isdigit():
            return self.index.given_day(text)
        if claim.kind == "size" and text.endswith(("byte", "bytes")):
            text = text.split()[0]
            return self.index.given_figure(text) or self.index.given_figure(text.replace(",", ""))
        return self.index.holds(text)

    def settled(self, claim: Claim) -> Claim:
        """A count of what the results list or the user asked for; else a number like any other."""
        match = TALLY.match(claim.text)
        if match and (noun := singular(match["noun"])):
            named = {noun, singular(folded(match["noun"]))}
            known = named & self.index.stems
            spelled = not match["number"][0].isdigit()
            if named & self.index.asked_of or (known and (spelled or named & self.index.keys)):
                return claim._replace(kind="count")
            if match["number"][0].isdigit():
                end = claim.start + match.end("number")
                return Claim(match["number"], claim.start, end, "number")
        return claim

    def sentence(self, at: int) -> Sentence | None:
        place = bisect_right(self.starts, at) - 1
        return self.spoken[place] if place >= 0 else None

    def claimed(self, claim: Claim, sentence: Sentence) -> bool:
        """Does the answer present it as a finding?"""
        if claim.kind in NAMES:
            return self.named(claim, sentence)
        if sentence.question or sentence.offer or claim.kind in {"code", "tally"}:
            return False
        if claim.kind in FIGURES and EXAMPLE.search(words_before(claim, sentence)):
            return False
        if claim.kind in {"subject", "title"}:
            return self.titled(claim, sentence)
        if claim.kind == "count":
            return self.counted(claim, sentence)
        if claim.kind == "version":
            return self.versioned(claim, sentence)
        lacking = KINDS_LACKING.get(claim.kind)
        if lacking and claim.kind == "duration" and not self.index.gives(lacking):
            return False
        if claim.kind in {"number", "percent"} and not self.figured(claim, sentence):
            return False
        if claim.kind == "time" and (self.between or RATE.match(words_after(claim, sentence))):
            return False
        if claim.kind == "number" and TO_TIME.match(words_after(claim, sentence)):
            return False
        if claim.kind in FIGURES and not self.anchored(claim, sentence):
            return False
        if claim.kind == "date" and not (self.index.days or RECORDED.search(sentence.text)):
            return False
        return self.is_about(sentence)

    def versioned(self, claim: Claim, sentence: Sentence) -> bool:
        """Is it one of those that the results give: of three parts, and not of another product?"""
        if claim.text.count(".") < 2 or not self.index.gives(r"\d\.\d+\.\d"):
            return False
        word = re.search(r"([A-Z][\w.+-]*)\s$", words_before(claim, sentence))
        if word and folded(word[1]) not in self.index.given_words:
            return False
        return self.is_about(sentence)

    def anchored(self, claim: Claim, sentence: Sentence) -> bool:
        """Is it a figure of what the results tell: by what it counts, by the words before it, by
        the name its line begins with? Of anything else everybody may know something."""
        if self.leads(claim):
            return True
        if YEAR.fullmatch(claim.text):
            before = words_of(folded(words_before(claim, sentence)[-50:]))
            return any(map(self.telling, before[-2:]))
        if EXPLAINED.search(sentence.text) or DEFINITION.match(sentence.text):
            return False
        unit = UNIT_AFTER.match(claim.text[-1:] + words_after(claim, sentence))
        measure = MEASURE.search(claim.text) or (unit and MEASURE.fullmatch(unit[1]))
        if measure and claim.kind == "number":
            return self.measured(measure[0])
        if len(re.sub(r"\D", "", claim.text).strip("0")) > 3:
            return True
        words = {each for each in words_of(folded(sentence.text)) if each not in STOP}
        if claim.kind in {"size", "duration"}:
            return any(map(self.telling, words)) or self.index.gives(KINDS_LACKING[claim.kind])
        near = words_of(folded(words_before(claim, sentence)[-40:]))[-3:]
        near += words_of(folded(words_after(claim, sentence)[:30]))[:2]
        return len(words) < 4 or any(map(self.telling, near)) or self.specific(claim, sentence)

    def specific(self, claim: Claim, sentence: Sentence) -> bool:
        """Does the sentence speak of something the results name: by a capital, in quotes?"""
        if any(map(self.telling, map(folded, SPECIFIC.compiled.findall(sentence.text)))):
            return True
        return self.beside(claim, sentence)

    def beside(self, claim: Claim, sentence: Sentence) -> bool:
        """Does another figure of the sentence stand in the results?"""
        text = sentence.text.replace(claim.text, " ")
        return any(len(each) > 2 and self.index.holds(each) for each in FIGURE.compiled.findall(text))

    def measured(self, unit: str) -> bool:
        """Do the results tell of anything in this unit, by its name or by the beginning of it?"""
        name = folded(unit).strip("° ")
        plain = rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])"
        return singular(name) in self.index.stems or self.index.gives(UNITS.get(name[:2], plain))

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

    def telling(self, word: str) -> bool:
        if len(word) < 2 or word[0].isdigit() or word in STOP:
            return False
        if word in CALENDAR and self.index.gives(r"\d{4}-\d\d-\d\d"):
            return True
        return word in self.index.stems or singular(word) in self.index.stems

    def named(self, claim: Claim, sentence: Sentence) -> bool:
        if claim.kind in {"file", "path"}:
            if claim.kind == "path" and "." not in claim.text and claim.text[0] not in "~/":
                # `text/html` is no path; one that goes on like a known one is.
                first = folded(claim.text).split("/")[0]
                if not claim.text.endswith("/") and f"{first}/" not in self.index.text:
                    return False
            if sentence.negated and self.denied(claim, sentence):
                return False
            before = words_before(claim, sentence)
            return not ((sentence.question or sentence.offer) and MAKING.search(before))
        if EXAMPLE.search(words_before(claim, sentence)):
            return False
        if claim.kind == "url" and (sentence.question or sentence.offer):
            return False
        if claim.kind == "id":
            return self.is_about(sentence) and self.of_a_series(claim)
        return True

    def of_a_series(self, claim: Claim) -> bool:
        """A letter with a figure is the name of a room where the results name such rooms."""
        name = folded(claim.text)
        if re.fullmatch(r"[\d-]+", name):
            return True
        if name.count(".") > 1 and not name[0].isdigit():
            return self.half_known_host(name)
        if not COMMON.fullmatch(claim.text) and len(name) > 2:
            return True
        shape = re.sub(r"\d+", r"\\d+", re.escape(name))
        if name[0].isdigit():
            shape = r"\d+[a-z]"
        return self.index.gives(rf"\b{shape}\b")

    def half_known_host(self, name: str) -> bool:
        """Do most of its labels stand in a name of the results, in the same order?"""
        labels = name.split(".")
        pattern = rf"\b{re.escape(labels[0])}\.[\w.-]*\.{re.escape(labels[-1])}\b"
        return self.index.gives(pattern)

    def denied(self, claim: Claim, sentence: Sentence) -> bool:
        """Is it said not to be there?"""
        before = words_before(claim, sentence)
        after = re.split(r"[,;.]\s|\sbut\s", words_after(claim, sentence))[0][:40]
        before = re.split(r"[;]\s|\s(?:but|however|aber|mais|pero)\s", before)[-1]
        if PLACED.search(before):
            return False
        return bool(NEGATION.search(before) or NEGATION.search(after))

    def titled(self, claim: Claim, sentence: Sentence) -> bool:
        if sentence.negated or not self.is_about(sentence, claim.text):
            return False
        if MEANING.search(words_before(claim, sentence)):
            return False
        words = claim.text.split()
        capitals = sum(each[:1].isupper() or each[:1].isdigit() for each in words)
        if claim.kind == "title":
            after = self.prose[claim.end : claim.end + 4].lstrip("*_ ")
            alone = sentence.text.strip(" *_#>-") == claim.text
            telling = [each for each in words_of(folded(claim.text)) if each not in STOP]
            return (
                not alone
                and not after.startswith(":")
                and not claim.text.endswith(":")
                and len(words) > 1
                and capitals == len([each for each in words if each.casefold() not in STOP])
                and not all(each in LABELS for each in telling)
                and bool(re.search(r"\d", sentence.text.replace(claim.text, "")))
            )
        if len(words) == 1:
            return claim.text[0].isupper() and len(claim.text) > 3
        return capitals > 0 or len(words) > 2

    def counted(self, claim: Claim, sentence: Sentence) -> bool:
        match = COUNT.match(claim.text) or TALLY.match(claim.text)
        if not match:
            return False
        noun, number = match["noun"].casefold(), match["number"]
        family = ITEMS.get(noun)
        before = words_before(claim, sentence)
        if number.casefold() in {"one", "ein", "eine", "un", "une", "una", "uno"} and not re.search(
            r"\b(?:only|exactly|just|there is|contains|have|has|found|nur|seulement|solo)\s$",
            before,
            re.I,
        ):
            return False
        if RATE.search(claim.text + words_after(claim, sentence)[:8]):
            return False
        if ORDER.search(before) or (number in {"24", "7"} and "24/7" in sentence.text):
            return False
        known = singular(noun) in {"row", "record", "line", "column"} or (
            noun in {"people", "persons", "members", "contacts"}
            and not self.index.keys.isdisjoint({"email", "name", "user", "from", "person"})
        )
        known = known or singular(noun) in self.index.words or noun in self.index.words
        if not known and approximate(before):
            return False
        if family in CORE or known or not family:
            return self.is_about(sentence)
        return False

    def figured(self, claim: Claim, sentence: Sentence) -> bool:
        before = words_before(claim, sentence)
        if ORDER.search(before):
            return False
        if self.in_marker(claim):
            return False
        word = re.search(r"([A-Z][\w.+-]*)\s$", before)
        if word and word.start() and folded(word[1]) not in self.index.given_words:
            return False
        digits = claim.text.strip()
        if re.fullmatch(r"(?:1[5-9]|20|21)\d\d", digits):
            return self.index.gives(r"(?<![\d-])(?:1[5-9]|20|21)\d\d(?![\d])")
        return True

    def in_marker(self, claim: Claim) -> bool:
        """The number of a list item or of a heading, or a cell that numbers its row."""
        line = self.prose[self.prose.rfind("\n", 0, claim.start) + 1 : claim.start]
        after = self.prose[claim.end : claim.end + 2]
        if not line.strip(" \t#>*_|(") and (
            after[:1] in {".", ")", ":"} or ("|" in line and "|" in after)
        ):
            return True
        return after[:1] == ")" and line.endswith("(") and len(claim.text) == 1

    def held(self, claim: Claim, sentence: Sentence) -> bool:
        before = words_before(claim, sentence)
        after = words_after(claim, sentence)
        word = re.search(r"\w\s([A-Z][\w.-]+)\s$", before)
        if claim.kind == "number" and word and claim.text.isdigit():
            # `Room 204` is a name: where rooms have numbers it must be this one.
            name = re.escape(folded(word[1]))
            if f"{folded(word[1])} " in self.index.given and self.index.gives(rf"\b{name} \d"):
                return self.index.says(folded(f"{word[1]} {claim.text}"))
        if claim.kind == "number" and some_hold(claim.text, after, self.index):
            return True
        if claim.kind != "count":
            return holds(claim, before, self.index) or self.reckoned(claim, sentence)
        return count_holds(claim.text, before, after, self.following(claim.end), self.index)

    def reckoned(self, claim: Claim, sentence: Sentence) -> bool:
        """Was it worked out, and can it have been?"""
        if claim.kind == "number" and derived_holds(claim.text, self.index.totals):
            return True
        if claim.kind == "number" and PRECISE.search(claim.text):
            if derived_holds(claim.text, self.index.derived):
                return True
        if claim.kind not in FIGURES or not self.worked_out(claim, sentence):
            return False
        if claim.kind == "number" and derived_holds(claim.text, self.index.derived):
            return True
        digits = FIGURE.search(claim.text.lstrip("-+−$€£¥ "))
        values = self.index.ingredients
        if not digits or len(values) > MANY:
            return False
        before = words_before(claim, sentence)
        room = rounding(digits[0]) if approximate(before) else 0.0
        asked = [Figure(each.value, max(each.slack, room)) for each in readings(digits[0])]
        if SUMMED.search(before[-14:]) and claim.kind != "percent":
            return any(sums_up(each, values) for each in asked)
        return follows(asked, values)

    def worked_out(self, claim: Claim, sentence: Sentence) -> bool:
        after = re.split(r"[,;:(]\s", words_after(claim, sentence)[:40])[0]
        said = f"{words_before(claim, sentence)}{claim.text}{after}"
        if RECKONED.search(said):
            return True
        mine = {float(each.value) for text in FIGURE.compiled.findall(claim.text) for each in readings(text)}
        stated = FIGURE.compiled.findall(sentence.text)
        if any(
            each.value in self.index.asked and each.value not in mine
            for text in stated
            for each in readings(text)
        ):
            return True
        aside = claim.kind == "percent" and words_before(claim, sentence).endswith("(")
        return aside and not self.index.gives(r"\d ?%")

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

    def strangers(self, group: Sequence[Entry], *, listed: bool) -> Iterator[Claim]:
        """Entries the results do not know, in a list most of whose entries they know."""
        names = [each for each in group if self.is_name(each)]
        if len(names) < 2:
            return
        known = [self.knows(each) for each in names]
        for entry, good in zip(names, known, strict=True):
            others = len(names) - 1
            backed = sum(known) - good
            needed = others if entry.label or others < 3 else others * 0.6
            verbatim = backed == others and (others > 1 or not listed)
            if good or backed < needed or (entry.label and " " not in entry.text):
                continue
            if not coded(entry.text) and self.reworded(entry, verbatim):
                continue
            yield Claim(entry.text, entry.start, entry.end, "item")

    def knows(self, entry: Entry) -> bool:
        name = folded(entry.text)
        return self.index.holds(name) if coded(name) else self.index.says(name)

    def is_name(self, entry: Entry) -> bool:
        words = words_of(folded(entry.text))
        if not words or len(words) > 9 or "\0" in entry.text or is_file_name(entry.text):
            return False
        telling = [each for each in words if each not in STOP and not each[0].isdigit()]
        return bool(telling) and not all(each in LABELS for each in telling)

    def reworded(self, entry: Entry, verbatim: bool) -> bool:
        """Its own words for something known: a title is altered by one word, prose by most."""
        telling = [each for each in words_of(folded(entry.text)) if each not in STOP]
        strange = [
            each
            for each in telling
            if each not in self.index.words and singular(each) not in self.index.words
        ]
        words = [each for each in entry.text.split() if each.casefold() not in STOP]
        title = all(not each[0].isalpha() or each[0].isupper() for each in words)
        if any(each[0].isdigit() for each in strange):
            return False
        if all(each in KNOWN_NAMES or each in LABELS for each in strange):
            return True
        if not strange or (verbatim and not entry.label):
            return not strange
        return not title and len(strange) < 0.6 * len(telling)


NEAR = 300
"""Characters of a sentence that are looked at around a claim: a bound, so that an endless sentence
costs no more than its length."""


def words_before(claim: Claim, sentence: Sentence) -> str:
    at = claim.start - sentence.start
    return sentence.text[max(0, at - NEAR) : at]


def words_after(claim: Claim, sentence: Sentence) -> str:
    at = claim.end - sentence.start
    return sentence.text[at : at + NEAR]


def coded(text: str) -> bool:
    """`id_rsa_old`, `aws_s3_bucket.logs`: a name in one piece, of several parts."""
    return re.fullmatch(r"[a-z0-9]+(?:[_.]+[a-z0-9]+)+", text) is not None


def is_file_name(text: str) -> bool:
    ending = text.rpartition(".")[2].lower()
    if re.search(r"[`\"*:]|\s(?:a|an|the|is|are|was|were|has|in|of)\s", text):
        # A sentence that ends with a name is none.
        return False
    return ending in EXTENSIONS and "." in text and "/" not in text and len(text) < 200


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
