"""The tasks that `andy models probe` gives a model, and when one is carried out.

The tools say what their scripts say and touch nothing. What a right answer needs cannot be guessed.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from andy_cli import events
from andy_cli.events import Event
from andy_cli.messages import Arguments, Schema, Status
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import tool


class TableGuest(BaseModel):
    name: str
    people: int = Field(ge=1, description="how many come, the guest included")


@tool(effect="read", action="look up the weather in {city}")
def current_weather(city: str) -> dict[str, object]:
    """Tell the weather in a city"""
    degrees = {"oslo": 4, "cairo": 31, "lisbon": 17}.get(city.partition(",")[0].strip().lower(), 12)
    return {"city": city, "degrees_celsius": degrees, "sky": "cloudy"}


@tool(effect="read", action="set a timer for {minutes} minutes")
def set_timer(minutes: int, repeat: bool = False) -> str:
    """Set a kitchen timer"""
    return f"The timer is set for {minutes} minutes{', repeating' if repeat else ''}."


@tool(effect="read", action="look up {name}")
def find_contact(name: str) -> dict[str, str]:
    """Find a person in the address book"""
    return {"name": name, "phone": "+46 70 555 01 42", "town": "Lund"}


@tool(effect="read", action="search the notes for {text}")
def search_notes(
    text: Annotated[str, Field(description="what to search for")],
    folder: Annotated[str | None, Field(description="only in this folder")] = None,
    limit: Annotated[int, Field(ge=1, description="how many notes at most")] = 10,
) -> list[dict[str, str]]:
    """Search the user's notes"""
    return [{"title": "Rye and water", "about": text}]


@tool(effect="read", action="look up order {number}")
def order_status(number: int) -> dict[str, object]:
    """Tell where an order is"""
    return {"number": number, "state": "at the shop", "pickup_code": "KESTREL-88"}


@tool(effect="read", action="book a table at {restaurant}")
def book_table(restaurant: str, guest: TableGuest) -> dict[str, object]:
    """Book a table at a restaurant"""
    return {"restaurant": restaurant, "confirmed": True}


@tool(effect="read", action="convert {amount} {unit}")
def convert_length(amount: float, unit: str, into: str) -> dict[str, object]:
    """Convert a length into another unit"""
    return {"amount": round(amount * 1.609, 3), "unit": into}


TOOLS = {
    probe_tool.name: probe_tool
    for probe_tool in (
        current_weather,
        set_timer,
        find_contact,
        search_notes,
        order_status,
        book_table,
        convert_length,
    )
}

MAX_TOOLS = tuple(name for name in TOOLS if name != "book_table")


class WantedCall(NamedTuple):
    """A call: arguments that are not named must be left out or have their default."""

    tool: str
    arguments: Arguments


class ProbeTask(NamedTuple):
    name: str
    said: str
    """The user's words."""
    tools: tuple[str, ...]
    calls: tuple[WantedCall, ...] = ()
    """Each must be made, in whatever order, and no other."""
    answer: str = ""
    """The text that the answer must hold; it stands in a result."""


TASKS = (
    ProbeTask(
        "one call",
        "What is the weather in Lisbon?",
        ("current_weather", "set_timer"),
        (WantedCall("current_weather", {"city": "Lisbon"}),),
    ),
    ProbeTask(
        "typed arguments",
        "Set a timer for 25 minutes and let it repeat.",
        ("current_weather", "set_timer"),
        (WantedCall("set_timer", {"minutes": 25, "repeat": True}),),
    ),
    ProbeTask(
        "one tool of six",
        "What is the phone number of Mara Lindqvist?",
        MAX_TOOLS,
        (WantedCall("find_contact", {"name": "Mara Lindqvist"}),),
    ),
    ProbeTask(
        "two calls",
        "Tell me the weather in Oslo and the weather in Cairo.",
        ("current_weather", "order_status"),
        (
            WantedCall("current_weather", {"city": "Oslo"}),
            WantedCall("current_weather", {"city": "Cairo"}),
        ),
    ),
    ProbeTask(
        "use of a result",
        "What is the pickup code of order 4711?",
        ("order_status", "find_contact"),
        (WantedCall("order_status", {"number": 4711}),),
        answer="KESTREL-88",
    ),
    ProbeTask("no call", "Good morning! How are you today?", ("current_weather", "find_contact")),
    ProbeTask(
        "optional left out",
        "Search my notes for sourdough.",
        ("search_notes", "find_contact"),
        (WantedCall("search_notes", {"text": "sourdough"}),),
    ),
    ProbeTask(
        "nested argument",
        "Book a table at Trattoria Blu for Ines Moreau, 4 people.",
        ("book_table", "find_contact"),
        (
            WantedCall(
                "book_table",
                {"restaurant": "Trattoria Blu", "guest": {"name": "Ines Moreau", "people": 4}},
            ),
        ),
    ),
)


