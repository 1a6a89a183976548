"""Every reader of foreign bytes, with many more of them than the test suite has time for."""

import os
import subprocess
import sys
import time
from pathlib import Path

FILE = Path(__file__).parents[1] / "test_damaged_files.py"


def main(cases: int) -> int:
    started = time.monotonic()
    # One process for each core: the readers know nothing of each other.
    options = ["-n", str(os.cpu_count() or 1), "--timeout", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(FILE), *options],
        env={**os.environ, "ANDY_DRAWN_CASES": str(cases)},
        check=False,
    )
    sys.stdout.write(f"readers: {cases:,} files a reader, {time.monotonic() - started:.0f} s\n")
    return done.returncode
