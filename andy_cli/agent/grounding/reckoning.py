"""Does the evidence hold what an answer asserts, as it is or worked out? Pure."""

import re

from andy_cli.agent.grounding.anchors import FIGURES
from andy_cli.agent.grounding.arithmetic import (
    MANY,
    RECKONED,
    SHARE,
    SUMMED,
    follows,
    rounding,
    sums_up,
)
from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.counts import count_holds, some_hold
from andy_cli.agent.grounding.folding import folded
from andy_cli.agent.grounding.layout import Sentence
from andy_cli.agent.grounding.presence import has_day, has_figure
from andy_cli.agent.grounding.quantities import FIGURE, Figure, approximate, readings
from andy_cli.agent.grounding.reading import Reading, around, words_after, words_before
from andy_cli.agent.grounding.support import derived_holds, holds

STRETCH = re.compile(r"\b(?:from|von|de|desde)(?: \S+ (?:to|auf|à|a))?\s$", re.IGNORECASE)
"""The ends of what a figure went through were read, whatever was worked out of them."""
MOST = 60
"""So many figures are worked out again, no more: an endless answer costs but its length."""
PRECISE = re.compile(r"\d[.,]\d\d\b|\d\d[.,]\d|\d{4}|\d[.,]\d{3}")


def given(reading: Reading, claim: Claim) -> bool:
    """Does it stand in the evidence as it is? That settles most, and is quick to see."""
    if claim.kind in {"file", "path", "address"}:
        # Those may be the end of another name.
        return False
    text = folded(claim.text)
    if claim.kind in {"number", "percent"}:
        text = text.strip("-+−$€£¥ ")
        return has_figure(reading.index.text, text) if text[:1].isdigit() else False
    if claim.kind in {"date", "time"} and text[0].isdigit() and text[-1].isdigit():
        return has_day(reading.index.text, text)
    if claim.kind == "size" and text.endswith(("byte", "bytes")):
        text = text.split()[0]
        return has_figure(reading.index.text, text) or has_figure(
            reading.index.text, text.replace(",", "")
        )
    return reading.index.holds(text)


def held(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    before = words_before(claim, sentence)
    after = words_after(claim, sentence)
    word = re.search(r"\w\s([A-Z][\w.-]+)\s$", before)
    if claim.kind == "number" and word and claim.text.isdigit():
        # `Room 204` is a name: where rooms have numbers it must be this one.
        name = re.escape(folded(word[1]))
        if f"{folded(word[1])} " in reading.index.given and reading.index.gives(rf"\b{name} \d"):
            return reading.index.says(folded(f"{word[1]} {claim.text}"))
    if claim.kind != "count":
        if holds(claim, before, reading.index) or reckoned(reading, claim, sentence):
            return True
        return claim.kind == "number" and some_hold(claim.text, after, reading.index)
    return count_holds(claim.text, before, after, reading.following(claim.end), reading.index)


def reckoned(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    """Was it worked out, and can it have been?"""
    if claim.kind == "number" and derived_holds(claim.text, reading.index.totals):
        return True
    precise = claim.kind == "number" and PRECISE.search(claim.text)
    if precise and derived_holds(claim.text, reading.index.derived):
        return True
    if claim.kind not in FIGURES or not worked_out(reading, claim, sentence):
        return False
    if claim.kind == "number" and derived_holds(claim.text, reading.index.derived):
        return True
    digits = FIGURE.search(claim.text.lstrip("-+−$€£¥ "))
    values = reading.index.ingredients
    reading.index.reckonings += 1
    if not digits or len(values) > MANY or reading.index.reckonings > MOST:
        return digits is not None
    before = words_before(claim, sentence)
    room = rounding(digits[0]) if approximate(before) else 0.0
    asked = [Figure(each.value, max(each.slack, room)) for each in readings(digits[0])]
    if SUMMED.search(before[-14:]) and claim.kind != "percent":
        return any(sums_up(each, values) for each in asked)
    return follows(asked, values)


def worked_out(reading: Reading, claim: Claim, sentence: Sentence) -> bool:
    after = re.split(r"[,;:(]\s", words_after(claim, sentence)[:40])[0]
    said = f"{words_before(claim, sentence)}{claim.text}{after}"
    if STRETCH.search(words_before(claim, sentence)):
        return False
    if RECKONED.search(said) or SHARE.search(f"{words_before(claim, sentence)}{claim.text}"):
        return True
    mine = {
        float(each.value) for text in FIGURE.compiled.findall(claim.text) for each in readings(text)
    }
    stated = FIGURE.compiled.findall(around(claim, sentence))
    if any(
        each.value in reading.index.asked and each.value not in mine
        for text in stated
        for each in readings(text)
    ):
        return True
    aside = claim.kind == "percent" and words_before(claim, sentence).endswith("(")
    return aside and not reading.index.gives(r"\d ?%")
