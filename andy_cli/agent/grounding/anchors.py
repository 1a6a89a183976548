"""Is a figure one of those that the results tell, or of what everybody may know? Pure."""

import re

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Sentence
from andy_cli.agent.grounding.quantities import FIGURE
from andy_cli.agent.grounding.reading import Reading, around, words_after, words_before
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.vocabulary import STOP
from andy_cli.compiler.expression import Expression

KINDS_LACKING = {
    "duration": r"\d:\d\d|second|minute|hour|duration|length|\d ?(?:s|min|h|ms)\b",
    "percent": r"%|percent|ratio|share",
    "size": r"\d ?[kmgt]i?b?\b|byte|size",
}
"""How a result shows that it has figures of this kind at all."""

ORDER = Expression(
    r"\b(?:step|option|part|phase|level|point|chapter|section|version|top|first|last|next"
    r"|number|no\.?"
    r"|schritt|étape|paso|scale of|python|tip|rule|choice|example)\s*[#*_]*$",
    re.IGNORECASE,
)

DEFINITION = Expression(
    r"\W*(?:In (?:an?|most|many|general)|An?)\s[a-z]|\W*(?:(?:An?"
    r"|The)\s)?(?:[A-Z][\w'’-]*\s(?:of\s)?){1,4}(?:is|are|was|were) (?:an?|the|one of)\b"
)
"""`Mars is the fourth planet ...`: what everybody may know."""

FIGURES = frozenset(["number", "percent", "size", "duration"])
"""Claims only beside a word of the results: of others everybody may know something."""

SPECIFIC = Expression(r"(?:(?<=[\w,;:)]\s)|(?<=[*`\"“_(]))[A-ZÀ-Þ0-9`][\w-]+|\w+[_.]\w+")
WEAK = re.compile(r"\d{1,2}(?:[.,]?0{3}|0*)(?:[.,]000)*(?:\s?(?:thousand|million|billion))?")
"""Small or round: such figures are everywhere, so only what stands right beside it tells."""
YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
UNIT_AFTER = re.compile(
    r"\d?(?:\s?(?:to|or|and|bis|oder|–|-)\s?\d[\d.,]*)?[\s*_`-]{0,4}([^\W\d_]+(?:/[hs])?)"
)

MEASURE = Expression(
    r"(?:feet|foot|ft|inch(?:es)?|yards?|miles?|mph|km/h|m/s|kmh|knots|met(?:er|re)s?|centimet\w+"
    r"|millimet\w+|kilomet\w+|km|cm|mm|m|db|decibels?|years?|months?|weeks?|days?|nights?|decades?"
    r"|centur(?:y|ies)|degrees?|°\s?[cf]?|watts?|kwh|volts?|amps?|calories|kcal|pounds?|lbs?"
    r"|ounces?"
    r"|oz|grams?|g|kg|kilograms?|kilos?|tonnes?|tons?|lit(?:er|re)s?|ml|cups?|tbsp|tsp|tablespoons?"
    r"|teaspoons?|gallons?|acres|hectares|hz|khz|mhz|ghz|pixels?|px|dpi|jahre\w*|monate\w*|wochen?"
    r"|tagen?|meter|grad|ans|mois|semaines?|jours?|años|meses|semanas|días|people|inhabitants"
    r"|einwohner|habitants|people|times|mal|fois|bits?)\b|°",
    re.IGNORECASE,
)
"""Units: where the results have nothing in one, a figure in it is a conversion or known to all."""

UNITS = {
    "c": r"°|temp|\bt?(?:min|max)\b|high|low|celsius|metric|degree|grad",
    "f": r"°|temp|\bt?(?:min|max)\b|high|low|fahrenheit|imperial|degree",
    "": r"°|temp|degree",
    "gr": r"°|temp|\bt?(?:min|max)\b|high|low|grad|celsius",
    "de": r"°|temp|high|low",
    "km": r"\bk?m\b|km|kilom|distan",
    "ki": r"\bk?m\b|km|kg|kilo|distan",
    "m/": r"m/s|_ms\b",
    "mi": r"mi\b|mile|distan",
    "m": r"\dm\b|\bm\b|met(?:er|re)|_m\b",
    "da": r"\bda(?:y|te)|\d ?d\b|\d{4}-\d\d|tag",
    "ni": r"night|check",
    "ye": r"year|\bage\b",
    "we": r"week|\d{4}-\d\d",
    "mo": r"month|\d{4}-\d\d",
    "ti": r"times|count|\bruns?\b|restart",
    "ta": r"tag|\d{4}-\d\d|datum",
    "wo": r"woche|\d{4}-\d\d",
    "ja": r"jahr",
    "kc": r"kcal|calor",
    "ca": r"kcal|calor",
    "kg": r"kg|weight|mass",
    "mm": r"mm",
    "pe": r"people|person",
}
"""By the first letters of a unit: how results show that they have figures in it."""

