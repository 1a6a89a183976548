"""The one web client of the tools: only judged addresses, pinned, and answers with an end.

    page = await fetch(Request("https://example.org/"), page_limits())  whole, in memory
    async with opened(Request(url), file_limits()) as answer:            as it arrives
        async for piece in answer.pieces: ...

The gate has judged and asked about the URL of a call. Here every address is judged again, now with
what its name leads to, and so is each one a server sends on to: nobody has agreed to those, so one
that would have to be asked about is not followed. The connection goes to an address that was
judged, by number; the name is told and, under TLS, demanded of the certificate. Keys that were
meant for one place do not go along to another. Nothing is kept from one request to the next.

Not through the proxies that the environment names: a proxy looks names up itself, so what was
judged would not be what is used. Who needs one names it in `web.proxy`, and trusts it with that.

It takes 0.1 s to import, for httpx2: tools import it when they are called.
"""

import asyncio
import os
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import httpx2

from andy_cli import __version__
from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.addresses import DEFAULT_PORTS, URL, AddressJudgement, Resolver
from andy_cli.toolbox.runtime_context import current_context
from andy_cli.toolbox.web.failures import describe_failure, show_text, too_large
from andy_cli.toolbox.web.limits import WebLimits, host_of, trusted_hosts
from andy_cli.toolbox.web.redirect_policy import RedirectPolicy, look_up_addresses
from andy_cli.toolbox.web.unpacking import ACCEPTED, unpack_pieces

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
REDIRECTS = (301, 302, 303, 307, 308)
STAYS = frozenset("accept accept-language accept-encoding user-agent range".split())
"""The headers that may go along to another place: any other may hold a key."""

OURS = frozenset(
    """host connection content-length transfer-encoding te trailer upgrade expect keep-alive
    proxy-authorization proxy-connection""".split()
)
"""Headers that are the client's own to write."""

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
VALUE = re.compile(r"(?:[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]{0,7998}[\x21-\x7e])?)?")

MAX_ADDRESSES = 4
"""Of a name, that are tried one after another."""


class Upload(NamedTuple):
    """A body that is read while it is sent: again, should it be sent on."""

    length: int
    pieces: Callable[[], AsyncIterator[bytes]]


class WebRequest(NamedTuple):
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = NO_HEADERS
    body: bytes | Upload = b""


class WebAnswer(NamedTuple):
    url: str
    """The address it came from in the end."""
    status: int
    headers: Mapping[str, str]
    """Names in lower case; several of a name are joined."""
    length: int
    """Bytes that were announced, packed as they may be; 0 if none were."""
    pieces: AsyncIterator[bytes]
    """Unpacked; ToolError where they become more than the limit."""


class FetchedAnswer(NamedTuple):
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


async def fetch_answer(
    request: WebRequest,
    limits: WebLimits,
    trusted: Collection[str] | None = None,
    resolver: Resolver = look_up_addresses,
) -> FetchedAnswer:
    """The whole answer. Raises ToolError as `open_answer` does."""
    async with open_answer(request, limits, trusted, resolver) as answer:
        body = bytearray()
        async for data in answer.pieces:
            body += data
        return FetchedAnswer(answer.url, answer.status, answer.headers, bytes(body))


@asynccontextmanager
async def open_answer(
    request: WebRequest,
    limits: WebLimits,
    trusted: Collection[str] | None = None,
    resolver: Resolver = look_up_addresses,
) -> AsyncIterator[WebAnswer]:
    """The answer to a request, of whatever status, when nobody sends it on any more.

    `trusted` are hosts of the user's own settings (default: `web.trusted`). Raises ToolError for an
    address that is not fetched from, and in words for every failure on the way, also while the body
    arrives.
    """
    _check_headers(request.headers)
    proxy = current_context().settings.text("web.proxy")
    redirect_policy = RedirectPolicy(
        limits, trusted_hosts() if trusted is None else trusted, resolver, bool(proxy)
    )
    host = show_text(host_of(request.url))
    try:
        async with asyncio.timeout(limits.total):
            judged = await redirect_policy.first(request.url, request.method)
            while True:
                # A failure is told of the host that it came from, which a redirect may have named.
                host = judged.host
                async with _connect(judged, request, limits, proxy) as response:
                    target = response.headers.get("location", "")
                    if response.status_code not in REDIRECTS or not target:
                        async with aclosing(_count_body(response, host, limits)) as body_pieces:
                            yield _make_answer(judged, response, body_pieces)
                        return
                judged = await redirect_policy.next(judged, response.status_code, target)
                request = _sent_on(request, judged)
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError) as error:
        is_timeout = isinstance(error, TimeoutError | httpx2.TimeoutException)
        failure = ToolTimeout if is_timeout else ToolError
        raise failure(describe_failure(error, host, limits)) from error


