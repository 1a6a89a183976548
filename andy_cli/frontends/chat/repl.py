"""`andy chat`: a prompt, a turn, a prompt. All that knows prompt-toolkit.

Before the first prompt only prompt-toolkit and the settings are imported. The rest is loaded in
a thread as soon as the first key is pressed: whoever only looks pays nothing, whoever types does
not wait.
"""

import asyncio
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import nullcontext
from importlib import import_module
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output
from prompt_toolkit.styles import Style

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.input_history import open_history
from andy_cli.frontends.chat.keyboard import Keyboard
from andy_cli.frontends.options import ANY, NO_ID, WHICH_ID, Options

BEHIND_THE_PROMPT = "andy_cli.frontends.chat.talk"
"""Everything a turn needs hangs on it."""
ENDING = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""What ends andy and all it started: to be asked to, and a terminal that is closed."""
TWICE = 1.0
"""Seconds within which a second Ctrl-C leaves."""
AGAIN = "resume with `andy -c`\n"
GREETING = "andy - /help says what there is, Ctrl-D leaves"
# Quieter than the inverted bar that is the default.
LOOK = Style.from_dict({"bottom-toolbar": "noreverse ansibrightblack"})


def start(options: Options, prompt: str = "") -> int:
    """Chat until the user leaves; returns the exit code."""
    try:
        return asyncio.run(Repl(options).run(prompt))
    except asyncio.CancelledError:
        return 143


class Repl:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._loading: threading.Thread | None = None
        self._interrupted = 0.0
        self._session = self._asker() if typed() else None
        """None if lines come from a pipe or a file: nothing prompts for them."""
        self._keyboard = Keyboard(self._session.input) if self._session else None
        self._talk: Talker | None = None

    def _asker(self) -> PromptSession[str]:
        session: PromptSession[str] = PromptSession(
            history=open_history(self._options.no_session),
            # Where answers go into a pipe, the prompt stays on the terminal.
            output=None if sys.stdout.isatty() else create_output(always_prefer_tty=True),
            completer=Slash(),
            complete_while_typing=False,
            key_bindings=keys(),
            multiline=False,
            prompt_continuation="  ",
            bottom_toolbar=self._status,
            style=LOOK,
            enable_open_in_editor=True,
            enable_suspend=True,
        )
        session.default_buffer.on_text_changed += self._load
        return session

    def _status(self) -> str:
        return self._talk.status() if self._talk else self._options.model or GREETING

    async def run(self, prompt: str) -> int:
        end_on_sigterm()
        kept = False
        try:
            if self._options.resumes:
                await self._resume()
            line = prompt or await self._line()
            while line is not None:
                await self._answer(line)
                line = None if self._talk and self._talk.over else await self._line()
            kept = self._talk is not None and self._talk.kept
        except EOFError:  # at the question which session
            return 0
        finally:
            if self._talk:
                await self._talk.close()
        if kept and self._session:
            sys.stderr.write(AGAIN)
        return 0

    async def _resume(self) -> None:
        """Raises UsageError where there is no such session, EOFError where none is chosen."""
        if self._session is None and self._options.resume == ANY:
            raise UsageError(NO_ID, WHICH_ID)
        talk = await self._open_talk()
        await talk.resume()

    async def _answer(self, line: str) -> None:
        """One turn; Ctrl-C ends the turn and not the chat."""
        task = asyncio.create_task(self._turn(line))
        listening = self._keyboard.listening(task.cancel) if self._keyboard else nullcontext()
        try:
            with listening:
                await task
        except asyncio.CancelledError:
            if (this := asyncio.current_task()) and this.cancelling():
                task.cancel()
                raise
            sys.stdout.write("stopped\n")

    async def _turn(self, line: str) -> None:
        talk = await self._open_talk()
        await talk.answer(line)

    async def _open_talk(self) -> "Talker":
        # Loaded by now or nearly so: the first key started it.
        self._load(None)
        assert self._loading is not None
        await asyncio.to_thread(self._loading.join)
        from andy_cli.frontends.chat.talk import Talk

        if self._talk is None:
            self._talk = Talk(self._options, self._keyboard.question if self._keyboard else nobody)
        return self._talk

    async def _line(self) -> str | None:
        """The next line with something on it; None when the user leaves."""
        while True:
            try:
                line = (await self._next_line()).strip()
            except EOFError:
                return None
            except KeyboardInterrupt:
                if self._leaves():
                    return None
                continue
            self._interrupted = 0.0
            if line in ("exit", "quit", ":q"):
                return None
            if line:
                return line

    async def _next_line(self) -> str:
        if self._session is None:
            return await piped_line()
        # While music plays the status line shows how far it is.
        music = self._talk is not None and self._talk.playing
        return await self._session.prompt_async("> ", refresh_interval=float(music))

    def _leaves(self) -> bool:
        """Ctrl-C: the line is kept for Up and cleared; on an empty line, twice means leave."""
        assert self._session is not None
        if text := self._session.default_buffer.text.strip():
            self._session.history.append_string(text)
            self._interrupted = 0.0
            return False
        now = time.monotonic()
        if now - self._interrupted < TWICE:
            return True
        self._interrupted = now
        sys.stdout.write("Ctrl-C again or Ctrl-D leaves.\n")
        return False

    def _load(self, _: Buffer | None) -> None:
        if self._loading is None:
            self._loading = threading.Thread(target=load_the_rest, daemon=True)
            self._loading.start()


class Talker(Protocol):
    """What of `Talk` is used here, before Talk is loaded."""

    @property
    def over(self) -> bool: ...

    @property
    def playing(self) -> bool: ...

    def status(self) -> str: ...

    @property
    def kept(self) -> bool: ...

    async def resume(self) -> None: ...

    async def answer(self, line: str) -> None: ...

    async def close(self) -> None: ...


def typed() -> bool:
    """Whether there is somebody at a keyboard, and a screen to show what is typed."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    return sys.stdout.isatty() or sys.stderr.isatty()


def end_on_sigterm() -> None:
    """End as after /exit, with the terminal as it was."""
    me = asyncio.current_task()
    assert me is not None
    with contextlib.suppress(NotImplementedError):
        for number in ENDING:
            asyncio.get_running_loop().add_signal_handler(number, me.cancel)


async def piped_line() -> str:
    line = await asyncio.to_thread(sys.stdin.readline) if sys.stdin else ""
    if not line:
        raise EOFError
    return line


async def nobody(text: str, begun: str) -> str:
    """Who answers questions where nobody types: a no, from the end of the input."""
    raise EOFError


def load_the_rest() -> None:
    import_module(BEHIND_THE_PROMPT)


def keys() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("c-j")
    @bindings.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return bindings


class Slash(Completer):
    """Completes the names of slash commands."""

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor
        if not typed.startswith("/") or " " in typed:
            return
        from andy_cli.frontends.chat.talk import command_names  # imports the commands

        for name in command_names():
            if name.startswith(typed[1:]):
                yield Completion(f"/{name}", start_position=-len(typed))
