"""`andy debug NAME`: the pure parts, for bug reports, tests and comparison.

One JSON object a line in, one out, in order, each with the `id` it came with. A malformed line
gives `{"id": null, "error": ...}` and exit code 1 at the end; the others are still processed.
"""

import json
import sys

from andy_cli.discover import discover
from andy_cli.errors import UsageError
from andy_cli.frontends.debug import parts
from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart


def answer_lines(name: str, chunk_cut: ChunkCut) -> int:
    """Answer each line of stdin on stdout; returns the exit code."""
    parts_by_name = {part.name: part for part in discover(parts, DebugPart, "PART")}
    if name not in parts_by_name:
        raise UsageError(
            f"There is no part {name!r}.", f"The parts are: {', '.join(parts_by_name)}."
        )
    return answer_each(parts_by_name[name], chunk_cut)


def answer_each(debug_part: DebugPart, chunk_cut: ChunkCut) -> int:
    code = 0
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            record = json.loads(line.removeprefix("\ufeff"))  # PowerShell writes one
            if not isinstance(record, dict):
                raise TypeError("a line holds one JSON object")
            answer = {"id": record.get("id"), **debug_part.answer(record, chunk_cut)}
        except (ValueError, TypeError, RecursionError) as error:
            answer, code = {"id": None, "error": str(error)}, 1
        sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")
    sys.stdout.flush()
    return code
