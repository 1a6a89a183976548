"""Can what has begun still become a request that no marker announces?

Asked about the first characters, which may be few: False only if no more text could change it.
"""

import re

from andy_cli.compiler.bodies.calls import (
    ARGUMENTS,
    IDS,
    NAMES,
    WRAPPERS,
    clean_tool_name,
    says_no_call,
)
from andy_cli.compiler.control_tokens import FENCES
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression

KEYS = frozenset(
    [
        *NAMES,
        *ARGUMENTS,
        *IDS,
        *WRAPPERS,
        "type",
        "toolCalls",
        "thought",
        "final",
        "jsonrpc",
        "method",
    ]
)
KEY = Expression(r"\s*[\"'\u201c]?([\w. -]*)([\"'\u201d:]?)")
CALLED = Expression(r"((?:[\w.\-/]|\\[_.]?)*)\s*(.?)", re.S)
INFO = frozenset(
    "json tool_call tool_calls tool_code tool_use tool function_call function python py xml call"
    " plaintext text bash".split()
)

COMMENTS = Expression(r"\A(?:\s*\#[^\n]*\n)+")
LONGEST_INFO = 30
CODE = Expression(
    r"(?:[ \t]*(?:(?:\#|import\s|from\s)[^\n]*)?\n)*(?:[A-Za-z_]\w{0,60}[ \t]*=(?!=)[ \t]*)?"
)
UNFINISHED = Expression(r"[ \t]*(?:(?:\#|import\s|from\s)[^\n]*|[A-Za-z_]\w{0,60}[ \t]*)?")


def may_begin_request(text: str, tools: Tools) -> bool:
    """Tell whether an object, a list or a call may have begun here."""
    text = text.lstrip()
    if not text or text[0] == "<":
        return True
    if text[0] == "{":
        return may_be_first_key(text[1:], tools)
    if text[0] == "[":
        return may_be_list(text[1:], tools)
    return may_be_call(text, tools)


def may_be_list(text: str, tools: Tools) -> bool:
    """Tell whether a list may hold calls, by what stands behind its bracket."""
    inner = COMMENTS.sub("", text).lstrip()
    if inner[:1] == "#":
        return True
    if inner[:1] in ("'", '"'):  # calls written as texts, or a name and its arguments
        name, quote, _ = inner[1:].partition(inner[0])
        known = bool(quote) and clean_tool_name(name, tools) in tools
        return known or may_begin_request(inner[1:], tools)
    if inner[:1] == "[":  # lists in a list, but not any deeper
        inner = inner[1:].lstrip()
    return not inner or (inner[0] not in "[]" and may_begin_request(inner, tools))


def may_be_first_key(text: str, tools: Tools) -> bool:
    """The first key of an object says whether it can be a call."""
    match = KEY.match(text)
    if match is None:
        return False
    if not match[2]:
        return match.end() == len(text)
    return match[1] in KEYS or match[1] in tools


def may_be_call(text: str, tools: Tools) -> bool:
    match = CALLED.match(text)
    if match is None or not match[1]:
        return False
    if not match[2]:
        return True
    if match[1] == "print" and match[2] == "(":
        return may_begin_request(text[match.end() :], tools)
    name = clean_tool_name(match[1], tools)
    return match[2] == "(" and (name in tools or says_no_call(name, tools))


def may_be_fence(text: str, tools: Tools) -> bool:
    """Tell whether an info word, a line break and what may be a request stand behind backticks.

    The request may also stand on the line of the backticks.
    """
    info, line_break, content = text.partition("\n")
    if line_break and info.strip().lower() in FENCES:
        return True
    if not line_break and len(info) < LONGEST_INFO:
        return True
    if info.strip().lower() not in {"", *INFO}:
        return may_begin_request(info, tools)
    return may_begin_request(content, tools) or may_be_program(content, tools)


def may_be_program(text: str, tools: Tools) -> bool:
    """A program that begins with a call whose result it keeps; comments and imports may lead."""
    lead = CODE.match(text)
    rest = text[lead.end() :] if lead else text
    return UNFINISHED.fullmatch(rest) is not None or may_be_call(rest, tools)
