"""Rules for where things may go: what is in the way there, and which folders have to be made."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.actions import list_values
from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import Operation, resolve
from andy_cli.toolbox.files.search.walking import Kind, kind_of_mode
from andy_cli.toolbox.runtime_context import current_context

ITSELF: Operation = "delete"
"""The judgement of a link that is taken as a link: where it stands, and where it leads to."""


class TransferPath(NamedTuple):
    """From where to where, as written and where that is, without a last link followed."""

    source: str
    target: str
    origin: Path
    goal: Path
    moves: bool
    """True if nothing stays at the source."""


def find_transfer_path(source: str, target: str, moves: bool) -> TransferPath:
    """Raises ToolError for what no file system can name."""
    return TransferPath(source, target, find_entry(source), find_entry(target), moves)


def find_entry(written: str) -> Path:
    """Return where a path is; a link is a link."""
    return resolve(written, current_context().workspace, ITSELF)


def kind_of(written: str) -> Kind | None:
    """Say what is there; a link is a link. None if nothing is."""
    try:
        return kind_of_mode(find_entry(written).lstat().st_mode)
    except (ToolError, OSError):
        return None


def is_same_entry(first: str, second: str) -> bool:
    """Tell whether both are one thing, whatever its name's case."""
    first_entry, second_entry = find_entry(first), find_entry(second)
    return first_entry == second_entry or (
        os.path.lexists(first_entry) and _is_respelled(first_entry, second_entry)
    )


def _is_respelled(first_entry: Path, second_entry: Path) -> bool:
    """Tell whether only the case differs, on a disk that folds case."""
    if (
        first_entry.parent != second_entry.parent
        or first_entry.name.casefold() != second_entry.name.casefold()
    ):
        return False
    try:
        state = first_entry.lstat()
        # Two hard links of one file are two things.
        return os.path.samestat(state, second_entry.lstat()) and (
            first_entry.is_dir() or state.st_nlink == 1
        )
    except OSError:
        return False


def _check_names(transfer_paths: Sequence[TransferPath]) -> None:
    goal_counts = Counter(transfer_path.goal for transfer_path in transfer_paths)
    if several := [
        transfer_path.target
        for transfer_path in transfer_paths
        if goal_counts[transfer_path.goal] > 1
    ]:
        names = list_values(list(map(spell_out, dict.fromkeys(several))))
        raise ToolError(
            f"Several files would get the same name: {names}. Nothing was changed.",
            "Give them names of their own, one call each.",
        )


def find_obstacles(transfer_paths: Sequence[TransferPath], replace: bool) -> list[str]:
    """Return the targets where something is that `replace` lets go into the trash.

    Raises ToolError that names what is in the way, without `replace`; and for what cannot be at
    all: several things of one name, something into itself.
    """
    for transfer_path in transfer_paths:
        _check_transfer_path(transfer_path)
    _check_names(transfer_paths)
    obstacles = [
        transfer_path.target for transfer_path in transfer_paths if _is_taken(transfer_path)
    ]
    if obstacles and not replace:
        names = list_values(list(map(spell_out, obstacles)))
        raise ToolError(
            f"There is something of that name already: {names}. Nothing was changed.",
            "Choose another name or folder; or say replace, if the user wants that: "
            "what is there goes into the trash.",
        )
    if obstacles:
        _check_replaced(transfer_paths)
    return obstacles


def _check_transfer_path(transfer_path: TransferPath) -> None:
    if transfer_path.origin == transfer_path.goal:
        raise ToolError(f"{spell_out(transfer_path.source)} is there already. Nothing was changed.")
    if transfer_path.origin in transfer_path.goal.parents and not transfer_path.origin.is_symlink():
        raise ToolError(
            f"{spell_out(transfer_path.source)} cannot go into itself. Nothing was changed."
        )


def _is_taken(transfer_path: TransferPath) -> bool:
    if transfer_path.moves and is_same_entry(transfer_path.source, transfer_path.target):
        return False  # its name changes its case
    return os.path.lexists(transfer_path.goal)


def _check_replaced(transfer_paths: Sequence[TransferPath]) -> None:
    """Raises ToolError where something that goes somewhere would itself be replaced."""
    sources = {
        folder
        for transfer_path in transfer_paths
        for folder in (transfer_path.origin, *transfer_path.origin.parents)
    }
    for transfer_path in transfer_paths:
        if transfer_path.goal in sources and _is_taken(transfer_path):
            raise ToolError(
                f"{spell_out(transfer_path.target)} cannot be replaced: what goes there, "
                "or more that was named, lies in it. Nothing was changed.",
                "Choose another name.",
            )


def find_new_folders(written: str) -> tuple[str, ...]:
    """Return the folders that are not there yet, the highest first.

    Raises ToolError where a file is.
    """
    new_folders: list[str] = []
    folder = written
    while (kind := kind_of(folder)) != "folder":
        if kind == "link" and resolve(folder, current_context().workspace).is_dir():
            break
        if kind is not None:
            raise ToolError(f"{spell_out(folder)} is no folder. Nothing was changed.")
        new_folders.append(folder)
        above = str(Path(folder).parent)
        if above == folder:
            break
        folder = above
    return tuple(reversed(new_folders))
