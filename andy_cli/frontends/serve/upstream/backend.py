"""A model's server, and one request to it, by the shortest way that aiohttp has.

aiohttp is most of what a request costs that is only passed on; what it would work out again for
each (address, headers) is there before.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from andy_cli.frontends.serve.http.second_clock import CLOCK
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.guard.redactor import redact_text
from andy_cli.models.client import Endpoint
from andy_cli.models.http.refusals import ServerRefusal, parse_refusal, too_long

JSON = "application/json"
MAX_BYTES = 32 * 2**20
"""Bytes of an answer, unpacked."""
MAX_FACTS_SIZE = 4 * 2**20
TIMEOUT = aiohttp.ClientTimeout(total=10)
"""Of a question beside the requests."""
REFUSAL = 256 * 2**10
BAD_REQUEST = "invalid_request_error"
PASSED = (
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-request-id",
    "x-ratelimit-remaining-requests",
)
"""Headers of a refusal that a client can use."""


CONNECTION_ENDED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError)
"""A connection that was there ended before a word of the answer."""


class AnswerTimeouts(NamedTuple):
    """Limits on the time of servers of models, in seconds."""

    total: float
    """For an answer in all."""
    silence: float
    """Without a word."""


@dataclass(frozen=True, slots=True)
class Backend:
    """A server's address, and what is said to it each time; `http` holds no cookies and no key."""

    http: aiohttp.ClientSession
    timeouts: AnswerTimeouts
    url: URL
    models: URL
    headers: CIMultiDict[str]
    """Ours alone: no header of a client is passed on, its key least of all (P10)."""

    def send(self, body: bytes, address: str = "") -> "UpstreamRequest":
        """`address`: another than that of the chat completions API."""
        return UpstreamRequest(replace(self, url=URL(address)) if address else self, body)

    async def fetch_facts(
        self,
        method: str,
        url: str | URL,
        body: Mapping[str, object] | None,
        allow_redirects: bool = False,
    ) -> bytes | None:
        """A short answer to a question beside the requests; None unless it is a success."""
        try:
            async with self.http.request(
                method,
                url,
                json=body,
                headers=self.headers,
                timeout=TIMEOUT,
                allow_redirects=allow_redirects,
            ) as response:
                data = bytearray()
                async for received in response.content.iter_any():
                    data += received
                    if len(data) > MAX_FACTS_SIZE:
                        return None
                return bytes(data) if response.ok else None
        except (aiohttp.ClientError, OSError):
            return None


def make_backend(
    http_session: aiohttp.ClientSession, timeouts: AnswerTimeouts, endpoint: Endpoint
) -> Backend:
    headers = CIMultiDict({"content-type": JSON, "accept": "text/event-stream, */*"})
    if endpoint.key:
        headers["authorization"] = f"Bearer {endpoint.key}"
    base_url = endpoint.base_url.rstrip("/")
    chat, models = URL(f"{base_url}/chat/completions"), URL(f"{base_url}/models")
    return Backend(http_session, timeouts, chat, models, headers)


