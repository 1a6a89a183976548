"""What is tried again, how often, and after how long; and every fault of a model server."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from andy_cli.compiler.native_calls import NativeCalls
from andy_cli.errors import AndyError, AuthError, ModelError, TransientError
from andy_cli.messages import Chunk, Request, ToolRequest
from andy_cli.models.client import Endpoint
from andy_cli.models.http.chat import ChatClient
from andy_cli.models.retry import Retrying
from andy_cli.settings import load
from tests.model_server import ModelServer, refused, streamed

REQUEST = Request(messages=({"role": "user", "content": "hi"},))


class Scripted:
    """A client that fails and answers as it is told."""

    name = "scripted:m"
    tools = True
    guided = False

    def __init__(self, *replies: str | ModelError) -> None:
        self.replies = list(replies)
        self.asked = 0

    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        reply = self.replies[min(self.asked, len(self.replies) - 1)]
        self.asked += 1
        if isinstance(reply, ModelError):
            raise reply
        if reply.endswith("!"):
            yield Chunk(reply)
            raise TransientError("broke off")
        yield Chunk(reply, finish="stop")

    async def close(self) -> None:
        self.replies.clear()


def said(client: Scripted, told: list[str] | None = None, *overrides: str) -> str:
    settings = load(["network.first_backoff=0.001", *overrides], environment={})
    lines = told if told is not None else []

    async def run() -> str:
        chunks = Retrying(client, settings, lines.append).reply(REQUEST)
        return "".join([chunk.text async for chunk in chunks])

    return asyncio.run(run())


def kinded(kind: str) -> TransientError:
    error = TransientError("busy")
    error.kind = kind
    return error


def test_what_may_work_later_is_tried_again_and_told() -> None:
    told: list[str] = []
    client = Scripted(TransientError("The server is busy."), "Hello")
    assert said(client, told) == "Hello"
    assert client.asked == 2
    assert told[0].startswith("The server is busy. Trying again in 0.0 s (2 of 4).")


@pytest.mark.parametrize("error", [ModelError("no"), AuthError("no")])
def test_what_will_not_work_later_is_not_tried_again(error: ModelError) -> None:
    client = Scripted(error)
    with pytest.raises(ModelError):
        said(client)
    assert client.asked == 1


@pytest.mark.parametrize(("kind", "most"), [("server", 4), ("timeout", 2), ("dns", 3)])
def test_there_is_an_end_to_trying(kind: str, most: int) -> None:
    client = Scripted(kinded(kind))
    with pytest.raises(TransientError, match="busy"):
        said(client)
    assert client.asked == most


def test_the_number_of_tries_is_a_setting() -> None:
    client = Scripted(TransientError("busy"))
    with pytest.raises(TransientError):
        said(client, None, "network.tries=1")
    assert client.asked == 1


def test_a_reply_that_was_begun_is_never_asked_for_again() -> None:
    client = Scripted("Hel!", "Hello")
    with pytest.raises(TransientError, match="broke off"):
        said(client)
    assert client.asked == 1


def test_a_longer_wait_than_a_minute_is_told_at_once() -> None:
    client = Scripted(TransientError("busy", "", 61.0))
    with pytest.raises(TransientError):
        said(client)
    assert client.asked == 1


@pytest.mark.parametrize("header", ["0.3", "@now+1"])
def test_the_server_says_how_long_to_wait(header: str) -> None:
    began = time.monotonic()
    answers = [refused(429, "slow", {"retry-after": header}), streamed("Hello")]
    with ModelServer(answers) as server:
        chat = ChatClient(Endpoint("openai", "m", server.url), load(environment={}))
        text, error = asyncio.run(_reply(chat, [], []))
    assert (text, error) == ("Hello", None)
    assert time.monotonic() - began >= (0.3 if header == "0.3" else 0)


FAULTS = Path(__file__).parent / "corpora" / "faults.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FAULTS.read_text().splitlines()]
UPSTREAM = [row for row in ROWS if row["target"] == "upstream"]
TOOLS = ({"type": "function", "function": {"name": "list_mp3s", "parameters": {}}},)
HISTORY = Request(
    messages=(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "list music"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "list_mp3s", "arguments": "{}"},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '["a.mp3"]'},
    ),
    tools=TOOLS,
)


async def _reply(
    chat: ChatClient, calls: list[ToolRequest], finishes: list[str]
) -> tuple[str, AndyError | None]:
    told: list[str] = []
    settings = load(["network.first_backoff=0.05"], environment={})
    client = Retrying(chat, settings, told.append)
    native = NativeCalls()
    text, error = "", None
    try:
        async for chunk in client.reply(HISTORY):
            text += chunk.text
            finishes += [chunk.finish] if chunk.finish else []
            if chunk.call:
                native.add(chunk.call)
    except AndyError as caught:
        error = caught
    calls += native.requests(bool(finishes) and finishes[-1] != "length")[0]
    return text, error


class Outcome:
    """One row of the corpus, run."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.expect = row["expect"]
        self.calls: list[ToolRequest] = []
        self.finishes: list[str] = []
        began = time.monotonic()
        script = row["script"]
        with ModelServer([] if script[0][0]["op"] == "refuse" else script) as server:
            url = script[0][0].get("url", server.url)
            if script[0][0]["op"] == "refuse":
                server.__exit__(None, None, None)
            self.text, self.error = asyncio.run(self._run(url))
        self.seconds = time.monotonic() - began
        self.requests = server.requests

    async def _run(self, url: str) -> tuple[str, AndyError | None]:
        quick = ["network.connect_timeout=1", "network.idle_timeout=1"]
        chat = ChatClient(Endpoint("openai", "m", url, "sk-test-EXAMPLE1234"), load(quick))
        try:
            text, error = await _reply(chat, self.calls, self.finishes)
            if error and error.kind == "no_tools":  # the turn teaches a notation and asks again
                return await _reply(chat, self.calls, self.finishes)
            return text, error
        finally:
            await chat.close()


