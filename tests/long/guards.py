"""The guards' promises over many more inputs than the test suite has time for.

Every property of the guards' tests, each with so many cases that hypothesis draws.
"""

import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parents[1]
FILES = "workspace archives shell addresses neutralizer redactor rules".split()


def main(cases: int) -> int:
    settings.register_profile(
        "long",
        max_examples=cases,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("long")
    started = time.monotonic()
    files = [str(TESTS / f"test_{name}.py") for name in FILES]
    # Only what hypothesis draws for; the tables are part of the test suite.
    code = pytest.main([*files, "-m", "hypothesis", "--timeout", "0", "-p", "no:cacheprovider"])
    sys.stdout.write(f"{cases} cases a property, {time.monotonic() - started:.0f} s\n")
    return int(code)
