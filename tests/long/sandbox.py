"""Ten thousand command lines made at random: whatever nobody would be asked about is run as it
would be, and bash is the referee. It may have read nothing outside and changed nothing."""

import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from andy_cli.toolbox.terminal import sandbox
from tests.lines import broken, furnish, lines
from tests.tools import work_in


def main(cases: int) -> int:
    started = time.monotonic()
    allowed, failures = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        places = furnish(Path(folder))
        work_in(places.workspace, "guard.sandbox=auto")
        for line in islice(lines(1), cases):
            if not (sandbox.only_reads(line) and sandbox.contains(line)):
                continue
            allowed += 1
            if wrong := broken(line, places):
                failures += 1
                sys.stdout.write(f"{wrong}: {line!r}\n")
    seconds = time.monotonic() - started
    sys.stdout.write(
        f"sandbox: {cases:,} lines, {allowed:,} allowed, {failures} broken, {seconds:.0f} s\n"
    )
    return 1 if failures or not allowed else 0
