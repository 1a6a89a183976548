"""Numbers, sizes and durations, read from text in whatever form they were written. Pure."""

import math
import re
from typing import NamedTuple

from andy_cli.agent.grounding.vocabulary import APPROXIMATE, NUMBER_WORDS
from andy_cli.compiler.expression import Expression

NUMBER = r"\d{1,3}(?:[,.'’\u00a0\u202f]\d{3}){1,6}(?:[.,]\d{1,12})?|\d{1,24}(?:[.,]\d{1,12})?"
FIGURE = Expression(rf"(?<![\w.])(?<!\d[:/-])(?:{NUMBER})(?![\w]|[.,:/-]\d)")
POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SCALES = {
    "thousand": 1e3, "k": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3,
    "million": 1e6, "millions": 1e6, "millionen": 1e6, "m": 1e6, "mio": 1e6, "millones": 1e6,
    "billion": 1e9, "billions": 1e9, "bn": 1e9, "milliarden": 1e9, "milliards": 1e9,
    "trillion": 1e12, "hundred": 1e2, "dozen": 12,
}  # fmt: skip

SECONDS = {"s": 1, "m": 60, "h": 3600}
UNIT = (
    r"(?:hours?|hrs?|h|stunden?|heures?|horas?|minutes?|mins?|min|m|minuten?|minutos?"
    r"|seconds?|secs?|s|sekunden?|secondes?|segundos?)"
)

LONG_UNIT = (
    r"(?:hours?|hrs?|h|stunden?|heures?|horas?|minutes?|mins?|minuten?|minutos?"
    r"|seconds?|secs?|s|sekunden?|secondes?|segundos?)"
)

SPELLED = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))


class Figure(NamedTuple):
    """A number and how exactly it was given: what it stands for is within `slack` of it."""

    value: float
    slack: float


def readings(text: str) -> list[Figure]:
    """What digits may mean: `1.234` is a thousand or little more than one."""
    plain = re.sub(r"['’\u00a0\u202f]", "", text)
    if plain.isdigit():
        return [Figure(float(plain), 0.5)]
    found: list[Figure] = []
    thousands = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain)
    if thousands:
        found.append(Figure(float(re.sub(r"[.,]", "", plain)), 0.5))
    head, _, tail = plain.replace(",", ".").rpartition(".")
    whole = head.replace(".", "")
    if tail.isdigit() and whole.isdigit() and not (thousands and "." in head):
        found.append(Figure(float(f"{whole}.{tail}"), 0.5 * 10 ** -len(tail)))
    return found


def spelled(word: str) -> int | None:
    """`three`, `drei`, `twenty-one`; None for any other word."""
    first, _, second = word.casefold().replace(" ", "-").partition("-")
    if first not in NUMBER_WORDS:
        return None
    return NUMBER_WORDS[first] + (NUMBER_WORDS.get(second, 0) if second else 0)


def approximate(before: str) -> bool:
    """Do the words before a figure say that it is meant roughly?"""
    return APPROXIMATE.search(before[-24:]) is not None


def loosened(figure: Figure, before: str) -> Figure:
    """The figure with the room that `about`, `over` or `almost` before it gives."""
    match = APPROXIMATE.search(before[-24:])
    if not match:
        return figure
    room = room_of(figure.value)
    if match["above"]:
        return Figure(figure.value + room, max(room, figure.slack))
    if match["below"]:
        return Figure(figure.value - room, max(room, figure.slack))
    return Figure(figure.value, max(figure.slack, room))


def room_of(value: float) -> float:
    """How far a figure that is meant roughly may be from the truth: `350` further than `355`."""
    if not value:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    while unit > 1e-6 and abs(value / unit - round(value / unit)) > 1e-9:
        unit /= 10
    return max(min(0.6 * unit, abs(value) * 0.12), abs(value) * 0.015)


SIZE = Expression(
    rf"(?<![\w.,])(?P<number>{NUMBER})(?:\s|-|\u00a0)?"
    r"(?P<unit>[kmgt]i?b|[kmgt]o|b|bytes?|octets?|(?:kilo|mega|giga|tera)(?:byte|octet)s?)\b"
    r"(?!/s|ps)",
    re.IGNORECASE,
)

SHORT_SIZE = Expression(r"(?<![\w.,])(\d+(?:[.,]\d+)?)([kmgt]i?)(?![\w])", re.IGNORECASE)


def sizes(number: str, unit: str) -> list[Figure]:
    """Bytes, by thousands and by 1024s."""
    power = POWERS.get(unit[0].lower(), 0)
    if unit.lower().startswith(("byte", "octet")):
        power = 0
    return [
        Figure(each.value * base**power, each.slack * base**power)
        for each in readings(number)
        for base in ((1000, 1024) if power else (1,))
    ]


DURATION = Expression(
    rf"(?<![\w.,:])(?P<first>{NUMBER}|{SPELLED})(?:\s|-|\u00a0)?(?P<unit>{LONG_UNIT})\b"
    rf"(?P<rest>(?:,?\s(?:and\s|und\s|et\s|y\s)?|\s?)(?:\d+)(?:\s|-)?{UNIT}\b){{0,2}}"
    rf"|(?<![\w.,:])\d+[hm]\s?\d+(?:[ms]|min)?\b(?:\s?\d+s\b)?",
    re.IGNORECASE,
)

PIECE = Expression(rf"({NUMBER}|{SPELLED})(?:\s|-)?({UNIT})(?![^\W\d_])", re.IGNORECASE)
COMPACT = Expression(r"(\d+)([hm])\s?(\d+)$", re.IGNORECASE)
CLOCK = Expression(r"(\d{1,3}):(\d\d)(?::(\d\d))?")


def durations(text: str) -> list[Figure]:
    """Seconds: `3 min 45 s`, `1h20`, `an hour` not."""
    if match := COMPACT.fullmatch(text):
        large = SECONDS[match[2].lower()]
        return [Figure(int(match[1]) * large + int(match[3]) * large / 60, large / 120)]
    total, slack = 0.0, 0.0
    for match in PIECE.finditer(text):
        number, unit = match[1], unit_seconds(match[2])
        word = spelled(number)
        figures = readings(number) if word is None else [Figure(word, 0.5)]
        if not figures:
            return []
        total += figures[0].value * unit
        slack = figures[0].slack * unit
    return [Figure(total, slack)] if slack else []


def unit_seconds(unit: str) -> int:
    return (
        3600
        if unit[0].lower() == "h" or unit.lower().startswith("st")
        else SECONDS[unit[0].lower()]
    )


def clock_seconds(text: str) -> list[float]:
    """What `3:45` and `1:02:03` are as durations; minutes with seconds, or hours with minutes."""
    match = CLOCK.match(text)
    if not match:
        return []
    first, second = int(match[1]), int(match[2])
    if match[3]:
        return [first * 3600 + second * 60 + int(match[3])]
    return [first * 60 + second, first * 3600 + second * 60]
