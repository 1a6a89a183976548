"""The interface of a model: a stream of chunks for a request. Everything else is optional."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

from andy_cli.messages import Chunk, Request
from andy_cli.settings import Settings


class ModelClient(Protocol):
    """One model at one endpoint.

    `reply` raises `ModelError` (or a kind of it) in a sentence that says what to do. The stream
    ended well only if some chunk carried a finish reason. Closing the generator ends the request.
    """

    @property
    def name(self) -> str:
        """`provider:model`, as shown to the user and accepted by `--model`."""
        ...

    @property
    def tools(self) -> bool:
        """True if it may be sent function tools."""
        ...

    @property
    def guided(self) -> bool:
        """True if it keeps to `Request.constraint`, choices included, and is better for it."""
        ...

    def reply(self, request: Request) -> AsyncIterator[Chunk]: ...

    async def close(self) -> None: ...


class ForwardingClient:
    """A client around another, whose replies it gives out in its own way."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client

    @property
    def name(self) -> str:
        return self._client.name

    @property
    def tools(self) -> bool:
        return self._client.tools

    @property
    def guided(self) -> bool:
        return self._client.guided

    async def close(self) -> None:
        await self._client.close()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model and the key to it. `key` is never shown, logged or captured."""

    provider: str
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    key_from: str = ""
    """The environment variable the key came from, for messages."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A named preset: where it listens, which variable holds its key, what it runs by default."""

    name: str
    base_url: str = ""
    key_names: tuple[str, ...] = ()
    key_begins: tuple[str, ...] = ()
    """The beginnings of its keys that no other's have."""
    default_model: str = ""
    connect: Callable[[Endpoint, Settings], ModelClient] | None = None
    """The way to reach it; None means: as any server that speaks the OpenAI chat API."""
    rank: int = 100
    """Its place when several keys are there and nothing else was said; lower wins."""
    tools: bool = True
    plain_schemas: bool = False
    """It refuses references and alternatives in the schemas of tools."""
    local_port: int | None = None
    """Its usual port on loopback, for discovery."""

    def is_hosted(self, base_url: str) -> bool:
        """Tell whether that is the provider's own service, and no server of the user's."""
        return not self.local_port and base_url == self.base_url
