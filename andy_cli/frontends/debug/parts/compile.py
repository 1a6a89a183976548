"""`andy debug compile`: a reply, read as the product reads it."""

from functools import cache

from andy_cli.compiler.compiler import Compiler, asks_for_code
from andy_cli.compiler.detect import choose_by_name
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.frontends.debug.debug_part import (
    MAX_CHARACTERS,
    ChunkCut,
    DebugPart,
    Record,
    cut_pieces,
    tools_of,
)


@cache
def find_markers(name: str, model: str, tools: tuple[str, ...]) -> Markers:
    known_dialects = list(dialects_by_name().values())
    chosen = [dialect for dialect in known_dialects if dialect.name == name]
    hinted = choose_by_name(model, known_dialects)
    return Markers(chosen or known_dialects, tools, hinted.name if hinted else "")


def compile_reply(record: Record, chunk_cut: ChunkCut) -> dict[str, object]:
    if sum(map(len, cut_pieces(record, ChunkCut()))) > MAX_CHARACTERS:
        raise ValueError(f"a reply of more than {MAX_CHARACTERS:,} characters is refused")
    tools = tools_of(record)
    dialect, model = str(record.get("dialect") or ""), str(record.get("model") or "")
    compiler = Compiler(
        find_markers(dialect, model, tuple(tools)),
        tools,
        "known" if record.get("reasoning_open") else "",
        wants_code=asks_for_code(str(record.get("user") or "")),
    )
    for text_piece in cut_pieces(record, chunk_cut):
        compiler.feed(text_piece)
    _, reply = compiler.finish(cut_off=record.get("finish_reason") == "length")
    return {
        "calls": [
            {"name": request.name, "arguments": dict(request.arguments or {})}
            for request in reply.requests
        ],
        "content": reply.text,
        "reasoning": reply.reasoning,
        "dialect": reply.dialect,
        "incomplete": reply.incomplete,
        "faults": [reply.fault] if reply.fault else [],
    }


PART = DebugPart("compile", compile_reply)
