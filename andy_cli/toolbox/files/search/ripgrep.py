"""A first rough look through many files by ripgrep, where it is installed.

It only says which files are worth opening: those in which a text may stand, and those that may be
no text themselves. What is in them is read by ourselves, so that the results are the same without
it, and no link that appears meanwhile is followed.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from andy_cli.toolbox.files.kinds import PLAIN
from andy_cli.toolbox.programs import find_program

TIMEOUT = 10
MAX_BYTES = 100_000
"""Bytes of file names that one run is given."""

SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\.+*?()|[]{}^$#&~-"})
"""Not `re.escape`: in Rust's expressions `\\<` is the beginning of a word."""

ODD_BYTES = "".join(f"\\x{byte:02x}" for byte in range(256) if byte not in PLAIN)
NO_TEXT = f"[{ODD_BYTES}]|^%PDF-"
"""Stands in all that `kinds.kind` takes for no text, and in some that is."""


def files_holding(text: str, any_case: bool, folder: Path, names: Sequence[str]) -> set[str] | None:
    """Those of the files that may hold the text or be no text; None where nobody can say."""
    program = find_program("rg")
    if not program or not text:
        return None
    holding_files: set[str] = set()
    for group in _group_names(names):
        group_files = _run_ripgrep(program, text, any_case, folder, group)
        if group_files is None:
            return None
        holding_files |= group_files
    return holding_files


def _group_names(names: Sequence[str]) -> list[list[str]]:
    """In portions that fit on a command line."""
    groups: list[list[str]] = [[]]
    size = 0
    for name in names:
        size += len(name.encode("utf-8", "surrogateescape")) + 10
        if size > MAX_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(name)
    return groups


def _run_ripgrep(
    program: str, text: str, any_case: bool, folder: Path, names: Sequence[str]
) -> set[str] | None:
    options = ["--no-config", "--no-messages", "--files-with-matches", "--null", "--text"]
    case_option = "--ignore-case" if any_case else "--case-sensitive"
    escaped = text.translate(SPECIAL)
    line = [program, *options, case_option, "--regexp", escaped, "--regexp", NO_TEXT, "--", *names]
    try:
        completed = subprocess.run(
            line,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if completed.returncode not in (0, 1):
        return None
    return {
        file_name.decode("utf-8", "surrogateescape")
        for file_name in completed.stdout.split(b"\0")
        if file_name
    }
