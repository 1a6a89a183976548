"""Where answers come from: a server that speaks the chat API, or a model inside this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import aiohttp

from andy_cli.frontends.serve.pieces import Refused
from andy_cli.guard.redactor import redact
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import Endpoint, ModelClient
from andy_cli.models.http.wire import ReplyReader
from andy_cli.settings import Settings

LARGEST = 32 * 2**20
"""Bytes of a reply, unpacked."""
REFUSAL = 256 * 2**10
PASSED = ("retry-after", "x-request-id", "x-ratelimit-remaining-requests")
"""Headers of a refusal that a client can use."""


class Source(Protocol):
    """One model, asked for one reply at a time."""

    @property
    def endpoint(self) -> Endpoint: ...

    @property
    def guided(self) -> bool: ...

    def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]: ...


@dataclass(frozen=True, slots=True)
class Remote:
    """A server; `http` is shared by all requests and holds no cookies and no key."""

    endpoint: Endpoint
    http: aiohttp.ClientSession
    settings: Settings
    guided: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """Ours alone: no header of a client is passed on, its key least of all (P10)."""
        headers = {"content-type": "application/json", "accept": "text/event-stream, */*"}
        if self.endpoint.key:
            headers["authorization"] = f"Bearer {self.endpoint.key}"
        return headers

    @asynccontextmanager
    async def opened(self, body: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to a request. Raises Refused for a server that cannot be reached."""
        url = f"{self.endpoint.base_url.rstrip('/')}/chat/completions"
        try:
            async with self.http.post(
                url, data=body, headers=self.headers, allow_redirects=False
            ) as response:
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(error) from error

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
        async with self.opened(self._body(request, fields)) as response:
            if response.status != 200:
                raise await refusal(response)
            async for data in response.content.iter_any():
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


def unreachable(error: Exception) -> Refused:
    if isinstance(error, TimeoutError):
        return Refused(504, "The model's server took too long to answer.", "upstream_error")
    return Refused(502, "The model's server cannot be reached or broke off.", "upstream_error")


async def refusal(response: aiohttp.ClientResponse) -> Refused:
    """What the server refused with, in its own words where they are JSON."""
    data = b""
    async for piece in response.content.iter_any():
        data += piece
        if len(data) > REFUSAL:
            break
    message, kind, code = f"The model's server answered {response.status}.", "upstream_error", None
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        told = None
    error = told.get("error", told) if isinstance(told, dict) else None
    if isinstance(error, str):
        message = error
    elif isinstance(error, dict) and isinstance(error.get("message"), str):
        message, kind = error["message"], str(error.get("type") or kind)
        code = error.get("code") if isinstance(error.get("code"), str) else None
    headers = {name: response.headers[name] for name in PASSED if name in response.headers}
    message = redact(message)
    status = response.status if 400 <= response.status < 600 else 502
    # Whatever is wrong with our key is nothing the client's key can mend.
    return Refused(502 if status in (401, 403) else status, message, kind, code, headers)
