"""One request and its answer on the wire: its body, its end, its client going away."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

from andy_cli.frontends.serve.chat_wire import dumped
from andy_cli.frontends.serve.connection import Connection
from andy_cli.frontends.serve.gatekeeper import LARGEST
from andy_cli.frontends.serve.pieces import Refused
from andy_cli.frontends.serve.surfaces import Surface

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
SLOW = 25.0
"""Seconds a client may take to send its request."""
JSON = "application/json"


class Exchange:
    """One request and its answer on the wire."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.headers: Mapping[str, str] = {}
        self.shared: Mapping[str, str] = {}
        """Headers of every answer to it."""
        self.begun = False
        self.failed: Callable[[Refused], bytes] | None = None
        """Who is writing the answer ends it, should it fail."""
        self.over = False
        self.gone = False
        """Its client is; nobody is left to answer."""
        self._receive = receive
        self._send = send

    async def body(self) -> bytes:
        """Raises Refused for one that is too large (413) or comes too slowly (408)."""
        try:
            async with asyncio.timeout(SLOW):
                return await self._whole()
        except TimeoutError:
            raise Refused(
                408, "The request took too long to arrive.", headers={"connection": "close"}
            ) from None

    async def _whole(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "The client is gone.")
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > LARGEST:
                raise Refused(413, f"The request is larger than {LARGEST // 2**20} MiB.")
            if not message.get("more_body"):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    @contextmanager
    def until_gone(self) -> Iterator[None]:
        """Ends this request's own work as soon as its client is gone."""
        connection: Connection = self.scope["state"]["connection"]
        me = asyncio.current_task()
        assert me is not None

        def end() -> None:
            self.gone = True
            me.cancel()

        connection.gone = end
        try:
            yield
        finally:
            connection.gone = None

    async def start(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        self.begun = True
        listed = [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]
        listed += [
            (name.encode(), value.encode("latin-1", "replace"))
            for name, value in (*self.shared.items(), *headers.items())
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": listed})

    async def write(self, data: bytes, more: bool = True) -> None:
        self.over = not more
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def respond(
        self, status: int, data: bytes, kind: str = JSON, headers: Mapping[str, str] | None = None
    ) -> None:
        length = {"content-length": str(len(data))}
        await self.start(status, kind, {**length, **(headers or {})})
        await self.write(data, more=False)

    async def refuse(self, refused: Refused, surface: Surface) -> None:
        """The error in the protocol's own shape: as the answer, or at the end of its stream."""
        if self.begun:
            failed = self.failed or surface.failed
            await self.write(failed(refused), more=False)
        else:
            told = dumped(surface.error(refused))
            await self.respond(refused.status, told, headers=refused.headers)
