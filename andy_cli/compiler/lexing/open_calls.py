"""Read a call of which the end has not come: its name, and its arguments as far as they are known.

Every dialect can write a call, so what it writes after the last text of one is known: its tail. A
call that is being written is read with that tail put after it. Where its last value then ends with
a mark that was put before the tail, it is a text that is open, and all before it is whole. No
dialect needs a second reader for this.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from andy_cli.compiler.bodies.calls import declared_properties
from andy_cli.compiler.dialect import Dialect, Parsed, Tools
from andy_cli.messages import Schema, ToolRequest

MARK = "\u2980"
"""A character that no model writes and every notation leaves as it is."""
JSON_QUOTE = '"'
JSON_TEXT = re.compile(r'"(?:[^"\\]|\\(?:[^u]|u[0-9a-fA-F]{4}))*("|\Z)', re.DOTALL)
"""A text of JSON, or its beginning up to the end."""
NAME, KEY = "name_of_a_tool", "key_of_a_value"


class OpenCall(NamedTuple):
    name: str
    arguments: str
    """The beginning of a JSON object, up to the last character that is sure to stay."""


def read_open_call(dialect: Dialect, written: str, tools: Tools) -> OpenCall | None:
    """Read a call that ends inside a text; `written` begins with its opener.

    None where it ends elsewhere, names no tool, is one of several or would have to be mended.
    """
    tail = find_tail(dialect)
    if not tail or written.endswith("\\"):
        return None
    if tail[0] == JSON_QUOTE and not _in_json_text(written):
        return None
    parsed = dialect.parse(f"{written}{MARK}{tail}", tools)
    return None if parsed is None else _read_marked(parsed, tail, tools)


@cache
def find_tail(dialect: Dialect) -> str:
    """Find what a dialect writes after the last text of a call; empty where values are asked."""
    written_call = dialect.write(ToolRequest(NAME, {KEY: MARK}))
    _, mark_found, tail = written_call.rpartition(MARK)
    return tail if mark_found and NAME in written_call else ""


def _in_json_text(written: str) -> bool:
    """Tell whether JSON that begins in it ends inside a text that is a value."""
    json_start = max(written.find("{"), 0)
    texts = list(JSON_TEXT.finditer(written, json_start))
    if not texts or texts[-1][1]:  # the last one has its closing quote
        return False
    return written[: texts[-1].start()].rstrip().endswith(":")


def _read_marked(parsed: Parsed, tail: str, tools: Tools) -> OpenCall | None:
    if not _is_one_sure_call(parsed):
        return None
    name, arguments = parsed.requests[0].name, parsed.requests[0].arguments
    if name not in tools or not arguments:
        return None
    *complete_arguments, (key, value) = arguments.items()
    is_open = isinstance(value, str) and value.endswith(MARK)
    if not is_open or not _is_text(key, tools[name]):
        return None
    sure_value = _dump(_hold_back(str(value)[:-1], tail))[:-1]
    earlier_arguments = "".join(
        f"{_dump(argument_name)}: {_dump(argument)}, "
        for argument_name, argument in complete_arguments
    )
    if MARK in earlier_arguments + sure_value:
        return None
    return OpenCall(name, f"{{{earlier_arguments}{_dump(key)}: {sure_value}")


def _is_one_sure_call(parsed: Parsed) -> bool:
    return len(parsed.requests) == 1 and not (parsed.repairs or parsed.fault or parsed.incomplete)


def _is_text(key: str, tool: Schema) -> bool:
    schema = declared_properties(tool).get(key)
    return isinstance(schema, Mapping) and schema.get("type") == "string"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _hold_back(text: str, tail: str) -> str:
    """The text without what at its end may belong to the tail, or change with what follows."""
    ended = False
    if tail[0] != JSON_QUOTE:
        if text.lstrip().startswith(JSON_QUOTE):
            return ""  # perhaps it is a text of JSON, and its quotes are none of the value's
        text, ended_by, _ = text.partition(_first_mark(tail))
        ended = bool(ended_by)
    sizes = range(0 if ended else min(len(tail), len(text)), 0, -1)
    begun = (size for size in sizes if text.endswith((tail[:size], tail.lstrip()[:size])))
    text = text[: len(text) - next(begun, 0)]
    text = text.rstrip()
    return text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text


def _first_mark(tail: str) -> str:
    """Find what ends a text: the first tag of its tail, or the first character."""
    begun = tail.lstrip()
    return begun[: begun.find(">") + 1] if begun[0] in "<]" else begun[0]
