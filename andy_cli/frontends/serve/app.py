"""The server itself: an ASGI application without a framework in the way of what is only passed on.

    POST /v1/chat/completions  /v1/responses  /v1/messages
    POST /api/chat  /api/generate  /api/show  /api/pull         GET /api/tags  /api/ps  /api/version
    GET  /v1/models  /v1/models/NAME  /health  /metrics  /

Without tools, or for a model that takes them, bytes go through as they are. With tools that a model
cannot take, `answers.tool_dialogue` leads the dialogue. What is the same for all requests: who may
ask, how large a request is, how an error looks.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from andy_cli.errors import AndyError
from andy_cli.frontends.serve import page
from andy_cli.frontends.serve.answers.request_handler import RequestHandler, answer_request
from andy_cli.frontends.serve.call_records import CallRecord, CallRecords, render_metrics
from andy_cli.frontends.serve.http.http_exchange import JSON, HttpExchange, Receive, Scope, Send
from andy_cli.frontends.serve.http.request_guard import RequestGuard, allow_header
from andy_cli.frontends.serve.upstream.model_list import (
    NOT_OFFERED,
    VERSION,
    OllamaModels,
    anthropic_list,
    anthropic_row,
    find_model,
    list_models,
)
from andy_cli.frontends.serve.upstream.sources import RemoteSource
from andy_cli.frontends.serve.upstream.upstreams import Upstreams
from andy_cli.frontends.serve.wires import client_wire
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.client_wire import ClientWire
from andy_cli.frontends.serve.wires.field_checks import (
    drop_unlimited,
    has_unlimited,
    parse_json_body,
)
from andy_cli.frontends.serve.wires.ollama import LINES, dump_line
from andy_cli.guard.redactor import redact_text


class App:
    def __init__(self, upstreams: Upstreams, guard: RequestGuard, records: CallRecords) -> None:
        self._upstreams = upstreams
        self._ollama = OllamaModels(upstreams)
        self._guard = guard
        self._records = records
        self._keys = [upstream.source.endpoint.key for upstream in upstreams.entries]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = HttpExchange(scope, receive, send)
        scope["path"] = client_wire.complete_path(scope["path"])
        answer_wire = client_wire.find_wire(scope["path"], scope["headers"])
        try:
            exchange.headers = self._guard.check_headers(scope["method"], scope["headers"])
            exchange.shared = self._guard.make_cors_headers(exchange.headers)
            await self._answer(exchange)
        except ApiError as api_error:
            # A model's server may quote the key it was given.
            api_error.message = redact_text(api_error.message, self._keys)
            await exchange.refuse(api_error, answer_wire)
        except AndyError as error:
            await exchange.refuse(ApiError(502, str(error), "upstream_error"), answer_wire)
        except asyncio.CancelledError:
            if not exchange.gone:
                ending = ApiError(503, "This server is ending; ask again.", "server_error")
                await exchange.refuse(ending, answer_wire)

    async def _answer(self, exchange: HttpExchange) -> None:
        method, path = exchange.scope["method"], exchange.scope["path"]
        answer_wire = client_wire.BY_PATH.get(path)
        route = None if answer_wire else find_route(path)
        methods = route.methods if route else POSTED
        if method == "OPTIONS":
            await exchange.start_response(204, JSON, allow_header(methods))
            await exchange.write_chunk(b"", has_more=False)
            return
        if method not in methods:
            message = f"{path} takes {' and '.join(methods)}, not {method}."
            raise ApiError(405, message, headers=allow_header(methods))
        if path not in OPEN:
            self._guard.check_token(exchange.headers)
        if route is not None:
            value = await route.answer(self, exchange)
            if value is not None:
                await exchange.respond(200, dump_json(value))
        elif answer_wire is not None:
            await self._converse(exchange, answer_wire)

    async def _converse(self, exchange: HttpExchange, answer_wire: ClientWire) -> None:
        body = await exchange.read_body()
        value = parse_json_body(body)
        if answer_wire.answer_alone is not None and (alone := answer_wire.answer_alone(value)):
            model, answer = alone
            if model:
                # For its refusal alone: a model that there is not has no answer either.
                self._upstreams.find_upstream(model)
            await exchange.respond(200, answer)
            return
        answer_wire = client_wire.fit_wire(answer_wire, value)
        chat_request = answer_wire.read_request(value)
        upstream = self._upstreams.find_upstream(chat_request.model)
        may_pass = answer_wire.passes and isinstance(upstream.source, RemoteSource)
        if may_pass and has_unlimited(chat_request.body):
            chat_request = chat_request._replace(body=drop_unlimited(chat_request.body))
            body = dump_json(chat_request.body)
        model, last_words = upstream.model_for(chat_request.model), find_last_words(chat_request)
        record = self._records.begin(CallRecord(answer_wire.name, model, asked=last_words))
        status = 500
        try:
            exchange.watch_client()
            catalogue = await upstream.catalogue_tools(chat_request)
            handler = RequestHandler(
                exchange, answer_wire, chat_request, body, upstream, record, catalogue
            )
            await answer_request(handler)
            status = 200
        except ApiError as api_error:
            status = api_error.status
            raise
        except asyncio.CancelledError:
            # Nobody reads it on the wire; nginx's number for a client that left tells the records.
            status = 499
            raise
        finally:
            exchange.unwatch_client()
            self._records.end(record, status)

    async def models(self, exchange: HttpExchange) -> object:
        rows = await list_models(self._upstreams)
        listed = {"object": "list", "data": rows}
        return anthropic_list(rows) if ANTHROPIC in exchange.headers else listed

    async def model(self, exchange: HttpExchange) -> object:
        name = exchange.scope["path"].removeprefix(MODEL)
        row = find_model(await list_models(self._upstreams), name)
        return anthropic_row(row) if ANTHROPIC in exchange.headers else row

    async def metrics(self, exchange: HttpExchange) -> None:
        kind = "text/plain; version=0.0.4"
        await exchange.respond(200, render_metrics(self._records).encode(), kind)

    async def health(self, exchange: HttpExchange) -> object:
        return {"status": "ok"}

    async def page(self, exchange: HttpExchange) -> None:
        await exchange.respond(
            200, page.page_html(), "text/html; charset=utf-8", page.page_headers()
        )

    async def calls(self, exchange: HttpExchange) -> object:
        return page.list_calls(self._records)

    async def ollama_models(self, exchange: HttpExchange) -> object:
        path = exchange.scope["path"]
        if path in NOT_OFFERED:
            raise ApiError(501, NOT_OFFERED[path])
        if path == "/api/version":
            return {"version": VERSION}
        if path == "/api/tags":
            return await self._ollama.tags()
        if path == "/api/ps":
            return await self._ollama.running()
        body = parse_json_body(await exchange.read_body())
        if path == "/api/show":
            return await self._ollama.show(body)
        await exchange.respond(200, dump_line(await self._ollama.pull(body)), LINES)
        return None


class Route(NamedTuple):
    """A path that is answered without a model's words."""

    answer: Callable[[App, HttpExchange], Awaitable[object]]
    """Returns what is written as JSON; None where it has responded itself."""
    methods: tuple[str, ...] = ("GET", "HEAD")


