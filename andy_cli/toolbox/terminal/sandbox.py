"""The commands that run in a sandbox of the kernel: programs of the system, the workspace, no more.

    guard.sandbox = auto    the default: a line that nobody was asked about, for the judge takes it
                            for one that only reads, runs in a sandbox in which nothing can be
                            changed, there is no network, and secrets of the workspace cannot be
                            read. Where there is no sandbox, or the line needs what it does not
                            hold, it is asked. What the user said yes to runs as the user would
                            run it: it may need the network or the home (pip install, git push).
    guard.sandbox = on      everything runs in a sandbox, in which the workspace can be changed
    guard.sandbox = off     nothing does, and every line is asked

The sandbox is the wall; what the judge says is for comfort. It is trusted once it was seen to hold.
"""

import re
import socket
import subprocess
import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import ResourceAccess, too_wide
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.runtime_context import current_context
from andy_cli.toolbox.terminal import sandboxes
from andy_cli.toolbox.terminal.sandboxes import SYSTEM, Sandbox, can_hide

MAX_WORDS = 50
"""Of a line, that are looked up as programs."""
MISSING = (
    "guard.sandbox is on, and no sandbox works here: bubblewrap has to be installed "
    "(apt install bubblewrap), or guard.sandbox to be set to auto."
)


def sandboxed_line(line: list[str], harmless: bool) -> list[str] | None:
    """The line that runs in a sandbox; None where it needs none or cannot have one.

    `harmless` is what `only_reads` says of the command. Raises ToolError where it has to have one
    and cannot.
    """
    setting = current_context().settings.text("guard.sandbox")
    if setting == "off" or (setting == "auto" and not harmless):
        return None
    if sandbox_start := before_line(current_context().workspace, writable=setting == "on"):
        return [*sandbox_start, *line]
    if setting == "on":
        raise ToolError(MISSING, "Tell the user.")
    return None


def can_contain(command: str) -> bool:
    """Tell whether a line that only reads can run in a sandbox and say what it would outside."""
    workspace = current_context().workspace
    if current_context().settings.text("guard.sandbox") == "off" or too_wide(workspace):
        return False
    words = dict.fromkeys(re.findall(r"[\w.+-]+", command))
    programs = filter(None, map(find_program, islice(words, MAX_WORDS)))
    if not all(program.startswith(SYSTEM) for program in programs) or not can_hide(workspace):
        return False
    return bool(before_line(workspace, writable=False))


def only_reads(command: str) -> bool:
    """Tell whether the guard lets it run without asking anybody."""
    # 15 ms, with a grammar of shell lines: most conversations run nothing.
    from andy_cli.guard.shell import judge_in_workspace

    return judge_in_workspace(command, current_context().workspace).verdict == "allow"


def before_line(workspace: Path, writable: bool) -> list[str]:
    """Return what starts a line in the first sandbox that works; nothing without one."""
    for sandbox in sandboxes.SANDBOXES:
        sandbox_start = sandbox(workspace, writable)
        if sandbox_start and sandbox_holds(sandbox, sandbox_start[0], writable):
            return sandbox_start
    return []


TRY = """cat a; cat .env ../outside; echo x > b; echo x >> a; chmod 777 a; echo x >> ../outside
echo x > /dev/tcp/127.0.0.1/{port}"""


def _is_unchanged(workspace: Path) -> bool:
    file = workspace / "a"
    is_same = file.stat().st_mode & 0o777 == 0o600 and file.read_text() == "seen"
    return is_same and not (workspace / "b").exists()


@cache
def sandbox_holds(sandbox: Sandbox, program: str, writable: bool) -> bool:
    """Tell whether this sandbox was seen to hold, once: containers and cautious systems forbid it.

    `program` starts it: with another one it is tried again.
    """
    shell = find_program("bash", "sh")
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        workspace = Path(folder).resolve() / "workspace"
        workspace.mkdir()
        test_files = {workspace / "a": "seen", workspace.parent / "outside": "not seen"}
        for path, text in test_files.items():
            path.write_text(text)
        (workspace / ".env").write_text("not seen")
        (workspace / "a").chmod(0o600)
        script = TRY.format(port=listening.getsockname()[1])
        try:
            completed = subprocess.run(
                [*sandbox(workspace, writable), shell, "-c", script],
                cwd=workspace,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        if (workspace.parent / "outside").read_text() != "not seen" or _was_reached(listening):
            return False
        if writable:
            return (workspace / "b").exists()
        return completed.stdout == b"seen" and _is_unchanged(workspace)


def _was_reached(listening: socket.socket) -> bool:
    listening.setblocking(False)
    try:
        listening.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def find_command_access(command: str) -> ResourceAccess:
    """Say what a command would touch, and what the user is told before a yes to it."""
    promise = "It runs outside a sandbox: it can do all that you can do."
    if current_context().settings.text("guard.sandbox") == "on":
        promise = "It runs in a sandbox: no network, no home, and only this folder can be changed."
    return ResourceAccess(command=command, contained=can_contain(command), shown=promise)
