"""Small trees of files as the rows of the path corpus describe them."""

import io
import os
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path


def workspace_with(folder: Path, steps: list[str]) -> Path:
    """A workspace beside `outside/secret.txt`, after the steps of a row's `setup`."""
    workspace = folder / "ws"
    workspace.mkdir()
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.txt").write_text("canary")
    for step in steps:
        _make(workspace, step)
    return workspace


def _make(workspace: Path, step: str) -> None:
    kind, _, rest = step.partition(" ")
    MAKERS[kind](workspace, rest)


def _folder(workspace: Path, name: str) -> None:
    (workspace / name).mkdir(parents=True)


def _file(workspace: Path, name: str) -> None:
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).write_text("x")


def _link(workspace: Path, rest: str) -> None:
    name, target = rest.split(" -> ")
    (workspace / name).symlink_to(target)


def _hard_link(workspace: Path, rest: str) -> None:
    name, target = rest.split(" -> ")
    (workspace / name).hardlink_to(workspace / target)


def _pipe(workspace: Path, name: str) -> None:
    os.mkfifo(workspace / name)


def _mode(workspace: Path, rest: str) -> None:
    mode, name = rest.split(" ", 1)
    (workspace / name).chmod(int(mode, 8))


def _sparse(workspace: Path, rest: str) -> None:
    name, size = rest.split(" ")
    (workspace / name).touch()
    os.truncate(workspace / name, int(size))


def _socket(workspace: Path, name: str) -> None:
    # By its name alone: the path of a test's folder is too long for a socket.
    before = Path.cwd()
    os.chdir(workspace)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(name)
    finally:
        os.chdir(before)


def _swapped(workspace: Path, rest: str) -> None:
    """The moment of a race in which the link stands there."""
    name, kinds = rest.split(": ")
    (workspace / name).symlink_to(kinds.split("symlink ")[1])


def _zip(workspace: Path, rest: str) -> None:
    name, names = rest.split(" with ")
    with zipfile.ZipFile(workspace / name, "w") as archive:
        for each in names.split(", "):
            archive.writestr(each, "x")


def _tar(workspace: Path, rest: str) -> None:
    """A link that leaves, and a file through it."""
    with tarfile.open(workspace / rest.split(" ")[0], "w") as archive:
        link = tarfile.TarInfo("l")
        link.type, link.linkname = tarfile.SYMTYPE, "../outside"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("l/x"), io.BytesIO())


def _nested(workspace: Path, rest: str) -> None:
    name, depth = rest.split(" ")
    content = b"x"
    for level in range(int(depth)):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(f"{level}.zip" if level else "x.txt", content)
        content = packed.getvalue()
    (workspace / name).write_bytes(content)


MAKERS: dict[str, Callable[[Path, str], None]] = {
    "mkdir": _folder,
    "file": _file,
    "symlink": _link,
    "hardlink": _hard_link,
    "fifo": _pipe,
    "socket": _socket,
    "chmod": _mode,
    "sparse": _sparse,
    "race": _swapped,
    "zip": _zip,
    "tar": _tar,
    "nested-zip": _nested,
}
