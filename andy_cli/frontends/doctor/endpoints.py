"""How each server of models is: whether it answers, what it has, and whether andy's prompt fits."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from andy_cli.agent.model.model_profile import build_profile
from andy_cli.agent.prompt.instructions import Instructions, find_instruction_files
from andy_cli.compiler import dialects
from andy_cli.compiler.detect import Detected
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
from andy_cli.errors import AndyError
from andy_cli.frontends.doctor.finding import Finding, Grade, counted
from andy_cli.frontends.model_info import record_of
from andy_cli.models import discovery, select
from andy_cli.models.client import Endpoint
from andy_cli.models.http.addresses import show_url
from andy_cli.models.presets import presets
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings
from andy_cli.toolbox.collection import Collection

ROOM = 1000
"""Tokens that a question and its answer take at least."""

LARGER_WINDOW = {
    "ollama": "OLLAMA_CONTEXT_LENGTH=16384 ollama serve",
    "llamacpp": "llama-server --jinja -c 16384 -m MODEL.gguf",
    "lmstudio": "lms load {model} --context-length 16384",
    "vllm": "vllm serve {model} --max-model-len 16384",
}
"""How a server is given a larger window."""
START = {
    "ollama": "ollama serve",
    "llamacpp": "llama-server --jinja -m MODEL.gguf",
    "lmstudio": "lms server start",
    "vllm": "vllm serve {model}",
}


@dataclass(slots=True)
class Endpoints:
    others: list[Chosen] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


async def endpoints_to_check(
    settings: Settings, patience: float
) -> tuple[Chosen | None, Endpoints]:
    """The model that is used, and every other server that is found or has a key."""
    found = Endpoints()
    servers = asyncio.create_task(discovery.scan_servers(settings))
    chosen: Chosen | None = None
    try:
        async with asyncio.timeout(patience):
            chosen = await select.choose_model(settings)
    except TimeoutError:
        late = f"none is known after {patience:g} seconds"
        found.findings.append(Finding("model", "fail", late, "andy models list"))
    except AndyError as error:
        first, _, more = str(error).partition("\n")
        fix = error.hint or ("pip install 'andy-cli[local]'" if more else "andy models list")
        found.findings.append(Finding("model", "fail", first, fix))
    seen = {chosen.endpoint.base_url} if chosen else set()
    others = [
        Chosen(
            Endpoint(
                each.provider,
                select.preferred_model(each.models, presets()[each.provider]),
                each.base_url,
            ),
            presets()[each.provider],
            "it answers on this machine",
        )
        for each in await servers
    ]
    others += [
        Chosen(
            Endpoint(each.name, each.default_model, each.base_url, select.key_of(name), name),
            each,
            f"{name} is set",
        )
        for each, name in select.keyed_providers()
        if each.base_url
    ]
    for other in others:
        if other.endpoint.base_url not in seen:
            seen.add(other.endpoint.base_url)
            found.others.append(other)
    return chosen, found


async def look_at_endpoint(chosen: Chosen, settings: Settings, folder: Path, used: bool) -> Finding:
    """Ask one server what it has, and hold its window against andy's prompt."""
    endpoint = chosen.endpoint
    subject = f"model {endpoint.provider}"
    mark = f"used ({chosen.why})" if used else "not used"
    if not endpoint.base_url:
        return await look_inside(chosen, settings, subject, mark)
    where = f"{endpoint.model or 'no model'} at {show_url(endpoint.base_url)}, {mark}"
    listing = await select.listing_at(endpoint, settings)
    latency = f"{1000 * listing.seconds:.0f} ms"
    # What nobody uses is worth a warning and no failure.
    bad: Grade = "fail" if used else "warn"
    if listing.problem:
        return Finding(subject, bad, f"{where}: {listing.problem}", fix_for(chosen, listing.status))
    models = listing.models
    if missing(endpoint, models):
        fix = (
            f"ollama pull {endpoint.model}" if endpoint.provider == "ollama" else "andy models list"
        )
        return Finding(subject, bad, f"{where}: it has no such model", fix)
    record = await record_of(chosen, models, settings)
    size = await prompt_size(chosen, str(record["dialect"]), settings, folder)
    told = [f"{where}, {latency}", counted(len(models), "model") if models else "lists no models"]
    told += [f"dialect {record['dialect']}", tools_told(record)]
    context = record["context"]
    if not isinstance(context, int):
        told.append(f"context not told, our prompt takes {size}")
        return Finding(subject, "ok", ", ".join(told))
    told.append(f"context {context}, our prompt takes {size}")
    if size + ROOM > context:
        return Finding(subject, bad, f"{', '.join(told)}: too small", larger_window(endpoint))
    if size > context // 2:
        return Finding(subject, "warn", f"{', '.join(told)}: tight", larger_window(endpoint))
    return Finding(subject, "ok", ", ".join(told))


async def look_inside(chosen: Chosen, settings: Settings, subject: str, mark: str) -> Finding:
    record = await record_of(chosen, (), settings)
    told = f"{chosen.endpoint.model} inside andy, {mark}, dialect {record['dialect']}"
    if "size" in record and "not here yet" in str(record.get("weights", "")):
        pull = f"andy models pull {chosen.endpoint.model}"
        return Finding(subject, "warn", f"{told}: its weights are not here yet", pull)
    return Finding(subject, "ok", told)


def missing(endpoint: Endpoint, models: Sequence[str]) -> bool:
    """Whether a server that lists its models lacks this one; hosted ones have further names."""
    preset = presets().get(endpoint.provider)
    hosted = preset is not None and preset.is_hosted(endpoint.base_url)
    names = {endpoint.model, f"{endpoint.model}:latest"}
    return bool(models) and not hosted and not names.intersection(models)


def tools_told(record: dict[str, object]) -> str:
    """Whether native tools are taken, and what its server was seen to refuse."""
    native = {True: "taken", False: "refused", None: "tried when needed"}
    taken = record["native_tools"]
    told = f"native tools {native[taken if isinstance(taken, bool) else None]}"
    refused = record["server_refuses"]
    left_out = ", ".join(map(str, refused)) if isinstance(refused, list) else ""
    return f"{told}, left out: {left_out}" if left_out else told


async def prompt_size(chosen: Chosen, dialect: str, settings: Settings, folder: Path) -> int:
    """Tokens, about, of what goes with every request: rules, instructions, tools."""
    known = {each.name: each for each in discover(dialects, Dialect, "DIALECT")}
    client = select.connect_client(chosen, settings, forget=True)
    try:
        told = Instructions(files=find_instruction_files(settings, folder).files)
        registry = Collection(settings, folder).registry
        spoken = Detected(known[dialect], "")
        return build_profile(client, spoken, registry, known, folder, told).fixed
    finally:
        await client.close()


def fix_for(chosen: Chosen, status: int) -> str:
    endpoint = chosen.endpoint
    if status in (401, 403):
        names = chosen.provider.key_names
        return f"export {endpoint.key_from or next(iter(names), 'OPENAI_API_KEY')}=..."
    # What no command of ours starts: how to see for oneself why it does not answer.
    start = START.get(endpoint.provider, f"curl -i {show_url(endpoint.base_url)}/models")
    return start.replace("{model}", endpoint.model or "MODEL")


def larger_window(endpoint: Endpoint) -> str:
    fix = LARGER_WINDOW.get(endpoint.provider, "andy tools disable NAME")
    return fix.replace("{model}", endpoint.model)
