"""Answers that `andy serve` passes on: any bytes, in any cut, are the same answer."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.frontends.serve.answers.passthrough import PassthroughRewriter
from andy_cli.frontends.serve.answers.rewritten_answer import rewrite_answer
from andy_cli.frontends.serve.call_records import CallRecord
from andy_cli.frontends.serve.upstream.reply_start import begin_reply
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, make_tool_prompt
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import read_chat_request
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import Endpoint
from andy_cli.models.http.wire import WireReader
from tests.serve_client import MP3S, USER
from tests.test_compression import json_values


class Silent:
    """A source that is never asked."""

    endpoint = Endpoint("openai", "m", "http://127.0.0.1/v1")
    guided = False

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        yield Chunk()


ASKED = read_chat_request({"model": "m", "messages": [USER], "tools": MP3S, "stream": True})
TAUGHT = make_tool_prompt(DIALECTS["native"], ASKED.tools)


def event(delta: Mapping[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "choices": [choice]}).encode() + b"\n\n"


CALL = '{"name": "play_mp3", "arguments": {"file": "a.mp3"}}'
PARTS = (
    event({"content": "Hel"}),
    event({"content": "lo "}),
    event({"content": f"<tool_call>{CALL}</tool_call>"}),
    event({"content": f"[TOOL_CALLS][{CALL}]"}),
    event({"tool_calls": [{"index": 0, "function": {"name": "functions.ping"}}]}),
    event({"content": "lo"}, "stop"),
    event({}, "length"),
    event({}, "tool_calls"),
    b"data: [DONE]\n\n",
    b'data: {"error": {"message": "boom"}}\n\n',
    b": ping\n\n",
    b"data: {broken\n\n",
    b"data: null\n\n",
    b"\n",
)
streams = st.lists(st.sampled_from(PARTS) | st.binary(max_size=20), max_size=8).map(b"".join)
ends = st.sampled_from([b"\n", b"\r\n"])


def cut(data: bytes, at: set[int]) -> list[bytes]:
    cuts = sorted(at)
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def passed(pieces: list[bytes]) -> tuple[bytes, bool]:
    async def run() -> tuple[bytes, bool]:
        watching = PassthroughRewriter(
            lambda: ToolDialogue(ASKED, Silent(), TAUGHT), CallRecord("chat", "m")
        )
        out = [watching.take_bytes(piece) for piece in pieces]
        said = b"".join([*out, *[data async for data in watching.write_rest()]])
        return re.sub(rb'"call_\w+"', b'"call"', said), watching.ended

    return asyncio.run(run())


@settings(deadline=None)  # the first example loads what the compiler needs
@given(streams, ends, st.data())
def test_no_cut_changes_what_is_passed_on(said: bytes, end: bytes, draw: st.DataObject) -> None:
    data = said.replace(b"\n", end)
    places = draw.draw(st.sets(st.integers(0, len(data)), max_size=5))
    assert passed(cut(data, places)) == passed([data])


def test_a_byte_that_is_no_utf_8_breaks_nothing_off() -> None:
    said = event({"content": "bad ??"}).replace(b"??", b"\xff\xfe")
    assert passed([said + event({}, "stop")]) == (said + event({}, "stop"), True)


@given(streams)
def test_what_was_cut_off_asks_for_nothing(said: bytes) -> None:
    out, ended = passed([said])
    reader = WireReader()
    chunks = [*reader.feed(out), *reader.finish()]
    given_calls = any(chunk.call for chunk in chunks)
    native = b"functions.ping" in said
    assert ended or native or not given_calls


@given(streams, st.data())
def test_the_beginning_is_held_back_and_not_lost(said: bytes, draw: st.DataObject) -> None:
    places = draw.draw(st.sets(st.integers(0, len(said)), max_size=5))

    async def run() -> bytes | None:
        try:
            return b"".join([data async for data in await begin_reply(_each(cut(said, places)))])
        except ApiError:
            return None

    assert asyncio.run(run()) in (said, None)


def read(data: bytes) -> bytes:
    return asyncio.run(rewrite_answer(data, lambda: ToolDialogue(ASKED, Silent(), TAUGHT))).data


@given(st.binary(max_size=60) | json_values.map(lambda each: json.dumps(each).encode()))
def test_any_whole_reply_of_another_shape_is_passed_on(data: bytes) -> None:
    assert read(data) == data


message_values = st.fixed_dictionaries(
    {}, optional={name: json_values for name in ("content", "tool_calls", "reasoning_content")}
)


@given(message_values, st.sampled_from(["stop", "length", "tool_calls", None]))
def test_any_message_is_read_without_a_traceback(
    message: Mapping[str, object], finish: str | None
) -> None:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    assert json.loads(read(json.dumps({"choices": [choice]}).encode()))["choices"]


def test_a_whole_reply_has_the_clients_names() -> None:
    call = {"id": "c", "function": {"name": "functions.ping", "arguments": "{}"}}
    reply = {"choices": [{"message": {"tool_calls": [call]}}]}
    renamed = json.loads(read(json.dumps(reply).encode()))
    assert renamed["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "ping"
