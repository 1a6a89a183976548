"""One request and its answer on the wire: its body, its end, its client going away."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any

from andy_cli.frontends.serve.http.client_connection import ClientConnection
from andy_cli.frontends.serve.http.request_guard import MAX_BYTES, make_size_error
from andy_cli.frontends.serve.http.second_clock import CLOCK, SECOND
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_writer import ChatWriter, dump_json
from andy_cli.frontends.serve.wires.client_wire import ClientWire

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
JSON = "application/json"
NONE: dict[str, str] = {}


class HttpExchange:
    """One request and its answer on the wire."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.headers: Mapping[str, str] = {}
        self.shared: dict[str, str] = {}
        """Headers of every answer to it."""
        self.begun = False
        self.write_failure: Callable[[ApiError], bytes] = ChatWriter.write_failure
        """Writes the end of an answer that fails; set by who writes it, unless it is passed on."""
        self.gone = False
        """Its client is; nobody is left to answer."""
        self._wrote = 0.0
        """When something was last written of its answer."""
        self._write_sign: Callable[[], Awaitable[None]]
        self._showing: asyncio.Task[None] | None = None
        self._task: asyncio.Task[object] | None = None
        self._receive = receive
        self._send = send
        self._connection: ClientConnection = scope["state"]["connection"]

    async def read_body(self) -> bytes:
        """Read the body to its end. Raises ApiError where that is too large (413): a body in chunks
        says no length beforehand."""
        message = await self._receive()
        if message["type"] == "http.request" and not message["more_body"]:
            whole_body: bytes = message["body"]
            return whole_body
        data = bytearray()
        while message["type"] == "http.request":
            data += message["body"]
            if len(data) > MAX_BYTES:
                raise make_size_error()
            if not message["more_body"]:
                return bytes(data)
            message = await self._receive()
        raise ApiError(400, "The client is gone.")

    def watch_client(self) -> None:
        """From now on this request's own work ends as soon as its client is gone."""
        self._task = asyncio.current_task()
        self._connection.gone = self._cancel_work

    def unwatch_client(self) -> None:
        self._connection.gone = None

    def _cancel_work(self) -> None:
        self.gone = True
        if self._task is not None:
            self._task.cancel()

    async def start_response(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        self.begun = True
        listed = [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]
        for name, value in (*self.shared.items(), *headers.items()):
            listed.append((name.encode(), value.encode("latin-1", "replace")))
        await self._send({"type": "http.response.start", "status": status, "headers": listed})

    async def write_chunk(self, data: bytes, has_more: bool = True) -> None:
        self._wrote = monotonic()
        await self._send({"type": "http.response.body", "body": data, "more_body": has_more})

    @asynccontextmanager
    async def kept_alive(self, write_sign: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """A sign of life each second in which nothing else is written.

        A call that the model takes long to write is nothing that its client may see before it is
        whole, and clients and proxies give up where nothing comes.
        """
        self._write_sign, self._wrote = write_sign, monotonic()
        CLOCK.begin(self._show_sign)
        try:
            yield
        finally:
            CLOCK.end(self._show_sign)
            if self._showing is not None:
                self._showing.cancel()

    def _show_sign(self, current_time: float) -> None:
        is_showing = self._showing is not None and not self._showing.done()
        if current_time - self._wrote >= SECOND * 0.9 and not is_showing:
            self._wrote = current_time
            self._showing = asyncio.get_running_loop().create_task(self._send_sign())

    async def _send_sign(self) -> None:
        with suppress(OSError):  # the client is gone, as whoever writes to it will find out
            await self._write_sign()

    async def respond(
        self, status: int, data: bytes, kind: str = JSON, headers: dict[str, str] = NONE
    ) -> None:
        length = str(len(data))
        if status == 200 and self.scope["method"] == "POST":
            head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n"
            for name, value in (self.shared | headers).items():
                head += f"{name}: {value}\r\n"
            head += "cache-control: no-store\r\n\r\n"
            self.begun = True
            whole_answer = head.encode("latin-1", "replace") + data
            if self._connection.write_answer(self.scope, whole_answer):
                return
        await self.start_response(status, kind, {"content-length": length, **headers})
        await self.write_chunk(data, has_more=False)

    async def refuse(self, api_error: ApiError, answer_wire: ClientWire) -> None:
        """The error in the protocol's own shape: as the answer, or at the end of its stream."""
        if self.begun:
            await self.write_chunk(self.write_failure(api_error), has_more=False)
        else:
            error_body = dump_json(answer_wire.error(api_error))
            await self.respond(api_error.status, error_body, headers=api_error.headers)