@pytest.mark.parametrize("row", UPSTREAM, ids=lambda row: f"{row['id']}: {row['title']}")
def test_a_fault_of_the_server_has_the_outcome_of_the_corpus(row: dict[str, Any]) -> None:
    outcome = Outcome(row)
    if row["id"] in PASSED_ON:
        PASSED_ON[row["id"]](outcome)
        return
    CHECKS[outcome.expect["outcome"]](outcome)
    least, most = outcome.expect.get("attempts", [0, 4])
    if outcome.requests:
        assert least <= len(outcome.requests) <= most
    if isinstance(limit := outcome.expect.get("max_s"), int):
        assert outcome.seconds < limit


def _answer(outcome: Outcome) -> None:
    assert outcome.error is None
    assert outcome.finishes
    texts = outcome.expect.get("text_in") or [outcome.expect.get("text")]
    prefix = outcome.expect.get("text_prefix")
    assert outcome.text in texts or (prefix and outcome.text.startswith(prefix))


def _partial(outcome: Outcome) -> None:
    cut_off = {"length", "content_filter"}
    assert outcome.text == outcome.expect["text"]
    assert outcome.error or not outcome.finishes or cut_off & set(outcome.finishes)


def _error(outcome: Outcome) -> None:
    assert outcome.error
    assert outcome.expect.get("kind", outcome.error.kind) == outcome.error.kind
    assert "Traceback" not in str(outcome.error)


def _calls(outcome: Outcome) -> None:
    assert outcome.error is None
    called = [{"name": call.name, "arguments": call.arguments} for call in outcome.calls]
    assert called == outcome.expect["calls"]
    ids = [call.id for call in outcome.calls if call.id]
    assert len(ids) == len(set(ids))


def _calls_or_ask(outcome: Outcome) -> None:
    assert not [call for call in outcome.calls if not call.arguments]


def _either(outcome: Outcome) -> None:
    (_error if outcome.error else _answer)(outcome)


def _empty(outcome: Outcome) -> None:
    assert (outcome.error, outcome.text) == (None, "")


def _answer_or_partial(outcome: Outcome) -> None:
    assert (outcome.error, outcome.text) == (None, outcome.expect["text"])


CHECKS = {
    "answer": _answer,
    "partial": _partial,
    "error": _error,
    "tool_calls": _calls,
    "tool_calls_or_ask": _calls_or_ask,
    "error_or_compress": _error,
    "answer_or_empty_notice": _empty,
    "answer_or_partial": _answer_or_partial,
}


def _too_long(outcome: Outcome) -> None:
    assert outcome.error
    assert outcome.error.kind == "context"
    assert len(outcome.requests) == 1


def _object_as_text(outcome: Outcome) -> None:
    assert json.loads(outcome.text) == {"final": {"content": "Hello"}}


def _text_as_it_is(outcome: Outcome) -> None:
    assert outcome.text.startswith("<think>plan")


def _no_calls(outcome: Outcome) -> None:
    assert outcome.calls == []


def _some_calls(outcome: Outcome) -> None:
    assert outcome.error is None
    assert outcome.calls


PASSED_ON = {
    "F018": _too_long,  # the turn shortens the history and asks again
    "F034": _object_as_text,  # the JSON dialect reads it
    "F061": _text_as_it_is,  # the compiler reads the thinking
    "F072": _no_calls,  # the turn asks for the call again
    "F073": _no_calls,
    "F080": _some_calls,  # the registry knows the name without its prefix
    "F081": _some_calls,  # and that it does not know this one
    "F082": _some_calls,  # and asks about a near miss
    "F083": _some_calls,  # the turn has a limit
    "F085": _some_calls,  # the registry again, and the neutralizer
}
"""Rows that others decide: what the client hands on to them."""
