"""Sources of answers: a server that speaks the chat API or Ollama's own, or a model inside this
process.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from andy_cli.errors import BadRequestError, ContextLengthError
from andy_cli.frontends.serve.call_records import CallRecord
from andy_cli.frontends.serve.upstream.backend import MAX_BYTES, Backend, UpstreamRequest
from andy_cli.frontends.serve.upstream.reply_start import (
    damaged_error,
    explain_failure,
    interrupted_error,
)
from andy_cli.frontends.serve.wires.answer_parts import ApiError, ToolsNotSupported
from andy_cli.frontends.serve.wires.chat_request import ANY_OBJECT, read_answer_schema
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.field_checks import LIMITS, drop_unlimited, list_stops
from andy_cli.messages import Chunk, Constraint, Request, Sampling, Schema
from andy_cli.models.client import Endpoint, ModelClient
from andy_cli.models.http.features import (
    NOT_REMEMBERED,
    STREAM,
    TOOLS,
    Adapter,
    adapt_body,
    blames_value,
)
from andy_cli.models.http.ollama_wire import OllamaReader, find_thinking, reader_at
from andy_cli.models.http.refusals import ServerRefusal, too_long
from andy_cli.models.http.request import CONSTRAINT_FIELDS, Body, read_reply, write_constraint
from andy_cli.models.http.wire import WireReader
from andy_cli.models.http.wording import wording
from andy_cli.models.memory import learn_without, recall_model
from andy_cli.models.ollama_chat import OllamaChat
from andy_cli.models.select import left_out
from andy_cli.models.server.kind import ServerKind
from andy_cli.settings import Settings


class ReplySource(Protocol):
    """One model, asked for one reply at a time."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def guided(self) -> bool: ...

    def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]: ...


@dataclass(slots=True)
class SourceWrapper:
    """A source that adds something to another one."""

    source: ReplySource

    @property
    def endpoint(self) -> Endpoint:
        return self.source.endpoint

    @property
    def guided(self) -> bool:
        return self.source.guided


def make_adapter(settings: Settings, endpoint: Endpoint) -> Adapter:
    """Make the adapter to what is remembered, in a file, that the server of a model refuses."""
    return Adapter(left_out(recall_model(endpoint), settings))


OLLAMA_FIELDS = ("num_ctx", "think", "keep_alive")
"""Fields of Ollama's clients that mean nothing to other servers."""

