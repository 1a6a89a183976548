"""Pythonic: calls as Python writes them, alone on their lines or in a fence of their own.

    [seek(seconds=90), play(track='Blue', opts={'loop': True})]

    ```tool_code
    play(track="Blue")
    ```

Llama 3.2 and 4, ToolACE, Gorilla; Gemma 2 and 3 with a `tool_code` fence. Read as literals, never
evaluated. Nothing announces it, so every name must be that of a tool: a link `[text](url)` is text.
"""

import re

from andy_cli.compiler.bodies import builders, calls, python_calls
from andy_cli.compiler.bodies.end_detectors import CallLineEnd, make_bare_call_end
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

PRINT = Expression(
    r"^\s*(?:(?:print|await)\s*\(\s*(?P<inside>.*)\)|(?:await|>>>)\s*(?P<behind>.*?))\s*$", re.S
)
MARKERS = (("<|python_start|>", "<|python_end|>"), ("<tool_code>", "</tool_code>"))
ESCAPED_BRACKET = Expression(r"\A\\\[|\\\]\Z")


def parse(text: str, tools: Tools) -> Parsed | None:
    body = strip_framing(text)
    requests = python_calls.read_python_calls(body, tools, only_known=False)
    parsed = calls.split_known(requests or (), tools)
    if parsed is None and (printed := PRINT.match(body)):
        call_text = printed["inside"] or printed["behind"] or ""
        requests = python_calls.read_python_calls(call_text, tools)
        parsed = calls.split_known(requests or (), tools)
    if parsed:
        return parsed
    if python_calls.is_cut_off(body, tools):
        return Parsed(incomplete=True)
    return None


def strip_framing(text: str) -> str:
    """The program alone: without its fence, its markers, escapes and quotation marks around it."""
    body = strip_fence(text)
    for opener, closer in MARKERS:
        body = body.removeprefix(opener).removesuffix(closer)
    body = ESCAPED_BRACKET.sub(lambda match: match[0].replace("\\", ""), body)
    if len(body) > 1 and body[0] in "'\"" and body[-1] == body[0]:
        return body[1:-1]
    return body


def write(request: ToolRequest) -> str:
    values = [f"{name}={value!r}" for name, value in (request.arguments or {}).items()]
    return f"[{request.name}({', '.join(values)})]"


def make_end_detector(opener: str, tools: Tools) -> EndDetector:
    if opener[-1] == "[" or opener[0] in "[\\":
        return make_bare_call_end(opener, tools)
    return CallLineEnd(opener)


DIALECT = builders.make_bare_dialect("pythonic", parse, write)._replace(
    start_markers=(*(opener for opener, _ in MARKERS), "["),
    line_start_markers=("print(",),
    named_start_markers=(
        "NAME(",
        "functions.NAME(",
        "'NAME(",
        '"NAME(',
        "await NAME(",
        "print(NAME(",
        ">>> NAME(",
    ),
    named_anywhere=("[NAME(", "\\[NAME("),
    make_end_detector=make_end_detector,
    end_markers=(*(closer for _, closer in MARKERS), "]"),  # one bracket too many is common
    models=tuple(
        (
            "llama-4* llama-3.2-1b* llama-3.2-3b* toolace* toolace-*llama-3* "
            "gorilla-openfunctions* watt-tool*"
        ).split()
    ),
)
