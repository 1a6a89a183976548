"""Google Calendar: calendars, their events, making, renaming and deleting one (calendar.v3)."""

from datetime import datetime
from typing import NamedTuple

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.toolbox.google.contents.pages import (
    TextRest,
    list_outcome,
    shorten_words,
    text_outcome,
)
from andy_cli.toolbox.google.http.apis import CALENDAR
from andy_cli.toolbox.google.http.exchange import Query
from andy_cli.toolbox.google.http.refusals import MissingWords
from andy_cli.toolbox.google.http.service import (
    Record,
    open_service,
    quote_part,
)
from andy_cli.toolbox.google.ids import EventId, calendar_id, check_title, event_id, show_id
from andy_cli.toolbox.google.seen_names import remember_name
from andy_cli.toolbox.google.times import TimeSpan, parse_bound, parse_span, show_here
from andy_cli.toolbox.tool import Outcome, ToolError

NOUN = "an event"
MAX_EVENTS = 250
"""Events at once."""

ASK_FOR_LESS = "Ask for a shorter time, with timeMin and timeMax."
REST = TextRest(ASK_FOR_LESS, ASK_FOR_LESS)
FIRST = TextRest("These are the first.", "These are the first.")

MAX_DESCRIPTION = 500
"""Characters of what is written about an event."""


class PlannedEvent(NamedTuple):
    """An event to be made."""

    summary: str
    when: TimeSpan
    calendar: str

    def describe_plan(self) -> str:
        calendar_line = "" if self.calendar == "primary" else f"\nCalendar: {self.calendar}"
        return f"New event: {self.summary}\nWhen: {self.when.show_span()}{calendar_line}"


async def list_calendars() -> Outcome:
    async with open_service(CALENDAR) as calendar:
        missing = MissingWords("There are no calendars.")
        result_page = await calendar.list_items(
            "/users/me/calendarList", "items", 1000, missing, largest=250
        )
    names = ("id", "summary", "description", "primary", "accessRole", "timeZone")
    calendars = [
        {name: item[name] for name in names if item.get(name)} for item in result_page.items
    ]
    return list_outcome("calendars", calendars, result_page.more, FIRST, "calendar")


async def list_events(calendar: str, time_min: str, time_max: str) -> Outcome:
    """List the events from one time to another; without the first, from now on."""
    id = calendar_id(calendar)
    time_start = parse_bound(time_min, "timeMin") if time_min.strip() else _now_as_text()
    time_end = parse_bound(time_max, "timeMax", is_end=True) if time_max.strip() else ""
    if time_end and datetime.fromisoformat(time_end) <= datetime.fromisoformat(time_start):
        raise ToolError(
            "The end of that time is not after its start.", "Correct timeMin or timeMax."
        )
    # Of a series every single one, in order.
    query: Query = {
        "timeMin": time_start,
        "timeMax": time_end,
        "singleEvents": True,
        "orderBy": "startTime",
    }
    path = f"/calendars/{quote_part(id)}/events"
    missing = _no_calendar(id)
    async with open_service(CALENDAR) as service:
        result_page = await service.list_items(
            path, "items", MAX_EVENTS, missing, query, largest=MAX_EVENTS
        )
    events = [_describe_event(item) for item in result_page.items]
    listed = list_outcome("events", events, result_page.more, REST, "event")
    return listed._replace(data={"calendar": id, **as_record(listed.data)})


def _now_as_text() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _describe_event(event: Record) -> dict[str, object]:
    """Describe an event by what is worth telling; a series is known by its id."""
    start, end = _when(event.get("start")), _when(event.get("end"))
    attendees = as_records(event.get("attendees"))
    guests = [text_of(attendee, "email") for attendee in attendees]
    answers = [text_of(guest, "responseStatus") for guest in attendees if guest.get("self")]
    details: dict[str, object] = {
        "id": text_of(event, "id"),
        "summary": text_of(event, "summary"),
        "start": start,
        "end": end,
        "when": show_here(start, end),
        "location": text_of(event, "location"),
        "description": text_of(event, "description")[:MAX_DESCRIPTION],
        "guests": guests,
        # An event that was declined, or blocks no time, is no reason to be busy.
        "userAnswered": next(iter(answers), ""),
        "userIs": "free" if event.get("transparency") == "transparent" else "",
        "status": text_of(event, "status").removeprefix("confirmed"),
        "link": text_of(event, "htmlLink"),
    }
    remember_name(details["id"], details["summary"], str(details["when"]))
    return {name: value for name, value in details.items() if value}


def _when(value: object) -> str:
    time_record = as_record(value)
    return text_of(time_record, "dateTime") or text_of(time_record, "date")


async def create_event(event: PlannedEvent) -> Outcome:
    body = {
        "summary": event.summary,
        "start": event.when.start.for_api(),
        "end": event.when.end.for_api(),
    }
    async with open_service(CALENDAR) as service:
        path = f"/calendars/{quote_part(event.calendar)}/events"
        created = await service.change("POST", path, _no_calendar(event.calendar), body)
        service.created_id(created)
    summary = f"put {shorten_words(event.summary)} into the calendar, {event.when.show_span()}"
    return text_outcome(_describe_event({**body, **created}), summary)


def plan_event(summary: str, start: str, end: str, calendar: str) -> PlannedEvent:
    """Plan the event to be made. Raises ToolError for what cannot be."""
    return PlannedEvent(check_title(summary, NOUN), parse_span(start, end), calendar_id(calendar))


async def update_event(event: str, summary: str, calendar: str) -> Outcome:
    chosen_event, title = choose_event(event, calendar), check_title(summary, NOUN)
    async with open_service(CALENDAR) as service:
        updated = await service.change(
            "PATCH", _event_path(chosen_event), _missing_event(chosen_event), {"summary": title}
        )
        service.created_id(updated)
    return text_outcome(_describe_event(updated), f"renamed the event to {shorten_words(title)}")


async def delete_event(event: str, calendar: str) -> Outcome:
    chosen_event = choose_event(event, calendar)
    async with open_service(CALENDAR) as service:
        await service.change("DELETE", _event_path(chosen_event), _missing_event(chosen_event))
    return text_outcome({"id": chosen_event.id, "deleted": True}, "deleted the event")


def choose_event(event: str, calendar: str) -> EventId:
    """Find the event that is meant; only a link names its calendar, and then none need be given."""
    named_event = event_id(event)
    if calendar_id(calendar) == "primary" and named_event.calendar:
        return EventId(named_event.id, calendar_id(named_event.calendar))
    return EventId(named_event.id, calendar_id(calendar))


def _event_path(event: EventId) -> str:
    return f"/calendars/{quote_part(event.calendar)}/events/{quote_part(event.id)}"


def _missing_event(event: EventId) -> MissingWords:
    return MissingWords(
        f"There is no event {show_id(event.id)} in the calendar {show_id(event.calendar)}.",
        "calendar_events gives the ids.",
    )


def _no_calendar(id: str) -> MissingWords:
    return MissingWords(f"There is no calendar {show_id(id)}.", "calendar_list gives the ids.")
