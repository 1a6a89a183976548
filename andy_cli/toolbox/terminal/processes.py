"""Processes that were started by a command, found and ended whatever they did to hide.

A command runs in a process group of its own, and everything it starts inherits a mark in its
environment: so what left the group, as daemons do, is found too (on Linux, by /proc).
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

MARK = "AGENT_COMMAND_ID"
GRACE = 0.5
"""Seconds between the friendly signal and the other one."""
ROUNDS = 20
"""How often is looked for what was started meanwhile."""


def end(process: "subprocess.Popen[bytes]", mark: str) -> None:
    """End a command with everything it started; when this returns it is gone."""
    if sys.platform == "win32":
        tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(tree, capture_output=True, check=False)
        process.kill()
    else:
        _tell_all(process, mark, signal.SIGTERM)
        _wait(process, mark)
        for _ in range(ROUNDS):
            _tell_all(process, mark, signal.SIGKILL)
            if not _family(process.pid, mark):
                break
            time.sleep(0.01)
    process.wait()


def _wait(process: "subprocess.Popen[bytes]", mark: str) -> None:
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        if process.poll() is not None and not _family(process.pid, mark):
            return
        time.sleep(0.02)


def _tell_all(process: "subprocess.Popen[bytes]", mark: str, number: int) -> None:
    family = _family(process.pid, mark)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
    for each in family:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each, number)


def _family(ancestor: int, mark: str) -> set[int]:
    """Those that live, have the mark or descend from the ancestor; itself left out."""
    parents = dict(_parents())
    wanted = f"{MARK}={mark}".encode()
    found = {each for each in parents if _has(each, wanted)}
    descended = {ancestor}
    while more := {each for each, parent in parents.items() if parent in descended} - descended:
        descended |= more
    return (found | descended) - {ancestor, os.getpid()}


def _parents() -> Iterable[tuple[int, int]]:
    """Each living process with its parent; zombies do not live. Nothing where there is no /proc."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = (
                (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            )
            if state not in "ZX":
                yield int(entry.name), int(parent)


def _has(process: int, wanted: bytes) -> bool:
    try:
        return wanted in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
