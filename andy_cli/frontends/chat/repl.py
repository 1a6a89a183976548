"""`andy chat`: a line that is typed, a turn, the next line.

Before the first prompt only prompt-toolkit and the settings are imported. The rest is loaded in
a thread as soon as the prompt is on the screen: whoever types does not wait for it.
"""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Protocol

from prompt_toolkit.completion import merge_completers

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.prompt.input_history import open_history
from andy_cli.frontends.chat.prompt.line_completer import LineCompleter
from andy_cli.frontends.chat.prompt.live_prompt import LivePrompt
from andy_cli.frontends.chat.prompt.path_completer import AttachmentCompleter
from andy_cli.frontends.command_line.options import ANY, NO_ID, WHICH_ID, Options

BEHIND_THE_PROMPT = (
    "andy_cli.frontends.chat.chat_controller",
    "andy_cli.models.http.direct",
    "andy_cli.models.server.rendering",
    "httpcore2",
    "truststore",
    "anyio._backends._asyncio",
)
"""What the first turn needs: all but the first, with what they import, is loaded late elsewhere."""
ENDING = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""What ends andy and all it started: to be asked to, and a terminal that is closed."""
TICK = 0.5
"""Seconds between two looks at the music that plays."""
AGAIN = "resume with `andy -c`\n"
GREETING = "/help says what there is, Ctrl-D leaves"
LEAVING = ("exit", "quit", ":q")


def start(options: Options, prompt: str = "") -> int:
    """Chat until the user leaves; returns the exit code."""
    try:
        return asyncio.run(Repl(options).run(prompt))
    except asyncio.CancelledError:
        return 143


class Input(Protocol):
    """Where lines come from, and answers to questions."""

    def opened(self) -> AbstractAsyncContextManager[None]: ...

    async def line(self) -> str: ...

    def working(self, line: str, stop: Callable[[], object]) -> AbstractContextManager[None]: ...

    async def question(self, text: str, begun: str = "", secret: bool = False) -> str: ...


class Repl:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._loading = threading.Thread(target=load_the_rest, daemon=True)
        self._talk: Talker | None = None
        self._prompt = self._live_prompt() if typed() and not is_dumb() else None
        """None where nothing can be drawn."""
        self._input: Input = self._prompt or line_input(options)

    def _live_prompt(self) -> LivePrompt:
        # What goes into a pipe may come out on this screen, past all that is drawn: `| tee log`.
        plain = self._options.settings().flag("ui.plain") or not sys.stdout.isatty()
        commands = LineCompleter(lambda: self._talk.desk if self._talk else None)
        completer = merge_completers([commands, AttachmentCompleter(Path.cwd())])
        prompt = LivePrompt(open_history(self._options.no_session), completer, plain)
        prompt.status = self._status
        prompt.started = self._load
        prompt.next_mode = self._next_mode
        prompt.show_folded = self._show_folded
        return prompt

    def _status(self) -> str:
        return (
            self._talk.status() if self._talk else f"{self._options.model or 'andy'} - {GREETING}"
        )

    def _next_mode(self) -> None:
        if self._talk and self._prompt:
            self._talk.next_mode()
            self._prompt.show()

    def _show_folded(self) -> None:
        if self._talk:
            self._talk.show_folded()

    async def run(self, prompt: str) -> int:
        end_on_sigterm()
        async with self._input.opened():
            ticking = asyncio.create_task(self._tick())
            try:
                await self._converse(prompt)
            except EOFError:
                pass
            except KeyboardInterrupt:  # at the question which session
                return 130
            finally:
                ticking.cancel()
                kept = self._talk is not None and self._talk.kept
                if self._talk:
                    await self._talk.close()
        if kept and typed():
            sys.stderr.write(AGAIN)
        return 0

    async def _converse(self, prompt: str) -> None:
        """Until the user leaves. Raises EOFError at the end of the input."""
        if self._options.resumes:
            await self._resume()
        line = prompt or await self._first_line()
        while line not in LEAVING:
            await self._answer(line)
            if self._talk and self._talk.over:
                return
            line = await self._input.line()

    async def _first_line(self) -> str:
        """What the user sends first. Until then the greeting may be printed, and a model chosen
        where there is none.
        """
        if self._prompt is None:
            return await self._input.line()
        line = asyncio.create_task(self._input.line())
        greeting = asyncio.create_task(self._greet())
        try:
            await asyncio.wait([line, greeting], return_when=asyncio.FIRST_COMPLETED)
            if line.done() or greeting.result():
                return await line
        finally:
            greeting.cancel()
            await asyncio.wait([greeting])
            line.cancel()
        await self._finishes(self._choose_model(), "")
        return await self._input.line()

    async def _greet(self) -> bool:
        """Whether there is a model, or will be when one is needed."""
        talk = await self._open_talk()
        return await talk.greet()

    async def _choose_model(self) -> None:
        talk = await self._open_talk()
        await talk.choose_model()

    async def _resume(self) -> None:
        """Raises UsageError where there is no such session, EOFError where none is chosen."""
        if not typed() and self._options.resume == ANY:
            raise UsageError(NO_ID, WHICH_ID)
        if not await self._finishes(self._go_on(), ""):
            raise KeyboardInterrupt

    async def _go_on(self) -> None:
        talk = await self._open_talk()
        await talk.resume()

    async def _answer(self, line: str) -> None:
        """One turn; Ctrl-C ends the turn and not the chat."""
        await self._finishes(self._turn(line), line)

    async def _finishes(self, work: Coroutine[None, None, None], line: str) -> bool:
        """Whether this work for a line was done, and not stopped by the user."""
        task = asyncio.create_task(work)
        with self._input.working(line, task.cancel):
            try:
                await task
            except asyncio.CancelledError:
                if (this := asyncio.current_task()) and this.cancelling():
                    task.cancel()
                    raise
                sys.stdout.write("stopped\n")
                return False
        return True

    async def _turn(self, line: str) -> None:
        talk = await self._open_talk()
        await talk.answer(line)

    async def _open_talk(self) -> "Talker":
        # Loaded by now or nearly so: the first drawing of the prompt started it.
        self._load()
        await asyncio.to_thread(self._loading.join)
        from andy_cli.frontends.chat.chat_controller import Talk

        if self._talk is None:
            greets = typed() and sys.stdout.isatty()
            self._talk = Talk(self._options, self._input.question, self._prompt, greets)
        return self._talk

    def _load(self) -> None:
        if self._loading.ident is None:
            self._loading.start()

    async def _tick(self) -> None:
        """While music plays the status line shows how far it is."""
        while self._prompt:
            await asyncio.sleep(TICK)
            if self._talk and self._talk.playing:
                self._prompt.show()


class Talker(Protocol):
    """What of `Talk` is used here, before Talk is loaded."""

    @property
    def desk(self) -> object: ...

    @property
    def over(self) -> bool: ...

    @property
    def playing(self) -> bool: ...

    def status(self) -> str: ...

    @property
    def kept(self) -> bool: ...

    def next_mode(self) -> None: ...

    def show_folded(self) -> None: ...

    async def greet(self) -> bool: ...

    async def choose_model(self) -> None: ...

    async def resume(self) -> None: ...

    async def answer(self, line: str) -> None: ...

    async def close(self) -> None: ...


def typed() -> bool:
    """Whether there is somebody at a keyboard, and a screen to show what is typed."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    return sys.stdout.isatty() or sys.stderr.isatty()


def is_dumb() -> bool:
    """Whether the terminal cannot be drawn on."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def line_input(options: Options) -> Input:
    """Lines where no prompt can stay: of a terminal that cannot be drawn on, or of a pipe."""
    from andy_cli.frontends.chat.prompt.line_input import PipedInput, TypedInput

    return TypedInput(open_history(options.no_session)) if typed() else PipedInput()


def end_on_sigterm() -> None:
    """End as after /exit, with the terminal as it was."""
    me = asyncio.current_task()
    assert me is not None
    with contextlib.suppress(NotImplementedError):
        for number in ENDING:
            asyncio.get_running_loop().add_signal_handler(number, me.cancel)


def load_the_rest() -> None:
    for module in BEHIND_THE_PROMPT:
        import_module(module)
    from andy_cli.frontends.chat.warm_up import warm_up

    warm_up()
