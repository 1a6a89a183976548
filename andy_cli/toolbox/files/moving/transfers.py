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
from andy_cli.toolbox.files.encodings import PIECE
from andy_cli.toolbox.granted_paths import GrantedPath

PERMISSIONS = 0o777
"""Of a mode what a copy keeps: not that it runs as somebody else."""
NO_REPLACE = 1
"""RENAME_NOREPLACE of Linux's renameat2(2)."""
UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""The errors of a kernel or a file system that does not know this flag."""

GoOn = Callable[[], None]
Rename = Callable[[int, bytes, int, bytes, int], int]


class LeftBehind(ToolError):
    """It was copied to another disk and could not be removed where it was."""


def go_on_always() -> None:
    """Goes on."""


def move_entry(source: GrantedPath, target: GrantedPath, go_on: GoOn = go_on_always) -> None:
    """Move a file, a folder or a link to a place that is free; folders above it are made.

    Raises ToolError, with everything as it was; LeftBehind where both are there now.
    """
    with _open_both(source, target) as (origin, goal):
        name, new = source.path.name, target.path.name
        try:
            rename_new(name, origin, new, goal)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _copy_whole(name, origin, new, goal, go_on)
            _remove_source(name, origin, source)


def copy_entry(source: GrantedPath, target: GrantedPath, go_on: GoOn = go_on_always) -> None:
    """Copy a file, a folder or a link to a place that is free; folders above it are made.

    Raises ToolError, with nothing there that was not there before.
    """
    with _open_both(source, target) as (origin, goal):
        _copy_whole(source.path.name, origin, target.path.name, goal, go_on)


@contextmanager
def _open_both(source: GrantedPath, target: GrantedPath) -> Iterator[tuple[int, int]]:
    """The open folders of both. The first is opened first: else folders were made for nothing."""
    with (
        folder_inside(source.path, source.root) as origin,
        folder_inside(target.path, target.root, make=True) as goal,
    ):
        yield origin, goal


def rename_new(name: str, origin: int, new: str, goal: int) -> None:
    """Rename, never replacing anything. Raises FileExistsError, or OSError as os.rename does.

    `a.txt` becomes `A.txt` also where both names mean the same file.
    """
    rename = _renameat2()
    if rename and not _is_respelled(name, origin, new, goal):
        if not rename(origin, os.fsencode(name), goal, os.fsencode(new), NO_REPLACE):
            return
        number = ctypes.get_errno()
        if number not in UNKNOWN:
            raise OSError(number, os.strerror(number), new)
    if _read_state(new, goal) and not _is_respelled(name, origin, new, goal):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
    os.rename(name, new, src_dir_fd=origin, dst_dir_fd=goal)


def _is_respelled(name: str, origin: int, new: str, goal: int) -> bool:
    """Tell whether the new name is the same entry in another case, on a disk that folds case."""
    if name == new or name.casefold() != new.casefold():
        return False
    before, there = _read_state(name, origin), _read_state(new, goal)
    same_folder = os.path.samestat(os.fstat(origin), os.fstat(goal))
    if not (before and there and same_folder and os.path.samestat(before, there)):
        return False
    # Two hard links of one file are two entries, and rename(2) would leave both.
    return before.st_nlink == 1 or stat.S_ISDIR(before.st_mode)


@cache
def _renameat2() -> Rename | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    function.argtypes = [
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    ]

    def rename(origin: int, name: bytes, goal: int, new: bytes, flags: int) -> int:
        return int(function(origin, name, goal, new, flags))

    return rename


def _read_state(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _copy_whole(name: str, origin: int, new: str, goal: int, go_on: GoOn) -> None:
    """Copy under another name, then rename."""
    if _read_state(new, goal):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
    draft = f".{secrets.token_hex(8)}.new"
    try:
        _copy_below(name, origin, draft, goal, go_on)
        rename_new(draft, goal, new, goal)
    except BaseException:
        remove_entry(draft, goal)
        raise


def _copy_below(name: str, origin: int, new: str, goal: int, go_on: GoOn) -> None:
    go_on()
    state = os.stat(name, dir_fd=origin, follow_symlinks=False)
    if stat.S_ISLNK(state.st_mode):
        os.symlink(os.readlink(name, dir_fd=origin), new, dir_fd=goal)
    elif stat.S_ISDIR(state.st_mode):
        _copy_folder(name, origin, new, goal, go_on)
    elif stat.S_ISREG(state.st_mode):
        _copy_file(name, origin, new, goal, go_on)
    else:
        raise ToolError(f"{name!r} is neither a file nor a folder nor a link: it is not copied.")


def _copy_folder(name: str, origin: int, new: str, goal: int, go_on: GoOn) -> None:
    os.mkdir(new, 0o700, dir_fd=goal)
    with _open_folder(name, origin) as inside, _open_folder(new, goal) as made:
        with os.scandir(inside) as entries:
            names = sorted(entry.name for entry in entries)
        for below in names:
            _copy_below(below, inside, below, made, go_on)
        _keep_attributes(os.fstat(inside), made)


@contextmanager
def _open_folder(name: str, above: int) -> Iterator[int]:
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    try:
        yield folder
    finally:
        os.close(folder)


def _copy_file(name: str, origin: int, new: str, goal: int, go_on: GoOn) -> None:
    reading = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    writing = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        os.fdopen(os.open(name, reading, dir_fd=origin), "rb", buffering=0) as source,
        os.fdopen(os.open(new, writing, 0o600, dir_fd=goal), "wb") as made,
    ):
        state = os.fstat(source.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise ToolError(f"{name!r} is no plain file any more.")
        while piece := source.read(PIECE):
            go_on()
            made.write(piece)
        made.flush()
        _keep_attributes(state, made.fileno())
        # What it was made of may be removed next.
        os.fsync(made.fileno())


def _keep_attributes(state: os.stat_result, made: int) -> None:
    """Give a copy the permissions and the times of what it was made of."""
    os.fchmod(made, state.st_mode & PERMISSIONS)
    with contextlib.suppress(OSError):  # not every file system has them
        os.utime(made, ns=(state.st_atime_ns, state.st_mtime_ns))


def _remove_source(name: str, origin: int, source: GrantedPath) -> None:
    try:
        remove_entry(name, origin, quietly=False)
    except OSError as error:
        raise LeftBehind(
            f"{source.path.name} was copied, but it could not be removed where it was: "
            f"{os.strerror(error.errno or errno.EIO)}. Both are there now."
        ) from error


def remove_entry(name: str, folder: int, quietly: bool = True) -> None:
    """Remove a file, a link, or a folder with all in it; `quietly`: as far as that can be."""
    try:
        state = _read_state(name, folder)
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
