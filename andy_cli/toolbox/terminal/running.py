"""A command line, run: its output while it goes on, and how it ended.

Nothing can be typed into it, and it has no terminal to draw on. When its time is up, or whoever
waits gives up, it is ended with everything it started, and what it wrote is kept.
"""

import contextlib
import os
import queue
import re
import secrets
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Literal, NamedTuple

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.redactor import secrets_of
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.runtime_context import Work, current_context
from andy_cli.toolbox.terminal.environment import clean_environment
from andy_cli.toolbox.terminal.output import CHUNK_SIZE, Output, keep_later_output
from andy_cli.toolbox.terminal.processes import MARK, StartedProcess, end_command, has_left_program
from andy_cli.toolbox.terminal.sandbox import only_reads, sandboxed_line
from andy_cli.toolbox.terminal.sandboxes import secrets_in
from andy_cli.toolbox.tool import Display, Outcome, progress

MAX_LAST_CHUNKS = 16
"""Pieces that are taken of one that was ended."""
POLL_INTERVAL = 0.05
"""Seconds between two looks whether it is over."""
OUTPUT_GRACE_PERIOD = 0.5
"""Seconds that output is waited for after the end of the shell: somebody may still hold it."""

PLAIN_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": os.devnull,
    "GIT_CONFIG_KEY_2": "core.pager",
    "GIT_CONFIG_VALUE_2": "cat",
}
"""git without what a repository or a user may have it run."""

Ending = Literal["exited", "left", "timed out", "stopped"]
SHELL_SAYS = {126: "The shell may not run that program.", 127: "The shell found no such program."}


HIDDEN = (
    "Hidden from it, as they may hold secrets: {names}. Where it calls one empty, missing or "
    "changed, that is not so."
)
MAX_HIDDEN = 5
"""Names of hidden files that are told."""


class CommandRun(NamedTuple):
    """A command that ended: why, with which code, and what it printed."""

    ending: Ending
    code: int
    output: str
    boxed: bool
    later_output: str = ""
    """The place of what a program that it left running still prints, in words."""


def run_outcome(command: str, seconds: float, notes: list[str], work: Work) -> Outcome:
    """Run the command and say how it went; `notes` are things to be said anyway.

    Raises ToolTimeout, with what it wrote by then, where its time was up, and ToolError if it
    cannot start.
    """
    finished_run = run_command(command, work)
    if finished_run.ending == "timed out":
        raise ToolTimeout(
            f"It was stopped after {seconds:g} s.",
            _describe_unfinished(finished_run, notes),
            finished_run.output,
        )
    record: dict[str, object] = {
        "exit_code": finished_run.code,
        "output": finished_run.output,
        "sandboxed": finished_run.boxed,
    }
    shown_command = _show_command(command)
    summary = f"ran {shown_command}" + (
        f", exit code {finished_run.code}" if finished_run.code else ""
    )
    if finished_run.ending == "left":
        left_note = ["It left a program running in the background", finished_run.later_output]
        notes.append(f"{'; '.join(filter(None, left_note))}.")
    if finished_run.code in SHELL_SAYS:
        notes.append(SHELL_SAYS[finished_run.code])
    if hidden := list_hidden(finished_run):
        notes.append(HIDDEN.format(names=", ".join(hidden)))
    if notes:
        record["note"] = " ".join(notes)
    display = Display(output=finished_run.output, exit_code=finished_run.code)
    unfinished = "a program runs on" if finished_run.ending == "left" else ""
    return Outcome(record, summary, display=display, unfinished=unfinished)


def list_hidden(finished_run: CommandRun) -> list[str]:
    """List the files that its output speaks of and that a sandbox hid from it; one in which files
    can be changed hides none."""
    is_writable = current_context().settings.text("guard.sandbox") == "on"
    if is_writable or not (finished_run.boxed and finished_run.output):
        return []
    workspace = current_context().workspace
    names = (os.path.relpath(path, workspace) for path, _ in secrets_in(workspace))
    return [name for name in names if stands_alone(name, finished_run.output)][:MAX_HIDDEN]


