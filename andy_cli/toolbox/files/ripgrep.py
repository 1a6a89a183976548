"""A first rough look through many files by ripgrep, where it is installed.

It only says in which files a text may stand. What is in them is read by ourselves, so that the
results are the same without it, and no link that appears meanwhile is followed.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from andy_cli.toolbox.programs import find_program

SECONDS = 10
LONGEST = 100_000
"""Bytes of file names that one run is given."""


def holding(text: str, any_case: bool, folder: Path, names: Sequence[str]) -> set[str] | None:
    """Those of the files that may hold the text; None where nobody can say."""
    program = find_program("rg")
    if not program or not text:
        return None
    found: set[str] = set()
    for group in _groups(names):
        told = _run(program, text, any_case, folder, group)
        if told is None:
            return None
        found |= told
    return found


def _groups(names: Sequence[str]) -> list[list[str]]:
    """In portions that fit on a command line."""
    groups: list[list[str]] = [[]]
    size = 0
    for name in names:
        size += len(name.encode("utf-8", "surrogateescape")) + 10
        if size > LONGEST:
            groups.append([])
            size = 0
        groups[-1].append(name)
    return groups


def _run(
    program: str, text: str, any_case: bool, folder: Path, names: Sequence[str]
) -> set[str] | None:
    options = ["--no-config", "--no-messages", "--files-with-matches", "--null", "--text"]
    case = "--ignore-case" if any_case else "--case-sensitive"
    line = [program, *options, case, "--fixed-strings", "--regexp", text, "--", *names]
    try:
        done = subprocess.run(
            line,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode not in (0, 1):
        return None
    return {each.decode("utf-8", "surrogateescape") for each in done.stdout.split(b"\0") if each}
