"""The list of a folder, some levels deep: records for a model, the nearest levels first."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.files.names import count_kinds, count_noun, show_path
from andy_cli.toolbox.files.search.walking import (
    DEEPEST,
    MOST,
    PASSED_OVER,
    FolderEntry,
    list_entries,
)
from andy_cli.toolbox.granted_paths import GrantedPath
from andy_cli.toolbox.tool import Outcome
from andy_cli.toolbox.work import Work

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


def list_folder(place: GrantedPath, depth: int, work: Work) -> Outcome:
    """Everything down to `depth` levels, 1 being the folder itself."""
    found = _find_entries(place, min(depth, DEEPEST), work)
    where = show_path(place.path)
    did = f"listed {count_kinds(found.kinds)} in {where}"
    if not found.total:
        did = f"looked into {where}: it is empty"
    records = [_entry_record(entry) for entry in sorted(found.entries)]
    left_out = found.total - len(records)
    notes = []
    if left_out:
        more = " at least" if found.total >= MOST else ""
        notes.append(f"{left_out:,}{more} are left out. List a folder below to see the rest.")
    if found.closed:
        notes.append(f"{count_noun(found.closed, 'folder')} may not be read by this user.")
    if not notes:
        return Outcome(records, did)
    told = {"truncated": True, "items": found.total, "left_out": left_out, "data": records}
    partial = f"{count_noun(found.closed, 'folder')} could not be opened" if found.closed else ""
    return Outcome({**told, "rest": " ".join(notes)}, did, partial)


def _list_folders(entries: Sequence[FolderEntry]) -> list[tuple[str, ...]]:
    """List the paths of the folders that are looked into."""
    folders = [entry.path for entry in entries if entry.kind == "folder"]
    return [path for path in folders if path[-1] not in PASSED_OVER]


def _find_entries(place: GrantedPath, depth: int, work: Work) -> FoundEntries:
    kept: list[FolderEntry] = []
    waiting: deque[tuple[str, ...]] = deque([()])
    kinds: Counter[str] = Counter()
    closed = 0
    while waiting and kinds.total() < MOST:
        work.go_on()
        above = waiting.popleft()
        try:
            there = list_entries(place, above)
        except ToolError:
            if not above:
                raise
            closed += 1
            continue
        kinds.update(entry.kind for entry in there)
        kept += there[: SHOWN - len(kept)]
        if len(above) + 1 < depth:
            waiting += _list_folders(there)
    return FoundEntries(kept, kinds, closed)


def _entry_record(entry: FolderEntry) -> dict[str, object]:
    """A file has a size in bytes and a time; what is no file says so."""
    if entry.kind != "file":
        return {"name": entry.name, "type": entry.kind}
    modified = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.modified))
    return {"name": entry.name, "size": entry.size, "modified": modified}
