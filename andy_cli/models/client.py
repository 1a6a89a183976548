"""The interface of a model's client: a stream of chunks for a request; and wrappers of a client.

Streams are generators: whoever stops reading one early must close it.

A request is tried again in one place, when it may work later: only what is a `TransientError` and
failed before anything was yielded, for a reply that was begun was shown. The waits are random;
at most `network.first_backoff`, then twice as much each time, up to 8 s. A server that asks for
longer gets up to a minute.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from andy_cli.errors import TransientError
from andy_cli.messages import Chunk, Request
from andy_cli.settings import Settings

Item = TypeVar("Item")


@asynccontextmanager
async def closing_stream(
    items: AsyncIterator[Item],
) -> AsyncGenerator[AsyncIterator[Item], None]:
    """Close the stream when the block is left: that is what ends a request."""
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


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
        """True if the model is too small to choose by itself: each step is chosen for it from the
        choices of `Request.constraint`."""
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
    """A provider: where it listens, which variable holds its key, its default model."""

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
    context: int | None = None
    """Tokens of prompt and reply together, where its models run in this process."""
    longer_window: str = "start its server with a longer context window"
    """The way to a longer context of a server of the user's own, as part of a sentence."""

    def is_hosted(self, base_url: str) -> bool:
        """Tell whether that is the provider's own service, and no server of the user's."""
        return not self.local_port and base_url == self.base_url


MAX_BACKOFF = 8.0
MAX_WAIT = 60.0
"""Seconds a server may ask for; more is told to the user instead."""

MAX_TRIES_BY_ERROR = {"timeout": 2, "dns": 3, "protocol": 3}
"""Fewer tries for failures that patience seldom helps with, by kind of error."""

MORE_TRIES_BY_ERROR = {"loading": 4}
"""Times as many tries, by kind of error: the weights of a model are read for a minute."""


class RetryingClient(ForwardingClient):
    """Sends a request again after a while if its error may pass."""

    def __init__(
        self, client: ModelClient, settings: Settings, tell_user: Callable[[str], None]
    ) -> None:
        super().__init__(client)
        self._tries = max(1, settings.whole("network.tries"))
        self._first_backoff = settings.number("network.first_backoff")
        self._tell = tell_user

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        tries = 0
        while True:
            begun = False
            try:
                async with closing_stream(self._client.reply(request)) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk
                return
            except TransientError as error:
                tries += 1
                if begun or not self._worth_it(error, tries):
                    raise
                await self._wait_before_retry(error, tries)

    def _worth_it(self, error: TransientError, tries: int) -> bool:
        if error.retry_after is not None and error.retry_after > MAX_WAIT:
            return False
        return tries < self._most_tries(error)

    def _most_tries(self, error: TransientError) -> int:
        if self._tries > 1:
            more_tries = self._tries * MORE_TRIES_BY_ERROR.get(error.kind, 1)
            return min(more_tries, MAX_TRIES_BY_ERROR.get(error.kind, more_tries))
        return self._tries

    async def _wait_before_retry(self, error: TransientError, tries: int) -> None:
        import asyncio  # it runs us
        import random  # 5 ms, and few requests fail

        longest_wait = min(MAX_BACKOFF, self._first_backoff * 2 ** (tries - 1))
        seconds = max(random.uniform(0, longest_wait), error.retry_after or 0.0)
        reason = str(error).rstrip(".")
        count = f"{tries + 1} of {self._most_tries(error)}"
        self._tell(f"{reason}. Trying again in {seconds:.1f} s ({count}).")
        await asyncio.sleep(seconds)
