"""One request to one judged address, without what a client does by itself."""

import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache

import httpx2

from andy_cli import __version__
from andy_cli.errors import ToolError
from andy_cli.guard.addresses import DEFAULT_PORTS, URL, AddressJudgement
from andy_cli.toolbox.web.limits import WebLimits
from andy_cli.toolbox.web.unpacking import ACCEPTED

MAX_ADDRESSES = 4
"""Of a name, that are tried one after another."""


@asynccontextmanager
async def connect_address(
    judged: AddressJudgement,
    headers: Mapping[str, str],
    content: bytes | AsyncIterator[bytes],
    limits: WebLimits,
    proxy: str = "",
) -> AsyncIterator[httpx2.Response]:
    """The answer, its body still to come. Raises httpx2's exceptions."""
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
        response = await _send_request(
            client, judged, addresses, _request_headers(judged, headers), content
        )
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
    addresses: tuple[str, ...] | list[str],
    headers: Mapping[str, str],
    content: bytes | AsyncIterator[bytes],
) -> httpx2.Response:
    failed: httpx2.TransportError | None = None
    for address in addresses:
        request = client.build_request(
            judged.method,
            _address_at(judged, address),
            headers=headers,
            content=content or None,
            # Under TLS the certificate must be that of the name, not of the number.
            extensions={"sni_hostname": judged.host.strip("[]")},
        )
        try:
            return await client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failed = error
    raise failed or httpx2.ConnectError("no address")


def _address_at(judged: AddressJudgement, address: str) -> str:
    """The address with a place instead of its host, and without what stays here."""
    url_match = URL.fullmatch(judged.url)
    assert url_match is not None  # it was judged
    path_and_query = url_match[3].partition("#")[0]
    return f"{url_match[1]}://{_bracket_host(address)}:{judged.port}{path_and_query}"


def _request_headers(judged: AddressJudgement, headers: Mapping[str, str]) -> dict[str, str]:
    host = _bracket_host(judged.host)
    if judged.port != DEFAULT_PORTS[judged.origin[0]]:
        host += f":{judged.port}"
    given_headers = {name.lower(): value for name, value in headers.items()}
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
