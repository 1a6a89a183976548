"""Texts of a declared format: whether one follows it, and the same thing written as it asks.

Formats are judged as people use them: a moment without its time zone is a date-time all the same.
Only what cannot be meant is refused.
"""

import datetime as dates
from collections.abc import Callable, Iterator, Mapping

from andy_cli.compiler.expression import Expression

MONTHS = "january february march april may june july august september october november december"
MONTH = {name[:3]: at for at, name in enumerate(MONTHS.split(), 1)}
CLOCK = r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d|:60)?([.,]\d+)?"
ZONE = r"(Z|z|[+-]\d\d:?\d\d)?"
DATE = Expression(r"(\d{4})-(\d\d)-(\d\d)")
MOMENT = Expression(rf"\d{{4}}-\d\d-\d\d[Tt ]{CLOCK} ?{ZONE}")
TIME = Expression(CLOCK + ZONE)
EMAIL = Expression(r"[^\s@<>,;:]+@[^\s@<>,;:]+")
URI = Expression(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
BIG_FIRST = Expression(r"(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})")
COMPACT = Expression(r"(\d{4})(\d\d)(\d\d)")
SMALL_FIRST = Expression(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
MONTH_FIRST = Expression(r"([A-Za-z]{3,9})\.? +(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})")
DAY_FIRST = Expression(r"(\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -]+([A-Za-z]{3,9})\.?,?[ -]+(\d{4})")
TWELVE = Expression(r"(1[0-2]|0?[1-9])(?::([0-5]\d))?(?::([0-5]\d))? *([AaPp])\.?[Mm]\.?")
MARKED_EMAIL = Expression(r"(?:mailto:|[^<>]*<)([^\s@<>]+@[^\s@<>]+)>?")
BARE_HOST = Expression(r"(?:www\.|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev)\b)\S*")
LONGEST_FORMATTED = 300


def follows_format(text: str, format_name: str) -> bool:
    """Tell whether the text is of that format; formats that are not known here are never judged."""
    if format_name == "date":
        return _is_date(text)
    if format_name == "date-time":
        return bool(MOMENT.fullmatch(text)) and _is_date(text[:10])
    if format_name == "time":
        return bool(TIME.fullmatch(text))
    if format_name == "email":
        return bool(EMAIL.fullmatch(text))
    if format_name in ("uri", "url"):
        return bool(URI.fullmatch(text.strip()))
    return True


def _is_date(text: str) -> bool:
    match = DATE.fullmatch(text)
    return bool(match) and _make_date(*map(int, match.groups())) is not None if match else False


def _make_date(year: int, month: int, day: int) -> dates.date | None:
    try:
        return dates.date(year, month, day)
    except ValueError:
        return None


Rewritten = tuple[bool, str]
"""(nothing is guessed, the text in the format)."""


def rewrite_in_format(text: str, format_name: str) -> Iterator[Rewritten]:
    """All that a text may mean in a format of JSON Schema."""
    text = text.strip()
    rewrite = REWRITERS.get(format_name)
    if rewrite is not None and len(text) <= LONGEST_FORMATTED:
        yield from rewrite(text)


def _rewrite_date(text: str) -> Iterator[Rewritten]:
    yield from ((True, day.isoformat()) for day in parse_dates(text))
    if follows_format(text, "date-time"):
        yield True, text[:10]


def _rewrite_time(text: str) -> Iterator[Rewritten]:
    yield from ((True, clock) for clock in parse_times(text))
    if follows_format(text, "date-time"):
        yield True, text[11:].strip()


def _rewrite_email(text: str) -> Iterator[Rewritten]:
    if match := MARKED_EMAIL.fullmatch(text):
        yield True, match[1]


def _rewrite_uri(text: str) -> Iterator[Rewritten]:
    if "://" in text or text.startswith("mailto:"):
        yield True, text.replace(" ", "%20")
    elif BARE_HOST.fullmatch(text):
        yield False, f"https://{text}"


def parse_dates(text: str) -> Iterator[dates.date]:
    """The days a text may mean; two where day and month cannot be told apart."""
    possible_days: list[dates.date | None] = []
    if match := BIG_FIRST.fullmatch(text) or COMPACT.fullmatch(text):
        possible_days.append(_make_date(int(match[1]), int(match[2]), int(match[3])))
    elif match := SMALL_FIRST.fullmatch(text):
        year, first_number, second_number = int(match[4]), int(match[1]), int(match[3])
        possible_days += [
            _make_date(year, first_number, second_number),
            _make_date(year, second_number, first_number),
        ]
    elif match := MONTH_FIRST.fullmatch(text):
        possible_days.append(_make_date_of_named_month(int(match[3]), match[1], int(match[2])))
    elif match := DAY_FIRST.fullmatch(text):
        possible_days.append(_make_date_of_named_month(int(match[3]), match[2], int(match[1])))
    yield from dict.fromkeys(day for day in possible_days if day)


def _make_date_of_named_month(year: int, name: str, day: int) -> dates.date | None:
    word = name.lower()
    month = MONTH.get(word[:3])
    month_name = month and MONTHS.split()[month - 1]
    return (
        _make_date(year, month, day)
        if month and month_name and month_name.startswith(word[:4])
        else None
    )


def _rewrite_date_time(text: str) -> Iterator[Rewritten]:
    for day in parse_dates(text):
        yield False, f"{day.isoformat()}T00:00:00"
    if follows_format(text, "date"):
        yield False, f"{text}T00:00:00"
    for separator in (" at ", ", ", "T", " "):
        day_text, separator_found, clock_text = (
            text.rpartition(separator) if separator != " " else _split_last_clock(text)
        )
        clocks = _read_clocks(clock_text) if separator_found else []
        if clocks:
            days = parse_dates(day_text.strip())
            yield from ((True, f"{day.isoformat()}T{clock}") for day in days for clock in clocks)
            return


def _read_clocks(text: str) -> list[str]:
    """The times a text may mean, with seconds."""
    clocks = [text] if TIME.fullmatch(text) else parse_times(text)
    return [clock if clock.count(":") > 1 else f"{clock}:00" for clock in clocks]


def _split_last_clock(text: str) -> tuple[str, str, str]:
    """A clock is one word, or two: `10:30 pm`."""
    words = text.split()
    clock_words = 2 if words and words[-1].lower().rstrip(".") in ("am", "pm", "a.m", "p.m") else 1
    return (
        " ".join(words[:-clock_words]),
        " " if len(words) > clock_words else "",
        " ".join(words[-clock_words:]),
    )


def parse_times(text: str) -> Iterator[str]:
    if match := TWELVE.fullmatch(text):
        hour = int(match[1]) % 12 + (12 if match[4] in "Pp" else 0)
        yield f"{hour:02}:{match[2] or '00'}:{match[3] or '00'}"


REWRITERS: Mapping[str, Callable[[str], Iterator[Rewritten]]] = {
    "date": _rewrite_date,
    "date-time": _rewrite_date_time,
    "time": _rewrite_time,
    "email": _rewrite_email,
    "uri": _rewrite_uri,
    "url": _rewrite_uri,
}
