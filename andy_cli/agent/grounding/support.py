"""Does the evidence hold a claim? One question for each kind. Pure."""

import re
from collections.abc import Callable

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.dates import DATE, TIME, Day, days, times
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.line import Line
from andy_cli.agent.grounding.places import (
    address_holds,
    file_holds,
    id_holds,
    path_holds,
    url_holds,
    version_holds,
)
from andy_cli.agent.grounding.quantities import (
    FIGURE,
    SCALES,
    SIZE,
    Figure,
    clock_seconds,
    durations,
    loosened,
    readings,
    sizes,
)
from andy_cli.agent.grounding.shapes import PLAIN_NUMBER
from andy_cli.agent.grounding.vocabulary import STOP, WEEKDAYS

CONVERSIONS: dict[str, tuple[Callable[[float], float], ...]] = {
    "c": (lambda value: value * 9 / 5 + 32,),
    "f": (lambda value: (value - 32) * 5 / 9,),
    "km/h": (lambda value: value / 3.6, lambda value: value / 1.609344),
    "km": (lambda value: value / 1.609344,),
    "miles": (lambda value: value * 1.609344,),
    "mph": (lambda value: value * 1.609344, lambda value: value / 2.236936),
    "m/s": (lambda value: value * 3.6,),
}
"""What a figure in this unit may have been before it was converted."""


def subject_holds(text: str, before: str, index: Index) -> bool:
    pieces = [each for each in re.split(r"\.\.\.|…|\[[^\]]*\]", folded(text)) if each.strip()]
    if all(map(index.says, pieces)):
        return True
    telling = [each for each in words_of(folded(text)) if each not in STOP]
    return len(telling) > 2 and all(each in index.words for each in telling)


def date_holds(text: str, before: str, index: Index) -> bool:
    match = DATE.match(text)
    if not match:
        return True
    return any(all(day_known(day, index) for day in each) for each in days(match))


def day_known(day: Day, index: Index) -> bool:
    if not day.day:
        return any(day[:2] == each[:2] for each in index.days) or (
            str(day.year) in index.words and any(each.month == day.month for each in index.days)
        )
    if day in index.days:
        return True
    if (day.month, day.day) not in index.day_numbers:
        return False
    years = {each.year for each in index.days if each[1:] == day[1:]}
    return not day.year or 0 in years


AT = re.compile(r"\b(?:at|from|um|ab|a las|à|until|till|by|bis|vers)\s*$", re.IGNORECASE)
"""A time of day follows, no duration."""

LATER = re.compile(
    r"\b(?:delay\w*|plus|late|later|early|earlier|expect\w*|until|ends?|done by|ready)\b", re.I
)


def time_holds(text: str, before: str, index: Index) -> bool:
    match = TIME.match(text)
    if not match:
        return True
    ends = times(match)
    if all(any(each.minutes in index.minutes for each in end) for end in ends):
        return True
    if not AT.search(before) and any(
        index.seconds.near(Figure(each, 0.5)) for each in clock_seconds(text)
    ):
        return True
    if "* *" in index.given and all(
        any(index.holds(f"{each.minutes % 60} {each.minutes // 60} *") for each in end)
        for end in ends
    ):
        # A line of a crontab: minute, then hour.
        return True
    if LATER.search(before) and all(
        any(
            abs(each.minutes - other) in index.numbers.values
            for each in end
            for other in index.minutes
        )
        for end in ends
    ):
        return True
    return all(
        any(
            each.offset is not None and (each.minutes - each.offset) % 1440 in index.instants
            for each in end
        )
        for end in ends
    )


def weekday_holds(text: str, before: str, index: Index) -> bool:
    name = folded(text)
    number = WEEKDAYS.get(name, WEEKDAYS.get(name.removesuffix("s")))
    named = {WEEKDAYS[each] for each in index.words if each in WEEKDAYS and len(each) > 2}
    known = named | index.weekdays
    return number is None or not known or number in known


def size_holds(text: str, before: str, index: Index) -> bool:
    match = SIZE.match(text)
    if not match:
        return True
    asked = [loosened(each, before) for each in sizes(match["number"], match["unit"])]
    if any(index.bytes.near(each) or index.derived.near(each) for each in asked):
        return True
    units = [1000**power for power, letter in enumerate("kmgt", 1) if unit_named(letter, index)]
    units += [1024**power for power, letter in enumerate("kmgt", 1) if unit_named(letter, index)]
    return index.has(
        Figure(each.value / unit, each.slack / unit) for unit in units for each in asked
    )


