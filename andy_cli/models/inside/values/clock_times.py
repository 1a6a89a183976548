"""Times of day in words: `quarter to nine at night`, `um halb drei nachmittags`. Pure.

clock_times.toml has the words.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from andy_cli.models.inside.values.numbers import find_spelled_numbers
from andy_cli.models.inside.values.spans import Span, overlaps

HOURS, MINUTES, HALF_DAY = 24, 60, 12
TODAY = ("late_today", "early_today")
TIME = re.compile(
    r"(?P<hour>\d{1,2})(?: ?[:.h] ?(?P<minute>[0-5]\d)|(?P<full> ?(?:h|uhr)))?"
    r"(?: ?(?P<meridiem>[ap])\.?m\b\.?)?",
    re.I,
)
WITH_H = re.compile(r"(?<![\w.,])\d{1,2} ?h ?[0-5]\d(?!\w)", re.I)
"""`6 h 30`; of a length of time it is the same, so it is none by its form alone."""
FULL_MINUTES = r"(?<!from )(?<!\d)(?:5|[12]0|25)"
"""Of `10 to 4`; `2 to 4` and `from 5 to 9` are two hours."""
LATE_NIGHT = 5
"""Up to this hour `at night` is after midnight."""


class SaidTime(NamedTuple):
    """A time as it is said."""

    minutes: int
    """After midnight."""
    start: int
    end: int
    is_sure: bool
    """Which half of the day is meant is said too."""

    @property
    def span(self) -> Span:
        hour, minute = divmod(self.minutes, MINUTES)
        return Span(f"{hour:02}:{minute:02}", self.start, self.end)


@cache
def load_words() -> Mapping[str, Mapping[str, str]]:
    """Load the tables of words, each a part of a regular expression."""
    file = Path(__file__).with_name("clock_times.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def make_patterns() -> tuple[re.Pattern[str], ...]:
    """Make the forms of a time, each with the part of the day after it or before it."""
    words = load_words()
    before, between = words["before_hour"], words["behind_hour"]
    minutes = "|".join([*words["minutes"].values(), FULL_MINUTES])
    part = "|".join(words["part_of_hour"].values())
    parts = (f"(?P<{name}>{said})" for name, said in words["day_parts"].items())
    day = "|".join(parts).replace("\n", "")
    hour = r"(?P<hour>\d{1,2})(?![\d.:,]\d|/)"
    end = r"(?: ?(?:uhr|o['\u2019]clock|heures?|horas?|h)\b)?"
    minutes_from = (
        rf"(?P<minute>{minutes})(?: minute[ns]?)? (?:(?P<after>{before['1']})|{before['-1']})"
    )
    forms = (
        rf"{minutes_from} {hour}",
        rf"(?:{minutes_from} )?(?P<part>{part}) {hour}",
        rf"{hour}{end} (?:(?P<after>{between['1']})|{between['-1']}) (?P<minute>{minutes})\b",
        r"(?P<hour>\d{1,2})[.:h](?P<minute>\d\d)",
    )
    written = [
        form
        for time in forms
        for form in (
            rf"\b{time}{end},? (?:{day})\b",
            rf"\b(?:{day}),?(?: (?:{words['links']['at']}))? {time}{end}\b",
        )
    ]
    # A number alone may count anything: `in the evening 5 people`.
    written += [
        rf"\b{hour}{end},? ?(?:{day})\b",
        rf"\b(?:{day}),? (?:{words['links']['at']}) {hour}{end}\b",
    ]
    return tuple(re.compile(form, re.I) for form in written)


@cache
def make_loose_patterns() -> tuple[re.Pattern[str], ...]:
    """Make the forms of a time without a part of the day, which may be something else as well."""
    words = load_words()
    before, between = words["before_hour"], words["behind_hour"]
    minutes = "|".join(words["minutes"].values())
    part = "|".join(words["part_of_hour"].values())
    links = f"{words['links']['at']}|{words['links']['other']}".replace("\n", "")
    end = rf"(?=\s*(?:$|{words['links']['end']}|(?:{links})\b))"
    hour = r"(?<![\d.:,/-])(?P<hour>\d{1,2})(?![\d.:,/-]\d|\d)"
    minutes_from = (
        rf"(?P<minute>{minutes}|{FULL_MINUTES})(?: minute[ns]?)? "
        rf"(?:(?P<after>{before['1']})|{before['-1']})"
    )
    forms = (
        r"(?<![\d.,])(?P<hour>\d{1,2})(?: ?[:.] ?|(?: ?uhr ?| ?h ?))(?P<minute>[0-5]\d)(?![\d.:])",
        rf"{minutes_from} {hour}(?: ?uhr)?",
        rf"(?:{minutes_from} )?(?P<part>{part}) {hour}(?: ?uhr)?",
        rf"{hour}(?: ?(?:heures?|h))? (?:(?P<after>{between['1']})|{between['-1']}) "
        rf"(?P<minute>{minutes})",
        rf"{hour} ?(?:uhr|o['\u2019]clock)",
        rf"(?:{links}) {hour}(?: ?(?:heures?|h|ore))?{end}",
        *(rf"(?:{minutes_from} )?(?P<noon{noon}>{said})" for noon, said in words["noon"].items()),
    )
    return tuple(re.compile(rf"(?<!\w){form}(?!\w)", re.I) for form in forms)


def find_clock_times(text: str) -> list[Span]:
    """Find the times of which a part of the day leaves no doubt, as `20:45`, and where they are
    said."""
    return [time.span for time in _find_times(text, is_sure=True)]


def find_loose_times(text: str) -> list[Span]:
    """Find all times, also those that no part of the day is said of: `half past seven` is
    `07:30`, and `19:30` after `five in the afternoon` or before `9 pm`.
    """
    sure = _find_times(text, is_sure=True)
    taken = [range(time.start, time.end) for time in sure]
    loose = [time for time in _find_times(text) if not overlaps(time.span, taken)]
    return [time.span for time in order_by_day(sorted((*sure, *loose), key=lambda it: it.start))]


def names_time(text: str) -> bool:
    """Tell whether a text says a time of day, or a part of the day: `tonight`."""
    parts = "|".join(load_words()["day_parts"].values())
    is_part = re.search(rf"(?<!\w)(?:{parts})(?!\w)", text, re.I) is not None
    return is_part or bool(find_loose_times(text))


def order_by_day(times: Sequence[SaidTime]) -> list[SaidTime]:
    """Move what is said beside a time of the afternoon into it, where it stays in its order."""
    moved = list(times)
    noon = HALF_DAY * MINUTES
    for at, (first, second) in enumerate(pairwise(times)):
        if second.is_sure and not first.is_sure and first.minutes + noon < second.minutes:
            moved[at] = first._replace(minutes=first.minutes + noon)
        is_same_half = second.minutes < first.minutes < second.minutes + noon
        if first.is_sure and not second.is_sure and is_same_half:
            moved[at + 1] = second._replace(minutes=second.minutes + noon)
    return moved


def _find_times(text: str, is_sure: bool = False) -> list[SaidTime]:
    plain, places = write_digits(text)
    found: list[SaidTime] = []
    for pattern in make_patterns() if is_sure else make_loose_patterns():
        for match in pattern.finditer(plain):
            start, end = find_range(match) if is_sure else match.span()
            minutes, said = read_time(match), (places[start][0], places[end - 1][1])
            is_free = not overlaps(Span("", *said), [range(it.start, it.end) for it in found])
            if is_free and minutes is not None:
                # `02:30` and `15:00` say it too.
                has_half = is_sure or match[0].startswith("0") or minutes >= HALF_DAY * MINUTES
                found.append(SaidTime(minutes, *said, has_half))
    return sorted(found, key=lambda time: time.start)


def find_times_with_h(text: str) -> list[Span]:
    """Find `6 h 30` and `18h15`, for what is a time and no length of it."""
    return [Span(match[0], *match.span()) for match in WITH_H.finditer(text)]


def rewrite_time(written: str) -> str:
    """Rewrite `9 pm`, `6:15` and `6 h 30` as `21:00`, `06:15` and `06:30`; leave what is no such
    time as it is.
    """
    match = TIME.fullmatch(written)
    if match is None or not (match["minute"] or match["full"] or match["meridiem"]):
        return written
    hour, meridiem = int(match["hour"]), (match["meridiem"] or "").lower()
    if meridiem and 1 <= hour <= HALF_DAY:
        hour = hour % HALF_DAY + HALF_DAY * (meridiem == "p")
    return f"{hour:02}:{match['minute'] or '00'}" if hour < HOURS else written


def find_range(match: re.Match[str]) -> tuple[int, int]:
    """Find where a time is said, without words that say which day: `tonight`."""
    start, end = match.span()
    for part in TODAY:
        if match[part] is not None:
            is_behind = match.start(part) > start
            start, end = (start, match.start(part)) if is_behind else (match.end(part), end)
    said = match.string[start:end].strip(" ,")
    start = match.string.index(said, start)
    return start, start + len(said)


def write_digits(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Write the numbers of a text in digits; with the begin and end in it of each character."""
    plain: list[str] = []
    places: list[tuple[int, int]] = []
    at, quarters = 0, re.compile("|".join(load_words()["minutes"].values()), re.I)
    for value, start, end in sorted(find_spelled_numbers(text), key=lambda number: number[1]):
        if start < at or value != int(value) or quarters.fullmatch(text, start, end):
            continue
        digits = str(int(value))
        plain += [text[at:start], digits]
        places += [*list_places(at, start), *([(start, end)] * len(digits))]
        at = end
    return "".join([*plain, text[at:]]), [*places, *list_places(at, len(text))]


