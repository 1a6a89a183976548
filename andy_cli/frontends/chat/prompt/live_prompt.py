"""A prompt that stays at the end of the screen while a turn runs above it.

    what was printed            scrolls away, and is never drawn again
    what is being written       the end of the answer, redrawn while it grows
      queued: a line            sent with Enter while a turn runs, waiting for its end
    > what is typed             or a question and what is answered
    model - mode                the status line

prompt-toolkit reads the keys and draws the last four; all that is printed meanwhile is written
above them. No alternate screen, no mouse: the terminal scrolls, selects and copies as ever.

Here are what others ask of the prompt, and its keys, which docs/terminal.md has a table of. What it
holds is in prompt_state, how it looks in prompt_layout and how it is drawn in prompt_renderer.
"""

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions, has_focus, is_searching
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import stop_search
from prompt_toolkit.utils import suspend_to_background_supported

from andy_cli.frontends.chat.prompt.prompt_layout import (
    CONTINUED,
    LOOK,
    PROMPT,
    build_layout,
    count_live_rows,
)
from andy_cli.frontends.chat.prompt.prompt_renderer import PromptApplication
from andy_cli.frontends.chat.prompt.prompt_state import OpenQuestion, PromptLine, PromptState
from andy_cli.frontends.chat.prompt.terminal_output import (
    AboveWriter,
    StepwiseOutput,
    find_output,
    wait_until_read,
)

START_HINT = "/help says what there is, Ctrl-D leaves"
"""The status line at first."""
LEAVE_HINT = "Ctrl-C again or Ctrl-D leaves.\n"


