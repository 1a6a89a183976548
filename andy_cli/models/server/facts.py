"""Facts that a server tells about a model: how much it reads, what it can do, how it is prompted.

    Ollama      POST /api/show       capabilities, model_info, template, num_ctx
                GET  /api/ps         context_length of models that are loaded
    llama.cpp   GET  /props          chat_template, chat_template_caps, n_ctx
    LM Studio   GET  /api/v0/models  capabilities, max_context_length
    any other   GET  /v1/models      max_model_len (vLLM), context_length (OpenRouter), ...

A server at an address of one's own may be any of them: it is asked everything, at once. Whatever
it does, there are facts: those it did not tell are empty.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.models.client import Endpoint
from andy_cli.models.known_providers import providers_by_name
from andy_cli.settings import Settings

TIMEOUT = 2.0
"""Seconds for all answers together."""

MAX_BYTES = 4 * 2**20
"""Bytes of an answer; more is no answer."""

LENGTHS = ("loaded_context_length", "max_model_len", "context_length", "context_window")
"""The names of servers for the context in a list of models, the one in force first."""

OWNERS = frozenset({"llamacpp", "vllm"})
"""Servers that say who they are in their list: `owned_by` of each model."""

Json = Mapping[str, object]


class ServerFacts(NamedTuple):
    context: int | None = None
    """Tokens of prompt and reply together."""
    capabilities: tuple[str, ...] = ()
    """In Ollama's words: `completion`, `tools`, `thinking`, ...; empty when it does not say."""
    template: str = ""
    """Its chat template, in whatever language."""
    longest: int | None = None
    """Tokens of the longest context that its server could load it with; of Ollama alone."""
    loaded: int | None = None
    """Tokens that it is loaded with just now; of an Ollama that is known to be one."""
    kind: str = ""
    """The provider whose server it is, where it says so: `llamacpp`, `vllm`."""


class FactSource(NamedTuple):
    """A question and how its answer is read."""

    path: str
    read: Callable[[Json, str], ServerFacts]
    method: str = "GET"


Fetch = Callable[[str, str, Json | None], Awaitable[bytes | None]]
"""Asks a server of models: the method, the address and the body; None unless it is a success."""


async def facts(
    endpoint: Endpoint,
    settings: Settings,
    fetch: Fetch | None = None,
    only_safe_requests: bool = False,
) -> ServerFacts:
    """Never raises; takes `TIMEOUT` at most. `fetch`: asks through connections that are there.

    `only_safe_requests`: a server that may be any is asked only what no server can take for a
    request to a model.
    """
    if not endpoint.base_url:  # the model runs in this process
        known_provider = providers_by_name().get(endpoint.provider)
        return ServerFacts(known_provider.context if known_provider is not None else None)
    import asyncio  # it runs us

    sources = _list_sources(endpoint, only_safe_requests)
    questions = [_ask_source(endpoint, settings, source, fetch) for source in sources]
    all_facts = await asyncio.gather(*questions)
    # Of each fact what the first source that knows it says.
    told = (next(filter(None, values), values[0]) for values in zip(*all_facts, strict=True))
    return ServerFacts(*told)


async def takes_tools(
    endpoint: Endpoint, settings: Settings, fetch: Fetch | None = None
) -> bool | None:
    """Ask whether the server says that the model takes tools; None where it does not say.

    An Ollama at an unusual address is not asked: it refuses by itself.
    """
    capabilities = (await facts(endpoint, settings, fetch, only_safe_requests=True)).capabilities
    return "tools" in capabilities if capabilities else None


def _list_sources(endpoint: Endpoint, only_safe_requests: bool) -> list[FactSource]:
    own_sources = {"ollama": OLLAMA, "llamacpp": LLAMACPP, "lmstudio": LMSTUDIO}
    if endpoint.provider == "ollama":
        return [OLLAMA, LOADED, LISTED]
    if endpoint.provider in own_sources:
        return [own_sources[endpoint.provider], LISTED]
    known_provider = providers_by_name().get(endpoint.provider)
    is_usual = known_provider is not None and endpoint.base_url == known_provider.base_url
    all_sources = [LISTED] if is_usual else [*own_sources.values(), LISTED]
    return [probe for probe in all_sources if probe.method == "GET" or not only_safe_requests]