def stands_alone(name: str, text: str) -> bool:
    """Tell whether a text has the name of a file, and not only that of another one in it."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def _describe_unfinished(finished_run: CommandRun, notes: Sequence[str]) -> str:
    """Say what the model has to know of a command whose time was up."""
    output_text = "It had no output."
    if finished_run.output:
        output_text = f"Its output until then:\n{finished_run.output}"
    sentences = ["It is not done."]
    if finished_run.boxed:
        sentences.append("It ran in a sandbox.")
    return " ".join([*sentences, *notes, output_text])


def _show_command(command: str) -> str:
    line = spell_out(command.strip())
    return line if len(line) <= 80 else f"{line[:80]}..."


def run_command(
    command: str,
    work: Work,
    show_output: Callable[[str], object] = lambda text: None,
    is_typed: bool = False,
) -> CommandRun:
    """Run it until it ends, its time is up or it is stopped. Raises ToolError if it cannot start.

    `show_output` gets what it writes, as it comes; `is_typed`: it is the user's own line, which
    sees what the user sees.
    """
    if "\0" in command:
        raise ToolError("A command cannot hold a NUL character.")
    line = _shell_line(command)
    harmless = not is_typed and only_reads(command)
    sandboxed = sandboxed_line(line, harmless)
    # Nobody was asked about it, so no program of the workspace may pass for one of the system's.
    environment = clean_environment(
        os.environ, current_context().session_id, current_context().workspace if harmless else None
    )
    if harmless:
        environment = {**environment, **PLAIN_GIT}
    known_secrets = secrets_of(os.environ)
    output, later_output = Output(known_secrets, show_output), ""
    with _start_command(sandboxed or line, environment) as started:
        try:
            ending = _follow_command(started, output, work)
            if ending in ("timed out", "stopped"):
                end_command(started)
                _take_the_rest(started.reading, output)
            elif ending == "left":
                later_output = keep_later_output(started.reading, known_secrets)
        except BaseException:
            end_command(started)
            raise
        finally:
            output.close()
    code = started.process.returncode
    exit_code = code if code >= 0 else 128 - code
    return CommandRun(ending, exit_code, output.text(), sandboxed is not None, later_output)


def _shell_line(command: str) -> list[str]:
    """The shell that is given the command. Raises ToolError where there is none."""
    if sys.platform == "win32":
        return ["cmd", "/d", "/s", "/c", f'"{command}"']
    shell = find_program("bash", "sh")
    if not shell:
        raise ToolError("There is no shell on this machine's PATH: no command can be run.")
    return [shell, "-c", command]


@contextmanager
def _start_command(line: list[str], environment: Mapping[str, str]) -> Iterator[StartedProcess]:
    process_mark = secrets.token_hex(8)
    reading, writing = os.pipe()
    try:
        try:
            process = subprocess.Popen(
                # cmd has rules of its own for quotes.
                " ".join(line) if sys.platform == "win32" else line,
                cwd=current_context().workspace,
                env={**environment, MARK: process_mark},
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except OSError as error:
            raise ToolError(f"The command does not start: {error.strerror}.") from error
        finally:
            os.close(writing)
        yield StartedProcess(process, process_mark, reading)
    finally:
        os.close(reading)


def _follow_command(started: StartedProcess, output: Output, work: Work) -> Ending:
    """Take its output until it ends, or has to."""
    next_piece = _read_pieces(started.reading)
    ended_at = shown_at = 0.0
    while not (work.is_stopped or work.over):
        data = next_piece()
        if data == b"":
            return _wait_for_end(started, work)
        if data is not None:
            output.take(data)
            if time.monotonic() - shown_at > POLL_INTERVAL:
                shown_at = time.monotonic()
                progress(output.last_lines)
        elif started.process.poll() is not None:
            ended_at = ended_at or time.monotonic()
            if time.monotonic() - ended_at > OUTPUT_GRACE_PERIOD:
                return "left"
    return "stopped" if work.is_stopped else "timed out"


def _take_the_rest(reading: int, output: Output) -> None:
    """Read what was written last, as a goodbye. Not for ever: it may be somebody else's by now."""
    if sys.platform != "win32":
        for data in islice(iter(_read_pieces(reading), None), MAX_LAST_CHUNKS):
            output.take(data)


def _wait_for_end(started: StartedProcess, work: Work) -> Ending:
    """It writes no more: until it ends, or has to."""
    while not (work.is_stopped or work.over):
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.process.wait(POLL_INTERVAL)
            return "left" if has_left_program(started) else "exited"
    return "stopped" if work.is_stopped else "timed out"


def _read_pieces(reading: int) -> Callable[[], bytes | None]:
    """Asked again and again: the next piece, None if there is none yet, nothing at the end."""
    if sys.platform == "win32":
        return _pieces_by_thread(reading)
    ready = select.poll()
    ready.register(reading, select.POLLIN)

    def next_piece() -> bytes | None:
        return os.read(reading, CHUNK_SIZE) if ready.poll(POLL_INTERVAL * 1000) else None

    return next_piece


def _pieces_by_thread(reading: int) -> Callable[[], bytes | None]:
    """For Windows, where a pipe cannot be asked whether it has something."""
    waiting: queue.Queue[bytes] = queue.Queue(maxsize=16)

    def read() -> None:
        with contextlib.suppress(OSError):
            while data := os.read(reading, CHUNK_SIZE):
                waiting.put(data)
        waiting.put(b"")

    threading.Thread(target=read, daemon=True).start()

    def next_piece() -> bytes | None:
        try:
            return waiting.get(timeout=POLL_INTERVAL)
        except queue.Empty:
            return None

    return next_piece
