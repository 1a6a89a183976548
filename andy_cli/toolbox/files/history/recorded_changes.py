"""The changes of files that can be taken back, and the batch of those that one call made."""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.search.walking import Walk
from andy_cli.toolbox.runtime_context import GrantedPath, Work

MAX_BYTES = 20 << 20
"""Bytes of a file up to which its old content is kept."""
STAMP_TIMEOUT = 10


class Stamp(NamedTuple):
    """The state of a file, a folder or a link, to be compared later: was it changed meanwhile?

    Sizes and times, not contents: what is compared by it is put elsewhere and never removed.
    """

    name: str
    """Below the folder that was looked at; empty for a file that was."""
    size: int = 0
    modified: float = 0
    """Folders have neither: what is in them has."""


Stamps = tuple[Stamp, ...]


class Written(NamedTuple):
    """A file was made, or replaced."""

    place: GrantedPath
    digest: bytes
    """Of what it holds since."""
    new: bool
    before: bytes | None = None
    """The bytes that it held; None for a new file, and for one that was too large to be kept."""
    modified: int = 0
    """When that was changed last, in nanoseconds."""
    folders: tuple[GrantedPath, ...] = ()
    """The folders that were made for it, those above first."""


class Moved(NamedTuple):
    source: GrantedPath
    target: GrantedPath
    stamps: Stamps
    """Its state just after."""
    folders: tuple[GrantedPath, ...] = ()


class Copied(NamedTuple):
    place: GrantedPath
    stamps: Stamps
    folders: tuple[GrantedPath, ...] = ()


class FoldersMade(NamedTuple):
    folders: tuple[GrantedPath, ...]


class Trashed(NamedTuple):
    source: GrantedPath
    kept: GrantedPath
    """Its place in the trash."""
    info: GrantedPath
    """The file that tells the trash where it came from."""


Change = Written | Moved | Copied | FoldersMade | Trashed


@dataclass(eq=False)
class RecordedBatch:
    """The changes of one call."""

    workspace: Path
    session_id: str
    time: float
    """Seconds since 1970."""
    changes: list[Change] = field(default_factory=list)
    did: str = ""
    """In words, in the past tense: `moved 3 files to photos`."""
    file: Path | None = None
    """Its place on the disk."""

    @property
    def size(self) -> int:
        """Bytes of old content that are held for it."""
        old_contents = [change.before for change in self.changes if isinstance(change, Written)]
        return sum(len(old_content) for old_content in old_contents if old_content)


def read_stamps(granted: GrantedPath) -> Stamps:
    """Return one for what is there and one for each entry of a folder; none if nothing is seen."""
    try:
        return _read_stamps(granted)
    except ToolError:
        return ()


def _read_stamps(granted: GrantedPath) -> Stamps:
    with folder_inside(granted.path, granted.root) as folder:
        state = os.stat(granted.path.name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(state.st_mode):
        return (Stamp("", state.st_size, state.st_mtime),)
    stamps = [Stamp("")]
    for entry in Walk(granted, Work(STAMP_TIMEOUT)):
        size_and_time = (0, 0.0) if entry.kind == "folder" else (entry.size, entry.modified)
        stamps.append(Stamp(entry.name, *size_and_time))
    return tuple(stamps)
