"""The state of a file, a folder or a link, to be compared later: was it changed meanwhile?

Sizes and times, not contents: what is compared by it is put elsewhere and never removed.
"""

import os
import stat
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.search.walking import Walk
from andy_cli.toolbox.granted_paths import GrantedPath
from andy_cli.toolbox.work import Work

SECONDS = 10


class Stamp(NamedTuple):
    name: str
    """Below the folder that was looked at; empty for a file that was."""
    size: int = 0
    modified: float = 0
    """Folders have neither: what is in them has."""


Stamps = tuple[Stamp, ...]


def read_stamps(place: GrantedPath) -> Stamps:
    """Return one for what is there and one for each entry of a folder; none if nothing is seen."""
    try:
        return _read_stamps(place)
    except ToolError:
        return ()


def _read_stamps(place: GrantedPath) -> Stamps:
    with folder_inside(place.path, place.root) as folder:
        state = os.stat(place.path.name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(state.st_mode):
        return (Stamp("", state.st_size, state.st_mtime),)
    found = [Stamp("")]
    for entry in Walk(place, Work(SECONDS)):
        known = (0, 0.0) if entry.kind == "folder" else (entry.size, entry.modified)
        found.append(Stamp(entry.name, *known))
    return tuple(found)
