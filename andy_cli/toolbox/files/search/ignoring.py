"""Rules of `.gitignore` files for what is not to be looked at, as git reads them (gitignore(5)).

Those of the folder itself, of every folder below and of those above up to the workspace count;
the last rule that matches decides. What lies in an ignored folder is ignored. `.git` always is,
and so is andy's trash.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import list_names_below
from andy_cli.toolbox.files.search.globs import Glob, parse_glob
from andy_cli.toolbox.files.search.walking import PASSED_OVER, FolderEntry
from andy_cli.toolbox.runtime_context import GrantedPath, current_context

IGNORE_FILE = ".gitignore"
MAX_BYTES, MAX_RULES = 100_000, 1000
"""Bytes of one file, and rules in it: nobody wrote more by hand."""


class IgnoreRule(NamedTuple):
    glob: Glob
    ignored: bool = True
    """False: what an earlier rule said is taken back."""
    folders: bool = False
    """It is meant of folders alone."""


class IgnoreFilter:
    """Tells of every entry of a walk whether it is ignored; folders come before what is in them."""

    def __init__(self, granted: GrantedPath) -> None:
        self._place = granted
        workspace = current_context().workspace
        is_below = granted.path.is_relative_to(workspace)
        self._top = workspace if is_below else granted.path
        self._names_above = list_names_below(granted.path, self._top)
        self._rules: dict[tuple[str, ...], Sequence[tuple[int, IgnoreRule]]] = {}
        self.any = False
        """True once something was ignored because a file says so."""

    def __call__(self, entry: FolderEntry) -> bool:
        if entry.path[-1] in PASSED_OVER:
            return True
        names = (*self._names_above, *entry.path)
        is_ignored = False
        for depth, ignore_rule in self._find_rules(names[:-1]):
            if (entry.kind == "folder" or not ignore_rule.folders) and ignore_rule.glob.matches(
                names[depth:]
            ):
                is_ignored = ignore_rule.ignored
        self.any = self.any or is_ignored
        return is_ignored

    def _find_rules(self, folder: tuple[str, ...]) -> Sequence[tuple[int, IgnoreRule]]:
        """Find the rules that hold in a folder, each with the depth of the folder in which it
        stands, the highest first; each file is read once."""
        if folder not in self._rules:
            rules = self._find_rules(folder[:-1]) if folder else []
            own_rules = list(parse_ignore_rules(self._read(self._top.joinpath(*folder))))
            if own_rules:
                rules = [*rules, *((len(folder), ignore_rule) for ignore_rule in own_rules)]
            self._rules[folder] = rules
        return self._rules[folder]

    def _read(self, folder: Path) -> str:
        try:
            with GrantedPath(folder / IGNORE_FILE, self._place.root).open() as file:
                return file.read(MAX_BYTES).decode("utf-8", "replace")
        except ToolError:
            return ""


def parse_ignore_rules(text: str) -> Iterator[IgnoreRule]:
    for line in text.removeprefix("\ufeff").splitlines()[:MAX_RULES]:
        pattern = line if line.endswith("\\ ") else line.rstrip()
        if not pattern or pattern.startswith("#"):
            continue
        taken_back = pattern.startswith("!")
        pattern = pattern[taken_back:]
        folders = pattern.endswith("/")
        yield IgnoreRule(
            parse_glob(pattern.rstrip("/") if folders else pattern), not taken_back, folders
        )
