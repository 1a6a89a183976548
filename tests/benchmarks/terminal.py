"""What a chat on a real terminal costs: echo, bytes, time, and how soon a turn is stopped."""

import contextlib
import io
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
from fcntl import ioctl
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.markdown import Markdown

from tests.benchmarks.measure import ANDY, table
from tests.benchmarks.server import END, words
from tests.benchmarks.startup import BARE_PROMPT, first_prompt, instant_server, row

READY = b"\x1b[?2004h"
"""What prompt-toolkit writes when it begins to take keys."""
KEYS = 200
"""Keys that are pressed while an answer is written."""
LONG = 20_000
"""Tokens of four characters."""
TICKS = os.sysconf("SC_CLK_TCK")
STOPS = 12
PATIENCE = 120.0


class Chat:
    """A chat in a terminal of 80 x 24 whose bytes are only counted: no emulator slows it."""

    def __init__(self, url: str, home: str, *more: str) -> None:
        self.written = b""
        environment = {**os.environ, "HOME": home, "TERM": "xterm-256color", "OPENAI_API_KEY": ""}
        environment.pop("NO_COLOR", None)
        arguments = [ANDY, "chat", "--base-url", url, "--model", "m", *more]
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execve(ANDY, arguments, environment)
        ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def __enter__(self) -> "Chat":
        self.waits(READY)
        self.settles(2)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._terminal)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)

    def press(self, keys: str) -> int:
        """Returns how many bytes were written before."""
        os.write(self._terminal, keys.encode())
        return len(self.written)

    def waits(self, wanted: bytes, since: int = 0) -> float:
        """Wait until this is written; returns the seconds it took."""
        started = time.perf_counter()
        while wanted not in self.written[max(0, since - len(wanted)) :]:
            assert time.perf_counter() < started + PATIENCE, self.written[-2000:]
            self.reads(1.0)
            since = max(since, len(self.written) - (1 << 17))
        return time.perf_counter() - started

    def reads(self, seconds: float) -> bool:
        if not select.select([self._terminal], [], [], seconds)[0]:
            return True
        with contextlib.suppress(OSError):
            if data := os.read(self._terminal, 1 << 16):
                self.written += data
                return True
        return False

    def settles(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0 and self.reads(left):
            pass

    def turn(self, text: str) -> float:
        """Seconds from Enter to the end of the answer."""
        return self.waits(END.encode(), since=self.press(f"{text}\r"))

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far (Linux)."""
        user, system = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / TICKS


def echo(home: str) -> tuple[float, float]:
    """Median and 99th percentile of the milliseconds from a key to its sign, in a fast answer."""
    took: list[float] = []
    with instant_server(KEYS * 20, "pace=200") as url, Chat(url, home, "--no-session") as chat:
        chat.press("hello\r")
        chat.settles(1)
        for number in range(KEYS):
            sign = "\u0416\u0426"[number % 2]  # no answer holds it
            before = chat.press(sign)
            took.append(chat.waits(sign.encode(), since=before) * 1e3)
            chat.settles(0.037)
            if number % 20 == 19:
                chat.press("\x15")
    return median(took), sorted(took)[int(len(took) * 0.99)]


def long_answer(home: str) -> tuple[float, float, float]:
    """CPU seconds of a long answer, of rich for the whole of it, and bytes a byte of text."""
    text = "".join(words(LONG))
    started = time.process_time()
    Console(file=io.StringIO(), width=80, force_terminal=True).print(Markdown(text))
    rich = time.process_time() - started
    with instant_server(LONG) as url, Chat(url, home, "--no-session") as chat:
        chat.turn("warm up")  # imports, and the caches of rich
        before, written = chat.cpu, len(chat.written)
        chat.turn("hello")
        chat.settles(0.5)
        return chat.cpu - before, rich, (len(chat.written) - written) / len(text)


def bytes_at_60(home: str) -> float:
    tokens = 1200
    with instant_server(tokens, "pace=60") as url, Chat(url, home, "--no-session") as chat:
        written = len(chat.written)
        chat.turn("hello")
        return (len(chat.written) - written) / len("".join(words(tokens)))


def turns(home: str) -> tuple[float, float]:
    """Milliseconds of the first turn, and of the second to the fifth in the median."""
    with instant_server(20) as url, Chat(url, home, "--no-session") as chat:
        first, *more = (chat.turn(f"turn {number}") * 1e3 for number in range(5))
    return first, median(more)


def stops(home: str) -> list[float]:
    """Milliseconds from Ctrl-C to the prompt, at several places of an answer."""
    took: list[float] = []
    with instant_server(LONG, "pace=200") as url, Chat(url, home, "--no-session") as chat:
        for number in range(STOPS):
            chat.press("hello\r")
            chat.settles(0.01 + number * 0.2)
            took.append(chat.waits(b"stopped", since=chat.press("\x03")) * 1e3)
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "TERM": "xterm-256color", "OPENAI_API_KEY": ""}
        bare = Path(home) / "bare.py"
        bare.write_text(BARE_PROMPT)
        bare_prompt, _ = first_prompt([sys.executable, str(bare)], env)
        prompt, _ = first_prompt([ANDY], env)
        middle, slowest = echo(home)
        spent, rich, wide = long_answer(home)
        narrow = bytes_at_60(home)
        first, later = turns(home)
        stopped = stops(home)
    table(
        "terminal",
        [
            row("first prompt, s", prompt, "bare prompt-toolkit", bare_prompt, "<= 1.4"),
            ("echo at 200 tokens/s, ms", f"{slowest:.1f}", f"{middle:.1f}  median", "(p99 <= 16)"),
            row("20,000 tokens, CPU s", spent, "rich, the whole", rich, "<= 2"),
            ("  bytes a byte of text", f"{wide:.2f}", "", "(<= 3)"),
            ("  at 60 tokens/s", f"{narrow:.2f}", "", "(<= 4)"),
            row("first turn, ms", first, "the next", later, "<= 3"),
            (
                "Ctrl-C to the prompt, ms",
                f"{max(stopped):.0f}",
                f"{median(stopped):.0f}  median",
                "(<= 1000)",
            ),
        ],
    )