class UpstreamRequest:
    """`async with`: one request to a server and its answer, read or not at the end.

    Raises ApiError for a server that cannot be reached, breaks off or takes too long.
    """

    def __init__(self, backend: Backend, body: bytes) -> None:
        self._backend = backend
        self._body = body
        self._late = False
        self._began = self._last_heard = monotonic()

    async def __aenter__(self) -> Self:
        self._task = asyncio.current_task()
        CLOCK.begin(self._give_up_late)
        try:
            try:
                self._response = await self._post_body()
            except aiohttp.ClientConnectorError:
                raise  # there was none yet
            except CONNECTION_ENDED:
                # llama.cpp says that it keeps a connection and ends it all the same: what is asked
                # right after an answer, as the steps of an interview are, may meet that end.
                self._response = await self._post_body()
        except BaseException as error:
            CLOCK.end(self._give_up_late)
            self._raise_unreachable(error)
            raise
        return self

    async def _post_body(self) -> aiohttp.ClientResponse:
        backend = self._backend
        return await backend.http.post(
            backend.url,
            data=aiohttp.BytesPayload(self._body, content_type=JSON),
            headers=backend.headers,
            allow_redirects=False,
        )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._response.release()  # and ends the connection where something is left to be read
        CLOCK.end(self._give_up_late)
        self._raise_unreachable(error)

    def _raise_unreachable(self, error: BaseException | None) -> None:
        if isinstance(error, asyncio.CancelledError) and self._late and self._task:
            self._task.uncancel()
            raise unreachable_error(TimeoutError()) from error
        if isinstance(error, aiohttp.ClientError | TimeoutError | OSError):
            raise unreachable_error(error) from error

    def _give_up_late(self, current_time: float) -> None:
        total, silence = self._backend.timeouts
        is_late = current_time - self._last_heard > silence or current_time - self._began > total
        if is_late and self._task is not None and not self._late:
            self._late = True
            self._task.cancel()

    @property
    def address(self) -> str:
        return str(self._backend.url)

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def kind(self) -> str:
        """Its media type; that of JSON where it says nothing."""
        kind: str = self._response.headers.get("content-type", JSON)
        return kind if kind.isascii() and kind.isprintable() else JSON

    async def read_chunks(self) -> AsyncIterator[bytes]:
        """As they come, and unpacked. Raises ApiError at the place where it breaks off."""
        content = self._response.content
        try:
            while data := await content.readany():
                self._last_heard = monotonic()
                yield data
        except (asyncio.CancelledError, aiohttp.ClientError, OSError) as error:
            self._raise_unreachable(error)
            raise

    async def read_whole(self) -> bytes:
        """Raises ApiError for an answer without end."""
        content = self._response.content
        first = await content.readany()
        if content.at_eof():
            return first
        chunks, size = [first], len(first)
        async for data in self.read_chunks():
            chunks.append(data)
            size += len(data)
            if size > MAX_BYTES:
                raise ApiError(502, "The model's reply is too long.", "upstream_error")
        return b"".join(chunks)

    async def read_refusal(self) -> ApiError:
        """Read what the server refused with, in its own words where they are JSON."""
        response, data = self._response, b""
        async for received in self.read_chunks():
            data += received
            if len(data) > REFUSAL:
                break
        refusal = parse_refusal(data)
        headers = {name: response.headers[name] for name in PASSED if name in response.headers}
        return translate_refusal(response.status, refusal, headers)


def _choose_status(status: int) -> int:
    """Whatever is wrong with our key is nothing the client's key can mend."""
    return status if 400 <= status < 600 and status not in (401, 403, 407) else 502


def translate_refusal(status: int, refusal: ServerRefusal, headers: Mapping[str, str]) -> ApiError:
    """Translate the refusal of a model's server into what the client gets, with these headers."""
    message = redact_text(refusal.message) or f"The model's server answered {status}."
    if status == 401:
        message = f"The model's server does not take the key of this server: {message}"
    passed_status = _choose_status(status)
    kind = refusal.type or (BAD_REQUEST if passed_status in (400, 413, 422) else "upstream_error")
    code = refusal.name or None
    if too_long(refusal):  # by this code clients know that shortening helps
        passed_status, kind, code = 400, BAD_REQUEST, "context_length_exceeded"
    if passed_status == 502 and status < 500:
        headers = {**headers, "x-should-retry": "false"}
    field = next(iter(refusal.fields), None)
    api_error = ApiError(passed_status, message, kind, code, headers, field)
    api_error.refusal = refusal
    return api_error


def unreachable_error(error: Exception) -> ApiError:
    if isinstance(error, TimeoutError):
        return ApiError(504, "The model's server took too long to answer.", "upstream_error")
    return ApiError(502, "The model's server cannot be reached or broke off.", "upstream_error")
