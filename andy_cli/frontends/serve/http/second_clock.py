"""One timer that looks each second at all that waits: one for each costs a tenth of a request."""

import asyncio
from collections.abc import Callable
from time import monotonic

SECOND = 1.0


class SecondClock:
    def __init__(self) -> None:
        self._looks: set[Callable[[float], None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, look: Callable[[float], None]) -> None:
        """Call it once a second with the time, until `end`."""
        self._looks.add(look)
        if self._timer is None:
            self._set_timer()

    def end(self, look: Callable[[float], None]) -> None:
        self._looks.discard(look)

    def _set_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SECOND, self._look_at_all)

    def _look_at_all(self) -> None:
        current_time = monotonic()
        for look in self._looks:
            look(current_time)
        self._timer = None
        if self._looks:
            self._set_timer()


CLOCK = SecondClock()
