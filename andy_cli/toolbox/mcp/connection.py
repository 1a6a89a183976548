"""One MCP server: started or reached, asked for its tools, called.

The connection lives in a task of its own, which starts it, keeps it and ends it; calls come from
other tasks. What becomes of it is its `state`, and `changed` is called whenever its tools may be
others than before. A server at an address that goes away keeps its tools: their next call connects
anew.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.mcp.servers import McpServer, ServerTool, log_of
from andy_cli.toolbox.terminal.processes import tell_marked

MISSING = "it needs the MCP client: pip install 'andy-cli[mcp]'"
NO_PROGRAM = "there is no program"
"""The beginning of a state: the command of the server does not exist."""


NOTICE = 0.5
"""Seconds in which a server that has ended is seen to have."""


class SessionLike(Protocol):
    """The part of a session that is used here, before the SDK is imported."""

    async def tools(self) -> tuple[ServerTool, ...]: ...

    async def call(self, name: str, arguments: Mapping[str, object]) -> tuple[object, bool]: ...


MAX_QUOTED = 200
"""Characters of a line that a server wrote."""
MAX_LOG_END = 4096
"""Bytes of a log in which its last line is looked for."""
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
GRACE_PERIOD = 0.2
"""Seconds that a program has to end by itself, and then after each signal."""


def _describe_failure(data: object) -> str:
    """Describe a failure of which the server wrote no text."""
    return f"It failed: {json.dumps(data, default=str)}." if data else "It failed; no reason came."


class McpConnection:
    def __init__(self, server: McpServer, changed: Callable[["McpConnection"], None]) -> None:
        self.server = server
        self.tools: tuple[ServerTool, ...] = ()
        self.state = "starting"
        """starting, ready, or why not."""
        self._changed = changed
        self._session: SessionLike | None = None
        self._list_again = asyncio.Event()
        self._settled = asyncio.Event()
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._mark = secrets.token_hex(8)
        self._returning = asyncio.Lock()
        self._is_closed = False
        self._unreadable = ""
        """The first line that the server wrote and that is no message of the protocol."""

    @property
    def ready(self) -> bool:
        return self._session is not None

    def start(self) -> None:
        if self.server.fault:
            self.state = self.server.fault
            self._settled.set()
        else:
            self._task = asyncio.create_task(self._live())

    async def wait_until_settled(self) -> None:
        """It is ready, or it is known why not."""
        await self._settled.wait()

    async def close(self) -> None:
        """End it: a program that does not go by itself is made to, soon."""
        self._is_closed, self.tools = True, ()
        if self._task is None:
            return
        self._task.cancel()
        for number in (signal.SIGTERM, KILL):
            finished, _ = await asyncio.wait([self._task], timeout=GRACE_PERIOD)
            if finished or not tell_marked(self._mark, number):
                break
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def call(self, name: str, arguments: Mapping[str, object]) -> object:
        """Call the tool; it is sent once, whatever happens. Raises ToolError."""
        if self._session is None and self.tools:
            await self._connect_anew(name)
        session = self._session
        if session is None:
            raise ToolError(f"The MCP server `{self.server.name}` is not there: {self.state}.")
        try:
            data, failed = await session.call(name, arguments)
        except ToolTimeout:
            self._list_again.set()
            raise
        except Exception as error:
            # The SDK raises what its transport raises, and that may be anything.
            raise await self._explain_error(error) from error
        if failed:
            raise ToolError(data if isinstance(data, str) and data else _describe_failure(data))
        return data

    async def _connect_anew(self, name: str) -> None:
        """Reach a server again that went away. Raises ToolError where its tool is another now."""
        asked_for = self._find_tool(name)
        async with self._returning:
            if self._session is None:
                self._over.clear()
                self._settled.clear()
                self._task = asyncio.create_task(self._live())
                await self._settled.wait()
        if self._find_tool(name) != asked_for:
            raise ToolError(
                f"The MCP server `{self.server.name}` came back, and {name} is not what it was.",
                "Nothing was sent to it: look at its tools again.",
            )

    def _find_tool(self, name: str) -> ServerTool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    async def _explain_error(self, error: Exception) -> ToolError:
        # Asking for its tools again shows whether it is still there.
        self._list_again.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), NOTICE)
        if self._session is None:
            name = f"The MCP server `{self.server.name}`"
            return ToolError(
                f"{name} ended during the call: it may have been done.", may_be_done=True
            )
        is_unreadable = bool(explain_unreadable(error))
        done = " The call may have been done." if is_unreadable else ""
        may_be_done = is_unreadable or (isinstance(error, ToolError) and error.may_be_done)
        return ToolError(
            f"{self.server.name}: {find_reason(error)}.{done}", may_be_done=may_be_done
        )

    async def _live(self) -> None:
        """From the start to the end; whatever goes wrong is kept as the state."""
        try:
            await self._connect_server()
        except TimeoutError:
            seconds = f"{self.server.timeout:g} s"
            self.state = f"it was not ready within {seconds}{self._quote_written()}"
        except ImportError:
            self.state = MISSING
        except Exception as error:
            # As above; groups of exceptions included.
            self.state = f"{find_reason(error)}{self._quote_written()}"
        finally:
            self._session = None
            if self._is_closed or not self.server.url:
                self.tools = ()
            self._over.set()
            self._changed(self)
            self._settled.set()

    async def _connect_server(self) -> None:
        self._unreadable = ""
        async with asyncio.timeout(self.server.timeout) as starting:
            session_module = await asyncio.to_thread(import_session)
            async with session_module(self.server, self._handle_message, self._mark) as session:
                self.tools = await session.tools()
                starting.reschedule(None)
                self._session, self.state = session, "ready"
                self._changed(self)
                self._settled.set()
                while True:
                    await self._list_again.wait()
                    self._list_again.clear()
                    self.tools = await session.tools()
                    self._changed(self)

    async def _handle_message(self, message: object) -> None:
        if isinstance(message, Exception):
            self._unreadable = self._unreadable or find_unreadable_line(message)
        elif "tools/list_changed" in str(getattr(message, "method", "")):
            self._list_again.set()

    def _quote_written(self) -> str:
        """Quote what a program wrote that is no message of the protocol, and the end of its log."""
        quoted = f"; it writes {self._unreadable!r}, not MCP" if self._unreadable else ""
        log = log_of(self.server)
        last_line = find_last_line(log) if self.server.command else ""
        if not last_line:
            return quoted
        shown_line = redact_text(one_line(last_line), secrets_of(self.server.env))[:MAX_QUOTED]
        return f"{quoted}; the last it wrote is {shown_line!r} (all of it is in {log})"


def find_last_line(log: Path) -> str:
    """The last line of a log with something in it; nothing where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_LOG_END))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line.strip()), "").strip()


