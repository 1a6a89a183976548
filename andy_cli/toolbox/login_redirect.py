"""The page that the browser comes back to after a login (RFC 8252): on this machine, while it
lasts.

Anything on the machine may ask for it, other web pages too. What does not answer the question that
was asked is turned away, and the waiting goes on.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from andy_cli.errors import ToolError

Answer = TypeVar("Answer")

ReadAnswer = Callable[[str], Answer | None]
"""Reads the path and query that the browser was sent back to; None if that answers another
question. Raises ToolError for a no."""

TIMEOUT = 10.0
"""Seconds for a browser to say what it wants."""

MAX_BYTES = 16 * 2**10
"""Bytes of a request line and its headers."""

PAGE = """<!doctype html><meta charset="utf-8"><title>andy</title><p>{}</p>"""
DONE = "andy has what it needs. This page can be closed."
REFUSED = "andy was not given leave. This page can be closed."
FOREIGN = "This is no answer to what andy asked."


class LoginRedirect(Generic[Answer]):
    """Waits for one answer. The browser is to be sent back to `address`."""

    def __init__(self) -> None:
        self.address = ""
        self._path = "/"
        self._read_answer: ReadAnswer[Answer] = lambda path: None
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def listen(self, path: str = "/") -> AsyncIterator[None]:
        """Listen on a free port of this machine's own address, which nobody else can reach."""
        self._path = path
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_BYTES)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{path}"
        try:
            yield
        finally:
            server.close()

    def expect(self, read_answer: ReadAnswer[Answer]) -> None:
        """Take from now on what this reads; before that everything is turned away."""
        self._read_answer = read_answer

    async def wait(self, seconds: float) -> Answer:
        """Wait for the answer. Raises ToolError for a no, TimeoutError when the time is over."""
        return await asyncio.wait_for(self._answer, seconds)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
                status, message = self._page(head.decode("latin-1").split("\r\n")[0])
                body = PAGE.format(message).encode()
                lines = (
                    f"HTTP/1.1 {status}",
                    "Content-Type: text/html; charset=utf-8",
                    f"Content-Length: {len(body)}",
                    "Referrer-Policy: no-referrer",
                    "Cache-Control: no-store",
                    "Connection: close",
                )
                writer.write("\r\n".join((*lines, "", "")).encode() + body)
                await writer.drain()
        writer.close()

    def _page(self, line: str) -> tuple[str, str]:
        """Answer a request, by its first line."""
        method, _, target_and_version = line.partition(" ")
        path = target_and_version.partition(" ")[0]
        if method != "GET" or not path.startswith(f"{self._path}?"):
            return "404 Not Found", FOREIGN
        try:
            answer = self._read_answer(path)
        except ToolError as refused:
            if not self._answer.done():
                self._answer.set_exception(refused)
            return "200 OK", REFUSED
        if answer is None:
            return "400 Bad Request", FOREIGN
        if not self._answer.done():
            self._answer.set_result(answer)
        return "200 OK", DONE
