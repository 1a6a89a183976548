"""`andy debug compile`: a reply, read as the product reads it."""

from functools import cache

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.detect import by_name
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.requested import asks_for_code
from andy_cli.discover import discover
from andy_cli.frontends.debug.part import Cut, Part, Record, pieces, tools_of

LARGEST = 32 * 1024 * 1024
"""Characters of a reply: what the network client takes in bytes."""


@cache
def markers(name: str, model: str, tools: tuple[str, ...]) -> Markers:
    found = discover(dialects, Dialect, "DIALECT")
    chosen = [each for each in found if each.name == name]
    hinted = by_name(model, found)
    return Markers(chosen or found, tools, hinted.name if hinted else "")


def compiled(record: Record, cut: Cut) -> dict[str, object]:
    if sum(map(len, pieces(record, Cut()))) > LARGEST:
        raise ValueError(f"a reply of more than {LARGEST:,} characters is refused")
    named = tools_of(record)
    compiler = Compiler(
        markers(str(record.get("dialect") or ""), str(record.get("model") or ""), tuple(named)),
        named,
        "known" if record.get("reasoning_open") else "",
        wants_code=asks_for_code(str(record.get("user") or "")),
    )
    for piece in pieces(record, cut):
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


PART = Part("compile", compiled)
