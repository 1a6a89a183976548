"""The guards' promises over many more inputs than the test suite has time for.

Every property of the guards' tests, each with so many cases that hypothesis draws.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
FILES = "workspace archives shell addresses neutralizer redactor rules".split()


def main(cases: int) -> int:
    started = time.monotonic()
    files = [str(TESTS / f"test_{name}.py") for name in FILES]
    # Only what hypothesis draws for; the tables are part of the test suite.
    options = ["-m", "hypothesis", "--timeout", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *files, *options],
        env={**os.environ, "ANDY_DRAWN_CASES": str(cases)},
        check=False,
    )
    sys.stdout.write(f"{cases} cases a property, {time.monotonic() - started:.0f} s\n")
    return done.returncode
