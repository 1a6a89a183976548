"""The sandboxes there are, each as the line that runs another within it.

All show the programs of the system and the workspace without what may hold secrets, let nothing be
changed, and have no network. Those that can show a workspace that may be changed do so if
`writable`: then its secrets are there too, and it is the user who said yes.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from andy_cli.guard.workspace import is_secret_file
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.terminal import landlock

SYSTEM = tuple(
    """/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix /gnu /run/current-system
    /run/booted-system /run/opengl-driver /System /Library""".split()
)
"""The folders in which systems keep their programs."""
SETTINGS = tuple(
    f"/etc/{name}"
    for name in """alternatives ld.so.cache ld.so.conf ld.so.conf.d passwd group nsswitch.conf
    localtime os-release lsb-release debian_version magic mime.types terminfo""".split()
)
"""The files of /etc that programs read; all else there may hold secrets."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
MAX_ENTRIES = 20_000
"""Of the workspace, that are looked through for secrets."""
MAX_LINE_LENGTH = 100_000
"""Characters of an argument that the kernel takes; what needs more has no such sandbox."""
EMPTY = "/dev/null"

Sandbox = Callable[[Path, bool], list[str]]
"""workspace, writable -> what stands before the line; nothing where there is no such sandbox."""


def bubblewrap_line(workspace: Path, writable: bool) -> list[str]:
    """A new tree of files, with nothing in it but what is put there."""
    program = find_program("bwrap")
    if not program:
        return []
    line = [program, "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for path in (*SYSTEM, *SETTINGS):
        line += ["--ro-bind-try", path, path]
    line += ["--bind" if writable else "--ro-bind", str(workspace), str(workspace)]
    if not writable:
        for path, is_folder in secrets_in(workspace):
            line += ["--tmpfs", path] if is_folder else ["--ro-bind", EMPTY, path]
    line += ["--remount-ro", "/", "--chdir", str(workspace)]
    return [*line, "--unshare-all", "--die-with-parent", "--new-session", "--"]


def landlock_line(workspace: Path, writable: bool) -> list[str]:
    """Make the line of a sandbox in which only a part of the tree opens: Landlock and seccomp.

    What changes modes and times cannot be held to a folder, so the workspace stays as it is; and
    nothing within a part can be closed again, so it does not lie among the programs.
    """
    if writable or any(workspace.is_relative_to(folder) for folder in SYSTEM):
        return []
    system = map(os.path.realpath, (*SYSTEM, *SETTINGS))
    sandbox_spec = {
        "read": [*dict.fromkeys(system), *_without_secrets(workspace)],
        "list": [str(workspace)],
        "devices": DEVICES,
        "folder": str(workspace),
    }
    text = json.dumps(sandbox_spec)
    if len(text) > MAX_LINE_LENGTH:
        return []
    return [sys.executable, "-I", "-S", landlock.__file__, text]


def seatbelt_line(workspace: Path, writable: bool) -> list[str]:
    """Make the line that runs something in the sandbox of macOS."""
    program = find_program("sandbox-exec")
    if not program:
        return []
    read = [*SYSTEM, "/dev", "/private/var/db/timezone", "/private/var/db/dyld", str(workspace)]
    devices = " ".join(f"(literal {json.dumps(device)})" for device in DEVICES)
    profile = [
        "(version 1)",
        "(deny default)",
        '(import "system.sb")',
        "(allow process-fork process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow file-read-metadata)",
        f"(allow file-read* {_allow_under(read)})",
        f"(allow file-write-data {devices})",
    ]
    if writable:
        profile.append(f"(allow file-write* {_allow_under([str(workspace)])})")
    elif hidden := [path for path, _ in secrets_in(workspace)]:
        profile.append(f"(deny file-read* {_allow_under(hidden)})")
    profile.append("(deny network*)")
    return [program, "-p", "\n".join(profile)]


def _allow_under(paths: list[str]) -> str:
    return " ".join(f"(subpath {json.dumps(path)})" for path in paths)


SANDBOXES: tuple[Sandbox, ...] = {
    "linux": (bubblewrap_line, landlock_line),
    "darwin": (seatbelt_line,),
}.get(sys.platform, ())
"""The sandboxes of this system, the better one first."""


def _list_entries(folder: str) -> Iterator[tuple["os.DirEntry[str]", bool]]:
    """Give the entries of a folder, and whether each is a folder itself; none of one that is closed
    to us, and so to the command."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry, entry.is_dir(follow_symlinks=False)


def secrets_in(workspace: Path) -> Iterator[tuple[str, bool]]:
    """The files and folders of the workspace that may hold secrets, by their names, and what is no
    file: who reads from a pipe takes from it. Whether each is a folder."""
    waiting = [str(workspace)]
    while waiting:
        for entry, is_folder in _list_entries(waiting.pop()):
            if entry.is_symlink():
                continue  # what it leads to is not there, or is met under its own name
            special = not is_folder and not entry.is_file(follow_symlinks=False)
            if special or is_secret_file(Path(entry.path), workspace):
                yield entry.path, is_folder
            elif is_folder:
                waiting.append(entry.path)


def _without_secrets(workspace: Path) -> Iterator[str]:
    """The files and folders that make up the workspace without its secrets, as few as can be."""
    hidden = {path for path, _ in secrets_in(workspace)}
    holding = {str(parent) for path in hidden for parent in Path(path).parents}
    waiting = [str(workspace)]
    while waiting:
        folder = waiting.pop()
        if folder not in holding:
            yield folder
            continue
        for entry, _ in _list_entries(folder):
            if entry.path not in hidden and not entry.is_symlink():
                waiting.append(entry.path)


def can_hide(workspace: Path) -> bool:
    """Tell whether the workspace is small enough to be looked through."""
    waiting, left = [str(workspace)], MAX_ENTRIES
    while waiting:
        for entry, is_folder in _list_entries(waiting.pop()):
            left -= 1
            if left < 0:
                return False
            if is_folder:
                waiting.append(entry.path)
    return True
