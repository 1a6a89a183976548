"""Run `andy` as a shell does, in a home of its own.

`andy` is forked from a process that has loaded its code (`tests.warm_start`); whoever starts `ANDY`
starts the installed program.
"""

import os
import random
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests import warm_start

ANDY, ROOT = warm_start.ANDY, warm_start.ROOT
FOREIGN = ("ANDY_", "XDG_", "OPENAI_", "OLLAMA_", "LM_", "LLM_")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN) and not name.endswith("_API_KEY")
    }
    return {**kept, "HOME": str(home), **more}


def andy(
    *arguments: str, home: Path, cwd: Path = ROOT, stdin: str | None = None, **env: str
) -> Done:
    """Exit code and what was printed; no traceback may be in it."""
    known = environment(home, **env)
    if warm_start.begins_alike(known):
        done = warm_start.complete_andy(
            *arguments, cwd=cwd, environment=known, stdin=stdin, seconds=60
        )
    else:
        done = subprocess.run(
            [str(ANDY), *arguments],
            cwd=cwd,
            env=known,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def start_andy(
    *arguments: str, home: Path, cwd: Path = ROOT, typed: bool = False, **env: str
) -> subprocess.Popen[str] | warm_start.PipedProcess:
    """Start it for a test that does something while it runs; `typed`: something to its stdin."""
    known = environment(home, **env)
    if warm_start.begins_alike(known):
        return warm_start.fork_piped(*arguments, cwd=cwd, environment=known, typed=typed)
    return subprocess.Popen(
        [str(ANDY), *arguments],
        cwd=cwd,
        env=known,
        stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    """Choose a port for a server that a test starts later, maybe more than once.

    It lies below those that systems give to whoever asks for any: between two starts none of the
    other servers and connections of the tests gets it.
    """
    while True:
        port = random.randrange(10_000, 32_768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def living(pattern: str) -> list[str]:
    """The processes whose command line is this."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if line == pattern:
            found.append(line)
    return found
