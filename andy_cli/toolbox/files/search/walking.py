"""The entries of a folder and below it, found without following a link anywhere.

Every folder is opened from the root of its place down, so that one that is exchanged for a link
while we walk leads nowhere (P1).
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.names import show_path
from andy_cli.toolbox.runtime_context import GrantedPath, Work

MAX_DEPTH = 64
"""Levels below a folder that are ever looked into."""
MAX_ENTRIES = 200_000
"""Entries that are ever looked at."""

TRASH = ".andy-trash"
"""The trash of a workspace, where there is no desktop."""
PASSED_OVER = (".git", TRASH)
"""Folders with thousands of files that nobody asks for: listed, but not looked into."""

Kind = Literal["file", "folder", "link", "other"]


class FolderEntry(NamedTuple):
    path: tuple[str, ...]
    """Its name, after those of the folders that lead to it."""
    kind: Kind
    size: int = 0
    """In bytes."""
    modified: float = 0.0
    """Seconds since 1970."""

    @property
    def name(self) -> str:
        """As a text that can be written anywhere: names need not be."""
        return os.fsencode("/".join(self.path)).decode("utf-8", "replace")


def list_entries(granted: GrantedPath, parent_names: tuple[str, ...] = ()) -> list[FolderEntry]:
    """List one folder, in the order of the names. Raises ToolError if it cannot be read.

    `parent_names` are the names that lead from the place to the folder.
    """
    folder = granted.path.joinpath(*parent_names)
    with _open_folder(folder, granted.root) as readable, os.scandir(readable) as names:
        return sorted(_make_entry(directory_entry, parent_names) for directory_entry in names)


@contextmanager
def _open_folder(folder: Path, root_folder: Path) -> Iterator[int]:
    """The folder itself, open for reading."""
    try:
        # It is the folder that would hold anything in it.
        with folder_inside(folder / "any", root_folder) as passing:
            readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=passing)
    except ToolError as error:
        raise _explain_unread(folder, error) from error
    try:
        yield readable
    finally:
        os.close(readable)


def _explain_unread(folder: Path, error: ToolError) -> ToolError:
    """Why a folder cannot be read, and what to do."""
    cause = error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    if number == errno.ENOENT:
        return ToolError(
            f"There is no folder {show_path(folder)}.", "Look what there is in the one above it."
        )
    if number in (errno.ENOTDIR, errno.ELOOP):
        return ToolError(f"{show_path(folder)} is a file or a link, no folder.")
    if number in (errno.EACCES, errno.EPERM):
        return ToolError(
            f"The folder {show_path(folder)} may not be read by this user.", "Choose another one."
        )
    return ToolError(
        f"The folder {show_path(folder)} cannot be read: {os.strerror(number or errno.EIO)}."
    )


def _make_entry(directory_entry: "os.DirEntry[str]", parent_names: tuple[str, ...]) -> FolderEntry:
    path = (*parent_names, directory_entry.name)
    try:
        state = directory_entry.stat(follow_symlinks=False)
    except OSError:  # it went away
        return FolderEntry(path, "other")
    return FolderEntry(path, kind_of_mode(state.st_mode), state.st_size, state.st_mtime)


def kind_of_mode(mode: int) -> Kind:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_ISREG(mode) else "other"


class Walk:
    """Everything below a folder, in the order of the paths; what was passed over is counted."""

    def __init__(
        self,
        granted: GrantedPath,
        work: Work,
        is_wanted: Callable[[FolderEntry], bool] = lambda entry: True,
    ) -> None:
        """Leave out what is not `is_wanted`, a folder with all that is in it."""
        self._place, self._work, self._wanted = granted, work, is_wanted
        self.closed = 0
        """Folders that may not be read."""
        self.cut = False
        """True if there was too much to look at."""

    def __iter__(self) -> Iterator[FolderEntry]:
        waiting = list_entries(self._place)[::-1]
        seen_entries = 0
        while waiting:
            self._work.go_on()
            entry = waiting.pop()
            if not self._wanted(entry):
                continue
            seen_entries += 1
            if seen_entries > MAX_ENTRIES:
                self.cut = True
                return
            yield entry
            if entry.kind == "folder" and len(entry.path) < MAX_DEPTH:
                waiting += self._list_inside(entry)[::-1]

    def _list_inside(self, folder: FolderEntry) -> list[FolderEntry]:
        try:
            return list_entries(self._place, folder.path)
        except ToolError:
            self.closed += 1
            return []
