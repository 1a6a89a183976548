"""Checks of each model server: does it answer, what does it have, does andy's prompt fit."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from andy_cli.agent.model.model_session import build_profile
from andy_cli.agent.prompt.system_prompt import Instructions, find_instruction_files
from andy_cli.compiler.detect import Detected
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.errors import AndyError, UsageError
from andy_cli.frontends.doctor.machine_checks import Finding, Grade
from andy_cli.frontends.management.model_info import make_model_record
from andy_cli.guard.addresses import show_url
from andy_cli.models import discovery, select
from andy_cli.models.client import Endpoint
from andy_cli.models.discovery import FoundServer
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.files.names import count_noun

MIN_FREE_TOKENS = 1000
"""Tokens that a question and its answer take at least."""

WINDOW_COMMANDS = {
    "ollama": "OLLAMA_CONTEXT_LENGTH=16384 ollama serve",
    "llamacpp": "llama-server --jinja -c 16384 -m MODEL.gguf",
    "lmstudio": "lms load {model} --context-length 16384",
    "vllm": "vllm serve {model} --max-model-len 16384",
}
"""The way to give a server a larger window."""
START_COMMANDS = {
    "ollama": "ollama serve",
    "llamacpp": "llama-server --jinja -m MODEL.gguf",
    "lmstudio": "lms server start",
    "vllm": "vllm serve {model}",
}


async def find_endpoints(
    settings: Settings, patience: float
) -> tuple[Chosen | None, list[Chosen], list[Finding]]:
    """Find the model that is used, every other server that runs here or has a key, and faults."""
    findings: list[Finding] = []
    servers = asyncio.create_task(discovery.scan_servers(settings))
    chosen: Chosen | None = None
    try:
        async with asyncio.timeout(patience):
            chosen = await select.choose_model(settings)
    except TimeoutError:
        timeout_message = f"none is known after {patience:g} seconds"
        findings.append(Finding("model", "fail", timeout_message, "andy models list"))
    except AndyError as error:
        first, _, further_lines = str(error).partition("\n")
        suggested_fix = error.hint or (
            "pip install 'andy-cli[local]'" if further_lines else "andy models list"
        )
        findings.append(Finding("model", "fail", first, suggested_fix))
    others = list(map(choose_served, await servers))
    with contextlib.suppress(UsageError):  # the check of keys says it
        others += choose_keyed()
    by_address: dict[str, Chosen] = {}
    for other in others:
        by_address.setdefault(other.endpoint.base_url, other)
    if chosen:
        by_address.pop(chosen.endpoint.base_url, None)
    return chosen, list(by_address.values()), findings


def choose_served(server: FoundServer) -> Chosen:
    """Choose a model of a server on this machine."""
    provider = providers_by_name()[server.provider]
    model = select.preferred_model(server.models, provider)
    endpoint = Endpoint(server.provider, model, server.base_url)
    return Chosen(endpoint, provider, "it answers on this machine")


def choose_keyed() -> Iterator[Chosen]:
    """Choose the usual model of each provider whose key is set."""
    for provider, name in select.keyed_providers():
        if provider.base_url:
            key, model = select.key_of(name), provider.default_model
            endpoint = Endpoint(provider.name, model, provider.base_url, key, name)
            yield Chosen(endpoint, provider, f"{name} is set")


async def check_endpoint(
    chosen: Chosen, settings: Settings, folder: Path, is_used: bool
) -> Finding:
    """Ask one server what it has, and hold its window against andy's prompt."""
    endpoint = chosen.endpoint
    subject = f"model {endpoint.provider}"
    usage_note = f"used ({chosen.why})" if is_used else "not used"
    if not endpoint.base_url:
        return await check_inner_model(chosen, settings, subject, usage_note)
    described_server = (
        f"{endpoint.model or 'no model'} at {show_url(endpoint.base_url)}, {usage_note}"
    )
    listing = await select.listing_at(endpoint, settings)
    latency = f"{1000 * listing.seconds:.0f} ms"
    # What nobody uses is worth a warning and no failure.
    bad_grade: Grade = "fail" if is_used else "warn"
    if listing.problem:
        return Finding(
            subject,
            bad_grade,
            f"{described_server}: {listing.problem}",
            suggest_fix(chosen, listing.status),
        )
    models = listing.models
    if is_missing(endpoint, models):
        suggested_fix = (
            f"ollama pull {endpoint.model}" if endpoint.provider == "ollama" else "andy models list"
        )
        return Finding(
            subject, bad_grade, f"{described_server}: it has no such model", suggested_fix
        )
    record = await make_model_record(chosen, models, settings)
    size = await measure_prompt(chosen, str(record["dialect"]), settings, folder)
    facts = [
        f"{described_server}, {latency}",
        count_noun(len(models), "model") if models else "lists no models",
    ]
    facts += [f"dialect {record['dialect']}", describe_native_tools(record)]
    return judge_window(
        subject, bad_grade, facts, record["context"], size, suggest_larger_window(endpoint)
    )


