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
from collections.abc import Callable, Coroutine, Iterable
from importlib import import_module

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from andy_cli.frontends.options import Options
from andy_cli.settings import state_folder

BEHIND_THE_PROMPT = ("andy_cli.frontends.chat.talk", "andy_cli.frontends.chat.view")
"""Everything a turn needs hangs on these two."""
TWICE = 1.0
"""Seconds within which a second Ctrl-C leaves."""


def start(options: Options, prompt: str = "") -> int:
    """Chat until the user leaves; returns the exit code."""
    return asyncio.run(Repl(options).run(prompt))


class Repl:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._status = options.model or "andy"
        self._loading: threading.Thread | None = None
        self._interrupted = 0.0
        self._session: PromptSession[str] = PromptSession(
            history=history(options.no_session),
            completer=Slash(),
            complete_while_typing=False,
            key_bindings=keys(),
            multiline=False,
            bottom_toolbar=lambda: self._status,
            enable_open_in_editor=True,
        )
        self._session.default_buffer.on_text_changed += self._load

    async def run(self, prompt: str) -> int:
        from_user = prompt or await self._line()
        if from_user is None:
            return 0
        # Loaded by now or nearly so: the first key started it.
        self._load(None)
        assert self._loading is not None
        await asyncio.to_thread(self._loading.join)
        from andy_cli.frontends.chat.talk import Talk

        talk = Talk(self._options)
        try:
            while from_user is not None and not talk.over:
                await self._answer(talk.answer, from_user)
                self._status = talk.status
                from_user = None if talk.over else await self._line()
        finally:
            await talk.close()
        return 0

    async def _answer(
        self, answer: Callable[[str], Coroutine[None, None, None]], line: str
    ) -> None:
        """One turn; Ctrl-C ends the turn and not the chat."""
        task = asyncio.create_task(answer(line))
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            if (this := asyncio.current_task()) and this.cancelling():
                raise
            sys.stdout.write("stopped\n")
        finally:
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)

    async def _line(self) -> str | None:
        """The next line with something on it; None when the user leaves."""
        while True:
            try:
                line = (await self._session.prompt_async("> ")).strip()
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

    def _leaves(self) -> bool:
        """Ctrl-C: the line is kept for Up and cleared; on an empty line, twice means leave."""
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


def load_the_rest() -> None:
    for name in BEHIND_THE_PROMPT:
        import_module(name)


def history(nothing_on_disk: bool) -> History:
    """What was typed before, in a 0600 file."""
    if nothing_on_disk:
        return InMemoryHistory()
    path = state_folder() / "input_history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


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
