"""Days and times as models and people write them, and as Google's calendar wants them.

    2026-03-01   2026-03-01T15:00   2026-03-01 15:00 Europe/Berlin   2026-03-01T14:00Z
    tomorrow 15:00   16:30 (of a day that is known)

What names no zone is meant in the zone of this machine, and an end in that of its start.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.google.ids import show_id

DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
ZONED = re.compile(r"(.*?)\s*(?:\[([\w/+-]+)\]|\s([A-Za-z_]+/[\w/+-]+|UTC|GMT))")
WORD = re.compile(r"(yesterday|today|tomorrow)\b[\s,]*(?:at\s+|T)?(.*)", re.IGNORECASE)
HOW = "Write it like 2026-03-01T15:00, or 2026-03-01 for a whole day."


class Moment(NamedTuple):
    day: date
    at: datetime | None
    """With its zone; None for the whole day."""
    zone: str = ""
    """The name of the zone, where one was written."""

    def for_api(self) -> dict[str, str]:
        """As the resource of an event holds it (calendar.v3, EventDateTime)."""
        if self.at is None:
            return {"date": self.day.isoformat()}
        zone_field = {"timeZone": self.zone} if self.zone else {}
        return {"dateTime": self.at.isoformat(), **zone_field}

    def show_moment(self) -> str:
        """For people: `Sun 1 Mar 2026, 15:00 +0100`."""
        if self.at is None:
            return f"{self.day:%a} {self.day.day} {self.day:%b %Y}"
        shown_time = f"{self.at:%H:%M:%S}".removesuffix(":00")
        shown_zone = self.zone or f"{self.at:%z}"
        return f"{self.day:%a} {self.day.day} {self.day:%b %Y}, {shown_time} {shown_zone}"


def _place_in_zone(
    day_or_time: date | datetime, zone_name: str, start: Moment | None, may_be_doubtful: bool
) -> Moment:
    """Place a time in its own zone, else in that of the start, else in that of this machine."""
    if not isinstance(day_or_time, datetime):
        return Moment(day_or_time, None)
    zoned_time = day_or_time
    if not day_or_time.tzinfo:
        zone_name = zone_name or (start.zone if start else "")
        zone = _find_zone(zone_name) if zone_name else _foreign_offset(start)
        zoned_time = _set_zone(day_or_time, zone)
        if not may_be_doubtful:
            _check_clock_shows(day_or_time, zone)
    return Moment(zoned_time.date(), zoned_time, zone_name)


def _set_zone(written: datetime, zone: tzinfo | None) -> datetime:
    """The time in a zone, without one in that of this machine."""
    return written.replace(tzinfo=zone) if zone else written.astimezone()


def _check_clock_shows(written: datetime, zone: tzinfo | None) -> None:
    """Raises ToolError for a time that clocks do not show on that day, or show twice: where they
    are put forward or back. Which one is meant only the user knows.
    """
    offsets = [f"{_set_zone(written.replace(fold=fold), zone):%z}" for fold in (0, 1)]
    if offsets[0] == offsets[1]:
        return
    shown = f"{written:%H:%M} of {written:%Y-%m-%d}"
    both = " or ".join(f"{written:%Y-%m-%dT%H:%M}{offset}" for offset in sorted(offsets))
    # A time that no clock shows comes back from UTC as another one.
    shown_again = _set_zone(written, zone).astimezone(UTC).astimezone(zone)
    if shown_again.replace(tzinfo=None) != written:
        raise ToolError(
            f"No clock shows {shown} there: they are put forward over it.",
            "Ask which time is meant, before or after that.",
        )
    raise ToolError(
        f"The time {shown} is there twice: clocks are put back over it.",
        f"Ask which one is meant, and write {both}.",
    )


def _foreign_offset(start: Moment | None) -> tzinfo | None:
    """Return the offset with which a start was written, if this machine has another one then."""
    if start is None or start.at is None:
        return None
    is_local = start.at.utcoffset() == start.at.astimezone().utcoffset()
    return None if is_local else start.at.tzinfo


def parse_moment(
    written: str, bound_name: str, start: Moment | None = None, may_be_doubtful: bool = False
) -> Moment:
    """Parse a moment; one without a day or a zone has those of the start. Raises ToolError that
    says how to write it; `bound_name` is what it was to be: `start`. `may_be_doubtful`: clocks may
    show it twice that day, or skip it."""
    day = start.day if start else None
    text = written.strip()
    zone_name = ""
    if zoned := ZONED.fullmatch(text):
        text, zone_name = zoned[1], zoned[2] or zoned[3]
    words = WORD.fullmatch(text)
    try:
        if words:
            day = datetime.now().date() + timedelta(DAYS[words[1].lower()])
            day_or_time = _parse_clock(words[2], day) if words[2] else day
        else:
            day_or_time = _parse_time(text, day)
        return _place_in_zone(day_or_time, zone_name, start, may_be_doubtful)
    except (ValueError, OverflowError, OSError) as error:
        raise ToolError(
            f"{show_id(written)} is no day or time for the {bound_name}.", HOW
        ) from error


def _parse_time(text: str, day: date | None) -> date | datetime:
    if text.lower() == "now":
        return datetime.now().astimezone().replace(microsecond=0)
    if day is not None and _count_hour_digits(text) in (1, 2):
        return _parse_clock(text, day)
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text)


def _count_hour_digits(text: str) -> int:
    """Count the digits that a time begins with, up to its first colon; 0 where it begins not so."""
    hour, colon, _ = text.partition(":")
    return len(hour) if colon and hour.isdecimal() else 0


def _parse_clock(text: str, day: date) -> datetime:
    padded = f"0{text}" if _count_hour_digits(text) == 1 else text
    return datetime.combine(day, time.fromisoformat(padded))


def _find_zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # 5 ms, and few times name a zone

    try:
        return ZoneInfo("UTC" if name == "GMT" else name)
    except ZoneInfoNotFoundError as error:
        raise ValueError(name) from error


class TimeSpan(NamedTuple):
    start: Moment
    end: Moment

    def show_span(self) -> str:
        if self.start.at is None:
            last = self.end._replace(day=self.end.day - timedelta(1))
            days = "" if last.day == self.start.day else f" to {last.show_moment()}"
            return f"{self.start.show_moment()}{days}, all day"
        if self.end.at is not None and self._is_within_a_day(self.end.at):
            return f"{self.start.show_moment()} to {self.end.at:%H:%M}"
        return f"{self.start.show_moment()} to {self.end.show_moment()}"

    def _is_within_a_day(self, end_time: datetime) -> bool:
        """Tell whether day and zone of the start are those of the end."""
        is_same_zone = self.start.zone == self.end.zone != ""
        start_offset = self.start.at.utcoffset() if self.start.at else None
        return self.start.day == self.end.day and (
            is_same_zone or start_offset == end_time.utcoffset()
        )


def parse_span(start: str, end: str) -> TimeSpan:
    """From when to when an event lasts. Of whole days the end is the day after the last, as the
    API has it; the same day twice is that day. Raises ToolError."""
    span_start = parse_moment(start, "start")
    span_end = parse_moment(end, "end", span_start)
    if (span_start.at is None) != (span_end.at is None):
        raise ToolError(
            "One of start and end is a day, the other a time.", f"Write both alike. {HOW}"
        )
    if span_start.at is None:
        if span_end.day == span_start.day:
            span_end = Moment(span_start.day + timedelta(1), None)
        in_order = span_start.day < span_end.day
    else:
        in_order = span_end.at is not None and span_start.at < span_end.at
    if not in_order:
        raise ToolError(
            f"The end ({span_end.show_moment()}) is not after "
            f"the start ({span_start.show_moment()})."
        )
    return TimeSpan(span_start, span_end)


def parse_bound(written: str, bound_name: str, is_end: bool = False) -> str:
    """One end of a stretch of time to look at, as RFC 3339. A day as the end is looked at whole."""
    moment = parse_moment(written, bound_name, may_be_doubtful=True)
    if moment.at is not None:
        return moment.at.isoformat()
    try:
        midnight = datetime.combine(moment.day + timedelta(is_end), time())
        return midnight.astimezone().isoformat()
    except (OverflowError, OSError, ValueError) as error:
        raise ToolError(f"{show_id(written)} is too far away for the {bound_name}.", HOW) from error


def show_here(start: str, end: str) -> str:
    """Say from when to when an event of the API lasts, in the zone of this machine; nothing of what
    is no time."""
    try:
        moments = [parse_moment(written, "event") for written in (start, end)]
        return TimeSpan(*map(_move_here, moments)).show_span()
    except (ToolError, OverflowError, OSError, ValueError):
        return ""


def _move_here(moment: Moment) -> Moment:
    if moment.at is None:
        return moment
    local_time = moment.at.astimezone()
    return Moment(local_time.date(), local_time)
