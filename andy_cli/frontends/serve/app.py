"""The server itself: an ASGI application without a framework in the way of what is only passed on.

    POST /v1/chat/completions  /v1/responses  /v1/messages      GET /v1/models  /health  /metrics  /

Without tools, or for a model that takes them, bytes go through as they are. With tools that a model
cannot take, `emulation` leads the dialogue. What is the same for all requests: who may ask, how
large a request is, how an error looks.
"""

import asyncio
import json
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    MutableMapping,
)
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import aiohttp

from andy_cli.errors import AndyError
from andy_cli.frontends.serve import page, surfaces
from andy_cli.frontends.serve.asked import Asked
from andy_cli.frontends.serve.chat_wire import dumped
from andy_cli.frontends.serve.emulation import Dialogue, emulated
from andy_cli.frontends.serve.gatekeeper import LARGEST, Gatekeeper, allowed
from andy_cli.frontends.serve.heard import Heard
from andy_cli.frontends.serve.passing import Watching, plain_body
from andy_cli.frontends.serve.pieces import Called, Over, Piece, Refused
from andy_cli.frontends.serve.reading import parsed
from andy_cli.frontends.serve.records import ROOM, Record, Records, metrics
from andy_cli.frontends.serve.source import Remote, refusal
from andy_cli.frontends.serve.surfaces import Surface, Writer
from andy_cli.frontends.serve.upstreams import Upstream, Upstreams, renamed
from andy_cli.guard.redactor import redact
from andy_cli.models.http.refusals import Refusal, feature_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
SLOW = 25.0
"""Seconds a client may take to send its request."""
JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"
Pieces = AsyncGenerator[Piece, None]


class App:
    def __init__(self, upstreams: Upstreams, gatekeeper: Gatekeeper, records: Records) -> None:
        self._upstreams = upstreams
        self._gatekeeper = gatekeeper
        self._records = records
        self._keys = [each.source.endpoint.key for each in upstreams.each]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send)
        surface = surfaces.BY_PATH.get(scope["path"], surfaces.BY_PATH["/v1/chat/completions"])
        try:
            exchange.headers = self._gatekeeper.check(scope["method"], scope["headers"])
            exchange.shared = self._gatekeeper.shared(exchange.headers)
            await self._answer(exchange)
        except Refused as refused:
            # A model's server may quote the key it was given.
            refused.message = redact(refused.message, self._keys)
            await exchange.refuse(refused, surface)
        except AndyError as error:
            await exchange.refuse(Refused(502, str(error), "upstream_error"), surface)
        except asyncio.CancelledError:
            if not exchange.gone:
                ending = Refused(503, "This server is ending; ask again.", "server_error")
                await exchange.refuse(ending, surface)

    async def _answer(self, exchange: "Exchange") -> None:
        method, path = exchange.scope["method"], exchange.scope["path"]
        surface = surfaces.BY_PATH.get(path)
        shown = PAGES.get(path)
        if surface is None and shown is None:
            raise Refused(404, "There is nothing here.", code="not_found")
        methods = ("POST",) if surface else ("GET", "HEAD")
        if method == "OPTIONS":
            await exchange.start(204, JSON, allowed((*methods, "OPTIONS")))
            await exchange.write(b"", more=False)
            return
        if method not in methods:
            raise Refused(405, "This is not how it is asked for.", headers=allowed(methods))
        if path not in OPEN:
            self._gatekeeper.identify(exchange.headers)
        if shown is not None:
            await shown(self, exchange)
        elif surface is not None:
            await self._converse(exchange, surface)

    async def _converse(self, exchange: "Exchange", surface: Surface) -> None:
        body = await exchange.body()
        value = parsed(body)
        if surface.counted is not None:
            await exchange.respond(200, surface.counted(value))
            return
        asked = surface.asked(value)
        upstream = self._upstreams.find(asked.model)
        record = self._records.begin(
            Record(surface.name, upstream.model_for(asked.model), asked=last_words(asked))
        )
        status = 500
        try:
            call = Call(exchange, surface, asked, body, upstream, record)
            watching = exchange.until_gone()
            try:
                status = await call.answer()
            finally:
                watching.cancel()
        except Refused as refused:
            status = refused.status
            raise
        except asyncio.CancelledError:
            status = 499
            raise
        finally:
            self._records.end(record, status)

    async def models(self, exchange: "Exchange") -> None:
        now = int(time.time())
        names = [each.name or each.source.endpoint.model for each in self._upstreams.each]
        rows = [
            {"id": name, "object": "model", "created": now, "owned_by": "andy"}
            for name in names
            if name
        ]
        if not rows:
            rows = await listed(self._upstreams.each[0])
        await exchange.respond(200, dumped({"object": "list", "data": rows}))

    async def metrics(self, exchange: "Exchange") -> None:
        kind = "text/plain; version=0.0.4"
        await exchange.respond(200, metrics(self._records).encode(), kind)

    async def health(self, exchange: "Exchange") -> None:
        await exchange.respond(200, dumped({"status": "ok"}))

    async def page(self, exchange: "Exchange") -> None:
        await exchange.respond(200, page.text(), "text/html; charset=utf-8", page.headers())

    async def calls(self, exchange: "Exchange") -> None:
        await exchange.respond(200, dumped(page.calls(self._records)))


