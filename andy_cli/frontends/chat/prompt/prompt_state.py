"""The state of the prompt: what is typed, queued, asked and being written.

LivePrompt and the keys change it; the layout shows it. Nothing here knows of a screen.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import DummyHistory, History

PromptLine = StyleAndTextTuples
STEP = 3
"""Rows by which the prompt moves down."""
QUEUED_EXIT = "exit"
"""Ctrl-D as it is shown while it waits for the end of a turn."""


class LiveRows:
    """The rows for what is being written, the last of them empty.

    Each change of their number moves the prompt below them. So they are taken a few at once, and
    given back all at once, when a turn ends or something is asked.
    """

    def __init__(self) -> None:
        self._lines: Sequence[PromptLine] = ()
        self.height = 0
        """Rows that are taken; at least as many as there are lines."""

    def show(self, lines: Sequence[PromptLine], available_rows: int) -> None:
        """Show these lines, where there is `available_rows` for so many rows."""
        self._lines = lines
        # A row stays empty between what is being written and what is typed.
        needed = len(lines) + (len(lines) > 0)
        if self.height < needed:
            self.height = needed + (STEP - 1 if len(lines) > 1 else 0)
        # More may be typed by now, or the terminal be lower.
        self.height = min(self.height, max(needed, available_rows + STEP))

    def drop_first(self, rows: int) -> None:
        """Give back the first rows, which were printed, together with their lines."""
        self._lines = self._lines[rows:]
        self.height -= rows

    def clear(self) -> None:
        """Give back all rows."""
        self._lines, self.height = (), 0

    @property
    def lines(self) -> list[PromptLine]:
        """One for each row."""
        return [*self._lines, *([] for _ in range(self.height - len(self._lines)))]


class SentLines:
    """Lines that were sent and not taken yet, in their order; None is the end of the chat."""

    def __init__(self) -> None:
        self.lines: list[str | None] = []
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self.lines)

    def send(self, line: str | None) -> None:
        self.lines.append(line)
        self._arrived.set()

    async def wait(self) -> None:
        """Return as soon as there is something to take."""
        while not self.lines:
            self._arrived.clear()
            await self._arrived.wait()

    def take(self) -> str | None:
        return self.lines.pop(0)

    def take_back(self) -> list[str]:
        """Remove all lines, for these to be edited again; an end of the chat stays."""
        lines = [line for line in self.lines if line is not None]
        self.lines = [line for line in self.lines if line is None]
        return lines

    def clear(self) -> None:
        self.lines = []


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for its answer."""

    text: str
    is_secret: bool
    """The answer is shown as stars, and nowhere afterwards."""
    answer: asyncio.Future[str]

    def accept(self, text: str) -> None:
        if not self.answer.done():
            self.answer.set_result(text)

    def refuse(self) -> None:
        """Let who asked have an EOFError."""
        if not self.answer.done():
            self.answer.set_exception(EOFError())


class PromptState:
    """All that the prompt holds between two drawings.

    Two numbers follow what is above the line that is typed: `rows_above` says how many rows are
    wanted there now, `drawn_rows` how many were drawn last. A prompt that moves up is erased first,
    as the rows that it leaves would stay below its status line; nothing is erased to move it down.
    """

    def __init__(self, history: History, completer: Completer) -> None:
        self.typed = Buffer(
            history=history, completer=completer, tempfile_suffix=".md", multiline=False
        )
        """The line that is typed, to be sent."""
        self.answer = Buffer(history=DummyHistory(), multiline=False)
        """The line that is typed as the answer to the question."""
        self.sent = SentLines()
        self.held: list[str] = []
        """Lines that were taken back and are not in the prompt yet, each to be sent by itself."""
        self.live = LiveRows()
        self.ask_user: OpenQuestion | None = None
        self.stop: Callable[[], object] | None = None
        """Stops the turn that runs; None between turns."""
        self.drawn_rows = 0

    @property
    def rows_above(self) -> int:
        """Rows of what is being written, queued and held."""
        return self.live.height + len(self.waiting_rows)

    @property
    def waiting_rows(self) -> list[str]:
        """The lines that are queued or held, each with what becomes of it.

        Those that are held are no part of a question, above whose answer they would stand.
        """
        queued = [QUEUED_EXIT if line is None else line for line in self.sent.lines]
        held = [] if self.is_asking else self.held
        labelled = [("queued", line) for line in queued] + [("not sent", line) for line in held]
        return [f"{label}: {' '.join(line.split())}" for label, line in labelled]

    @property
    def is_working(self) -> bool:
        return self.stop is not None

    @property
    def is_asking(self) -> bool:
        return self.ask_user is not None

    def unqueue(self) -> None:
        """Put what was queued back into the prompt: its first line, the others are held.

        They are not joined: behind `!` or `/` another line would be a part of that command.
        """
        if lines := self.sent.take_back():
            typed = [self.typed.text] if self.typed.text else []
            self.held = [*lines, *typed, *self.held]
            self.typed.reset()
            self.bring_back()

    def bring_back(self) -> None:
        """Put the next line that is held into the prompt, if that is empty."""
        if self.held and not self.typed.text:
            self.typed.document = Document(self.held.pop(0))