def list_places(start: int, end: int) -> list[tuple[int, int]]:
    return [(place, place + 1) for place in range(start, end)]


def read_time(match: re.Match[str]) -> int | None:
    """Read the minutes after midnight of what a form has matched; None where it is no time."""
    parts = match.groupdict()
    if "hour" not in parts:
        noon = MINUTES * int(str(match.lastgroup).removeprefix("noon"))
        return (noon + count_minutes(parts)) % (HOURS * MINUTES)
    minutes = MINUTES * int(parts["hour"]) + count_minutes(parts)
    minutes += HALF_DAY * MINUTES * count_half_days(parts, minutes // MINUTES)
    is_time = 0 <= minutes < HOURS * MINUTES and int(parts["hour"]) <= HOURS
    return minutes if is_time else None


def count_half_days(parts: Mapping[str, str | None], hour: int) -> int:
    """Count the halves of a day that a part of the day adds to an hour; `12 am` is midnight."""
    late = parts.get("late") or parts.get("late_today")
    if late:
        return int(HALF_DAY > hour >= find_first_hour(late))
    is_am = (parts.get("early") or "").replace(".", "").lower() == "am"
    return -int(is_am and hour == HALF_DAY)


def count_minutes(parts: Mapping[str, str | None]) -> int:
    """Count the minutes after the hour; those before it are negative."""
    words = load_words()
    part, said = parts.get("part"), parts.get("minute")
    count = int(find_number(words["part_of_hour"], part)) if part else 0
    if not said:
        return count
    more = int(find_number(words["minutes"], said) or said)
    is_before = "after" in parts and not parts["after"]
    return count - more if is_before else count + more


def find_number(words: Mapping[str, str], said: str) -> str:
    """Find the number that words are said for; empty if they are for none."""
    return next((number for number, form in words.items() if re.fullmatch(form, said, re.I)), "")


def find_first_hour(day_part: str) -> int:
    """Find the first hour that is meant as one after noon: `3 at night` is no afternoon."""
    is_night = re.search(r"night|nacht|notte", day_part, re.I)
    return LATE_NIGHT + 1 if is_night else 1
