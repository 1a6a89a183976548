"""A real terminal in tmux: one that wraps long lines anew when it is resized, as most do.

with Tmux("chat", "--model", "m") as tmux:
    tmux.sees("> ")
    tmux.type("hello", "Enter")
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest

from tests.terminal import ANDY, PATIENCE, inherited

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
LOOK = 0.05


class Tmux:
    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        folder: Path | None = None,
        pause: float = 0.0,
        **environment: str,
    ) -> None:
        """`pause` is waited for, in seconds, before the program begins: keys may be typed then."""
        self._folder = tempfile.TemporaryDirectory()
        self._socket = str(Path(self._folder.name) / "tmux")
        command = f"sleep {pause}; exec {shlex.join([ANDY, *arguments])}"
        self._environment = {"LANG": "C.UTF-8", "SHELL": "/bin/sh", **inherited(), **environment}
        self._call(
            *("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", str(rows)),
            *("-c", str(folder or Path.cwd()), command),
        )

    def __enter__(self) -> "Tmux":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._call("kill-server")
        self._folder.cleanup()

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without the blanks at the ends of lines."""
        return self._call("capture-pane", "-p").split("\n")[:-1]

    @property
    def text(self) -> str:
        """All that was ever written and not erased."""
        return self._call("capture-pane", "-p", "-S", "-").rstrip()

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row."""
        at = self._call("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(at[0]), int(at[1])

    def type(self, text: str, *keys: str) -> None:
        """A text, then keys by the names that tmux gives them: Enter, C-c, Escape."""
        if text:
            self._call("send-keys", "-l", text)
        if keys:
            self._call("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self._call("resize-window", "-x", str(columns), "-y", str(rows))

    def sees(self, wanted: str, seconds: float = PATIENCE) -> str:
        """Wait until the text is there; returns everything there is then."""
        self.wait(lambda: wanted in self.text, repr(wanted), seconds)
        return self.text

    def wait(self, true: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, f"there was no {what} on the screen:\n{self.text}"
            time.sleep(LOOK)

    def settle(self, seconds: float) -> str:
        """Whatever comes within so many seconds, to show that something does not come."""
        time.sleep(seconds)
        return self.text

    def _call(self, *arguments: str) -> str:
        return subprocess.run(
            ["tmux", "-S", self._socket, *arguments],
            check=True,
            capture_output=True,
            text=True,
            env=self._environment,
        ).stdout
