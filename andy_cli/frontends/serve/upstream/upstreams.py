"""The models behind the server: which there are, which is meant, how each is spoken to."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from urllib.parse import urlsplit

from andy_cli.compiler.detect import NATIVE, Template, choose_dialect, describe_detection
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.errors import UsageError
from andy_cli.frontends.serve.upstream.backend import Backend
from andy_cli.frontends.serve.upstream.sources import (
    LocalSource,
    RemoteSource,
    ReplySource,
    make_adapter,
)
from andy_cli.frontends.serve.upstream.tool_catalogue import (
    SMALL_TOOLS_TOKENS,
    ToolCatalogue,
    catalogue_tools,
    measure_tools,
)
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, ToolPrompt, make_tool_prompt
from andy_cli.frontends.serve.upstream.tool_support import GetFacts, ToolSupport
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.ollama import strip_latest_tag
from andy_cli.guard.addresses import check_base_url
from andy_cli.models.client import Endpoint
from andy_cli.models.discovery import ollama_address
from andy_cli.models.inside.weights import check_name
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.memory import recall_model
from andy_cli.models.ollama_chat import OllamaChat
from andy_cli.models.select import OLLAMA_PORT, is_too_weak, may_guide, parse_name
from andy_cli.models.server.facts import ServerFacts
from andy_cli.models.server.kind import ServerKind
from andy_cli.settings import Settings


@dataclass(slots=True)
class Upstream:
    """One model; what is learned of it (that it takes no tools) concerns the model alone."""

    name: str
    """Under which clients ask for it; empty: whatever they ask for."""
    source: ReplySource
    dialect: str
    """As said; `auto`: as found out."""
    get_facts: GetFacts
    takes_tools: bool = True
    window: int = 0
    """Tokens that its models read, as set; 0: what their server says."""
    may_guide: bool = False
    """Steps may be chosen for a model of it that is too weak."""
    thinks_first: set[str] = field(default_factory=set)
    """Its models whose replies were seen to begin inside reasoning."""
    _support: dict[str, ToolSupport] = field(default_factory=dict)

    def model_for(self, wanted_model: str) -> str:
        return self.source.endpoint.model or wanted_model

    async def sends_tools(self, chat_request: ChatRequest) -> bool:
        """Tell whether the model is sent the client's tools."""
        if self.dialect != "auto":
            return self.dialect == NATIVE
        if self.guides(chat_request.model):
            return False
        support = self.find_support(chat_request.model)
        await support.ask_server(self.get_facts)
        return support.takes_tools(chat_request.tools)

    async def catalogue_tools(self, chat_request: ChatRequest) -> ToolCatalogue | None:
        """Make the catalogue of a client's tools that are too many for the model; else None."""
        is_guided = self.source.guided or self.guides(chat_request.model)
        if is_guided or measure_tools(chat_request.tools) <= SMALL_TOOLS_TOKENS:
            return None
        window = self.window
        window = window or await self.find_support(chat_request.model).find_window(self.get_facts)
        return await catalogue_tools(chat_request, window)

    def guides(self, wanted_model: str) -> bool:
        """Tell whether each step is chosen for a model, as it is too weak for it."""
        if not self.may_guide or self.dialect != "auto":
            return False
        endpoint = replace(self.source.endpoint, model=self.model_for(wanted_model))
        return is_too_weak(recall_model(endpoint))  # it may have been probed meanwhile

    def find_support(self, wanted_model: str) -> ToolSupport:
        model = self.model_for(wanted_model)
        if model not in self._support:  # what is remembered of a model is in a file
            if len(self._support) >= MAX_REMEMBERED_MODELS:
                self._support.clear()  # clients choose the names
            endpoint = replace(self.source.endpoint, model=model)
            instead = self._choose_dialect(model, native=False).name
            native = self._choose_dialect(model).name == NATIVE
            was_seen_calling = native and recall_model(endpoint).native is True
            self._support[model] = ToolSupport(endpoint, instead, native, was_seen_calling)
        return self._support[model]

    def make_tool_prompt(self, tools: Tools, wanted_model: str, dialect: str = "") -> ToolPrompt:
        """Make the prompt of its tools, where it takes none; `dialect` as this request wants it."""
        dialect_name = dialect or self.dialect
        if dialect_name != "auto":
            return make_tool_prompt(DIALECTS[dialect_name], tools)
        chosen_dialect = self._choose_dialect(self.model_for(wanted_model), native=False)
        return make_tool_prompt(chosen_dialect, tools)

    def _choose_dialect(self, model: str, native: bool = True) -> Dialect:
        if self.source.guided or self.guides(model):
            return DIALECTS["andybot"]
        capabilities = ("tools",) if self.takes_tools and native else ()
        learned = recall_model(replace(self.source.endpoint, model=model))
        if not native and learned.dialect == NATIVE:
            learned = learned._replace(dialect="")
        return choose_dialect(model, Template(), capabilities, DIALECTS.values(), learned).dialect


MAX_REMEMBERED_MODELS = 1000
"""The models of which an upstream keeps what it knows."""


