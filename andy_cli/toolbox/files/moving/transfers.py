"""Files and folders moved and copied, without replacing anything and without following a link.

    rename_new("a.txt", origin, "b.txt", goal)      as os.rename, but FileExistsError where b.txt is
    move(place("a.txt", "delete"), place("/mnt/b.txt", "write"))     across file systems too
    copy(...)                                       files, folders with all in them, links as links

Both folders are open: everything is done by their descriptors (P1). A copy is made under a name of
its own beside its place and renamed when it is whole, so that there is never half a file.
"""

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.encodings import CHUNK_SIZE
from andy_cli.toolbox.files.writing import PERMISSIONS, entry_state
from andy_cli.toolbox.runtime_context import GoOn, GrantedPath, go_on_always

NO_REPLACE = 1
"""RENAME_NOREPLACE of Linux's renameat2(2)."""
UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""The errors of a kernel or a file system that does not know this flag."""

Rename = Callable[[int, bytes, int, bytes, int], int]


class LeftBehind(ToolError):
    """It was copied to another disk and could not be removed where it was."""


def move_entry(source: GrantedPath, target: GrantedPath, go_on: GoOn = go_on_always) -> None:
    """Move a file, a folder or a link to a place that is free; folders above it are made.

    Raises ToolError, with everything as it was; LeftBehind where both are there now.
    """
    with _open_both(source, target) as (source_folder, target_folder):
        name, new_name = source.path.name, target.path.name
        try:
            rename_new(name, source_folder, new_name, target_folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy_whole(name, source_folder, new_name, target_folder, go_on)
            _remove_source(name, source_folder, source)


def copy_entry(source: GrantedPath, target: GrantedPath, go_on: GoOn = go_on_always) -> None:
    """Copy a file, a folder or a link to a place that is free; folders above it are made.

    Raises ToolError, with nothing there that was not there before.
    """
    with _open_both(source, target) as (source_folder, target_folder):
        _copy_whole(source.path.name, source_folder, target.path.name, target_folder, go_on)


@contextmanager
def _open_both(source: GrantedPath, target: GrantedPath) -> Iterator[tuple[int, int]]:
    """The open folders of both. The first is opened first: else folders were made for nothing."""
    with (
        folder_inside(source.path, source.root) as source_folder,
        folder_inside(target.path, target.root, make_missing=True) as target_folder,
    ):
        yield source_folder, target_folder


def rename_new(name: str, source_folder: int, new_name: str, target_folder: int) -> None:
    """Rename, never replacing anything. Raises FileExistsError, or OSError as os.rename does.

    `a.txt` becomes `A.txt` also where both names mean the same file.
    """
    rename = _renameat2()
    if rename and not _is_respelled(name, source_folder, new_name, target_folder):
        if not rename(
            source_folder, os.fsencode(name), target_folder, os.fsencode(new_name), NO_REPLACE
        ):
            return
        number = ctypes.get_errno()
        if number not in UNKNOWN:
            raise OSError(number, os.strerror(number), new_name)
    if entry_state(new_name, target_folder) and not _is_respelled(
        name, source_folder, new_name, target_folder
    ):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
    os.rename(name, new_name, src_dir_fd=source_folder, dst_dir_fd=target_folder)


def _is_respelled(name: str, source_folder: int, new_name: str, target_folder: int) -> bool:
    """Tell whether the new name is the same entry in another case, on a disk that folds case."""
    if name == new_name or name.casefold() != new_name.casefold():
        return False
    if not os.path.samestat(os.fstat(source_folder), os.fstat(target_folder)):
        return False
    source_state = entry_state(name, source_folder)
    target_state = entry_state(new_name, target_folder)
    if not source_state or not target_state or not os.path.samestat(source_state, target_state):
        return False
    # Two hard links of one file are two entries, and rename(2) would leave both.
    return source_state.st_nlink == 1 or stat.S_ISDIR(source_state.st_mode)


@cache
def _renameat2() -> Rename | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None


def _copy_whole(
    name: str, source_folder: int, new_name: str, target_folder: int, go_on: GoOn
) -> None:
    """Copy under another name, then rename."""
    if entry_state(new_name, target_folder):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
    draft = f".{secrets.token_hex(8)}.new"
    try:
        _copy_below(name, source_folder, draft, target_folder, go_on)
        rename_new(draft, target_folder, new_name, target_folder)
    except BaseException:
        remove_entry(draft, target_folder)
        raise


def _copy_below(
    name: str, source_folder: int, new_name: str, target_folder: int, go_on: GoOn
) -> None:
    go_on()
    state = os.stat(name, dir_fd=source_folder, follow_symlinks=False)
    if stat.S_ISLNK(state.st_mode):
        os.symlink(os.readlink(name, dir_fd=source_folder), new_name, dir_fd=target_folder)
    elif stat.S_ISDIR(state.st_mode):
        _copy_folder(name, source_folder, new_name, target_folder, go_on)
    elif stat.S_ISREG(state.st_mode):
        _copy_file(name, source_folder, new_name, target_folder, go_on)
    else:
        raise ToolError(f"{name!r} is neither a file nor a folder nor a link: it is not copied.")


def _copy_folder(
    name: str, source_folder: int, new_name: str, target_folder: int, go_on: GoOn
) -> None:
    os.mkdir(new_name, 0o700, dir_fd=target_folder)
    with (
        _open_folder(name, source_folder) as open_folder,
        _open_folder(new_name, target_folder) as new_folder,
    ):
        with os.scandir(open_folder) as entries:
            names = sorted(entry.name for entry in entries)
        for below in names:
            _copy_below(below, open_folder, below, new_folder, go_on)
        _keep_attributes(os.fstat(open_folder), new_folder)


@contextmanager
def _open_folder(name: str, above: int) -> Iterator[int]:
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    try:
        yield folder
    finally:
        os.close(folder)


def _copy_file(
    name: str, source_folder: int, new_name: str, target_folder: int, go_on: GoOn
) -> None:
    reading = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    writing = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        os.fdopen(os.open(name, reading, dir_fd=source_folder), "rb", buffering=0) as source,
        os.fdopen(os.open(new_name, writing, 0o600, dir_fd=target_folder), "wb") as new_file,
    ):
        state = os.fstat(source.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise ToolError(f"{name!r} is no plain file any more.")
        while data := source.read(CHUNK_SIZE):
            go_on()
            new_file.write(data)
        new_file.flush()
        _keep_attributes(state, new_file.fileno())
        # What it was made of may be removed next.
        os.fsync(new_file.fileno())


def _keep_attributes(state: os.stat_result, descriptor: int) -> None:
    """Give a copy the permissions and the times of what it was made of."""
    os.fchmod(descriptor, state.st_mode & PERMISSIONS)
    with contextlib.suppress(OSError):  # not every file system has them
        os.utime(descriptor, ns=(state.st_atime_ns, state.st_mtime_ns))


def _remove_source(name: str, source_folder: int, source: GrantedPath) -> None:
    try:
        remove_entry(name, source_folder, quietly=False)
    except OSError as error:
        raise LeftBehind(
            f"{source.path.name} was copied, but it could not be removed where it was: "
            f"{os.strerror(error.errno or errno.EIO)}. Both are there now."
        ) from error


def remove_entry(name: str, folder: int, quietly: bool = True) -> None:
    """Remove a file, a link, or a folder with all in it; `quietly`: as far as that can be."""
    try:
        state = entry_state(name, folder)
        if state is None:
            return
        if stat.S_ISDIR(state.st_mode):
            # By a descriptor too: no link in it is followed.
            with _open_folder(".", folder) as readable:
                shutil.rmtree(name, ignore_errors=quietly, dir_fd=readable)
        else:
            os.unlink(name, dir_fd=folder)
    except OSError:
        if not quietly:
            raise
