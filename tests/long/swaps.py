"""Writes in mode `edits` while a folder is swapped for a link outside: none may land there (P1)."""

import sys
import tempfile
from pathlib import Path

from tests.swaps import swapped_writes


def main(cases: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        done = swapped_writes(Path(folder), cases)
    sys.stdout.write(f"{cases} tries: {done.written} written, {done.outside} of them outside\n")
    return 1 if done.outside or not done.written else 0
