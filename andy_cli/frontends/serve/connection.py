"""One client's connection: uvicorn's own, with a clock for clients that are slow to say what they
want, and with an answer to everything that is no HTTP.
"""

import asyncio
from typing import cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from andy_cli.frontends.serve.chat_wire import dumped, error
from andy_cli.frontends.serve.pieces import Refused

PATIENCE = 20.0
"""Seconds for the head of a request; and for a body that was refused, to end."""


class Connection(H11Protocol):
    def __init__(self, config: Config, state: ServerState) -> None:
        super().__init__(config, state, {})
        self._clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._clock = self.loop.call_later(PATIENCE, self._late)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._owing():
            self._stop()
        elif self._clock is None:
            self._clock = self.loop.call_later(PATIENCE, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _owing(self) -> bool:
        """A head is under way, or a body that nobody waits for any more."""
        state = self.conn.states[h11.CLIENT]
        answered = self.conn.our_state in (h11.DONE, h11.MUST_CLOSE)
        return state is h11.IDLE or (state is h11.SEND_BODY and answered)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _late(self) -> None:
        self._refuse(Refused(408, "The request took too long to arrive."))

    def send_400_response(self, msg: str) -> None:
        self._refuse(Refused(400, "This is no HTTP request that can be read."))

    def _refuse(self, refused: Refused) -> None:
        """Says why, unless an answer has begun, and ends the connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = dumped(error(refused))
            headers = [
                ("content-type", "application/json"),
                ("content-length", str(len(body))),
                ("connection", "close"),
            ]
            head = h11.Response(status_code=refused.status, headers=headers)
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
