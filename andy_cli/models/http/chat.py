"""The client for every server that speaks the OpenAI chat API, or Ollama's own.

A refusal that names a feature changes the request once, and the finding is kept: the next request
leaves the feature out from the start. A refusal of tools is raised nevertheless (`kind` is
`no_tools`, and `tools` is False from then on): the caller must teach the model a notation first.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from time import monotonic
from typing import Protocol
from urllib.parse import urljoin

from andy_cli.errors import ModelError, ToolsRefusedError, TransientError
from andy_cli.foreign_values import as_record, as_records
from andy_cli.guard.addresses import show_url
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import Endpoint
from andy_cli.models.http.features import (
    NOT_REMEMBERED,
    REASONING,
    TOOLS,
    Adapter,
    refuses_any_tools,
)
from andy_cli.models.http.ollama_wire import OllamaReader
from andy_cli.models.http.refusals import (
    ServerRefusal,
    as_error,
    names_no_model,
    parse_refusal,
    retry_after,
    use_https,
)
from andy_cli.models.http.request import (
    Body,
    HttpAnswer,
    Transport,
    body_of,
    choose_transport,
    drain_answer,
    read_reply,
    write_constraint,
)
from andy_cli.models.http.wire import WireReader
from andy_cli.models.ollama_chat import OllamaChat
from andy_cli.models.server.kind import ServerKind
from andy_cli.models.server.own_server import ADVICE, advise_owner, is_own_server
from andy_cli.settings import Settings

MAX_BYTES = 32 * 2**20
"""Bytes of a reply, unpacked."""

MAX_REFUSAL_BYTES = 64 * 2**10
"""Bytes of a refusal that are read."""


class CapturedExchange(Protocol):
    """The record that a capture keeps of one request; see capture.py."""

    def chunk(self, data: bytes) -> None: ...

    def end(self, error: BaseException | None = None) -> None: ...


Tap = Callable[[Endpoint, Body], CapturedExchange]


class RequestRefused(Exception):
    """The server answered with a status that is none of success."""

    def __init__(self, status: int, headers: Mapping[str, str], refusal: ServerRefusal) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.refusal = refusal


class ChatClient:
    def __init__(
        self,
        endpoint: Endpoint,
        settings: Settings,
        *,
        tools: bool = True,
        tap_exchange: Tap | None = None,
        learned: Iterable[str] = (),
        ollama: OllamaChat | None = None,
        keep_features: Callable[[Collection[str]], object] = lambda features: None,
        kind: ServerKind | None = None,
    ) -> None:
        """`learned`: what its server is known to refuse of requests; `keep_features` is told
        what it is seen to refuse. `ollama`: its server is one, and speaks its own API. `kind`
        tells which kind of server it is."""
        self.endpoint = endpoint
        self._settings = settings
        self._tools = tools
        self._tap = tap_exchange
        self._adapter = Adapter(learned)
        self._ollama = ollama
        self._keep = keep_features
        self._kind = kind or ServerKind(endpoint)
        self._transport: Transport | None = None
        self._extras: dict[str, object] = {}
        """Id of a call -> what its server wants back beside it."""

    @property
    def name(self) -> str:
        return f"{self.endpoint.provider}:{self.endpoint.model}"

    @property
    def tools(self) -> bool:
        return self._tools and TOOLS not in self._adapter.learned

    @property
    def guided(self) -> bool:
        return False

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        body = await self._body(request)
        while True:
            try:
                async with aclosing(read_reply(self._send_once(body), body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except RequestRefused as refused:
                if not self._learn_refusal(refused, body):
                    raise await self._explain_refusal(refused) from None
                body = await self._body(request)

    async def _body(self, request: Request) -> Body:
        limit = self._settings.whole("max_tokens")
        learned = self._adapter.learned
        body = body_of(self.endpoint, request, limit, REASONING in learned, self._extras)
        if request.constraint and not request.constraint.free_text:
            kind = await self._kind.find()
            body |= write_constraint(kind, request.constraint, learned)
        return self._adapter.adapt(body)

    async def models(self) -> list[str]:
        """List the server's models; empty when it does not say."""
        return model_names(await self._carrier().get("models"))

    async def close(self) -> None:
        if self._transport:
            await self._transport.close()
            self._transport = None

    def _carrier(self) -> Transport:
        if self._transport is None:
            self._transport = choose_transport(self.endpoint, self._settings)
        return self._transport

    async def _send_once(self, body: Body) -> AsyncGenerator[Chunk, None]:
        """Send one request. Raises RequestRefused for a status that is none of success."""
        endpoint, address = self.endpoint, ""
        reader: WireReader | OllamaReader = WireReader()
        if self._ollama and self._ollama.speaks:
            body, address = await self._ollama.write(body), self._ollama.address
            endpoint, reader = replace(endpoint, base_url=address), OllamaReader()
        exchange = self._tap(endpoint, body) if self._tap else None
        failure: BaseException | None = None
        try:
            async with self._carrier().send(body, address) as answer:
                if not 200 <= answer.status < 300:
                    raise await self._record_refusal(answer, exchange)
                async with aclosing(self._read(answer, reader, exchange)) as chunks:
                    async for chunk in chunks:
                        yield chunk
        except BaseException as error:
            failure = error
            raise
        finally:
            if exchange:
                exchange.end(failure)

    async def _read(
        self,
        answer: HttpAnswer,
        reader: WireReader | OllamaReader,
        exchange: CapturedExchange | None,
    ) -> AsyncGenerator[Chunk, None]:
        until = monotonic() + self._settings.number("network.total_timeout")
        size, has_begun = 0, False
        async for data in answer.bytes:
            if exchange:
                exchange.chunk(data)
            size += len(data)
            for chunk in reader.feed(data):
                has_begun = True
                self._note_extra(chunk)
                yield chunk
            if reader.failure or reader.done:
                break
            self._check_limits(size, until)
        for chunk in reader.finish():
            has_begun = True
            yield chunk
        if reader.failure:
            error = reader.failure
            error.args = (self._without_key(str(error)),)
            await self._advise_owner(error)
            raise error
        if reader.done:
            await drain_answer(answer)
        if not has_begun:
            message = f"{show_url(self.endpoint.base_url)} ended its reply before it began."
            raise TransientError(message, "Try again.", kind="protocol")

    def _note_extra(self, chunk: Chunk) -> None:
        if chunk.call and chunk.call.extra is not None:
            self._extras[chunk.call.id] = chunk.call.extra

    def _check_limits(self, size: int, until: float) -> None:
        if size > MAX_BYTES:
            message = f"The reply is longer than {MAX_BYTES // 2**20} MiB and was cut off."
            raise ModelError(message, "The model is probably repeating itself.", kind="size")
        if monotonic() > until:
            message = "The reply took longer than network.total_timeout allows and was cut off."
            raise TransientError(message, "Ask for less, or raise the limit.", kind="timeout")

    async def _record_refusal(
        self, answer: HttpAnswer, exchange: CapturedExchange | None
    ) -> RequestRefused:
        data = b""
        async for received in answer.bytes:
            if exchange:
                exchange.chunk(received)
            data += received
            if len(data) > MAX_REFUSAL_BYTES:
                break
        refusal = parse_refusal(data)
        message = self._without_key(refusal.message)
        return RequestRefused(answer.status, answer.headers, refusal._replace(message=message))

    def _learn_refusal(self, refused: RequestRefused, sent_body: Body) -> bool:
        """Tell whether the request can be changed so that it is taken; raises where tools go."""
        ollama = self._ollama if self._ollama and self._ollama.speaks else None
        if ollama and ollama.learn(refused.status, refused.refusal, sent_body):
            return True
        if self._adapter.learn(refused.status, refused.refusal, sent_body) is None:
            return False
        self._keep(self._adapter.learned - NOT_REMEMBERED)
        if "tools" in sent_body and not self.tools:
            reason = refused.refusal.message.rstrip(" .")  # another sentence may follow
            message = f"{self.name} does not take tools: {reason}."
            advice = "Use a text dialect ({auto_dialect}) or another model."
            wholly = refuses_any_tools(refused.refusal)
            raise ToolsRefusedError(message, advice, wholly) from None
        return True

    async def _explain_refusal(self, refused: RequestRefused) -> ModelError:
        shown_address = show_url(self.endpoint.base_url)
        # Servers of many makers speak as OpenAI's: that name is the wire's, and says nothing.
        provider = self.endpoint.provider
        server_name = f"{'The server' if provider == 'openai' else provider} at {shown_address}"
        if 300 <= refused.status < 400:
            target = show_url(urljoin(self.endpoint.base_url, refused.headers.get("location", "")))
            message = (
                f"{shown_address} points to another address, {target}; andy does not follow it."
            )
            return ModelError(message, "If you trust it, give it as {address}.", kind="redirect")
        if refused.refusal.code == "https":
            return use_https(shown_address)
        if names_no_model(refused.status, refused.refusal):
            return await self._unknown_model(server_name)
        if refused.status in (404, 405):
            message = f"There is no chat API at {shown_address} ({refused.status})."
            advice = "The address is probably wrong: it usually ends in /v1."
            return ModelError(message, advice, kind="not_found")
        retry_seconds = retry_after(refused.headers)
        key = self.endpoint.key_from
        error = as_error(refused.status, refused.refusal, server_name, key, retry_seconds)
        await self._advise_owner(error)
        if refused.headers.get("x-should-retry") == "false":
            return ModelError(str(error), error.unfilled_hint, kind=error.kind)
        return error

    async def _advise_owner(self, error: ModelError) -> None:
        """Give an error of a server of the user's own the hint of how it may be run otherwise."""
        if error.kind in ADVICE and is_own_server(self.endpoint.base_url):
            error.unfilled_hint = advise_owner(error.kind, await self._kind.find())

    async def _unknown_model(self, server_name: str) -> ModelError:
        import difflib  # only for somebody who mistyped

        # A server may list a model that it refuses: its own name is no advice.
        listed = [name for name in await self.models() if name != self.endpoint.model]
        nearest_names = difflib.get_close_matches(self.endpoint.model, listed, n=3, cutoff=0.4)
        advice = f"Did you mean {', '.join(nearest_names)}? " if nearest_names else ""
        advice += "{models} shows what there is."
        return ModelError(
            f"{server_name} has no model {self.endpoint.model!r}.", advice, kind="no_model"
        )

    def _without_key(self, text: str) -> str:
        from andy_cli.guard.redactor import redact_text  # 3 ms, and only failures need it

        return redact_text(text, (self.endpoint.key,))


def model_names(listed: object) -> list[str]:
    """The names in a list of models as servers write it; none where it is no such list."""
    rows = as_records(as_record(listed).get("data"))
    return [str(row["id"]) for row in rows if row.get("id")]
