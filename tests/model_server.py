"""A model server on loopback that says what a test tells it to, byte by byte if need be.

    with ModelServer([[*streamed("Hello")], [*refused(429, "slow")]]) as server:
        ... server.url ... server.requests

A script is a list of answers, an answer a list of operations; request n gets answer n, and the last
one repeats; or a script is a function from the request to its answer. The operations are those of
corpora/faults.jsonl: status, json, sse, raw, repeat_raw,
split, sleep, stall, reset, close; and `left`, which waits until the client goes. After
`"transfer-encoding": "chunked"` in a status the connection
stays open for the next request.

The messages of every request are checked against the rules of history_rules.py, unless the server
is told otherwise: `checked=False` is for requests that are wrong on purpose, and for those of
clients that `andy serve` passes on as they are.
"""

import base64
import contextlib
import email.utils
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests import history_rules
from tests.http_server import HttpRequest, HttpServer, begins_tls

Operation = Mapping[str, Any]
Answer = Sequence[Operation]

EVENTS = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """Decoded JSON, or None."""


def status(code: int = 200, headers: Mapping[str, str] = EVENTS) -> Operation:
    return {"op": "status", "code": code, "headers": headers}


def event(delta: Mapping[str, Any], finish: str | None = None) -> Operation:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"op": "sse", "data": {"id": "c1", "choices": [choice]}}


def raw(text: str) -> Operation:
    return {"op": "raw", "text": text}


def streamed(*pieces: str, finish: str = "stop", chunked: bool = False) -> list[Operation]:
    """A streamed reply, one event for each piece."""
    headers = {**EVENTS, "transfer-encoding": "chunked"} if chunked else EVENTS
    events = [event({"content": piece}) for piece in pieces]
    end = [event({}, finish), raw("data: [DONE]\n\n")]
    return [status(headers=headers), *events, *end]


def called(name: str, arguments: str) -> list[Operation]:
    """A streamed reply that is one native call."""
    function = {"name": name, "arguments": arguments}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    return [status(), event({"tool_calls": [call]}), event({}, "tool_calls")]


def refused(
    code: int, message: str, headers: Mapping[str, str] | None = None, **more: object
) -> list[Operation]:
    body = {"error": {"message": message, **more}}
    return [status(code, {**JSON, **(headers or {})}), {"op": "json", "body": body}]


def ollama_reply(*events: Mapping[str, object]) -> list[Operation]:
    """A streamed reply of Ollama's."""
    said = [raw(json.dumps(each) + "\n") for each in events]
    return [status(headers={"content-type": "application/x-ndjson"}), *said]


def ollama_event(text: str = "", **more: object) -> dict[str, object]:
    """One line of it."""
    return {"model": "m", "message": {"role": "assistant", "content": text, **more}, "done": False}


def ollama_end(reason: str = "stop", read: int = 20, written: int = 5) -> dict[str, object]:
    """The last line."""
    counts = {"prompt_eval_count": read, "eval_count": written}
    return {**ollama_event(), "done": True, "done_reason": reason, **counts}


def answered(body: object) -> list[Operation]:
    return [status(headers=JSON), {"op": "json", "body": body}]


MISSING = [
    status(404, {"content-type": "text/plain"}),
    raw("404 page not found"),
]


