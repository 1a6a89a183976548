"""The files a call may open: those inside the workspace, and those the gate granted to it.

Tools never open a path they were given. They ask here where it really is, and open it from there
without following a link again, so that nothing can be exchanged behind the gate's back.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import (
    NO_GRANTS,
    Grants,
    Operation,
    contain,
    inside,
    open_inside,
    resolve,
)
from andy_cli.toolbox.runtime_context import here


class GrantedPath(NamedTuple):
    path: Path
    """Absolute, without links when it was looked up."""
    root: Path
    """The folder from which it is reached without following a link."""

    def open(self, mode: Literal["r", "w", "x", "a"] = "r") -> BinaryIO:
        """The file, in bytes. Raises ToolError for what is no plain file by now."""
        return open_inside(self.path, self.root, mode)


_granted: ContextVar[Grants] = ContextVar("granted", default=NO_GRANTS)


@contextmanager
def granting_places(grants: Grants) -> Iterator[None]:
    """Grant what runs inside these places too: where each path led when it was judged."""
    token = _granted.set(grants)
    try:
        yield
    finally:
        _granted.reset(token)


def not_judged(written: Iterable[str]) -> list[str]:
    """The paths that were no part of what the gate judged; none where it judged nothing.

    What a pattern means may have changed since.
    """
    granted = _granted.get()
    return [path for path in written if str(Path(path)) not in granted] if granted else []


def granted_path(written: str | Path, operation: Operation = "read") -> GrantedPath:
    """Find where a path of this call is. Raises ToolError where the call may not use it."""
    workspace = here().workspace
    judged = _granted.get().get(str(Path(written)))
    contained = contain(str(written), workspace, operation, judged)
    if contained.verdict == "invalid":
        raise ToolError(f"{spell_out(str(written))} cannot be used: {contained.reason}.")
    if contained.path is not None and contained.verdict != "outside":
        return GrantedPath(contained.path, workspace)
    path = judged or resolve(str(written), workspace, operation)
    if judged or inside(path, _granted.get().values()):
        return GrantedPath(path, Path(path.anchor))
    outside = spell_out(str(written))
    raise ToolError(f"{outside} is outside the workspace, and nobody agreed to it.")
