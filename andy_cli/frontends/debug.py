"""`andy debug NAME`: the pure parts, for bug reports, tests and comparison.

One JSON object a line in, one out, in order, each with the `id` it came with. A malformed line
gives `{"id": null, "error": ...}` and exit code 1 at the end; the others are still processed.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.markers import Markers
from andy_cli.discover import discover

Record = Mapping[str, object]

LARGEST = 32 * 1024 * 1024
"""Characters of a reply: what the network client takes in bytes."""


def compile_lines(chunk: int, seed: int) -> int:
    def compiled(record: Record) -> dict[str, object]:
        return compile_one(record, chunk, seed)

    return each_line(compiled)


def each_line(answer: Callable[[Record], dict[str, object]]) -> int:
    """Read stdin, write stdout; returns the exit code."""
    code = 0
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise TypeError("a line holds one JSON object")
            out = {"id": record.get("id"), **answer(record)}
        except (ValueError, TypeError) as error:
            out, code = {"id": None, "error": str(error)}, 1
        sys.stdout.write(json.dumps(out, ensure_ascii=True) + "\n")
    sys.stdout.flush()
    return code


@cache
def markers(name: str, tools: tuple[str, ...]) -> Markers:
    found = discover(dialects, Dialect, "DIALECT")
    chosen = [each for each in found if each.name == name]
    return Markers(chosen or found, tools)


def compile_one(record: Record, chunk: int, seed: int) -> dict[str, object]:
    tools = record.get("tools") or []
    if not isinstance(tools, list):
        raise TypeError("tools is a list of function tools")
    if sum(map(len, pieces(record, 0, -1))) > LARGEST:
        raise ValueError(f"a reply of more than {LARGEST:,} characters is refused")
    named = tools_by_name(tools)
    compiler = Compiler(
        markers(str(record.get("dialect") or ""), tuple(named)),
        named,
        reasoning_open=bool(record.get("reasoning_open")),
    )
    for piece in pieces(record, chunk, seed):
        compiler.feed(piece)
    _, reply = compiler.finish(cut_off=record.get("finish_reason") == "length")
    return {
        "calls": [
            {"name": each.name, "arguments": dict(each.arguments or {})} for each in reply.requests
        ],
        "content": reply.text,
        "reasoning": reply.reasoning,
        "dialect": reply.dialect,
        "incomplete": reply.incomplete,
        "faults": [reply.fault] if reply.fault else [],
    }


def pieces(record: Record, chunk: int, seed: int) -> Iterator[str]:
    given = record.get("chunks")
    parts = [str(each) for each in given] if isinstance(given, list) else [text_of(record)]
    if chunk <= 0 and seed < 0:
        yield from parts
        return
    text, at = "".join(parts), 0
    cuts = random.Random(seed)
    while at < len(text):
        size = chunk if chunk > 0 else cuts.randint(1, 12)
        yield text[at : at + size]
        at += size


def text_of(record: Record) -> str:
    text = record.get("text")
    if not isinstance(text, str):
        raise TypeError("text (or chunks) is missing")
    return text
