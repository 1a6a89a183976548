"""What the file tools have changed in this process, newest last, for /undo to take back.

Kept in memory alone: nothing of it is written to a disk. Bounded: the last 50 calls, and 64 MB of
what files held before; of a file of more than 20 MB the old content is not kept.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from andy_cli.toolbox.files.stamps import Stamps
from andy_cli.toolbox.places import Place
from andy_cli.toolbox.situation import here

MOST_CALLS = 50
MOST_BYTES = 64 << 20
LARGEST = 20 << 20
"""Bytes of a file up to which its old content is kept."""


class Written(NamedTuple):
    """A file was made, or replaced."""

    place: Place
    digest: bytes
    """Of what it holds since."""
    new: bool
    before: bytes | None = None
    """What it held; None for a new file, and for one that was too large to be kept."""
    modified: int = 0
    """When that was changed last, in nanoseconds."""
    folders: tuple[Place, ...] = ()
    """The folders that were made for it, those above first."""


class Moved(NamedTuple):
    source: Place
    target: Place
    stamps: Stamps
    """How it was just after."""
    folders: tuple[Place, ...] = ()


class Copied(NamedTuple):
    place: Place
    stamps: Stamps
    folders: tuple[Place, ...] = ()


class FoldersMade(NamedTuple):
    folders: tuple[Place, ...]


class Trashed(NamedTuple):
    source: Place
    kept: Place
    """Where it lies in the trash."""
    info: Place
    """The file that tells the trash where it came from."""


Change = Written | Moved | Copied | FoldersMade | Trashed


@dataclass
class Batch:
    """What one call changed."""

    session_id: str
    changes: list[Change] = field(default_factory=list)
    did: str = ""
    """In words, in the past tense: `moved 3 files to photos`."""

    @property
    def size(self) -> int:
        """Bytes that are kept for it."""
        kept = [change.before for change in self.changes if isinstance(change, Written)]
        return sum(len(before) for before in kept if before)


_batches: deque[Batch] = deque(maxlen=MOST_CALLS)
_current: ContextVar[Batch | None] = ContextVar("batch", default=None)


@contextmanager
def one_call() -> Iterator[Batch]:
    """What is recorded inside is one batch; it is kept even if the call fails half-way."""
    batch = Batch(here().session_id)
    token = _current.set(batch)
    try:
        yield batch
    finally:
        _current.reset(token)
        _keep(batch)


def record(change: Change, did: str = "") -> None:
    """Add a change to the batch of the call, or keep it as a batch of its own."""
    if batch := _current.get():
        batch.changes.append(change)
    else:
        _keep(Batch(here().session_id, [change], did))


def _keep(batch: Batch) -> None:
    if not batch.changes:
        return
    _batches.append(batch)
    while len(_batches) > 1 and sum(each.size for each in _batches) > MOST_BYTES:
        _batches.popleft()


def last_batch() -> Batch | None:
    """The newest batch of this conversation that has not been taken back."""
    session_id = here().session_id
    return next((each for each in reversed(_batches) if each.session_id == session_id), None)


def forget(batch: Batch) -> None:
    """It was taken back."""
    _batches.remove(batch)


def forget_all() -> None:
    """For tests: as at the start of the process."""
    _batches.clear()


def folders_missing(path: Path, root: Path) -> tuple[Place, ...]:
    """The folders above a path that are not there yet, the highest first."""
    missing = []
    for folder in path.parents:
        if folder == root or folder.exists():
            break
        missing.append(Place(folder, root))
    return tuple(reversed(missing))
