"""FunctionGemma and Gemma 4: `call:NAME{key:value}` with texts between markers of their own.

    <start_function_call>call:play{track:<escape>Blue<escape>,n:3}<end_function_call>
    <|tool_call>call:play{track:<|"|>Blue "deluxe"<|"|>,loop:false}<tool_call|>

The small checkpoints write `call play` for `call:play`.
"""

import json
from collections.abc import Callable

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

CALL = Expression(r"call\s*[: ]\s*([\w.\-/]+)\s*(?={)")
KEY = Expression(r"([{,]\s*)([A-Za-z_][\w.\-]*)(\s*:)")
ESCAPED = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<{,"})
"""Whatever is read before JSON is, as JSON may write it."""


def make_reader(quote: str) -> Callable[[str, Tools], list[ToolRequest] | None]:
    def read(text: str, tools: Tools) -> list[ToolRequest] | None:
        requests: list[ToolRequest] = []
        heads = [
            head for head in CALL.finditer(text) if text.count(quote, 0, head.start()) % 2 == 0
        ]
        if not heads:
            return None
        for head, next_head in zip(heads, [*heads[1:], None], strict=True):
            call_body = text[head.end() : next_head.start() if next_head else len(text)]
            json_body = as_json(call_body.strip().rstrip(","), quote)
            value = json_text.parse_strict(json_body) or json_text.read_value(json_body)
            if not isinstance(value, dict):
                return None
            requests.append(
                ToolRequest(name=calls.clean_tool_name(head[1], tools), arguments=value)
            )
        return requests

    return read


def as_json(text: str, quote: str) -> str:
    """Texts quoted as JSON quotes them, keys too; what stands inside a text is left alone."""
    pieces = text.replace("\0", "").split(quote)
    if len(pieces) % 2 == 0:  # the last text does not end, and is none
        pieces[-2:] = [quote.join(pieces[-2:])]
    return "".join(
        json.dumps(piece) if index % 2 else KEY.sub(r'\1"\2"\3', piece)
        for index, piece in enumerate(pieces)
    )


def make_writer(opener: str, closer: str, quote: str) -> Callable[[ToolRequest], str]:
    def value(item: object) -> str:
        if isinstance(item, str):
            return escape_text(item) if quote in item else f"{quote}{item}{quote}"
        if isinstance(item, dict):
            return "{" + ",".join(f"{key}:{value(inner)}" for key, inner in item.items()) + "}"
        if isinstance(item, list):
            return "[" + ",".join(map(value, item)) + "]"
        return json.dumps(item)

    return lambda request: (
        f"{opener}call:{request.name}{value(dict(request.arguments or {}))}{closer}"
    )


def escape_text(text: str) -> str:
    """As JSON, for a text that holds the marker itself: without whatever is read before JSON is."""
    return json.dumps(text).translate(ESCAPED)


def make_gemma_dialect(name: str, opener: str, closer: str, quote: str) -> Dialect:
    return builders.make_section_dialect(
        dialect_name=name,
        start_markers=(opener,),
        end_markers=(closer,),
        write_call=make_writer(opener, closer, quote),
        read_calls=make_reader(quote),
        quote=quote,
    )


DIALECT = make_gemma_dialect(
    "functiongemma", "<start_function_call>", "<end_function_call>", "<escape>"
)._replace(models=("functiongemma*",))