def offer_tools(task: ProbeTask) -> Registry:
    return Registry(TOOLS[name] for name in task.tools)


def find_fault(task: ProbeTask, turn_events: Sequence[Event]) -> str:
    """Say why the turn did not carry the task out; empty if it did.

    Calls that were refused and corrected do not count against it: they cost tokens.
    """
    if fault := compare_calls(task.calls, find_calls_made(turn_events)):
        return fault
    answer = next(
        (event.result for event in reversed(turn_events) if isinstance(event, events.Ended)), ""
    )
    if not answer.strip():
        return "it answered nothing"
    if task.answer.lower() not in answer.lower():
        return f"the answer does not say {task.answer}"
    return ""


def is_lost(task: ProbeTask, turn_events: Sequence[Event]) -> bool:
    """Tell whether a call was made that is not wanted, so that no other makes it good."""
    return bool(find_unwanted(task.calls, find_calls_made(turn_events)))


def compare_calls(wanted_calls: Sequence[WantedCall], calls: Sequence[WantedCall]) -> str:
    """Say which call was made and not wanted, or wanted and not made; else nothing."""
    if fault := find_unwanted(wanted_calls, calls):
        return fault
    for wanted_call in wanted_calls:
        if not any(_matches_call(call, wanted_call) for call in calls):
            return f"it did not call {wanted_call.tool} with {dict(wanted_call.arguments)}"
    return ""


def find_unwanted(wanted_calls: Sequence[WantedCall], calls: Sequence[WantedCall]) -> str:
    """Say which call was made and not wanted; else nothing."""
    for call in calls:
        if not any(_matches_call(call, wanted_call) for wanted_call in wanted_calls):
            return f"it called {call.tool} with {dict(call.arguments)}"
    return ""


def find_calls_made(turn_events: Sequence[Event]) -> list[WantedCall]:
    """The calls that were carried out."""
    finished_ids = {
        event.tool_id
        for event in turn_events
        if isinstance(event, events.ToolAnswered) and event.status is Status.SUCCESS
    }
    return [
        WantedCall(event.tool_name, event.parameters)
        for event in turn_events
        if isinstance(event, events.ToolUsed) and event.tool_id in finished_ids
    ]


def _matches_call(call: WantedCall, wanted_call: WantedCall) -> bool:
    if call.tool != wanted_call.tool:
        return False
    written = _drop_defaults(call.arguments, TOOLS[call.tool].schema["properties"])
    return _matches_members(written, wanted_call.arguments)


def _matches_members(members: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    if members.keys() != wanted.keys():
        return False
    return all(_matches_value(members[name], value) for name, value in wanted.items())


def _drop_defaults(arguments: Arguments, properties: Mapping[str, Schema]) -> Arguments:
    """Without those that say what would be so without them."""
    return {
        name: value
        for name, value in arguments.items()
        if value not in (None, "") and value != properties.get(name, {}).get("default", ...)
    }


def _matches_value(value: object, wanted_value: object) -> bool:
    """A text may say more (`Lisbon, Portugal`); everything else is equal and of the same type."""
    if isinstance(wanted_value, str):
        return isinstance(value, str) and wanted_value.lower() in value.lower()
    if isinstance(wanted_value, Mapping):
        return isinstance(value, Mapping) and _matches_members(value, wanted_value)
    return type(value) is type(wanted_value) and value == wanted_value
