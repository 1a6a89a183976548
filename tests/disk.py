"""A disk that fails when a test says so: the calls that a session's file is written with."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

ALWAYS = 1 << 30


@dataclass
class Disk:
    """Counts opening, writing and syncing of files in a folder, and lets some of it fail."""

    folder: Path
    fails_at: int = -1
    """The number of the first call that fails."""
    times: int = 1
    error: int = errno.ENOSPC
    short: bool = False
    """Half of what is written gets there first."""
    calls: int = 0
    synced: dict[str, int] = field(default_factory=dict)
    """Bytes of each file that are on disk for sure."""
    _open: dict[int, str] = field(default_factory=dict)

    def _next_fails(self) -> bool:
        at = self.calls
        self.calls += 1
        return self.fails_at <= at < self.fails_at + self.times if self.fails_at >= 0 else False

    def _fail(self) -> OSError:
        return OSError(self.error, os.strerror(self.error))

    def opened(self, real: Callable[..., int], path: Path | str, *rest: int) -> int:
        ours = Path(path).parent == self.folder
        if ours and self._next_fails():
            raise self._fail()
        descriptor = real(path, *rest)
        if ours:
            self._open[descriptor] = str(path)
        else:
            self._open.pop(descriptor, None)
        return descriptor

    def written(self, real: Callable[[int, bytes], int], descriptor: int, data: bytes) -> int:
        if descriptor in self._open and self._next_fails():
            if self.short and len(data) > 1:
                self.short = False  # what is left fails then
                self.fails_at += 1
                return real(descriptor, data[: len(data) // 2])
            raise self._fail()
        return real(descriptor, data)

    def flushed(self, real: Callable[[int], None], descriptor: int) -> None:
        if descriptor in self._open and self._next_fails():
            raise self._fail()
        real(descriptor)
        if descriptor in self._open:
            self.synced[self._open[descriptor]] = os.fstat(descriptor).st_size


@contextmanager
def failing(disk: Disk) -> Iterator[Disk]:
    """Within, the disk fails as it says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", partial(disk.opened, os.open))
        patch.setattr(os, "write", partial(disk.written, os.write))
        patch.setattr(os, "fsync", partial(disk.flushed, os.fsync))
        yield disk
