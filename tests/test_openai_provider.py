"""The chat client against a real server on loopback."""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from andy_cli.errors import AuthError, ModelError, TransientError
from andy_cli.guard.addresses import check_base_url, is_loopback_url, show_url
from andy_cli.messages import CallDelta, Chunk, Constraint, Request
from andy_cli.models.client import Endpoint
from andy_cli.models.http.chat import ChatClient
from andy_cli.models.http.direct import idle_seconds
from andy_cli.models.http.features import adapt_body
from andy_cli.models.http.request import body_of
from andy_cli.settings import Settings, load
from tests.model_server import (
    Answer,
    ModelServer,
    answered,
    called,
    event,
    raw,
    refused,
    status,
    streamed,
)

KEY = "sk-test-0123456789abcdefEXAMPLE"
TOOL = {"type": "function", "function": {"name": "list_mp3s", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "list_mp3s", "arguments": "{}"}}
HISTORY = (
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "list music"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '["a.mp3"]'},
)
REQUEST = Request(messages=({"role": "user", "content": "hi"},))
FULL = Request(messages=HISTORY, tools=(TOOL,), stop=("END",), max_tokens=7)


def settings(*overrides: str) -> Settings:
    quick = ("network.connect_timeout=1", "network.idle_timeout=1")
    return load([*quick, *overrides], environment={"ANDY_CONFIG_DIR": "/nonexistent"})


def client(url: str, *overrides: str, provider: str = "openai", model: str = "m") -> ChatClient:
    endpoint = Endpoint(provider, model, url, KEY, "OPENAI_API_KEY")
    return ChatClient(endpoint, settings(*overrides))


async def _chunks(chat: ChatClient, *requests: Request) -> list[Chunk]:
    chunks: list[Chunk] = []
    try:
        for request in requests:
            chunks += [chunk async for chunk in chat.reply(request)]
    finally:
        await chat.close()
    return chunks


def said(chat: ChatClient, *requests: Request) -> str:
    chunks = asyncio.run(_chunks(chat, *(requests or (REQUEST,))))
    return "".join(chunk.text for chunk in chunks)


def failure(answers: Sequence[Answer], request: Request = REQUEST, model: str = "m") -> ModelError:
    models = ("qwen3:4b", "qwen3:8b", "m")
    with ModelServer(answers, models) as server, pytest.raises(ModelError) as caught:
        said(client(server.url, model=model), request)
    assert KEY[:12] not in f"{caught.value} {caught.value.hint}"
    return caught.value


def test_a_streamed_reply_is_text_and_a_finish_reason() -> None:
    with ModelServer([streamed("Hel", "lo")]) as server:
        chunks = asyncio.run(_chunks(client(server.url), REQUEST))
    assert "".join(chunk.text for chunk in chunks) == "Hello"
    assert [chunk.finish for chunk in chunks if chunk.finish] == ["stop"]


def test_the_request_is_that_of_the_chat_api() -> None:
    with ModelServer([streamed("ok")]) as server:
        said(client(server.url), FULL)
    (received,) = server.requests
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "m",
        "messages": list(HISTORY),
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [TOOL],
        "stop": ["END"],
        "max_tokens": 7,
    }


def test_without_a_key_there_is_no_authorization() -> None:
    with ModelServer([streamed("ok")]) as server:
        said(ChatClient(Endpoint("llamacpp", "m", server.url), settings()))
    assert "authorization" not in server.requests[0].headers


def test_a_native_call_comes_as_a_delta() -> None:
    with ModelServer([called("list_mp3s", '{"path":"music"}')]) as server:
        chunks = asyncio.run(_chunks(client(server.url), FULL))
    assert chunks[0].call == CallDelta(0, "c1", "list_mp3s", '{"path":"music"}')


def test_what_came_beside_a_call_goes_back_beside_it_to_that_server_alone() -> None:
    signature = {"google": {"thought_signature": "c2ln"}}
    asked = [status(), event({"tool_calls": [{**CALL, "index": 0, "extra_content": signature}]})]
    with ModelServer([[*asked, event({}, "tool_calls")], streamed("Done.")]) as server:
        said(client(server.url), REQUEST, FULL)
        sent = server.requests[1].body["messages"][2]["tool_calls"]
    assert sent == [{**CALL, "extra_content": signature}]
    with ModelServer([streamed("Done.")]) as server:
        said(client(server.url), FULL)
        assert server.requests[0].body["messages"][2]["tool_calls"] == [CALL]


def test_a_connection_is_used_again() -> None:
    with ModelServer([streamed("a", chunked=True)]) as server:
        assert said(client(server.url), REQUEST, REQUEST, REQUEST) == "aaa"
    assert len(server.requests) == 3
    assert server.connections == 1


