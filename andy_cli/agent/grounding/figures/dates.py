"""Dates and times of day, read from text in whatever form they were written. Pure."""

import re
from collections.abc import Iterator, Set
from datetime import date
from typing import NamedTuple

from andy_cli.agent.grounding.text.vocabulary import MONTHS, WEEKDAYS
from andy_cli.compiler.expression import Expression

BEGINNING = "|".join(sorted({name[:3] for name in MONTHS}))
"""Looked for first: that is far quicker than to try every name at every word."""

MONTH = f"(?={BEGINNING})(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
WEEKDAY = "|".join(sorted((each for each in WEEKDAYS if len(each) > 4), key=len, reverse=True))
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


def read_date(match: re.Match[str]) -> list[list[PartialDate]]:
    """What one match of DATE may mean; each meaning is one day, or the first and last of a span."""
    part = match.groupdict()
    if part["m8"]:
        return [[PartialDate(int(part["y8"] or 0), int(part["m8"]), int(part["d8"]))]]
    if part["y1"]:
        return [[PartialDate(int(part["y1"]), int(part["m1"]), int(part["d1"]))]]
    if part["a2"]:
        first, second, year = int(part["a2"]), int(part["b2"]), complete_year(int(part["y2"]))
        european, american = PartialDate(year, second, first), PartialDate(year, first, second)
        return [[european]] if part["sign"] == "." else [[european], [american]]
    if part["y7"]:
        return [[PartialDate(int(part["y7"]), int(part["m7"]), 0)]]
    if part["d6"]:
        return [[PartialDate(0, int(part["m6"]), int(part["d6"]))]]
    if part["m5"]:
        return [[PartialDate(int(part["y5"]), MONTHS[part["m5"].casefold()], 0)]]
    at = "3" if part["m3"] else "4"
    year, month = int(part[f"y{at}"] or 0), MONTHS[part[f"m{at}"].casefold()]
    ends = [part[f"d{at}"], part[f"e{at}"]]
    return [[PartialDate(year, month, int(each)) for each in ends if each]]


def complete_year(year: int) -> int:
    return year if year > 99 else 2000 + year


def is_possible(day: PartialDate) -> bool:
    return 1 <= day.month <= 12 and 0 <= day.day <= 31


def find_dates(text: str) -> Iterator[PartialDate]:
    """Every date a text names, in all its readings."""
    for match in DATE.finditer(text):
        for meaning in read_date(match):
            yield from filter(is_possible, meaning)
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
    """The pieces of a folded text that may be dates, each once: much less to read. `words` are
    those of the text."""
    found = set()
    for match in DATED.finditer(text):
        start, end = match.span()
        # With one sign on either side, by which figures of other kinds are told apart.
        found.add(text[max(0, start - 1) : end + 1])
    for name in MONTHS.keys() & words:
        at = text.find(name)
        while at >= 0:
            found.add(text[max(0, at - 20) : at + len(name) + 22])
            at = text.find(name, at + 1)
    return found


def find_weekday(day: PartialDate) -> int | None:
    """0 for a Monday; None when the date is not complete or does not exist."""
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

HALF = r"(?:\s?(?P<half{}>[ap])\.?\s?m\b\.?)"
TIME = Expression(
    r"(?<![\d:.,])(?:(?P<from>\d{1,2})(?P<from_minutes>:\d\d)?(?:\s?[-–—]\s?|\sto\s"
    r"|\sand\s)(?=\d{1,2}(?::\d\d)?\s?[ap]\.?m))?"
    rf"(?:(?P<h1>\d{{1,2}}):(?P<n1>\d\d)(?::(?P<s1>\d\d)(?:\.\d+)?)?{HALF.format(1)}?{ZONE}"
    rf"|(?P<h2>\d{{1,2}}){HALF.format(2)}"
    r"|(?P<h3>\d{1,2})(?:[.:](?P<n3>\d\d))?\s?uhr\b"
    r"|(?P<h4>\d{1,2})h(?P<n4>\d\d)\b"
    r"|(?P<h5>\d{1,2})\s(?:heures|o'clock|o’clock)\b"
    rf"|(?P<h6>\d{{1,2}})\.(?P<n6>\d\d){HALF.format(6)}"
    r"|(?P<h7>\d{1,2})(?:[時时点點]|\s?h(?![a-z\d])|\s?часов|\s?часа|\s?बजे)(?:(?P<n7>\d{1,2}|半)分?)?)(?!\d|:\d)",
    re.IGNORECASE,
)


class ClockTime(NamedTuple):
    """Minutes since midnight; `offset` is its zone in minutes east of Greenwich, if named."""

    minutes: int
    offset: int | None = None


def read_time(match: re.Match[str]) -> list[list[ClockTime]]:
    """What a match of TIME may mean; one list for each end of a span."""
    part = match.groupdict()
    at = next(each for each in "1234567" if part.get(f"h{each}"))
    written = part.get(f"n{at}") or 0
    minute = 30 if written == "半" else int(written)
    half = (part.get(f"half{at}") or "").casefold()
    offset = read_offset(part["zone"])
    ends = [read_hour(int(part[f"h{at}"]), minute, half, offset, at in "157")]
    if int(part["s1"] or 0) >= 30:
        ends[0] += [ClockTime((each.minutes + 1) % 1440, each.offset) for each in ends[0]]
    if part["from"]:
        minute = int((part["from_minutes"] or ":0")[1:])
        start = int(part["from"])
        ends.append([each for way in "ap" for each in read_hour(start, minute, way, None, False)])
    return ends


def read_hour(
    hour: int, minute: int, half: str, offset: int | None, loose: bool
) -> list[ClockTime]:
    if hour > 24 or minute > 59:
        return []
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
        return [ClockTime(hour * 60 + minute, offset)]
    found = [ClockTime(hour % 24 * 60 + minute, offset)]
    if loose and 1 <= hour < 12:
        found.append(ClockTime((hour + 12) * 60 + minute, offset))
    return found


def read_offset(zone: str | None) -> int | None:
    if not zone:
        return None
    if zone[0] in "+-":
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        return -minutes if zone[0] == "-" else minutes
    return ZONES[zone.casefold()]
