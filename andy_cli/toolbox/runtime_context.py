"""The surroundings of tools: the settings in force and the folder andy was started in.

A process has one. Whoever opens a conversation enters it; what runs without (a test of one tool)
finds the settings as they are read from files, and the current folder.
"""

from pathlib import Path
from typing import NamedTuple

from andy_cli.settings import Settings, load


class RuntimeContext(NamedTuple):
    settings: Settings
    workspace: Path
    """Absolute, links followed."""
    session_id: str = ""
    journals: Path | None = None
    """The folder where changes of files are kept, so that they can be taken back later."""


_entered: list[RuntimeContext] = []


def enter_context(
    settings: Settings, workspace: Path, session_id: str = "", journals: Path | None = None
) -> None:
    _entered[:] = [RuntimeContext(settings, workspace.resolve(), session_id, journals)]


def leave_context() -> None:
    _entered.clear()


def here() -> RuntimeContext:
    """Raises UsageError for settings that cannot be read."""
    return _entered[0] if _entered else RuntimeContext(load(), Path.cwd().resolve())
