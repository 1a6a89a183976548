"""A sign of life each second in streams that have nothing to say yet.

A call that the model takes long to write is nothing that its client may see before it is whole, and
clients and proxies give up where nothing comes. All streams are looked at once a second: a timer
for each would be a tenth of what a request costs.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

SECOND = 1.0
COMMENT = b": still writing\n\n"
"""A comment, which readers of event streams pass over."""


@dataclass(eq=False, slots=True)
class KeptStream:
    """One stream: when something was last written, and how a sign of life is."""

    show: Callable[[], Awaitable[None]]
    wrote: float
    showing: asyncio.Task[None] | None = None


class KeepAlive:
    def __init__(self) -> None:
        self._beats: set[KeptStream] = set()
        self._clock: asyncio.TimerHandle | None = None

    def begin(self, show_sign: Callable[[], Awaitable[None]]) -> KeptStream:
        kept_stream = KeptStream(show_sign, monotonic())
        self._beats.add(kept_stream)
        if self._clock is None:
            self._clock = asyncio.get_running_loop().call_later(SECOND, self._show_signs)
        return kept_stream

    def end(self, kept_stream: KeptStream) -> None:
        self._beats.discard(kept_stream)
        if kept_stream.showing is not None:
            kept_stream.showing.cancel()

    def _show_signs(self) -> None:
        current_time = monotonic()
        for kept_stream in self._beats:
            waiting = kept_stream.showing is not None and not kept_stream.showing.done()
            if current_time - kept_stream.wrote >= SECOND * 0.9 and not waiting:
                kept_stream.wrote = current_time
                kept_stream.showing = asyncio.get_running_loop().create_task(
                    _send_sign(kept_stream)
                )
        self._clock = None
        if self._beats:
            self._clock = asyncio.get_running_loop().call_later(SECOND, self._show_signs)


async def _send_sign(kept_stream: KeptStream) -> None:
    with suppress(OSError):  # the client is gone, as whoever writes to it will find out
        await kept_stream.show()


KEEP_ALIVE = KeepAlive()
"""Of this process."""
