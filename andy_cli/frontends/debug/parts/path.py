"""`andy debug path`: whether a path lies inside a workspace; the real file system is looked at."""

from pathlib import Path
from typing import get_args

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, text_of
from andy_cli.guard.workspace import Contained, Operation, contain


def judge_path(record: Record, _: ChunkCut) -> dict[str, object]:
    op = record.get("op", "read")
    operation: Operation | None = next(
        (known for known in get_args(Operation) if known == op), None
    )
    if operation is None:
        raise ValueError(f"op is one of {', '.join(get_args(Operation))}")
    workspace = Path(text_of(record, "workspace"))
    contained = contain(record.get("path"), workspace, operation)
    return {
        "verdict": contained.verdict,
        "resolves": _make_relative(contained, workspace.resolve()),
        "reason": contained.reason,
    }


def _make_relative(contained: Contained, root: Path) -> str | None:
    """From the workspace, as names inside it are written."""
    if contained.path is None or not contained.path.is_relative_to(root):
        return None
    return str(contained.path.relative_to(root))


PART = DebugPart("path", judge_path)
