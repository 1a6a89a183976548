"""Numbers, sizes and durations, read from text in whatever form they were written. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from andy_cli.agent.grounding.text.vocabulary import NUMBER_WORDS
from andy_cli.compiler.expression import Expression

NUMBER = (
    r"\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3}){1,6}(?![\d])(?:[.,]\d{1,12})?|\d{1,24}(?:[.,]\d{1,12})?"
)
FIGURE = Expression(rf"(?<![a-z_\d.])(?<!\d[:/-])(?:{NUMBER})(?![a-z_]|[.,:/-]\d)")
POWERS = {"b": 0, "o": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SCALES = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3, "тыс": 1e3, "千": 1e3,
    "万": 1e4, "million": 1e6, "millions": 1e6, "millionen": 1e6, "mio": 1e6, "millones": 1e6,
    "m": 1e6, "млн": 1e6, "亿": 1e8, "億": 1e8, "billion": 1e9, "bn": 1e9, "milliarden": 1e9,
}  # fmt: skip
HOURS = r"hours?|hrs?|h|stunden?|std|heures?|horas?|ore|ora|час\w*|ч|小时|時間|घंटे|ساعات?"
MINUTES = r"minutes?|mins?|min|minuten?|minutos?|minuti|минут\w*|мин|分钟|分間|分|मिनट|دقيقة|دقائق"
SECONDS = r"seconds?|secs?|s|sekunden?|sek|secondes?|segundos?|secondi|секунд\w*|сек|秒間|秒|सेकंड"
UNITS_OF_TIME = f"{HOURS}|{MINUTES}|{SECONDS}"
UNIT = rf"(?:(?P<h>{HOURS})|(?P<m>{MINUTES})|(?P<s>{SECONDS}))(?![a-zа-я])"
PIECE = Expression(rf"({NUMBER})(?:\s|-)?{UNIT}", re.I)
DURATION = Expression(
    r"(?<![\w.,:])\d{1,3}\sh\s[0-5]\d(?!\w|\s?min)"
    rf"|(?<![\w.,:])(?:(?:{NUMBER})(?:\s|-)?(?:{HOURS}|{MINUTES}|{SECONDS})(?![a-zа-я])"
    r"(?:,?\s?(?:and|und|et|y|e|и)?\s?(?=\d))?){1,3}|(?<![\w.,:])\d+[hm]\s?\d+(?![\w])",
    re.I,
)
COMPACT = Expression(r"(\d+)\s?([hm])\s?(\d+)$", re.I)
CLOCK = Expression(r"(?<![\d:])(\d{1,3}):(\d\d)(?::(\d\d))?(?![\d:])")
SIZE = Expression(
    rf"(?<![\w.,])(?P<number>{NUMBER})(?:\s|-|\u00a0)?"
    r"(?P<unit>[kmgt]i?[bo]|b|bytes?|octets?|байт\w*|(?:kilo|mega|giga|tera)(?:byte|octet)s?"
    r"|[кмгт]б|[kmgt])(?![\w/]|ps)",
    re.I,
)
CYRILLIC = str.maketrans("кмгтб", "kmgtb")


SEPARATORS = str.maketrans("", "", "'’\u00a0\u202f ")


THOUSANDS = Expression(r"\d{1,3}(?:[.,]\d{3})+")


ANY_NUMBER = Expression(NUMBER)


class Quantity(NamedTuple):
    """A number and how exactly it was given: what it stands for is within `slack` of it."""

    value: float
    slack: float


class NumberLine:
    """Numbers in order, to be asked which lies near."""

    def __init__(self, values: Iterable[float]) -> None:
        self.values = sorted(values)

    def has_near(self, quantity: Quantity) -> bool:
        """Tell whether one of the numbers may be meant."""
        position = bisect_left(self.values, quantity.value - quantity.slack * 1.0001)
        if position == len(self.values):
            return False
        return self.values[position] <= quantity.value + quantity.slack * 1.0001


def read_number(text: str) -> list[Quantity]:
    """Read digits in all their meanings: `1.234` is a thousand or little more than one."""
    plain = text.translate(SEPARATORS)
    if plain.isdigit():
        return [read_whole_number(plain)]
    readings: list[Quantity] = []
    thousands = THOUSANDS.fullmatch(plain)
    if thousands:
        readings.append(read_whole_number(plain.replace(".", "").replace(",", "")))
    integer_part, _, fraction = plain.replace(",", ".").rpartition(".")
    whole_digits = integer_part.replace(".", "")
    if fraction.isdigit() and whole_digits.isdigit() and not (thousands and "." in integer_part):
        readings.append(Quantity(float(f"{whole_digits}.{fraction}"), 0.5 * 10 ** -len(fraction)))
    return readings


def find_numbers(text: str) -> Iterator[Quantity]:
    for number in ANY_NUMBER.compiled.findall(text):
        yield from read_number(number)


def read_whole_number(digits: str) -> Quantity:
    """Read a whole number; a round one may be meant roughly: `350` within 5, `2000` within 500."""
    zeros = len(digits) - len(digits.rstrip("0")) if len(digits) > 2 else 0
    return Quantity(float(digits), 0.5 * 10.0 ** min(zeros, len(digits) - 1))


def read_number_word(word: str) -> int | None:
    """Read `three`, `drei`, `twenty-one`; None for any other word."""
    first, _, second = word.casefold().replace(" ", "-").partition("-")
    if first not in NUMBER_WORDS:
        return None
    return NUMBER_WORDS[first] + (NUMBER_WORDS.get(second, 0) if second else 0)


def read_size(number: str, unit: str) -> list[Quantity]:
    """Read bytes, by thousands and by 1024s."""
    unit = unit.casefold().translate(CYRILLIC)
    power = 0 if unit.startswith(("byte", "octet", "ba")) else POWERS.get(unit[0], 0)
    unit_bases = (1000, 1024) if power else (1,)
    return [
        Quantity(value * unit_base**power, slack * unit_base**power)
        for value, slack in read_number(number)
        for unit_base in unit_bases
    ]


def read_duration(text: str) -> list[Quantity]:
    """Read seconds: `3 min 45 s`, `1h20`."""
    if match := COMPACT.fullmatch(text.strip()):
        large = 3600 if match[2].lower() == "h" else 60
        return [Quantity(int(match[1]) * large + int(match[3]) * large / 60, large / 120)]
    total, slack = 0.0, 0.0
    for match in PIECE.finditer(text):
        unit = 3600 if match["h"] else 60 if match["m"] else 1
        readings = read_number(match[1])
        if not readings:
            return []
        total += readings[0].value * unit
        slack = readings[0].slack * unit
    return [Quantity(total, slack)] if slack else []


def read_clock_seconds(text: str) -> list[float]:
    """Read `3:45` and `1:02:03` as durations: minutes with seconds, or hours with minutes."""
    match = CLOCK.match(text)
    if not match:
        return []
    first, second = int(match[1]), int(match[2])
    if match[3]:
        return [first * 3600 + second * 60 + int(match[3])]
    return [first * 60 + second, first * 3600 + second * 60]


def read_quantity(text: str) -> float | None:
    """Read the one figure in a short text: bytes or seconds where it has such a unit."""
    if match := SIZE.fullmatch(text.strip()):
        return next((size.value for size in read_size(match["number"], match["unit"])), None)
    if seconds := read_clock_seconds(text.strip()):
        return seconds[0]
    digits = FIGURE.compiled.findall(text)
    if len(digits) == 1 and (readings := read_number(digits[0])):
        return readings[0].value
    return None
