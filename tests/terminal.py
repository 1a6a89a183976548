"""A real terminal of a fixed size: a program in it, and what a person would see of it.

    with Terminal("chat", "--base-url", server.url, "--model", "m") as terminal:
        terminal.sees("> ")
        terminal.type("hello\\r")
        terminal.sees("Hello!")

The screen is pyte's, which answers what programs ask a terminal, as real ones do. `andy` is forked
from a process that has loaded its code (`tests.warm_start`) where no command is named.
"""

import contextlib
import fcntl
import os
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from tests import warm_start

ANDY = str(warm_start.ANDY)
PATIENCE = 20.0
MANNERS = 0.1
"""Seconds for a program to end without its terminal, and then after each signal."""
MEANWHILE = "Enter queues"
ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
"""One escape sequence: CSI, OSC, or a short one."""


class Screen(pyte.HistoryScreen):
    """A screen that answers what it is asked."""

    def __init__(self, columns: int, rows: int, reply: Callable[[str], None]) -> None:
        super().__init__(columns, rows, history=100_000)
        self._answer = reply

    def write_process_input(self, data: str) -> None:
        self._answer(data)

    def select_graphic_rendition(self, *attrs: int) -> None:
        """Keep faint text, which pyte does not know, as blinking text, which andy never writes."""
        if not {38, 48}.intersection(attrs):  # what follows those are colours
            attrs = tuple({2: 5}.get(each, each) for each in attrs)
            attrs += (25,) * (22 in attrs)
        super().select_graphic_rendition(*attrs)


class Terminal:
    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        folder: Path | None = None,
        command: str = "",
        **environment: str,
    ) -> None:
        """`environment` comes on top of the test's own; `command` is another than `andy`."""
        self.screen = Screen(columns, rows, self._reply)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        """Everything the program wrote."""
        self._sent = 0
        """Lines that were sent, as the screen shows them, once the last keys have arrived."""
        known = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **inherited(), **environment}
        self._keyboard, line = os.openpty()
        termios.tcsetwinsize(line, (rows, columns))
        try:
            self._program = start_program(command, arguments, folder or Path.cwd(), known, line)
        finally:
            os.close(line)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the terminal away, and then be less and less polite."""
        os.close(self._keyboard)
        for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._program.wait(MANNERS)
                return
            self._program.send_signal(number)
        self._program.wait()

    @property
    def pid(self) -> int:
        return self._program.pid

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without the blanks at the ends of lines."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def scrolled(self) -> list[str]:
        """What has left the screen at its top."""
        columns = range(self.screen.columns)
        return ["".join(row[at].data for at in columns).rstrip() for row in self.screen.history.top]

    @property
    def text(self) -> str:
        """All that was ever written and not erased."""
        return "\n".join([*self.scrolled, *self.lines]).rstrip()

    def type(self, keys: str) -> None:
        # Between turns Enter sends a line, which then stands above the prompt.
        self._sent = self._lines_sent() + (self._idle() and "\r" in keys)
        os.write(self._keyboard, keys.encode())

    def paste(self, text: str) -> None:
        """As terminals paste: in brackets that say that it was not typed."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        termios.tcsetwinsize(self._keyboard, (rows, columns))
        self.screen.resize(rows, columns)

    def sees(self, wanted: str, seconds: float = PATIENCE) -> str:
        """Wait until the text is there; returns everything there is then."""
        self.wait(lambda: wanted in self.text, repr(wanted), seconds)
        return self.text

    def prompts(self, seconds: float = PATIENCE) -> str:
        """Wait until what was sent is done, and nothing typed; returns everything there is then."""
        self.wait(self._done, "prompt", seconds)
        return self.text

    def prompts_or_ends(self, seconds: float = PATIENCE) -> bool:
        """Wait for an empty prompt, or for the end of the program; returns whether it prompts."""
        end = time.monotonic() + seconds
        while not self._done():
            assert time.monotonic() < end, f"neither a prompt nor an end:\n{self.text}"
            if not self._read(0.2):
                return False
        return True

    def _done(self) -> bool:
        at_prompt = self.lines[self.screen.cursor.y] == ">" and self.screen.cursor.x == 2
        return at_prompt and self._lines_sent() >= self._sent

    def _idle(self) -> bool:
        """Whether no turn runs: an empty prompt says then what Enter and Esc do."""
        return MEANWHILE not in self.text and any(line.startswith(">") for line in self.lines)

    def _lines_sent(self) -> int:
        """Lines above the prompt that begin as the prompt does."""
        return max(
            0, sum(line.startswith("> ") or line == ">" for line in self.text.split("\n")) - 1
        )

    def wait(self, true: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end or not self._read(min(0.2, end - time.monotonic())):
                assert true(), f"there was no {what} on the screen:\n{self.text}"
                return

    def leaves(self, seconds: float = PATIENCE) -> int:
        """Wait for the end of the program; returns its exit code."""
        end = time.monotonic() + seconds
        while self._read(0.2):
            assert time.monotonic() < end, f"it did not end:\n{self.text}"
        return self._program.wait()

    def settle(self, seconds: float) -> str:
        """Whatever comes within so many seconds, to show that something does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._read(0.05):
            pass
        return self.text

    def _read(self, seconds: float) -> bool:
        """Take in what the program writes; False when it has ended."""
        if not select.select([self._keyboard], [], [], max(0.01, seconds))[0]:
            return True
        try:
            data = os.read(self._keyboard, 65_536)
        except OSError:  # what Linux says where others give nothing
            data = b""
        if not data:
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    def _reply(self, data: str) -> None:
        os.write(self._keyboard, data.encode())


def start_program(
    command: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    line: int,
) -> warm_start.AndyProcess:
    """`line` is the end of the terminal that programs have."""
    if not command and warm_start.begins_alike(environment):
        return warm_start.fork_andy(
            *arguments,
            cwd=folder,
            environment=environment,
            streams=(line, line, line),
            terminal=True,
        )
    return subprocess.Popen(
        [command or ANDY, *arguments],
        cwd=folder,
        env=environment,
        stdin=line,
        stdout=line,
        stderr=line,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )


def inherited() -> dict[str, str]:
    """The environment, without what says how a terminal looks: that is ours to say."""
    ours = {"NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "COLUMNS", "LINES"}
    return {name: value for name, value in os.environ.items() if name not in ours}


def without_escapes(raw: bytes) -> str:
    return ESCAPE.sub(b"", raw).decode("utf-8", "replace")
