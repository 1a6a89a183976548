"""The state of a file, a folder or a link, to be compared later: was it changed meanwhile?

Sizes and times, not contents: what is compared by it is put elsewhere and never removed.
"""

import os
import stat
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.search.walking import Walk
from andy_cli.toolbox.runtime_context import GrantedPath
from andy_cli.toolbox.work import Work

TIMEOUT = 10


class Stamp(NamedTuple):
    name: str
    """Below the folder that was looked at; empty for a file that was."""
    size: int = 0
    modified: float = 0
    """Folders have neither: what is in them has."""


Stamps = tuple[Stamp, ...]


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
    for entry in Walk(granted, Work(TIMEOUT)):
        size_and_time = (0, 0.0) if entry.kind == "folder" else (entry.size, entry.modified)
        stamps.append(Stamp(entry.name, *size_and_time))
    return tuple(stamps)
