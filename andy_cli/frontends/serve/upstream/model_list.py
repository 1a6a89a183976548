"""The models there are, as OpenAI's and as Anthropic's clients list them.

    GET /v1/models      GET /v1/models/NAME

Anthropic's clients are known by the header `anthropic-version`, which their API demands.
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import aiohttp

from andy_cli.frontends.serve.upstream.sources import RemoteSource
from andy_cli.frontends.serve.upstream.upstreams import Upstream, Upstreams
from andy_cli.frontends.serve.wires.answer_parts import ApiError

ModelRow = Mapping[str, object]
"""A model as OpenAI's API lists it; with whatever else the model's server says of it."""
TIMEOUT = aiohttp.ClientTimeout(total=10)
MAX_BYTES = 4 * 2**20
"""Bytes of a server's list."""


async def list_models(upstreams: Upstreams) -> list[ModelRow]:
    """The models of this server by name; else what the model's server lists, if it does."""
    known_rows = [model_row(name) for name in list_names(upstreams)]
    return known_rows or list(await fetch_models(upstreams.entries[0]))


def model_row(name: str) -> ModelRow:
    """Make the row of a model that is known by name here; an upstream's rows pass as they are."""
    return {"id": name, "object": "model", "created": int(time.time()), "owned_by": "andy"}


def find_model(rows: Sequence[ModelRow], name: str) -> ModelRow:
    """One of them; where no names are known any name is one. Raises ApiError (404)."""
    if not rows:
        return model_row(name)
    for row in rows:
        if row.get("id") == name:
            return row
    raise ApiError(
        404, f"The model {name!r} does not exist here.", code="model_not_found", param="model"
    )


def speaks_anthropic(headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers


def anthropic_row(row: ModelRow) -> ModelRow:
    created = row.get("created")
    seconds = created if isinstance(created, int) and 0 <= created < LAST_SECOND else 0
    name = str(row.get("display_name") or row.get("id") or "")
    created_at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": "model",
        "id": str(row.get("id")),
        "display_name": name,
        "created_at": created_at,
    }


LAST_SECOND = 253_402_300_800
"""From here on a date has a year of five digits."""


def anthropic_list(rows: Sequence[ModelRow]) -> dict[str, object]:
    """One page with all of them."""
    anthropic_rows = [anthropic_row(row) for row in rows]
    first_id, last_id = (
        (anthropic_rows[0]["id"], anthropic_rows[-1]["id"]) if anthropic_rows else (None, None)
    )
    return {"data": anthropic_rows, "has_more": False, "first_id": first_id, "last_id": last_id}


def list_names(upstreams: Upstreams) -> list[str]:
    """Names of those that have one; empty where clients may ask for whatever the server has."""
    names = [upstream.name or upstream.source.endpoint.model for upstream in upstreams.entries]
    return [name for name in names if name]


async def fetch_models(upstream: Upstream) -> list[dict[str, Any]]:
    """Fetch the list of the model's server; empty whenever it does not say."""
    source = upstream.source
    if not isinstance(source, RemoteSource):
        return []
    try:
        backend = source.backend
        async with backend.http.get(
            backend.models, headers=backend.headers, timeout=TIMEOUT
        ) as response:
            answer = json.loads(await response.content.read(MAX_BYTES))
    except (aiohttp.ClientError, OSError, ValueError, TimeoutError, RecursionError):
        # A list of models is a help and no promise.
        return []
    data = answer.get("data") if isinstance(answer, dict) else None
    return [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
