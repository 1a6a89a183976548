"""Reads what is piped into `andy run`, and knows for how long it is waited for."""

import os
import re
import select
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from andy_cli.errors import LimitError

FIRST_BYTE = 0.3
"""Seconds to wait for piped text when a task was given too: a pipe nobody writes to is common."""
PIPED_LIMIT = 1_000_000
"""Bytes of piped text that are read."""
SHELLS = frozenset(["sh", "ash", "bash", "dash", "fish", "ksh", "zsh"])
LOOP = re.compile(rb"\b(?:while|until|for|read)\b")
WAITS = "andy: waiting for what comes through the pipe; --no-stdin leaves it out.\n"
CAME_TOO_LATE = (
    f"andy: nothing came through the pipe within {FIRST_BYTE:g} s, so it was not read."
    " A file goes with the task as @FILE; with --no-stdin no pipe is looked at.\n"
)


def read_piped(wait_for_input: bool, quiet: bool, seconds: float) -> str:
    """Read what is piped in, within so many seconds where it is not 0. Raises LimitError.

    `wait_for_input`: there is no task without it. Else a pipe that is silent is waited for if
    somebody beside andy is to write to it, as in `make | andy run ...`; a program that started
    andy, such as a CI runner or an editor, may never write to the pipe that it opened. In a loop
    over a pipe, `... | while read line; do andy run ...; done`, the pipe is the loop's.
    """
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    descriptor = sys.stdin.fileno()
    if stat.S_ISCHR(os.fstat(descriptor).st_mode):
        return ""  # /dev/null
    if not wait_for_input and not is_worth_waiting(descriptor, quiet):
        return ""
    data = read_bytes(descriptor, seconds)
    if len(data) > PIPED_LIMIT:
        sys.stderr.write(f"andy: only the first {PIPED_LIMIT:,} bytes of the input were read.\n")
    return data[:PIPED_LIMIT].decode("utf-8-sig", "replace")


def is_worth_waiting(descriptor: int, quiet: bool) -> bool:
    """Tell whether something came, or may yet come; the user is told where nothing did."""
    if has_input(descriptor, FIRST_BYTE):
        return True
    waits = is_written_beside(descriptor)
    if not (waits and quiet):
        sys.stderr.write(WAITS if waits else CAME_TOO_LATE)
        sys.stderr.flush()
    return waits


def has_input(descriptor: int, seconds: float) -> bool:
    """Tell whether input, or its end, comes within so many seconds."""
    readable, _, _ = select.select([descriptor], [], [], seconds)
    return bool(readable)


def read_bytes(descriptor: int, seconds: float) -> bytes:
    """Read to the end or a little beyond the limit. Raises LimitError after so many seconds.

    Not from `sys.stdin.buffer`: Python waits at its end for a thread that holds that one's lock.
    """
    data, end = b"", time.monotonic() + seconds
    while len(data) <= PIPED_LIMIT:
        if seconds and not has_input(descriptor, max(0.0, end - time.monotonic())):
            raise LimitError(
                f"What comes through the pipe did not end within {seconds:g} seconds.",
                "A larger --timeout gives it more; --no-stdin leaves it out.",
            )
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            break
        data += piece
    return data


def is_written_beside(descriptor: int) -> bool:
    """Tell whether a process can write to this pipe that neither started andy nor is andy; False
    where no process tells what it has open, and where one that started andy reads it too."""
    pipe = os.fstat(descriptor)
    process, *above = list_starters()
    if not stat.S_ISFIFO(pipe.st_mode) or any(may_loop_over(starter, pipe) for starter in above):
        return False
    starters = {process, *above}
    return any(
        may_write(entry, pipe)
        for entry in Path("/proc").glob("[0-9]*")
        if int(entry.name) not in starters
    )


def list_starters() -> Iterator[int]:
    """List this process, and those that started it."""
    process = os.getpid()
    while process:
        yield process
        try:
            status = Path(f"/proc/{process}/stat").read_text(errors="replace")
        except OSError:
            return
        process = int(status.rpartition(")")[2].split()[1])


def may_loop_over(process: int, pipe: os.stat_result) -> bool:
    """Tell whether a process is a shell that may read a pipe in a loop. A program that passes its
    input on, such as `timeout`, does not, nor a line for `sh -c` without a loop."""
    try:
        is_input = os.path.samestat(Path(f"/proc/{process}/fd/0").stat(), pipe)
        line = Path(f"/proc/{process}/cmdline").read_bytes()
        name = Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return False
    may_loop = LOOP.search(line) is not None or b"\0-c\0" not in line
    return is_input and name in SHELLS and may_loop


def may_write(entry: Path, pipe: os.stat_result) -> bool:
    """Tell whether a process, which `/proc` has an entry of, has a pipe open for writing."""
    with suppress(OSError):  # it has ended, or is somebody else's
        for file in (entry / "fd").iterdir():
            # The mode of the link is that in which the process opened the file.
            if os.path.samestat(file.stat(), pipe) and file.lstat().st_mode & stat.S_IWUSR:
                return True
    return False
