"""One chat over many turns, and 64 streams at once through `andy serve`: memory stays where it was.

Each turn calls a tool and answers; the history is shortened to a window, as with any model. What
grows with the number of turns would show as memory, or as processor time of the last turns.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import uvloop

from tests.benchmarks.serve import COMPILED, Client, memory, started, until_there
from tests.marking_conversation import answer_request, install_mark_tool
from tests.model_server import ModelServer
from tests.shell import environment, free_port
from tests.terminal import ANDY, Terminal

WINDOW = 16_000
"""Tokens the model reads at most."""
GROWTH = 1.05
STREAMS, ROUNDS = 64, 30
TICKS = os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Megabytes of a process that are in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_time(pid: int) -> float:
    """Seconds a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def is_flat(name: str, sizes: Sequence[float]) -> bool:
    """Whether the last third is hardly more than the middle one; the first is the warm-up."""
    third = len(sizes) // 3
    middle, last = median(sizes[third:-third]), median(sizes[-third:])
    flat = last <= middle * GROWTH
    shown = " ".join(f"{size:.1f}" for size in sizes)
    verdict = "flat" if flat else "it grows"
    sys.stdout.write(f"{name}: {shown} MB\n")
    sys.stdout.write(f"  in the middle {middle:.1f} MB, at the end {last:.1f} MB: {verdict}\n")
    return flat


def chat(turns: int) -> bool:
    step = max(1, turns // 10)
    with tempfile.TemporaryDirectory() as made, ModelServer(answer_request) as server:
        folder = Path(made)
        install_mark_tool(folder / "config")
        own = {"ANDY_CONFIG_DIR": str(folder / "config"), "MARKS": str(folder / "marks")}
        os.environ.update(environment(folder, **own))
        flags = ("--base-url", server.url, "--model", "m", "--permission-mode", "auto")
        words = ("chat", *flags, "--set", f"limits.context={WINDOW}")
        # A process that is not a fork: its memory is all its own.
        with Terminal(*words, folder=folder, rows=12, command=ANDY) as terminal:
            terminal.prompts()
            spent, sizes = [processor_time(terminal.pid)], []
            for turn in range(1, turns + 1):
                terminal.type(f"Mark 1 times from {turn}\r")
                assert terminal.prompts_or_ends(), terminal.text[-2_000:]
                server.requests.clear()
                if turn % step == 0:
                    sizes.append(resident(terminal.pid))
                    spent.append(processor_time(terminal.pid))
        marks = (folder / "marks").read_text().split()
    first, last = (spent[1] - spent[0]) / step, (spent[-1] - spent[-2]) / step
    sys.stdout.write(f"chat, {turns:,} turns, {len(set(marks)):,} tools run\n")
    sys.stdout.write(
        f"processor time of a turn: {first * 1000:.0f} ms in the first {step},"
        f" {last * 1000:.0f} ms in the last\n"
    )
    return is_flat("memory of the chat", sizes) and len(set(marks)) == len(marks) == turns


def streams() -> bool:
    model, ours = free_port(), free_port()
    body = json.dumps(COMPILED).encode()
    sizes = []
    with started("tests.benchmarks.instant", str(model)):
        until_there(model)
        url = f"http://127.0.0.1:{model}/v1"
        serve = ("andy_cli", "serve", "--upstream", url, "--model", "m", "--dialect", "hermes")
        with started(*serve, "--port", str(ours)) as process:
            until_there(ours)
            for _ in range(ROUNDS):
                uvloop.run(Client(ours).rate(body, STREAMS, STREAMS))
                sizes.append(memory(process))
    return is_flat(f"memory of andy serve, {STREAMS} streams at once", sizes)


def main(turns: int) -> int:
    started_at = time.monotonic()
    good = [chat(turns), streams()]
    sys.stdout.write(f"turns: {turns:,}, {time.monotonic() - started_at:.0f} s\n")
    return 0 if all(good) else 1
