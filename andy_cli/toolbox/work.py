"""Work in a thread that can be stopped: by whoever waits for it, and by its own limit.

async def search(...):
    return await in_thread(lambda work: looked_through(files, work), seconds=30)

for file in files:
    work.go_on()        # raises ToolError when it is to stop, ToolTimeout when its time is up

Work that cannot be stopped runs in a thread that the end of the program does not wait for. Not by
`asyncio.to_thread`, nor an executor: Python waits for their threads when it ends, however long a
look-up of a name, a page without end or somebody's tool takes.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from andy_cli.errors import ToolError, ToolTimeout

Result = TypeVar("Result")


async def run_in_daemon_thread(function: Callable[[], Result]) -> Result:
    """Return or raise what the work does. Cancelled, it is left to itself."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = copy_context()

    def run() -> None:
        try:
            result = context.run(function)
        except Exception as error:
            # Whatever it is, it belongs to who waits.
            deliver(partial(future.set_exception, error))
        else:
            deliver(partial(future.set_result, result))

    def deliver(outcome: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(deliver_once, outcome)

    def deliver_once(outcome: Callable[[], None]) -> None:
        if not future.done():
            outcome()

    threading.Thread(target=run, daemon=True).start()
    return await future


async def run_at_most(seconds: float, function: Callable[[], Result]) -> Result:
    """Return or raise what the work does. Raises TimeoutError, and leaves it to itself then."""
    async with asyncio.timeout(seconds):
        return await run_in_daemon_thread(function)


GoOn = Callable[[], None]
"""Called between two pieces of work; may raise."""


def go_on_always() -> None:
    """Goes on."""


GRACE_PERIOD = 0.3
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
    function: Callable[[Work], Result], seconds: float, grace: float = GRACE_PERIOD
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
