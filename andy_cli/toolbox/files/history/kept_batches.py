"""The journal of changed files on the disk: one file of JSON lines for each call that changed some.

    undo/20261122-174200-ab12/000001.jsonl          (0600 in a 0700 folder; it may hold secrets)
        {"workspace": "/home/me/notes", "time": 1795369320.1}
        {"kind": "Moved", "source": {"path": ..., "root": ...}, "target": ..., "stamps": ...}
        {"did": "moved a.txt to b.txt"}

Lines are added while the call runs: a process that is killed leaves what it had done. A journal
that cannot be written costs no change: it is in memory still.
"""

import base64
import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter

from andy_cli.guard.workspace import inside
from andy_cli.toolbox.files.history.recorded_changes import (
    Change,
    Copied,
    FoldersMade,
    Moved,
    RecordedBatch,
    Stamp,
    Trashed,
    Written,
)
from andy_cli.toolbox.runtime_context import GrantedPath, current_context

KINDS: dict[str, type[Change]] = {
    kind.__name__: kind for kind in (Written, Moved, Copied, FoldersMade, Trashed)
}
MAX_SESSIONS = 10
"""Conversations whose journals are kept."""
MAX_DAYS = 30
"""Days after which a journal is thrown away."""
MAX_TIME = 1e11
"""Seconds since 1970, far in the future: later times have no date."""
CUT_OFF = "changed files in a call that was cut off"


def append_change(batch: RecordedBatch, change: Change) -> None:
    """Add a change to the file of a batch, which is made with the first."""
    with contextlib.suppress(OSError):
        if batch.file is None:
            batch.file = _make_file(batch)
        _append_record(batch.file, _encode_change(change))


def save_batch(batch: RecordedBatch) -> None:
    """Keep a finished batch whole, on the disk when this returns."""
    with contextlib.suppress(OSError):
        if batch.file is None:
            for change in batch.changes:
                append_change(batch, change)
        if batch.file is not None:
            _append_record(batch.file, {"did": batch.did}, sync_to_disk=True)


def rewrite_batch(batch: RecordedBatch) -> None:
    """Keep a batch of which a part was taken back."""
    remove_batch(batch)
    batch.file = None
    save_batch(batch)


def remove_batch(batch: RecordedBatch) -> None:
    """Remove the file of a batch, and its folder with the last one."""
    if batch.file is not None:
        with contextlib.suppress(OSError):
            batch.file.unlink()
            batch.file.parent.rmdir()


def _make_file(batch: RecordedBatch) -> Path | None:
    journals = current_context().journals
    if journals is None:
        return None
    folder = journals / batch.session_id
    if not folder.is_dir():
        _make_room(journals)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = max((int(file.stem) for file in folder.glob("*.jsonl")), default=0) + 1
    file = folder / f"{number:06}.jsonl"
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    _append_record(file, {"workspace": str(batch.workspace), "time": batch.time})
    return file


def _make_room(journals: Path) -> None:
    """Remove the journals of conversations that are old, or too many."""
    if not journals.is_dir():
        return
    folders = sorted(journals.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
    oldest = time.time() - MAX_DAYS * 24 * 60 * 60
    for number, folder in enumerate(folders, 1):
        if number >= MAX_SESSIONS or folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def _append_record(
    file: Path | None, record: dict[str, object], sync_to_disk: bool = False
) -> None:
    if file is None:
        return
    # Names of files that are no UTF-8 are kept too: all but ASCII is escaped.
    data = (json.dumps(record) + "\n").encode()
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "wb") as record_file:
        record_file.write(data)
        record_file.flush()
        if sync_to_disk:
            os.fsync(record_file.fileno())


def _encode_change(change: Change) -> dict[str, object]:
    fields = {name: _encode_value(value) for name, value in change._asdict().items()}
    return {"kind": type(change).__name__, **fields}


def _encode_value(value: object) -> object:
    if isinstance(value, GrantedPath):
        return {"path": str(value.path), "root": str(value.root)}
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Stamp):
        return {"stamp": [value.name, value.size, value.modified]}
    return [_encode_value(element) for element in value] if isinstance(value, tuple) else value


def _decode_value(value: object) -> object:
    match value:
        case {"path": str(path), "root": str(root)}:
            return GrantedPath(Path(path), Path(root))
        case {"base64": str(text)}:
            return base64.b64decode(text)
        case {"stamp": [str(name), int(size), int() | float() as modified]}:
            return Stamp(name, size, modified)
        case list():
            return tuple(_decode_value(element) for element in value)
    return value


def load_newest(of_this_conversation: bool) -> RecordedBatch | None:
    """Return the newest batch that is kept of this conversation, or else of another one in this
    workspace; None where there is none.

    None too where the journal lies inside the workspace: a tool could have written it.
    """
    journals = current_context().journals
    if journals is None or inside(journals.resolve(), [current_context().workspace]):
        return None
    batches = list(_load_all(journals, of_this_conversation))
    return max(batches, key=lambda batch: batch.time, default=None)


def _load_all(journals: Path, of_this_conversation: bool) -> Iterator[RecordedBatch]:
    for file in journals.glob("*/*.jsonl"):
        if (file.parent.name == current_context().session_id) != of_this_conversation:
            continue
        batch = load_batch(file)
        if batch and batch.workspace == current_context().workspace and batch.changes:
            yield batch


def load_batch(file: Path) -> RecordedBatch | None:
    """Return what was kept; None for a file that is damaged, or was removed meanwhile."""
    try:
        return _load_records(file)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _load_records(file: Path) -> RecordedBatch:
    """Raises what `load_batch` takes for damage; pydantic's errors are ValueErrors."""
    lines = file.read_text(encoding="ascii").splitlines()
    head = json.loads(lines[0])
    batch_time = float(head["time"])
    if not 0 <= batch_time < MAX_TIME:
        raise ValueError("not a time")
    batch = RecordedBatch(Path(head["workspace"]), file.parent.name, batch_time, file=file)
    batch.did = CUT_OFF
    for line in lines[1:]:
        if not line.endswith("}"):
            break  # the process was killed while it wrote this
        record = json.loads(line)
        if "did" in record:
            batch.did = str(record["did"]) or CUT_OFF
        else:
            batch.changes.append(_decode_change(record))
    return batch


def _decode_change(record: dict[str, object]) -> Change:
    kind = KINDS[str(record.pop("kind"))]
    fields = {name: _decode_value(value) for name, value in record.items()}
    adapter: TypeAdapter[Change] = TypeAdapter(kind)
    return adapter.validate_python(fields)
