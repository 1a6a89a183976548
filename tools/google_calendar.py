"""Google Calendar: calendars and their events.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import Field

from andy_cli.toolbox.google.lazy import find_access_later, require_scope
from andy_cli.toolbox.tool import Outcome, parameter_aliases, tool

CalendarId = Annotated[
    str,
    Field(
        description="id of the calendar",
        json_schema_extra=parameter_aliases("calendar"),
    ),
]
EventId = Annotated[
    str,
    Field(
        description="id of the event",
        min_length=1,
        json_schema_extra=parameter_aliases("id", "event"),
    ),
]
Summary = Annotated[
    str,
    Field(
        description="title of the event",
        min_length=1,
        json_schema_extra=parameter_aliases("title", "name", "subject"),
    ),
]
Start = Annotated[
    str,
    Field(
        description="when it starts, like 2026-03-01T15:00, or 2026-03-01 for the whole day",
        min_length=1,
        json_schema_extra=parameter_aliases("startTime", "startDateTime", "from", "begin"),
    ),
]
End = Annotated[
    str,
    Field(
        description="when it ends, like 2026-03-01T16:00; of whole days the day after the last",
        min_length=1,
        json_schema_extra=parameter_aliases("endTime", "endDateTime", "until"),
    ),
]
TimeMin = Annotated[
    str,
    Field(
        description="from when on, like 2026-03-01; nothing means now",
        json_schema_extra=parameter_aliases("start", "startTime", "from", "after"),
    ),
]
TimeMax = Annotated[
    str,
    Field(
        description="until when, like 2026-03-07",
        json_schema_extra=parameter_aliases("end", "endTime", "until", "before"),
    ),
]

LISTS = require_scope("calendar.calendarlist.readonly")
READS = require_scope("calendar.events.readonly")
CHANGES = require_scope("calendar.events")


@tool(
    effect="network",
    title="list of calendars",
    action="list your calendars",
    find_access=find_access_later("calendar_list"),
    unavailable_reason=LISTS,
)
async def calendar_list() -> Outcome:
    """List the calendars."""
    from andy_cli.toolbox.google import calendar

    return await calendar.list_calendars()


@tool(
    effect="network",
    title="calendar",
    action="look into your calendar from {timeMin} to {timeMax}",
    find_access=find_access_later("calendar_events"),
    unavailable_reason=READS,
    examples=(
        "what do I have on tomorrow?",
        "am I free on that day?",
    ),
)
async def calendar_events(
    calendarId: CalendarId = "primary", timeMin: TimeMin = "", timeMax: TimeMax = ""
) -> Outcome:
    """List the events in a calendar."""
    from andy_cli.toolbox.google import calendar

    return await calendar.list_events(calendarId, timeMin, timeMax)


@tool(
    effect="act",
    title="event planner",
    action="put {summary|an event} into your calendar",
    find_access=find_access_later("calendar_create"),
    unavailable_reason=CHANGES,
    examples=(
        "put an appointment into my calendar",
        "remind me of it",
    ),
)
async def calendar_create(
    summary: Summary, start: Start, end: End, calendarId: CalendarId = "primary"
) -> Outcome:
    """Make an event in a calendar."""
    from andy_cli.toolbox.google import calendar

    return await calendar.create_event(calendar.plan_event(summary, start, end, calendarId))


@tool(
    effect="act",
    title="event editor",
    action="rename an event in your calendar to {summary}",
    find_access=find_access_later("calendar_update"),
    unavailable_reason=CHANGES,
)
async def calendar_update(
    eventId: EventId, summary: Summary, calendarId: CalendarId = "primary"
) -> Outcome:
    """Give an event another title."""
    from andy_cli.toolbox.google import calendar

    return await calendar.update_event(eventId, summary, calendarId)


@tool(
    effect="act",
    title="event removal",
    action="delete an event from your calendar",
    find_access=find_access_later("calendar_delete"),
    unavailable_reason=CHANGES,
)
async def calendar_delete(eventId: EventId, calendarId: CalendarId = "primary") -> Outcome:
    """Delete an event from a calendar."""
    from andy_cli.toolbox.google import calendar

    return await calendar.delete_event(eventId, calendarId)