CLIENT_CONSTRAINT_FIELDS = CONSTRAINT_FIELDS | frozenset(
    "format guided_json guided_regex guided_choice guided_grammar regex ebnf".split()
)
"""Fields by which a client holds the reply to something itself."""


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """A server."""

    endpoint: Endpoint
    backend: Backend
    find_adapter: Callable[[Endpoint], Adapter]
    """The adapter to what its server has refused, by model: clients may choose the model."""
    kind: ServerKind
    guided: bool = False
    ollama: OllamaChat | None = None

    @property
    def passes(self) -> bool:
        """True if it speaks the chat completions API, of which bytes may go on as they are."""
        return self.ollama is None or not self.ollama.speaks

    def find_left_out(self, body: Mapping[str, object]) -> list[str]:
        """Find the features of a client's request that were left out, refused by its server."""
        learned = self.find_adapter(self.endpoint).learned
        return sorted(feature for feature in learned if adapt_body(body, {feature}) != body)

    @asynccontextmanager
    async def send(self, body: bytes) -> AsyncIterator[UpstreamRequest]:
        """The answer to a request of the chat completions API, without what the server refuses of
        it; in the words of the API that it was sent to.

        Raises ApiError, and ToolsNotSupported for a request with tools that must be made otherwise.
        """
        adapter = self.find_adapter(self.endpoint)
        if adapter.learned:
            body = dump_json(adapter.adapt(json.loads(body)))
        while True:
            async with await self._open_request(body) as upstream_request:
                if upstream_request.status == 200:
                    yield upstream_request
                    return
                api_error = await upstream_request.read_refusal()
            chat_request = json.loads(body)
            if self.ollama is not None and upstream_request.address == self.ollama.address:
                refusal = api_error.refusal
                if self.ollama.learn(api_error.status, refusal, chat_request):
                    continue  # an Ollama, or what is none, may take the same request once more
            body = dump_json(self._adapt_to_refusal(adapter, api_error, chat_request))

    async def _open_request(self, body: bytes) -> UpstreamRequest:
        if self.ollama is None or not self.ollama.speaks:
            return self.backend.send(body)
        try:
            written = await self.ollama.write(json.loads(body))
        except BadRequestError as error:
            raise ApiError(400, str(error)) from error
        return self.backend.send(dump_json(written), self.ollama.address)

    def _adapt_to_refusal(self, adapter: Adapter, api_error: ApiError, chat_request: Body) -> Body:
        learned_before = set(adapter.learned)
        refusal = find_thinking(api_error.refusal)
        changed = adapter.learn(api_error.status, refusal, chat_request)
        changed = changed or drop_counted_limit(refusal, chat_request)
        if changed is None:
            raise api_error
        if changed.get("stream") != chat_request.get("stream"):
            adapter.learned.discard(STREAM)
            raise api_error  # the client waits for a stream
        if blames_value(api_error.refusal):
            adapter.learned = learned_before  # another request may have a better one
        if "tools" in chat_request and "tools" not in changed:
            adapter.learned.discard(TOOLS)  # the upstream knows it from now on
            tools_refused = ToolsNotSupported(
                api_error.status, api_error.message, api_error.kind, api_error.code
            )
            tools_refused.refusal = api_error.refusal
            raise tools_refused
        if lasting := adapter.learned - NOT_REMEMBERED:
            learn_without(self.endpoint, lasting)
        return changed

    async def find_constraint(self, request: Request, fields: Mapping[str, object]) -> Body:
        """Find the fields that hold a reply to its constraint, unless the client has its own."""
        constraint, has_own = request.constraint, not CLIENT_CONSTRAINT_FIELDS.isdisjoint(fields)
        if constraint is None or constraint.free_text or has_own:
            return {}
        learned = self.find_adapter(self.endpoint).learned
        return write_constraint(await self.kind.find(), constraint, learned)

    def _build_body(self, request: Request, fields: Mapping[str, object]) -> Body:
        if not self.passes:
            refuse_unscored(fields)
        foreign = () if self.ollama else OLLAMA_FIELDS
        known_fields = {name: value for name, value in fields.items() if name not in foreign}
        body: dict[str, object] = {
            **drop_unlimited(known_fields),
            "model": self.endpoint.model,
            "messages": list(request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = list(request.tools)
        if request.stop:
            body["stop"] = list(dict.fromkeys([*list_stops(fields), *request.stop]))[:4]
        return body

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        constraint_fields = await self.find_constraint(request, fields)
        body = {**self._build_body(request, fields), **constraint_fields}
        chunks = self._stream_reply(json.dumps(body).encode())
        async with aclosing(read_reply(chunks, constraint_fields)) as reply_chunks:
            async for chunk in reply_chunks:
                yield chunk

    async def _stream_reply(self, body: bytes) -> AsyncGenerator[Chunk, None]:
        ended = False
        async with self.send(body) as upstream_request:
            reader = reader_at(upstream_request.address)
            async for chunk in _read_chunks(reader, upstream_request):
                ended = ended or bool(chunk.finish)
                yield chunk
        _check_ending(reader, ended)


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A model in this process: one reply after the other."""

    endpoint: Endpoint
    client: ModelClient
    turn: asyncio.Lock

    @property
    def guided(self) -> bool:
        return self.client.guided

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        local_request = understand_fields(request, fields)
        async with self.turn:
            try:
                async for chunk in self.client.reply(local_request):
                    yield chunk
            except ContextLengthError as error:
                raise ApiError(400, str(error), code="context_length_exceeded") from error
            except BadRequestError as error:
                raise ApiError(400, str(error)) from error


def drop_counted_limit(refusal: ServerRefusal, chat_request: Body) -> Body | None:
    """Leave out the limit of a reply that its server counts beside the prompt, and has no room for.

    None where the server tells no size that is smaller: then the prompt is what is too long.
    """
    sizes = {int(size.replace(",", "")) for size in wording("size").findall(refusal.message)}
    larger_sizes = sizes - {min(sizes, default=0)}
    is_counted = any(chat_request.get(name) in larger_sizes for name in LIMITS)
    if not (is_counted and too_long(refusal)):
        return None
    return {name: value for name, value in chat_request.items() if name not in LIMITS}


async def _read_chunks(
    reader: WireReader | OllamaReader, upstream_request: UpstreamRequest
) -> AsyncIterator[Chunk]:
    """Raises ApiError for a reply without end, or one that is damaged before it has begun."""
    size, begun = 0, False
    async for data in upstream_request.read_chunks():
        size += len(data)
        chunks = reader.feed(data)
        if reader.damaged and not begun:
            raise damaged_error()  # nothing was sent: its client may ask again
        for chunk in chunks:
            begun = True
            yield chunk
        if reader.failure or reader.done:
            break
        if size > MAX_BYTES:
            raise ApiError(502, "The model's reply is too long.", "upstream_error")
    for chunk in reader.finish():
        yield chunk


def read_data(data: bytes) -> list[Chunk]:
    """Read a reply of the chat API that has come, streamed or whole. Raises ApiError."""
    reader = WireReader()
    chunks = [*reader.feed(data), *reader.finish()]
    _check_ending(reader, any(chunk.finish for chunk in chunks))
    return chunks


def _check_ending(reader: WireReader | OllamaReader, ended: bool) -> None:
    """Raise what a stream failed with or broke off by. `ended`: its server said that it is whole,
    and all before that could be read.
    """
    if reader.failure:
        raise explain_failure(reader.failure)
    if not ended:
        raise damaged_error() if reader.damaged else interrupted_error()


@dataclass(slots=True)
class RecordingSource(SourceWrapper):
    record: CallRecord
    begun: bool = False
    """The model has begun to write."""
    replies: int = 0
    counted: int = 0
    """Tokens of the last prompt, as its server says."""

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        self.replies += 1
        if self.record.raw:
            self.record.add_raw("\n---\n")
        async for chunk in self.source.reply(request, fields):
            self.begun = True
            self.counted = chunk.usage.input_tokens if chunk.usage else self.counted
            self.record.add_raw(chunk.text)
            yield chunk


@dataclass(slots=True)
class BegunSource(SourceWrapper):
    """A source whose first reply has come already."""

    chunks: Sequence[Chunk]
    used: bool = False

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        if not self.used:
            self.used = True
            for chunk in self.chunks:
                yield chunk
            return
        async for chunk in self.source.reply(request, fields):
            yield chunk


def understand_fields(request: Request, fields: Mapping[str, Any]) -> Request:
    """The request with what the fields of the chat API say of it, for a model in this process: a
    server reads them itself. Raises ApiError (400).
    """
    refuse_unscored(fields)
    token_limit = fields.get("max_completion_tokens") or fields.get("max_tokens")
    schema = read_response_format(fields.get("response_format"))
    constraint = request.constraint
    if schema is not None:
        constraint = (constraint or Constraint())._replace(schema=schema)
    return request._replace(
        constraint=constraint,
        stop=(*request.stop, *list_stops(fields)),
        max_tokens=token_limit or request.max_tokens,
        sampling=Sampling(**{name: fields.get(name) for name in Sampling._fields}),
        keep_whole=True,
    )


UNSCORED = ("logprobs", "top_logprobs", "logit_bias")
"""Fields for models whose scores of tokens are at hand."""


def refuse_unscored(fields: Mapping[str, object]) -> None:
    """Raise ApiError (400) for a field that could only be passed over."""
    for name in UNSCORED:
        if fields.get(name):
            raise ApiError(
                400,
                f"{name} is not there for this model: the scores of its tokens are not told.",
                code="unsupported_parameter",
                param=name,
            )


def read_response_format(value: object) -> Schema | None:
    """The schema of the answer; None where it may be any text. Raises ApiError (400)."""
    if not isinstance(value, dict) or value.get("type") == "text":
        return None
    schema = read_answer_schema(value)
    if schema is None or value.get("type") not in ("json_object", "json_schema"):
        raise ApiError(
            400,
            "response_format is text, json_object, or json_schema with a name and a schema.",
            param="response_format",
        )
    return schema or ANY_OBJECT
