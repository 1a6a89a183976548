"""A command in a box, by bubblewrap: no network, no home, nothing but the workspace to change.

    guard.sandbox = auto    the default: what the guard takes for read-only, and nobody is asked
                            about, runs in a box in which even the workspace cannot be changed
                            (unless it would tell something else there, as `ps` does).
                            What the user said yes to runs as the user would run it: it may need
                            the network or the home (pip install, git push).
    guard.sandbox = on      everything runs in a box, in which the workspace can be changed
    guard.sandbox = off     nothing does

A box is a second wall, not the first: `auto` goes without where bubblewrap does not work, and the
result says so; `on` refuses.
"""

import re
import subprocess
import sys
from functools import cache
from itertools import islice
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import contain
from andy_cli.settings import Settings
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.situation import here

SYSTEM = ("/run/current-system", "/run/booted-system", "/run/opengl-driver")
"""Where some systems keep their programs, in a folder that is hidden for the rest of it."""

MACHINE = re.compile(
    r"\b(?:ps|pgrep|pidof|pstree|top|htop|lsof|fuser|ss|netstat|ip|ifconfig|route|arp|df|mount"
    r"|findmnt|who|w|last|users|id|groups|stat|hostname|lsns)\b|\bls\b[^|;&]*\s-\w*[lngo]"
    r"|\s-(?:ls|printf|user|group|nouser|nogroup)\b"
)
"""In a box there are no other processes, disks, networks and users."""

MOST_WORDS = 50
"""Of a line, that are looked up as programs."""

MISSING = (
    "guard.sandbox is on, and bubblewrap does not work here: it has to be installed "
    "(apt install bubblewrap), or guard.sandbox to be set to auto."
)


def boxed(command: str, line: list[str], harmless: bool) -> list[str] | None:
    """The line that runs in a box; None where it needs none or cannot have one.

    `harmless` is what `only_reads` says of the command. Raises ToolError where it has to have a box
    and cannot.
    """
    setting = here().settings.text("guard.sandbox")
    if setting == "off":
        return None
    if setting == "auto" and (not harmless or _answers_otherwise(command)):
        return None
    program = find_program("bwrap") if sys.platform == "linux" else ""
    workspace = here().workspace
    if program and _works(program, workspace, Path.home()):
        return [*box(program, workspace, Path.home(), writable=setting == "on"), *line]
    if setting == "on":
        raise ToolError(MISSING, "Tell the user.")
    return None


def _answers_otherwise(command: str) -> bool:
    """Whether what it tells would be wrong in a box: it looks at the machine, or at owners of
    files, or its program lies in the home, so that another one would answer for it."""
    if MACHINE.search(command):
        return True
    home = Path.home()
    words = dict.fromkeys(re.findall(r"[\w.+-]+", command))
    programs = filter(None, map(find_program, islice(words, MOST_WORDS)))
    found = map(Path, programs)
    return any(home in (*each.parents, *each.resolve().parents) for each in found)


def only_reads(command: str) -> bool:
    """Whether the guard lets it run without asking anybody."""
    # 15 ms, with a grammar of shell lines: most conversations run nothing.
    from andy_cli.guard.shell import judge

    workspace = here().workspace

    def inside(path: str) -> bool:
        return contain(path, workspace, "list").verdict == "inside"

    return judge(command, "cmd" if sys.platform == "win32" else "sh", inside).verdict == "allow"


def box(program: str, workspace: Path, home: Path, writable: bool) -> list[str]:
    """bwrap with its options; what follows is run."""
    line = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # Sockets in there lead out of the box: of Docker, of the desktop.
    line += ["--tmpfs", "/tmp", "--tmpfs", "/run"]
    for path in SYSTEM:
        line += ["--ro-bind-try", path, path]
    if home.is_dir() and home != Path("/") and not home.is_relative_to(workspace):
        line += ["--tmpfs", str(home)]
    line += ["--bind" if writable else "--ro-bind", str(workspace), str(workspace)]
    line += ["--chdir", str(workspace), "--unshare-all", "--die-with-parent", "--new-session"]
    return [*line, "--"]


@cache
def _works(program: str, workspace: Path, home: Path) -> bool:
    """Tried once: containers and cautious systems forbid it."""
    try:
        done = subprocess.run(
            [*box(program, workspace, home, writable=True), "true"],
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
