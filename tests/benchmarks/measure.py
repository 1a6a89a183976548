"""How things are measured: medians of repeated runs, printed as ratios to a floor."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

RUNS = 9
ANDY = str(Path(sys.executable).parent / "andy")


def wall(command: Sequence[str], runs: int = RUNS, env: dict[str, str] | None = None) -> float:
    """Median seconds from start to end of a command; its output goes nowhere."""

    def once() -> float:
        started = time.perf_counter()
        subprocess.run(
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
        )
        return time.perf_counter() - started

    once()  # caches
    return median(once() for _ in range(runs))


def cpu(command: Sequence[str], runs: int = 3, env: dict[str, str] | None = None) -> float:
    """Median CPU seconds, user and system, of a command."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return median(once() for _ in range(runs))


def per_item(work: Callable[[], object], items: int, runs: int = 5) -> float:
    """Median microseconds an item."""

    def once() -> float:
        started = time.perf_counter()
        work()
        return (time.perf_counter() - started) / items * 1e6

    return median(once() for _ in range(runs))


def table(title: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
    """Columns: what, measured, floor or peer, ratio or goal."""
    print(f"\n{title}")
    head = ("", "measured", "floor or peer", "ratio (goal)")
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(4)]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
