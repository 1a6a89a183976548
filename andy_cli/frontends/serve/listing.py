"""The models behind the server, as lists of them name them."""

import json
from typing import Any

import aiohttp

from andy_cli.frontends.serve.source import Remote
from andy_cli.frontends.serve.upstreams import Upstream, Upstreams

PATIENCE = aiohttp.ClientTimeout(total=10)
LARGEST = 4 * 2**20
"""Bytes of a server's list."""


def list_names(upstreams: Upstreams) -> list[str]:
    """Names of those that have one; empty where clients may ask for whatever the server has."""
    names = [each.name or each.source.endpoint.model for each in upstreams.each]
    return [name for name in names if name]


async def fetch_models(upstream: Upstream) -> list[dict[str, Any]]:
    """What the model's server lists; empty whenever it does not say."""
    source = upstream.source
    if not isinstance(source, Remote):
        return []
    try:
        behind = source.backend
        async with behind.http.get(
            behind.models, headers=behind.headers, timeout=PATIENCE
        ) as response:
            told = json.loads(await response.content.read(LARGEST))
    except (aiohttp.ClientError, OSError, ValueError, TimeoutError, RecursionError):
        # A list of models is a help and no promise.
        return []
    data = told.get("data") if isinstance(told, dict) else None
    return [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
