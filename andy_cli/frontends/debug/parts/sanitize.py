"""`andy debug sanitize`: an answer as the user would see it."""

from collections.abc import Mapping

from andy_cli.agent.sanitizer import Sanitizer, ToolTitles, asks_about_tools, make_titles
from andy_cli.compiler.compiler import tools_by_name
from andy_cli.compiler.dialect import Tools
from andy_cli.frontends.debug.debug_part import (
    MAX_CHARACTERS,
    ChunkCut,
    DebugPart,
    Record,
    cut_pieces,
    list_of,
)
from andy_cli.frontends.debug.parts.compile import find_markers


def find_tools(record: Record) -> Tools:
    """The record's tools: names, or function tools."""
    tools: dict[str, Mapping[str, object]] = {}
    for tool in list_of(record, "tools"):
        if isinstance(tool, str):
            tools[tool] = {"type": "function", "function": {"name": tool}}
        elif isinstance(tool, Mapping):
            tools |= tools_by_name([tool])
    return tools


def sanitize_answer(record: Record, chunk_cut: ChunkCut) -> dict[str, object]:
    if sum(map(len, cut_pieces(record, ChunkCut()))) > MAX_CHARACTERS:
        raise ValueError(f"an answer of more than {MAX_CHARACTERS:,} characters is refused")
    tools = find_tools(record)
    user = str(record.get("user") or "")
    titles = None if asks_about_tools(user) else ToolTitles(make_titles(tools), user)
    sanitizer = Sanitizer(find_markers("", "", tuple(tools)), tools, titles)
    shown_pieces = [sanitizer.feed(text_piece) for text_piece in cut_pieces(record, chunk_cut)]
    return {"text": "".join(shown_pieces) + sanitizer.finish()}


PART = DebugPart("sanitize", sanitize_answer)
