"""`andy debug command`: whether a command line may run in the folder where andy was started."""

from pathlib import Path
from typing import get_args

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, text_of
from andy_cli.guard.shell import Shell, judge_in_workspace


def judge_line(record: Record, _: ChunkCut) -> dict[str, object]:
    wanted_shell = record.get("shell", "sh")
    shell: Shell | None = next(
        (shell_name for shell_name in get_args(Shell) if shell_name == wanted_shell), None
    )
    if shell is None:
        raise ValueError(f"shell is one of {', '.join(get_args(Shell))}")
    verdict = judge_in_workspace(text_of(record, "line"), Path.cwd(), shell)
    # What nobody is asked about runs only where the kernel forbids the rest.
    return {**verdict._asdict(), "sandbox": verdict.verdict == "allow"}


PART = DebugPart("command", judge_line)
