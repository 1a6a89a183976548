"""Programs that stand before andy serve or are measured beside it, in an environment of their own.

They pin what andy needs newer. $ANDY_PEERS_PYTHON names the Python of an environment that has them;
else `install_peers` makes one in the user's cache, once.
"""

import os
import subprocess
import sys
from pathlib import Path

from platformdirs import user_cache_path

PACKAGES = ("litellm[proxy]", "petsitter")
PROGRAMS = "Scripts" if sys.platform == "win32" else "bin"


def peers_folder() -> Path:
    """Where their programs are, or would be."""
    if python := os.environ.get("ANDY_PEERS_PYTHON"):
        return Path(python).parent
    return user_cache_path("andy-cli") / "peers" / PROGRAMS


def find_peer(name: str) -> Path | None:
    """Its program."""
    program = peers_folder() / name
    return program if program.exists() else None


def install_peers() -> str:
    """What went wrong, in a sentence; nothing where they are there."""
    folder = peers_folder()
    if all(find_peer(package.partition("[")[0]) for package in PACKAGES):
        return ""
    if "ANDY_PEERS_PYTHON" in os.environ:
        return f"{folder} has not both of {' and '.join(PACKAGES)}: pip install them there."
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(folder.parent)],
        [str(folder / "python"), "-m", "pip", "install", "-q", *PACKAGES],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
            return f"{' and '.join(PACKAGES)} cannot be installed: {last}"
    return ""


def peer_version(name: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    command = [str(peers_folder() / "python"), "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
