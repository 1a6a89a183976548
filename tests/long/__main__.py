"""`python -m tests.long NAME [CASES]`: what takes too long for the test suite."""

import sys

from tests.long import (
    canaries,
    compiler,
    faults,
    guards,
    interrupts,
    kills,
    mutants,
    readers,
    replicas,
    sandbox,
    serve,
    swaps,
    turns,
    writes,
)

LONG = {
    "canaries": (canaries.main, 20),
    "compiler": (compiler.main, 1_000_000),
    "faults": (faults.main, 1),
    "guards": (guards.main, 20_000),
    "interrupts": (interrupts.main, 400),
    "kills": (kills.main, 1_000),
    "mutants": (mutants.main, 60),
    "readers": (readers.main, 5_000),
    "replicas": (replicas.main, 10_000),
    "sandbox": (sandbox.main, 10_000),
    "serve": (serve.main, 100_000),
    "swaps": (swaps.main, 10_000),
    "turns": (turns.main, 1_000),
    "writes": (writes.main, 1),
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in LONG:
        sys.stderr.write(f"usage: python -m tests.long {'|'.join(LONG)} [CASES]\n")
        return 2
    long, cases = LONG[sys.argv[1]]
    return long(int(sys.argv[2]) if sys.argv[2:] else cases)


sys.exit(main())
