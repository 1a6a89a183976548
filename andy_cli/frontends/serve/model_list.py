"""The models there are, as OpenAI's and as Anthropic's clients list them.

    GET /v1/models      GET /v1/models/NAME

Anthropic's clients are known by the header `anthropic-version`, which their API demands.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from andy_cli.frontends.serve.listing import fetch_models, list_names
from andy_cli.frontends.serve.pieces import Refused
from andy_cli.frontends.serve.upstreams import Upstreams

ModelRow = Mapping[str, object]
"""A model as OpenAI's API lists it; with whatever else the model's server says of it."""


async def list_models(upstreams: Upstreams) -> list[ModelRow]:
    """The models of this server by name; else what the model's server lists, if it does."""
    known = [model_row(name) for name in list_names(upstreams)]
    return known or list(await fetch_models(upstreams.each[0]))


def model_row(name: str) -> ModelRow:
    return {"id": name, "object": "model", "created": int(time.time()), "owned_by": "andy"}


def find_model(rows: Sequence[ModelRow], name: str) -> ModelRow:
    """One of them; where no names are known any name is one. Raises Refused (404)."""
    if not rows:
        return model_row(name)
    for row in rows:
        if row.get("id") == name:
            return row
    raise Refused(
        404, f"The model {name!r} does not exist here.", code="model_not_found", param="model"
    )


def speaks_anthropic(headers: Mapping[str, str]) -> bool:
    return "anthropic-version" in headers


def anthropic_row(row: ModelRow) -> ModelRow:
    created = row.get("created")
    seconds = created if isinstance(created, int) and 0 <= created < LAST_SECOND else 0
    name = str(row.get("display_name") or row.get("id") or "")
    made = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": str(row.get("id")), "display_name": name, "created_at": made}


LAST_SECOND = 253_402_300_800
"""From here on a date has a year of five digits."""


def anthropic_list(rows: Sequence[ModelRow]) -> dict[str, object]:
    """One page with all of them."""
    made = [anthropic_row(row) for row in rows]
    first, last = (made[0]["id"], made[-1]["id"]) if made else (None, None)
    return {"data": made, "has_more": False, "first_id": first, "last_id": last}
