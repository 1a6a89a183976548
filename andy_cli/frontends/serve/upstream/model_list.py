"""The models there are, as OpenAI's, Anthropic's and Ollama's clients list them.

    GET  /v1/models  /v1/models/NAME  /api/tags  /api/ps  /api/version
    POST /api/show   /api/pull

Anthropic's clients are known by the header `anthropic-version`, which their API demands. For
Ollama's, names carry a tag, as they do there: clients look a model up under `m:latest` that was
asked for as `m`. Nothing is fetched, made or removed here.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from andy_cli.foreign_values import as_record, as_records, read_json, text_of
from andy_cli.frontends.serve.upstream.sources import RemoteSource
from andy_cli.frontends.serve.upstream.upstreams import Upstream, Upstreams, select_source
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.field_checks import check_body
from andy_cli.frontends.serve.wires.ollama import format_time, read_model, strip_latest_tag

ModelRow = Mapping[str, object]
"""A model as OpenAI's API lists it; with whatever else the model's server says of it."""


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


def anthropic_row(row: ModelRow) -> ModelRow:
    created = row.get("created")
    seconds = created if isinstance(created, int) and 0 <= created < LAST_SECOND else 0
    return {
        "type": "model",
        "id": str(row.get("id")),
        "display_name": str(row.get("display_name") or row.get("id") or ""),
        "created_at": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


LAST_SECOND = 253_402_300_800
"""From here on a date has a year of five digits."""


def anthropic_list(rows: Sequence[ModelRow]) -> dict[str, object]:
    anthropic_rows = [anthropic_row(row) for row in rows]
    ids = [row["id"] for row in anthropic_rows] or [None]
    return {"data": anthropic_rows, "has_more": False, "first_id": ids[0], "last_id": ids[-1]}


def list_names(upstreams: Upstreams) -> list[str]:
    """Names of those that have one; empty where clients may ask for whatever the server has."""
    names = [upstream.name or upstream.source.endpoint.model for upstream in upstreams.entries]
    return [name for name in names if name]


async def fetch_models(upstream: Upstream) -> list[Mapping[str, Any]]:
    """Fetch the list of the model's server; empty whenever it does not say."""
    source = upstream.source
    if not isinstance(source, RemoteSource):
        return []
    # A list of models is a help and no promise.
    listed = await source.backend.fetch_facts("GET", source.backend.models, None, True)
    return as_records(as_record(read_json(listed or b"")).get("data"))


VERSION = "0.13.5"
"""Of Ollama. Clients refuse older ones: codex needs 0.13.4, VS Code 0.6.4."""
TEMPLATE = (
    "{{ if .System }}{{ .System }}{{ end }}{{ if .Tools }}{{ .Tools }}{{ end }}"
    "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"
)
"""Told where the model's own is not known or has no tools: clients look in it for `.Tools`."""
OWN_CAPABILITIES = ("completion", "tools")
OTHER_CAPABILITIES = ("vision", "thinking")
"""Abilities that a model's server may add; what else it can do (insert, embedding) is not here."""
ARCHITECTURE = "andy"
KEPT_LOADED = timedelta(minutes=5)
NO_DETAILS: Mapping[str, object] = {
    "parent_model": "",
    "format": "gguf",
    "family": "",
    "families": [],
    "parameter_size": "",
    "quantization_level": "",
}


class OllamaModels:
    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams
        self._started = datetime.now(UTC)

    async def tags(self) -> dict[str, object]:
        return await self._list_rows(modified_at=format_time(self._started))

    async def running(self) -> dict[str, object]:
        """List the models that are there: none has to be loaded."""
        until = format_time(datetime.now(UTC) + KEPT_LOADED)
        return await self._list_rows(expires_at=until, size_vram=0)

    async def _list_rows(self, **further_fields: object) -> dict[str, object]:
        names = await self._list_tagged_names()
        return {"models": [{**render_row(name), **further_fields} for name in names]}

    async def show(self, value: object) -> dict[str, object]:
        """Describe a model. Raises ApiError (404) where there is none of this name."""
        name = read_model(check_body(value))
        upstream = self._upstreams.find_upstream(name)
        facts = await upstream.get_facts(select_source(upstream, strip_latest_tag(name)).endpoint)
        template = facts.template if "tools" in facts.template.lower() else TEMPLATE
        capabilities = [*OWN_CAPABILITIES]
        capabilities += [name for name in OTHER_CAPABILITIES if name in facts.capabilities]
        model_info: dict[str, object] = {"general.architecture": ARCHITECTURE}
        if facts.context:
            model_info[f"{ARCHITECTURE}.context_length"] = facts.context
        return {
            "modelfile": f"FROM {name}\n",
            "parameters": f"num_ctx {facts.context}" if facts.context else "",
            "template": template,
            "details": NO_DETAILS,
            "model_info": model_info,
            "capabilities": capabilities,
            "modified_at": format_time(self._started),
        }

    async def pull(self, value: object) -> dict[str, object]:
        """Success for a model that is there. Raises ApiError (404): no other can be fetched."""
        name = read_model(check_body(value))
        self._upstreams.find_upstream(name)
        names = await self._list_tagged_names()
        if names and add_tag(name) not in names:
            known_names = ", ".join(names)
            raise ApiError(
                404, f"There is no model {name!r}, and none is fetched; there are: {known_names}."
            )
        return {"status": "success"}

    async def _list_tagged_names(self) -> list[str]:
        names = list_names(self._upstreams)
        if not names:
            rows = await fetch_models(self._upstreams.entries[0])
            names = list(filter(None, (text_of(row, "id") for row in rows)))
        return [add_tag(name) for name in names]


def render_row(name: str) -> dict[str, Any]:
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return {"name": name, "model": name, "size": 0, "digest": digest, "details": NO_DETAILS}


def add_tag(name: str) -> str:
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


NOT_OFFERED: Mapping[str, str] = {
    "/api/embed": "Embeddings are not made here: ask the model's server for them.",
    "/api/embeddings": "Embeddings are not made here: ask the model's server for them.",
    "/api/create": "Models are not made here.",
    "/api/copy": "Models are not copied here.",
    "/api/push": "Models are not sent anywhere from here.",
    "/api/delete": "Models are not removed here.",
}
"""Path of Ollama's API -> why there is nothing."""
