"""Lines of a chat where no prompt can stay on the screen: a dumb terminal, a pipe, a file."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import DummyOutput

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
    """A terminal that only takes characters: one prompt after the other.

    prompt-toolkit writes there the question and each key, also of what is secret, and not what the
    answer begins with.
    """

    def __init__(self, history: History) -> None:
        self._session: PromptSession[str] = PromptSession(history=history)
        self._session.default_buffer.on_text_changed += self._forget_warning
        self._is_warned = False
        """The last key was a Ctrl-C."""
        self._held: list[str] = []
        """Lines that were typed before a question: each is brought back, to be sent or not."""

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
                begun = self._held.pop(0) if self._held else ""
                line = await self._session.prompt_async(f"{PROMPT}{begun}", default=begun)
                if line := line.strip():
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
        """Ask the user, and hide the answer if it is `secret`; what was typed before is held.

        Raises EOFError at Ctrl-D and Esc; Ctrl-C stops what asks.
        """
        self._held += take_early_lines(self._session.app.input)
        shown_text = f"{text}{begun}"
        if secret:
            sys.stdout.write(shown_text)
            sys.stdout.flush()
        session: PromptSession[str] = PromptSession(
            key_bindings=bind_escape(), output=DummyOutput() if secret else None
        )
        try:
            return await session.prompt_async("" if secret else shown_text, default=begun)
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None
        finally:
            sys.stdout.write("\n" * secret)


def take_early_lines(keyboard: Input) -> list[str]:
    """Take the lines that were typed and not read yet, the last of them maybe not ended."""
    with keyboard.raw_mode():  # else a line that is not ended stays with the terminal
        keys = [*get_typeahead(keyboard), *keyboard.read_keys()]
    text = "".join(key.data for key in keys if not key.data.startswith("\x1b"))
    printable_lines = ["".join(filter(str.isprintable, line)) for line in text.splitlines()]
    return [line.strip() for line in printable_lines if line.strip()]


def bind_escape() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add(Keys.Escape, eager=True)
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(exception=EOFError())

    return bindings