class LivePrompt:
    """The keyboard and the screen of a chat."""

    def __init__(self, history: History, completer: Completer, plain: bool = False) -> None:
        """`plain` shows the prompt between turns alone: the screen is only ever added to."""
        self._plain = plain
        self.status: Callable[[], str] = lambda: ""
        """The status line."""
        self.started: Callable[[], object] = lambda: None
        """Called once, when the prompt is on the screen for the first time."""
        self.cycle_mode: Callable[[], object] = lambda: None
        """Shift-Tab."""
        self.show_folded: Callable[[], object] = lambda: None
        """Ctrl-O: print what was shown in part."""
        self._state = PromptState(history, completer)
        self._output = find_output()
        layout = build_layout(self._state, self._output, lambda: self.status())
        keys = PromptKeys(self._state, self)
        self._application = PromptApplication(layout, keys.bind(), LOOK, self._output)
        self._application.key_processor.before_key_press += keys.note_key_press
        self._application.before_render += self._take_early_keys
        self._application.after_render += self._report_start
        self._away = False
        """Another program has the terminal."""
        self._pending = ""
        """Printed while another program has it."""
        self._thread = threading.get_ident()
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextlib.asynccontextmanager
    async def keep_open(self) -> AsyncIterator[None]:
        """The prompt is on the screen, and what is printed goes above it, while this lasts."""
        self._loop = asyncio.get_running_loop()
        running = asyncio.create_task(self._application.run_async(set_exception_handler=False))
        running.add_done_callback(self._end)
        with self._printing_above():
            try:
                yield
            finally:
                if self._application.is_running:
                    self._application.exit()
                with contextlib.suppress(EOFError, OSError):
                    await running
                if isinstance(self._output, StepwiseOutput):
                    self._output.restore_terminal()

    async def read_line(self) -> str:
        """The next line that was sent, with something on it. Raises EOFError where one leaves."""
        await self._state.sent.wait()
        self._raise_if_lost()
        line = self._state.sent.take()
        if line is None:
            raise EOFError
        return line

    @contextlib.contextmanager
    def working_on(self, line: str, stop_work: Callable[[], object]) -> Iterator[None]:
        """Print the line that is worked on; queue what is sent, and let Ctrl-C, Esc and SIGINT
        call `stop_work` while this lasts.
        """
        self._state.stop = stop_work
        with self._step():
            self._erase()
            self._application.drawing = not self._plain
            shown_line = line.replace("\n", f"\n{CONTINUED}")
            self._print_typed(f"{PROMPT}{shown_line}\n" if line else "")
        try:
            yield
        finally:
            self._state.stop = None
            self._state.live.clear()
            wait_until_read(sys.stdout)
            self._application.drawing = True
            self.show()

    async def ask_user(self, text: str, begun: str = "", secret: bool = False) -> str:
        """Ask the user, who types the answer after the question was shown; `begun` is to be edited.
        Nobody sees what is `secret`.

        What was typed before stays in the prompt, and what was queued goes back there: it was not
        meant for this. Raises EOFError at Ctrl-D and Esc; Ctrl-C stops what asks.
        """
        state = self._state
        self._application.key_processor.feed_multiple(self._application.input.read_keys())
        self._application.key_processor.process_keys()
        state.unqueue()
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        state.ask_user = OpenQuestion(text, secret, answer)
        state.answer.document = Document(begun)
        self._application.layout.focus(state.answer)
        self._application.drawing = True
        state.live.clear()
        self.show()
        try:
            return await answer
        finally:
            dialogue_line = f"{text}{'' if secret else state.answer.text}".rstrip()
            state.ask_user = None
            state.answer.reset()
            self._application.layout.focus(state.typed)
            with self._step():
                self._erase()
                self._application.drawing = not self._plain or not state.is_working
                self._print_typed(f"{dialogue_line}\n")

    def take_back_queue(self) -> None:
        """Let what was queued come back to the prompt, to be sent again or not."""
        self._state.unqueue()
        self.show()

    def show_live(self, lines: Sequence[PromptLine]) -> None:
        """Let these lines stand above the prompt, once something is drawn.

        The prompt moves down by steps, as it is drawn anew each time, and up when the turn is over.
        """
        self._state.live.show(lines, self.live_rows)

    def commit_rows(self, rows: int) -> None:
        """Let the first of the live lines, which are drawn, be printed ones from now on."""
        self._state.live.drop_first(rows)
        self._state.drawn_rows -= rows
        self._application.prompt_renderer.forget_rows(rows)

    @property
    def draws(self) -> bool:
        """True while the prompt is drawn; else output is only added."""
        return self._application.is_running and self._application.drawing

    @property
    def live_rows(self) -> int:
        """Rows that there are for what is being written."""
        return count_live_rows(self._state, self._output.get_size())

    def show(self) -> None:
        """Bring the end of the screen up to date."""
        rows = self._state.rows_above
        with self._step():
            if rows < self._state.drawn_rows:
                self._erase()
            self._state.drawn_rows = rows
            self._application.draw()

    def print_above(self, text: str, rows_back: int = 0) -> None:
        """Print whole lines, in place of so many rows that were printed last.

        May be called in any thread. Raises OutputError if the terminal takes nothing any more.
        """
        if threading.get_ident() != self._thread:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self.print_above, text, rows_back)
            return
        if self._away:
            self._pending += text
            return
        with self._step():
            self._erase()
            if rows_back:
                self._output.cursor_up(rows_back)
                self._output.erase_down()
            if isinstance(self._output, StepwiseOutput):
                self._output.write_text(text)
            else:
                self._output.write_raw(text)
            self._state.drawn_rows = self._state.rows_above
            if self.draws:
                self._application.draw()
            else:
                self._output.flush()
        self._raise_if_lost()

    async def edit(self) -> None:
        """Let the user edit what is typed in another program; it comes back to the prompt."""
        self._away = True
        if isinstance(self._output, StepwiseOutput):
            self._output.restore_terminal()
        try:
            await self._application.current_buffer.open_in_editor()
        finally:
            self._away = False
            if pending := self._pending:
                self._pending = ""
                self.print_above(pending)

    def _print_typed(self, text: str) -> None:
        """Print what was sent; escapes in what was pasted were shown while it was typed, and are
        left out here.
        """
        from andy_cli.guard.terminal_sanitizer import neutralize_text  # 4 ms, after the prompt

        self.print_above(neutralize_text(text))

    def _erase(self) -> None:
        """Take the prompt from the screen, if it is there; the cursor stands where it began."""
        if self.draws:
            self._application.prompt_renderer.erase()

    def _step(self) -> AbstractContextManager[None]:
        return self._output.step() if isinstance(self._output, StepwiseOutput) else nullcontext()

    def _raise_if_lost(self) -> None:
        if isinstance(self._output, StepwiseOutput) and self._output.lost:
            raise self._output.lost

    @contextlib.contextmanager
    def _printing_above(self) -> Iterator[None]:
        stdout, stderr = sys.stdout, sys.stderr
        writers = [
            AboveWriter(stream, self.print_above, lambda: self.draws) if stream.isatty() else stream
            for stream in (stdout, stderr)
        ]
        sys.stdout, sys.stderr = writers
        try:
            yield
        finally:
            sys.stdout, sys.stderr = stdout, stderr
            for writer in writers:
                if isinstance(writer, AboveWriter):
                    writer.detach()

    def _report_start(self, _: Application[None]) -> None:
        self._application.after_render -= self._report_start
        self.started()

    def _take_early_keys(self, _: Application[None]) -> None:
        """Take what was typed before the prompt was there, when Enter still was a line feed."""
        self._application.before_render -= self._take_early_keys
        key_presses = [
            KeyPress(Keys.ControlM) if press.key is Keys.ControlJ else press
            for press in self._application.input.read_keys()
        ]
        self._application.key_processor.feed_multiple(key_presses)
        asyncio.get_running_loop().call_soon(self._application.key_processor.process_keys)

    def _end(self, _: "asyncio.Task[None]") -> None:
        """End the chat, and refuse what is asked: the terminal is gone, or the chat is over."""
        self._state.sent.send(None)
        if self._state.ask_user is not None:
            self._state.ask_user.refuse()


