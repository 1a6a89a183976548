"""Processes that were started by a command, found and ended whatever they did to hide.

A command runs in a process group of its own, and everything it starts inherits a mark in its
environment and the pipe it writes to: so what left the group, as daemons do, is found too (on
Linux, by /proc). What gave up all four, its group, parent, environment and output, is not.
"""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

MARK = "AGENT_COMMAND_ID"
GRACE_PERIOD = 0.25
"""Seconds between the friendly signal and the other one."""
LOOK, ROUNDS = 0.02, 20
"""Seconds between two looks for what is left, and how often is looked in the end."""


class StartedProcess(NamedTuple):
    """A command that runs."""

    process: "subprocess.Popen[bytes]"
    mark: str
    reading: int
    """The end of the pipe at which its output can be read."""


def end_command(started: StartedProcess) -> None:
    """End a command with everything it started; when this returns it is gone."""
    process = started.process
    if sys.platform == "win32":
        tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(tree, capture_output=True, check=False)
        process.kill()
    else:
        _tell_all(started, signal.SIGTERM)
        _wait_for_process(started)
        for _ in range(ROUNDS):
            _tell_all(started, signal.SIGKILL)
            if not _list_family(started):
                break
            time.sleep(LOOK)
    process.wait()


def has_left_program(started: StartedProcess) -> bool:
    """Tell whether a command that has ended left a program running, wherever that writes to.

    What is just ending is waited for. On Linux: elsewhere nothing is found.
    """
    until = time.monotonic() + GRACE_PERIOD
    while _list_marked(started.mark):
        if time.monotonic() > until:
            return True
        time.sleep(LOOK)
    return False


def _list_marked(process_mark: str) -> list[int]:
    mark = f"{MARK}={process_mark}".encode()
    return [pid for pid, _ in _list_parents() if _has_mark(pid, mark)]


def tell_marked(process_mark: str, number: int) -> bool:
    """Send a signal to whatever has this mark in its environment; False if there is nothing.

    On Linux: elsewhere nothing is found.
    """
    family = _list_marked(process_mark)
    for process in family:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
    return bool(family)


def _wait_for_process(started: StartedProcess) -> None:
    until = time.monotonic() + GRACE_PERIOD
    while time.monotonic() < until:
        if started.process.poll() is not None and not _list_family(started):
            return
        time.sleep(LOOK)


def _tell_all(started: StartedProcess, number: int) -> None:
    family = _list_family(started)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(started.process.pid, number)
    for process in family:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _list_family(started: StartedProcess) -> set[int]:
    """List the processes that live and have the mark or the pipe, or descend from the command; not
    andy itself."""
    parents = dict(_list_parents())
    process_mark = f"{MARK}={started.mark}".encode()
    pipe_name = f"pipe:[{os.fstat(started.reading).st_ino}]"
    marked = {
        parent
        for parent in parents
        if _has_mark(parent, process_mark) or _writes_to(parent, pipe_name)
    }
    descended = {started.process.pid}
    while (
        children := {child for child, parent in parents.items() if parent in descended} - descended
    ):
        descended |= children
    return (marked | descended) - {started.process.pid, os.getpid()}


def _list_parents() -> Iterable[tuple[int, int]]:
    """Each living process with its parent; zombies do not live. Nothing where there is no /proc."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = (
                (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            )
            if state not in "ZX":
                yield int(entry.name), int(parent)


def _has_mark(process: int, process_mark: bytes) -> bool:
    try:
        return process_mark in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _writes_to(process: int, pipe_name: str) -> bool:
    """Tell whether a process writes to a pipe: the other end is ours."""
    with contextlib.suppress(OSError):
        for file in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                # The link's own mode says what the file is open for.
                if str(file.readlink()) == pipe_name and file.lstat().st_mode & stat.S_IWUSR:
                    return True
    return False
