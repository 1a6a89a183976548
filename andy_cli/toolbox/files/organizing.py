"""Files and folders moved, copied, made and trashed: many in one call, with one consent.

All that can be known to fail is found out before anything is changed. What fails half-way is told:
what was done, and what was not.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.guard.neutralizer import spelled
from andy_cli.guard.workspace import Operation, folder_inside
from andy_cli.toolbox.files import batches, transfers
from andy_cli.toolbox.files.batches import NAMED, Batch, Item, Verb
from andy_cli.toolbox.files.journal import (
    Copied,
    FoldersMade,
    Moved,
    Trashed,
    folders_missing,
    one_call,
    record,
)
from andy_cli.toolbox.files.names import count, said
from andy_cli.toolbox.files.stamps import stamps
from andy_cli.toolbox.files.transfers import LeftBehind
from andy_cli.toolbox.files.trash import put
from andy_cli.toolbox.files.writing import reason_of
from andy_cli.toolbox.places import Place, place
from andy_cli.toolbox.tool import Claim, Outcome, progress
from andy_cli.toolbox.work import Work

CLAIMING = 5
"""Seconds for finding out what would happen."""
DONE = {"move": "moved", "copy": "copied", "trash": "put into the trash"}


def claim_transfer(verb: Verb, paths: Sequence[str], destination: str) -> Claim:
    """What moving or copying would touch. Raises ToolError for what cannot be."""
    try:
        return batches.transfer(verb, paths, destination, Work(CLAIMING)).claim
    except ToolError:
        # What is outside is not told before somebody agreed: then it fails when it is done.
        if not any(map(batches.is_outside, (*paths, destination))):
            raise
    operations: list[Operation] = ["delete_recursive"] * len(paths)
    return Claim((*paths, destination), operations=(*operations, "write"))


def claim_trash(paths: Sequence[str]) -> Claim:
    """As `claim_transfer`."""
    try:
        claim = batches.trash(paths, Work(CLAIMING)).claim
    except ToolError:
        if not any(map(batches.is_outside, paths)):
            raise
        return Claim(tuple(paths), "delete_recursive")
    return claim._replace(shown=f"{claim.shown}\n/undo brings it back")


def transfer(verb: Verb, paths: Sequence[str], destination: str, work: Work) -> Outcome:
    """Move or copy. Raises ToolError, with nothing changed."""
    batch = batches.transfer(verb, paths, destination, work)
    carry_out = _move if verb == "move" else _copy
    return _carry_out(batch, carry_out, work)


def trash(paths: Sequence[str], work: Work) -> Outcome:
    """Raises ToolError, with nothing changed."""
    return _carry_out(batches.trash(paths, work), _trash, work)


Places = tuple[Place, Place | None]
CarryOut = Callable[[Places, Work], Path]
"""Does it for one, records it, and says where it is now."""


def _carry_out(batch: Batch, carry_out: CarryOut, work: Work) -> Outcome:
    batch.check_judged()
    places = [_places(item, batch.verb) for item in batch.items]
    kept: list[Path] = []
    fault = ""
    with one_call() as recorded:
        for done, pair in enumerate(places):
            progress(f"{done:,} of {len(places):,}")
            try:
                work.go_on()
                kept.append(carry_out(pair, work))
            except ToolError as error:
                fault = _fault(batch.items[done], error)
                break
        recorded.did = _did(batch._replace(items=batch.items[: len(kept)]), places, kept)
    if fault and not recorded.changes:
        raise ToolError(f"{fault} Nothing was changed.")
    return _outcome(batch, recorded.did, len(kept), fault)


def _fault(item: Item, error: ToolError) -> str:
    cause = error.__cause__
    if isinstance(cause, OSError) and not isinstance(error, LeftBehind):
        return f"{spelled(item.source)}: {reason_of(cause)}."
    return str(error)


def _places(item: Item, verb: Verb) -> Places:
    reading: Operation = "list" if item.kind == "folder" else "read"
    operation = reading if verb == "copy" and item.kind != "link" else batches.ITSELF
    source = place(item.source, operation)
    return source, place(item.target, "write") if item.target else None


def _move(places: Places, work: Work) -> Path:
    source, target = places
    assert target is not None
    folders = folders_missing(target.path, target.root)
    try:
        transfers.move(source, target, work.go_on)
    except LeftBehind:
        record(Copied(target, stamps(target), folders))
        raise
    record(Moved(source, target, stamps(target), folders))
    return target.path


def _copy(places: Places, work: Work) -> Path:
    source, target = places
    assert target is not None
    folders = folders_missing(target.path, target.root)
    transfers.copy(source, target, work.go_on)
    record(Copied(target, stamps(target), folders))
    return target.path


def _trash(places: Places, work: Work) -> Path:
    trashed: Trashed = put(places[0], work.go_on)
    record(trashed)
    return trashed.kept.path


def _did(batch: Batch, places: Sequence[Places], kept: Sequence[Path]) -> str:
    """`moved 3 files to photos`, `moved a.txt to b.txt`."""
    if not kept:
        return ""
    one = len(kept) == 1
    what = said(places[0][0].path) if one else batch.amount
    if batch.verb == "trash":
        return f"put {what} into the trash ({said(kept[0].parent)})"
    where = {path.parent for path in kept}
    goal = kept[0] if one else where.pop()
    return f"{DONE[batch.verb]} {what} to {said(goal)}"


def _outcome(batch: Batch, did: str, done: int, fault: str) -> Outcome:
    """What was done; where it ended half-way, what not and why."""
    names = [spelled(item.source) for item in batch.items]
    if not fault:
        several = f": {_named(names)}" if len(names) > 1 else ""
        way_back = " /undo or move brings it back." if batch.verb == "trash" else ""
        return Outcome(f"{did}{several}.{way_back}", did)
    left = names[done:]
    told = {
        "done": f"{did}: {_named(names[:done])}",
        "not_done": f"{count(len(left), 'item')}: {_named(left)}",
        "why": fault,
    }
    return Outcome(told, did, f"{count(len(left), 'item')} not {DONE[batch.verb]}: {fault}")


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def claim_folder(written: str) -> Claim:
    try:
        made = batches.make_folder(written)
    except ToolError:
        if not batches.is_outside(written):
            raise
        made = ()
    return Claim(made or (written,), "write" if made else "list")


def make_folder(written: str) -> Outcome:
    """Make a folder and those above it. Raises ToolError, with nothing changed."""
    made = batches.make_folder(written)
    if not made:
        name = said(place(written, "list").path)
        return Outcome(f"The folder {name} is there already.", f"found the folder {name} there")
    folder = place(written.rstrip("/") or written, "write")
    folders = (*folders_missing(folder.path, folder.root), folder)
    # It is the folder that would hold anything in it.
    with folder_inside(folder.path / "any", folder.root, make=True):
        pass
    did = f"made the folder {said(folder.path)}"
    record(FoldersMade(folders), did)
    return Outcome(did, did)
