"""The files of a folder that may hold text, as they are now. Links are not followed."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from andy_cli.toolbox.documents.text import is_binary

PASSED_OVER = frozenset("node_modules __pycache__ venv site-packages bower_components".split())
"""Folders of what others wrote and programs put there, beside all hidden ones."""

KEYS = (".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks", ".gpg", ".asc", ".ppk")
"""Files that hold keys are not copied into an index."""


class FoundFile(NamedTuple):
    path: str
    size: int
    changed: int
    """Nanoseconds."""


def files_in(folder: Path) -> Iterator[FoundFile]:
    """In the order of their paths; a folder that cannot be read counts as empty."""
    if folder.is_file():
        yield from _file_state(str(folder), folder.lstat())
        return
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        folders = []
        for entry in inside:
            if _is_passed_over(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not is_binary(entry.name):
                yield from _entry_state(entry)
        waiting += reversed(folders)


def _entry_state(entry: "os.DirEntry[str]") -> Iterator[FoundFile]:
    try:
        state = entry.stat(follow_symlinks=False)
    except OSError:
        return  # it has gone meanwhile
    yield from _file_state(entry.path, state)


def _file_state(path: str, state: os.stat_result) -> Iterator[FoundFile]:
    if stat.S_ISREG(state.st_mode):
        yield FoundFile(path, state.st_size, state.st_mtime_ns)


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in PASSED_OVER or name.lower().endswith(KEYS)
