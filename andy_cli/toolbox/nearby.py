"""Names of what lies in a folder and below it, and the lines of its short texts, for those who look
for what a user means.
"""

import os
import stat
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.foreign_values import replace_surrogates
from andy_cli.guard.workspace import is_secret_file
from andy_cli.toolbox.files.encodings import decode_file

MAX_PATHS = 2000
MAX_DEPTH = 4
"""Levels below the folder."""
MAX_BYTES = 16_384
"""Bytes of a text whose lines are told."""
MAX_LINES = 2000
"""Of all texts together: each costs its reader a fifth of a millisecond."""


def find_nearby_names(folder: Path) -> tuple[str, ...]:
    """Files and folders, the nearest first, folders with a slash at the end.

    Nothing hidden, nothing behind a link; where a folder cannot be read its own name is all.
    """
    nearby_paths: list[str] = []
    waiting = deque([("", 0)])
    while waiting and len(nearby_paths) < MAX_PATHS:
        above, depth = waiting.popleft()
        try:
            with os.scandir(folder / above) as listed:
                entries = sorted(
                    (entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in listed
                    if not entry.name.startswith(".")
                )
        except OSError:
            continue
        for name, is_folder in entries:
            # A name that is no UTF-8 is told as the tools tell and take it.
            path = f"{above}{replace_surrogates(name)}{'/' * is_folder}"
            nearby_paths.append(path)
            if is_folder and depth < MAX_DEPTH:
                waiting.append((path, depth + 1))
    return tuple(nearby_paths[:MAX_PATHS])


def read_nearby_lines(folder: Path, names: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Read the lines of the short texts among these files, the first ones.

    Not of those that may hold secrets, nor of what is no text.
    """
    found: dict[str, Sequence[str]] = {}
    count = 0
    for name in names:
        path = folder / name
        if name.endswith("/") or is_secret_file(path, folder):
            continue
        lines = read_short_text(path)
        count += len(lines)
        if count > MAX_LINES:
            break
        if lines:
            found[name] = lines
    return found


def read_short_text(path: Path) -> Sequence[str]:
    """Read its lines; none of what is long, no text or not there."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return ()
        text = decode_file(path.read_bytes()).readable
    except (OSError, ToolError):
        return ()
    if "\0" in text:
        return ()
    return [line.strip() for line in text.splitlines()] if any(map(str.isalnum, text)) else ()
