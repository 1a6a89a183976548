"""The decision to send a model the client's tools, by what its server tells, refuses and shows.

A server that refuses some tools may take others: only one that takes none, or has refused two
different sets, is not sent any more. What one client sends never decides for all.
"""

import json
from dataclasses import dataclass, field
from typing import Protocol

from andy_cli.agent.model.model_session import ObservedTools, PromptTokens
from andy_cli.compiler.dialect import Tools
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.models.client import Endpoint
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.memory import learn_called, learn_refusal
from andy_cli.models.server.facts import ServerFacts
from andy_cli.models.token_count import estimate_message, estimate_tokens


class GetFacts(Protocol):
    """Asks a server about a model; `only_safe_requests` as models/server/facts.py has it."""

    async def __call__(
        self, endpoint: Endpoint, only_safe_requests: bool = False
    ) -> ServerFacts: ...


TAKES_NO_TOOLS = "its server says that it takes no tools"
REFUSED_TOOLS = "its server refused tools"
IGNORED = "its server leaves out the tools that it is sent"

MAX_SETS = 100
"""Sets of tools of one model that are remembered as refused."""


@dataclass(slots=True)
class ToolSupport:
    """The knowledge so far of whether one model takes tools."""

    endpoint: Endpoint
    instead: str
    """The dialect it is taught where it is not sent tools."""
    native: bool
    seen_calling: bool = False
    """It was seen to call natively."""
    observed: ObservedTools = field(default_factory=ObservedTools)
    asked: bool = False
    """Its server was asked what it takes."""
    refused: set[int] = field(default_factory=set)
    _window: int | None = None
    """Tokens that it reads, as its server says; None: that was not asked."""

    @property
    def _is_hosted(self) -> bool:
        known_provider = providers_by_name().get(self.endpoint.provider)
        return known_provider is not None and known_provider.is_hosted(self.endpoint.base_url)

    async def find_window(self, get_facts: GetFacts) -> int:
        """Find how many tokens the model reads; 0 where nobody says. Its server is asked once."""
        if self._window is None and not self._is_hosted:
            server_facts = await get_facts(self.endpoint, only_safe_requests=True)
            self._window = server_facts.context or 0
        return self._window or 0

    async def ask_server(self, get_facts: GetFacts) -> None:
        """Ask its server once, unless it is a provider's or enough was seen of it."""
        if self.asked or self.seen_calling or not self.native or self._is_hosted:
            return
        self.asked = True
        capabilities = (await get_facts(self.endpoint, only_safe_requests=True)).capabilities
        if capabilities and "tools" not in capabilities:
            self._give_up(TAKES_NO_TOOLS)

    def takes_tools(self, tools: Tools) -> bool:
        """Tell whether these tools are sent to it in the next request."""
        if not self.native or self.observed.trial:
            return False
        return not self.refused or hash_tools(tools) not in self.refused

    def note_refusal(self, tools: Tools, wholly: bool) -> None:
        """Note that its server refused these tools; `wholly`: as it would any."""
        if len(self.refused) >= MAX_SETS:
            self.refused.clear()
        self.refused.add(hash_tools(tools))
        if wholly or (len(self.refused) > 1 and not self.seen_calling):
            self._give_up(REFUSED_TOOLS)

    def note_native(self, chat_request: ChatRequest, called: bool, counted: int) -> bool:
        """Note a complete reply to a request with tools; returns whether they were left out of it.

        `counted`: the tokens of the prompt, as its server counts them.
        """
        if self.seen_calling or not self.native:
            return False
        if called:
            self.seen_calling = True
            learn_called(self.endpoint)
        self.observed.note_reply(called, estimate(chat_request, counted))
        return self._note_ignored()

    def note_taught(self, called: bool) -> None:
        """Note how it replied when it was taught tools, if that was a trial."""
        if self.native and self.observed.trial:
            self.observed.note_trial(called)
            self._note_ignored()

    def _note_ignored(self) -> bool:
        if self.observed.ignored:
            self._give_up(IGNORED)
        return self.observed.ignored

    def _give_up(self, reason: str) -> None:
        self.native = False
        learn_refusal(self.endpoint, self.instead, reason)


def estimate(chat_request: ChatRequest, counted: int) -> PromptTokens:
    written = [json.dumps(tool, ensure_ascii=False) for tool in chat_request.tools.values()]
    schemas = sum(map(estimate_tokens, written))
    return PromptTokens(sum(map(estimate_message, chat_request.history)), schemas, counted)


def hash_tools(tools: Tools) -> int:
    return hash(json.dumps(tools, sort_keys=True, default=str))
