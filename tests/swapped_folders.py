"""Changes in mode `edits` while another process swaps a folder of the workspace for a link outside.

`swapped_writes(folder, tries)` gives how many writes were done and how many of them landed outside;
`swapped_changes(folder, tries)` the same for moves, copies, trashing and making folders.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.gate import ApprovalRequest, Gate
from andy_cli.messages import Arguments, Effect, ToolCall
from andy_cli.toolbox.registry import Registry
from tests.tools import shipped, work_in

EXCHANGE, HERE = 2, -100
"""RENAME_EXCHANGE and AT_FDCWD of Linux: there is never a moment without a folder."""
SWAP = f"""
import ctypes, os, sys
os.chdir(sys.argv[1])
rename = ctypes.CDLL(None).renameat2
while not rename({HERE}, b"notes", {HERE}, b"link", {EXCHANGE}):
    pass
"""


class Swapped(NamedTuple):
    written: int
    outside: int


def swapped_writes(folder: Path, tries: int) -> Swapped:
    """Write `notes/N.txt` so often as it would be in a turn: judged first, then run."""
    workspace, outside = folder / "workspace", folder / "outside"
    (workspace / "notes").mkdir(parents=True)
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    work_in(workspace)
    tools = shipped("files")
    gate = Gate(workspace, mode="edits")
    with _swapping(workspace):
        written = sum(asyncio.run(_write(tools, gate, number)) for number in range(tries))
    return Swapped(written, len([*outside.iterdir()]))


def swapped_changes(folder: Path, tries: int) -> Swapped:
    """Organise files in `notes`, and beside it, while `notes` is swapped for a link.

    What lies outside has the same names as in the workspace: `outside` counts what came or went.
    """
    workspace, outside = folder / "workspace", folder / "outside"
    for place in (workspace / "notes", outside):
        place.mkdir(parents=True)
        for number in range(tries):
            (place / f"{number}.txt").write_text(place.name)
    (workspace / "link").symlink_to(outside)
    before = {path.name for path in outside.iterdir()}
    work_in(workspace)
    tools = shipped("files")
    gate = Gate(workspace, mode="edits")
    done = 0
    with _swapping(workspace):
        for number in range(tries):
            done += asyncio.run(_change(tools, gate, *_chosen_change(workspace, number)))
    after = {path.name for path in outside.iterdir()}
    landed = [path for path in workspace.glob("*.txt") if path.read_text() == "outside"]
    return Swapped(done, len(before ^ after) + len(landed))


def _chosen_change(workspace: Path, number: int) -> tuple[str, Arguments]:
    """Each tool in turn, into the folder and out of it."""
    written, own = f"notes/{number}.txt", f"own{number}.txt"
    if number % 6 in (1, 3):
        (workspace / own).write_text("own")
    changes: list[tuple[str, Arguments]] = [
        ("move", {"paths": [written], "destination": f"{number}.txt"}),
        ("move", {"paths": [own], "destination": "notes/"}),
        ("copy", {"paths": [written], "destination": f"{number}.txt"}),
        ("copy", {"paths": [own], "destination": "notes/"}),
        ("trash", {"paths": [written]}),
        ("make_folder", {"path": f"notes/new{number}"}),
    ]
    return changes[number % 6]


@contextlib.contextmanager
def _swapping(workspace: Path) -> Iterator[None]:
    swapper = subprocess.Popen([sys.executable, "-c", SWAP, str(workspace)])
    try:
        yield
    finally:
        swapper.kill()
        swapper.wait()


async def _write(tools: Registry, gate: Gate, number: int) -> bool:
    return await _change(tools, gate, "write_file", {"path": f"notes/{number}.txt", "content": "x"})


async def _change(tools: Registry, gate: Gate, name: str, arguments: Arguments) -> bool:
    call = ToolCall("call00001", name, arguments)
    with contextlib.suppress(ToolError):
        access = tools.find_access(call)
        verdict = await gate.decide(ApprovalRequest(name, Effect.WRITE, name, access))
        return verdict.allowed and (await tools.call(call, verdict.granted)).ok
    return False
