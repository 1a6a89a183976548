"""The type of a part of `andy debug`: a pure part of andy, one JSON object a line."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from andy_cli.compiler.compiler import tools_by_name

Record = Mapping[str, object]


class ChunkCut(NamedTuple):
    """The way to feed a text: in pieces of `size` characters, at random by `seed`, or whole."""

    size: int = 0
    seed: int = -1


class DebugPart(NamedTuple):
    name: str
    answer: Callable[[Record, ChunkCut], dict[str, object]]
    """One line in, one line out without its id; raises ValueError or TypeError in words."""


def cut_pieces(record: Record, chunk_cut: ChunkCut) -> Iterator[str]:
    """The record's `chunks`, or its `text`, cut as asked."""
    given_chunks = record.get("chunks")
    text_parts = (
        [str(chunk) for chunk in given_chunks]
        if isinstance(given_chunks, list)
        else [text_of(record, "text")]
    )
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
    return tools_by_name([tool for tool in list_of(record, "tools") if isinstance(tool, Mapping)])
