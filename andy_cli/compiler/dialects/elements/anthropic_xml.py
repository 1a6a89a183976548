"""Claude without an API for tools, and many prompts: <invoke> elements with raw values.

    <function_calls>
    <invoke name="play">
    <parameter name="track">Blue</parameter>
    </invoke>
    </function_calls>

The section may be missing and tags may carry a prefix. In the oldest form names stand in elements:
<invoke><tool_name>play</tool_name><parameters><track>Blue</track></parameters></invoke>
"""

from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import CHILDREN, INVOKE
from andy_cli.compiler.dialect import Parsed, Tools

PREFIX = "antml:"
SHARED = "<tool_call>"
SECTIONS = ("<function_calls>", f"<{PREFIX}function_calls>", SHARED, "<invoke>")
CLOSERS = (
    *("</function_calls>", f"</{PREFIX}function_calls>"),
    *("</invoke>", f"</{PREFIX}invoke>", "</tool_call>", "</function>"),
)
JSON = tagged.make_tagged_parser(INVOKE, SECTIONS, CLOSERS, json=True)
NEW, OLD = (
    tagged.make_tagged_parser(INVOKE, SECTIONS, CLOSERS),
    tagged.make_tagged_parser(CHILDREN, SECTIONS, CLOSERS),
)


def parse(text: str, tools: Tools) -> Parsed | None:
    if "<tool_name>" in text[:200]:
        return OLD(text, tools)
    return NEW(text, tools) if text.startswith(SHARED) else JSON(text, tools)


DIALECT = tagged.make_tagged_dialect(
    name="anthropic_xml",
    start_markers=SECTIONS,
    end_markers=CLOSERS,
    tags=INVOKE,
    call_forms=('<function_calls>\n<invoke name="NAME">\n', "</invoke>\n</function_calls>"),
    value_forms=('<parameter name="KEY">', "</parameter>\n"),
    bare_start_markers=("<invoke name=", f"<{PREFIX}invoke name=", "<tool_call name="),
    lines=True,
)._replace(parse=parse, models=("claude*",))
