"""Work in a thread that can be stopped: by whoever waits for it, and by its own limit.

async def search(...):
    return await in_thread(lambda work: looked_through(files, work), seconds=30)

for file in files:
    work.go_on()        # raises ToolError when it is to stop, ToolTimeout when its time is up
"""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.toolbox.daemon_thread import run_in_daemon_thread

Result = TypeVar("Result")

GRACE = 0.3
"""Seconds a worker that was told to stop is waited for."""


class Work:
    """The time limit and stop sign of a worker, which it asks between two pieces of its work."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def over(self) -> bool:
        """True once its time is up."""
        return time.monotonic() >= self._end

    def go_on(self) -> None:
        """Raises ToolError if it was stopped, ToolTimeout if its time is up."""
        if self.is_stopped:
            raise ToolError("It was stopped.")
        if self.over:
            raise ToolTimeout(
                f"It was stopped after {self.seconds:g} s.", "Ask for less at a time."
            )

    def wait(self, seconds: float) -> None:
        """So long, or until it is stopped."""
        self._stopped.wait(seconds)


async def in_thread(
    function: Callable[[Work], Result], seconds: float, grace: float = GRACE
) -> Result:
    """Run `function` in a thread; return its result.

    Cancelled, it is stopped and waited for `grace`.
    """
    work = Work(seconds)
    task = asyncio.create_task(run_in_daemon_thread(lambda: function(work)))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        work.stop()
        task.add_done_callback(_looked_at)
        await asyncio.wait([task], timeout=grace)
        raise


def _looked_at(task: "asyncio.Task[Result]") -> None:
    """Nobody waits for how it ended."""
    if not task.cancelled():
        task.exception()
