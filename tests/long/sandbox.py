"""Ten thousand command lines made at random: whatever nobody would be asked about is run as it
would be, in each sandbox that works here, and bash is the referee. It may have read nothing outside
and changed nothing."""

import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from andy_cli.toolbox.terminal import sandbox, sandboxes
from tests.random_command_lines import broken, furnish, lines
from tests.tools import work_in


def main(cases: int) -> int:
    found = [try_one(kind, cases) for kind in sandboxes.SANDBOXES]
    return 0 if found and all(found) else 1


def try_one(kind: sandboxes.Sandbox, cases: int) -> bool:
    """Whether nothing was broken in one sandbox, and something was allowed."""
    started = time.monotonic()
    allowed, failures = 0, 0
    sandboxes.SANDBOXES = (kind,)
    with tempfile.TemporaryDirectory() as folder:
        places = furnish(Path(folder))
        work_in(places.workspace, "guard.sandbox=auto")
        for line in islice(lines(1), cases):
            if not (sandbox.only_reads(line) and sandbox.can_contain(line)):
                continue
            allowed += 1
            if wrong := broken(line, places):
                failures += 1
                sys.stdout.write(f"{wrong}: {line!r}\n")
    sys.stdout.write(
        f"sandbox {kind.__name__}: {cases:,} lines, {allowed:,} allowed, {failures} broken, "
        f"{time.monotonic() - started:.0f} s\n"
    )
    return bool(allowed and not failures)
