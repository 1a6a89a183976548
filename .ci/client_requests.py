"""What people wrote to commands of other trades (tests/corpora/small_model)."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.benchmarks.small_choices import BATCHES, CORPUS, Request, as_choice, read_requests

HELD_OUT = tuple(f"foreign_{number}" for number in range(19, 27))
"""Batches that are for comparison only."""


def read_clients() -> Iterator[tuple[str, Request]]:
    """Read the requests, each with its client: the name of its batch where that is held out."""
    for path in sorted(CORPUS.glob("clients_*.jsonl")):
        for client in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            choices = tuple(as_choice({"function": tool}) for tool in client["tools"])
            for text, tool, values in client["rows"]:
                name = f"{path.stem} {client['client']}"
                yield name, Request(text, tool, list_values(values), choices)
    for batch in BATCHES:
        for request in read_requests(batch):
            yield batch if batch in HELD_OUT else f"{batch} {request.names[0]}", request


def list_values(values: Mapping[str, Any]) -> Mapping[str, Sequence[object]]:
    """List for each parameter the values that are right, of which one may be all that is given."""
    return {name: value if isinstance(value, list) else [value] for name, value in values.items()}
