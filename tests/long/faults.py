"""Every fault of a model server, in process as `andy run` and `andy chat`, and behind a real
`andy serve`; each reply that ends well also cut after every byte (or every so many)."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests import faults, serve_faults
from tests.faults import FaultServer, Row

Wrong = list[str]


def main(stride: int) -> int:
    started = time.monotonic()
    failures = 0
    with tempfile.TemporaryDirectory() as folder, FaultServer() as server:
        os.environ["HOME"] = folder
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        asked = sys.argv[3:]
        rows = [row for row in faults.rows() if not asked or row.id in asked]
        for name, wrongs in (
            ("run and chat", in_process(rows, server, Path(folder), stride)),
            ("serve", serve_faults.behind_serve(rows, server, Path(folder), stride)),
        ):
            failures += report(name, wrongs)
    sys.stdout.write(f"faults: {failures} wrong, {time.monotonic() - started:.0f} s\n")
    return 1 if failures else 0


def report(name: str, wrongs: Iterator[tuple[Row, int, Wrong]]) -> int:
    """Print which rows do not hold; returns how many."""
    rows = bad = played = 0
    for row, plays, wrong in wrongs:
        rows, played, bad = rows + 1, played + plays, bad + bool(wrong)
        for line in wrong[:3]:
            sys.stdout.write(f"  {name}: {row.id} {row.title}: {line}\n")
        if len(wrong) > 3:
            sys.stdout.write(f"  {name}: {row.id} and {len(wrong) - 3} more cuts\n")
        sys.stdout.flush()
    sys.stdout.write(f"{name}: {rows - bad} of {rows} rows hold, {played:,} replies\n")
    return bad


def in_process(
    rows: list[Row], server: FaultServer, folder: Path, stride: int
) -> Iterator[tuple[Row, int, Wrong]]:
    plan = faults.plan_cuts(rows, stride)
    for row in rows:
        if row.request:
            continue
        wrong = [problem] if (problem := play_once(row, server, folder)) else []
        cuts = plan.get(row.id, range(0))
        for cut in cuts:
            if problem := play_cut(row, server, cut):
                wrong.append(f"cut at {cut}: {problem}")
        yield row, 1 + len(cuts), wrong


def play_once(row: Row, server: FaultServer, folder: Path) -> str:
    if row.opens["op"] in faults.OPENS_ELSEWHERE:
        with faults.opened_elsewhere(row, folder, server) as url:
            seen = asyncio.run(faults.play_in_process(row, url, row.id, None))
        return faults.find_wrong(row, seen)
    play = server.begin(row.id, row)
    seen = asyncio.run(faults.play_in_process(row, server.server.url, row.id, play))
    wrong = faults.find_wrong(row, seen)
    if not wrong and seen.second != "Fine.":
        wrong = f"the next turn gave {seen.second!r}"
    if not wrong and server.elsewhere.connections:
        wrong = "another host was asked"
    return wrong


def play_cut(row: Row, server: FaultServer, cut: int) -> str:
    model = f"{row.id}@{cut}"
    play = server.begin(model, row, cut)
    seen = asyncio.run(faults.play_in_process(row, server.server.url, model, play))
    del server.plays[model]
    return faults.find_wrong_cut(row, seen, cut)
