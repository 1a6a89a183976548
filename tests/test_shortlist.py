"""Tool sets that are too large for a model's window: the likely ones whole, the others by name."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.prompt.shortlist import (
    DESCRIBE,
    measure_tool,
    rank_by_meaning,
    rank_by_words,
    shorten_tools,
)
from andy_cli.agent.turn import turn
from andy_cli.events import Event
from andy_cli.guard.gate import Gate
from andy_cli.messages import CallDelta, Chunk, Effect, Schema
from andy_cli.models.inside.encoder import load_encoder
from andy_cli.settings import load
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool
from tests.fakes import ScriptedModel

THINGS = "invoice lease parcel recipe ticket budget garden holiday payroll patent".split()
VERBS = "archive rename export print sign translate weigh audit colour stamp".split()


def a_tool(verb: str, thing: str) -> Tool:
    about = {
        "type": "string",
        "description": f"which {thing} it is, by the number on its first page",
    }
    schema: Schema = {"type": "object", "properties": {thing: about}, "required": [thing]}
    return Tool(
        name=f"{verb}_{thing}",
        description=f"{verb.capitalize()} a {thing} of the house",
        effect=Effect.READ,
        action=f"{verb} {{{thing}}}",
        describe=lambda: schema,
        run=lambda arguments: f"{verb} {arguments[thing]}: done",
    )


def a_hundred() -> Registry:
    return Registry(a_tool(verb, thing) for verb in VERBS for thing in THINGS)


def asked(
    model: ScriptedModel, words: str, *settings: str, registry: Registry | None = None
) -> list[Event]:
    folder = Path.cwd()
    loaded = load(settings, environment={})
    chat = Conversation(model, registry or a_hundred(), Gate(folder), loaded, folder)

    async def every() -> list[Event]:
        return [event async for event in turn(chat, words)]

    return asyncio.run(every())


def call(name: str, **arguments: str) -> list[Chunk]:
    return [Chunk(call=CallDelta(0, "c1", name, json.dumps(arguments))), Chunk(finish="tool_calls")]


def names(tools: tuple[Schema, ...]) -> list[str]:
    return [tool["function"]["name"] for tool in tools]


pytestmark = pytest.mark.usefixtures("home")


def test_the_likeliest_share_the_most_telling_words() -> None:
    tools = a_hundred().functions
    assert rank_by_words("translate the recipes, please", tools)[0] == "translate_recipe"
    assert rank_by_words("Is the garden's audit done?", tools)[0] == "audit_garden"


def test_the_likeliest_mean_what_is_wanted_in_any_language(tmp_path: Path) -> None:
    tools = {
        name: {"function": {"name": name, "description": about}}
        for name, about in (
            ("send_mail", "Send an email to somebody"),
            ("get_weather", "Tell tomorrow's weather"),
            ("book_table", "Reserve a table in a restaurant"),
        )
    }
    encoder = load_encoder(tmp_path)
    assert rank_by_meaning("wird es morgen regnen?", tools, encoder)[0] == "get_weather"
    assert rank_by_meaning("un sitio para cenar, por favor", tools, encoder)[0] == "book_table"


def test_the_likeliest_is_asked_for_in_other_words(tmp_path: Path) -> None:
    tools = {
        name: {"function": {"name": name, "description": about, "parameters": parameters}}
        for name, about, parameters in (
            ("reject_hides", "Take damaged hides out of a lot", {"properties": {"lot": True}}),
            ("hold_load", "Delay boarding of a load by some minutes", {}),
            ("get_wind", "Tell the wind at some level", None),
        )
    }
    encoder = load_encoder(tmp_path)
    said = "cloud's rolling in from the west, nobody boards number 4 for another 20 mins"
    assert rank_by_meaning(said, tools, encoder)[0] == "hold_load"
    assert rank_by_meaning(said, {}, encoder) == []


@pytest.mark.slow
def test_what_does_not_fit_is_named_and_what_is_wanted_first_stays() -> None:
    tools = Registry(
        a_tool(verb, thing) for verb in ("sign", "weigh") for thing in THINGS
    ).functions
    room = 10 * measure_tool(tools["sign_lease"])
    short = shorten_tools(tools, "sign the lease", room, {"weigh_parcel"})
    assert {"sign_lease", "weigh_parcel", DESCRIBE} <= short.whole
    assert len(short.whole) < 10
    assert short.named
    assert short.whole.isdisjoint(short.named)


def test_a_hundred_tools_are_sent_whole_to_a_model_that_has_the_room() -> None:
    model = ScriptedModel(["Hello."], tools=True)
    asked(model, "hello", "limits.context=64000")
    assert len(model.requests[0].tools) == 100


@pytest.mark.slow
def test_a_small_window_gets_the_likely_ones_and_the_names_of_others() -> None:
    model = ScriptedModel([call("sign_lease", lease="7"), "It is signed."], tools=True)
    seen = asked(model, "sign the lease 7", "limits.context=8000")
    sent = names(model.requests[0].tools)
    assert "sign_lease" in sent
    assert DESCRIBE in sent
    assert len(sent) < 50
    system = str(model.requests[0].messages[0]["content"])
    assert f"Look one up with {DESCRIBE}" in system
    named = system.partition("before you use it: ")[2]
    assert "sign_lease" not in named.split(", ")
    assert any(isinstance(event, events.ToolAnswered) for event in seen)


@pytest.mark.slow
def test_a_tool_that_was_looked_up_is_offered_whole_from_then_on() -> None:
    script: list[Any] = [
        call(DESCRIBE, what="weigh_parcel"),
        call("weigh_parcel", parcel="12"),
        "Done.",
    ]
    model = ScriptedModel(script, tools=True)
    seen = asked(model, "do the thing with number 12", "limits.context=6000")
    before, after = (names(request.tools) for request in model.requests[:2])
    assert "weigh_parcel" not in before
    assert "weigh_parcel" in after
    results = [event.output for event in seen if isinstance(event, events.ToolAnswered)]
    assert json.loads(results[0])[0]["name"] == "weigh_parcel"
    assert "weigh 12: done" in results[1]


@pytest.mark.slow
def test_tools_that_are_taught_in_the_prompt_are_shortlisted_too() -> None:
    model = ScriptedModel(["There."])
    asked(model, "print the ticket", "limits.context=8000", "dialect=hermes")
    system = str(model.requests[0].messages[0]["content"])
    assert '"print_ticket"' in system
    assert system.count('"name": ') < 50
    assert f"Look one up with {DESCRIBE}" in system


@pytest.mark.slow
def test_nobody_is_asked_about_looking_tools_up(home: Path) -> None:
    model = ScriptedModel([call(DESCRIBE, what="payroll"), "There."], tools=True)
    seen = asked(model, "hello there", "limits.context=6000")
    ended = [event for event in seen if isinstance(event, events.ToolAnswered)]
    assert [event.status for event in ended] == ["success"]
    assert ended[0].did == "looked up 4 tools"
    assert not any(isinstance(event, events.Consented) for event in seen)
