"""DeepSeek 3.1: a name, a separator and the arguments as JSON (the bars are full-width).

    <|tool_calls_begin|><|tool_call_begin|>play<|tool_sep|>{"track": "Blue"}<|tool_call_end|>
    <|tool_calls_end|>

The low lines are U+2581; quantized models write both as ASCII, as here. Where a server strips
special tokens, `play{"track": "Blue"}` is left.
"""

from andy_cli.compiler.bodies import calls, forms, json_text
from andy_cli.compiler.bodies.deepseek import CLOSERS, OPENERS, V31, marker, reader
from andy_cli.compiler.bodies.deepseek import body as section
from andy_cli.compiler.bodies.sections import Begun
from andy_cli.compiler.dialect import Body, Parsed, Tools
from andy_cli.messages import ToolRequest

READ = reader(V31)


def body(opener: str, tools: Tools) -> Body:
    return Begun(opener) if opener[-1] == "{" else section(opener, tools)


def parse(text: str, tools: Tools) -> Parsed | None:
    return READ(text, tools) if text[:1] == "<" else stripped(text, tools)


def stripped(text: str, tools: Tools) -> Parsed | None:
    """A name and an object: nothing but the name says that this is a call."""
    name, bracket, rest = text.partition("{")
    value = json_text.strict(bracket + rest)
    if isinstance(value, dict):
        name = calls.tool_name(name, tools)
        return Parsed((ToolRequest(name, value),), settled=True)
    cut = rest.lstrip()[:1] == '"' and not json_text.balanced(bracket + rest)
    return Parsed(incomplete=True) if cut else None


def write(request: ToolRequest) -> str:
    return (
        marker("tool_calls_begin")
        + marker("tool_call_begin")
        + f"{request.name}{marker('tool_sep')}{forms.dumped(request)}"
        + marker("tool_call_end")
        + marker("tool_calls_end")
    )


DIALECT = forms.taught(
    name="deepseek_v31",
    openers=OPENERS,
    body=body,
    parse=parse,
    write=write,
    closers=CLOSERS,
)._replace(named_openers=("NAME{", "NAME {"), models=("deepseek-v3.1*",))
