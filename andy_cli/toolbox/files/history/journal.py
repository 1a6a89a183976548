"""The changes of the file tools, newest last, for /undo to take back.

Bounded: the last 50 calls of a process, and 64 MB of what files held before; of a file of more than
20 MB the old content is not kept. Each call is also kept on the disk (kept_batches.py), unless
nothing of the session is.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from andy_cli.toolbox.files.history import kept_batches
from andy_cli.toolbox.files.history.recorded_changes import Change, RecordedBatch
from andy_cli.toolbox.runtime_context import GrantedPath, current_context

MAX_CALLS = 50
MAX_BYTES = 64 << 20

_batches: deque[RecordedBatch] = deque()
_current: ContextVar[RecordedBatch | None] = ContextVar("batch", default=None)


def _new_batch(summary: str = "") -> RecordedBatch:
    return RecordedBatch(
        current_context().workspace, current_context().session_id, time.time(), did=summary
    )


@contextmanager
def record_call() -> Iterator[RecordedBatch]:
    """Keep what is recorded inside as one batch, also if the call fails half-way."""
    batch = _new_batch()
    token = _current.set(batch)
    try:
        yield batch
    finally:
        _current.reset(token)
        _keep_batch(batch)


def record_change(change: Change, summary: str = "") -> None:
    """Add a change to the batch of the call, or keep it as a batch of its own."""
    batch = _current.get()
    if batch is None:
        batch = _new_batch(summary)
        batch.changes.append(change)
        _keep_batch(batch)
    else:
        batch.changes.append(change)
        kept_batches.append_change(batch, change)


def take_from_record(change: Change) -> None:
    """Drop a change of the call at hand that has been taken back already."""
    if batch := _current.get():
        batch.changes.remove(change)
        kept_batches.rewrite_batch(batch)


def _keep_batch(batch: RecordedBatch) -> None:
    if not batch.changes:
        return
    kept_batches.save_batch(batch)
    _batches.append(batch)
    while len(_batches) > MAX_CALLS or sum(kept.size for kept in _batches) > MAX_BYTES:
        if len(_batches) == 1:
            return
        kept_batches.remove_batch(_batches.popleft())


def last_batch() -> RecordedBatch | None:
    """Return the newest batch of this conversation that has not been taken back.

    A conversation that is gone on with has those of earlier processes on the disk alone.
    """
    session_id = current_context().session_id
    own_batches = (batch for batch in reversed(_batches) if batch.session_id == session_id)
    return next(own_batches, None) or kept_batches.load_newest(of_this_conversation=True)


def forget_batch(batch: RecordedBatch) -> None:
    """Drop a batch that was taken back."""
    if batch in _batches:
        _batches.remove(batch)
    kept_batches.remove_batch(batch)


def forget_all() -> None:
    """Drop all of this process, as when it ends; what is on the disk stays."""
    _batches.clear()


def find_missing_folders(path: Path, root_folder: Path) -> tuple[GrantedPath, ...]:
    """Return the folders above a path that are not there yet, the highest first."""
    missing = []
    for folder in path.parents:
        if folder == root_folder or folder.exists():
            break
        missing.append(GrantedPath(folder, root_folder))
    return tuple(reversed(missing))
