"""`!COMMAND`: run a command line that the user typed, without a model.

    !pytest -x        andy is told what it printed, with the next message
    !!env             andy is not

Typing it was the yes. It runs as the terminal tool runs what the user agreed to; a rule that
forbids it, plan mode and what destroys still stop it. The model is told of it as of a file that
was attached: nothing in the output is anybody's wish.

A tool that a slash command names runs without a model in the same way.
"""

import asyncio
import contextlib
import math
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from andy_cli.agent.history.compression import cut_middle
from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.chat.chat_session import ChatSession, CommandOutput
from andy_cli.frontends.management.tools_command import find_tool
from andy_cli.frontends.session_factory import create_gate, enter_workspace
from andy_cli.frontends.terminal.messages import shorten_action
from andy_cli.guard.gate import ApprovalRequest
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import ResourceAccess
from andy_cli.messages import Arguments, Effect, ToolCall
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.runtime_context import in_thread
from andy_cli.toolbox.terminal import sandbox
from andy_cli.toolbox.terminal.output import HEAD
from andy_cli.toolbox.terminal.running import SHELL_SAYS, CommandRun, run_command
from andy_cli.toolbox.terminal.sandboxes import secrets_in

ABOUT = (
    "!COMMAND runs a command line, as `!git status`, and andy learns what it printed with your "
    "next message; !!COMMAND runs it and andy is not told."
)
TOOL = "terminal_execute"
"""Rules about this tool hold for typed commands too."""
TOLD_TO_MODEL = "andy knows this output"
NOT_TOLD_TO_MODEL = "not told to the model"
ENDING = 0.8
"""Seconds in which a command that is stopped has mostly ended; the prompt does not wait longer."""
QUIET, STILL = 1.0, 10.0
"""Seconds of silence after which it is said that a command still runs, first and then."""
MAX_STATUS_LENGTH = 40
"""Characters of that command which the line has."""
LOOK = 0.1
MAX_TOLD = 8_000
"""Characters of one output that the model is told, and outputs that wait to be told."""
MAX_WAITING = 5
MAX_SECRETS, MIN_SECRET = 64_000, 6
"""Characters of a file that may hold secrets, and of a line of it, that are looked for."""


class TypedLine(NamedTuple):
    command: str
    is_told: bool


def read_line(line: str) -> TypedLine:
    """Take `!COMMAND` or `!!COMMAND` apart."""
    is_told = not line.startswith("!!")
    return TypedLine(line[1 if is_told else 2 :].strip(), is_told)


async def run_typed_command(session: ChatSession, line: str) -> None:
    """Run it and show what it prints. Raises UsageError for what may not or cannot run."""
    typed_line = read_line(line)
    if not typed_line.command:
        session.tell(ABOUT)
        return
    if sys.stdin is None or not sys.stdin.isatty():
        # What comes from a pipe need not be the user's own word.
        raise UsageError("Only what is typed at a keyboard is run; this came from a pipe or file.")
    if session.opened is None:
        enter_workspace(session.options, session.options.settings())
    if refusal := find_refusal(session, typed_line.command):
        raise UsageError(f"It is not run: {refusal}.", "A shell of your own runs anything.")
    screen = OutputScreen(session, typed_line.command)
    showing = asyncio.create_task(screen.keep_telling())
    try:
        finished = await in_thread(
            lambda work: run_command(typed_line.command, work, screen.take_output, is_typed=True),
            math.inf,
            grace=ENDING,
        )
    except ToolError as error:
        raise UsageError(str(error)) from error
    except asyncio.CancelledError:
        screen.show_rest(screen.head)
        note_output(session, typed_line, screen.head, "stopped by the user")
        raise
    finally:
        showing.cancel()
    screen.show_rest(finished.output)
    ended = describe_ending(finished)
    note_output(session, typed_line, finished.output, ended)
    told_note = describe_telling(typed_line, screen.printed_length)
    notes = filter(None, (ended, told_note, explain_folder(typed_line.command)))
    if summary := "; ".join(notes):
        session.tell(f"[{summary}]")


def find_refusal(session: ChatSession, command: str) -> str:
    """Say why the gate does not let it run, or nothing."""
    if session.opened is not None:
        gate = session.opened.chat.gate
    else:
        gate = create_gate(session.options, session.options.settings(), Path.cwd(), None)
    access = ResourceAccess(command=command, contained=sandbox.can_contain(command))
    arguments = {"command": command}
    approval_request = ApprovalRequest(
        TOOL, Effect.RUN, "run a command", access, arguments=arguments
    )
    return "" if (verdict := gate.decide_typed(approval_request)).allowed else verdict.reason


def describe_ending(finished: CommandRun) -> str:
    """Describe how it ended, if that was not plainly well."""
    notes = []
    if finished.code:
        notes.append(f"exit code {finished.code}")
    if finished.code in SHELL_SAYS:
        notes.append(SHELL_SAYS[finished.code].rstrip(".").lower())
    if finished.ending == "left":
        notes.append("a program is still running in the background")
    if finished.later_output:
        notes.append(finished.later_output)
    return "; ".join(notes)


