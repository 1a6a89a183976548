"""A disk that fails when a test says so: each call that files are written with, one by one."""

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

import pytest
from typing_extensions import Buffer

ALWAYS = 1 << 30
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A folder for thousands of files that are gone at once: nobody waits until a disk has them."""
OpenFile = Callable[..., IO[str] | IO[bytes]]


@dataclass
class Disk:
    """Counts opening, writing, syncing and renaming of files below a folder; some of it fails."""

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

    def _is_ours(self, path: object, beside: object = None) -> bool:
        """`beside` is the descriptor of the folder from which a path is looked up, if it is."""
        if not isinstance(path, str | Path):
            return False
        start = Path(f"/proc/self/fd/{beside}").resolve() if isinstance(beside, int) else Path()
        return self.folder in (start / path).parents

    def opened(
        self, real: Callable[..., int], path: Path | str, flags: int, *rest: int, **options: int
    ) -> int:
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        ours = writes and self._is_ours(path, options.get("dir_fd"))
        if ours and self._next_fails():
            raise self._fail()
        descriptor = real(path, flags, *rest, **options)
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

    def changed(
        self, real: Callable[..., None], path: Path | str, *rest: object, **options: object
    ) -> None:
        """Rename a file, or make a folder."""
        beside = options.get("src_dir_fd", options.get("dir_fd"))
        if self._is_ours(path, beside) and self._next_fails():
            raise self._fail()
        real(path, *rest, **options)

    def file(
        self, real: OpenFile, path: Path | str | int, mode: str = "r", *rest: int, **options: str
    ) -> IO[str] | IO[bytes]:
        """What `open` gives: a file whose writes go through `written`."""
        if not set(mode) & set("wax+") or not (self._is_ours(path) or path in self._open):
            return real(path, mode, *rest, **options)
        if not isinstance(path, int) and self._next_fails():
            raise self._fail()
        raw = FailingFile(path, mode.replace("b", ""))
        self._open[raw.fileno()] = str(path)
        buffered = io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding="utf-8")

    def flushed(self, real: Callable[[int], None], descriptor: int) -> None:
        if descriptor in self._open and self._next_fails():
            raise self._fail()
        real(descriptor)
        if descriptor in self._open:
            self.synced[self._open[descriptor]] = os.fstat(descriptor).st_size


class FailingFile(io.FileIO):
    def write(self, data: Buffer) -> int:
        return os.write(self.fileno(), data)  # which is the disk's


@contextmanager
def failing(disk: Disk) -> Iterator[Disk]:
    """Within, the disk fails as it says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", partial(disk.opened, os.open))
        patch.setattr(io, "open", partial(disk.file, io.open))
        for name in ("replace", "rename", "mkdir"):
            patch.setattr(os, name, partial(disk.changed, getattr(os, name)))
        patch.setattr(os, "write", partial(disk.written, os.write))
        patch.setattr(os, "fsync", partial(disk.flushed, os.fsync))
        yield disk
