"""The server itself: an ASGI application without a framework in the way of what is only passed on.

    POST /v1/chat/completions  /v1/responses  /v1/messages
    POST /api/chat  /api/generate  /api/show  /api/pull         GET /api/tags  /api/ps  /api/version
    GET  /v1/models  /v1/models/NAME  /health  /metrics  /

Without tools, or for a model that takes them, bytes go through as they are. With tools that a model
cannot take, `emulation` leads the dialogue. What is the same for all requests: who may ask, how
large a request is, how an error looks.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from andy_cli.errors import AndyError
from andy_cli.frontends.serve import page
from andy_cli.frontends.serve.answers.multiple_answers import answer_call
from andy_cli.frontends.serve.answers.request_handler import Call
from andy_cli.frontends.serve.call_records import Record, Records, metrics
from andy_cli.frontends.serve.http.http_exchange import JSON, Exchange, Receive, Scope, Send
from andy_cli.frontends.serve.http.json_body import parsed
from andy_cli.frontends.serve.http.request_guard import Gatekeeper, allowed
from andy_cli.frontends.serve.upstream.model_list import (
    anthropic_list,
    anthropic_row,
    find_model,
    list_models,
    speaks_anthropic,
)
from andy_cli.guard.redactor import redact_text
from andy_cli.frontends.serve.upstream.ollama_models import NOT_OFFERED, VERSION, OllamaModels
from andy_cli.frontends.serve.upstream.sources import Remote
from andy_cli.frontends.serve.upstream.tool_support import GetFacts
from andy_cli.frontends.serve.upstream.upstreams import Upstreams
from andy_cli.frontends.serve.wires import wire
from andy_cli.frontends.serve.wires.answer_parts import Refused
from andy_cli.frontends.serve.wires.chat_fields import drop_unlimited, has_unlimited
from andy_cli.frontends.serve.wires.chat_request import Asked
from andy_cli.frontends.serve.wires.chat_writer import dumped
from andy_cli.frontends.serve.wires.ollama.ollama_writer import LINES, dump_line
from andy_cli.frontends.serve.wires.wire import Surface


class App:
    def __init__(
        self, upstreams: Upstreams, gatekeeper: Gatekeeper, records: Records, get_facts: GetFacts
    ) -> None:
        self._upstreams = upstreams
        self._ollama = OllamaModels(upstreams, get_facts)
        self._gatekeeper = gatekeeper
        self._records = records
        self._keys = [each.source.endpoint.key for each in upstreams.each]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send)
        scope["path"] = wire.complete_path(scope["path"])
        surface = wire.find_surface(scope["path"], scope["headers"])
        try:
            exchange.headers = self._gatekeeper.check(scope["method"], scope["headers"])
            exchange.shared = self._gatekeeper.shared(exchange.headers)
            await self._answer(exchange)
        except Refused as refused:
            # A model's server may quote the key it was given.
            refused.message = redact_text(refused.message, self._keys)
            await exchange.refuse(refused, surface)
        except AndyError as error:
            await exchange.refuse(Refused(502, str(error), "upstream_error"), surface)
        except asyncio.CancelledError:
            if not exchange.gone:
                ending = Refused(503, "This server is ending; ask again.", "server_error")
                await exchange.refuse(ending, surface)

    async def _answer(self, exchange: Exchange) -> None:
        method, path = exchange.scope["method"], exchange.scope["path"]
        surface = wire.BY_PATH.get(path)
        page = None if surface else find_page(path)
        methods = page.methods if page else POSTED
        if method == "OPTIONS":
            await exchange.start(204, JSON, allowed((*methods, "OPTIONS")))
            await exchange.write(b"", more=False)
            return
        if method not in methods:
            raise Refused(405, "This is not how it is asked for.", headers=allowed(methods))
        if path not in OPEN:
            self._gatekeeper.identify(exchange.headers)
        if page is not None:
            await page.answer(self, exchange)
        elif surface is not None:
            await self._converse(exchange, surface)

    async def _converse(self, exchange: Exchange, surface: Surface) -> None:
        body = await exchange.body()
        value = parsed(body)
        if surface.answer_alone is not None and (alone := surface.answer_alone(value)):
            model, answer = alone
            if model:
                self._upstreams.find(model)
            await exchange.respond(200, answer)
            return
        surface = wire.fit_surface(surface, value)
        asked = surface.asked(value)
        upstream = self._upstreams.find(asked.model)
        if surface.passes and has_unlimited(asked.body) and isinstance(upstream.source, Remote):
            asked = asked._replace(body=drop_unlimited(asked.body))
            body = dumped(asked.body)
        record = self._records.begin(
            Record(surface.name, upstream.model_for(asked.model), asked=last_words(asked))
        )
        status = 500
        try:
            exchange.attend()
            status = await answer_call(Call(exchange, surface, asked, body, upstream, record))
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
        rows = await list_models(self._upstreams)
        listed = {"object": "list", "data": rows}
        own = anthropic_list(rows) if speaks_anthropic(exchange.headers) else listed
        await exchange.respond(200, dumped(own))

    async def model(self, exchange: Exchange) -> None:
        name = exchange.scope["path"].removeprefix(MODEL)
        row = find_model(await list_models(self._upstreams), name)
        own = anthropic_row(row) if speaks_anthropic(exchange.headers) else row
        await exchange.respond(200, dumped(own))

    async def metrics(self, exchange: Exchange) -> None:
        kind = "text/plain; version=0.0.4"
        await exchange.respond(200, metrics(self._records).encode(), kind)

    async def health(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped({"status": "ok"}))

    async def page(self, exchange: Exchange) -> None:
        await exchange.respond(200, page.text(), "text/html; charset=utf-8", page.headers())

    async def calls(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped(page.calls(self._records)))

    async def ollama_tags(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped(await self._ollama.tags()))

    async def ollama_running(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped(await self._ollama.running()))

    async def ollama_version(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped({"version": VERSION}))

    async def ollama_show(self, exchange: Exchange) -> None:
        await exchange.respond(200, dumped(await self._ollama.show(parsed(await exchange.body()))))

    async def ollama_pull(self, exchange: Exchange) -> None:
        told = await self._ollama.pull(parsed(await exchange.body()))
        await exchange.respond(200, dump_line(told), LINES)

    async def ollama_refusal(self, exchange: Exchange) -> None:
        raise Refused(501, NOT_OFFERED[exchange.scope["path"]])


class Page(NamedTuple):
    """What is answered without a model's words."""

    answer: Callable[[App, Exchange], Awaitable[None]]
    methods: tuple[str, ...] = ("GET", "HEAD")


