"""The keys that are pressed while a turn goes on, and the questions that a turn asks.

Ctrl-C and Esc stop the turn; everything else is kept for the next prompt and is not shown until
then, because an echo would land in the middle of the answer.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.keys import Keys

ESCAPE = 0.1
"""Seconds after which an escape character is the Esc key and not the start of another key."""


SENDS = (Keys.ControlM, Keys.ControlJ)


def esc_is_no() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add(Keys.Escape, eager=True)
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(exception=EOFError())

    return bindings


class Keyboard:
    def __init__(self, source: Input) -> None:
        self._source = source
        self._ahead: list[KeyPress] = []
        self._stop: Callable[[], object] = lambda: None
        self._escape: asyncio.TimerHandle | None = None

    @contextlib.contextmanager
    def listening(self, stop: Callable[[], object]) -> Iterator[None]:
        """Call `stop` at each Ctrl-C, Esc or SIGINT while this lasts."""
        loop = asyncio.get_running_loop()
        self._stop = stop
        with contextlib.suppress(NotImplementedError):  # Windows has the key alone
            loop.add_signal_handler(signal.SIGINT, stop)
        try:
            with self._source.raw_mode(), self._source.attach(self._read):
                yield
                self._take(self._source.read_keys())
        finally:
            self._forget_escape()
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)
            store_typeahead(self._source, self._ahead)
            self._ahead = []

    async def question(self, text: str, begun: str = "") -> str:
        """What the user answers, typed after the question was shown; `begun` is to be edited.

        What was typed before stays in the next prompt, and is not sent from there by itself.
        Raises EOFError at Ctrl-D and Esc, and KeyboardInterrupt at Ctrl-C.
        """
        self._forget_escape()
        self._take(self._source.read_keys())
        ahead, self._ahead = [*get_typeahead(self._source), *self._ahead], []
        session: PromptSession[str] = PromptSession(input=self._source, key_bindings=esc_is_no())
        try:
            return await session.prompt_async(text, default=begun)
        finally:
            self._ahead = [each for each in ahead if each.key not in SENDS]

    def _read(self) -> None:
        self._forget_escape()
        keys = self._source.read_keys()
        if keys:
            self._take(keys)
        else:
            # An escape character alone: the key if nothing follows it at once.
            loop = asyncio.get_running_loop()
            self._escape = loop.call_later(ESCAPE, self._take_escape)

    def _forget_escape(self) -> None:
        if self._escape is not None:
            self._escape.cancel()
            self._escape = None

    def _take_escape(self) -> None:
        pressed = self._source.flush_keys()
        if [each.key for each in pressed] == [Keys.Escape]:
            self._stop()
        else:
            self._take(pressed)

    def _take(self, keys: list[KeyPress]) -> None:
        for each in keys:
            if each.key == Keys.ControlC:
                self._stop()
            elif each.key != Keys.CPRResponse:
                self._ahead.append(each)
