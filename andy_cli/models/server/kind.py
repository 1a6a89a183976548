"""The kind of server at an address, where its provider does not say."""

from collections.abc import Awaitable, Callable

from andy_cli.models.client import Endpoint
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.server.facts import ServerFacts


async def say_nothing() -> ServerFacts:
    """Return no facts, for a server that is not asked."""
    return ServerFacts()


def kind_of(endpoint: Endpoint, server_facts: ServerFacts) -> str:
    """The kind of a server, from its provider, else from what it tells of itself."""
    return name_kind(endpoint) or server_facts.kind or endpoint.provider


def name_kind(endpoint: Endpoint) -> str:
    """The kind that the provider says; nothing for a server at an address of one's own."""
    known_provider = providers_by_name().get(endpoint.provider)
    hosted = known_provider is not None and known_provider.is_hosted(endpoint.base_url)
    # Of such a server only the wire is known.
    return "" if endpoint.provider == "openai" and not hosted else endpoint.provider


class ServerKind:
    """The kind of one server, by its provider's name; it is asked once, when that is needed."""

    def __init__(
        self, endpoint: Endpoint, ask_facts: Callable[[], Awaitable[ServerFacts]] = say_nothing
    ) -> None:
        self._endpoint = endpoint
        self._kind = name_kind(endpoint)
        self._ask = ask_facts

    async def find(self) -> str:
        """`llamacpp`, `vllm`, ...; `openai` for all of which nothing else is known."""
        if not self._kind:
            self._kind = kind_of(self._endpoint, await self._ask())
        return self._kind
