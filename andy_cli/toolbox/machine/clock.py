"""The time, here or in a time zone by its IANA name."""

import difflib
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out

MAX_LETTERS = 100
"""Letters of the name of a place."""
OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2}):?([0-5]\d)?", re.IGNORECASE)


def time_in_zone(name: str, current_time: datetime | None = None) -> dict[str, object]:
    """The moment in that zone, that of the machine if none is named. Raises ToolError.

    `current_time` has a time zone of its own.
    """
    moment = current_time or datetime.now().astimezone()
    moment = moment.astimezone(find_zone(name)) if name.strip() else moment
    offset = moment.strftime("%z")
    return {
        "time": moment.isoformat(timespec="seconds"),
        "weekday": moment.strftime("%A"),
        "timezone": str(moment.tzinfo),
        "utc_offset": f"{offset[:3]}:{offset[3:5]}",
    }


def phrase_time(time_record: Mapping[str, object]) -> str:
    """Say a record of `time_in_zone`: `12:31 on Monday, 23 November 2026, in UTC`."""
    moment = datetime.fromisoformat(str(time_record["time"]))
    weekday, zone_name = time_record["weekday"], time_record["timezone"]
    return f"{moment:%H:%M} on {weekday}, {moment.day} {moment:%B %Y}, in {zone_name}"


def find_zone(name: str) -> tzinfo:
    """By its name, in any case; by its city or a country; by its distance from UTC as `UTC+2`."""
    # 10 ms, and the time is seldom asked for.
    from zoneinfo import ZoneInfo, available_timezones

    name = name.strip().replace(" ", "_")
    if match := OFFSET.fullmatch(name):
        return _fixed_zone(match)
    zones_by_folded_name = {zone_name.lower(): zone_name for zone_name in available_timezones()}
    if not zones_by_folded_name:
        raise ToolError(
            "This machine has no time zones: it needs tzdata.", "Ask the user to install it."
        )
    if name.lower() in zones_by_folded_name:
        return ZoneInfo(zones_by_folded_name[name.lower()])
    names_of_place = sorted(_list_places(name, zones_by_folded_name))
    zones = [ZoneInfo(zone_name) for zone_name in names_of_place]
    # Buenos Aires has two names: where it is the same time, either will do.
    if len({datetime.now(zone).utcoffset() for zone in zones}) != 1:
        raise _explain_missing(name, names_of_place, zones_by_folded_name)
    return zones[0]


def _list_places(name: str, zones: Mapping[str, str]) -> list[str]:
    """List the zones of a city, else that of a country or of a city in another language."""
    from andy_cli.toolbox.machine.places import fold_name, list_places

    cities = [
        zone_name for lower, zone_name in zones.items() if lower.rpartition("/")[2] == name.lower()
    ]
    if cities or len(name) >= MAX_LETTERS:
        return cities
    zone_of_place = list_places().get(fold_name(name))
    return [zone_of_place] if zone_of_place else []


def _fixed_zone(match: re.Match[str]) -> tzinfo:
    direction = -1 if match[1] == "-" else 1
    distance = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    if distance >= timedelta(hours=24):
        raise ToolError("No time zone is a whole day away from UTC.")
    return timezone(direction * distance)


def _explain_missing(name: str, cities: list[str], names: dict[str, str]) -> ToolError:
    nearest = cities or [
        names[match] for match in difflib.get_close_matches(name.lower(), names, n=3)
    ]
    if not nearest:
        by_city = {name.rpartition("/")[2]: name for name in names}
        close_matches = difflib.get_close_matches(name.rpartition("/")[2].lower(), by_city, n=3)
        nearest = [names[by_city[match]] for match in close_matches]
    message = f"There is no time zone {spell_out(name)[:60]}."
    if not nearest:
        return ToolError(message, "Give one as Europe/Berlin.")
    return ToolError(f"{message} The nearest: {', '.join(nearest)}.")