async def _ask_source(
    endpoint: Endpoint, settings: Settings, source: FactSource, fetch: Fetch | None
) -> ServerFacts:
    import asyncio

    root_url = endpoint.base_url.removesuffix("/v1")
    body = {"model": endpoint.model} if source.method == "POST" else None
    try:
        async with asyncio.timeout(TIMEOUT):
            fetch_answer = fetch or partial(_fetch_answer, endpoint, settings)
            data = await fetch_answer(source.method, f"{root_url}{source.path}", body)
        answer = json.loads(data) if data else None
    except (TimeoutError, ValueError, RecursionError):
        return ServerFacts()
    return source.read(answer, endpoint.model) if isinstance(answer, dict) else ServerFacts()


async def _fetch_answer(
    endpoint: Endpoint, settings: Settings, method: str, url: str, body: Json | None
) -> bytes | None:
    import httpx2  # 80 ms, and only whoever asks needs it

    from andy_cli.models.http.direct import DirectTransport

    headers = {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    direct = DirectTransport(endpoint, settings)
    try:
        async with direct.http.stream(method, url, json=body, headers=headers) as response:
            data = b""
            async for received in response.aiter_bytes():
                data += received
                if len(data) > MAX_BYTES:
                    return None
        return data if response.is_success else None
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return None
    finally:
        await direct.close()


# What the answers say. Every key may be missing or of another type.


def _read_ollama(answer: Json, model: str) -> ServerFacts:
    model_info = as_record(answer.get("model_info"))
    longest_context = next(
        (_as_count(model_info[key]) for key in model_info if key.endswith(".context_length")), None
    )
    set_to = re.search(r"^\s*num_ctx\s+(\d{1,9})\s*$", text_of(answer, "parameters"), re.M)
    context = int(set_to[1]) if set_to else longest_context
    template = text_of(answer, "template")
    return ServerFacts(context, _as_words(answer.get("capabilities")), template, longest_context)


def _read_loaded(answer: Json, model: str) -> ServerFacts:
    row = _find_row(as_records(answer.get("models")), "name", model)
    return ServerFacts(loaded=_as_count(row.get("context_length")))


def _read_llamacpp(answer: Json, model: str) -> ServerFacts:
    template = as_record(answer.get("chat_template_caps"))
    capabilities = ["completion"] if template else []
    if True in (template.get("supports_tools"), template.get("supports_tool_calls")):
        capabilities.append("tools")
    context = _as_count(as_record(answer.get("default_generation_settings")).get("n_ctx"))
    return ServerFacts(context, tuple(capabilities), text_of(answer, "chat_template"))


def _read_listed(answer: Json, model: str) -> ServerFacts:
    """The model's row in a list of models."""
    model_rows = as_records(answer.get("data"))
    row = _find_row(model_rows, "id", model)
    counts = [_as_count(row.get(key)) for key in (*LENGTHS, "max_context_length")]
    counts.append(_as_count(as_record(row.get("meta")).get("n_ctx_train")))
    context = next(filter(None, counts), None)
    owner = next((text_of(item, "owned_by") for item in model_rows), "")
    kind = owner if owner in OWNERS else ""
    return ServerFacts(context, _read_abilities(row), kind=kind)


def _read_abilities(row: Json) -> tuple[str, ...]:
    """LM Studio: words; Mistral: which are true; OpenRouter: parameters that are taken."""
    capabilities = row.get("capabilities")
    if isinstance(capabilities, dict):
        words = tuple(str(name) for name, is_there in capabilities.items() if is_there is True)
    else:
        words = _as_words(capabilities)
        if not words and (parameters := _as_words(row.get("supported_parameters"))):
            words = ("completion", "tools") if "tools" in parameters else ("completion",)
    standard_words = {"tool_use": "tools", "function_calling": "tools"}
    return tuple(standard_words.get(word, word) for word in words)


def _find_row(rows: Sequence[Json], key: str, model: str) -> Json:
    """Find the row of a model, whose name stands under a key; an empty one where none is its."""
    return next((row for row in rows if row.get(key) in (model, f"{model}:latest")), {})


def _as_words(value: object) -> tuple[str, ...]:
    elements = value if isinstance(value, list) else ()
    return tuple(element for element in elements if isinstance(element, str))


def _as_count(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 10**9 else None


OLLAMA = FactSource("/api/show", _read_ollama, "POST")
LOADED = FactSource("/api/ps", _read_loaded)
LLAMACPP = FactSource("/props", _read_llamacpp)
LMSTUDIO = FactSource("/api/v0/models", _read_listed)
LISTED = FactSource("/v1/models", _read_listed)
