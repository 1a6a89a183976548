"""`andy serve` before an Ollama: each wire is answered by Ollama's own API; no prompt is cut."""

import concurrent.futures
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from andy_cli.errors import UsageError
from andy_cli.frontends.serve.upstream.upstreams import read_address
from tests.http_server import PLAIN
from tests.model_server import (
    Answer,
    ModelServer,
    Received,
    called,
    ollama_end,
    ollama_event,
    ollama_reply,
    raw,
    refused,
    status,
    streamed,
)
from tests.serve_client import MP3S, USER, Served, calls_of, joined, serving

pytestmark = pytest.mark.slow

SHOW = {"model_info": {"a.context_length": 40960}, "capabilities": ["completion", "tools"]}
LIST = {"function": {"name": "list_mp3s", "arguments": {"path": "~/mp3"}}}
CALL = ollama_reply(ollama_event("I look."), ollama_event(tool_calls=[LIST]), ollama_end())
HELLO = ollama_reply(ollama_event("Hel"), ollama_event("lo."), ollama_end())
TEXT_CALL = '<tool_call>\n{"name": "list_mp3s", "arguments": {"path": "~/mp3"}}\n</tool_call>'
Script = list[Answer]


@contextmanager
def before_ollama(
    home: Path, *script: Answer, show: object = SHOW, words: tuple[str, ...] = ()
) -> Iterator[tuple[Served, ModelServer]]:
    with (
        ModelServer(script, facts={"/api/show": show}, ollama=True) as model,
        serving(f"ollama+{model.url}", "--model", "m", *words, home=home) as server,
    ):
        yield server, model


def options(model: ModelServer, number: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = model.requests[number].body["options"]
    return found


FUNCTIONS = [each["function"] for each in MP3S]
RESPONSES_TOOLS = [{"type": "function", **each} for each in FUNCTIONS]
CLAUDE_TOOLS = [
    {"name": each["name"], "description": "d", "input_schema": each["parameters"]}
    for each in FUNCTIONS
]
WIRES: dict[str, dict[str, Any]] = {
    "v1/chat/completions": {"messages": [USER], "tools": MP3S},
    "v1/responses": {"input": USER["content"], "tools": RESPONSES_TOOLS},
    "v1/messages": {"messages": [USER], "tools": CLAUDE_TOOLS, "max_tokens": 50},
    "api/chat": {"messages": [USER], "tools": MP3S},
}


@pytest.mark.parametrize("script", [CALL, ollama_reply(ollama_event(TEXT_CALL), ollama_end())])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", WIRES)
def test_a_call_comes_through_on_every_wire(
    path: str, stream: bool, script: Answer, home: Path
) -> None:
    with before_ollama(home, script) as (server, model):
        body = {"model": "m", "stream": stream, **WIRES[path]}
        answer = httpx2.post(f"{server.url}/{path}", json=body, timeout=30, verify=PLAIN)
    assert answer.status_code == 200, answer.text
    assert "list_mp3s" in answer.text
    assert "~/mp3" in answer.text
    assert "<tool_call>" not in answer.text
    sent = model.requests[0].body
    assert [each["function"]["name"] for each in sent["tools"]] == ["list_mp3s", "play_mp3", "ping"]
    assert (sent["model"], sent["options"]["num_ctx"], sent["truncate"]) == ("m", 8192, False)


def test_calls_and_their_results_are_told_in_ollamas_words(home: Path) -> None:
    with before_ollama(home, CALL, HELLO) as (server, model):
        first = server.message(USER)
        assert calls_of(first) == [("list_mp3s", {"path": "~/mp3"})]
        id = first["tool_calls"][0]["id"]
        told = {"role": "tool", "tool_call_id": id, "content": "a.mp3"}
        assert joined(server.stream(USER, first, told))["text"] == "Hello."
    _, made, result = model.requests[1].body["messages"]
    assert made["tool_calls"][0]["function"] == LIST["function"]
    assert (result["tool_name"], result["content"]) == ("list_mp3s", "a.mp3")


def test_what_a_client_asks_for_is_asked_in_ollamas_words(home: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    asked = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "?"}, picture]}],
        "temperature": 0.5,
        "seed": 7,
        "stop": ["END"],
        "max_completion_tokens": 100,
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}},
        "reasoning_effort": "none",
    }
    with before_ollama(home, HELLO) as (server, model):
        answer = server.post({"model": "m", **asked})
    message = answer.json()["choices"][0]["message"]
    assert message["content"] == "Hello."
    assert options(model) == {
        "temperature": 0.5,
        "seed": 7,
        "stop": ["END"],
        "num_predict": 100,
        "num_ctx": 8192,
    }
    sent = model.requests[0].body
    assert (sent["format"], sent["think"]) == (schema, False)
    assert sent["messages"][0]["images"] == ["iVBORw0KGgo="]


