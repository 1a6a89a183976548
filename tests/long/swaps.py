"""Changes in mode `edits` while a folder is swapped for a link: none may land outside (P1)."""

import sys
import tempfile
from pathlib import Path

from tests.swapped_folders import swapped_changes, swapped_writes


def main(cases: int) -> int:
    failed = False
    for name, change in (("writes", swapped_writes), ("moves and others", swapped_changes)):
        with tempfile.TemporaryDirectory() as folder:
            done = change(Path(folder), cases)
        text = f"{cases} {name}: {done.written} done, {done.outside} of them outside\n"
        sys.stdout.write(text)
        failed |= bool(done.outside or not done.written)
    return 1 if failed else 0
