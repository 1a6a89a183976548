"""Songs: what the files of a music folder hold.

Tags come from strangers: they are cut to one line of a bearable length and are never more than
text.
"""

import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.toolbox.music.frames import has_frames

LONGEST_TAG = 120


@dataclass(frozen=True, slots=True)
class Song:
    path: Path
    name: str = ""
    """The path as seen from the folder that was listed: `song1.mp3`, `Album/song1.mp3`."""
    title: str = ""
    artist: str = ""
    seconds: float = 0.0
    damaged: bool = False
    """It is named like music, but no decoder finds any in it."""

    def describe_song(self) -> str:
        """`song1.mp3 (Morning Light by Ada Finch, 2 s)`, without what is not known."""
        title_and_artist = (
            f"{self.title or 'unknown'} by {self.artist}" if self.artist else self.title
        )
        details = [
            detail
            for detail in (title_and_artist, show_clock(self.seconds) if self.seconds else "")
            if detail
        ]
        return f"{self.name} ({', '.join(details)})" if details else self.name


def show_clock(seconds: float) -> str:
    """`2 s`, and from a minute on `3:07`."""
    whole_seconds = round(seconds)
    return (
        f"{whole_seconds} s"
        if whole_seconds < 60
        else f"{whole_seconds // 60}:{whole_seconds % 60:02}"
    )


def read_song(path: Path, name: str = "") -> Song:
    """The song in a file, by its tags; never fails. `name` is how it is called, if not by its own.

    Not read again while the file stays as it is: a folder is listed, then searched for a title.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return Song(path, displayable_name(name or path.name), damaged=True)
    return replace(
        _read_tags(path, status.st_mtime_ns, status.st_size),
        name=displayable_name(name or path.name),
    )


@lru_cache(maxsize=10_000)
def _read_tags(path: Path, changed: int, size: int) -> Song:
    import tinytag  # only where there is music

    try:
        tag = tinytag.TinyTag.get(path)
        # Tags alone prove nothing: tinytag finds a length in noise.
        damaged = not tag.duration or not has_frames(path)
    except (tinytag.TinyTagException, OSError):
        return Song(path, damaged=True)
    seconds = 0.0 if damaged else round(tag.duration or 0, 1)
    return Song(path, "", _tag_line(tag.title), _tag_line(tag.artist), seconds, damaged)


def _tag_line(tag: str | None) -> str:
    line = " ".join(displayable_name(tag or "").split())
    return line if len(line) <= LONGEST_TAG else line[: LONGEST_TAG - 1] + "…"


def displayable_name(name: str) -> str:
    """The name with characters that no text can hold (of undecodable file names) replaced."""
    return name.encode("utf-8", "replace").decode("utf-8")


def in_folder(folder: Path) -> list[Song]:
    """The songs of a folder in natural order; if it has none, those one level further down.

    Raises ToolError in a sentence that says what to do next.
    """
    real_folder = Path(os.path.realpath(folder))
    return [
        # What a link drags in from elsewhere is named, not read: nobody agreed to that place.
        read_song(path, name) if lies_in(path, real_folder) else Song(path, displayable_name(name))
        for path, name in paths_in(folder)
    ]


def lies_in(path: Path, real_folder: Path) -> bool:
    """Tell whether the file, links followed, lies in the folder (which is given links followed)."""
    return Path(os.path.realpath(path)).is_relative_to(real_folder)


def paths_in(folder: Path) -> list[tuple[Path, str]]:
    """The music files of a folder and their names as seen from there, in natural order."""
    try:
        named_paths, below = _scan_folder(folder)
    except (OSError, ValueError) as error:
        raise _explain_unread(folder, error) from error
    if not named_paths:
        for subfolder in below:
            try:
                inner, _ = _scan_folder(subfolder)
            except OSError:
                continue
            named_paths += [(path, f"{subfolder.name}/{name}") for path, name in inner]
    return sorted(named_paths, key=lambda named_path: natural_key(named_path[1]))


def _scan_folder(folder: Path) -> tuple[list[tuple[Path, str]], list[Path]]:
    """The music files directly in a folder, and its subfolders; links to folders not followed."""
    named_paths: list[tuple[Path, str]] = []
    below: list[Path] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                below.append(Path(entry.path))
            elif entry.name.lower().endswith(".mp3") and entry.is_file():
                named_paths.append((Path(entry.path), entry.name))
    return named_paths, below


def natural_key(name: str) -> list[str | int]:
    """A sort key that puts `song 2` before `song 10`; texts and numbers take turns in it."""
    name_parts = re.split(r"(\d+)", name.casefold())
    return [
        int(name_part) if index % 2 else name_part for index, name_part in enumerate(name_parts)
    ]


def _explain_unread(folder: Path, error: OSError | ValueError) -> ToolError:
    if isinstance(error, FileNotFoundError):
        return ToolError(f"There is no folder {folder}.", "Ask the user where the music is.")
    if isinstance(error, NotADirectoryError) and folder.is_file():
        return ToolError(f"{folder} is a file, not a folder. Its folder is {folder.parent}.")
    if isinstance(error, NotADirectoryError):
        message = f"There is no folder {folder}: part of that path is a file."
    elif isinstance(error, PermissionError):
        message = f"The folder {folder} may not be read by this user."
    else:
        message = f"The folder {displayable_name(str(folder))!r} cannot be read: {error}."
    return ToolError(message, "Ask for another one.")
