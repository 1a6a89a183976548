"""Writes in mode `edits` while another process swaps a folder of the workspace for a link outside.

`swapped_writes(folder, tries)` gives how many writes were done and how many of them landed outside.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.gate import Gate, Proposal
from andy_cli.messages import Effect, ToolCall
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


@contextlib.contextmanager
def _swapping(workspace: Path) -> Iterator[None]:
    swapper = subprocess.Popen([sys.executable, "-c", SWAP, str(workspace)])
    try:
        yield
    finally:
        swapper.kill()
        swapper.wait()


async def _write(tools: Registry, gate: Gate, number: int) -> bool:
    arguments = {"path": f"notes/{number}.txt", "content": "x"}
    call = ToolCall("call00001", "write_file", arguments)
    with contextlib.suppress(ToolError):
        claim = tools.claim(call)
        verdict = await gate.decide(Proposal("write_file", Effect.WRITE, "write", claim))
        return verdict.allowed and (await tools.call(call, verdict.granted)).ok
    return False
