"""Run work that cannot be stopped in a thread that the end of the program does not wait for.

Not `asyncio.to_thread`, nor an executor: Python waits for their threads when it ends, however long
a look-up of a name, a page without end or somebody's tool takes.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TypeVar

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
