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
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Protocol

from prompt_toolkit.completion import merge_completers

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.prompt.input_history import open_history
from andy_cli.frontends.chat.prompt.line_completer import AttachmentCompleter, LineCompleter
from andy_cli.frontends.chat.prompt.live_prompt import START_HINT, LivePrompt
from andy_cli.frontends.command_line.options import ANY, NO_ID, WHICH_ID, Options

BEHIND_THE_PROMPT = (
    "andy_cli.frontends.chat.chat_controller",
    "andy_cli.models.http.direct",
    "andy_cli.models.server.rendering",
    "httpcore2",
    "truststore",
    "anyio._backends._asyncio",
)
"""Modules that the first turn needs; elsewhere all but the first are loaded late."""
ENDING_SIGNALS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""Signals that end andy and all it started: to be asked to, and a terminal that is closed."""
RESUME_HINT = "resume with `andy -c`\n"
LEAVING = ("exit", "quit", ":q")


def start_chat(options: Options, prompt: str = "") -> int:
    """Chat until the user leaves; returns the exit code."""
    try:
        return asyncio.run(Repl(options).run(prompt))
    except asyncio.CancelledError:
        return 143


class LineSource(Protocol):
    """A source of lines, and of answers to questions."""

    def keep_open(self) -> AbstractAsyncContextManager[None]: ...

    async def read_line(self) -> str: ...

    def working_on(
        self, line: str, stop_work: Callable[[], object]
    ) -> AbstractContextManager[None]: ...

    async def ask_user(self, text: str, begun: str = "", secret: bool = False) -> str: ...


class Repl:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._settings = options.settings()  # what is wrong in them ends andy before any line
        self._loading = threading.Thread(target=load_remaining_modules, daemon=True)
        self._controller: Controller | None = None
        self._prompt = (
            self._create_prompt() if is_interactive() and not is_dumb_terminal() else None
        )
        """None where nothing can be drawn."""
        self._source: LineSource = self._prompt or choose_line_source(options)

    def _create_prompt(self) -> LivePrompt:
        # What goes into a pipe may come out on this screen, past all that is drawn: `| tee log`.
        plain = self._settings.flag("ui.plain") or not sys.stdout.isatty()
        commands = LineCompleter(lambda: self._controller.session if self._controller else None)
        completer = merge_completers([commands, AttachmentCompleter(Path.cwd())])
        prompt = LivePrompt(open_history(self._options.no_session), completer, plain)
        prompt.status = lambda: f"{self._options.model or 'andy'} - {START_HINT}"
        prompt.started = self._start_loading
        return prompt

    async def run(self, prompt: str) -> int:
        """Converse until the user leaves; returns the exit code."""
        end_on_signals()
        async with self._source.keep_open():
            try:
                await self._converse(prompt)
            except EOFError:
                pass
            except KeyboardInterrupt:  # at the question which session
                return 130
            finally:
                was_kept = self._controller is not None and self._controller.has_session
                if self._controller:
                    await self._controller.close()
        if was_kept and is_interactive():
            sys.stderr.write(RESUME_HINT)
        # Whoever is at the keyboard saw what failed; a script sees this.
        return self._controller.exit_code if self._controller and not is_interactive() else 0

    async def _converse(self, prompt: str) -> None:
        """Until the user leaves. Raises EOFError at the end of the input."""
        if self._options.resumes:
            await self._resume_first()
        line = prompt or await self._read_first_line()
        while line not in LEAVING:
            await self._answer_line(line)
            if self._controller and self._controller.is_over:
                return
            line = await self._source.read_line()

    async def _read_first_line(self) -> str:
        """Return the first line that the user sends.

        Until then the greeting may be printed, and a model chosen where there is none.
        """
        if self._prompt is None:
            return await self._source.read_line()
        line = asyncio.create_task(self._source.read_line())
        greeting = asyncio.create_task(self._greet_user())
        try:
            await asyncio.wait([line, greeting], return_when=asyncio.FIRST_COMPLETED)
            if line.done() or greeting.result():
                return await line
        finally:
            greeting.cancel()
            await asyncio.wait([greeting])
            line.cancel()
        await self._run_stoppable(lambda controller: controller.choose_model())
        return await self._source.read_line()

    async def _greet_user(self) -> bool:
        """Greet the user; True if there is a model, or will be when one is needed."""
        controller = await self._open_controller()
        return await controller.greet_user()

    async def _resume_first(self) -> None:
        """Resume a session. Raises UsageError if there is none, EOFError if none is chosen."""
        if not is_interactive() and self._options.resume == ANY:
            raise UsageError(NO_ID, WHICH_ID)
        if not await self._run_stoppable(lambda controller: controller.resume_session()):
            raise KeyboardInterrupt

    async def _answer_line(self, line: str) -> None:
        """One turn; Ctrl-C ends the turn and not the chat."""
        await self._run_stoppable(lambda controller: controller.answer_line(line), line)

    async def _run_stoppable(
        self, work: Callable[["Controller"], Awaitable[None]], line: str = ""
    ) -> bool:
        """Have the controller do the work for a line; False if the user stopped it."""

        async def do_work() -> None:
            await work(await self._open_controller())

        task = asyncio.create_task(do_work())
        with self._source.working_on(line, task.cancel):
            try:
                await task
            except asyncio.CancelledError:
                if (current_task := asyncio.current_task()) and current_task.cancelling():
                    task.cancel()
                    raise
                sys.stdout.write("stopped\n")
                return False
        return True

    async def _open_controller(self) -> "Controller":
        # Loaded by now or nearly so: the first drawing of the prompt started it.
        self._start_loading()
        await asyncio.to_thread(self._loading.join)
        from andy_cli.frontends.chat.chat_controller import ChatController

        if self._controller is None:
            greets = is_interactive() and sys.stdout.isatty()
            self._controller = ChatController(
                self._options, self._source.ask_user, self._prompt, greets
            )
        return self._controller

    def _start_loading(self) -> None:
        if self._loading.ident is None:
            self._loading.start()


class Controller(Protocol):
    """The part of `ChatController` that is used here, before that is loaded."""

    @property
    def session(self) -> object: ...

    @property
    def is_over(self) -> bool: ...

    @property
    def exit_code(self) -> int: ...

    @property
    def has_session(self) -> bool: ...

    async def greet_user(self) -> bool: ...

    async def choose_model(self) -> None: ...

    async def resume_session(self) -> None: ...

    async def answer_line(self, line: str) -> None: ...

    async def close(self) -> None: ...


def is_interactive() -> bool:
    """Find out if somebody is at a keyboard, with a screen that shows what is typed."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    return sys.stdout.isatty() or sys.stderr.isatty()


def is_dumb_terminal() -> bool:
    """Find out if the terminal cannot be drawn on."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def choose_line_source(options: Options) -> LineSource:
    """Lines where no prompt can stay: of a terminal that cannot be drawn on, or of a pipe."""
    from andy_cli.frontends.chat.prompt.line_input import PipedInput, TypedInput

    return TypedInput(open_history(options.no_session)) if is_interactive() else PipedInput()


def end_on_signals() -> None:
    """End as after /exit, with the terminal as it was."""
    current_task = asyncio.current_task()
    assert current_task is not None
    with contextlib.suppress(NotImplementedError):
        for number in ENDING_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, current_task.cancel)


def load_remaining_modules() -> None:
    for module in BEHIND_THE_PROMPT:
        import_module(module)
    from andy_cli.frontends.chat.chat_controller import warm_up

    warm_up()
