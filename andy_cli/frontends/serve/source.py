"""Where answers come from: a server that speaks the chat API, or a model inside this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from andy_cli.frontends.serve.backend import LARGEST, Backend
from andy_cli.frontends.serve.pieces import Refused
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import Endpoint, ModelClient
from andy_cli.models.http.wire import ReplyReader


class Source(Protocol):
    """One model, asked for one reply at a time."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def guided(self) -> bool: ...

    def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]: ...


@dataclass(frozen=True, slots=True)
class Remote:
    """A server."""

    endpoint: Endpoint
    backend: Backend
    guided: bool = False

    def _body(self, request: Request, fields: Mapping[str, object]) -> bytes:
        body: dict[str, object] = {
            **fields,
            "model": self.endpoint.model,
            "messages": list(request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = list(request.tools)
        if request.stop:
            given = body.get("stop") or []
            own = given if isinstance(given, list) else [given]
            body["stop"] = list(dict.fromkeys([*own, *request.stop]))[:4]
        return json.dumps(body).encode()

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        reader, size, ended = ReplyReader(), 0, False
        async with self.backend.send(self._body(request, fields)) as sent:
            if sent.status != 200:
                raise await sent.refusal()
            async for data in sent.chunks():
                size += len(data)
                for chunk in reader.feed(data):
                    ended = ended or bool(chunk.finish)
                    yield chunk
                if reader.failure or reader.done or size > LARGEST:
                    break
            for chunk in reader.finish():
                ended = ended or bool(chunk.finish)
                yield chunk
        if not (ended or reader.done or reader.failure):
            raise Refused(502, "The model's server broke off its reply.", "upstream_error")
        if reader.failure:
            raise Refused(502, str(reader.failure), "upstream_error")
        if size > LARGEST:
            raise Refused(502, "The model's reply is too long.", "upstream_error")


@dataclass(frozen=True, slots=True)
class Inside:
    """A model in this process: one reply after the other."""

    endpoint: Endpoint
    client: ModelClient
    turn: asyncio.Lock

    @property
    def guided(self) -> bool:
        return self.client.guided

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        most = fields.get("max_tokens") or fields.get("max_completion_tokens")
        wanted = request._replace(max_tokens=most if isinstance(most, int) else request.max_tokens)
        async with self.turn:
            async for chunk in self.client.reply(wanted):
                yield chunk