def test_closing_the_stream_ends_the_request() -> None:
    async def first(url: str) -> Chunk:
        chat = client(url, "network.idle_timeout=60")
        async with aclosing(chat.reply(REQUEST)) as chunks:
            chunk = await anext(chunks)
        await chat.close()
        return chunk

    endless = [status(), event({"content": "a"}), {"op": "stall"}]
    with ModelServer([endless]) as server:
        assert asyncio.run(first(server.url)) == Chunk("a")


def test_cancelling_ends_a_request_that_waits() -> None:
    async def interrupted(url: str) -> float:
        chat = client(url, "network.idle_timeout=60")
        task = asyncio.ensure_future(_chunks(chat, REQUEST))
        while not server.requests:
            await asyncio.sleep(0.01)
        began = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time() - began

    with ModelServer([[{"op": "stall"}]]) as server:
        assert asyncio.run(interrupted(server.url)) < 1


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with ModelServer([streamed("ok")]) as server:
        assert said(client(server.url)) == "ok"


def test_a_proxy_is_asked_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([streamed("ok")]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        assert said(client("http://models.invalid/v1")) == "ok"
    assert proxy.requests[0].path == "http://models.invalid/v1/chat/completions"


ANSWERS = {
    "text": streamed("Hel", "lo"),
    "call": called("list_mp3s", '{"path":"music"}'),
    "whole": answered({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}),
    "reasoning": [status(), event({"reasoning_content": "hm"}), event({"content": "a"}, "stop")],
}


def joined(chunks: list[Chunk]) -> tuple[str, str, list[Chunk]]:
    """Texts as one: how they were cut is the network's business."""
    rest = [each._replace(text="", reasoning="") for each in chunks]
    text, reasoning = ("".join(getattr(c, n) for c in chunks) for n in ("text", "reasoning"))
    return text, reasoning, [each for each in rest if each != Chunk()]


@pytest.mark.parametrize("name", ANSWERS)
def test_the_openai_package_sends_the_same_and_yields_the_same(name: str) -> None:
    constraint = Constraint(schema={"type": "object"})
    request = Request(HISTORY, (TOOL,), constraint, ("END",), 7)
    with ModelServer([ANSWERS[name]]) as server:
        chunks = [
            asyncio.run(_chunks(client(server.url, f"client={way}", provider=provider), request))
            for provider in ("openai", "vllm")
            for way in ("direct", "openai")
        ]
    first, *others = [joined(each) for each in chunks]
    assert all(each == first for each in others)
    bodies = [received.body for received in server.requests]
    assert bodies[0] == bodies[1]
    assert bodies[2] == bodies[3]
    assert "response_format" in bodies[0]
    assert "structured_outputs" in bodies[2]


@pytest.mark.parametrize(
    "answer",
    [refused(401, "bad"), refused(429, "slow", {"retry-after": "7"}), [{"op": "reset"}]],
    ids=["401", "429", "reset"],
)
def test_the_openai_package_fails_in_the_same_words(answer: Answer) -> None:
    errors = []
    with ModelServer([answer]) as server:
        for way in ("direct", "openai"):
            with pytest.raises(ModelError) as caught:
                said(client(server.url, f"client={way}"))
            errors.append((type(caught.value), caught.value.kind, caught.value.hint))
    assert errors[0] == errors[1]
    assert len(server.requests) == 2


def test_a_wrong_key_names_its_variable_and_not_itself() -> None:
    error = failure([refused(401, f"Incorrect API key provided: {KEY[:20]}****")])
    assert isinstance(error, AuthError)
    assert error.exit_code == 77
    assert "OPENAI_API_KEY" in str(error)


def test_an_unknown_model_suggests_the_nearest() -> None:
    error = failure([refused(404, 'model "qwen3" not found')], model="qwen3")
    assert error.kind == "no_model"
    assert "qwen3:4b" in error.hint
    assert "andy models list" in error.hint


def test_a_wrong_path_says_what_is_usual() -> None:
    error = failure([[status(404, {"content-type": "text/html"}), raw("<h1>Not Found</h1>")]])
    assert "usually ends in /v1" in error.hint
    assert "<h1>" not in str(error)


def test_a_server_that_is_not_there_is_named() -> None:
    with ModelServer([]) as server:
        url = server.url
    with pytest.raises(TransientError, match="cannot reach") as caught:
        said(client(url))
    assert "connection refused" in str(caught.value)
    assert url in str(caught.value)
    assert caught.value.exit_code == 75


def test_another_address_is_not_followed() -> None:
    with ModelServer([streamed("no")]) as other:
        location = {"location": f"http://user:pass@127.0.0.1:{other.port}/v1/chat/completions"}
        error = failure([[status(302, location)]])
        assert "points to another address" in str(error)
        assert "pass" not in str(error)
        assert not other.requests
    relative = str(failure([[status(307, {"location": "/v2/chat"})]]))
    assert re.search(r"another address, http://127.0.0.1:\d+/v2/chat;", relative)


def test_a_refusal_of_tools_has_a_kind_of_its_own_and_is_remembered() -> None:
    async def twice(url: str) -> tuple[str, bool, str]:
        chat = client(url)
        with pytest.raises(ModelError) as caught:
            [chunk async for chunk in chat.reply(FULL)]
        text = "".join([chunk.text async for chunk in chat.reply(FULL)])
        await chat.close()
        return caught.value.kind, chat.tools, text

    answers = [refused(400, "gemma:2b does not support tools"), streamed("Hello")]
    with ModelServer(answers) as server:
        assert asyncio.run(twice(server.url)) == ("no_tools", False, "Hello")
    assert "tools" not in server.requests[1].body


REFUSALS = {
    "stream_options": "Unrecognized request argument supplied: stream_options",
    "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    "system role": "System role not supported",
    "tool role": "Unexpected role 'tool'",
    "alternation": "Conversation roles must alternate user/assistant/user/assistant/...",
    "stop": "'stop' is not supported with this model.",
}


@pytest.mark.parametrize("feature", REFUSALS)
def test_a_refusal_changes_the_request_once_and_is_remembered(feature: str) -> None:
    answers = [refused(400, REFUSALS[feature]), streamed("a"), streamed("b")]
    with ModelServer(answers) as server:
        assert said(client(server.url), FULL, FULL) == "ab"
    first, second, third = [received.body for received in server.requests]
    assert first != second
    assert second == third


def test_a_field_that_fastapi_refuses_is_left_out() -> None:
    detail = [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs"}]
    refusal = [status(422, {"content-type": "application/json"}), {"op": "json", "body": {}}]
    refusal[1] = {"op": "json", "body": {"detail": detail}}
    with ModelServer([refusal, streamed("ok")]) as server:
        assert said(client(server.url)) == "ok"
    assert "stream_options" not in server.requests[1].body


def test_a_refusal_that_changes_nothing_is_an_error() -> None:
    answer = refused(400, "System role not supported")
    with ModelServer([answer]) as server, pytest.raises(ModelError):
        said(client(server.url))
    assert len(server.requests) == 1


def test_results_without_a_tool_role_are_told_by_the_user() -> None:
    body = adapt_body(body_of(Endpoint("openai", "m"), FULL), {"alternation"})
    assert body["messages"] == [
        {
            "role": "user",
            "content": 'Be brief.\n\nlist music\n\nResult of list_mp3s {}:\n["a.mp3"]',
        }
    ]


def test_a_reply_without_end_is_cut_off() -> None:
    flood = {"op": "repeat_raw", "text": "x" * 1024, "n": 33 * 1024}
    error = failure([[status(), raw('data: {"choices": [{"delta": {"content": "'), flood]])
    assert error.kind == "size"


def test_a_reply_that_drips_for_ever_is_cut_off() -> None:
    drip = [raw(":\n\n"), {"op": "sleep", "s": 0.05}] * 40
    with ModelServer([[status(), *drip]]) as server, pytest.raises(TransientError) as caught:
        said(client(server.url, "network.total_timeout=0.2"))
    assert "network.total_timeout" in str(caught.value)


def test_the_key_is_nowhere_in_the_words_for_a_client() -> None:
    chat = client("http://127.0.0.1:9/v1")
    assert KEY not in repr(chat) + repr(chat.endpoint) + repr(vars(chat)["endpoint"])


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://h/v1/", "http://h/v1"),
        ("https://h/v1/chat/completions", "https://h/v1"),
    ],
)
def test_an_address_may_be_written_carelessly(given: str, used: str) -> None:
    assert check_base_url(given) == used


