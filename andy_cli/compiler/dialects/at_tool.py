"""`@tool`: a line for each call (D8); names may hold dots.

@tool kom.memory.v1.search_memory {"query": {"text": "a } brace"}}
"""

import re

from andy_cli.compiler.bodies import calls, forms, json_text
from andy_cli.compiler.bodies.ends import JsonScan
from andy_cli.compiler.dialect import Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

LINE = Expression(r"@tool[ \t]+(?P<name>[\w.\-/]+)[ \t]*(?P<rest>.*)", re.S)


class Call:
    """A line; if an object begins on it, to the end of the object."""

    def __init__(self, opener: str, tools: Tools) -> None:
        self._scan: JsonScan | None = None

    def feed(self, text: str) -> int | None:
        at = 0
        while self._scan is None:
            match = re.compile(r"[{\n]").search(text, at)
            if match is None:
                return None
            if match[0] == "\n":
                return match.start()
            self._scan, at = JsonScan(), match.start()
        return self._scan.feed(text, at)


def parse(text: str, tools: Tools) -> Parsed | None:
    line = LINE.fullmatch(text.rstrip())
    if not line:
        return None
    name, rest = calls.tool_name(line["name"], tools), line["rest"].strip()
    if not rest:
        return Parsed((ToolRequest(name=name, arguments={}),))
    if not rest.startswith("{"):
        return None
    arguments = calls.arguments_of(json_text.read(rest), tools.get(name))
    if not json_text.balanced(rest) and json_text.strict(rest) is None:
        return Parsed(incomplete=True)
    return Parsed((ToolRequest(name=name, arguments=arguments),)) if arguments is not None else None


def write(request: ToolRequest) -> str:
    return f"@tool {request.name} {forms.dumped(request)}"


DIALECT = Dialect(
    name="at_tool",
    openers=(),
    line_openers=("@tool ",),
    body=Call,
    parse=parse,
    write=write,
    render=forms.render_with(write, forms.told("Result:", "")),
    catalogue=forms.catalogue,
    lesson="calls",
)
