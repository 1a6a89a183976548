"""Programs of this machine that tools start: found where the user keeps programs, nowhere else."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from andy_cli.guard.workspace import too_wide
from andy_cli.toolbox.runtime_context import current_context


def find_program(*names: str) -> str:
    """The whole path of the first one that is installed; empty if none is.

    Not one in the workspace: whoever wrote those files shall not choose what runs unasked.
    """
    workspace = current_context().workspace
    for name in names:
        for installed in _installed_programs(name):
            if too_wide(workspace) or not installed.resolve().is_relative_to(workspace):
                return str(installed)
    return ""


def _installed_programs(name: str) -> Iterator[Path]:
    """Not by shutil.which, which takes 2 ms to import and stops at the first."""
    endings = os.environ.get("PATHEXT", ".EXE").split(";") if sys.platform == "win32" else [""]
    folders = search_path(os.environ.get("PATH", os.defpath)).split(os.pathsep)
    for folder in filter(None, folders):
        for ending in endings:
            path = Path(folder, name + ending)
            # In this order: is_file raises in a folder that is closed to us.
            if os.access(path, os.X_OK) and path.is_file():
                yield path


def search_path(path: str, without: Path | None = None) -> str:
    """Without folders that depend on where one stands: `.` would find programs in the workspace.

    And without those in that folder, unless it is the home or the whole disk.
    """
    folders = [folder for folder in map(Path, path.split(os.pathsep)) if folder.is_absolute()]
    if without and not too_wide(without):
        folders = [folder for folder in folders if not folder.resolve().is_relative_to(without)]
    return os.pathsep.join(map(str, folders))


def voice_program() -> str:
    """Find what speaks on this machine, if anything does."""
    if sys.platform == "darwin":
        return find_program("say", "espeak-ng")
    if sys.platform == "win32":
        return find_program("powershell", "pwsh")
    return find_program("espeak-ng", "espeak")
