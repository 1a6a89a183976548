"""`python -m tests.long NAME [CASES]`: what takes too long for the test suite."""

import sys

from tests.long import compiler

LONG = {"compiler": compiler.main}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in LONG:
        sys.stderr.write(f"usage: python -m tests.long {'|'.join(LONG)} [CASES]\n")
        return 2
    return LONG[sys.argv[1]](int(sys.argv[2]) if sys.argv[2:] else 1_000_000)


sys.exit(main())
