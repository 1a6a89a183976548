"""The trash: where files go that are not wanted, and how they come back.

The desktop's where there is a desktop (freedesktop.org Trash specification 1.0), else `.andy-trash`
in the workspace, laid out in the same way:

    files/report.txt
    info/report.txt.trashinfo       [Trash Info]  Path=...  DeletionDate=2026-05-01T12:00:00

Nothing here empties it. Not by send2trash: it takes paths, and follows links on the way to them.
"""

import os
import stat
import sys
import time
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import MAX_NAME_LENGTH, folder_inside
from andy_cli.toolbox.files.history.recorded_changes import Trashed
from andy_cli.toolbox.files.moving.transfers import move_entry
from andy_cli.toolbox.files.search.walking import TRASH
from andy_cli.toolbox.runtime_context import GoOn, GrantedPath, current_context, go_on_always

INFO = ".trashinfo"
DESKTOPS = ("XDG_CURRENT_DESKTOP", "WAYLAND_DISPLAY", "DISPLAY")
"""Variables of which a desktop sets one."""
MAX_NAME_NUMBERS = 10_000
"""Names that are tried for one file."""


class TrashFolder(NamedTuple):
    folder: Path
    root: Path
    """From here on no link is followed."""
    above: Path | None = None
    """Paths are noted as seen from here; None: whole."""

    def place(self, subfolder: str, name: str) -> GrantedPath:
        return GrantedPath(self.folder / subfolder / name, self.root)


def has_desktop() -> bool:
    """Tell whether somebody can open a trash here; that of macOS cannot be reached by its path."""
    return sys.platform not in ("darwin", "win32") and any(map(os.environ.get, DESKTOPS))


def find_trash(path: Path) -> TrashFolder:
    """The trash for something in this place; it is there then. Raises ToolError."""
    if has_desktop():
        for find_folder in (_home_trash, _disk_trash):
            if trash := find_folder(path):
                return trash
    workspace = current_context().workspace
    trash = TrashFolder(workspace / TRASH, workspace)
    _make_folders(trash)
    with folder_inside(trash.folder / ".gitignore", workspace) as folder:
        _write_new(".gitignore", b"*\n", folder)
    return trash


def _home_trash(path: Path) -> TrashFolder | None:
    """Open the trash of the home, for what is on the same disk."""
    data = os.environ.get("XDG_DATA_HOME", "")
    data_home = Path(data) if data.startswith("/") else Path.home() / ".local" / "share"
    try:
        (data_home / "Trash").mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = (data_home / "Trash").resolve()
        if folder.stat().st_dev != path.parent.stat().st_dev:
            return None
        trash = TrashFolder(folder, folder)
        _make_folders(trash)
    except (OSError, ToolError):
        return None
    return trash


def _disk_trash(path: Path) -> TrashFolder | None:
    """Open the trash of another disk: `.Trash/UID` if it was set up, else `.Trash-UID`."""
    top = path.parent
    while not top.is_mount() and top != top.parent:
        top = top.parent
    user = os.getuid()
    for folder in (top / ".Trash" / str(user), top / f".Trash-{user}"):
        trash = TrashFolder(folder, top, above=top)
        try:
            if folder.parent != top and not _is_shared_trash(folder.parent):
                continue
            _make_folders(trash)
        except (OSError, ToolError):
            continue
        return trash
    return None


def _is_shared_trash(folder: Path) -> bool:
    """Tell whether nobody can take away there what is another's: it is no link, and is sticky."""
    try:
        mode = folder.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and bool(mode & stat.S_ISVTX)


def _make_folders(trash: TrashFolder) -> None:
    """Make its folders, for this user alone. Raises ToolError."""
    for folder in (trash.folder, trash.folder / "files", trash.folder / "info"):
        if folder == trash.root:
            continue
        with folder_inside(folder, trash.root) as above:
            try:
                os.mkdir(folder.name, 0o700, dir_fd=above)
            except FileExistsError:
                mode = os.stat(folder.name, dir_fd=above, follow_symlinks=False).st_mode
                if not stat.S_ISDIR(mode):
                    raise ToolError(f"{folder} is no folder: there is no trash.") from None


def _write_new(name: str, data: bytes, folder: int) -> bool:
    """Make a small file; says whether the name was free."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
    except FileExistsError:
        return False
    return True


def put_into_trash(source: GrantedPath, go_on: GoOn = go_on_always) -> Trashed:
    """Put a file, a folder or a link into the trash. Raises ToolError, with it where it was."""
    trash = find_trash(source.path)
    name = _take_name(source.path, trash)
    trashed_file, info_file = trash.place("files", name), trash.place("info", name + INFO)
    try:
        move_entry(source, trashed_file, go_on)
    except BaseException:
        _remove_info(info_file)
        raise
    return Trashed(source, trashed_file, info_file)


def _take_name(path: Path, trash: TrashFolder) -> str:
    """A name that is free there: taken by its info file, as the specification demands."""
    noted = path.relative_to(trash.above) if trash.above else path
    deleted = time.strftime("%Y-%m-%dT%H:%M:%S")
    info_text = f"[Trash Info]\nPath={quote(os.fsencode(noted))}\nDeletionDate={deleted}\n".encode()
    with folder_inside(trash.folder / "info" / "any", trash.root) as infos:
        for number in range(1, MAX_NAME_NUMBERS):
            name = _number_name(path.name, number)
            is_kept = os.path.lexists(trash.folder / "files" / name)
            if not is_kept and _write_new(name + INFO, info_text, infos):
                return name
    raise ToolError(f"There are too many files called {path.name!r} in the trash.")


def _number_name(name: str, number: int) -> str:
    """`a.txt`, `a.2.txt`, ...: short enough for the info file's name too."""
    suffix = os.fsencode(PurePosixPath(name).suffix)
    if len(suffix) >= 20:
        suffix = b""
    end = f".{number}".encode() + suffix if number > 1 else suffix
    stem = os.fsencode(name).removesuffix(suffix)
    return os.fsdecode(stem[: MAX_NAME_LENGTH - len(INFO) - len(end)] + end)


def restore_trashed(trashed: Trashed) -> None:
    """Put it back where it was. Raises ToolError where something else is there now."""
    move_entry(trashed.kept, trashed.source)
    _remove_info(trashed.info)


def _remove_info(info_file: GrantedPath) -> None:
    try:
        with folder_inside(info_file.path, info_file.root) as folder:
            os.unlink(info_file.path.name, dir_fd=folder)
    except ToolError:
        return  # somebody emptied the trash