class PromptKeys:
    """The keys of the prompt, apart from those that edit a line: these are prompt-toolkit's."""

    def __init__(self, state: PromptState, prompt: LivePrompt) -> None:
        self._state = state
        self._prompt = prompt
        self._is_warned = self._was_warned = False
        """The key that is handled, and the one before it, was a Ctrl-C that had nothing to do."""
        state.typed.accept_handler = self._send
        state.answer.accept_handler = self._answer

    def bind(self) -> KeyBindings:
        """Connect the keys with what they do, each where it makes sense."""
        state = self._state
        bindings = KeyBindings()
        handle = bindings.add
        working = Condition(lambda: state.is_working)
        asking = Condition(lambda: state.is_asking)
        nothing_typed = Condition(lambda: not get_app().current_buffer.text)
        waiting = Condition(lambda: bool(state.waiting_rows))

        handle("c-c")(self._interrupt)
        handle("<sigint>")(self._interrupt)
        handle("escape", filter=(working | asking) & ~is_searching)(self._refuse)
        handle("c-d", filter=nothing_typed)(self._leave)

        @handle("c-j", filter=has_focus(state.typed))
        @handle("escape", "enter", filter=has_focus(state.typed))
        def break_line(event: KeyPressEvent) -> None:
            """Begin a new line, where Enter would send."""
            event.current_buffer.insert_text("\n")

        @handle("up", filter=nothing_typed & waiting & ~asking)
        def take_back(event: KeyPressEvent) -> None:
            """Edit again what is queued or held; a queued end of the chat is forgotten."""
            state.unqueue()
            state.sent.clear()
            self._bring_back()

        @handle("s-tab", filter=~has_completions & ~asking)
        def next_mode(event: KeyPressEvent) -> None:
            """Ask more or less often before something is done."""
            self._prompt.cycle_mode()

        @handle("c-o")
        def show_folded(event: KeyPressEvent) -> None:
            """Print the whole of what was shown in part."""
            self._prompt.show_folded()

        @handle("c-g", filter=~is_searching & ~asking)
        @handle("c-x", "c-e", filter=~is_searching & ~asking)
        def edit(event: KeyPressEvent) -> None:
            """Edit what is typed in the editor of the user."""
            event.app.create_background_task(self._prompt.edit())

        @handle("c-z", filter=Condition(suspend_to_background_supported))
        def suspend(event: KeyPressEvent) -> None:
            """Go back to the shell; `fg` brings the chat back."""
            event.app.suspend_to_background()

        return bindings

    def note_key_press(self, _: object) -> None:
        """Remember, before a key is handled, if the last one warned: any key between takes it back.

        A time would not do: whoever reads the warning first would always be too late.
        """
        self._was_warned, self._is_warned = self._is_warned, False

    def _send(self, typed: Buffer) -> bool:
        """Enter: send what is typed, which is queued while a turn runs; the first of several lines
        keeps its indentation.
        """
        line = typed.text.strip()
        if line:
            self._state.sent.send(typed.text.strip("\n").rstrip() if "\n" in line else line)
        # Once prompt-toolkit has emptied the prompt.
        asyncio.get_running_loop().call_soon(self._bring_back)
        return False

    def _bring_back(self) -> None:
        """Put the next line that is held into the prompt, which is drawn a row higher then."""
        if self._state.held:
            self._state.bring_back()
            self._prompt.show()

    def _answer(self, answer: Buffer) -> bool:
        """Enter: answer the question."""
        if self._state.ask_user is not None:
            self._state.ask_user.accept(answer.text)
        return True  # the text stays until it is printed

    def _interrupt(self, event: KeyPressEvent) -> None:
        """Stop what runs, else end a search or clear the line, the second time leave."""
        state = self._state
        if searches := is_searching():
            stop_search()
        if state.stop is not None:
            state.unqueue()
            state.stop()
        elif searches:
            return
        elif any(state.sent.lines):  # and not taken yet: it came with the same keys
            state.unqueue()
        elif text := state.typed.text.strip():
            state.typed.history.append_string(text)
            state.typed.reset()
            self._bring_back()
        elif self._was_warned:
            state.sent.send(None)
        else:
            self._is_warned = True
            self._prompt.print_above(LEAVE_HINT)

    def _refuse(self, event: KeyPressEvent) -> None:
        """Answer a question with no, else stop what runs."""
        if self._state.ask_user is not None:
            self._state.ask_user.refuse()
        else:
            self._interrupt(event)

    def _leave(self, event: KeyPressEvent) -> None:
        """Answer a question with no, else leave the chat when what runs is done."""
        if self._state.ask_user is not None:
            self._state.ask_user.refuse()
        else:
            self._state.sent.send(None)
