"""One client's connection: uvicorn's own, with a clock for clients that are slow to say what they
want, a limit for the heads of requests, and an answer to everything that is no HTTP.
"""

import asyncio
import re
from collections.abc import Callable
from typing import cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from andy_cli.frontends.serve.http.request_guard import MAX_HEADER_BYTES, METHODS
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_writer import dump_json, write_error

TIMEOUT = 25.0
"""Seconds for a request, from its first byte to its last."""
UPGRADES = (b"connection", b"upgrade", b"http2-settings")
FIRST_LINE = re.compile(rb"(?:\A|\r\n)([!-~]+) [!-~]+ HTTP/1\.[01]\r\n")


class DroppedTrailers(list[tuple[bytes, bytes]]):
    """Headers after a body: nobody looks at them, and they are not kept."""

    def append(self, header: tuple[bytes, bytes], /) -> None:
        pass


DROPPED = DroppedTrailers()


class ClientConnection(HttpToolsProtocol):
    """The app finds it as `scope["state"]["connection"]`."""

    def __init__(self, config: Config, state: ServerState) -> None:
        super().__init__(config, state, {"connection": self})
        self.gone: Callable[[], None] | None = None
        """Called once the client is gone."""
        self._clock: asyncio.TimerHandle | None = None
        self._in_body = False
        self._head = 0
        """Bytes of a head that is not whole yet."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._clock = self.loop.call_later(TIMEOUT, self._refuse_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)
        if self.gone is not None:
            self.gone()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        try:
            self._feed_parser(data)
        except httptools.HttpParserError:
            self._refuse_request(explain_unreadable(data))
            return
        # The first head is waited for, or one is under way: then there is no method yet.
        in_head = self.scope is None or "method" not in self.scope
        self._head = self._head + len(data) if in_head and self._head >= 0 else 0
        if self._head > MAX_HEADER_BYTES:
            self._refuse_request(ApiError(431, "The head of the request is too large."))
        elif in_head or self._in_body:
            self._clock = self._clock or self.loop.call_later(TIMEOUT, self._refuse_late)
        else:
            self._stop_clock()
            self._wait_for_next_request()

    def _wait_for_next_request(self) -> None:
        if self.cycle.response_complete:
            # The rest of a body that was refused is in; uvicorn waits for no other request.
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _feed_parser(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                data = self._plain_head() + data[upgrade.args[0] :]
                self.parser = httptools.HttpRequestParser(self)

    def _plain_head(self) -> bytes:
        """The head of a request that would rather go on in another protocol, as it is without."""
        method = self.parser.get_method()
        closes = any(name == b"connection" and b"close" in value for name, value in self.headers)
        kept_headers = [header for header in self.headers if header[0] not in UPGRADES]
        kept_headers += [(b"connection", b"close")] if closes else []
        lines = [b"%s %s HTTP/1.1" % (method, self.url), *map(b": ".join, kept_headers), b"", b""]
        return b"\r\n".join(lines)

    def on_headers_complete(self) -> None:
        if not self.url.startswith(b"/") or self.parser.get_method() == b"CONNECT":
            raise ValueError  # the parser makes a refusal of it: proxies are asked like that
        if self.parser.should_upgrade():
            return  # it comes again, without that wish
        self._in_body = True
        super().on_headers_complete()
        self.headers = DROPPED

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._in_body = False
        self._head = -1  # what has just arrived is not one head alone
        super().on_message_complete()
        if not self.pipeline:
            # A large body has stopped the reading; a client that goes must be noticed.
            self.flow.resume_reading()

    def write_answer(self, scope: object, answer: bytes) -> bool:
        """Write a whole answer, head and body: a third of what `send` costs.

        False where that has to be used: while requests wait after each other, or what was written
        before has not left.
        """
        cycle = self.cycle
        is_free = cycle.scope is scope and cycle.keep_alive and not cycle.response_started
        if not is_free or cycle.disconnected or self.flow.write_paused:
            return False
        self.transport.write(answer)
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        cycle.on_response()
        return True

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _refuse_late(self) -> None:
        self._refuse_request(ApiError(408, "The request took too long to arrive."))

    def _refuse_request(self, api_error: ApiError) -> None:
        """Says why and ends the connection; an answer that is under way may end before."""
        self._stop_clock()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            if not self._in_body:
                cycle.keep_alive = False
                self.flow.pause_reading()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        if cycle is None or cycle.response_complete or not cycle.response_started:
            body = dump_json(write_error(api_error))
            own_lines = "".join(f"{name}: {text}\r\n" for name, text in api_error.headers.items())
            head = (
                f"HTTP/1.1 {api_error.status} \r\ncontent-type: application/json\r\n{own_lines}"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


def explain_unreadable(data: bytes) -> ApiError:
    line = FIRST_LINE.search(data)
    if line and line[1].decode() not in METHODS:
        allowed = {"allow": ", ".join(METHODS)}
        return ApiError(405, f"Only {', '.join(METHODS)} are known here.", headers=allowed)
    return ApiError(400, "This is no HTTP request that can be read.")
