"""Ctrl-C in every state of a turn: how soon the prompt is back, and whether anything is left.

`andy chat` in a real terminal gets the key, then Ctrl-D; `andy run` gets SIGINT. Counted are the
seconds until the next prompt and until the end, and the processes that outlive their andy.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.model_server import Answer, ModelServer, Operation, called, event, refused, status
from tests.shell import ANDY, ROOT, environment
from tests.terminal import Terminal

LIMIT = 0.5
"""Seconds in which 99 of 100 are to be over."""
STALL: Operation = {"op": "stall"}
TOOL = '''
"""Wait."""

import time

from andy_cli.toolbox.tool import tool


@tool(effect="read", action="wait")
def hold() -> str:
    """Wait for long"""
    time.sleep(20)
    return "waited"
'''
SERVER = ROOT / "tests" / "memory_server.py"


@dataclass(frozen=True)
class State:
    name: str
    answer: Answer
    shows: str
    """What is on the screen of a chat by then."""
    server: str = ""
    """Of an MCP server: the seconds it takes to start."""
    asks: bool = False
    """Only a chat can be in it."""


STATES = (
    State("before the first word", [status(), STALL], "is working"),
    State("in its thoughts", [status(), event({"reasoning_content": "Well. "}), STALL], "thinking"),
    State("in an answer", [status(), event({"content": "The first half. "}), STALL], "half"),
    State("between two tries", refused(429, "slow", {"retry-after": "30"}), "ry"),
    State(
        "a command runs",
        called("terminal_execute", '{"command": "sleep 600 & sleep 601; echo done"}'),
        "sleep 600",
    ),
    State("a tool runs", called("hold", "{}"), "wait"),
    State(
        "a question is asked",
        called("file_put", '{"path": "a", "content": "b"}'),
        "1 once",
        asks=True,
    ),
    State("a server starts", [status(), STALL], "is working", server="20"),
    State(
        "a command will not end",
        called("terminal_execute", '{"command": "trap \'\' TERM INT; sleep 602; sleep 603"}'),
        "sleep 602",
    ),
    State("a server is called", called("memory.wait", '{"seconds": 600}'), "wait", server="0"),
)


@dataclass
class Figures:
    seconds: list[float]
    left: int = 0
    failed: int = 0


def descendants(pid: int) -> set[tuple[int, str]]:
    """(process, when it began) of all that a process has started and of what those have."""
    parents: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(fields[1])].append((int(entry.parent.name), fields[19]))
    found: set[tuple[int, str]] = set()
    waiting = [pid]
    while waiting:
        children = parents[waiting.pop()]
        found |= set(children)
        waiting += [child for child, _ in children]
    return found


def count_living(processes: set[tuple[int, str]]) -> int:
    living = 0
    for pid, began in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        living += fields[19] == began and fields[0] != "Z"
    return living


def settings_of(state: State, home: Path) -> tuple[str, ...]:
    """Flags for this state, and the files they speak of."""
    (home / "config" / "tools").mkdir(parents=True, exist_ok=True)
    (home / "config" / "tools" / "hold.py").write_text(TOOL, encoding="utf-8")
    mode = "ask" if state.asks else "auto"
    if not state.server:
        return ("--permission-mode", mode)
    entry = {
        "command": sys.executable,
        "args": ["-m", "tests.memory_server"],
        "env": {"SLOW": state.server, "PYTHONPATH": str(ROOT)},
        "cwd": str(ROOT),
    }
    file = home / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"memory": entry}}), encoding="utf-8")
    return ("--permission-mode", mode, "--mcp-config", str(file))


def interrupt_chat(state: State, home: Path, url: str, figures: Figures, ends: Figures) -> None:
    flags = (*settings_of(state, home), "--base-url", url, "--model", "m")
    config = str(home / "config")
    with Terminal("chat", *flags, folder=home, HOME=str(home), ANDY_CONFIG_DIR=config) as terminal:
        terminal.prompts()
        terminal.type("Ask the memory for it.\r")
        terminal.sees(state.shows, 20)
        terminal.settle(0.3)
        processes = descendants(terminal.pid)
        began = time.monotonic()
        terminal.type("\x03")
        terminal.prompts(seconds=20)
        figures.seconds.append(time.monotonic() - began)
        began = time.monotonic()
        terminal.type("\x04")
        figures.failed += terminal.leaves(seconds=20) != 0
        ends.seconds.append(time.monotonic() - began)
        ends.left += count_living(processes)
        figures.failed += "Traceback" in terminal.text


def interrupt_run(state: State, home: Path, url: str, figures: Figures) -> None:
    flags = (*settings_of(state, home), "--base-url", url, "--model", "m")
    began_at = home / "out"
    with began_at.open("wb") as out:
        child = subprocess.Popen(
            [str(ANDY), "run", *flags, "Ask the memory for it."],
            cwd=home,
            env=environment(home, ANDY_CONFIG_DIR=str(home / "config")),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    time.sleep(5 if state.server == "0" else 2.5)
    processes = descendants(child.pid)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    code = child.wait(30)
    figures.seconds.append(time.monotonic() - began)
    figures.failed += code != 130 or b"Traceback" in began_at.read_bytes()
    figures.left += count_living(processes)


def main(cases: int) -> int:
    """Each state so often that there are `cases` in all."""
    table: dict[str, Figures] = defaultdict(lambda: Figures([]))
    rounds = max(1, cases // (3 * len(STATES)))
    for _ in range(rounds):
        for state in STATES:
            with (
                ModelServer([state.answer], checked=False) as server,
                tempfile.TemporaryDirectory() as temporary,
            ):
                home = Path(temporary)
                ends = table[f"{state.name}: chat left"]
                interrupt_chat(state, home, server.url, table[f"{state.name}: chat"], ends)
                if not state.asks:
                    interrupt_run(state, home, server.url, table[f"{state.name}: run"])
    return tell(table)


def tell(table: Mapping[str, Figures]) -> int:
    seconds: list[float] = []
    broken = 0
    for name, figures in table.items():
        seconds += figures.seconds
        broken += figures.left + figures.failed
        mean, most = sum(figures.seconds) / len(figures.seconds), max(figures.seconds)
        sys.stdout.write(
            f"{name:40} mean {mean:.2f} s, at most {most:.2f} s, "
            f"left {figures.left}, failed {figures.failed}\n"
        )
    seconds.sort()
    p99 = seconds[min(len(seconds) - 1, int(len(seconds) * 0.99))]
    sys.stdout.write(f"{len(seconds)} in all, 99 of 100 within {p99:.2f} s; {broken} broken\n")
    return int(broken > 0 or p99 > LIMIT)
