"""Files written whole or not at all: a new file in the same folder takes the place of the old one.

The folder is reached without following a link, and everything in it is done by that open folder
(P1). The mode and the owner of a file that was there are kept; a new one can never be run (B41).
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import BinaryIO

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.history.journal import find_missing_folders, record_change
from andy_cli.toolbox.files.history.recorded_changes import MAX_BYTES, Written
from andy_cli.toolbox.files.names import show_path
from andy_cli.toolbox.runtime_context import GoOn, GrantedPath, go_on_always

PERMISSIONS = 0o777
"""Of a mode what is kept: not that it runs as somebody else."""

WHY = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the user's part of the disk is full",
    errno.EROFS: "the disk may only be read",
    errno.EACCES: "this user may not write there",
    errno.EPERM: "this user may not write there",
    errno.ENOTDIR: "a file or a link stands where a folder is due",
    errno.ELOOP: "a file or a link stands where a folder is due",
    errno.EEXIST: "something of that name has come up meanwhile",
    errno.ENOENT: "it is not there any more",
}


def write_whole(granted: GrantedPath, pieces: Iterable[bytes], go_on: GoOn = go_on_always) -> bool:
    """Put the pieces there as the whole file; says whether it is new. Folders are made.

    `go_on` is asked just before the new file takes the place of the old one, and may raise.
    Raises ToolError, with everything as it was. It is noted, so that it can be taken back.
    """
    writing = WritingRecord(granted)
    hashed = HashedPieces(pieces)
    is_new = replace_whole(granted, hashed, go_on)
    writing.record(hashed.digest, is_new)
    return is_new


class WritingRecord:
    """Note of a file that is about to be written, of what it holds before, to be taken back."""

    def __init__(self, granted: GrantedPath) -> None:
        self._granted = granted
        self._old_state = _read_before(granted)
        self._folders = find_missing_folders(granted.path, granted.root)

    def record(self, digest: bytes, is_new: bool) -> None:
        """Record that it was written; `digest` is the hash of what it holds now."""
        summary = f"{'made' if is_new else 'changed'} {show_path(self._granted.path)}"
        change = Written(self._granted, digest, is_new, *self._old_state, self._folders)
        record_change(change, summary)


def _read_before(granted: GrantedPath) -> tuple[bytes | None, int]:
    """Read what a file holds, unless there is none or it is too large to be kept, and its time."""
    try:
        with granted.open() as file:
            content = file.read(MAX_BYTES + 1)
            modified = os.fstat(file.fileno()).st_mtime_ns
    except ToolError:
        return None, 0
    return (content if len(content) <= MAX_BYTES else None), modified


class HashedPieces:
    """Pieces, and the hash of those that were taken, or added one by one."""

    def __init__(self, pieces: Iterable[bytes] = ()) -> None:
        self._pieces = pieces
        self._hash = blake2b(digest_size=16)

    def __iter__(self) -> Iterator[bytes]:
        for data in self._pieces:
            self.add(data)
            yield data

    def add(self, data: bytes) -> None:
        self._hash.update(data)

    @property
    def digest(self) -> bytes:
        return self._hash.digest()


def replace_whole(granted: GrantedPath, pieces: Iterable[bytes], go_on: GoOn) -> bool:
    """As `write_whole`, but nothing is noted."""
    with _explain_failure(granted), replacing_file(granted, make_missing=True) as (file, is_new):
        for data in pieces:
            file.write(data)
        go_on()
    return is_new


@contextmanager
def replacing_file(
    granted: GrantedPath, make_missing: bool = False
) -> Iterator[tuple[BinaryIO, bool]]:
    """A new file that takes the place when nothing goes wrong, and whether that is free.

    Raises ToolError for a place that holds no plain file, or whose folder is not there unless it is
    to be made; what was there stays then.
    """
    with folder_inside(granted.path, granted.root, make_missing=make_missing) as folder:
        name = granted.path.name
        old_state = entry_state(name, folder)
        if old_state and not stat.S_ISREG(old_state.st_mode):
            raise ToolError(f"{show_path(granted.path)} is no plain file: it is not written over.")
        draft = _draft_name(name)
        try:
            with _open_draft(draft, folder, old_state) as file:
                yield file, old_state is None
                # On the disk before it takes the place.
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise
        _sync_folder(folder)


@contextmanager
def _explain_failure(granted: GrantedPath) -> Iterator[None]:
    """Explain what goes wrong, in words that say that nothing was changed."""
    try:
        yield
    except ToolError as error:
        if isinstance(error.__cause__, OSError):
            raise ToolError(_explain_error(granted, error.__cause__)) from error
        raise
    except OSError as error:
        raise ToolError(_explain_error(granted, error)) from error


def _explain_error(granted: GrantedPath, error: OSError) -> str:
    return f"{show_path(granted.path)} was not written: {reason_of(error)}. Nothing was changed."


def reason_of(error: OSError) -> str:
    """Explain what went wrong with a disk."""
    return WHY.get(error.errno or 0) or os.strerror(error.errno or errno.EIO)


def entry_state(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _draft_name(name: str) -> str:
    """A name beside it that nobody has, short enough for every disk."""
    beginning = os.fsencode(name)[:100].decode("utf-8", "ignore")
    return f".{beginning}.{secrets.token_hex(6)}.new"


def _open_draft(draft: str, folder: int, old_state: os.stat_result | None) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # What takes the place of a private file is private from the start.
    mode = 0o600 if old_state else 0o666
    file = os.fdopen(os.open(draft, flags, mode, dir_fd=folder), "wb")
    if old_state:
        with contextlib.suppress(OSError):  # the owner may be somebody else's to give
            os.fchown(file.fileno(), old_state.st_uid, old_state.st_gid)
        os.fchmod(file.fileno(), old_state.st_mode & PERMISSIONS)
    return file


def _sync_folder(folder: int) -> None:
    """See onto the disk that the name now means the new file."""
    with contextlib.suppress(OSError):  # not every file system can
        readable = os.open(".", os.O_RDONLY, dir_fd=folder)
        try:
            os.fsync(readable)
        finally:
            os.close(readable)
