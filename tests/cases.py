"""Cases as data: the rows of the corpora in tests/corpora."""

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]
CORPORA = Path(__file__).parent / "corpora"


def rows(*files: str) -> list[Row]:
    """The rows of corpus files, in order."""
    lines = [line for file in files for line in (CORPORA / file).read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def name(row: Row) -> str:
    return str(row["id"])
