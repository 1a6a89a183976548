"""Dates and times of day, read from text in whatever form they were written. Pure."""

import re
from collections.abc import Iterator, Mapping, Set
from datetime import date
from typing import NamedTuple

from andy_cli.agent.grounding.text.vocabulary import MONTHS, WEEKDAYS
from andy_cli.compiler.expression import Expression

BEGINNING = "|".join(sorted({name[:3] for name in MONTHS}))
"""Looked for first: that is far quicker than to try every name at every word."""

MONTH = f"(?={BEGINNING})(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
WEEKDAY = "|".join(sorted((name for name in WEEKDAYS if len(name) > 4), key=len, reverse=True))
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
        european, american = PartialDate(year, second, first), PartialDate(year, first, second)
        return [[european]] if groups["sign"] == "." else [[european], [american]]
    for form_number in NUMERIC_FORMS:
        if groups[f"m{form_number}"]:
            year, month, day = (int(groups.get(f"{unit}{form_number}") or 0) for unit in "ymd")
            return [[PartialDate(year, month, day)]]
    return [read_named_month(groups)]


def read_named_month(groups: Mapping[str, str | None]) -> list[PartialDate]:
    """Read a day, the ends of a span of days, or a month as a whole."""
    form_number, name = next(
        (form_number, name) for form_number in "345" if (name := groups[f"m{form_number}"])
    )
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


def find_weekday(day: PartialDate) -> int | None:
    """Count from 0 for a Monday; None when the date is not complete or does not exist."""
    try:
        return date(*day).weekday()
    except ValueError:
        return None


ZONES = {
    "z": 0, "utc": 0, "gmt": 0, "cet": 60, "cest": 120, "bst": 60, "est": -300, "edt": -240,
    "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "jst": 540,
    "ist": 330, "eet": 120, "eest": 180, "msk": 180,
}  # fmt: skip

ZONE = (
    r"(?:\s?(?P<zone>utc|gmt|cest|cet|bst|est|edt|cst|cdt|mst|mdt|pst|pdt|jst|ist|eest"
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


class ClockTime(NamedTuple):
    """Minutes since midnight; `offset` is its zone in minutes east of Greenwich, if named."""

    minutes: int
    offset: int | None = None


def read_time(match: re.Match[str]) -> list[list[ClockTime]]:
    """Read a match of TIME; one list of meanings for each end of a span."""
    groups = match.groupdict()
    form_number = next(form_number for form_number in "1234567" if groups.get(f"h{form_number}"))
    minute = read_minute(groups.get(f"n{form_number}"))
    day_half = (groups.get(f"half{form_number}") or "").casefold()
    offset = read_offset(groups["zone"])
    times = list_hours(
        int(groups[f"h{form_number}"]), minute, day_half, offset, form_number in "157"
    )
    if int(groups["s1"] or 0) >= 30:
        times += [ClockTime((time.minutes + 1) % 1440, time.offset) for time in times]
    return [times, read_span_start(groups)] if groups["from"] else [times]


def read_minute(text: str | None) -> int:
    return 30 if text == "半" else int(text or 0)


def read_span_start(groups: Mapping[str, str | None]) -> list[ClockTime]:
    hour, minute = int(groups["from"] or 0), int((groups["from_minutes"] or ":0")[1:])
    return [time for day_half in "ap" for time in list_hours(hour, minute, day_half, None, False)]


def list_hours(
    hour: int, minute: int, day_half: str, offset: int | None, loose: bool
) -> list[ClockTime]:
    """List what an hour may mean; a `loose` one may also be of the afternoon."""
    if hour > 24 or minute > 59:
        return []
    if day_half:
        hour = hour % 12 + (12 if day_half == "p" else 0)
        return [ClockTime(hour * 60 + minute, offset)]
    times = [ClockTime(hour % 24 * 60 + minute, offset)]
    if loose and 1 <= hour < 12:
        times.append(ClockTime((hour + 12) * 60 + minute, offset))
    return times


def list_times(match: re.Match[str]) -> list[ClockTime]:
    """List the times of a match of TIME in all its meanings."""
    return [time for end in read_time(match) for time in end]


def find_times(text: str) -> Iterator[ClockTime]:
    for match in TIME.finditer(text):
        yield from list_times(match)


def read_offset(zone_text: str | None) -> int | None:
    """Read the minutes of a time zone east of Greenwich."""
    if not zone_text:
        return None
    if zone_text[0] in "+-":
        minutes = int(zone_text[1:3]) * 60 + int(zone_text[-2:])
        return -minutes if zone_text[0] == "-" else minutes
    return ZONES[zone_text.casefold()]
