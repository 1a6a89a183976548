"""Functionary 3.1: an element named after the function, with the arguments as JSON in it.

<function=play>{"track": "Blue"}</function>

The tool `python` takes its code raw.
"""

from andy_cli.compiler.bodies import builders, calls
from andy_cli.compiler.bodies.markup.sections import make_tag_end
from andy_cli.compiler.bodies.typed import allowed_kinds
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

OPEN, CLOSE = "<function=", "</function>"
HEAD = Expression(r"\s*<function=\s*[\"']?(?P<name>[^<>\"'\s]{1,200})[\"']?\s*>\s*")


def parse(text: str, tools: Tools) -> Parsed | None:
    head = HEAD.match(text)
    if not head:
        return None
    name = calls.clean_tool_name(head["name"], tools)
    body = text[head.end() :]
    if body[:1] in ("{", "[") or not body.strip() or body.startswith(CLOSE):
        return builders.read_headed_call(name, body, (CLOSE, "</tool_call>"), tools)
    parameter_names = list(calls.declared_properties(tools.get(name)))
    if len(parameter_names) != 1 or body.startswith(ELEMENTS):
        return None
    if not takes_text(name, parameter_names[0], tools):
        return None
    code, closer, _ = body.rpartition(CLOSE)
    if not closer:
        return Parsed(incomplete=True)
    return Parsed((ToolRequest(name, {parameter_names[0]: code.strip("\n")}),))


ELEMENTS = ("<parameter", "<param")


def takes_text(name: str, key: str, tools: Tools) -> bool:
    """Tell whether an argument may be any text."""
    schema = calls.declared_properties(tools[name])[key]
    kinds = allowed_kinds(schema, calls.parameters_schema(tools[name]))
    return not kinds or "string" in kinds


DIALECT = builders.make_taught_dialect(
    dialect_name="functionary_v31",
    start_markers=(OPEN,),
    make_end_detector=lambda opener, tools: make_tag_end(("</tool_call>", CLOSE)),
    parse_frame=parse,
    write_call=lambda request: f"{OPEN}{request.name}>{builders.dump_arguments(request)}{CLOSE}",
    end_markers=(CLOSE,),
)._replace(models=("functionary-*v3.1*",))