@dataclass(slots=True)
class Upstreams:
    entries: list[Upstream]

    def find_upstream(self, model: str) -> Upstream:
        """The one a request means. Raises ApiError (404) where several are there and none is."""
        named_upstreams = [upstream for upstream in self.entries if upstream.name == model]
        short = strip_latest_tag(model)
        named_upstreams = named_upstreams or [
            upstream for upstream in self.entries if strip_latest_tag(upstream.name) == short
        ]
        if named_upstreams:
            return named_upstreams[0]
        if len(self.entries) == 1:
            return self.entries[0]
        known_names = ", ".join(upstream.name for upstream in self.entries)
        raise ApiError(
            404, f"There is no model {model!r}; there are: {known_names}.", code="model_not_found"
        )


def _name_upstreams(opened: Sequence[Upstream], written_upstreams: Sequence[str]) -> None:
    for upstream, written in zip(opened, written_upstreams, strict=True):
        upstream.name = upstream.name or upstream.source.endpoint.model
        if not upstream.name:
            raise UsageError(
                f"{written} has no name.", "With several, each is NAME=URL or PROVIDER:MODEL."
            )
        names = [other.name for other in opened]
        if names.count(upstream.name) > 1:
            raise UsageError(
                f"Two upstreams are called {upstream.name!r}.", "Name each: NAME=URL, for example."
            )


@dataclass(frozen=True, slots=True)
class UpstreamOpener:
    """Opens upstreams with what was said of all of them."""

    model: str
    dialect: str
    make_backend: Callable[[Endpoint], Backend]
    settings: Settings
    get_facts: GetFacts

    def open_all(self, written_upstreams: Sequence[str]) -> Upstreams:
        """`[NAME=][ollama+]URL|PROVIDER:MODEL|local:MODEL`, each. Raises UsageError."""
        if self.dialect != "auto":
            describe_detection(self.dialect, "--dialect", DIALECTS)
        opened = []
        for written in written_upstreams:
            name, equals, written_place = written.partition("=")
            if not equals or "://" in name or ":" in name:
                name, written_place = "", written
            opened.append(self.open_upstream(name, written_place))
        if len(opened) > 1:
            _name_upstreams(opened, written_upstreams)
        return Upstreams(opened)

    def open_upstream(self, name: str, written_place: str) -> Upstream:
        if "://" in written_place:
            provider_name, url = read_address(written_place)
            key = os.environ.get(self.settings.text("api_key_env") or "OPENAI_API_KEY", "")
            endpoint = Endpoint(provider_name, self.model, url, key)
            return self._make_upstream(name, self._open_remote(endpoint))
        provider, model_name = parse_name(written_place)
        if not provider:
            raise UsageError(
                f"{written_place!r} is no upstream.",
                "Give a URL, PROVIDER:MODEL, or local:smollm2.",
            )
        known_provider = providers_by_name()[provider]
        names = [name for name in known_provider.key_names if os.environ.get(name)]
        key = os.environ[names[0]] if names else ""
        model = model_name or self.model or known_provider.default_model
        endpoint = Endpoint(provider, model, known_provider.base_url, key)
        if known_provider.connect is not None:
            check_name(model)
            client = known_provider.connect(endpoint, self.settings)
            source = LocalSource(endpoint, client, asyncio.Lock())
            return self._make_upstream(name, source, takes_tools=False)
        return self._make_upstream(name, self._open_remote(endpoint), known_provider.tools)

    def _make_upstream(self, name: str, source: ReplySource, takes_tools: bool = True) -> Upstream:
        window, guides = self.settings.whole("limits.context"), may_guide(self.settings)
        return Upstream(name, source, self.dialect, self.get_facts, takes_tools, window, guides)

    def _open_remote(self, endpoint: Endpoint) -> RemoteSource:
        async def ask(model: str) -> ServerFacts:
            return await self.get_facts(replace(endpoint, model=model))

        ollama = None
        if endpoint.provider == "ollama":
            context = self.settings.whole("limits.context")
            ollama = OllamaChat(endpoint.base_url, context, ask)
        kind = ServerKind(endpoint, lambda: self.get_facts(endpoint, only_safe_requests=True))
        adapters = lru_cache(MAX_REMEMBERED_MODELS)(partial(make_adapter, self.settings))
        return RemoteSource(endpoint, self.make_backend(endpoint), adapters, kind, ollama=ollama)


def read_address(written_place: str) -> tuple[str, str]:
    """Read who is at an address, and its base URL: `ollama+http://HOST:PORT`, or any at Ollama's
    port, is an Ollama, and every other a server of the chat completions API. Raises UsageError.
    """
    if written_place.startswith("ollama+"):
        return "ollama", ollama_address(check_base_url(written_place.removeprefix("ollama+")))
    url = check_base_url(written_place)
    if urlsplit(url).port == OLLAMA_PORT:
        return "ollama", ollama_address(url)
    return "openai", url


def select_source(upstream: Upstream, model: str) -> ReplySource:
    """The source, asked for the model the client wants where none was said."""
    source = upstream.source
    if isinstance(source, RemoteSource) and not source.endpoint.model:
        return replace(source, endpoint=replace(source.endpoint, model=model))
    return source
