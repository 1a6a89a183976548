"""The list of a folder, some levels deep: records for a model, the nearest levels first."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.files.names import count_kinds, count_noun, show_path
from andy_cli.toolbox.files.search.walking import (
    MAX_DEPTH,
    MAX_ENTRIES,
    PASSED_OVER,
    FolderEntry,
    list_entries,
)
from andy_cli.toolbox.runtime_context import GrantedPath, Work
from andy_cli.toolbox.tool import Outcome

SHOWN = 1000
"""Entries of one listing."""


class FoundEntries(NamedTuple):
    entries: list[FolderEntry]
    kinds: Counter[str]
    """The number of each kind, those that are left out too."""
    closed: int
    """Folders below that may not be read."""

    @property
    def total(self) -> int:
        return self.kinds.total()


def list_folder(granted: GrantedPath, depth: int, work: Work) -> Outcome:
    """Everything down to `depth` levels, 1 being the folder itself."""
    found_entries = _find_entries(granted, min(depth, MAX_DEPTH), work)
    shown_folder = show_path(granted.path)
    summary = f"listed {count_kinds(found_entries.kinds)} in {shown_folder}"
    if not found_entries.total:
        summary = f"looked into {shown_folder}: it is empty"
    records = [_entry_record(entry) for entry in sorted(found_entries.entries)]
    left_out = found_entries.total - len(records)
    notes = []
    if left_out:
        at_least = " at least" if found_entries.total >= MAX_ENTRIES else ""
        notes.append(f"{left_out:,}{at_least} are left out. List a folder below to see the rest.")
    partial = ""
    if found_entries.closed:
        closed_folders = count_noun(found_entries.closed, "folder")
        notes.append(f"{closed_folders} may not be read by this user.")
        partial = f"{closed_folders} could not be opened"
    if not notes:
        return Outcome(records, summary)
    record = {
        "truncated": True,
        "items": found_entries.total,
        "left_out": left_out,
        "data": records,
    }
    return Outcome({**record, "rest": " ".join(notes)}, summary, partial)


def _list_folders(entries: Sequence[FolderEntry]) -> list[tuple[str, ...]]:
    """List the paths of the folders that are looked into."""
    folders = [entry.path for entry in entries if entry.kind == "folder"]
    return [path for path in folders if path[-1] not in PASSED_OVER]


def _find_entries(granted: GrantedPath, depth: int, work: Work) -> FoundEntries:
    shown_entries: list[FolderEntry] = []
    waiting: deque[tuple[str, ...]] = deque([()])
    kinds: Counter[str] = Counter()
    closed_folders = 0
    while waiting and kinds.total() < MAX_ENTRIES:
        work.go_on()
        parent_names = waiting.popleft()
        try:
            entries = list_entries(granted, parent_names)
        except ToolError:
            if not parent_names:
                raise
            closed_folders += 1
            continue
        kinds.update(entry.kind for entry in entries)
        shown_entries += entries[: SHOWN - len(shown_entries)]
        if len(parent_names) + 1 < depth:
            waiting += _list_folders(entries)
    return FoundEntries(shown_entries, kinds, closed_folders)


def _entry_record(entry: FolderEntry) -> dict[str, object]:
    """A file has a size in bytes and a time; what is no file says so."""
    if entry.kind != "file":
        return {"name": entry.name, "type": entry.kind}
    modified = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.modified))
    return {"name": entry.name, "size": entry.size, "modified": modified}
