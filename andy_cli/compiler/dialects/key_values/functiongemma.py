"""FunctionGemma and Gemma 4: `call:NAME{key:value}` with texts between markers of their own.

    <start_function_call>call:play{track:<escape>Blue<escape>,n:3}<end_function_call>
    <|tool_call>call:play{track:<|"|>Blue "deluxe"<|"|>,loop:false}<tool_call|>

The small checkpoints write `call play` for `call:play`.
"""

import json
import re
from collections.abc import Callable

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

CALL = Expression(r"call\s*[: ]\s*([\w.\-/]+)\s*(?={)")
KEY = Expression(r"([{,]\s*)([A-Za-z_][\w.\-]*)(\s*:)")


def make_reader(quote: str) -> Callable[[str, Tools], list[ToolRequest] | None]:
    text_between = re.compile(re.escape(quote) + "(.*?)" + re.escape(quote), re.S)

    def read(text: str, tools: Tools) -> list[ToolRequest] | None:
        requests: list[ToolRequest] = []
        heads = list(CALL.finditer(text))
        if not heads:
            return None
        for head, next_head in zip(heads, [*heads[1:], None], strict=True):
            call_body = text[head.end() : next_head.start() if next_head else len(text)]
            json_body = as_json(call_body.strip().rstrip(","), text_between)
            value = json_text.parse_strict(json_body) or json_text.read_value(json_body)
            if not isinstance(value, dict):
                return None
            requests.append(
                ToolRequest(name=calls.clean_tool_name(head[1], tools), arguments=value)
            )
        return requests

    return read


def as_json(text: str, text_between: re.Pattern[str]) -> str:
    """Texts quoted as JSON quotes them, keys too; what stands inside a text is left alone."""
    quoted_texts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        quoted_texts.append(json.dumps(match[1]))
        return f"\0{len(quoted_texts) - 1}\0"

    plain = KEY.sub(r'\1"\2"\3', text_between.sub(keep, text.replace("\0", "")))
    return re.sub("\0(\\d+)\0", lambda match: quoted_texts[int(match[1])], plain)


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
    return re.sub("[<{,]", lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text))


def make_gemma_dialect(name: str, opener: str, closer: str, quote: str) -> Dialect:
    return builders.make_section_dialect(
        dialect_name=name,
        start_markers=(opener,),
        end_markers=(closer,),
        write_call=make_writer(opener, closer, quote),
        read_calls=make_reader(quote),
        skips_strings=False,
    )


DIALECT = make_gemma_dialect(
    "functiongemma", "<start_function_call>", "<end_function_call>", "<escape>"
)._replace(models=("functiongemma*",))