@pytest.mark.parametrize(
    "given", ["", "ftp://h", "http://", "http://h:port", "http://h:99999", "htp:/x"]
)
def test_what_is_no_address_is_said(given: str) -> None:
    with pytest.raises(Exception, match="is not the address"):
        check_base_url(given)


def test_an_address_is_shown_without_its_password() -> None:
    assert show_url("https://u:secret@h:8/v1/?key=secret") == "https://h:8/v1"


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.9/v1", "http://[::1]/v1"])
def test_this_machine_is_known_in_every_spelling(url: str) -> None:
    assert is_loopback_url(url)
    assert not is_loopback_url("https://example.org/127.0.0.1")


def test_a_model_on_this_machine_may_be_slow_unless_somebody_said_otherwise() -> None:
    default = load(environment={"ANDY_CONFIG_DIR": "/nonexistent"})
    assert idle_seconds(default, is_local=True) == 5 * idle_seconds(default, is_local=False)
    assert idle_seconds(settings(), is_local=True) == 1


def test_what_the_server_lists_is_known() -> None:
    async def listed(url: str) -> list[str]:
        chat = client(url)
        try:
            return await chat.models()
        finally:
            await chat.close()

    with ModelServer([], ["a", "b"]) as server:
        url = server.url
        assert asyncio.run(listed(url)) == ["a", "b"]
    assert asyncio.run(listed(url)) == []


def test_bodies_are_json() -> None:
    assert json.loads(json.dumps(body_of(Endpoint("openai", "m"), FULL)))
