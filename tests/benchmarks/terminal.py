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


class Program:
    """A program in a terminal of 80 x 24 whose bytes are only counted: no emulator slows it."""

    def __init__(self, home: str, *command: str) -> None:
        self.written = b""
        environment = {**os.environ, "HOME": home, "TERM": "xterm-256color", "OPENAI_API_KEY": ""}
        environment.pop("NO_COLOR", None)
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, environment)
        ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def __enter__(self) -> "Program":
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


def chat(home: str, url: str) -> Program:
    return Program(home, ANDY, "chat", "--base-url", url, "--model", "m", "--no-session")


def echo(program: Program) -> tuple[float, float]:
    """Median and 99th percentile of the milliseconds from a key to its sign."""
    took: list[float] = []
    for number in range(KEYS):
        sign = "\u0416\u0426"[number % 2]  # no answer holds it
        started = time.perf_counter()
        program.waits(sign.encode(), since=program.press(sign))
        took.append((time.perf_counter() - started) * 1e3)
        program.settles(0.037)
        if number % 20 == 19:
            program.press("\x15")
            program.settles(0.1)
    return median(took), sorted(took)[int(len(took) * 0.99)]


def echo_in_an_answer(home: str) -> tuple[float, float]:
    with instant_server(KEYS * 20, "pace=200") as url, chat(home, url) as program:
        program.press("hello\r")
        program.settles(1)
        return echo(program)


def bare_echo(home: str, script: Path) -> tuple[float, float]:
    with Program(home, sys.executable, str(script)) as program:
        return echo(program)


def long_answer(home: str) -> tuple[float, float, float]:
    """CPU seconds of a long answer, of rich for the whole of it, and bytes a byte of text."""
    text = "".join(words(LONG))
    started = time.process_time()
    Console(file=io.StringIO(), width=80, force_terminal=True).print(Markdown(text))
    rich = time.process_time() - started
    with instant_server(LONG) as url, chat(home, url) as program:
        program.turn("warm up")  # imports, and the caches of rich
        before, written = program.cpu, len(program.written)
        program.turn("hello")
        program.settles(0.5)
        return program.cpu - before, rich, (len(program.written) - written) / len(text)


def bytes_at_60(home: str) -> float:
    tokens = 1200
    with instant_server(tokens, "pace=60") as url, chat(home, url) as program:
        written = len(program.written)
        program.turn("hello")
        return (len(program.written) - written) / len("".join(words(tokens)))


def turns(home: str) -> tuple[float, float]:
    """Milliseconds of the first turn, and of the second to the fifth in the median."""
    with instant_server(20) as url, chat(home, url) as program:
        first, *more = (program.turn(f"turn {number}") * 1e3 for number in range(5))
    return first, median(more)


def stops(home: str) -> list[float]:
    """Milliseconds from Ctrl-C to the prompt, at several places of an answer."""
    took: list[float] = []
    with instant_server(LONG, "pace=200") as url, chat(home, url) as program:
        for number in range(STOPS):
            program.press("hello\r")
            program.settles(0.01 + number * 0.2)
            took.append(program.waits(b"stopped", since=program.press("\x03")) * 1e3)
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "TERM": "xterm-256color", "OPENAI_API_KEY": ""}
        bare = Path(home) / "bare.py"
        bare.write_text(BARE_PROMPT)
        bare_prompt, _ = first_prompt([sys.executable, str(bare)], env)
        prompt, _ = first_prompt([ANDY], env)
        _, bare_slowest = bare_echo(home, bare)
        middle, slowest = echo_in_an_answer(home)
        spent, rich, wide = long_answer(home)
        narrow = bytes_at_60(home)
        first, later = turns(home)
        stopped = stops(home)
    table(
        "terminal",
        [
            row("first prompt, s", prompt, "bare prompt-toolkit", bare_prompt, "<= 1.4"),
            ("a key at 200 tokens/s, ms", f"{middle:.1f}", "", "(median)"),
            row("  the 99th of 100", slowest, "bare, idle", bare_slowest, "<= 16 ms"),
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
