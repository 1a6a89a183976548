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


def cut_pieces(record: Record, cut: ChunkCut) -> Iterator[str]:
    """The record's `chunks`, or its `text`, cut as asked."""
    given = record.get("chunks")
    parts = (
        [str(chunk) for chunk in given] if isinstance(given, list) else [text_of(record, "text")]
    )
    if cut.size <= 0 and cut.seed < 0:
        yield from parts
        return
    text, at = "".join(parts), 0
    cuts = random.Random(cut.seed)
    while at < len(text):
        size = cut.size if cut.size > 0 else cuts.randint(1, 12)
        yield text[at : at + size]
        at += size


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
