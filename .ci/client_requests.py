"""What people wrote to commands of other trades (tests/corpora/small_model)."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.benchmarks.small_choices import BATCHES, CORPUS, Request, as_choice, read_requests

HELD_OUT = tuple(f"foreign_{number}" for number in range(19, 39))
"""Batches that are for comparison only."""
TRIED_CHOICES, TRIED_STEP = "choices_12", 3
"""The file that is for comparison only, and which of its examples are tried."""
FOLDS = 8


class OfCommand(Protocol):
    """What is learned from."""

    @property
    def command(self) -> str:
        """With its client."""


Example = TypeVar("Example", bound=OfCommand)


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


def read_choices() -> Iterator[tuple[str, Request]]:
    """Read the requests that choose among members in other words, each with its file and number."""
    for path in sorted(CORPUS.glob("choices_*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            command = json.loads(line)
            choice = as_choice({"function": command["tool"]})
            for text, values in command["rows"]:
                request = Request(text, choice.text, list_values(values), (choice,))
                yield f"{path.stem} {number}", request


def split_examples(
    examples: Iterable[Example], is_measured: bool
) -> tuple[list[Example], dict[str, list[Example]]]:
    """Split examples into those to learn from and, by name, those that are for comparison only;
    where it is measured an eighth of the other commands too.
    """
    by_source: dict[str, list[Example]] = {}
    for example in examples:
        by_source.setdefault(example.command.partition(" ")[0], []).append(example)
    foreign = [example for source in HELD_OUT for example in by_source.pop(source)]
    tried = {"batches": foreign, TRIED_CHOICES: by_source.pop(TRIED_CHOICES)[::TRIED_STEP]}
    known = [example for found in by_source.values() for example in found]
    if is_measured:
        left_out = {*sorted({example.command for example in known})[::FOLDS]}
        tried["an eighth"] = [example for example in known if example.command in left_out]
        known = [example for example in known if example.command not in left_out]
    return known, tried


def group_examples(examples: Iterable[Example], longest: int) -> list[list[Example]]:
    """Put examples of the same command together, since they share texts."""
    found: dict[str, list[Example]] = {}
    for example in examples:
        found.setdefault(example.command, []).append(example)
    return [
        own[begin : begin + longest]
        for own in found.values()
        for begin in range(0, len(own), longest)
    ]


def list_values(values: Mapping[str, Any]) -> Mapping[str, Sequence[object]]:
    """List for each parameter the values that are right, of which one may be all that is given."""
    return {name: value if isinstance(value, list) else [value] for name, value in values.items()}
