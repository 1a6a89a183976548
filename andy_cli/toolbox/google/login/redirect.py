"""Where the browser comes back to: a page on this machine, for as long as the login takes.

Anything on the machine may ask for it, other web pages too. What does not carry the state that was
sent out is turned away, and the waiting goes on.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from andy_cli.errors import ToolError
from andy_cli.toolbox.google.login.consent import ConsentQuestion, code_in

PATIENCE = 10.0
"""Seconds for a browser to say what it wants."""

LONGEST = 16 * 2**10
"""Bytes of a request line and its headers."""

PAGE = """<!doctype html><meta charset="utf-8"><title>andy</title><p>{}</p>"""
DONE = "andy has what it needs. This page can be closed."
REFUSED = "andy was not given leave. This page can be closed."
FOREIGN = "This is no answer to what andy asked."


class Redirect:
    """Waits for one answer. `address` is what Google sends the browser to."""

    def __init__(self) -> None:
        self.address = ""
        self._question: ConsentQuestion | None = None
        self._code: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def answer(self, question: ConsentQuestion, seconds: float) -> str:
        """The code. Raises ToolError for a no, and when the time is over."""
        self._question = question
        try:
            return await asyncio.wait_for(self._code, seconds)
        except TimeoutError as error:
            raise ToolError(
                f"Nobody said yes in the browser within {seconds:g} s. Run `andy google login` "
                "again; google.login_timeout gives more time."
            ) from error

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                status, said = self._page(head.decode("latin-1").split("\r\n")[0])
                body = PAGE.format(said).encode()
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
        method, _, rest = line.partition(" ")
        path = rest.partition(" ")[0]
        if method != "GET" or self._question is None or not path.startswith("/?"):
            return "404 Not Found", FOREIGN
        try:
            code = code_in(self._question, path)
        except ToolError as refused:
            if not self._code.done():
                self._code.set_exception(refused)
            return "200 OK", REFUSED
        if code is None:
            return "400 Bad Request", FOREIGN
        if not self._code.done():
            self._code.set_result(code)
        return "200 OK", DONE


@asynccontextmanager
async def listen_for_redirect() -> AsyncIterator[Redirect]:
    """On a free port of this machine's own address, which nobody else can reach."""
    redirect = Redirect()
    server = await asyncio.start_server(redirect.serve, "127.0.0.1", 0, limit=LONGEST)
    redirect.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield redirect
    finally:
        server.close()
