"""The files that a path or a pattern means, as shells read patterns: `*.jpg`, `photos/**/*.png`.

A pattern without a slash is meant of one folder, and hidden files only where it begins with a dot.
Patterns are looked up inside the workspace alone: nothing else is listed before somebody agreed.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import WILD, inside, resolve
from andy_cli.toolbox.files.search.globs import ANY, BRACES, Glob, parse_globs
from andy_cli.toolbox.files.search.walking import MAX_DEPTH, PASSED_OVER, FolderEntry, Walk
from andy_cli.toolbox.runtime_context import GrantedPath, Work, current_context


class MeantPath(NamedTuple):
    """One path that was meant."""

    written: str
    by_pattern: bool


def expand_pattern(written: str, work: Work) -> list[MeantPath]:
    """The paths; one that is no pattern is itself, whether it is there or not.

    Raises ToolError for a pattern that nothing fits, or that is meant outside of the workspace.
    """
    if not WILD.search(written) or _is_there(written):
        return [MeantPath(written, False)]
    base_folder, pattern = _split_pattern(written)
    workspace = current_context().workspace
    folder = resolve(base_folder or ".", workspace, "list")
    if not inside(folder, [workspace]):
        raise ToolError(
            f"{spell_out(written)} is a pattern outside the workspace, where nothing is looked up.",
            "List that folder first, then give the names of the files.",
        )
    entries = list(_match_entries(GrantedPath(folder, workspace), pattern, work))
    if not entries:
        raise ToolError(
            f"Nothing fits {spell_out(written)}.", "list_directory shows what there is."
        )
    return [MeantPath(join_name(base_folder, "/".join(entry.path)), True) for entry in entries]


def _is_there(written: str) -> bool:
    """Tell whether the workspace has something of that very name: `[1].txt` is one."""
    workspace = current_context().workspace
    try:
        path = resolve(written, workspace, "delete")
    except ToolError:
        return False
    return inside(path, [workspace]) and os.path.lexists(path)


def _split_pattern(written: str) -> tuple[str, str]:
    """The folder that is written out, and the pattern of what is in it."""
    # A choice in braces may hold a slash.
    start = min(match.start() for match in (WILD.search(written), BRACES.search(written)) if match)
    base_folder, _, _ = written[:start].rpartition("/")
    return base_folder or "/" * written.startswith("/"), written[len(base_folder) :].lstrip("/")


def _make_filter(globs: Sequence[Glob]) -> Callable[[FolderEntry], bool]:
    """Make what tells the entries that are looked at: nothing hidden that is not named."""
    deepest = max(MAX_DEPTH if ANY in glob.parts else len(glob.parts) for glob in globs)
    hidden = any(glob_part.startswith(".") for glob in globs for glob_part in glob.parts)

    def is_wanted(entry: FolderEntry) -> bool:
        name = entry.path[-1]
        is_seen = name not in PASSED_OVER and (hidden or not name.startswith("."))
        return is_seen and len(entry.path) <= deepest

    return is_wanted


def _match_entries(granted: GrantedPath, pattern: str, work: Work) -> Iterator[FolderEntry]:
    """Yield what fits, without what lies in a folder that fits."""
    globs = parse_globs("/" + pattern)  # from this folder down
    folder_walk = Walk(granted, work, _make_filter(globs))
    taken_folder: tuple[str, ...] = ()
    for entry in folder_walk:
        if taken_folder and entry.path[: len(taken_folder)] == taken_folder:
            continue
        if any(glob.matches(entry.path) for glob in globs):
            taken_folder = entry.path if entry.kind == "folder" else ()
            yield entry
    if folder_walk.cut:
        raise ToolError("There is too much to look through for a pattern.", "Give a subfolder.")


def join_name(folder: str, name: str) -> str:
    """A name in a folder, as a path somebody could have written."""
    if folder in ("", ".") and name.startswith("~"):
        # It is a name, and written alone it would mean a home.
        return str(Path(current_context().workspace, name))
    return str(PurePosixPath(folder) / name)
