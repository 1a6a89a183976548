"""Have the openai package post the body: it knows Azure, and it is the reference in tests.

Its retries are off and its events unread: the bytes go to the reader of every other reply.
"""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from andy_cli.models.client import Endpoint
from andy_cli.models.http.direct import DirectTransport, explain_silence
from andy_cli.models.http.request import AZURE, Body, HttpAnswer
from andy_cli.settings import Settings

AZURE_VERSION = "2024-10-21"
"""The version of Azure's API, for addresses below which there is no /openai/v1."""


class ThroughOpenAI:
    def __init__(self, endpoint: Endpoint, settings: Settings) -> None:
        self._direct = DirectTransport(endpoint, settings)
        self._endpoint = endpoint
        self._api = _make_client(endpoint, self._direct.http)

    @asynccontextmanager
    async def send(self, body: Body, address: str = "") -> AsyncIterator[HttpAnswer]:
        if address:  # of an API that the package does not know
            async with self._direct.send(body, address) as answer:
                yield answer
            return
        url = self._endpoint.base_url
        known_fields: dict[str, Any] = {name: body[name] for name in KNOWN}
        extra_fields = {name: value for name, value in body.items() if name not in KNOWN}
        async with AsyncExitStack() as stack:
            try:
                create = self._api.chat.completions.with_streaming_response.create
                response = await stack.enter_async_context(
                    create(**known_fields, extra_body=extra_fields)
                )
                yield HttpAnswer(response.status_code, response.headers, response.iter_bytes())
            except openai.APIStatusError as error:
                refused = error.response
                yield HttpAnswer(refused.status_code, refused.headers, refused.aiter_bytes())
            except openai.APIConnectionError as error:
                raise await explain_silence(error.__cause__ or error, url) from error
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise await explain_silence(error, url) from error

    async def get(self, path: str) -> object:
        return await self._direct.get(path)

    async def close(self) -> None:
        await self._direct.close()


def _make_client(endpoint: Endpoint, http_client: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    # The package insists on a key; servers without one ignore it.
    options: dict[str, Any] = {
        "api_key": endpoint.key or "none",
        "max_retries": 0,
        "http_client": http_client,
        "timeout": http_client.timeout,
    }
    url_parts = urlsplit(endpoint.base_url)
    if (url_parts.hostname or "").endswith(AZURE) and "/openai/v1" not in url_parts.path:
        return openai.AsyncAzureOpenAI(
            azure_endpoint=f"{url_parts.scheme}://{url_parts.netloc}",
            api_version=os.environ.get("OPENAI_API_VERSION") or AZURE_VERSION,
            **options,
        )
    return openai.AsyncOpenAI(base_url=endpoint.base_url, **options)


KNOWN = ("model", "messages", "stream")
"""Fields that the package must have; it passes the others on unseen."""