def describe_telling(typed_line: TypedLine, printed_length: int) -> str:
    """Describe how much of what was printed the model is told; nothing where nothing was."""
    if not printed_length:
        return ""
    if not typed_line.is_told:
        return NOT_TOLD_TO_MODEL
    if printed_length > MAX_TOLD:
        return f"andy knows {MAX_TOLD:,} of {printed_length:,} characters"
    return TOLD_TO_MODEL


def explain_folder(command: str) -> str:
    """Explain that a command line that only goes into a folder changes nothing for the next."""
    if not command.startswith("cd"):
        return ""
    # The parser takes 10 ms to load, and few lines begin so.
    from andy_cli.guard.commands.bash import read_shell_line

    shell_line = read_shell_line(command)
    if shell_line is None or not shell_line.commands:
        return ""
    if any(part.texts[:1] != ("cd",) for part in shell_line.commands):
        return ""
    return f"the next line begins in {Path.cwd()} again"


def note_output(session: ChatSession, typed_line: TypedLine, output: str, ended: str) -> None:
    """Keep what it printed for the model, if that is wanted."""
    if typed_line.is_told:
        printed = cut_middle(output, MAX_TOLD).rstrip() or "(it printed nothing)"
        text = f"$ {typed_line.command}\n{printed}\n[{ended or 'exit code 0'}]"
        redacted = redact_text(hide_lines(text, Path.cwd()), secrets_of(os.environ))
        session.command_outputs = [
            *session.command_outputs,
            CommandOutput(typed_line.command, redacted),
        ][-MAX_WAITING:]


def hide_lines(text: str, folder: Path) -> str:
    """Take the lines of files that may hold secrets out of what the model is told: the user saw
    them, as no sandbox hides them from a typed line."""
    for path in (Path(name) for name, _ in secrets_in(folder)):
        if not path.is_file():  # who reads from a pipe waits
            continue
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                lines = {line.strip() for line in file.read(MAX_SECRETS).splitlines()}
        except OSError:
            continue
        for line in sorted(lines, key=len, reverse=True):
            if len(line) >= MIN_SECRET:
                text = text.replace(line, f"[a line of {path.name}]")
    return text


class OutputScreen:
    """Shows what a command prints: its first lines as they come, the rest at the end.

    Between them a line tells from time to time that it still runs.
    """

    def __init__(self, session: ChatSession, command: str) -> None:
        self._session = session
        self._command = shorten_action(spell_out(command.partition("\n")[0]), MAX_STATUS_LENGTH)
        self._loop = asyncio.get_running_loop()
        self.head = ""
        """The first characters that came."""
        self.printed_length = 0
        """Characters that came in all."""
        self._shown_length = 0
        """The number of them on the screen: whole lines, none that is blank at the end."""
        self._last_output = time.monotonic()
        self._silence_limit = QUIET

    def take_output(self, text: str) -> None:
        """A piece of output; from any thread."""
        self.printed_length += len(text)
        if len(self.head) < HEAD:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody looks
                self._loop.call_soon_threadsafe(self._show_new_lines, text[:HEAD])

    async def keep_telling(self) -> None:
        """Tell that it still runs, where nothing was seen of it for a while."""
        while True:
            await asyncio.sleep(LOOK)
            if time.monotonic() - self._last_output > self._silence_limit:
                self._print_text(f"{self._command} is running (Ctrl-C stops it)")
                self._silence_limit = STILL

    def show_rest(self, output: str) -> None:
        """Show what is not on the screen of an output that begins as it came."""
        if unshown_text := output[self._shown_length :].strip("\n"):
            self._print_text(apply_carriage_returns(unshown_text))

    def _show_new_lines(self, text: str) -> None:
        self.head = (self.head + text)[:HEAD]
        new_lines = self.head[self._shown_length : self.head.rfind("\n") + 1].rstrip("\n")
        if new_lines:
            self._print_text(apply_carriage_returns(new_lines))
            self._shown_length += len(new_lines) + 1

    def _print_text(self, text: str) -> None:
        self._last_output = time.monotonic()
        self._session.tell(text)


def apply_carriage_returns(text: str) -> str:
    """The lines as they stand in the end, where a program went back to write one anew."""
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


async def run_typed_tool(session: ChatSession, name: str, arguments: Arguments) -> str:
    """Run a tool and say what it did. Raises UsageError if that fails."""
    tools = find_tools(session)
    find_tool(name, tools)
    try:
        result = await tools.call_typed(ToolCall("typed", name, arguments))
    except ToolError as error:
        raise UsageError(str(error)) from error
    if not result.ok:
        raise UsageError(result.problem or result.content)
    return f"{result.did}."


def find_tools(session: ChatSession) -> Registry:
    """The tools of the conversation; before there is one, those that need no server."""
    if session.opened is not None:
        return session.opened.chat.registry
    settings = session.options.settings()
    enter_workspace(session.options, settings)
    collection = Collection(settings, Path.cwd().resolve())
    for sentence in collection.take_problems():
        session.tell(sentence)
    return collection.registry
