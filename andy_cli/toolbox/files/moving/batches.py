"""Plans of moving, copying or trashing, worked out before anything is changed.

    batch = plan_transfer("move", ["*.jpg", "notes.txt"], "photos", False, work)
    batch.access             every path it would touch, and the preview for the user
    batch.items             what goes where

It is worked out twice: for the access, and when it is carried out. What has come up in between was
never judged, and then nothing is done.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import Operation, inside, is_secret_file, resolve
from andy_cli.toolbox.files.moving.targets import (
    ITSELF,
    find_entry,
    find_new_folders,
    find_obstacles,
    find_transfer_path,
    is_same_entry,
    kind_of,
)
from andy_cli.toolbox.files.names import NOUNS, count_kinds, count_noun
from andy_cli.toolbox.files.search.patterns import MeantPath, expand_pattern, join_name
from andy_cli.toolbox.files.search.walking import TRASH, FolderEntry, Kind, Walk
from andy_cli.toolbox.runtime_context import GrantedPath, Work, current_context, not_judged
from andy_cli.toolbox.tool import ResourceAccess

MAX_ITEMS = 1000
"""Files and folders that one call names, patterns looked up."""
MAX_PATHS = 5000
"""All that one call touches: each path is judged, which takes a second for so many."""
MAX_SHOWN_ITEMS = 12
"""Files and folders of a preview: with what is said around it that fits 24 lines."""
WRITE: Operation = "write"

Verb = Literal["move", "copy", "trash"]
Use = tuple[str, Operation]


class PlannedItem(NamedTuple):
    """One file, folder or link, and where it goes."""

    source: str
    target: str
    """Empty for what goes into the trash."""
    kind: Kind
    below: tuple[FolderEntry, ...] = ()
    """The entries of a folder."""
    replaced: "PlannedItem | None" = None
    """The entry that is there, and goes into the trash."""

    @property
    def display_path(self) -> str:
        target_note = f" -> {spell_out(self.target)}" if self.target else ""
        replaced_note = f", in place of {self.replaced.amount_inside}" if self.replaced else ""
        secrets_note = " (may hold secrets)" if self.may_hold_secrets else ""
        return f"{spell_out(self.source)}{self._inside}{secrets_note}{target_note}{replaced_note}"

    @property
    def may_hold_secrets(self) -> bool:
        workspace, source = current_context().workspace, find_entry(self.source)
        inner = (source.joinpath(*entry.path) for entry in self.below if entry.kind == "file")
        return any(is_secret_file(path, workspace) for path in (source, *inner))

    @property
    def _inside(self) -> str:
        return f" ({count_noun(len(self.below), 'entry')} in it)" if self.kind == "folder" else ""

    @property
    def amount_inside(self) -> str:
        """`the file there`, which goes into the trash, `the folder there (3 entries in it)`."""
        return f"the {NOUNS[self.kind]} there{self._inside}, which goes into the trash"

    @property
    def paths(self) -> int:
        """The number of paths it touches."""
        replaced = self.replaced.paths if self.replaced else 0
        return 1 + len(self.below) + replaced


class PlannedBatch(NamedTuple):
    verb: Verb
    items: tuple[PlannedItem, ...]
    folders: tuple[str, ...] = ()
    """Folders that are made for it."""

    @property
    def access(self) -> ResourceAccess:
        if sum(item.paths for item in self.items) > MAX_PATHS:
            raise _too_many()
        path_uses = [*((folder, WRITE) for folder in self.folders), *self._uses()]
        used_paths = tuple(path for path, _ in path_uses)
        operations = tuple(operation for _, operation in path_uses)
        return ResourceAccess(used_paths, operations=operations, shown=self.preview)

    def _uses(self) -> Iterator[Use]:
        for item in self.items:
            yield from _item_uses(item, self.verb)

    @property
    def preview(self) -> str:
        """The lines of what would happen to each, as far as they fit: possible secrets first."""
        lines = [f"{spell_out(folder)} (a new folder)" for folder in self.folders]
        items = sorted(self.items, key=lambda item: not item.may_hold_secrets)
        lines += [item.display_path for item in items[:MAX_SHOWN_ITEMS]]
        if len(self.items) > 1:
            lines.insert(0, f"{self.amount}:")
        if len(self.items) > MAX_SHOWN_ITEMS:
            lines.append(f"... and {len(self.items) - MAX_SHOWN_ITEMS:,} more")
        return "\n".join(lines)

    @property
    def amount(self) -> str:
        """`12 files and 1 folder`."""
        return count_kinds(Counter(item.kind for item in self.items))

    def check_judged(self) -> None:
        """Raises ToolError where it is not what was judged: something has come up meanwhile."""
        if unjudged := not_judged(self.access.places):
            raise ToolError(
                f"{spell_out(unjudged[0])} was not there when it was judged. Nothing was changed.",
                "Call it again.",
            )


def _item_uses(item: PlannedItem, verb: Verb) -> Iterator[Use]:
    yield from _source_uses(item, verb)
    if item.replaced:
        # Where it stands is not written through, should it be a link.
        yield from _item_uses(item.replaced, "trash")
    elif item.target:
        yield item.target, "write"
    replaced_paths = {entry.path for entry in item.replaced.below} if item.replaced else set()
    for entry in item.below:
        name = "/".join(entry.path)
        yield f"{item.source}/{name}", _inner_operation(entry)
        if item.target and entry.path not in replaced_paths:
            yield f"{item.target}/{name}", "write"


def _source_uses(item: PlannedItem, verb: Verb) -> Iterator[Use]:
    """A file that moves is read too: what may hold secrets does not become something else."""
    if item.kind == "file":
        yield item.source, "read"
    if item.kind == "link":
        yield item.source, ITSELF
    elif item.kind == "folder":
        yield item.source, "list" if verb == "copy" else "delete_recursive"
    elif verb != "copy":
        yield item.source, "delete"


def _inner_operation(entry: FolderEntry) -> Operation:
    if entry.kind == "link":
        return ITSELF
    return "list" if entry.kind == "folder" else "read"


def _too_many() -> ToolError:
    return ToolError(
        f"That is more than {MAX_PATHS:,} files for one call. Nothing was changed.",
        "Take a part of them at a time.",
    )


def is_outside(written: str) -> bool:
    """Tell whether what is there may not be told before somebody agreed."""
    return not inside(resolve(written, current_context().workspace), [current_context().workspace])


def _is_pattern_match(meant_path: MeantPath, folder: str) -> bool:
    """Tell whether it is the target itself, which a pattern fits as well."""
    return meant_path.by_pattern and is_same_entry(meant_path.written, folder)


def plan_transfer(
    verb: Verb, paths: Sequence[str], destination: str, replace: bool, work: Work
) -> PlannedBatch:
    """Move or copy to a folder, or one thing to a new name.

    Raises ToolError for what cannot be: something that is not there, a name that is taken unless
    it may be replaced, a folder into itself.
    """
    meant_paths = _find_all(paths, work)
    into_folder = _is_folder_meant(paths, meant_paths, destination)
    # Of `/` alone nothing would be left.
    folder = destination.rstrip("/") or destination[:1]
    items = []
    for meant_path in meant_paths:
        if into_folder and _is_pattern_match(meant_path, folder):
            continue
        name = find_entry(meant_path.written).name
        target = join_name(folder, name) if into_folder else folder
        items.append(_make_item(meant_path.written, target, work, verb))
    transfer_paths = [
        find_transfer_path(item.source, item.target, verb == "move") for item in items
    ]
    obstacles = find_obstacles(transfer_paths, replace)
    for index, item in enumerate(items):
        if item.target in obstacles:
            items[index] = item._replace(replaced=_make_item(item.target, "", work, "trash"))
    parent = folder if into_folder else str(Path(folder).parent)
    return PlannedBatch(verb, tuple(items), find_new_folders(parent))


def plan_trash(paths: Sequence[str], work: Work) -> PlannedBatch:
    """Raises ToolError for what is not there or cannot be trashed."""
    meant_paths = _find_all(paths, work)
    for meant_path in meant_paths:
        if TRASH in find_entry(meant_path.written).parts:
            raise ToolError(f"{spell_out(meant_path.written)} is in the trash already.")
    return PlannedBatch(
        "trash",
        tuple(_make_item(meant_path.written, "", work, "trash") for meant_path in meant_paths),
    )


def _find_all(paths: Sequence[str], work: Work) -> list[MeantPath]:
    """Resolve paths and patterns, each once; what lies in another of them goes with it."""
    meant_by_entry: dict[Path, MeantPath] = {}
    for written in paths:
        for meant_path in expand_pattern(written, work):
            meant_by_entry.setdefault(find_entry(meant_path.written), meant_path)
    if not meant_by_entry:
        raise ToolError("Say which files: their paths, or a pattern such as *.jpg.")
    if len(meant_by_entry) > MAX_ITEMS:
        raise ToolError(
            f"That is more than {MAX_ITEMS:,} files for one call. Nothing was changed.",
            "Take a part of them at a time, or the folder they are in.",
        )
    return [
        meant_path
        for path, meant_path in meant_by_entry.items()
        if meant_by_entry.keys().isdisjoint(path.parents)
    ]


def _is_folder_meant(
    paths: Sequence[str], meant_paths: Sequence[MeantPath], destination: str
) -> bool:
    """Tell whether it goes into the destination, and not to that name."""
    several = (
        len(paths) > 1
        or len(meant_paths) > 1
        or any(meant_path.by_pattern for meant_path in meant_paths)
    )
    if several or destination.endswith("/") or destination in (".", "..", "~"):
        return True
    # A folder in another case is not entered by its own name: `Photos` becomes `photos`.
    is_folder = resolve(destination, current_context().workspace).is_dir()
    return is_folder and not is_same_entry(meant_paths[0].written, destination)


def _make_item(source: str, target: str, work: Work, verb: Verb) -> PlannedItem:
    kind = kind_of(source)
    if kind is None:
        raise ToolError(f"There is no {spell_out(source)}.", "list_directory shows what there is.")
    if kind == "other" and verb == "copy":
        raise ToolError(f"{spell_out(source)} is neither a file nor a folder: it is not copied.")
    return PlannedItem(source, target, kind, _list_below(source, work) if kind == "folder" else ())


def _list_below(source: str, work: Work) -> tuple[FolderEntry, ...]:
    """All that lies in a folder: each path is judged for itself."""
    workspace = current_context().workspace
    folder = resolve(source, workspace, ITSELF)
    if not inside(folder, [workspace]):
        raise ToolError(
            f"{spell_out(source)} is a folder outside the workspace, where nothing is looked up.",
            "List it first, then give the paths of the files.",
        )
    folder_walk = Walk(GrantedPath(folder, workspace), work)
    entries = []
    for entry in folder_walk:
        entries.append(entry)
        if len(entries) > MAX_PATHS:
            raise _too_many()
    if folder_walk.closed:
        raise ToolError(f"{spell_out(source)} holds folders that may not be read by this user.")
    return tuple(entries)


def plan_folder(written: str) -> tuple[str, ...]:
    """Return the folders that making this one makes; none where it is there already."""
    return find_new_folders(written.rstrip("/") or written[:1])