Opened = Callable[
    [McpServer, Callable[[object], Awaitable[None]], str],
    contextlib.AbstractAsyncContextManager[SessionLike],
]


def import_session() -> Opened:
    # The SDK takes half a second, in a thread so that nothing else waits for it.
    from andy_cli.toolbox.mcp.session import open_session

    return open_session


def first_cause(error: BaseException) -> BaseException:
    """The first thing that went wrong, out of a group too."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def find_reason(error: BaseException) -> str:
    """The first thing that went wrong, in words."""
    error = first_cause(error)
    if isinstance(error, FileNotFoundError):
        return f"{NO_PROGRAM} {error.filename!r}"
    words = explain_unreadable(error) or one_line(str(error))[:300] or type(error).__name__
    return words.removesuffix(".")


def find_unreadable_line(error: Exception) -> str:
    """The line that could not be read as a message, shortened; empty where it was another fault."""
    from pydantic_core import ValidationError  # 2 ms, and few servers write so

    line = error.errors()[0]["input"] if isinstance(error, ValidationError) else ""
    return redact_text(one_line(line))[:100] if isinstance(line, str) else ""


def explain_unreadable(error: BaseException) -> str:
    """Name the first thing of an answer that is not as the protocol has it; nothing if that is not
    what went wrong.
    """
    from pydantic_core import ValidationError  # 2 ms, and few servers answer so

    if not isinstance(error, ValidationError):
        return ""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return one_line(f"it answered what the protocol has not: {place} ({first['msg']})")[:300]
