"""Times of day in words: `quarter to nine at night`, `um halb drei nachmittags`. Pure.

clock_times.toml has the words.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from andy_cli.models.inside.values.numbers import find_spelled_numbers
from andy_cli.models.inside.values.spans import Span

HOURS, MINUTES, HALF_DAY, HALF_HOUR = 24, 60, 12, 30
TODAY = ("late_today", "early_today")
TIME = re.compile(
    r"(?P<hour>\d{1,2})(?: ?[:.h] ?(?P<minute>[0-5]\d)|(?P<full> ?(?:h|uhr)))?"
    r"(?: ?(?P<half>[ap])\.?m\b\.?)?",
    re.I,
)
WITH_H = re.compile(r"(?<![\w.,])\d{1,2} ?h ?[0-5]\d(?!\w)", re.I)
"""`6 h 30`; of a length of time it is the same, so it is none by its form alone."""
LATE_NIGHT = 5
"""Up to this hour `at night` is after midnight."""


@cache
def load_words() -> Mapping[str, Mapping[str, str]]:
    """Load the tables of words, each a part of a regular expression."""
    file = Path(__file__).with_name("clock_times.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def make_patterns() -> tuple[re.Pattern[str], ...]:
    """Make the forms of a time, each with the part of the day behind it or before it."""
    words = load_words()
    before, between = words["before_hour"], words["behind_hour"]
    minutes = "|".join([*words["minutes"].values(), r"\d{1,2}"])
    parts = (f"(?P<{name}>{said})" for name, said in words["day_parts"].items())
    day = "|".join(parts).replace("\n", "")
    hour = r"(?P<hour>\d{1,2})(?![\d.:,]\d|/)"
    end = r"(?: ?(?:uhr|o['\u2019]clock|heures?|horas?|h)\b)?"
    forms = (
        rf"(?P<minute>{minutes})(?: minute[ns]?)? "
        rf"(?:(?P<after>{before['1']})|{before['-1']}) {hour}",
        rf"(?P<half>half past|halb) {hour}",
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
        rf"\b{hour}{end},? (?:{day})\b",
        rf"\b(?:{day}),? (?:{words['links']['at']}) {hour}{end}\b",
    ]
    return tuple(re.compile(form, re.I) for form in written)


def find_clock_times(text: str) -> list[Span]:
    """Find the times of which a part of the day leaves no doubt, as `20:45`, and where they are
    said."""
    plain, places = write_digits(text)
    found: list[tuple[int, int, str]] = []
    for pattern in make_patterns():
        for match in pattern.finditer(plain):
            start, end = find_range(match)
            is_free = all(end <= other[0] or other[1] <= start for other in found)
            if is_free and (time := read_time(match)):
                found.append((start, end, time))
    return [Span(time, places[start][0], places[end - 1][1]) for start, end, time in sorted(found)]


def find_times_with_h(text: str) -> list[Span]:
    """Find `6 h 30` and `18h15`, for what is a time and no length of it."""
    return [Span(match[0], *match.span()) for match in WITH_H.finditer(text)]


def rewrite_time(written: str) -> str:
    """Rewrite `9 pm`, `6:15` and `6 h 30` as `21:00`, `06:15` and `06:30`; leave what is no such
    time as it is.
    """
    match = TIME.fullmatch(written)
    if match is None or not (match["minute"] or match["full"] or match["half"]):
        return written
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half and 1 <= hour <= HALF_DAY:
        hour = hour % HALF_DAY + HALF_DAY * (half == "p")
    return f"{hour:02}:{match['minute'] or '00'}" if hour < HOURS else written


def find_range(match: re.Match[str]) -> tuple[int, int]:
    """Find where a time is said, without words that say which day: `tonight`."""
    start, end = match.span()
    for part in TODAY:
        if match[part] is not None:
            is_behind = match.start(part) > start
            start, end = (start, match.start(part)) if is_behind else (match.end(part), end)
    said = match.string[start:end]
    return start + len(said) - len(said.lstrip(" ,")), end - len(said) + len(said.rstrip(" ,"))


def write_digits(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Write the numbers of a text in digits; with the begin and end in it of each character."""
    plain: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    for value, start, end in sorted(find_spelled_numbers(text), key=lambda number: number[1]):
        if start < at or value != int(value):
            continue
        digits = str(int(value))
        plain += [text[at:start], digits]
        places += [*list_places(at, start), *([(start, end)] * len(digits))]
        at = end
    return "".join([*plain, text[at:]]), [*places, *list_places(at, len(text))]


def list_places(start: int, end: int) -> list[tuple[int, int]]:
    return [(place, place + 1) for place in range(start, end)]


def read_time(match: re.Match[str]) -> str | None:
    """Read what a form has matched, as `20:45`; None where it is no time."""
    parts = match.groupdict()
    minutes = MINUTES * int(parts["hour"]) + count_minutes(parts)
    late = parts["late"] or parts["late_today"]
    if late and HALF_DAY > minutes // MINUTES >= find_first_hour(late):
        minutes += HALF_DAY * MINUTES
    hour, minute = divmod(minutes, MINUTES)
    is_time = 0 <= hour < HOURS and int(parts["hour"]) <= HOURS
    return f"{hour:02}:{minute:02}" if is_time else None


def count_minutes(parts: dict[str, str | None]) -> int:
    """Count the minutes after the hour; those before it are negative."""
    if half := parts.get("half"):
        return HALF_HOUR if half.lower() == "half past" else -HALF_HOUR
    said = parts.get("minute")
    if not said:
        return 0
    minutes = load_words()["minutes"].items()
    named = (count for count, words in minutes if re.fullmatch(words, said, re.I))
    count = int(next(named, said))
    is_before = "after" in parts and not parts["after"]
    return -count if is_before else count


def find_first_hour(day_part: str) -> int:
    """Find the first hour that is meant as one behind noon: `3 at night` is no afternoon."""
    is_night = re.search(r"night|nacht|notte", day_part, re.I)
    return LATE_NIGHT + 1 if is_night else 1
