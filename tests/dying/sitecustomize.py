"""Kill this process at one step of writing the session: Python imports this when it starts.

With this folder on PYTHONPATH and `DIES_AT=17:0.4`, the 17th call of os.open, os.write or os.fsync
for a file below a folder `sessions` is the last: of what a write should write, four tenths are
written first. `1.0` is the moment after the call. A kill from outside hardly ever hits there.
"""

import os
import signal
from pathlib import Path
from typing import Any

step, _, share = os.environ.get("DIES_AT", "0:0").partition(":")
remaining = int(step)
descriptors: set[int] = set()
real_open, real_write, real_fsync = os.open, os.write, os.fsync


def is_last() -> bool:
    global remaining
    remaining -= 1
    return remaining == 0


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def open_or_die(path: Any, *arguments: Any, **options: Any) -> int:  # noqa: ANN401
    ours = isinstance(path, str | os.PathLike) and Path(path).parent.name == "sessions"
    last = ours and is_last()
    if last and float(share) < 1:
        die()
    descriptor = real_open(path, *arguments, **options)
    if last:
        die()
    if ours:
        descriptors.add(descriptor)
    else:
        descriptors.discard(descriptor)
    return descriptor


def write_or_die(descriptor: int, data: bytes) -> int:
    if descriptor in descriptors and is_last():
        real_write(descriptor, data[: int(len(data) * float(share))])
        die()
    return real_write(descriptor, data)


def fsync_or_die(descriptor: int) -> None:
    last = descriptor in descriptors and is_last()
    if last and float(share) < 1:
        die()
    real_fsync(descriptor)
    if last:
        die()


if remaining:
    replaced = {"open": open_or_die, "write": write_or_die, "fsync": fsync_or_die}
    vars(os).update(replaced)