class ModelServer(HttpServer):
    def __init__(
        self,
        script: Sequence[Answer] | Callable[[Received], Answer],
        models: Sequence[str] = ("m",),
        checked: bool = True,
        facts: Mapping[str, object] | None = None,
        ollama: bool = False,
        port: int = 0,
    ) -> None:
        """`facts`: what is answered to other paths than those of the chat API and of the models.
        `ollama`: its chat API is Ollama's own, and there is no other. `port`: 0 is any free one."""
        super().__init__(port)
        self.requests: list[Received] = []
        """Those to the chat API; `others` are the rest."""
        self.others: list[Received] = []
        self.left = threading.Event()
        """A client has gone while an answer was at `left`, or before."""
        self._script = script
        self._models = models
        self._checked = checked and not ollama  # the rules are those of the other API
        self._facts = facts or {}
        self._chat = "/api/chat" if ollama else "/chat/completions"
        self.url = f"{self.address}/v1"

    def serve_connection(self, connection: socket.socket) -> None:
        if begins_tls(connection):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
            return
        super().serve_connection(connection)

    def answer_request(self, connection: socket.socket, request: HttpRequest) -> bool:
        body = json.loads(request.body) if request.body else None
        received = Received(request.method, request.target, request.headers, body)
        answering = Answering(connection, self.closing, self.left)
        return answering.run(self._choose_answer(received))

    def _choose_answer(self, received: Received) -> Answer:
        if not received.path.endswith(self._chat):
            self.others.append(received)
            if received.path.endswith(("/api/chat", "/chat/completions")):
                return MISSING
            listed = {"data": [{"id": name, "object": "model"} for name in self._models]}
            return answered(self._facts.get(received.path, listed))
        if self._checked:
            self._check(received)
        self.requests.append(received)
        if callable(self._script):
            return self._script(received)
        return self._script[min(len(self.requests), len(self._script)) - 1]

    def _check(self, received: Received) -> None:
        body = received.body if isinstance(received.body, dict) else {}
        messages = body.get("messages")
        if isinstance(messages, list) and all(isinstance(each, dict) for each in messages):
            history_rules.watch(messages, str(body.get("model")), len(self.requests))


class Answering:
    """Carries out the operations of one answer."""

    def __init__(
        self,
        connection: socket.socket,
        closing: threading.Event,
        left: threading.Event | None = None,
    ) -> None:
        self._connection = connection
        self._closing = closing
        self._left = left or threading.Event()
        self._chunked = False

    def run(self, answer: Answer) -> bool:
        for operation in answer:
            if operation["op"] == "close":
                return False
            if operation["op"] == "reset":
                linger = struct.pack("ii", 1, 0)
                self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self._connection.close()
                return False
            try:
                for data in self._bytes(operation):
                    self._connection.sendall(data)
            except OSError:
                if any(later["op"] == "left" for later in answer):
                    self._left.set()  # it went before the answer got there
                raise
        if self._chunked:
            self._connection.sendall(b"0\r\n\r\n")
        return self._chunked

    def _bytes(self, operation: Operation) -> Iterator[bytes]:
        match operation["op"]:
            case "status":
                yield self._head(operation)
            case "json":
                yield self._framed(json.dumps(operation["body"]).encode())
            case "sse":
                yield self._framed(f"data: {json.dumps(operation['data'])}\n\n".encode())
            case "raw":
                b64 = operation.get("b64")
                yield self._framed(base64.b64decode(b64) if b64 else operation["text"].encode())
            case "repeat_raw":
                yield self._framed(operation["text"].encode() * operation["n"])
            case "split":
                data, size = operation["text"].encode(), operation["bytes"]
                for at in range(0, len(data), size):
                    yield self._framed(data[at : at + size])
            case _:
                self._wait(operation)

    def _wait(self, operation: Operation) -> None:
        match operation["op"]:
            case "sleep":
                self._closing.wait(operation["s"])
            case "stall":
                self._closing.wait()
            case "left":
                self._wait_until_left()

    def _wait_until_left(self) -> None:
        with contextlib.suppress(OSError):  # going may be rude
            self._connection.recv(1)
        if not self._closing.is_set():
            self._left.set()

    def _head(self, operation: Operation) -> bytes:
        headers = {name: _value(str(text)) for name, text in operation["headers"].items()}
        self._chunked = headers.get("transfer-encoding") == "chunked"
        lines = [f"HTTP/1.1 {operation['code']} Scripted"]
        lines += [f"{name}: {text}" for name, text in headers.items()]
        if not self._chunked:
            lines.append("connection: close")
        return "\r\n".join((*lines, "", "")).encode()

    def _framed(self, data: bytes) -> bytes:
        return b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data


def _value(text: str) -> str:
    """A header's value; `@now+2` is the date two seconds from now."""
    if text.startswith("@now+"):
        return email.utils.formatdate(time.time() + float(text[5:]), usegmt=True)
    return text
