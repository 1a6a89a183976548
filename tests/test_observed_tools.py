"""A server that accepts tools and does not show them to its model is noticed."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.model.model_session import FIRST_TRIAL, ObservedTools, PromptTokens
from andy_cli.messages import Learned
from andy_cli.models.client import Endpoint
from andy_cli.models.http.features import find_features, refuses_any_tools
from andy_cli.models.http.refusals import read_refusal
from andy_cli.models.inside.local_server import Engine
from andy_cli.models.memory import learn_called, learn_without, recall_model
from tests.http_server import PLAIN
from tests.model_server import Answer, ModelServer, Received, answered, refused, streamed
from tests.serve_client import MP3S, USER, calls_of, serving
from tests.shell import andy

pytest_plugins = "tests.small_weights"

MODEL = "nobody-knows:7b"

sizes = st.integers(0, 20_000)
ratios = st.floats(0.62, 1.45)


@given(sizes, st.integers(0, 20_000), ratios, st.floats(0.4, 1.3), st.integers(0, 50))
def test_a_server_that_shows_its_model_the_tools_is_never_taken_for_one_that_does_not(
    messages: int, tools: int, wrong: float, shorter: float, overhead: int
) -> None:
    observed = ObservedTools()
    counted = int(messages * wrong + tools * shorter + overhead)
    observed.note_reply(False, PromptTokens(messages, tools, counted))
    assert not observed.ignored


@given(st.integers(120, 5_000), st.floats(0.82, 1.28), st.integers(0, 50))
def test_a_server_that_leaves_many_tools_out_is_noticed_by_its_first_count(
    messages: int, wrong: float, overhead: int
) -> None:
    observed = ObservedTools()
    observed.note_reply(
        False, PromptTokens(messages, 4 * messages, int(messages * wrong) + overhead)
    )
    assert observed.ignored


def test_two_counts_that_follow_the_messages_are_believed_of_short_requests() -> None:
    observed = ObservedTools()
    observed.note_reply(False, PromptTokens(20, 900, 25))
    assert not observed.ignored
    observed.note_reply(False, PromptTokens(90, 900, 95))
    assert observed.ignored


# From 96 on, 0.8 of 120, one count alone may come near enough to be believed.
@given(st.integers(0, 95), st.lists(st.integers(0, 300), min_size=2, max_size=9))
def test_a_server_that_always_reports_the_same_count_is_not_believed(
    always: int, requests: list[int]
) -> None:
    observed = ObservedTools()
    for messages in requests:
        observed.note_reply(False, PromptTokens(messages, 900, always))
    assert not observed.ignored


def test_a_call_settles_it() -> None:
    observed = ObservedTools()
    observed.note_reply(True, PromptTokens(300, 3000, 300))
    for _ in range(9):
        observed.note_reply(False, PromptTokens(300, 3000, 300))
    assert (observed.sure, observed.ignored, observed.trial) == (True, False, False)


def test_replies_that_never_call_lead_to_a_trial_and_its_call_decides() -> None:
    observed = ObservedTools()
    for _ in range(FIRST_TRIAL):
        assert not observed.trial
        observed.note_reply(False, PromptTokens(300, 3000, 0))
    assert observed.trial
    observed.note_trial(called=True)
    assert observed.ignored


def test_after_a_trial_in_vain_the_next_one_comes_later() -> None:
    observed, waited = ObservedTools(), []
    for _ in range(2):
        replies = 0
        while not observed.trial:
            observed.note_reply(False, PromptTokens(300, 3000, 0))
            replies += 1
        observed.note_trial(called=False)
        waited.append(replies)
    assert waited == [FIRST_TRIAL, 2 * FIRST_TRIAL]
    assert not observed.ignored


NOT_TAKEN = (
    "registry.ollama.ai/library/gemma3:latest does not support tools",
    'No endpoints found that support tool use. Try disabling "list_mp3s".',
    "tools param requires --jinja flag",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "Function calling is not enabled for models/gemma-3-4b-it",
    "`tool calling` is not supported with this model",
    "Unrecognized request argument supplied: tools",
    "Extra inputs are not permitted, field: 'tools', value: [...]",
    "This model doesn't support tool use in streaming mode.",
)
NOT_THESE = (
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 200.",
    "tools: Tool names must be unique.",
    "Too many tools: no more than 64 functions can be declared, not 80.",
)
NOT_THIS_ONE = (
    "Invalid schema for function 'now': In context=('properties',), 'oneOf' is not permitted.",
    "Invalid 'tools[0].function.name': string does not match pattern.",
    "tools.0.custom.input_schema: JSON schema is invalid",
    "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.",
)
BODY = {
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "now", "parameters": {}}}],
}


@pytest.mark.parametrize("said", NOT_TAKEN)
def test_a_refusal_of_tools_as_such_is_known(said: str) -> None:
    refusal = read_refusal({"error": {"message": said.replace("list_mp3s", "x")}})
    assert "tools" in find_features(400, refusal, BODY)
    assert refuses_any_tools(refusal)


def test_a_field_that_is_refused_by_its_place_is_one_of_all_tools() -> None:
    row = {"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Not here."}
    assert refuses_any_tools(read_refusal({"detail": [row]}))


@pytest.mark.parametrize("said", NOT_THESE)
def test_a_refusal_of_these_tools_says_nothing_of_others(said: str) -> None:
    refusal = read_refusal({"error": {"message": said}})
    assert "tools" in find_features(400, refusal, BODY)
    assert not refuses_any_tools(refusal)


@pytest.mark.parametrize("said", NOT_THIS_ONE)
def test_a_refusal_of_one_tool_is_no_reason_to_do_without_all(said: str) -> None:
    assert "tools" not in find_features(400, read_refusal({"error": {"message": said}}), BODY)


# In chat, run and serve.


def tokens_of(text: str) -> int:
    return len(text) // 4


def whole(message: Mapping[str, object], finish: str = "stop", count: int = 0) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": count, "completion_tokens": 7} if count else None
    return answered({"id": "c1", "object": "chat.completion", "choices": [choice], "usage": usage})


def leave_tools_out(*, usage: bool) -> Callable[[Received], Answer]:
    """A server whose model never sees `tools`; it asks for one if its prompt teaches them."""

    def answer(received: Received) -> Answer:
        messages = received.body["messages"]
        text = json.dumps(messages)
        said = "I cannot see your files."
        if "pyproject.toml" in text:  # the result is there
            said = '{"final": {"content": "There you are."}}'
        elif "list_directory" in text:
            said = '{"action": "list_directory", "action_input": {"path": "."}}'
        counted = {"prompt_tokens": tokens_of(text), "completion_tokens": 5}
        last = {"op": "sse", "data": {"id": "c1", "choices": [], "usage": counted}}
        *events, done = streamed(said)
        return [*events, last, done] if usage else [*events, done]

    return answer


def run(home: Path, server: ModelServer) -> list[dict[str, Any]]:
    where = ("--base-url", server.url, "--model", MODEL, "-o", "stream-json")
    done = andy("run", *where, "What is here?", home=home)
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.slow
def test_a_server_that_says_its_template_takes_no_tools_is_not_sent_any(home: Path) -> None:
    facts = {"/props": {"chat_template_caps": {"supports_tools": False}}}
    with ModelServer(leave_tools_out(usage=False), facts=facts) as server:
        first, second = run(home, server), run(home, server)
        assert recall_model(Endpoint("openai", MODEL, server.url)).native is False
    assert [each["dialect"] for each in (first[0], second[0])] == ["action", "action"]
    assert not any(each.body.get("tools") for each in server.requests)


@pytest.mark.slow
def test_a_count_that_leaves_no_room_for_the_tools_has_them_taught_in_the_same_turn(
    home: Path,
) -> None:
    with ModelServer(leave_tools_out(usage=True)) as server:
        first, second = run(home, server), run(home, server)
    assert [each["kind"] for each in first if each["type"] == "error"] == ["no_tools"]
    assert [bool(each.body.get("tools")) for each in server.requests[:2]] == [True, False]
    assert "list_directory" in [each.get("tool_name") for each in first]
    assert second[0]["dialect"] == "action"
    shown = andy("models", "info", MODEL, "--base-url", server.url, "--json", home=home).out
    del shown


@pytest.mark.slow
def test_replies_that_never_call_have_the_tools_taught_at_last(home: Path) -> None:
    with ModelServer(leave_tools_out(usage=False)) as server:
        seen = [run(home, server) for _ in range(FIRST_TRIAL + 2)]
    used = [any(each["type"] == "tool_use" for each in turn) for turn in seen]
    assert used == [False] * FIRST_TRIAL + [True, True]
    assert names_sent(server)[-1] == []


@pytest.mark.slow
def test_what_a_server_refused_is_left_out_by_the_next_run_and_shown(home: Path) -> None:
    def answer(received: Received) -> Answer:
        if "stream_options" in received.body:
            return refused(400, "Unrecognized request argument supplied: stream_options")
        return streamed("Hello.")

    with ModelServer(answer, models=[MODEL]) as server:
        run(home, server)
        run(home, server)
        shown = andy("models", "info", MODEL, "--base-url", server.url, home=home).out
    assert ["stream_options" in each.body for each in server.requests] == [True, False, False]
    assert "server refuses" in shown
    assert "stream_options" in shown


TOOLS = {tool["function"]["name"]: tool for tool in MP3S}


def names_sent(server: ModelServer) -> list[list[str]]:
    """The tools of each request that a server got."""
    sent = [each.body.get("tools", []) for each in server.requests]
    return [[tool["function"]["name"] for tool in tools] for tools in sent]


def test_serve_teaches_tools_to_a_model_whose_server_leaves_them_out(
    home: Path,
) -> None:
    def answer(received: Received) -> Answer:
        text = json.dumps(received.body["messages"])
        said = '{"action": "ping", "action_input": {}}' if "ping" in text else "I cannot."
        return whole({"content": said}, count=tokens_of(text))

    kind = {"role": "system", "content": "Be kind to everybody who asks. " * 60}
    long = {**TOOLS["ping"]["function"], "description": "See whether somebody is there. " * 200}
    with ModelServer(answer) as server, serving(server.url, home=home) as served:
        tools = [{"type": "function", "function": long}]
        got = served.ask(kind, USER, tools=tools, model=MODEL)
        assert calls_of(got["choices"][0]["message"]) == [("ping", {})]
        assert recall_model(Endpoint("openai", MODEL, server.url)).native is False
    assert names_sent(server) == [["ping"], []]


def test_the_tools_of_one_client_do_not_decide_for_all(home: Path) -> None:
    def answer(received: Received) -> Answer:
        names = [tool["function"]["name"] for tool in received.body.get("tools", [])]
        if "play_mp3" in names:
            return refused(400, "tools: Tool names must be unique.")
        if not names:
            return whole({"content": '{"action": "play_mp3", "action_input": {"file": "a"}}'})
        function = {"name": "ping", "arguments": "{}"}
        call = {"id": "call_12345", "type": "function", "function": function}
        return whole({"content": None, "tool_calls": [call]}, "tool_calls")

    with ModelServer(answer) as server, serving(server.url, home=home) as served:
        asked = ["play_mp3", "ping", "play_mp3", "ping"]
        messages = [served.message(USER, tools=[TOOLS[name]], model=MODEL) for name in asked]
    assert [name for each in messages for name, _ in calls_of(each)] == asked
    assert names_sent(server) == [["play_mp3"], [], ["ping"], [], ["ping"]]


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["v1/chat/completions", "v1/messages"])
def test_what_a_server_does_not_take_of_a_request_is_told(
    home: Path, path: str, stream: bool
) -> None:
    def answer(received: Received) -> Answer:
        if "temperature" in received.body:
            return refused(400, "Unsupported parameter: 'temperature' is not supported.")
        return streamed("Hello.") if received.body["stream"] else whole({"content": "Hello."})

    body = {"model": "m", "messages": [USER], "max_tokens": 9, "stream": stream}
    with ModelServer(answer) as server, serving(server.url, home=home) as served:
        told = [
            httpx2.post(
                f"{served.url}/{path}", json={**body, **more}, timeout=30, verify=PLAIN
            ).headers
            for more in ({"temperature": 0.5}, {"temperature": 0.5}, {})
        ]
    found = [each["x-andy-compiled"].partition(";without=")[2] for each in told]
    assert found == ["temperature", "temperature", ""]
    assert len(server.requests) == 4


def test_a_value_of_one_client_that_is_too_large_changes_nothing_for_others(home: Path) -> None:
    def answer(received: Received) -> Answer:
        if received.body.get("max_tokens", 0) > 8192:
            return refused(400, "max_tokens is too large: 9000. This model writes at most 8192.")
        return whole({"content": "Hello."})

    with ModelServer(answer) as server, serving(server.url, home=home) as served:
        for limit in (9000, 50):
            served.ask(USER, tools=[], max_tokens=limit)
    assert [each.body.get("max_tokens") for each in server.requests] == [9000, None, 50]


@pytest.mark.slow
def test_the_small_model_behind_a_server_of_its_own_is_taught(
    home: Path, weights_file: Path
) -> None:
    """The template of SmolLM2 has no place for tools, and llama.cpp says so."""
    engine = Engine(weights_file)
    where = ("--base-url", f"{engine.address}/v1", "--json")
    shown = andy("models", "info", *where, home=home, OPENAI_API_KEY=engine.key)
    told = json.loads(shown.out)
    assert (told["dialect"], told["native_tools"]) == ("andybot", False)


def test_what_was_learned_is_forgotten_after_a_month(home: Path) -> None:
    endpoint = Endpoint("openai", MODEL, "http://127.0.0.1:1/v1")
    learn_called(endpoint, date(2026, 1, 1))
    learn_without(endpoint, {"stop"}, date(2026, 1, 1))
    learn_without(endpoint, {"seed"}, date(2026, 1, 20))
    assert recall_model(endpoint, date(2026, 1, 31)) == Learned(
        native=True, native_on="2026-01-01", without=("seed", "stop")
    )
    assert recall_model(endpoint, date(2026, 2, 10)) == Learned(without=("seed",))
