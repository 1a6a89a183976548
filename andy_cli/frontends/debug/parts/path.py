"""`andy debug path`: whether a path lies inside a workspace; the real file system is looked at."""

from pathlib import Path
from typing import get_args

from andy_cli.frontends.debug.debug_part import Cut, Part, Record, text_of
from andy_cli.guard.workspace import Contained, Operation, contain


def judged(record: Record, _: Cut) -> dict[str, object]:
    op = record.get("op", "read")
    operation: Operation | None = next(
        (known for known in get_args(Operation) if known == op), None
    )
    if operation is None:
        raise ValueError(f"op is one of {', '.join(get_args(Operation))}")
    workspace = Path(text_of(record, "workspace"))
    found = contain(record.get("path"), workspace, operation)
    return {
        "verdict": found.verdict,
        "resolves": _relative(found, workspace.resolve()),
        "reason": found.reason,
    }


def _relative(found: Contained, root: Path) -> str | None:
    """From the workspace, as names inside it are written."""
    if found.path is None or not found.path.is_relative_to(root):
        return None
    return str(found.path.relative_to(root))


PART = Part("path", judged)
