"""A prompt that stays at the end of the screen while a turn runs above it.

    what was printed            scrolls away, and is never drawn again
    what is being written       the end of the answer, redrawn while it grows
      queued: a line            sent with Enter while a turn runs, waiting for its end
    > what is typed             or a question and what is answered
    model - mode                the status line

prompt-toolkit reads the keys and draws the last four; all that is printed meanwhile is written
above them. No alternate screen, no mouse: the terminal scrolls, selects and copies as ever.
"""

import asyncio
import contextlib
import os
import re
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions, has_focus, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import DummyHistory, History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    AfterInput,
    ConditionalProcessor,
    HighlightIncrementalSearchProcessor,
    HighlightSelectionProcessor,
    PasswordProcessor,
)
from prompt_toolkit.layout.screen import Char, Screen
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.search import stop_search
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth, suspend_to_background_supported
from prompt_toolkit.widgets.toolbars import SearchToolbar

from andy_cli.frontends.chat.terminal_output import AboveWriter, StepwiseOutput, open_output

PROMPT, CONTINUED = "> ", "  "
MEANWHILE, IN_SHORT = "Enter queues, Esc stops", "Esc stops"
"""What stands in the empty prompt while a turn runs, and where there is no room for that."""
LEAVE = "exit"
"""How Ctrl-D is shown while it waits for the end of a turn."""
QUEUE_SHOWN = 3
"""Queued lines that are shown."""
ANSWER = 8
"""Columns that an answer needs behind its question."""
MENU = 8
"""Rows of the menu of completions."""
TWICE = 1.0
"""Seconds within which a second Ctrl-C leaves."""
LEAVES = "Ctrl-C again or Ctrl-D leaves.\n"
ESCAPE = 0.1
"""Seconds after which an escape character is the Esc key and not the start of another key."""
STEP = 3
"""Rows by which the prompt moves down."""
MARGIN = 2
"""Rows of the screen that are left free above what is being written."""
JOINING = re.compile("[\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
"""Halves of flags, and colours of skin; what has no width of its own is in the cell it joins."""
QUIET = "class:quiet"
LOOK = Style.from_dict({"quiet": "ansibrightblack", "completion-menu": "noreverse"})

Line = StyleAndTextTuples


class StayingRenderer(Renderer):
    """Draws the end of the screen, whose first rows may be left where they are."""

    def render(self, app: Application[object], layout: Layout, is_done: bool = False) -> None:
        before = self.last_rendered_screen
        if before is not None and any(map(is_joined, before.data_buffer.values())):
            # Where the cursor is in such a row is not known.
            self.output.write("\r")
            self._cursor_pos = Point(0, self._cursor_pos.y)
        super().render(app, layout, is_done)
        if (screen := self.last_rendered_screen) is not None and not is_done:
            self._draw_joined(screen, before, app.color_depth)

    def _draw_joined(self, screen: Screen, before: Screen | None, depth: ColorDepth) -> None:
        """Draw rows with joined characters from their start, each behind the one before it.

        Terminals do not agree how wide these are, so that no column behind them is known.
        """
        rows = screen.data_buffer
        joined = [row for row in sorted(rows) if is_joined(rows[row])]
        if not joined:
            return
        x, y = self._cursor_pos
        at = y
        for row in joined:
            if before is not None and rows[row] == before.data_buffer[row]:
                continue
            self._go_to_row(row - at)
            self._write_cells(rows[row], last_column(rows[row]) + 1, depth)
            self.output.erase_end_of_line()
            at = row
        self._go_to_row(y - at)
        if y in joined:
            self._write_cells(rows[y], x, depth)
        else:
            self.output.cursor_forward(x)

    def _go_to_row(self, rows: int) -> None:
        """To the start of the row that is so many below this one."""
        self.output.write("\r")
        self.output.cursor_down(max(0, rows))
        self.output.cursor_up(max(0, -rows))

    def _write_cells(self, row: Mapping[int, Char], end: int, depth: ColorDepth) -> None:
        at = 0
        while at < end:
            cell = row[at]
            assert self._attrs_for_style is not None
            self.output.set_attributes(self._attrs_for_style[cell.style], depth)
            self.output.write(cell.char)
            at += cell.width or 1
        self.output.reset_attributes()

    def leave(self, rows: int) -> None:
        """Let so many rows at the top be what was printed: they are never drawn again."""
        if (screen := self.last_rendered_screen) is None:
            return
        for row in sorted(screen.data_buffer):
            cells = screen.data_buffer.pop(row)
            if row >= rows:
                screen.data_buffer[row - rows] = cells
        screen.height -= rows
        self._cursor_pos = Point(self._cursor_pos.x, self._cursor_pos.y - rows)

    def broken_rows(self, columns: int) -> int:
        """Rows above the cursor that a terminal adds when it is made so narrow."""
        if (screen := self.last_rendered_screen) is None:
            return 0
        rows = [screen.data_buffer[row] for row in range(self._cursor_pos.y + 1)]
        ends = [last_column(row) for row in rows]
        # The blanks before the cursor were never written: they break no line.
        ends[-1] = min(ends[-1], self._cursor_pos.x)
        return sum(end // columns for end in ends)


def last_column(row: Mapping[int, Char]) -> int:
    """Where its last character is; blanks behind it are never written."""
    return max((at for at, cell in row.items() if cell.char != " "), default=0)


def is_joined(row: Mapping[int, Char]) -> bool:
    """Whether there are characters in it that a terminal may join into one."""
    return any(
        len(cell.char) > 1 or (cell.char > "\U0001f1e5" and JOINING.match(cell.char))
        for cell in row.values()
    )


class StayingApplication(Application[None]):
    """Draws when it is told to, also at once; after a resize it erases what was really drawn."""

    drawing = True
    """False while nothing may be drawn: the terminal is only ever added to."""

    def __init__(self, layout: Layout, bindings: KeyBindings, output: Output) -> None:
        super().__init__(
            layout=layout,
            key_bindings=bindings,
            style=LOOK,
            include_default_pygments_style=False,
            erase_when_done=True,
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
            output=output,
        )
        self.ttimeoutlen = self.timeoutlen = ESCAPE
        self.own_renderer = StayingRenderer(self.renderer.style, output)
        self.renderer = self.own_renderer

    def draw(self) -> None:
        """Bring the end of the screen up to date."""
        self._redraw()

    def _redraw(self, render_as_done: bool = False) -> None:
        if self.drawing or render_as_done:
            super()._redraw(render_as_done)

    def _on_resize(self) -> None:
        if self.drawing:
            broken = self.own_renderer.broken_rows(self.output.get_size().columns)
            self.output.cursor_up(broken)
        super()._on_resize()


class LivePrompt:
    """The keyboard and the screen of a chat."""

    def __init__(self, history: History, completer: Completer, plain: bool = False) -> None:
        """`plain` shows the prompt between turns alone: the screen is only ever added to."""
        self._plain = plain
        self.status: Callable[[], str] = lambda: ""
        """The status line."""
        self.started: Callable[[], object] = lambda: None
        """Called once, when the prompt is on the screen for the first time."""
        self.next_mode: Callable[[], object] = lambda: None
        """Shift-Tab."""
        self.show_folded: Callable[[], object] = lambda: None
        """Ctrl-O: print what was shown in part."""
        self._sent: list[str | None] = []
        """Sent and not taken yet, which are shown; None is the end."""
        self._news = asyncio.Event()
        self._live: Sequence[Line] = ()
        self._height = 0
        """Rows for what is live, some of them empty."""
        self._rows = 0
        """Of what is live and queued, when that was drawn last."""
        self._stop: Callable[[], object] | None = None
        """Stops the turn that runs; None between turns."""
        self._question = ""
        self._secret = False
        """What is answered is shown as stars, and nowhere afterwards."""
        self._answer: asyncio.Future[str] | None = None
        self._interrupted = 0.0
        self._away = False
        """Another program has the terminal."""
        self._pending = ""
        """Printed while another program has it."""
        self._buffer = Buffer(
            history=history,
            completer=completer,
            accept_handler=self._accept,
            tempfile_suffix=".md",
            multiline=False,
        )
        self._answer_buffer = Buffer(
            history=DummyHistory(), accept_handler=self._accept_answer, multiline=False
        )
        self._output = find_output()
        self._application = StayingApplication(self._layout(), self._keys(), self._output)
        self._application.before_render += self._take_early_keys
        self._application.after_render += self._painted
        self._thread = threading.get_ident()
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """The prompt is on the screen, and what is printed goes above it, while this lasts."""
        self._loop = asyncio.get_running_loop()
        running = asyncio.create_task(self._application.run_async(set_exception_handler=False))
        running.add_done_callback(self._closed)
        with self._printing_above():
            try:
                yield
            finally:
                if self._application.is_running:
                    self._application.exit()
                with contextlib.suppress(EOFError, OSError):
                    await running
                if isinstance(self._output, StepwiseOutput):
                    self._output.leave()

    async def line(self) -> str:
        """The next line that was sent, with something on it. Raises EOFError where one leaves."""
        while not self._sent:
            self._news.clear()
            await self._news.wait()
        self._raise_if_lost()
        line = self._sent.pop(0)
        if line is None:
            raise EOFError
        return line

    @contextlib.contextmanager
    def working(self, line: str, stop: Callable[[], object]) -> Iterator[None]:
        """Print the line that is worked on; queue what is sent, and let Ctrl-C, Esc and SIGINT
        call `stop` while this lasts.
        """
        self._stop = stop
        with self._step():
            if self.draws:
                self._application.renderer.erase()
            self._application.drawing = not self._plain
            shown = line.replace("\n", f"\n{CONTINUED}")
            self.print_above(f"{PROMPT}{shown}\n" if line else "")
        try:
            yield
        finally:
            self._stop, self._live, self._height = None, (), 0
            self._application.drawing = True
            self.show()

    async def question(self, text: str, begun: str = "", secret: bool = False) -> str:
        """What the user answers, typed after the question was shown; `begun` is to be edited.
        Nobody sees what is `secret`.

        What was typed before stays in the prompt, and what was queued goes back there: it was not
        meant for this. Raises EOFError at Ctrl-D and Esc; Ctrl-C stops what asks.
        """
        self._application.key_processor.feed_multiple(self._application.input.read_keys())
        self._application.key_processor.process_keys()
        self._unqueue()
        self._question, self._answer = text, asyncio.get_running_loop().create_future()
        self._secret = secret
        self._answer_buffer.document = Document(begun)
        self._application.layout.focus(self._answer_buffer)
        self._application.drawing = True
        self._live, self._height = (), 0
        self.show()
        try:
            return await self._answer
        finally:
            said = f"{self._question}{'' if secret else self._answer_buffer.text}".rstrip()
            self._question, self._answer, self._secret = "", None, False
            self._answer_buffer.reset()
            self._application.layout.focus(self._buffer)
            with self._step():
                if self.draws:
                    self._application.renderer.erase()
                self._application.drawing = not self._plain or self._stop is None
                self.print_above(f"{said}\n")

    def show_live(self, lines: Sequence[Line]) -> None:
        """Let these lines stand above the prompt, once something is drawn.

        The prompt moves down by steps, as it is drawn anew each time, and up when the turn is over.
        """
        self._live = lines
        needed = len(lines) + (len(lines) > 0)
        if self._height < needed:
            self._height = needed + (STEP - 1 if len(lines) > 1 else 0)
        # More may be typed by now, or the terminal be lower.
        self._height = min(self._height, max(needed, self.live_rows + STEP))

    def leave(self, rows: int) -> None:
        """Let the first of the live lines, which are drawn, be printed ones from now on."""
        self._live = self._live[rows:]
        self._height -= rows
        self._rows -= rows
        self._application.own_renderer.leave(rows)

    @property
    def draws(self) -> bool:
        """Whether something is drawn again; else all is only added."""
        return self._application.is_running and self._application.drawing

    @property
    def live_rows(self) -> int:
        """Rows that there are for what is being written."""
        rows = self._output.get_size().rows
        queued = min(len(self._sent), QUEUE_SHOWN + 1)
        return max(1, rows - MARGIN - STEP - 1 - self._typed_rows - queued)

    @property
    def _typed_rows(self) -> int:
        """Rows of what is typed, as far as they fit on the screen."""
        size, text = self._output.get_size(), self._buffer.text
        if len(text) > size.rows * size.columns:
            return size.rows
        lines = text.split("\n")
        return sum((len(PROMPT) + get_cwidth(line)) // size.columns + 1 for line in lines)

    def show(self) -> None:
        """Bring the end of the screen up to date."""
        rows = self._height + len(self._sent)
        with self._step():
            if rows < self._rows and self.draws:
                # What becomes shorter would leave empty rows below the status line.
                self._application.renderer.erase()
            self._rows = rows
            self._application.draw()

    def print_above(self, text: str, back: int = 0) -> None:
        """Print whole lines, in place of so many rows that were printed last.

        May be called in any thread. Raises OutputError if the terminal takes nothing any more.
        """
        if threading.get_ident() != self._thread:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self.print_above, text, back)
            return
        if self._away:
            self._pending += text
            return
        with self._step():
            if self.draws:
                self._application.renderer.erase()
            if back:
                self._output.cursor_up(back)
                self._output.erase_down()
            if isinstance(self._output, StepwiseOutput):
                self._output.write_text(text)
            else:
                self._output.write_raw(text)
            self._rows = self._height + len(self._sent)
            if self.draws:
                self._application.draw()
            else:
                self._output.flush()
        self._raise_if_lost()

    def _step(self) -> AbstractContextManager[None]:
        return self._output.step() if isinstance(self._output, StepwiseOutput) else nullcontext()

    def _raise_if_lost(self) -> None:
        if isinstance(self._output, StepwiseOutput) and self._output.lost:
            raise self._output.lost

    @contextlib.contextmanager
    def _printing_above(self) -> Iterator[None]:
        stdout, stderr = sys.stdout, sys.stderr
        writers = [
            AboveWriter(each, self.print_above, lambda: self.draws) if each.isatty() else each
            for each in (stdout, stderr)
        ]
        sys.stdout, sys.stderr = writers
        try:
            yield
        finally:
            sys.stdout, sys.stderr = stdout, stderr
            for each in writers:
                if isinstance(each, AboveWriter):
                    each.detach()

    def _painted(self, _: Application[None]) -> None:
        self._application.after_render -= self._painted
        self.started()

    def _take_early_keys(self, _: Application[None]) -> None:
        """Take what was typed before the prompt was there, when Enter still was a line feed."""
        self._application.before_render -= self._take_early_keys
        keys = [
            KeyPress(Keys.ControlM) if each.key is Keys.ControlJ else each
            for each in self._application.input.read_keys()
        ]
        self._application.key_processor.feed_multiple(keys)
        asyncio.get_running_loop().call_soon(self._application.key_processor.process_keys)

    def _closed(self, _: "asyncio.Task[None]") -> None:
        """The terminal is gone, or the chat is over."""
        self._send(None)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(EOFError())

    def _send(self, line: str | None) -> None:
        self._sent.append(line)
        self._news.set()

    def _accept(self, buffer: Buffer) -> bool:
        """Enter: send, or queue while a turn runs."""
        self._interrupted = 0.0
        if line := buffer.text.strip():
            self._send(line)
        return False

    def _accept_answer(self, buffer: Buffer) -> bool:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(buffer.text)
        return True  # the text stays until it is printed

    def _unqueue(self) -> None:
        """Put what was queued back into the prompt, before what is typed there."""
        lines = [each for each in self._sent if each is not None]
        self._sent = [each for each in self._sent if each is None]
        if lines:
            text = "\n".join([*lines, *([self._buffer.text] if self._buffer.text else [])])
            self._buffer.document = Document(text)

    def _interrupt(self) -> None:
        """Ctrl-C: stops, or ends a search or clears the line, or the second time leaves."""
        if searches := is_searching():
            stop_search()
        if self._stop is not None:
            self._unqueue()
            self._stop()
        elif searches:
            return
        elif any(self._sent):  # and not taken yet: it came with the same keys
            self._unqueue()
        elif text := self._buffer.text.strip():
            self._buffer.history.append_string(text)
            self._buffer.reset()
            self._interrupted = 0.0
        elif time.monotonic() - self._interrupted < TWICE:
            self._send(None)
        else:
            self._interrupted = time.monotonic()
            self.print_above(LEAVES)

    def _refuse(self) -> None:
        """Esc: no to a question, and stops what runs."""
        if self._answer is None:
            self._interrupt()
        elif not self._answer.done():
            self._answer.set_exception(EOFError())

    def _leave(self) -> None:
        """Ctrl-D: no to a question, else leaves when what runs is done."""
        if self._answer is not None:
            self._refuse()
        else:
            self._send(None)

    async def _edit(self) -> None:
        """What is typed, in the user's editor; it comes back to the prompt."""
        self._away = True
        if isinstance(self._output, StepwiseOutput):
            self._output.leave()
        try:
            await self._application.current_buffer.open_in_editor()
        finally:
            self._away = False
            if pending := self._pending:
                self._pending = ""
                self.print_above(pending)

    def _keys(self) -> KeyBindings:
        bindings = KeyBindings()
        handle = bindings.add
        working = Condition(lambda: self._stop is not None)
        asking = Condition(lambda: self._answer is not None)
        nothing_typed = Condition(lambda: not self._application.current_buffer.text)
        queue = Condition(lambda: bool(self._sent))

        @handle("c-c")
        @handle("<sigint>")
        def interrupt(event: KeyPressEvent) -> None:
            self._interrupt()

        @handle("escape", filter=(working | asking) & ~is_searching)
        def refuse(event: KeyPressEvent) -> None:
            self._refuse()

        @handle("c-d", filter=nothing_typed)
        def leave(event: KeyPressEvent) -> None:
            self._leave()

        @handle("c-j", filter=has_focus(self._buffer))
        @handle("escape", "enter", filter=has_focus(self._buffer))
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @handle("up", filter=nothing_typed & queue & ~asking)
        def take_back(event: KeyPressEvent) -> None:
            self._unqueue()
            self._sent.clear()

        @handle("s-tab", filter=~has_completions & ~asking)
        def next_mode(event: KeyPressEvent) -> None:
            self.next_mode()

        @handle("c-o")
        def show_folded(event: KeyPressEvent) -> None:
            self.show_folded()

        @handle("c-g", filter=~is_searching & ~asking)
        @handle("c-x", "c-e", filter=~is_searching & ~asking)
        def edit(event: KeyPressEvent) -> None:
            event.app.create_background_task(self._edit())

        @handle("c-z", filter=Condition(suspend_to_background_supported))
        def suspend(event: KeyPressEvent) -> None:
            event.app.suspend_to_background()

        return bindings

    def _layout(self) -> Layout:
        asking = Condition(lambda: self._answer is not None)
        nothing_typed = Condition(lambda: self._stop is not None and not self._buffer.text)
        placeholder = nothing_typed & ~is_searching
        stars = ConditionalProcessor(PasswordProcessor(), Condition(lambda: self._secret))
        search = SearchToolbar()
        typed = Window(
            BufferControl(
                self._buffer,
                search_buffer_control=search.control,
                input_processors=[
                    HighlightIncrementalSearchProcessor(),
                    HighlightSelectionProcessor(),
                    ConditionalProcessor(AfterInput(self._meanwhile, style=QUIET), placeholder),
                ],
                include_default_input_processors=False,
                preview_search=True,
            ),
            height=self._typed_height,
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=lambda row, wrapped: "" if wrapped else CONTINUED if row else PROMPT,
        )
        answer = Window(
            BufferControl(self._answer_buffer, [stars]),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=lambda row, wrapped: (
                "" if wrapped else CONTINUED if row else self._asked()[1]
            ),
        )
        menu = Float(CompletionsMenu(max_height=MENU, scroll_offset=1), xcursor=True, ycursor=True)
        parts = HSplit(
            [
                text_window(self._above, Condition(lambda: bool(self._height or self._sent))),
                text_window(
                    lambda: [("", self._asked()[0])],
                    Condition(lambda: bool(self._asked()[0])),
                    wraps=True,
                ),
                ConditionalContainer(FloatContainer(typed, [menu]), ~asking),
                ConditionalContainer(answer, asking),
                search,
                text_window(
                    lambda: [(QUIET, self.status())], Condition(lambda: bool(self.status()))
                ),
            ]
        )
        return Layout(parts, typed)

    def _typed_height(self) -> Dimension:
        return Dimension(min=MENU + 1) if self._buffer.complete_state else Dimension()

    def _meanwhile(self) -> str:
        room = self._output.get_size().columns - len(PROMPT)
        return MEANWHILE if len(MEANWHILE) < room else IN_SHORT

    def _asked(self) -> tuple[str, str]:
        """A question that leaves no room for an answer stands above it."""
        columns = self._output.get_size().columns
        if get_cwidth(self._question) <= columns - ANSWER:
            return "", self._question
        return textwrap.fill(self._question.rstrip(), max(1, columns)), PROMPT

    def _above(self) -> StyleAndTextTuples:
        lines = [*self._live, *[[] for _ in range(self._height - len(self._live))]]
        waiting = [LEAVE if each is None else each for each in self._sent]
        first = waiting if len(waiting) <= QUEUE_SHOWN else waiting[: QUEUE_SHOWN - 1]
        lines += [[(QUIET, f"queued: {' '.join(each.split())}")] for each in first]
        if len(first) < len(waiting):
            lines.append([(QUIET, f"and {len(waiting) - len(first)} more are queued")])
        return [part for line in lines for part in (*line, ("", "\n"))][:-1]


def text_window(
    text: Callable[[], StyleAndTextTuples], shown: Condition, wraps: bool = False
) -> ConditionalContainer:
    control = FormattedTextControl(text)
    window = Window(control, dont_extend_height=True, wrap_lines=wraps)
    return ConditionalContainer(window, shown)


def find_output() -> Output:
    """Where the prompt is drawn: on the terminal also where the answers go into a pipe."""
    terminals = [each for each in (sys.stdout, sys.stderr) if each and each.isatty()]
    if sys.platform == "win32" or not terminals:
        return create_output(always_prefer_tty=True)
    return open_output(terminals[0])
