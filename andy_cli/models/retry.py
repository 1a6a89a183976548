"""Try a request again when it may work later. The one place that does.

Only what is a `TransientError` and failed before anything was yielded: a reply that was begun is
kept as it is, for its text was shown. The waits are random up to twice the one before, from
`network.first_backoff` to 8 s; a server that asks for longer gets up to a minute.
"""

from collections.abc import AsyncGenerator, Callable

from andy_cli.errors import TransientError
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import ForwardingClient, ModelClient
from andy_cli.models.streams import closing_stream
from andy_cli.settings import Settings

LONGEST_BACKOFF = 8.0
LONGEST_WAIT = 60.0
"""Seconds a server may ask for; more is told to the user instead."""

TRIES = {"timeout": 2, "dns": 3, "protocol": 3}
"""Fewer tries for failures that patience seldom helps with, by kind of error."""


class Retrying(ForwardingClient):
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
        if error.retry_after is not None and error.retry_after > LONGEST_WAIT:
            return False
        return tries < min(self._tries, TRIES.get(error.kind, self._tries))

    async def _wait_before_retry(self, error: TransientError, tries: int) -> None:
        import asyncio  # it runs us
        import random  # 5 ms, and few requests fail

        longest_wait = min(LONGEST_BACKOFF, self._first_backoff * 2 ** (tries - 1))
        seconds = max(random.uniform(0, longest_wait), error.retry_after or 0.0)
        reason = str(error).rstrip(".")
        self._tell(f"{reason}. Trying again in {seconds:.1f} s ({tries + 1} of {self._tries}).")
        await asyncio.sleep(seconds)
