"""Numbers, sizes, durations, dates and times of day, read from text in whatever form. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date
from typing import NamedTuple

from andy_cli.agent.grounding.text.vocabulary import MONTHS, NUMBER_WORDS
from andy_cli.compiler.expression import Expression

BEGINNING = "|".join(sorted({name[:3] for name in MONTHS}))
"""Looked for first: that is far quicker than to try every name at every word."""

MONTH = f"(?={BEGINNING})(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
SPAN = (
    r"(?:\s?(?:[-–—]|to|bis|until|and|und)\s?(?P<{}>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?![\d:]|[.,]\d|\s+[a-z]+s\b))?"
)

DATE = Expression(
    r"(?:(?P<y8>\d{4})年)?(?P<m8>\d{1,2})月(?P<d8>\d{1,2})[日号]"
    r"|(?<![\d.])(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})(?!\d)"
    r"|(?<![\d.])(?P<a2>\d{1,2})(?P<sign>[./-])(?P<b2>\d{1,2})(?P=sign)(?P<y2>\d{4}|\d\d)(?![\d])"
    r"|(?<![\d.])(?P<d6>\d{1,2})\.(?P<m6>\d{1,2})\.(?!\d)"
    r"|(?<![\w.:])(?P<d3>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
    + SPAN.format("e3")
    + rf"\.?[\s-]+(?:of\s|de\s)?(?P<m3>{MONTH})\b\.?(?:,?[\s-]+(?:de\s|of\s)?(?P<y3>\d{{4}}))?"
    rf"|\b(?P<m4>{MONTH})\b\.?\s+(?:the\s)?(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])"
    + SPAN.format("e4")
    + r"(?:(?:,\s?|\s+)(?P<y4>\d{4})(?![\d:]))?"
    r"|(?<![\d-])(?P<y7>(?:19|20)\d\d)-(?P<m7>0[1-9]|1[0-2])(?![\d-])"
    rf"|\b(?P<m5>{MONTH})\b\.?(?:\s+de|\s+of)?,?\s+(?P<y5>\d{{4}})(?!\d)",
    re.IGNORECASE,
)

DAY_OF_YEAR = Expression(r"(?<![\d-])(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
"""A birthday: `04-22`."""

EPOCH = Expression(r"(?<![\d.])1[5-9]\d{8}(?:\d{3})?(?![\d.])")


class PartialDate(NamedTuple):
    """A date as far as it was written: 0 where the year or the day was left out."""

    year: int
    month: int
    day: int


NUMERIC_FORMS = "8176"
"""Alternatives of DATE that are written in figures alone, with their order of parts known."""


def read_date(match: re.Match[str]) -> list[list[PartialDate]]:
    """Read one match of DATE; each of its meanings is one day, or the first and last of a span."""
    groups = match.groupdict()
    if groups["a2"]:
        first, second, year = int(groups["a2"]), int(groups["b2"]), complete_year(int(groups["y2"]))
        # With dots the day stands first; with another sign nobody knows.
        european, american = PartialDate(year, second, first), PartialDate(year, first, second)
        return [[european]] if groups["sign"] == "." else [[european], [american]]
    for form_number in NUMERIC_FORMS:
        if groups[f"m{form_number}"]:
            year, month, day = (int(groups.get(f"{unit}{form_number}") or 0) for unit in "ymd")
            return [[PartialDate(year, month, day)]]
    return [read_named_month(groups)]


def read_named_month(groups: Mapping[str, str | None]) -> list[PartialDate]:
    """Read a day, the ends of a span of days, or a month as a whole."""
    form_number = next(number for number in "345" if groups[f"m{number}"])
    name = groups[f"m{form_number}"] or ""
    year, month = int(groups[f"y{form_number}"] or 0), MONTHS[name.casefold()]
    if form_number == "5":
        return [PartialDate(year, month, 0)]
    span_days = [groups[f"d{form_number}"], groups[f"e{form_number}"]]
    return [PartialDate(year, month, int(day)) for day in span_days if day]


def complete_year(year: int) -> int:
    return year if year > 99 else 2000 + year


def list_days(match: re.Match[str]) -> list[PartialDate]:
    """List the days of a match of DATE in all its meanings."""
    return [day for meaning in read_date(match) for day in meaning]


def find_written_days(text: str) -> Iterator[PartialDate]:
    for match in DATE.finditer(text):
        yield from list_days(match)


def is_possible(day: PartialDate) -> bool:
    return 1 <= day.month <= 12 and 0 <= day.day <= 31


def find_dates(text: str) -> Iterator[PartialDate]:
    """Find every date that a text names, in all its readings."""
    yield from filter(is_possible, find_written_days(text))
    for match in DAY_OF_YEAR.finditer(text):
        yield PartialDate(0, int(match[1]), int(match[2]))
    for match in EPOCH.finditer(text):
        seconds = int(match[0][:10])
        day = date.fromordinal(719163 + seconds // 86400)
        yield PartialDate(day.year, day.month, day.day)


DATED = Expression(
    r"(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|\d{1,4}[-/.]\d{1,2}(?:[-/.](?:\d{1,4})?)?|1[5-9]\d{8}(?:\d{3})?"
)


def find_date_pieces(text: str, words: Set[str]) -> set[str]:
    """Find the pieces of a folded text that may be dates, each once: much less to read. `words`
    are those of the text."""
    date_pieces = set()
    for match in DATED.finditer(text):
        start, end = match.span()
        # With one sign on either side, by which figures of other kinds are told apart.
        date_pieces.add(text[max(0, start - 1) : end + 1])
    for name in MONTHS.keys() & words:
        start = text.find(name)
        while start >= 0:
            date_pieces.add(text[max(0, start - 20) : start + len(name) + 22])
            start = text.find(name, start + 1)
    return date_pieces


ZONE = (
    r"(?:\s?(?:utc|gmt|cest|cet|bst|est|edt|cst|cdt|mst|mdt|pst|pdt|jst|ist|eest"
    r"|eet|msk|z|(?(s1)[+-]\d\d:?\d\d|z))\b)?"
)

NO_MINUTES = r"(?!\w|\s?min)"
"""Behind the figures of `6 h 45`: `1 h 21 min` is no time of day."""
HALF = r"(?:\s?(?P<half{}>[ap])\.?\s?m\b\.?)"
TIME = Expression(
    r"(?<![\d:.,])(?:(?P<from>\d{1,2})(?P<from_minutes>:\d\d)?(?:\s?[-–—]\s?|\sto\s"
    r"|\sand\s)(?=\d{1,2}(?::\d\d)?\s?[ap]\.?m))?"
    rf"(?:(?P<h1>\d{{1,2}}):(?P<n1>\d\d)(?::(?P<s1>\d\d)(?:\.\d+)?)?{HALF.format(1)}?{ZONE}"
    rf"|(?P<h2>\d{{1,2}}){HALF.format(2)}"
    r"|(?P<h3>\d{1,2})(?:[.:](?P<n3>\d\d))?\s?uhr\b"
    rf"|(?P<h4>\d{{1,2}})(?:h|\sh\s)(?P<n4>[0-5]\d){NO_MINUTES}"
    r"|(?P<h5>\d{1,2})\s(?:heures|o'clock|o’clock)\b"
    rf"|(?P<h6>\d{{1,2}})\.(?P<n6>\d\d){HALF.format(6)}"
    r"|(?P<h7>\d{1,2})(?:[時时点點]|\s?h(?![a-z\d]| ?\d+ ?min)|\s?часов|\s?часа|\s?बजे)"
    r"(?:(?P<n7>\d{1,2}|半)分?)?)(?!\d|:\d)",
    re.IGNORECASE,
)


def read_time(match: re.Match[str]) -> list[list[int]]:
    """Read a match of TIME as minutes since midnight; one list of meanings for each end of a
    span."""
    groups = match.groupdict()
    form_number = next(form_number for form_number in "1234567" if groups.get(f"h{form_number}"))
    minute = read_minute(groups.get(f"n{form_number}"))
    day_half = (groups.get(f"half{form_number}") or "").casefold()
    times = list_hours(int(groups[f"h{form_number}"]), minute, day_half, form_number in "157")
    if int(groups["s1"] or 0) >= 30:
        times += [(time + 1) % 1440 for time in times]
    return [times, read_span_start(groups)] if groups["from"] else [times]


def read_minute(text: str | None) -> int:
    return 30 if text == "半" else int(text or 0)


def read_span_start(groups: Mapping[str, str | None]) -> list[int]:
    hour, minute = int(groups["from"] or 0), int((groups["from_minutes"] or ":0")[1:])
    return [time for day_half in "ap" for time in list_hours(hour, minute, day_half, loose=False)]


def list_hours(hour: int, minute: int, day_half: str, loose: bool) -> list[int]:
    """List what an hour may mean; a `loose` one may also be of the afternoon."""
    if hour > 24 or minute > 59:
        return []
    if day_half:
        return [(hour % 12 + (12 if day_half == "p" else 0)) * 60 + minute]
    times = [hour % 24 * 60 + minute]
    if loose and 1 <= hour < 12:
        times.append((hour + 12) * 60 + minute)
    return times


def list_times(match: re.Match[str]) -> list[int]:
    """List the times of a match of TIME in all its meanings."""
    return [time for end in read_time(match) for time in end]


def find_times(text: str) -> Iterator[int]:
    for match in TIME.finditer(text):
        yield from list_times(match)


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
        large_unit = 3600 if match[2].lower() == "h" else 60
        small_unit = large_unit / 60
        seconds = int(match[1]) * large_unit + int(match[3]) * small_unit
        return [Quantity(seconds, small_unit / 2)]
    total, slack = 0.0, 0.0
    for match in PIECE.finditer(text):
        unit = _count_seconds(match)
        readings = read_number(match[1])
        if not readings:
            return []
        total += readings[0].value * unit
        slack = readings[0].slack * unit
    return [Quantity(total, slack)] if slack else []


def _count_seconds(piece: re.Match[str]) -> int:
    """Count the seconds of the unit that a piece is told in."""
    if piece["h"]:
        return 3600
    return 60 if piece["m"] else 1


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
