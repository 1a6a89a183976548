"""Post the body ourselves, with httpx2: the transport of the openai package without its weight."""

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx2

from andy_cli import __version__
from andy_cli.errors import ModelError, TransientError
from andy_cli.models.client import Endpoint
from andy_cli.models.http.addresses import is_loopback, show_url
from andy_cli.models.http.body import Body
from andy_cli.models.http.refusals import narrow_kind, use_https
from andy_cli.models.http.transport import HttpAnswer
from andy_cli.settings import Settings

HANDSHAKE = 1.0
"""Seconds to find out whether a server that hung up speaks TLS."""

QUICK = 2.0
"""Seconds for what only makes a message better."""


class Direct:
    def __init__(self, endpoint: Endpoint, settings: Settings) -> None:
        self._endpoint = endpoint
        self.http = _make_client(endpoint, settings)

    @asynccontextmanager
    async def send(self, body: Body, address: str = "") -> AsyncIterator[HttpAnswer]:
        url = address or f"{self._endpoint.base_url}/chat/completions"
        try:
            async with self.http.stream(
                "POST", url, json=body, headers=headers_for(self._endpoint)
            ) as response:
                yield HttpAnswer(response.status_code, response.headers, response.aiter_bytes())
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise await explain_silence(error, self._endpoint.base_url) from error

    async def get(self, path: str) -> object:
        try:
            response = await self.http.get(
                f"{self._endpoint.base_url}/{path}",
                headers=headers_for(self._endpoint),
                timeout=QUICK,
            )
            return response.json() if response.is_success else None
        except (httpx2.HTTPError, ValueError, RecursionError):
            return None

    async def close(self) -> None:
        await self.http.aclose()


def _make_client(endpoint: Endpoint, settings: Settings) -> httpx2.AsyncClient:
    here = is_loopback(endpoint.base_url)
    return httpx2.AsyncClient(
        timeout=_make_timeout(settings, here),
        verify=_trusted_context(endpoint.base_url),
        # A proxy is of no use for this machine, and few people think of NO_PROXY.
        trust_env=not here,
    )


def _make_timeout(settings: Settings, here: bool) -> httpx2.Timeout:
    connect = settings.number("network.connect_timeout")
    return httpx2.Timeout(idle_seconds(settings, here), connect=connect, pool=connect)


def idle_seconds(settings: Settings, here: bool) -> float:
    """Return how long a server may say nothing. A model on this machine may be slow to begin:
    unless somebody chose the value, it is given five times as long.
    """
    idle = settings.number("network.idle_timeout")
    chosen = settings["network.idle_timeout"].origin != "default"
    return idle if chosen or not here else 5 * idle


def _trusted_context(url: str) -> ssl.SSLContext | bool:
    """Whom to trust. Reading the system's certificates takes 50 ms, and http:// needs none."""
    if not url.startswith("http://"):
        return True
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def headers_for(endpoint: Endpoint) -> dict[str, str]:
    headers = {
        "accept": "text/event-stream, application/json",
        # Packing a stream makes servers hold it back.
        "accept-encoding": "identity",
        "user-agent": f"andy-cli/{__version__}",
    }
    if endpoint.key:
        headers["authorization"] = f"Bearer {endpoint.key}"
    return headers


async def explain_silence(error: BaseException, url: str) -> ModelError:
    """As `no_answer`, but a server that hung up on http:// is asked whether it speaks TLS."""
    silent = isinstance(error, httpx2.ReadError | httpx2.RemoteProtocolError)
    if silent and url.startswith("http://") and await speaks_tls(url):
        return use_https(show_url(url))
    return no_answer(error, url)


async def speaks_tls(url: str) -> bool:
    """Tell whether a TLS handshake succeeds there; nothing is sent, and nobody is trusted."""
    import asyncio  # it runs us
    from contextlib import suppress

    parts = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(HANDSHAKE):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 80, ssl=context)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def no_answer(error: BaseException, url: str) -> ModelError:
    """A failure of the connection, in a sentence that says what to do."""
    where = show_url(url)
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return _explain_unreachable(where, "no connection in time", "timeout")
    if isinstance(error, httpx2.TimeoutException):
        message = f"{where} has said nothing for too long."
        hint = "The server may be overloaded, or the model slow: see network.idle_timeout."
        return narrow_kind(TransientError(message, hint), "timeout")
    if isinstance(error, httpx2.ConnectError):
        return _not_connected(error, where)
    if isinstance(error, httpx2.ProxyError):
        return _explain_unreachable(where, f"the proxy refused ({error})", "connect")
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return narrow_kind(ModelError(f"{where} is no address to reach: {error}"), "connect")
    message = f"The connection to {where} broke off ({_error_words(error)})."
    hint = "Try again. If it stays so, what listens there is probably no model server."
    return narrow_kind(TransientError(message, hint), "protocol")


def _error_words(error: BaseException) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__


def _not_connected(error: BaseException, where: str) -> ModelError:
    causes = list(_list_causes(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        message = f"The certificate of {where} is not trusted: {_error_words(error)}."
        hint = "Set SSL_CERT_FILE to the certificate of your network, if it has one."
        return narrow_kind(ModelError(message, hint), "certificate")
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        message = f"cannot reach {where}: it does not speak https."
        return narrow_kind(ModelError(message, "Write http:// in --base-url."), "protocol")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return _explain_unreachable(where, "there is no such host name, or no network", "dns")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return _explain_unreachable(where, "connection refused", "connect")
    return _explain_unreachable(where, _error_words(error), "connect")


def _list_causes(error: BaseException) -> list[BaseException]:
    """The error, what it came from, and the members of groups on the way."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or each in found:
            continue
        found.append(each)
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
    return found


def _explain_unreachable(where: str, why: str, kind: str) -> ModelError:
    message = f"cannot reach {where}: {why}."
    hint = "Is the server running, and is the address right? --base-url or --model choose another."
    return narrow_kind(TransientError(message, hint), kind)