def _check_headers(headers: Mapping[str, str]) -> None:
    """Raises ToolError for headers that would be something else than headers."""
    for name, value in headers.items():
        if not TOKEN.fullmatch(name) or not VALUE.fullmatch(value):
            raise ToolError(f"{show_text(name)!r} is no header that can be sent.", "Leave it out.")
        if not value.isascii():
            raise ToolError(f"The header {name} can hold ASCII alone.", "Write it without others.")
        if name.lower() in OURS:
            raise ToolError(f"The header {name} is written by andy itself.", "Leave it out.")


def _sent_on(request: WebRequest, judged: AddressJudgement) -> WebRequest:
    """The request as it goes along to where a server sends it."""
    if judged.method != request.method:
        kept_headers = {
            name: value
            for name, value in request.headers.items()
            if not name.lower().startswith("content-")
        }
        request = request._replace(method=judged.method, headers=kept_headers, body=b"")
    if judged.verdict == "allow_stripped":
        safe_headers = {
            name: value for name, value in request.headers.items() if name.lower() in STAYS
        }
        request = request._replace(headers=safe_headers)
    return request


def _make_answer(
    judged: AddressJudgement, response: httpx2.Response, body_pieces: AsyncIterator[bytes]
) -> WebAnswer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return WebAnswer(
        judged.url, response.status_code, headers, _announced_size(response), body_pieces
    )


def _announced_size(response: httpx2.Response) -> int:
    length = response.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() else 0


async def _count_body(
    response: httpx2.Response, host: str, limits: WebLimits
) -> AsyncGenerator[bytes, None]:
    """The body, unpacked. Raises ToolError as soon as it is too large."""
    content_encoding, arrived = response.headers.get("content-encoding", ""), 0
    if (
        not content_encoding
        and _announced_size(response) > limits.body
        and response.request.method != "HEAD"
    ):
        raise ToolError(too_large(host, limits))
    async with aclosing(unpack_pieces(response.aiter_raw(), content_encoding)) as body_pieces:
        async for data in body_pieces:
            arrived += len(data)
            if arrived > limits.body:
                raise ToolError(too_large(host, limits))
            yield data


@asynccontextmanager
async def _connect(
    judged: AddressJudgement, request: WebRequest, limits: WebLimits, proxy: str
) -> AsyncIterator[httpx2.Response]:
    """One request to one judged address, without what a client does by itself.

    The answer, its body still to come. Raises httpx2's exceptions.
    """
    addresses = [judged.host] if proxy else judged.pinned[:MAX_ADDRESSES]
    connect = max(1.0, limits.connect / max(1, len(addresses)))
    timeout = httpx2.Timeout(limits.idle, connect=connect, pool=connect)
    async with httpx2.AsyncClient(
        verify=trusted_context(
            os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", "")
        ),
        proxy=proxy or None,
        timeout=timeout,
        trust_env=False,
        follow_redirects=False,
    ) as client:
        response = await _send_request(client, judged, addresses, request)
        try:
            yield response
        finally:
            await response.aclose()


@lru_cache(maxsize=1)
def trusted_context(file: str, folder: str) -> ssl.SSLContext:
    """Load the certificates that count: that takes 50 ms. The variables are those of OpenSSL."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise ToolError(
            "The certificates in SSL_CERT_FILE or SSL_CERT_DIR cannot be read. Correct or unset it."
        ) from error


async def _send_request(
    client: httpx2.AsyncClient,
    judged: AddressJudgement,
    addresses: Sequence[str],
    request: WebRequest,
) -> httpx2.Response:
    headers = _request_headers(judged, request)
    content = request.body.pieces() if isinstance(request.body, Upload) else request.body
    failed: httpx2.TransportError | None = None
    for address in addresses:
        built = client.build_request(
            judged.method,
            _address_at(judged, address),
            headers=headers,
            content=content or None,
            # Under TLS the certificate must be that of the name, not of the number.
            extensions={"sni_hostname": judged.host.strip("[]")},
        )
        try:
            return await client.send(built, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failed = error
    raise failed or httpx2.ConnectError("no address")


def _address_at(judged: AddressJudgement, address: str) -> str:
    """The address with a place instead of its host, and without what stays here."""
    url_match = URL.fullmatch(judged.url)
    assert url_match is not None  # it was judged
    path_and_query = url_match[3].partition("#")[0]
    return f"{url_match[1]}://{_bracket_host(address)}:{judged.port}{path_and_query}"


def _request_headers(judged: AddressJudgement, request: WebRequest) -> dict[str, str]:
    host = _bracket_host(judged.host)
    if judged.port != DEFAULT_PORTS[judged.origin[0]]:
        host += f":{judged.port}"
    given_headers = {name.lower(): value for name, value in request.headers.items()}
    if isinstance(request.body, Upload):
        given_headers["content-length"] = str(request.body.length)
    return {
        "host": host,
        "user-agent": f"andy-cli/{__version__}",
        "accept": "*/*",
        "accept-encoding": ACCEPTED,
        "connection": "close",
        **given_headers,
    }


def _bracket_host(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
