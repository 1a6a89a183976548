"""The server itself: an ASGI application without a framework in the way of what is only passed on.

    POST /v1/chat/completions  /v1/responses  /v1/messages      GET /v1/models  /health  /metrics  /

Without tools, or for a model that takes them, bytes go through as they are. With tools that a model
cannot take, `emulation` leads the dialogue. What is the same for all requests: who may ask, how
large a request is, how an error looks.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from andy_cli.errors import AndyError
from andy_cli.frontends.serve import page, surfaces
from andy_cli.frontends.serve.asked import Asked
from andy_cli.frontends.serve.call import Call
from andy_cli.frontends.serve.chat_wire import dumped
from andy_cli.frontends.serve.exchange import JSON, Exchange, Receive, Scope, Send
from andy_cli.frontends.serve.gatekeeper import Gatekeeper, allowed
from andy_cli.frontends.serve.pieces import Refused
from andy_cli.frontends.serve.reading import parsed
from andy_cli.frontends.serve.records import Record, Records, metrics
from andy_cli.frontends.serve.source import Remote
from andy_cli.frontends.serve.surfaces import Surface
from andy_cli.frontends.serve.upstreams import Upstream, Upstreams
from andy_cli.guard.redactor import redact


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

    async def _answer(self, exchange: Exchange) -> None:
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

    async def _converse(self, exchange: Exchange, surface: Surface) -> None:
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
            exchange.attend()
            status = await Call(exchange, surface, asked, body, upstream, record).answer()
        except Refused as refused:
            status = refused.status
            raise
        except asyncio.CancelledError:
            status = 499
            raise
        finally:
            exchange.unattend()
            self._records.end(record, status)

    async def models(self, exchange: Exchange) -> None:
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

    async def metrics(self, exchange: Exchange) -> None:
        kind = "text/plain; version=0.0.4"
        await exchange.respond(200, metrics(self._records).encode(), kind)

    async def health(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped({"status": "ok"}))

    async def page(self, exchange: Exchange) -> None:
        await exchange.respond(200, page.text(), "text/html; charset=utf-8", page.headers())

    async def calls(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped(page.calls(self._records)))


OPEN = ("/", "/health")
"""For everybody: there is nothing of anybody in them."""
PAGES: Mapping[str, Callable[[App, Exchange], Awaitable[None]]] = {
    "/": App.page,
    "/health": App.health,
    "/calls.json": App.calls,
    "/v1/models": App.models,
    "/metrics": App.metrics,
}


def last_words(asked: Asked) -> str:
    for each in reversed(asked.history):
        if each.role == "user":
            return MARK.sub("[...]", each.content)[:500]
    return ""


MARK = re.compile("\ufdd0[0-9]+\ufdd1")
"""What stands for a picture and the like."""
LISTING = aiohttp.ClientTimeout(total=10)


async def listed(upstream: Upstream) -> list[dict[str, Any]]:
    """What the model's server lists."""
    source = upstream.source
    if not isinstance(source, Remote):
        return []
    try:
        behind = source.backend
        async with behind.http.get(
            behind.models, headers=behind.headers, timeout=LISTING
        ) as response:
            told = json.loads(await response.content.read(4 * 2**20))
    except (aiohttp.ClientError, OSError, ValueError, TimeoutError, RecursionError):
        # A list of models is a help and no promise.
        return []
    data = told.get("data") if isinstance(told, dict) else None
    return [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []
