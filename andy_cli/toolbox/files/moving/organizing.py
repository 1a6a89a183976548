"""Files and folders moved, copied, made and trashed: many in one call, with one consent.

All that can be known to fail is found out before anything is changed. What fails half-way is told:
what was done, and what was not.
"""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.actions import list_values
from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import Operation, folder_inside
from andy_cli.toolbox.files.history.journal import (
    find_missing_folders,
    record_call,
    record_change,
    take_from_record,
)
from andy_cli.toolbox.files.history.recorded_changes import Copied, FoldersMade, Moved, read_stamps
from andy_cli.toolbox.files.history.trash import put_into_trash, restore_trashed
from andy_cli.toolbox.files.moving import batches, transfers
from andy_cli.toolbox.files.moving.batches import PlannedBatch, PlannedItem, Verb
from andy_cli.toolbox.files.moving.targets import ITSELF
from andy_cli.toolbox.files.moving.transfers import LeftBehind
from andy_cli.toolbox.files.names import count_noun, show_path
from andy_cli.toolbox.files.writing import reason_of
from andy_cli.toolbox.runtime_context import GrantedPath, Work, granted_path
from andy_cli.toolbox.tool import Outcome, ResourceAccess, progress

PREVIEW_TIMEOUT = 5
"""Seconds for finding out what would happen."""
DONE = {"move": "moved", "copy": "copied", "trash": "put into the trash"}


def find_transfer_access(
    verb: Verb, paths: Sequence[str], destination: str, replace: bool = False
) -> ResourceAccess:
    """Find what moving or copying would touch. Raises ToolError for what cannot be."""
    try:
        return batches.plan_transfer(
            verb, paths, destination, replace, Work(PREVIEW_TIMEOUT)
        ).access
    except ToolError:
        # What is outside is not told before somebody agreed: then it fails when it is done.
        if not any(map(batches.is_outside, (*paths, destination))):
            raise
    operations: list[Operation] = ["delete_recursive"] * len(paths)
    return ResourceAccess((*paths, destination), operations=(*operations, "write"))


def find_trash_access(paths: Sequence[str]) -> ResourceAccess:
    """As `find_transfer_access`."""
    try:
        access = batches.plan_trash(paths, Work(PREVIEW_TIMEOUT)).access
    except ToolError:
        if not any(map(batches.is_outside, paths)):
            raise
        return ResourceAccess(tuple(paths), "delete_recursive")
    return access._replace(shown=f"{access.shown}\n/undo brings it back")


def transfer_paths(
    verb: Verb, paths: Sequence[str], destination: str, replace: bool, work: Work
) -> Outcome:
    """Move or copy. Raises ToolError, with nothing changed."""
    batch = batches.plan_transfer(verb, paths, destination, replace, work)
    carry_out = _move_step if verb == "move" else _copy_step
    return _carry_out(batch, carry_out, work)


def trash_paths(paths: Sequence[str], work: Work) -> Outcome:
    """Raises ToolError, with nothing changed."""
    return _carry_out(batches.plan_trash(paths, work), _trash_step, work)


class PlannedStep(NamedTuple):
    """One file, folder or link, and where it goes: as it was judged."""

    source: GrantedPath
    target: GrantedPath | None
    replaces: bool
    """True if what is at the target goes into the trash first."""


CarryOut = Callable[[PlannedStep, Work], Path]
"""Does it for one, records it, and says where it is now."""


def _carry_out(batch: PlannedBatch, carry_out: CarryOut, work: Work) -> Outcome:
    batch.check_judged()
    steps = [_make_step(item, batch.verb) for item in batch.items]
    resulting_paths: list[Path] = []
    fault = ""
    with record_call() as recorded:
        for position, step in enumerate(steps):
            progress(f"{position:,} of {len(steps):,}")
            try:
                work.go_on()
                resulting_paths.append(_carry_out_step(step, carry_out, work))
            except ToolError as error:
                fault = _describe_fault(batch.items[position], error)
                break
        recorded.did = _describe_done(
            batch._replace(items=batch.items[: len(resulting_paths)]), steps, resulting_paths
        )
    if fault and not recorded.changes:
        raise ToolError(f"{fault} Nothing was changed.")
    return _make_outcome(batch, recorded.did, len(resulting_paths), fault)


def _describe_fault(item: PlannedItem, error: ToolError) -> str:
    cause = error.__cause__
    if isinstance(cause, OSError) and not isinstance(error, LeftBehind):
        return f"{spell_out(item.source)}: {reason_of(cause)}."
    return str(error)


def _make_step(item: PlannedItem, verb: Verb) -> PlannedStep:
    reading: Operation = "list" if item.kind == "folder" else "read"
    operation = reading if verb == "copy" and item.kind != "link" else ITSELF
    source = granted_path(item.source, operation)
    if not item.target:
        return PlannedStep(source, None, False)
    replaces = item.replaced is not None
    return PlannedStep(source, granted_path(item.target, ITSELF if replaces else "write"), replaces)


def _carry_out_step(step: PlannedStep, carry_out: CarryOut, work: Work) -> Path:
    """Make room first, where something is replaced; it comes back if the rest fails."""
    if not step.replaces or step.target is None:
        return carry_out(step, work)
    trashed = put_into_trash(step.target, work.go_on)
    record_change(trashed)
    try:
        return carry_out(step, work)
    except ToolError:
        with contextlib.suppress(ToolError):
            restore_trashed(trashed)
            take_from_record(trashed)
        raise


def _move_step(step: PlannedStep, work: Work) -> Path:
    source, target, _ = step
    assert target is not None
    folders = find_missing_folders(target.path, target.root)
    try:
        transfers.move_entry(source, target, work.go_on)
    except LeftBehind:
        record_change(Copied(target, read_stamps(target), folders))
        raise
    record_change(Moved(source, target, read_stamps(target), folders))
    return target.path


def _copy_step(step: PlannedStep, work: Work) -> Path:
    source, target, _ = step
    assert target is not None
    folders = find_missing_folders(target.path, target.root)
    transfers.copy_entry(source, target, work.go_on)
    record_change(Copied(target, read_stamps(target), folders))
    return target.path


def _trash_step(step: PlannedStep, work: Work) -> Path:
    trashed = put_into_trash(step.source, work.go_on)
    record_change(trashed)
    return trashed.kept.path


def _describe_done(
    batch: PlannedBatch, steps: Sequence[PlannedStep], resulting_paths: Sequence[Path]
) -> str:
    """`moved 3 files to photos`, `moved a.txt to b.txt`."""
    if not resulting_paths:
        return f"began to {batch.verb} {show_path(steps[0].source.path)}"
    is_single = len(resulting_paths) == 1
    moved_things = show_path(steps[0].source.path) if is_single else batch.amount
    if batch.verb == "trash":
        return f"put {moved_things} into the trash ({show_path(resulting_paths[0].parent)})"
    target_folders = {path.parent for path in resulting_paths}
    shown_target = resulting_paths[0] if is_single else target_folders.pop()
    return f"{DONE[batch.verb]} {moved_things} to {show_path(shown_target)}"


def _make_outcome(batch: PlannedBatch, summary: str, done_count: int, fault: str) -> Outcome:
    """Describe what was done; where it ended half-way, what not and why."""
    names = [spell_out(item.source) for item in batch.items]
    if not fault:
        several = f": {list_values(names)}" if len(names) > 1 else ""
        way_back = " /undo or move brings it back." if batch.verb == "trash" else ""
        return Outcome(f"{summary}{several}.{way_back}", summary)
    remaining = names[done_count:]
    record = {
        "done": f"{summary}: {list_values(names[:done_count])}" if done_count else "nothing whole",
        "not_done": f"{count_noun(len(remaining), 'item')}: {list_values(remaining)}",
        "why": fault,
    }
    return Outcome(
        record, summary, f"{count_noun(len(remaining), 'item')} not {DONE[batch.verb]}: {fault}"
    )


def find_folder_access(written: str) -> ResourceAccess:
    try:
        new_folders = batches.plan_folder(written)
    except ToolError:
        if not batches.is_outside(written):
            raise
        new_folders = ()
    return ResourceAccess(new_folders or (written,), "write" if new_folders else "list")


def make_folder(written: str) -> Outcome:
    """Make a folder and those above it. Raises ToolError, with nothing changed."""
    new_folders = batches.plan_folder(written)
    if not new_folders:
        name = show_path(granted_path(written, "list").path)
        return Outcome(
            f"The folder {name} is there already.",
            f"found the folder {name} there",
            changed_nothing=True,
        )
    folder = granted_path(written.rstrip("/") or written, "write")
    folders = (*find_missing_folders(folder.path, folder.root), folder)
    # It is the folder that would hold anything in it.
    with folder_inside(folder.path / "any", folder.root, make_missing=True):
        pass
    summary = f"made the folder {show_path(folder.path)}"
    record_change(FoldersMade(folders), summary)
    return Outcome(summary, summary)
