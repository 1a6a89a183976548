"""Take back the last call of the file tools: /undo.

Nothing is lost by it: what has been changed since by somebody else stays, and nothing of that call
is taken back then. A copy that is taken back goes into the trash.
"""

import contextlib
import os
import time
from collections.abc import Collection
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.encodings import CHUNK_SIZE
from andy_cli.toolbox.files.history import journal, kept_batches, trash
from andy_cli.toolbox.files.history.recorded_changes import (
    Change,
    Copied,
    FoldersMade,
    Moved,
    RecordedBatch,
    Trashed,
    Written,
    read_stamps,
)
from andy_cli.toolbox.files.moving import transfers
from andy_cli.toolbox.files.names import show_path
from andy_cli.toolbox.files.writing import HashedPieces, reason_of, replace_whole
from andy_cli.toolbox.runtime_context import GrantedPath, go_on_always

SKIP_IT = "`/undo skip` leaves it so, and goes on to what was done before."


def take_back_last() -> str:
    """Take back the newest batch of this conversation; return in words what was taken back.

    Empty where there is none. Raises ToolError where it cannot be, with everything as it was; where
    it fails half-way, it says so, and the rest can be tried again.
    """
    return _take_back_batch(journal.last_batch())


def take_back_earlier() -> str:
    """Take back the newest batch of another conversation in this folder, as `take_back_last`."""
    # What is skipped is one of this conversation, as long as there is any.
    way_on = "" if journal.last_batch() else SKIP_IT
    return _take_back_batch(kept_batches.load_newest(of_this_conversation=False), way_on)


def skip_last() -> str:
    """Leave the newest batch as it is, so that the one before it can be taken back; return in words
    what was done in it. It is one of this conversation, else of an earlier one in this folder.
    """
    batch = journal.last_batch() or kept_batches.load_newest(of_this_conversation=False)
    if batch is None:
        return ""
    journal.forget_batch(batch)
    return batch.did


def describe_earlier() -> str:
    """Say what `take_back_earlier` would take back, and when that was done; empty for nothing."""
    batch = kept_batches.load_newest(of_this_conversation=False)
    batch_time = time.strftime("%Y-%m-%d %H:%M", time.localtime(batch.time)) if batch else ""
    return f"{batch.did} ({batch_time})" if batch else ""


def _take_back_batch(batch: RecordedBatch | None, way_on: str = SKIP_IT) -> str:
    if batch is None:
        return ""
    freed = {_place_of(change).path for change in batch.changes if not isinstance(change, Trashed)}
    for change in batch.changes:
        if fault := find_fault(change, freed):
            not_done = f"Not taken back: {batch.did}. {fault} Nothing was changed."
            raise ToolError(f"{not_done} {way_on}".rstrip())
    _take_back_all(batch)
    journal.forget_batch(batch)
    return batch.did


def _take_back_all(batch: RecordedBatch) -> None:
    change_count = len(batch.changes)
    while batch.changes:
        try:
            take_back(batch.changes[-1])
        except ToolError as error:
            kept_batches.rewrite_batch(batch)
            cause = error.__cause__
            reason = f"{reason_of(cause)}." if isinstance(cause, OSError) else str(error)
            progress_made = (
                f" {change_count - len(batch.changes)} of {change_count} steps were taken back."
            )
            raise ToolError(f"Not all taken back: {batch.did}. {reason}{progress_made}") from error
        batch.changes.pop()


def find_fault(change: Change, freed: Collection[Path] = ()) -> str:
    """Say why a change cannot be taken back, or nothing; `freed` are places that are free then."""
    match change:
        case Written():
            return _find_writing_fault(change)
        case Moved():
            return _find_later_change(change.target, change.stamps) or _find_taken(change.source)
        case Copied():
            return _find_later_change(change.place, change.stamps)
        case Trashed():
            if not read_stamps(change.kept):
                return f"{show_path(change.source.path)} is not in the trash any more."
            return "" if change.source.path in freed else _find_taken(change.source)
        case FoldersMade():
            return ""  # those that are empty are removed


def _place_of(change: Change) -> GrantedPath:
    """Return where it made something."""
    match change:
        case Written() | Copied():
            return change.place
        case Moved():
            return change.target
        case FoldersMade():
            return change.folders[-1]
        case Trashed():
            return change.kept


def _find_writing_fault(change: Written) -> str:
    name = show_path(change.place.path)
    try:
        with change.place.open() as file:
            hashed = HashedPieces(iter(lambda: file.read(CHUNK_SIZE), b""))
            for _ in hashed:
                pass
    except ToolError:
        return f"{name} is not there any more."
    if hashed.digest != change.digest:
        return f"{name} was changed since by somebody else."
    if not change.new and change.before is None:
        return f"What {name} held before was too large to be kept."
    return ""


def _find_later_change(granted: GrantedPath, known_stamps: object) -> str:
    current_stamps = read_stamps(granted)
    if not current_stamps:
        return f"{show_path(granted.path)} is not there any more."
    if current_stamps != known_stamps:
        return f"{show_path(granted.path)} was changed since by somebody else."
    return ""


def _find_taken(granted: GrantedPath) -> str:
    return f"Something else is at {show_path(granted.path)} now." if read_stamps(granted) else ""


def take_back(change: Change) -> None:
    """Raises ToolError, with everything as it was."""
    match change:
        case Written():
            _take_back_writing(change)
        case Moved():
            transfers.move_entry(change.target, change.source)
            _remove_folders(change.folders)
        case Copied():
            trash.put_into_trash(change.place)
            _remove_folders(change.folders)
        case Trashed():
            trash.restore_trashed(change)
        case FoldersMade():
            _remove_folders(change.folders)


def _take_back_writing(change: Written) -> None:
    granted = change.place
    if change.before is not None:
        replace_whole(granted, [change.before], go_on_always)
    with folder_inside(granted.path, granted.root) as folder:
        if change.new:
            os.unlink(granted.path.name, dir_fd=folder)
        else:
            # Its time too: by it an earlier change of the same file is known again.
            times = (change.modified, change.modified)
            os.utime(granted.path.name, ns=times, dir_fd=folder, follow_symlinks=False)
    _remove_folders(change.folders)


def _remove_folders(folders: tuple[GrantedPath, ...]) -> None:
    """Remove the folders that are empty: in the others somebody has put something."""
    for folder in reversed(folders):
        with (
            contextlib.suppress(ToolError),
            folder_inside(folder.path, folder.root) as parent_descriptor,
        ):
            os.rmdir(folder.path.name, dir_fd=parent_descriptor)
