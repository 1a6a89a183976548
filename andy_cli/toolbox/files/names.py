"""Files, sizes and counts as a person would write them."""

from collections.abc import Mapping
from pathlib import Path

from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.runtime_context import here


def show_path(path: Path) -> str:
    """A path as seen from the workspace, else from the home, else whole; nothing in it acts."""
    workspace, home = here().workspace, Path.home()
    if path == workspace:
        return "the current folder"
    if path.is_relative_to(workspace):
        return spell_out(str(path.relative_to(workspace)))
    if path.is_relative_to(home) and path != home:
        return spell_out(f"~/{path.relative_to(home)}")
    return spell_out(str(path))


def show_size(size: int) -> str:
    """`340 bytes`, `1.2 kB`, `3.4 MB`."""
    if size < 1000:
        return count_noun(size, "byte")
    for unit, one in (("kB", 1e3), ("MB", 1e6)):
        if size < one * 999.95:
            return f"{size / one:.1f} {unit}"
    return f"{size / 1e9:,.1f} GB"


NOUNS = {"file": "file", "folder": "folder", "link": "link", "other": "special file"}
"""The word of a person for each kind of entry of a folder."""


def count_kinds(kinds: Mapping[str, int]) -> str:
    """`12 files, 2 folders and 1 link`, of how many there are of each kind."""
    parts = [count_noun(kinds[kind], noun) for kind, noun in NOUNS.items() if kinds.get(kind)]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def count_noun(number: int, noun: str) -> str:
    """`1 line`, `12 lines`, `2 matches`, `3 entries`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith('ch') else 's'}"
