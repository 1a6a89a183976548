"""Clients of the chat API that know functions and no tools."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import is_legacy, read_legacy_request
from tests.http_server import PLAIN
from tests.model_server import ModelServer, event, status, streamed
from tests.serve_process import ANSWER, CALLS, SCHEMAS, TASK, behind, result_of, schema, serving

FUNCTIONS = [
    {"name": name, "description": about, "parameters": schema(name)}
    for name, (about, _, _) in SCHEMAS.items()
]
CALL = {"name": "list_mp3s", "arguments": '{"path": "~/mp3"}'}
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": TASK},
    {"role": "assistant", "content": None, "function_call": CALL},
    {"role": "function", "name": "list_mp3s", "content": "[]"},
]


@pytest.fixture(scope="module", params=["hermes", "andybot", "native"])
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with behind(tmp_path_factory.mktemp("home"), request.param) as found:
        yield found


def ask(address: str, stream: bool, **fields: Any) -> tuple[dict[str, Any], str]:  # noqa: ANN401
    """The message, and why it ended."""
    body = {"model": "m", "functions": FUNCTIONS, "stream": stream, **fields}
    response = httpx2.post(f"{address}/v1/chat/completions", json=body, timeout=30, verify=PLAIN)
    assert response.status_code == 200, response.text
    if not stream:
        choice = response.json()["choices"][0]
        return choice["message"], choice["finish_reason"]
    lines = [line[6:] for line in response.text.split("\n") if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    choices = [json.loads(line)["choices"][0] for line in lines[:-1]]
    return join_deltas([choice["delta"] for choice in choices]), choices[-1]["finish_reason"]


def join_deltas(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for delta in deltas:
        assert "tool_calls" not in delta
        message["content"] += delta.get("content") or ""
        for key, text in delta.get("function_call", {}).items():
            call = message.setdefault("function_call", {"name": "", "arguments": ""})
            call[key] += text
    return message


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_knows_functions_lists_and_plays(address: str, stream: bool) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    calls = []
    for _ in range(5):
        message, reason = ask(address, stream, messages=messages)
        assert "tool_calls" not in message
        if reason != "function_call":
            break
        call = message["function_call"]
        arguments = json.loads(call["arguments"])
        calls.append((call["name"], arguments))
        result = result_of(call["name"], arguments)
        messages += [message, {"role": "function", "name": call["name"], "content": result}]
    assert (calls, reason) == (CALLS, "stop")
    assert ANSWER in message["content"]


@pytest.mark.slow
def test_a_model_that_takes_tools_gets_tools_and_one_call_is_answered(tmp_path: Path) -> None:
    pieces = [{"index": at, "id": f"c{at}", "type": "function", "function": CALL} for at in (0, 1)]
    reply = [status(), event({"tool_calls": pieces}), event({}, "tool_calls")]
    with (
        ModelServer([reply, streamed("Done.")]) as model,
        serving(tmp_path, "--upstream", model.url, "--model", "gpt-9") as address,
    ):
        wanted = {"name": "list_mp3s"}
        message, reason = ask(address, False, messages=HISTORY[:1], function_call=wanted)
        assert message["function_call"] == CALL
        assert (message["content"], reason) == (None, "function_call")
        sent = model.requests[0].body
        assert not {"functions", "function_call"} & set(sent)
        assert [tool["function"]["name"] for tool in sent["tools"]] == [*SCHEMAS]
        assert sent["tool_choice"]["function"] == wanted
        # Functions may be left out in later requests of a conversation.
        assert ask(address, False, messages=HISTORY, functions=None)[0]["content"] == "Done."
        told = model.requests[1].body["messages"]
        assert [message["role"] for message in told] == ["user", "assistant", "tool"]
        assert told[1]["tool_calls"][0]["id"] == told[2]["tool_call_id"]


def test_results_belong_to_the_calls_before_them() -> None:
    again = [*HISTORY, *HISTORY[1:], {"role": "function", "name": "list_mp3s", "content": "x"}]
    made = read_legacy_request({"messages": again, "functions": FUNCTIONS, "function_call": "none"})
    calls = [call.id for message in made.history for call in message.calls]
    results = [message.call_id for message in made.history if message.role == "tool"]
    assert results[:2] == calls
    assert len(set(results)) == 3
    assert (made.choice.how, made.parallel) == ("none", False)


def test_what_is_wrong_is_said_in_the_words_of_the_client() -> None:
    for body, words in (
        ({"messages": HISTORY, "functions": 5}, "functions is a list"),
        ({"messages": HISTORY, "functions": FUNCTIONS, "function_call": {"name": "x"}}, "'x'"),
        ({"messages": [5], "functions": FUNCTIONS}, "messages"),
    ):
        with pytest.raises(ApiError, match=words):
            read_legacy_request(body)


def test_who_knows_tools_is_answered_with_tools() -> None:
    tools = [{"type": "function", "function": FUNCTIONS[0]}]
    assert not is_legacy({"messages": HISTORY, "tools": tools, "functions": FUNCTIONS})
    assert not is_legacy({"messages": HISTORY[:1]})
    assert is_legacy({"messages": HISTORY})
