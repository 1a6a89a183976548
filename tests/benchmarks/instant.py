"""A model that answers at once: `python -m tests.benchmarks.instant PORT`.

Without `stream` a short answer; with it 2,000 events in one go, or one by one where the request has
`"user": "paced"`; with `"user": "calling"` words and a call in the text.
"""

import asyncio
import json
import sys
from typing import cast

import uvloop

TEXT = {"content": "word "}
CALL = '<tool_call>{"name": "list_mp3s", "arguments": {"path": "~/mp3"}}</tool_call>'
EVENTS = 2000


def whole() -> bytes:
    message = {"role": "assistant", "content": "Hello there."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    made = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**made, "choices": [choice], "usage": usage}).encode()


def event(delta: dict[str, str], finish: str | None = None) -> bytes:
    made = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({**made, "choices": [choice]}).encode() + b"\n\n"


def stream(last: str) -> bytes:
    tail = event({"content": last}) if last else b""
    return event(TEXT) * EVENTS + tail + event({}, "stop") + b"data: [DONE]\n\n"


BODY = whole()
WHOLE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    + str(len(BODY)).encode()
    + b"\r\n\r\n"
    + BODY
)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: "


def streamed(last: str) -> bytes:
    data = stream(last)
    return HEAD + str(len(data)).encode() + b"\r\n\r\n" + data


PLAIN, CALLING = streamed(""), streamed(CALL)


class Instant(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._held = b""

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            head = self._held[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n")[0]) if at >= 0 else 0
            if len(self._held) < end + 4 + length:
                return
            body = self._held[end + 4 : end + 4 + length]
            self._held = self._held[end + 4 + length :]
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        # Also spaced otherwise: whoever dumps JSON decides.
        squeezed = body.replace(b" ", b"")
        if b'"stream":true' not in squeezed:
            self._transport.write(WHOLE)
        else:
            self._transport.write(CALLING if b'"user":"calling"' in squeezed else PLAIN)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(int(sys.argv[1])))
