"""`andy debug command`: whether a command line may run in the folder where andy was started."""

from pathlib import Path
from typing import get_args

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, choice_of, text_of
from andy_cli.guard.shell import Shell, judge_in_workspace


def judge_line(record: Record, _: ChunkCut) -> dict[str, object]:
    shell: Shell = choice_of(record, "shell", get_args(Shell))
    verdict = judge_in_workspace(text_of(record, "line"), Path.cwd(), shell)
    # What nobody is asked about runs only where the kernel forbids the rest.
    return {**verdict._asdict(), "sandbox": verdict.verdict == "allow"}


PART = DebugPart("command", judge_line)
