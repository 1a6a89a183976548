"""Text that the code of a tool prints: it is no part of an answer, and goes to standard error.

It stands by itself, as the streams of a process are prepared before anything else is loaded.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_tool: ContextVar[bool] = ContextVar("in_tool", default=False)
"""Of a thread or a task: others write answers meanwhile."""


@contextmanager
def printing_aside() -> Iterator[None]:
    """Send what is printed inside to standard error."""
    token = _in_tool.set(True)
    try:
        yield
    finally:
        _in_tool.reset(token)


def is_printing_aside() -> bool:
    return _in_tool.get()
