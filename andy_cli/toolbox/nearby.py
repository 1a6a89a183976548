"""The names of what lies in a folder and below it, for those who look for what a user means."""

import os
from collections import deque
from pathlib import Path

MOST = 2000
DEEPEST = 4
"""Levels below the folder."""


def find_nearby_names(folder: Path) -> tuple[str, ...]:
    """Files and folders, the nearest first, folders with a slash at the end.

    Nothing hidden, nothing behind a link; where a folder cannot be read its own name is all.
    """
    nearby_paths: list[str] = []
    waiting = deque([("", 0)])
    while waiting and len(nearby_paths) < MOST:
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
            path = f"{above}{name}{'/' * is_folder}"
            nearby_paths.append(path)
            if is_folder and depth < DEEPEST:
                waiting.append((path, depth + 1))
    return tuple(nearby_paths[:MOST])
