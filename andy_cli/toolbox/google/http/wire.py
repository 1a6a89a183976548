"""Requests over httpx2. Heavy to import: whoever needs it does so late."""

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import httpx2

from andy_cli import __version__
from andy_cli.errors import list_causes
from andy_cli.guard.addresses import is_loopback
from andy_cli.settings import Settings
from andy_cli.toolbox.google.http.exchange import (
    ApiCall,
    ApiReply,
    BodyReader,
    BrokenExchange,
    Exchange,
    WholeAnswer,
)

MAX_REFUSAL_BYTES = 64 * 2**10
"""Bytes of a refusal that are read."""


async def _exchange(
    client: httpx2.AsyncClient, request: ApiCall, token: str, reader: BodyReader
) -> ApiReply:
    was_sent = False
    query = {name: value for name, value in (request.query or {}).items() if value != ""}

    async def watch(event: str, details: object) -> None:
        nonlocal was_sent
        # From here on Google may have done it, and a second try might do it twice.
        was_sent = was_sent or event.endswith("send_request_headers.started")

    try:
        async with client.stream(
            request.method,
            request.url,
            params=query,
            headers=_request_headers(request, token),
            content=request.content or None,
            extensions={"trace": watch},
        ) as response:
            refused = WholeAnswer(MAX_REFUSAL_BYTES)
            body_reader = reader if response.is_success else refused
            async for data in response.aiter_bytes():
                if not body_reader.feed(data):
                    break
            return ApiReply(response.status_code, response.headers, refused.data)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        is_timeout = isinstance(error, httpx2.TimeoutException)
        raise BrokenExchange(_explain_error(error, request.url), was_sent, is_timeout) from error


@asynccontextmanager
async def open_http(url: str, settings: Settings) -> AsyncIterator[Exchange]:
    """For requests to one address. Redirects are not followed: a token goes along."""
    seconds = settings.number("google.timeout")
    is_encrypted = not url.startswith("http://")
    async with httpx2.AsyncClient(
        timeout=httpx2.Timeout(seconds, connect=settings.number("network.connect_timeout")),
        # Reading the system's certificates takes 50 ms, and http:// on loopback needs none.
        verify=is_encrypted or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        # A proxy is of no use for this machine, and few people think of NO_PROXY.
        trust_env=not is_loopback(urlsplit(url).hostname or ""),
        follow_redirects=False,
    ) as client:
        yield partial(_exchange, client)


def _request_headers(request: ApiCall, token: str) -> dict[str, str]:
    headers = {"accept-encoding": "identity", "user-agent": f"andy-cli/{__version__}"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    if request.content:
        headers["content-type"] = request.kind
    return headers


def _explain_error(error: Exception, url: str) -> str:
    host = urlsplit(url).hostname or "Google"
    causes = list_causes(error)
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return f"{host} could not be reached in time. Check the network and try again."
    if isinstance(error, httpx2.TimeoutException):
        return f"{host} has said nothing for too long."
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return f"The certificate of {host} is not trusted. SSL_CERT_FILE names that of a network."
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{host} cannot be found: there is no network, or no such host."
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return f"{host} cannot be reached. Check the network and try again."
    return f"The connection to {host} broke off."
