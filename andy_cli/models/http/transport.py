"""Two ways to send a body to a server and get its bytes back; both speak httpx2."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from andy_cli.models.client import Endpoint
from andy_cli.models.http.body import Body
from andy_cli.settings import Settings

AZURE = ".openai.azure.com"

LINGER = 0.05
"""Seconds for a server to close a reply that it has ended."""


class HttpAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Names in lower case, or found by them."""
    bytes: AsyncIterator[bytes]
    """Unpacked."""


class Transport(Protocol):
    """Both raise `ModelError`, a kind of it that says why, when there is no answer.

    `send` raises it from inside its block too, while the bytes are read.
    """

    def send(self, body: Body, address: str = "") -> AbstractAsyncContextManager[HttpAnswer]:
        """`address`: another than that of the chat completions API."""
        ...

    async def get(self, path: str) -> object:
        """The JSON at a path below the base URL; None whenever there is none."""
        ...

    async def close(self) -> None: ...


def choose_transport(endpoint: Endpoint, settings: Settings) -> Transport:
    """The way the settings ask for; Azure always goes through the openai package."""
    host = urlsplit(endpoint.base_url).hostname or ""
    if settings.text("client") == "openai" or host.endswith(AZURE):
        # 0.5 s, and few people choose this way.
        from andy_cli.models.http.through_openai import ThroughOpenAI

        return ThroughOpenAI(endpoint, settings)
    # 80 ms, and only whoever sends something needs it.
    from andy_cli.models.http.direct import Direct

    return Direct(endpoint, settings)


async def drain_answer(answer: HttpAnswer) -> None:
    """Let the server close a reply it has ended, so that its connection can be used again."""
    import asyncio  # both were imported long ago: they brought the answer

    import httpx2

    try:
        async with asyncio.timeout(LINGER):
            async for _ in answer.bytes:
                pass
    except (TimeoutError, httpx2.HTTPError):
        return