def test_a_picture_that_would_have_to_be_fetched_is_refused(home: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    with before_ollama(home, HELLO) as (server, model):
        answer = server.post({"messages": [{"role": "user", "content": [picture]}]})
    assert (answer.status_code, model.requests) == (400, [])
    assert "data:" in answer.json()["error"]["message"]


def test_the_context_grows_for_whoever_needs_it_and_stays(home: Path) -> None:
    long = {"role": "user", "content": "word " * 12_000}
    with before_ollama(home, HELLO) as (server, model):
        for message in (USER, long, USER):
            server.message(message)
        asked = [each for each in model.others if each.path == "/api/show"]
    sizes = [each.body["options"]["num_ctx"] for each in model.requests]
    assert sizes == [8192, 32768, 32768]
    assert len(asked) <= 2  # once for its abilities
    with before_ollama(home, HELLO, words=("--set", "limits.context=9000")) as (server, model):
        server.message(long)
    assert options(model)["num_ctx"] == 9000


def test_what_does_not_fit_is_the_clients_to_shorten(home: Path) -> None:
    said = '{"error": "the input length exceeds the context length"}'
    long = [status(400, {"content-type": "application/json"}), raw(said)]
    with before_ollama(home, long) as (server, model):
        answer = server.post({"model": "m", "messages": [USER]})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "context_length_exceeded"
    sizes = [each.body["options"]["num_ctx"] for each in model.requests]
    assert sizes == [8192, 16384, 32768, 40960]


def test_a_client_of_ollamas_wire_may_say_how_much_is_read_and_thought(home: Path) -> None:
    body = {
        "model": "m",
        "messages": [USER],
        "stream": False,
        "think": False,
        "keep_alive": "1h",
        "options": {"num_ctx": 20_000, "num_predict": -1},
    }
    with before_ollama(home, HELLO) as (server, model):
        answer = httpx2.post(f"{server.url}/api/chat", json=body, verify=PLAIN)
    assert answer.json()["message"]["content"] == "Hello."
    sent = model.requests[0].body
    assert (sent["think"], sent["keep_alive"], sent["options"]) == (False, "1h", {"num_ctx": 32768})
    with (
        ModelServer([streamed("Hello.")]) as model,
        serving(model.url, "--model", "m", home=home) as server,
    ):
        assert httpx2.post(f"{server.url}/api/chat", json=body, verify=PLAIN).status_code == 200
    assert not {"num_ctx", "think", "keep_alive", "max_tokens"} & set(model.requests[0].body)


@pytest.mark.parametrize("effort", [{"think": True}, {"think": "high"}])
def test_a_model_that_does_not_think_is_asked_without(
    effort: dict[str, object], home: Path
) -> None:
    with before_ollama(home, refused(400, '"m" does not support thinking'), HELLO) as (
        server,
        model,
    ):
        body = {"model": "m", "messages": [USER], "stream": False, **effort}
        answer = httpx2.post(f"{server.url}/api/chat", json=body, verify=PLAIN)
    assert answer.json()["message"]["content"] == "Hello."
    assert ["think" in each.body for each in model.requests] == [True, False]


def test_a_model_that_takes_no_tools_is_taught(home: Path) -> None:
    script = ollama_reply(ollama_event(TEXT_CALL), ollama_end())
    no_tools = refused(400, "registry.ollama.ai/library/m:latest does not support tools")
    with before_ollama(home, no_tools, script, show={}, words=("--dialect", "auto")) as (
        server,
        model,
    ):
        assert calls_of(server.message(USER)) == [("list_mp3s", {"path": "~/mp3"})]
    assert ["tools" in each.body for each in model.requests] == [True, False]


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_that_breaks_off_is_an_error_and_no_call(stream: bool, home: Path) -> None:
    for script in (CALL[:-1], [*CALL[:-1], raw('{"error": "out of memory"}\n')]):
        with before_ollama(home, script) as (server, _):
            body = {"model": "m", "messages": [USER], "tools": MP3S, "stream": stream}
            answer = server.post(body)
        assert "error" in answer.text
        assert "list_mp3s" not in answer.text
        assert stream or answer.status_code == 502


def test_a_model_that_is_not_there_is_a_404(home: Path) -> None:
    with before_ollama(home, refused(404, "model 'm' not found")) as (server, model):
        answer = server.post({"model": "m", "messages": [USER]})
    assert answer.status_code == 404
    assert len(model.requests) == 1


def test_a_server_that_is_no_ollama_is_passed_through_after_one_question(home: Path) -> None:
    with (
        ModelServer([streamed("Hello.")]) as model,
        serving(f"ollama+{model.url}", "--model", "m", home=home) as server,
    ):
        for _ in range(3):
            events = server.stream(USER)
            assert joined(events)["text"] == "Hello."
    assert len([each for each in model.others if each.path == "/api/chat"]) == 1
    assert len(model.requests) == 3
    assert events[0]["id"] == "c1"  # as its server wrote it


def test_many_clients_at_once_find_out_that_it_is_no_ollama(home: Path) -> None:
    with (
        ModelServer([streamed("Hello.")]) as model,
        serving(f"ollama+{model.url}", "--model", "m", home=home) as server,
        concurrent.futures.ThreadPoolExecutor(8) as pool,
    ):
        found = list(pool.map(lambda _: joined(server.stream(USER))["text"], range(16)))
    assert found == ["Hello."] * 16


@pytest.mark.parametrize("name", ["logprobs", "top_logprobs", "logit_bias"])
def test_scores_of_tokens_are_refused_by_name(name: str, home: Path) -> None:
    value = {"logprobs": True, "top_logprobs": 2, "logit_bias": {"5": 1}}[name]
    with before_ollama(home, HELLO) as (server, model):
        answer = server.post({"model": "m", "messages": [USER], name: value})
        assert server.post({"model": "m", "messages": [USER], "logprobs": False}).is_success
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == name
    assert len(model.requests) == 1


# Several answers of a model that gives one at a time.


def answers(server: Served, stream: bool, **more: object) -> dict[int, dict[str, Any]]:
    """Text and calls of each of two."""
    if not stream:
        found = server.ask(USER, n=2, **more)["choices"]
        return {each["index"]: each["message"] for each in found}
    events = server.stream(USER, n=2, **more)
    return {
        index: joined(
            [
                {"choices": [each for each in event["choices"] if each["index"] == index]}
                for event in events
            ]
        )
        for index in (0, 1)
    }


def names(message: Mapping[str, Any]) -> list[str]:
    calls = message.get("tool_calls") or message.get("calls") or []
    return [each["function"]["name"] if "function" in each else each["name"] for each in calls]


@pytest.mark.parametrize("stream", [False, True])
def test_an_ollama_gives_as_many_answers_as_are_asked_for(stream: bool, home: Path) -> None:
    with before_ollama(home, CALL, HELLO) as (server, model):
        found = answers(server, stream, seed=5)
    assert names(found[0]) == ["list_mp3s"]
    assert found[1].get("content", found[1].get("text")) == "Hello."
    assert [each.body["options"]["seed"] for each in model.requests] == [5, 6]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", ["hermes", "auto"])
def test_a_model_that_is_taught_gives_as_many_answers_as_are_asked_for(
    dialect: str, stream: bool, home: Path
) -> None:
    """Also one of which it is found out only now that it takes no tools."""
    replies = iter([streamed(TEXT_CALL), streamed("Hello.")])

    def answer(received: Received) -> Answer:
        if "tools" in received.body:
            return refused(400, "This model does not support tools.")
        assert "n" not in received.body
        return next(replies)

    words = ("--model", "hermes-3", "--dialect", dialect)
    with ModelServer(answer) as model, serving(model.url, *words, home=home) as server:
        found = answers(server, stream)
    assert names(found[0]) == ["list_mp3s"]
    assert found[1].get("content", found[1].get("text")) == "Hello."


def test_a_server_that_makes_the_calls_makes_all_answers_itself(home: Path) -> None:
    script = [called("list_mp3s", "{}")]
    with ModelServer(script) as model, serving(model.url, "--model", "m", home=home) as server:
        server.post({"model": "m", "messages": [USER], "tools": MP3S, "stream": True, "n": 2})
    assert [each.body["n"] for each in model.requests] == [2]


def test_an_ollama_is_named_or_at_its_port() -> None:
    assert read_address("ollama+http://h:1") == ("ollama", "http://h:1/v1")
    assert read_address("ollama+https://h/v1/") == ("ollama", "https://h:443/v1")
    assert read_address("http://10.0.0.5:11434/v1") == ("ollama", "http://10.0.0.5:11434/v1")
    assert read_address("http://h:8000/v1") == ("openai", "http://h:8000/v1")
    with pytest.raises(UsageError):
        read_address("ollama+ftp://h")


def test_a_dry_run_says_what_would_be_sent(home: Path) -> None:
    with before_ollama(home, HELLO) as (server, model):
        answer = server.post({"model": "m", "messages": [USER]}, x_andy_dry_run="1")
    assert json.loads(answer.text)["dry_run"] is True
    assert model.requests == []