def unit_named(letter: str, index: Index) -> bool:
    """Does a key or a heading say that figures are in this unit: `total_gb`?"""
    return index.gives(rf"[^a-z\d]{letter}i?b(?![a-z])")


def duration_holds(text: str, before: str, index: Index) -> bool:
    exact = durations(text)
    asked = [loosened(each, before) for each in exact]
    # Seconds that are left out may have been cut off as well as rounded.
    wide = [Figure(each.value + each.slack, 2 * each.slack) for each in exact if each.slack >= 30]
    return not asked or any(index.seconds.near(each) for each in [*asked, *wide])


def percent_holds(text: str, before: str, index: Index) -> bool:
    digits = FIGURE.search(text.lstrip("-+−"))
    if not digits:
        return True
    exact = readings(digits[0])
    near = (loosened(each, before) for each in exact)
    asked = [*exact, *(Figure(each.value, min(each.slack, 2.5)) for each in near)]
    if any(map(index.numbers.near, asked)):
        return True
    if any(index.numbers.near(Figure(each.value / 100, each.slack / 100)) for each in asked):
        return True
    if index.gives(r"\d ?%"):
        return False
    return any(index.percents.near(each) for each in asked)


def number_holds(text: str, before: str, index: Index) -> bool:
    match = PLAIN_NUMBER.match(text)
    if not match:
        return True
    scale = SCALES.get((match["scale"] or "").strip().casefold(), 1)
    asked = [
        loosened(Figure(each.value * scale, each.slack * scale), before)
        for each in readings(match["number"])
    ]
    whole = match["number"]
    if (
        whole.isdigit()
        and f"{whole}." in index.given
        and index.gives(rf"(?<![\d.]){match['number']}\.\d+\.\d")
    ):
        # The first part of a version.
        return True
    if any(map(index.numbers.near, asked)):
        return True
    if scale == 1 and len(match["number"]) > 2 and index.holds(match["number"]):
        return True
    if any(float(each.value) in index.lengths for each in asked):
        return True
    unit = (match["after"] or "").strip()
    if unit.startswith("°"):
        asked = []
    if re.search(
        r"\b(?:year|annual\w*|yearly|jahr|jährlich|par an|al año)\b", before, re.IGNORECASE
    ):
        asked += [Figure(each.value / 12, each.slack / 12) for each in asked]
    ways = CONVERSIONS.get(unit.strip("° ").casefold(), ())
    if ways and unit[0] != "°" and not index.gives(r"mile|mph|\bmi\b|m/s|_ms\b|km/?h|kph"):
        ways = ()
    plain = readings(match["number"])
    return any(
        map(
            index.numbers.near,
            [*asked, *(Figure(way(each.value), 0.6) for way in ways for each in plain)],
        )
    )


def derived_holds(text: str, line: Line) -> bool:
    """Is it one of these figures, which follow from what the results list?"""
    match = PLAIN_NUMBER.match(text)
    if not match or "°" in (match["after"] or ""):
        return False
    scale = SCALES.get((match["scale"] or "").strip().casefold(), 1)
    asked = (Figure(each.value * scale, each.slack * scale) for each in readings(match["number"]))
    return any(map(line.near, asked))


HOLDS: dict[str, Callable[[str, str, Index], bool]] = {
    "file": file_holds,
    "path": path_holds,
    "url": url_holds,
    "address": address_holds,
    "id": id_holds,
    "version": version_holds,
    "subject": subject_holds,
    "title": subject_holds,
    "date": date_holds,
    "time": time_holds,
    "weekday": weekday_holds,
    "size": size_holds,
    "duration": duration_holds,
    "percent": percent_holds,
    "number": number_holds,
}
"""By kind: the text of a claim and the words of its sentence before it."""

VERBATIM = frozenset(["date", "time", "duration", "size", "percent"])
"""Kinds that hold when they were given in the same words: much the quickest to see."""


def holds(claim: Claim, before: str, index: Index) -> bool:
    if (claim.kind in VERBATIM or claim.text[-1:].isalpha()) and index.holds(folded(claim.text)):
        return True
    return HOLDS[claim.kind](claim.text, before, index)