ANTHROPIC = "anthropic-version"
"""The header by which clients of Anthropic's API are known."""
POSTED = ("POST",)
MODEL = "/v1/models/"
OPEN = ("/", "/health")
"""For everybody: there is nothing of anybody in them."""
ROUTES: Mapping[str, Route] = {
    "/": Route(App.page),
    "/health": Route(App.health),
    "/calls.json": Route(App.calls),
    "/v1/models": Route(App.models),
    "/metrics": Route(App.metrics),
    **dict.fromkeys(("/api/tags", "/api/ps", "/api/version"), Route(App.ollama_models)),
    **dict.fromkeys(("/api/show", "/api/pull", *NOT_OFFERED), Route(App.ollama_models, POSTED)),
    "/api/delete": Route(App.ollama_models, ("DELETE",)),
}


def find_route(path: str) -> Route:
    route = Route(App.model) if path.startswith(MODEL) else ROUTES.get(path)
    if route is None:
        raise ApiError(404, "There is nothing here.", code="not_found")
    return route


def find_last_words(chat_request: ChatRequest) -> str:
    for message in reversed(chat_request.history):
        if message.role == "user":
            return MARK.sub("[...]", message.content)[:500]
    return ""


MARK = re.compile("\ufdd0[0-9]+\ufdd1")
"""The stand-in for a picture and the like."""
