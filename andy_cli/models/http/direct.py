"""Post the body ourselves, with httpx2: the transport of the openai package without its weight."""

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx2

from andy_cli import __version__
from andy_cli.errors import ModelError, TransientError, list_causes
from andy_cli.guard.addresses import is_loopback_url, show_url
from andy_cli.models.client import Endpoint
from andy_cli.models.http.refusals import use_https
from andy_cli.models.http.request import Body, HttpAnswer
from andy_cli.settings import Settings

HANDSHAKE_TIMEOUT = 1.0
"""Seconds to find out whether a server that hung up speaks TLS."""

QUICK_TIMEOUT = 2.0
"""Seconds for what only makes a message better."""


class DirectTransport:
    """Sends requests to a server by httpx2, without the library of OpenAI."""

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
                timeout=QUICK_TIMEOUT,
            )
            return response.json() if response.is_success else None
        except (httpx2.HTTPError, ValueError, RecursionError):
            return None

    async def close(self) -> None:
        await self.http.aclose()


def _make_client(endpoint: Endpoint, settings: Settings) -> httpx2.AsyncClient:
    is_local = is_loopback_url(endpoint.base_url)
    return httpx2.AsyncClient(
        timeout=_make_timeout(settings, is_local),
        verify=_trusted_context(endpoint.base_url),
        # A proxy is of no use for this machine, and few people think of NO_PROXY.
        trust_env=not is_local,
    )


def _make_timeout(settings: Settings, is_local: bool) -> httpx2.Timeout:
    connect = settings.number("network.connect_timeout")
    return httpx2.Timeout(idle_seconds(settings, is_local), connect=connect, pool=connect)


def idle_seconds(settings: Settings, is_local: bool) -> float:
    """Return how long a server may say nothing. A model on this machine may be slow to begin:
    unless somebody chose the value, it is given five times as long.
    """
    idle_timeout = settings.number("network.idle_timeout")
    chosen = settings["network.idle_timeout"].origin != "default"
    return idle_timeout if chosen or not is_local else 5 * idle_timeout


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

    url_parts = urlsplit(url)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT):
            _, writer = await asyncio.open_connection(
                url_parts.hostname, url_parts.port or 80, ssl=context
            )
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def no_answer(error: BaseException, url: str) -> ModelError:
    """A failure of the connection, in a sentence that says what to do."""
    shown_address = show_url(url)
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return _explain_unreachable(shown_address, "no connection in time", "timeout")
    if isinstance(error, httpx2.TimeoutException):
        message = f"{shown_address} has said nothing for too long."
        advice = "The server may be overloaded, or the model slow: see network.idle_timeout."
        return TransientError(message, advice, kind="timeout")
    if isinstance(error, httpx2.ConnectError):
        return _not_connected(error, shown_address)
    if isinstance(error, httpx2.ProxyError):
        return _explain_unreachable(shown_address, f"the proxy refused ({error})", "connect")
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
        return ModelError(f"{shown_address} is no address to reach: {error}", kind="connect")
    if "complete message body" in str(error):
        broken_off = f"{shown_address} broke off in the middle of its answer."
        return TransientError(broken_off, "The server's log may say why.", kind="protocol")
    if is_unreadable(error):
        message = f"What answers at {shown_address} speaks no HTTP that can be read."
        advice = "Check the address: its port, and whether it begins with http:// or https://."
        return ModelError(message, advice, kind="protocol")
    message = f"The connection to {shown_address} broke off ({_error_words(error)})."
    advice = "Try again. If it stays so, what listens there is probably no model server."
    return TransientError(message, advice, kind="protocol")


def is_unreadable(error: BaseException) -> bool:
    """Tell whether something was answered that is no HTTP, or not packed as it says."""
    import h11  # with httpx2, and only where something fails

    cause = error.__cause__ or error
    return isinstance(error, httpx2.DecodingError) or isinstance(
        cause.__context__, h11.RemoteProtocolError
    )


def _error_words(error: BaseException) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__


def _not_connected(error: BaseException, shown_address: str) -> ModelError:
    causes = list_causes(error)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        message = f"The certificate of {shown_address} is not trusted: {_error_words(error)}."
        advice = "Set SSL_CERT_FILE to the certificate of your network, if it has one."
        return ModelError(message, advice, kind="certificate")
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        message = f"cannot reach {shown_address}: it does not speak https."
        return ModelError(message, "Write http:// in {address}.", kind="protocol")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return _explain_unreachable(
            shown_address, "there is no such host name, or no network", "dns"
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return _explain_unreachable(shown_address, "connection refused", "connect")
    return _explain_unreachable(shown_address, _error_words(error), "connect")


def _explain_unreachable(shown_address: str, reason: str, kind: str) -> ModelError:
    message = f"cannot reach {shown_address}: {reason}."
    advice = "Is the server running, and is the address right? Choose another with {server}."
    return TransientError(message, advice, kind=kind)
