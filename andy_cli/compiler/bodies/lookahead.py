"""Tell whether what has begun may still become a request that no marker announces.

The first characters are looked at, which may be few: the answer is no only if no more text could
change it.
"""

import re

from andy_cli.compiler.bodies.calls import (
    ARGUMENT_KEYS,
    ID_KEYS,
    NAME_KEYS,
    WRAPPER_KEYS,
    clean_tool_name,
    says_no_call,
)
from andy_cli.compiler.bodies.wrappings import SIDE_KEYS
from andy_cli.compiler.control_tokens import FENCES
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression

CALL_KEYS = frozenset(
    [
        *NAME_KEYS,
        *ARGUMENT_KEYS,
        *ID_KEYS,
        *WRAPPER_KEYS,
        "type",
        "toolCalls",
        *(SIDE_KEYS - {"role"}),
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
BRACKET_MARKER = "[TOOL_CALLS]"
"""The marker of calls that begins with a square bracket, as lists and sections of settings do."""
MAX_INFO_LENGTH = 30
CODE = Expression(
    r"(?:[ \t]*(?:(?:\#|import\s|from\s)[^\n]*)?\n)*"
    r"(?:[A-Za-z_]\w{0,60}[ \t]*=(?!=)[ \t]*)?(?:await[ \t]+)?"
)
UNFINISHED = Expression(r"[ \t]*(?:(?:\#|import\s|from\s)[^\n]*|[A-Za-z_]\w{0,60}[ \t]*)?")


def may_begin_request(begun_text: str, tools: Tools) -> bool:
    """Tell whether an object, a list or a call may have begun here."""
    begun_text = begun_text.lstrip()
    if not begun_text or begun_text[0] == "<":
        return True
    if begun_text[0] == "{":  # doubled in a template that shows the form of a call
        return may_be_first_key(begun_text[1:].lstrip().removeprefix("{"), tools)
    if begun_text[0] == "[":
        return may_be_list(begun_text[1:], tools)
    return may_be_call(begun_text, tools)


def may_be_list(begun_text: str, tools: Tools) -> bool:
    """Tell whether a list may hold calls, by what stands after its bracket."""
    list_text = COMMENTS.sub("", begun_text).lstrip()
    if list_text[:1] == "#":
        return True
    if list_text[:1] in ("'", '"'):  # calls written as texts, or a name and its arguments
        quoted_name, quote, _ = list_text[1:].partition(list_text[0])
        names_tool = bool(quote) and clean_tool_name(quoted_name, tools) in tools
        return names_tool or may_begin_request(list_text[1:], tools)
    if list_text[:1] == "[":  # lists in a list, but not any deeper
        list_text = list_text[1:].lstrip()
    return not list_text or (list_text[0] not in "[]" and may_begin_request(list_text, tools))


def may_be_first_key(begun_text: str, tools: Tools) -> bool:
    """The first key of an object says whether it can be a call."""
    key_match = KEY.match(begun_text)
    if key_match is None:
        return False
    if not key_match[2]:
        return key_match.end() == len(begun_text)
    return key_match[1] in CALL_KEYS or key_match[1] in tools


def may_be_call(begun_text: str, tools: Tools) -> bool:
    call_match = CALLED.match(begun_text)
    if call_match is None or not call_match[1]:
        return False
    if not call_match[2]:
        return True
    if call_match[1] == "print" and call_match[2] == "(":
        return may_begin_request(begun_text[call_match.end() :].removeprefix("await "), tools)
    tool_name = clean_tool_name(call_match[1], tools)
    return call_match[2] == "(" and (tool_name in tools or says_no_call(tool_name, tools))


def may_be_fence(begun_text: str, tools: Tools) -> bool:
    """Tell whether an info word, a line break and what may be a request stand after backticks.

    The request may also stand on the line of the backticks.
    """
    info_line, line_break, content = begun_text.partition("\n")
    if line_break and info_line.strip().lower() in FENCES:
        return True
    if not line_break and len(info_line) < MAX_INFO_LENGTH:
        return True
    if info_line.strip().lower() not in {"", *INFO}:
        return may_begin_request(info_line, tools)
    may_begin = may_begin_request(content, tools) or may_be_program(content, tools)
    return may_begin or BRACKET_MARKER.startswith(content.lstrip()[: len(BRACKET_MARKER)])


def may_be_program(begun_text: str, tools: Tools) -> bool:
    """A program that begins with a call whose result it keeps; comments and imports may lead."""
    leading_code = CODE.match(begun_text)
    text_behind = begun_text[leading_code.end() :] if leading_code else begun_text
    return UNFINISHED.fullmatch(text_behind) is not None or may_be_call(text_behind, tools)
