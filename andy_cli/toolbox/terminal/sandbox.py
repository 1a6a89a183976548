"""A command in a box, by bubblewrap: programs of the system, the workspace, and nothing else.

    guard.sandbox = auto    the default: a line that nobody was asked about, for the judge takes it
                            for one that only reads, runs in a box in which nothing can be changed,
                            there is no network, and secrets of the workspace are empty. Where no
                            box can be had, or the line needs what it does not hold, it is asked.
                            What the user said yes to runs as the user would run it: it may need
                            the network or the home (pip install, git push).
    guard.sandbox = on      everything runs in a box, in which the workspace can be changed
    guard.sandbox = off     nothing does, and every line is asked

The box is the wall; what the judge says is for comfort.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.guard.perils import secret
from andy_cli.guard.workspace import contain, too_wide
from andy_cli.settings import Settings
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.situation import here

SYSTEM = tuple(
    """/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix /gnu /run/current-system
    /run/booted-system /run/opengl-driver""".split()
)
"""Where systems keep their programs."""
SETTINGS = tuple(
    f"/etc/{name}"
    for name in """alternatives ld.so.cache ld.so.conf ld.so.conf.d passwd group nsswitch.conf
    localtime os-release lsb-release debian_version magic mime.types terminfo""".split()
)
"""What programs read of /etc; all else there may hold secrets."""
MOST_ENTRIES = 20_000
"""Of the workspace, that are looked through for secrets: in a larger one lines are asked."""
HIDDEN = "/dev/null"
MOST_WORDS = 50
"""Of a line, that are looked up as programs."""

MISSING = (
    "guard.sandbox is on, and bubblewrap does not work here: it has to be installed "
    "(apt install bubblewrap), or guard.sandbox to be set to auto."
)


def boxed(line: list[str], harmless: bool) -> list[str] | None:
    """The line that runs in a box; None where it needs none or cannot have one.

    `harmless` is what `only_reads` says of the command. Raises ToolError where it has to have a box
    and cannot.
    """
    setting = here().settings.text("guard.sandbox")
    if setting == "off" or (setting == "auto" and not harmless):
        return None
    if program := _program():
        return [*box(program, here().workspace, writable=setting == "on"), *line]
    if setting == "on":
        raise ToolError(MISSING, "Tell the user.")
    return None


def contains(command: str) -> bool:
    """Whether a line that only reads can run in a box, and tells there what it would outside."""
    workspace = here().workspace
    if here().settings.text("guard.sandbox") == "off" or not _program() or too_wide(workspace):
        return False
    words = dict.fromkeys(re.findall(r"[\w.+-]+", command))
    programs = filter(None, map(find_program, islice(words, MOST_WORDS)))
    return all(each.startswith(SYSTEM) for each in programs) and _can_hide(workspace)


def _program() -> str:
    """bwrap, where it works."""
    program = find_program("bwrap") if sys.platform == "linux" else ""
    return program if program and _works(program, here().workspace) else ""


def only_reads(command: str) -> bool:
    """Whether the guard lets it run without asking anybody."""
    # 15 ms, with a grammar of shell lines: most conversations run nothing.
    from andy_cli.guard.shell import judge

    workspace = here().workspace

    def inside(path: str) -> bool:
        return contain(path, workspace, "list").verdict == "inside"

    return judge(command, "cmd" if sys.platform == "win32" else "sh", inside).verdict == "allow"


def box(program: str, workspace: Path, writable: bool) -> list[str]:
    """bwrap with its options; what follows is run."""
    line = [program, "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for path in (*SYSTEM, *SETTINGS):
        line += ["--ro-bind-try", path, path]
    line += ["--bind" if writable else "--ro-bind", str(workspace), str(workspace)]
    if not writable:
        for path, is_folder in secrets_in(workspace):
            line += ["--tmpfs", path] if is_folder else ["--ro-bind", HIDDEN, path]
    line += [
        "--remount-ro",
        "/",
        "--chdir",
        str(workspace),
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
    ]
    return [*line, "--"]


def secrets_in(workspace: Path) -> Iterator[tuple[str, bool]]:
    """The files and folders of the workspace that may hold secrets, by their names; whether each
    is a folder. Of at most MOST_ENTRIES."""
    waiting, left = [str(workspace)], MOST_ENTRIES
    while waiting and left > 0:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    left -= 1
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if entry.is_symlink():
                        continue  # what it leads to is not there, or is met under its own name
                    if secret(Path(entry.path), workspace):
                        yield entry.path, is_folder
                    elif is_folder:
                        waiting.append(entry.path)
        except OSError:  # closed to us, and so to the command
            continue


def _can_hide(workspace: Path) -> bool:
    """Whether the workspace is small enough to be looked through."""
    waiting, left = [str(workspace)], MOST_ENTRIES
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return True


@cache
def _works(program: str, workspace: Path) -> bool:
    """Tried once: containers and cautious systems forbid it."""
    try:
        done = subprocess.run(
            [*box(program, workspace, writable=True), "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def promise(settings: Settings) -> str:
    """What the user is told before a yes to a command."""
    if settings.text("guard.sandbox") == "on":
        return "It runs in a sandbox: no network, no home, and only this folder can be changed."
    return "It runs outside a sandbox: it can do all that you can do."
