"""`andy debug NAME`: the pure parts, for bug reports, tests and comparison.

One JSON object a line in, one out, in order, each with the `id` it came with. A malformed line
gives `{"id": null, "error": ...}` and exit code 1 at the end; the others are still processed.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from andy_cli.compiler.compiler import tools_by_name
from andy_cli.discover import discover
from andy_cli.errors import UsageError
from andy_cli.frontends.debug import parts

Record = Mapping[str, object]
Choice = TypeVar("Choice", bound=str)

MAX_CHARACTERS = 32 * 1024 * 1024
"""Characters of a line: what the network client takes in bytes."""


class ChunkCut(NamedTuple):
    """The way to feed a text: in pieces of `size` characters, at random by `seed`, or whole."""

    size: int = 0
    seed: int = -1


class DebugPart(NamedTuple):
    name: str
    answer: Callable[[Record, ChunkCut], dict[str, object]]
    """One line in, one line out without its id; raises ValueError or TypeError in words."""


def answer_lines(name: str, chunk: int, chunk_seed: int) -> int:
    """Answer each line of stdin on stdout; returns the exit code."""
    parts_by_name = {part.name: part for part in discover(parts, DebugPart, "PART")}
    if name not in parts_by_name:
        raise UsageError(
            f"There is no part {name!r}.", f"The parts are: {', '.join(parts_by_name)}."
        )
    debug_part, chunk_cut, code = parts_by_name[name], ChunkCut(chunk, chunk_seed), 0
    for line in filter(str.strip, sys.stdin):
        try:
            record = json.loads(line.removeprefix("\ufeff"))  # PowerShell writes one
            if not isinstance(record, dict):
                raise TypeError("a line holds one JSON object")
            answer = {"id": record.get("id"), **debug_part.answer(record, chunk_cut)}
        except (ValueError, TypeError, RecursionError) as error:
            answer, code = {"id": None, "error": str(error)}, 1
        sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")
    sys.stdout.flush()
    return code


def cut_pieces(record: Record, chunk_cut: ChunkCut) -> Iterator[str]:
    """The record's `chunks`, or its `text`, cut as asked."""
    given_chunks = record.get("chunks")
    if isinstance(given_chunks, list):
        text_parts = [str(chunk) for chunk in given_chunks]
    else:
        text_parts = [text_of(record, "text")]
    if chunk_cut.size <= 0 and chunk_cut.seed < 0:
        yield from text_parts
        return
    text, position = "".join(text_parts), 0
    random_cuts = random.Random(chunk_cut.seed)
    while position < len(text):
        size = chunk_cut.size if chunk_cut.size > 0 else random_cuts.randint(1, 12)
        yield text[position : position + size]
        position += size


def text_of(record: Record, key: str) -> str:
    """The text under a key; raises TypeError where there is none."""
    text = record.get(key)
    if not isinstance(text, str):
        raise TypeError(f"{key} is missing, or is no text")
    return text


def choice_of(record: Record, key: str, choices: Sequence[Choice]) -> Choice:
    """The one of the choices under a key, the first where nothing is given; raises ValueError."""
    wanted = record.get(key, choices[0])
    for choice in choices:
        if choice == wanted:
            return choice
    raise ValueError(f"{key} is one of {', '.join(choices)}")


def list_of(record: Record, key: str) -> list[object]:
    """The list under a key, empty where nothing is given; raises TypeError for anything else."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise TypeError(f"{key} is a list")
    return value


def tools_of(record: Record) -> dict[str, Record]:
    """The record's function tools, by name; what is none is left out."""
    tools = [tool for tool in list_of(record, "tools") if isinstance(tool, Mapping)]
    return tools_by_name(list(map(_join_function, tools)))


def _join_function(tool: Record) -> Record:
    """Put into a function what stands beside it, such as annotations."""
    function = tool.get("function")
    return {**tool, "function": {**tool, **function}} if isinstance(function, Mapping) else tool
