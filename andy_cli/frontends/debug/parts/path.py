"""`andy debug path`: whether a path lies inside a workspace; the real file system is looked at."""

from pathlib import Path
from typing import get_args

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, choice_of, text_of
from andy_cli.guard.workspace import Operation, PathJudgement, contain


def judge_path(record: Record, _: ChunkCut) -> dict[str, object]:
    operation: Operation = choice_of(record, "op", get_args(Operation))
    workspace = Path(text_of(record, "workspace"))
    contained = contain(record.get("path"), workspace, operation)
    return {
        "verdict": contained.verdict,
        "resolves": _make_relative(contained, workspace.resolve()),
        "reason": contained.reason,
    }


def _make_relative(contained: PathJudgement, root_folder: Path) -> str | None:
    """From the workspace, as names inside it are written."""
    if contained.path is None or not contained.path.is_relative_to(root_folder):
        return None
    return str(contained.path.relative_to(root_folder))


PART = DebugPart("path", judge_path)