def judge_window(
    subject: str,
    bad_grade: Grade,
    facts: Sequence[str],
    context: object,
    size: int,
    suggested_fix: str,
) -> Finding:
    """Judge if andy's prompt of so many tokens fits the window; `bad_grade` is the grade if not."""
    if not isinstance(context, int):
        message = ", ".join([*facts, f"context window unknown, andy's prompt takes {size} tokens"])
        return Finding(subject, "ok", message)
    message = ", ".join([*facts, f"context window {context} tokens, andy's prompt takes {size}"])
    if size + MIN_FREE_TOKENS > context:
        return Finding(subject, bad_grade, f"{message}: too small", suggested_fix)
    if size > context // 2:
        return Finding(subject, "warn", f"{message}: tight", suggested_fix)
    return Finding(subject, "ok", message)


async def check_inner_model(
    chosen: Chosen, settings: Settings, subject: str, usage_note: str
) -> Finding:
    record = await make_model_record(chosen, (), settings)
    message = f"{chosen.endpoint.model} inside andy, {usage_note}, dialect {record['dialect']}"
    if "size" in record and "not here yet" in str(record.get("weights", "")):
        pull_command = f"andy models pull {chosen.endpoint.model}"
        return Finding(subject, "warn", f"{message}: its weights are not here yet", pull_command)
    return Finding(subject, "ok", message)


def is_missing(endpoint: Endpoint, models: Sequence[str]) -> bool:
    """Find out if a server that lists its models lacks this one; hosted ones have further names."""
    known_provider = providers_by_name().get(endpoint.provider)
    hosted = known_provider is not None and known_provider.is_hosted(endpoint.base_url)
    names = {endpoint.model, f"{endpoint.model}:latest"}
    return bool(models) and not hosted and not names.intersection(models)


def describe_native_tools(record: dict[str, object]) -> str:
    """Describe if native tools are taken, and what the server was seen to refuse."""
    native = {
        True: "takes native tools",
        False: "refuses native tools",
        None: "native tools tried when needed",
    }
    takes_native = record["native_tools"]
    message = native[takes_native if isinstance(takes_native, bool) else None]
    refused = record["server_refuses"]
    left_out = ", ".join(map(str, refused)) if isinstance(refused, list) else ""
    return f"{message}, left out: {left_out}" if left_out else message


async def measure_prompt(chosen: Chosen, dialect: str, settings: Settings, folder: Path) -> int:
    """Tokens, about, of what goes with every request: rules, instructions, tools."""
    known_dialects = dialects_by_name()
    client = select.connect_client(chosen, settings, forget=True, may_guide=False)
    try:
        message = Instructions(files=find_instruction_files(settings, folder).files)
        registry = Collection(settings, folder).registry
        spoken = Detected(known_dialects[dialect], "")
        return build_profile(client, spoken, registry, known_dialects, folder, message).fixed
    finally:
        await client.close()


def suggest_fix(chosen: Chosen, status: int) -> str:
    endpoint = chosen.endpoint
    if status in (401, 403):
        names = chosen.provider.key_names
        return f"export {endpoint.key_from or next(iter(names), 'OPENAI_API_KEY')}=..."
    # What no command of ours starts: how to see for oneself why it does not answer.
    start = START_COMMANDS.get(endpoint.provider, f"curl -i {show_url(endpoint.base_url)}/models")
    return start.replace("{model}", endpoint.model or "MODEL")


def suggest_larger_window(endpoint: Endpoint) -> str:
    suggested_fix = WINDOW_COMMANDS.get(endpoint.provider, "andy tools disable NAME")
    return suggested_fix.replace("{model}", endpoint.model)
