"""`python -m tests.benchmarks NAME`: figures, each beside its floor or peer of the same run."""

import sys

from tests.benchmarks import (
    compiler,
    conversation,
    documents,
    engines,
    house,
    mapper,
    redactor,
    serve,
    sessions,
    small_model,
    startup,
    stream,
    terminal,
    tools,
)

BENCHMARKS = {
    "compiler": compiler.main,
    "conversation": conversation.main,
    "documents": documents.main,
    "engines": engines.main,
    "house": house.main,
    "mapper": mapper.main,
    "redactor": redactor.main,
    "serve": serve.main,
    "sessions": sessions.main,
    "small_model": small_model.main,
    "startup": startup.main,
    "stream": stream.main,
    "terminal": terminal.main,
    "tools": tools.main,
}


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in BENCHMARKS:
        print(f"usage: python -m tests.benchmarks {'|'.join(BENCHMARKS)}")
        return 2
    BENCHMARKS[sys.argv[1]]()
    return 0


sys.exit(main())