EXPLAINED = Expression(
    r"\bmeans\b|\bstands? for\b|\bbedeutet\b|\bsignifie\b|\bby the way\b|\bübrigens\b"
    r"|\b(?:sensible|reasonable|recommended|advised|considered|normally|nowadays|benchmark"
    r"|rule of thumb|faustregel|limit of many|at least|at most|mindestens"
    r"|höchstens|au moins|al menos|since (?:version|python|node|java)|deprecated|by default"
    r"|requires?"
    r"|perhaps|maybe|probably|likely|typical(?:ly)?|usually|comparison|compared|fun fact|in general"
    r"|vielleicht|wohl|üblicherweise|meist(?:ens)?|peut-être|souvent|quizás?|suelen?|normalmente"
    r"|expect an?|on top|allows?|last (?:\d|for)|guidelines?|experts?|scientists?|on earth"
    r"|in (?:most|many|some) (?:countries|cases))\b",
    re.IGNORECASE,
)
"""Ordinary knowledge, or advice."""


def anchored(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Is it a figure of what the results tell: by what it counts, by the words before it, by
    the name its line begins with? Of anything else everybody may know something."""
    if reading.leads(claim):
        return True
    if YEAR.fullmatch(claim.text):
        before = words_of(folded(words_before(claim, sentence)[-50:]))
        return any(map(reading.telling, before[-2:]))
    if EXPLAINED.search(around(claim, sentence)) or DEFINITION.match(around(claim, sentence)):
        return False
    unit = UNIT_AFTER.match(claim.text[-1:] + words_after(claim, sentence))
    measure = MEASURE.search(claim.text) or (unit and MEASURE.fullmatch(unit[1]))
    if measure and claim.kind == "number" and not measured(reading, measure[0]):
        return False
    if claim.kind == "number" and WEAK.fullmatch(claim.text.strip("-+−$€£¥° ")):
        return beside_known(reading, claim, sentence)
    if measure and claim.kind == "number":
        return True
    if len(re.sub(r"\D", "", claim.text).strip("0")) > 3:
        return True
    words = {each for each in words_of(folded(around(claim, sentence))) if each not in STOP}
    if claim.kind in {"size", "duration", "percent"} and any(map(reading.telling, words)):
        return True
    if claim.kind == "size" and reading.index.gives(KINDS_LACKING["size"]):
        return True
    near = words_of(folded(words_before(claim, sentence)[-40:]))[-3:]
    near += words_of(folded(words_after(claim, sentence)[:30]))[:2]
    return len(words) < 4 or any(map(reading.telling, near)) or specific(reading, claim, sentence)


def beside_known(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Is the very word before it or after it one of the results'?"""
    before = words_of(folded(words_before(claim, sentence)[-30:]))[-2:]
    after = words_of(folded(words_after(claim, sentence)[:30]))[:2]
    return any(map(reading.telling, (*before, *after)))


def specific(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Does the sentence speak of something the results name: by a capital, in quotes?"""
    if any(map(reading.telling, map(folded, SPECIFIC.compiled.findall(around(claim, sentence))))):
        return True
    return beside(reading, claim, sentence)


def beside(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Does another figure of the sentence stand in the results?"""
    text = around(claim, sentence).replace(claim.text, " ")
    return any(
        len(each) > 2 and reading.index.holds(each) for each in FIGURE.compiled.findall(text)
    )


def measured(reading: Reading, unit: str) -> bool:
    """Do the results tell of anything in this unit, by its name or by the beginning of it?"""
    name = folded(unit).strip("° ")
    plain = rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])"
    return singular(name) in reading.index.stems or reading.index.gives(UNITS.get(name[:2], plain))


def figured(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    before = words_before(claim, sentence)
    if ORDER.search(before):
        return False
    if in_marker(reading, claim):
        return False
    word = re.search(r"([A-Z][\w.+-]*)\s$", before)
    if word and word.start() and folded(word[1]) not in reading.index.given_words:
        return False
    digits = claim.text.strip()
    if re.fullmatch(r"(?:1[5-9]|20|21)\d\d", digits):
        return reading.index.gives(r"(?<![\d-])(?:1[5-9]|20|21)\d\d(?![\d])")
    return True


def in_marker(reading: Reading, claim: Claim) -> bool:
    """The number of a list item or of a heading, or a cell that numbers its row."""
    line = reading.prose[reading.prose.rfind("\n", 0, claim.start) + 1 : claim.start]
    after = reading.prose[claim.end : claim.end + 2]
    if not line.strip(" \t#>*_|(") and (
        after[:1] in {".", ")", ":"} or ("|" in line and "|" in after)
    ):
        return True
    return after[:1] == ")" and line.endswith("(") and len(claim.text) == 1
