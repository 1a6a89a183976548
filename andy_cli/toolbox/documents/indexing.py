"""Bring the index up to date with a folder: only what is new or has changed is read.

What has been read is kept at each step, so that who is interrupted goes on from there. A file is
taken as unchanged by its size and time; where these leave a doubt, by a hash of its content.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.index import (
    NO_TEXT,
    DocumentIndex,
    FileState,
    Piece,
    ReadFile,
    as_indexed,
)
from andy_cli.toolbox.documents.text import MISSING, TextPart, form_of, text_of
from andy_cli.toolbox.documents.walk import FoundFile, files_in

MIN_AGE = 2_000_000_000
"""Nanoseconds between a change and the reading; what changes again sooner may keep its time."""

BATCH_FILES, BATCH_CHARACTERS, BATCH_SECONDS = 500, 8 << 20, 0.5
PIECE_CHARACTERS = 8000
"""Characters that are looked at as one."""

READ_AGAIN = -1
"""The size of a file that is to be tried again, whatever it is."""


class IndexingCounts(NamedTuple):
    """The result of an update."""

    files: int
    """The number that was found."""
    read: int
    """The number that was new or had changed."""
    gone: int
    faults: tuple[tuple[str, str], ...]
    """The files that could not be read, each with why."""


Report = Callable[[int, int], None]
"""Told how many files are done, and of how many."""


def update_folder(
    index: DocumentIndex, folder: Path, largest: int, report: Report = lambda *_: None
) -> IndexingCounts:
    """Bring one folder up to date; files of more than `largest` bytes are passed over.

    Raises ToolError where the folder itself is not there: then nothing is forgotten.
    """
    if not folder.exists():
        raise ToolError(f"{folder} is not there. What is indexed of it stays.")
    known_states = index.states(folder)
    found_files = list(files_in(folder))
    found_paths = {_path_key(found_file.path) for found_file in found_files}
    missing_paths = sorted(known_states.keys() - found_paths)
    index.forget(missing_paths)
    changed_files = [
        found_file
        for found_file in found_files
        if not _is_unchanged(found_file, known_states.get(_path_key(found_file.path)))
    ]
    done_count, read_count = len(found_files) - len(changed_files), 0
    report(done_count, len(found_files))
    read_files = (
        _read_file(file, folder, known_states.get(_path_key(file.path)), largest)
        for file in changed_files
    )
    for batch in _batch_files(read_files):
        index.put(folder, batch)
        done_count += len(batch)
        read_count += sum(document.pieces is not None for document in batch)
        report(done_count, len(found_files))
    index.mark_updated(folder)
    return IndexingCounts(
        len(found_files), read_count, len(missing_paths), tuple(index.faults(folder))
    )


def _is_unchanged(found_file: FoundFile, known_state: FileState | None) -> bool:
    if known_state is None or known_state.size != found_file.size:
        return False
    is_same_time = known_state.changed == found_file.changed
    return is_same_time and known_state.changed + MIN_AGE < known_state.checked


def _batch_files(files: Iterable[ReadFile]) -> Iterator[list[ReadFile]]:
    batch: list[ReadFile] = []
    characters, batch_began = 0, time.monotonic()
    for file in files:
        batch.append(file)
        characters += sum(len(piece.text) for piece in file.pieces or ())
        is_full = len(batch) >= BATCH_FILES or characters >= BATCH_CHARACTERS
        if is_full or time.monotonic() - batch_began > BATCH_SECONDS:
            yield batch
            batch, characters, batch_began = [], 0, time.monotonic()
    if batch:
        yield batch


def _cut_pieces(
    file: ReadFile, data: bytes, known_state: FileState | None, largest: int
) -> ReadFile:
    state = file.state
    if known_state and known_state.hash == state.hash and known_state.size != READ_AGAIN:
        return file._replace(state=state._replace(fault=known_state.fault), pieces=None)
    if not form_of(BytesIO(data), file.name):
        return file._replace(state=state._replace(fault=NO_TEXT))
    return file._replace(pieces=list(pieces_of(text_of(BytesIO(data), file.name, largest))))


def _read_file(
    found_file: FoundFile, folder: Path, known_state: FileState | None, largest: int
) -> ReadFile:
    """A file as it goes into the index; one that cannot be read goes in with the reason."""
    key = _path_key(found_file.path)
    name = os.path.relpath(key, folder) if key != str(folder) else folder.name
    state = FileState(found_file.size, found_file.changed, time.time_ns(), b"")
    fault = "" if key == found_file.path else "its name is not in UTF-8"
    if not fault and found_file.size > largest:
        fault = f"larger than {largest / 1e6:g} MB"
    if fault:
        return ReadFile(key, name, state._replace(fault=fault), ())
    try:
        data, state = _read_content(found_file.path, largest, state)
        return _cut_pieces(ReadFile(key, name, state, ()), data, known_state, largest)
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
        return ReadFile(key, name, state._replace(size=READ_AGAIN, fault=fault), ())
    except ToolError as error:
        size = READ_AGAIN if str(error) in MISSING else state.size
        return ReadFile(key, name, state._replace(size=size, fault=str(error)), ())


def _read_content(path: str, largest: int, state: FileState) -> tuple[bytes, FileState]:
    """Read what is in a file now, and how the file is now. No link is followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags), "rb") as file:
        current_state = os.fstat(file.fileno())
        if not stat.S_ISREG(current_state.st_mode):
            raise ToolError("no plain file any more")
        data = file.read(largest + 1)
    digest = blake2b(data, digest_size=16).digest()
    return data, state._replace(
        size=current_state.st_size, changed=current_state.st_mtime_ns, hash=digest
    )


def pieces_of(text_parts: Iterable[TextPart]) -> Iterator[Piece]:
    """The text of a file in pieces, cut where a line ends if it can be."""
    for text_part in text_parts:
        text = as_indexed(text_part.text)
        start, line = 0, 1
        while start < len(text):
            end = _find_cut(text, start)
            yield Piece(text_part.place, text_part.unit, line, text[start:end])
            line += text.count("\n", start, end)
            start = end


def _find_cut(text: str, start: int) -> int:
    end = start + PIECE_CHARACTERS
    if end >= len(text):
        return len(text)
    middle = start + PIECE_CHARACTERS // 2
    return text.rfind("\n", middle, end) + 1 or text.rfind(" ", middle, end) + 1 or end


def _path_key(path: str) -> str:
    """Make the key of a path; one that is not in UTF-8 is spelled out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