OPEN = ("/", "/health")
"""For everybody: there is nothing of anybody in them."""
PAGES: Mapping[str, Callable[[App, "Exchange"], Awaitable[None]]] = {
    "/": App.page,
    "/health": App.health,
    "/calls.json": App.calls,
    "/v1/models": App.models,
    "/metrics": App.metrics,
}


def last_words(asked: Asked) -> str:
    return next((each.content for each in reversed(asked.history) if each.role == "user"), "")[:500]


async def listed(upstream: Upstream) -> list[dict[str, Any]]:
    """What the model's server lists."""
    source = upstream.source
    if not isinstance(source, Remote):
        return []
    try:
        url = f"{source.endpoint.base_url.rstrip('/')}/models"
        async with source.http.get(url, headers=source.headers) as response:
            told = json.loads(await response.content.read(4 * 2**20))
    except (aiohttp.ClientError, OSError, ValueError, TimeoutError, RecursionError):
        # A list of models is a help and no promise.
        return []
    data = told.get("data") if isinstance(told, dict) else None
    return [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []


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

    def until_gone(self) -> "asyncio.Task[None]":
        """Ends this request's own work as soon as its client is gone."""
        me = asyncio.current_task()
        assert me is not None

        async def watch() -> None:
            while (await self._receive())["type"] != "http.disconnect":
                pass
            if not self.over:
                self.gone = True
                me.cancel()

        return asyncio.create_task(watch())

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


@dataclass(slots=True)
class Call:
    """One request for an answer, and all that is known about it."""

    exchange: Exchange
    surface: Surface
    asked: Asked
    body: bytes
    upstream: Upstream
    record: Record

    async def answer(self) -> int:
        """Write the answer; returns its status."""
        source = renamed(self.upstream, self.asked.model)
        wanted = self.exchange.headers.get("x-andy-dialect", "")
        dialogue = bool(self.asked.tools or any(each.role == "tool" for each in self.asked.history))
        native = dialogue and not wanted and self.upstream.native()
        passing = self.surface.passes and isinstance(source, Remote) and (native or not dialogue)
        if passing and isinstance(source, Remote):
            if self.exchange.headers.get("x-andy-dry-run") == "1":
                return await self._shown(source.endpoint.model, json.loads(self._passed(source)))
            try:
                return await self._pass(source, dialogue)
            except ToolsRefused:
                self.upstream.refused_tools()
        named = wanted or ("native" if native and self.upstream.takes_tools else "")
        taught = self.upstream.taught(self.asked.tools, self.asked.model, named)
        self.record.way = taught.dialect.name
        if self.exchange.headers.get("x-andy-dry-run") == "1":
            request = Dialogue(self.asked, source, taught).request()
            told = {**self.asked.fields, "messages": list(request.messages), "stop": request.stop}
            return await self._shown(source.endpoint.model, told)
        try:
            return await self._compile(emulated(self.asked, Heard(source, self.record), taught))
        except Refused as refused:
            first = named == "native" and not (wanted or self.exchange.begun)
            if not first or feature_of(refused.status, Refusal(refused.message)) != "tools":
                raise
            self.upstream.refused_tools()
            return await self.answer()

    async def _shown(self, model: str, request: Mapping[str, object]) -> int:
        """A dry run: what would be sent, and nothing is."""
        told = {**request, "model": model or self.asked.model}
        await self.exchange.respond(200, dumped({"dry_run": True, "request": told}))
        return 200

    def _passed(self, source: Remote) -> bytes:
        return plain_body(self.asked, self.body, source.endpoint.model)

    async def _pass(self, source: Remote, tools: bool) -> int:
        """Bytes as they come; with tools the text is read along."""
        self.record.way = "passed"
        async with source.opened(self._passed(source)) as response:
            if response.status != 200:
                refused = await refusal(response)
                told = Refusal(refused.message)
                if tools and feature_of(refused.status, told) == "tools":
                    raise ToolsRefused
                raise refused
            kind = response.headers.get("content-type", JSON)
            headers = {"x-andy-compiled": "native;repairs=0"}
            if not kind.startswith("text/event-stream"):
                data = await whole(response)
                await self.exchange.respond(200, data, kind, headers)
                self.record.wrote(data.decode("utf-8", "replace"))
                return 200
            await self.exchange.start(200, kind, headers)
            if tools:
                await self._watched(response.content.iter_any(), source)
            else:
                async for data in response.content.iter_any():
                    self.record.wrote(data.decode("utf-8", "replace"))
                    await self.exchange.write(data)
            await self.exchange.write(b"", more=False)
        return 200

    async def _watched(self, chunks: AsyncIterator[bytes], source: Remote) -> None:
        taught = self.upstream.taught(self.asked.tools, self.asked.model, "native")
        watching = Watching(Dialogue(self.asked, source, taught), self.record)
        async for data in chunks:
            if out := watching.take(data):
                await self.exchange.write(out)
        async for out in watching.end():
            await self.exchange.write(out)

    async def _compile(self, pieces: Pieces) -> int:
        writer = self.surface.writer(self.asked, self.asked.model or self.record.model)
        if self.asked.stream:
            return await self._streamed(pieces, writer)
        made: list[Piece] = []
        async with aclosing(pieces):
            async for piece in pieces:
                made.append(piece)
                self._note(piece)
        data = writer.whole(made)
        self.record.compiled = data.decode()[:ROOM]
        over = next(each for each in made if isinstance(each, Over))
        await self.exchange.respond(200, data, headers={"x-andy-compiled": how(over)})
        return 200

    async def _streamed(self, pieces: Pieces, writer: Writer) -> int:
        """Events as they are made; an error before the first of them is an answer of its own."""
        headers = {"x-andy-compiled": self.record.way}
        self.exchange.failed = writer.failed
        async with aclosing(pieces):
            async for piece in pieces:
                self._note(piece)
                if not self.exchange.begun:
                    await self.exchange.start(200, EVENTS, headers)
                await self.exchange.write(writer.event(piece))
        await self.exchange.write(b"", more=False)
        return 200

    def _note(self, piece: Piece) -> None:
        if isinstance(piece, Called):
            self.record.calls += 1
            self.record.compiled += f"{piece.name} {piece.arguments}\n"[:2000]
        elif isinstance(piece, Over):
            self.record.repairs = piece.repairs
        else:
            self.record.compiled = (self.record.compiled + piece.text)[:ROOM]


async def whole(response: aiohttp.ClientResponse) -> bytes:
    """Raises Refused for an answer without end."""
    data = bytearray()
    async for piece in response.content.iter_any():
        data += piece
        if len(data) > LARGEST:
            raise Refused(502, "The model's reply is too long.", "upstream_error")
    return bytes(data)


def how(over: Over) -> str:
    """`hermes;repairs=1`."""
    return f"{over.dialect or 'text'};repairs={len(over.repairs)}"


class ToolsRefused(Exception):
    """The model's server takes no tools."""
