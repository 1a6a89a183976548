"""Google Calendar: calendars and their events.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from andy_cli.toolbox.google.lazy import google_tool
from andy_cli.toolbox.tool import Outcome, parameter

CalendarId = Annotated[str, parameter("id of the calendar", aliases=["calendar"])]
EventId = Annotated[str, parameter("id of the event", aliases=["id", "event"], min_length=1)]
Summary = Annotated[
    str,
    parameter("title of the event", aliases=["title", "name", "subject"], min_length=1),
]
Start = Annotated[
    str,
    parameter(
        "when it starts, like 2026-03-01T15:00, or 2026-03-01 for the whole day",
        aliases=["startTime", "startDateTime", "from", "begin"],
        min_length=1,
    ),
]
End = Annotated[
    str,
    parameter(
        "when it ends, like 2026-03-01T16:00; of whole days the day after the last",
        aliases=["endTime", "endDateTime", "until"],
        min_length=1,
    ),
]
TimeMin = Annotated[
    str,
    parameter(
        "from when on, like 2026-03-01; nothing means now",
        aliases=["start", "startTime", "from", "after"],
    ),
]
TimeMax = Annotated[
    str,
    parameter("until when, like 2026-03-07", aliases=["end", "endTime", "until", "before"]),
]

LISTS = "calendar.calendarlist.readonly"
READS = "calendar.events.readonly"
CHANGES = "calendar.events"


@google_tool(
    LISTS,
    effect="network",
    title="list of calendars",
    action="list your calendars",
)
async def calendar_list() -> Outcome:
    """List the calendars."""
    from andy_cli.toolbox.google import calendar

    return await calendar.list_calendars()


@google_tool(
    READS,
    effect="network",
    title="calendar",
    action="look into your calendar from {timeMin} to {timeMax}",
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


@google_tool(
    CHANGES,
    effect="act",
    title="event planner",
    action="put {summary|an event} into your calendar",
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


@google_tool(
    CHANGES,
    effect="act",
    title="event editor",
    action="rename an event in your calendar to {summary}",
)
async def calendar_update(
    eventId: EventId, summary: Summary, calendarId: CalendarId = "primary"
) -> Outcome:
    """Give an event another title."""
    from andy_cli.toolbox.google import calendar

    return await calendar.update_event(eventId, summary, calendarId)


@google_tool(
    CHANGES,
    effect="act",
    title="event removal",
    action="delete an event from your calendar",
)
async def calendar_delete(eventId: EventId, calendarId: CalendarId = "primary") -> Outcome:
    """Delete an event from a calendar."""
    from andy_cli.toolbox.google import calendar

    return await calendar.delete_event(eventId, calendarId)