POSTED = ("POST",)
MODEL = "/v1/models/"
OPEN = ("/", "/health")
"""For everybody: there is nothing of anybody in them."""
PAGES: Mapping[str, Page] = {
    "/": Page(App.page),
    "/health": Page(App.health),
    "/calls.json": Page(App.calls),
    "/v1/models": Page(App.models),
    "/metrics": Page(App.metrics),
    "/api/tags": Page(App.ollama_tags),
    "/api/ps": Page(App.ollama_running),
    "/api/version": Page(App.ollama_version),
    "/api/show": Page(App.ollama_show, POSTED),
    "/api/pull": Page(App.ollama_pull, POSTED),
    **dict.fromkeys(NOT_OFFERED, Page(App.ollama_refusal, POSTED)),
}


def find_page(path: str) -> Page:
    """Raises Refused (404) where there is none."""
    page = Page(App.model) if path.startswith(MODEL) else PAGES.get(path)
    if page is None:
        raise Refused(404, "There is nothing here.", code="not_found")
    return page


def last_words(asked: Asked) -> str:
    for each in reversed(asked.history):
        if each.role == "user":
            return MARK.sub("[...]", each.content)[:500]
    return ""


MARK = re.compile("\ufdd0[0-9]+\ufdd1")
"""What stands for a picture and the like."""
