"""`andy debug sanitize`: an answer as the user would see it."""

from collections.abc import Mapping

from andy_cli.agent.output.sanitizer import Sanitizer
from andy_cli.agent.output.tool_titles import ToolTitles, asks_about_tools, make_titles
from andy_cli.compiler.compiler import tools_by_name
from andy_cli.compiler.dialect import Tools
from andy_cli.frontends.debug.part import Cut, Part, Record, list_of, pieces
from andy_cli.frontends.debug.parts.compile import LARGEST, markers


def named(record: Record) -> Tools:
    """The record's tools: names, or function tools."""
    tools: dict[str, Mapping[str, object]] = {}
    for each in list_of(record, "tools"):
        if isinstance(each, str):
            tools[each] = {"type": "function", "function": {"name": each}}
        elif isinstance(each, Mapping):
            tools |= tools_by_name([each])
    return tools


def sanitized(record: Record, cut: Cut) -> dict[str, object]:
    if sum(map(len, pieces(record, Cut()))) > LARGEST:
        raise ValueError(f"an answer of more than {LARGEST:,} characters is refused")
    tools = named(record)
    user = str(record.get("user") or "")
    titles = None if asks_about_tools(user) else ToolTitles(make_titles(tools), user)
    sanitizer = Sanitizer(markers("", "", tuple(tools)), tools, titles)
    shown = [sanitizer.feed(piece) for piece in pieces(record, cut)]
    return {"text": "".join(shown) + sanitizer.finish()}


PART = Part("sanitize", sanitized)
