"""Work that cannot be stopped, in a thread of its own that nobody waits for longer than agreed."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

Result = TypeVar("Result")


async def apart(work: Callable[[], Result], seconds: float) -> Result:
    """What the work returns or raises. Raises TimeoutError, and leaves it to itself then.

    Not `asyncio.to_thread`: the end of the program would wait for its threads, however long a
    look-up of a name or a page without end takes.
    """
    crew = ThreadPoolExecutor(1)
    try:
        async with asyncio.timeout(seconds):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(crew, copy_context().run, work)
    finally:
        crew.shutdown(wait=False)
