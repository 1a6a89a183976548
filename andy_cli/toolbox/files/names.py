"""Files, sizes and counts as a person would write them."""

from collections.abc import Mapping
from pathlib import Path

from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.runtime_context import current_context


def show_path(path: Path) -> str:
    """A path as seen from the workspace, else from the home, else whole; nothing in it acts."""
    workspace = current_context().workspace
    if path == workspace:
        return "the current folder"
    if path.is_relative_to(workspace):
        return spell_out(str(path.relative_to(workspace)))
    return shorten_home(path)


def shorten_home(path: Path) -> str:
    """A path as seen from the home, else whole."""
    home_folder = Path.home()
    is_below = path.is_relative_to(home_folder) and path != home_folder
    return spell_out(f"~/{path.relative_to(home_folder)}" if is_below else str(path))


def show_size(size: int) -> str:
    """`340 bytes`, `1.2 kB`, `3.4 MB`."""
    if size < 1000:
        return count_noun(size, "byte")
    for unit, unit_size in (("kB", 1e3), ("MB", 1e6)):
        if size < unit_size * 999.95:
            return f"{size / unit_size:.1f} {unit}"
    return f"{size / 1e9:,.1f} GB"


NOUNS = {"file": "file", "folder": "folder", "link": "link", "other": "special file"}
"""The word of a person for each kind of entry of a folder."""


def count_kinds(kinds: Mapping[str, int]) -> str:
    """`12 files, 2 folders and 1 link`, of how many there are of each kind."""
    counts = [count_noun(kinds[kind], noun) for kind, noun in NOUNS.items() if kinds.get(kind)]
    if len(counts) < 2:
        return "".join(counts)
    return f"{', '.join(counts[:-1])} and {counts[-1]}"


def count_noun(number: int, noun: str) -> str:
    """`1 line`, `12 lines`, `2 matches`, `3 entries`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith('ch') else 's'}"
