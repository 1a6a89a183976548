"""Where a path lies: inside what the user gave us to work with, or outside."""

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from andy_cli.errors import ToolError


def resolve(written: str, workspace: Path) -> Path:
    """The real path, links followed; relative ones start in the workspace.

    Raises ToolError for what no file system can name.
    """
    if "\0" in written:
        raise ToolError("A path cannot hold a NUL character.")
    try:
        return (workspace / Path(written).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise ToolError(f"{written!r} is not a usable path: {error}.") from error


def inside(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a resolved path is one of the resolved roots or below it."""
    return any(path.is_relative_to(root) for root in roots)


def too_wide(path: Path) -> bool:
    """The whole disk, the whole home: who names `~` does not mean everything in it."""
    return path in (Path("/"), Path.home().resolve())


WORD = re.compile(r"\"([^\"]+)\"|'([^']+)'|`([^`]+)`|(\S+)")


def named_places(text: str, workspace: Path) -> list[Path]:
    """The files and folders a text names, as in `look in ~/mp3, please`; they need not exist."""
    places = []
    for match in WORD.finditer(text):
        word = next(group for group in match.groups() if group)
        for written in {word, word.rstrip(".,;:!?)")}:
            if not ("/" in written or "~" in written or "\\" in written):
                continue
            with contextlib.suppress(ToolError):
                places.append(resolve(written, workspace))
    return places
