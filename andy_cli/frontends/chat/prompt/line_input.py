"""Lines of a chat where no prompt can stay on the screen: a dumb terminal, a pipe, a file."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from andy_cli.frontends.chat.prompt.live_prompt import LEAVE_HINT
from andy_cli.frontends.chat.prompt.prompt_layout import PROMPT


class PipedInput:
    """Standard input, line by line; nobody is there to answer questions."""

    @contextlib.asynccontextmanager
    async def keep_open(self) -> AsyncIterator[None]:
        yield

    async def read_line(self) -> str:
        """The next line with something on it. Raises EOFError."""
        line = "\n"
        while line and not line.strip():
            line = await asyncio.to_thread(sys.stdin.readline) if sys.stdin else ""
        if not line:
            raise EOFError
        return line.strip()

    @contextlib.contextmanager
    def working_on(self, line: str, stop_work: Callable[[], object]) -> Iterator[None]:
        """Ctrl-C ends the whole: there is no chat to go back to."""
        yield

    async def ask_user(self, text: str, begun: str = "", secret: bool = False) -> str:
        """A no, from the end of the input."""
        raise EOFError


class TypedInput:
    """A terminal that only takes characters: one prompt after the other."""

    def __init__(self, history: History) -> None:
        self._session: PromptSession[str] = PromptSession(history=history)
        self._session.default_buffer.on_text_changed += self._forget_warning
        self._is_warned = False
        """The last key was a Ctrl-C."""

    def _forget_warning(self, _: object) -> None:
        self._is_warned = False

    @contextlib.asynccontextmanager
    async def keep_open(self) -> AsyncIterator[None]:
        yield

    async def read_line(self) -> str:
        """The next line with something on it. Raises EOFError where the user leaves."""
        self._is_warned = False
        while True:
            try:
                if line := (await self._session.prompt_async(PROMPT)).strip():
                    return line
                self._is_warned = False
            except KeyboardInterrupt:
                if self._is_warned:
                    raise EOFError from None
                self._is_warned = True
                sys.stdout.write(LEAVE_HINT)

    @contextlib.contextmanager
    def working_on(self, line: str, stop_work: Callable[[], object]) -> Iterator[None]:
        """SIGINT, which Ctrl-C sends here, calls `stop_work` while this lasts."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, stop_work)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def ask_user(self, text: str, begun: str = "", secret: bool = False) -> str:
        """Ask the user, and hide the answer if it is `secret`.

        Raises EOFError at Ctrl-D and Esc; Ctrl-C stops what asks.
        """
        session: PromptSession[str] = PromptSession(key_bindings=bind_escape())
        try:
            return await session.prompt_async(text, default=begun, is_password=secret)
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None


def bind_escape() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add(Keys.Escape, eager=True)
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(exception=EOFError())

    return bindings
