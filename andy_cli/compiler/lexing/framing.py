"""Describe protocol that is no request: labels, told-back results, half elements, lone objects.

Written as dialects, so that the lexer finds all of it; what they read is framing. A lone object
`{"tool": "x"}` of no tool that exists is told apart, for a user may have asked for it.
"""

import re
from functools import partial

from andy_cli.compiler.bodies import calls, json_text
from andy_cli.compiler.bodies.end_detectors import (
    HeadDecision,
    HeldEnd,
    LeadEnd,
    LineEnd,
    make_bare_call_end,
)
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.control_tokens import CALLS, FENCES, LABELS, RESULTS
from andy_cli.compiler.dialect import Dialect, EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

MAX_CHARACTERS = 100_000
"""Characters of one piece of protocol that nothing but its end announces."""
MAX_LABEL_LENGTH = 200
LONE_OBJECT, LONE_CALL, LETTER = "lone object", "lone call", "letter"
TOOL_NAME = Expression(r"[\w.\-/:]+")
PLAIN_JSON = "json_bare"
"""The dialect that an object which is the whole reply is written in."""
LABELLED = Expression(
    r"(?!\()[*_]*:?[ \t]*(?P<name>[\w.\-/]*)[ \t]*:?(?P<gap>\s*)(?P<value>[{\[]?)"
)
"""Anything but a link may follow a label."""
CALLED = Expression(r"\s*(?:[{\[<]|[.\-:/]*\w[\w.\-:/]*\s*[({\n=<]|\Z)")


class CloserEnd:
    """Ends after a closer; given up when it takes too long."""

    def __init__(self, closer: str) -> None:
        self._closer = re.compile(re.escape(closer), re.IGNORECASE)
        self._keep = len(closer) - 1
        self._tail = ""
        self._size = 0

    def feed(self, text: str) -> int | None:
        self._size += len(text)
        seen_length, tail = len(self._tail), self._tail + text
        match = self._closer.search(tail)
        if match:
            return match.end() - seen_length
        if self._size > MAX_CHARACTERS:
            return -1
        self._tail = tail[-self._keep :]
        return None


OWN_LABEL = Expression(r"\n[ \t]*(?:assistant|ai|bot)[ \t]*:", re.IGNORECASE)
"""The line with which a model answers what it made somebody else say."""
MAX_TURN_LENGTH = 400
"""Characters of what somebody else is made to say."""


def _find_turn_end(held: str) -> HeadDecision:
    """Goes to the end of the text if nothing but white space follows, or if the model answers
    itself: `User: and of Spain?` and below `Assistant: Madrid.`"""
    is_short = len(held) <= MAX_TURN_LENGTH
    return None if is_short or OWN_LABEL.search(held) else -1


def _read_next_turn(text: str, tools: Tools) -> Parsed | None:
    said = text.partition(":")[2]
    return Parsed() if not said.strip() or OWN_LABEL.search(said) else None


def _find_label_end(tools: Tools, held: str) -> HeadDecision:
    """A label: a name, if there is one, and the JSON after it, over any lines."""
    label = LABELLED.match(held)
    if label is None:
        return -1
    if label["value"] and _may_be_named(label["name"], tools):
        return JsonScan(), label.start("value")
    if not label["value"] and label.end() == len(held) < MAX_LABEL_LENGTH:
        return None
    # The name of a tool belongs to the label, any other word to the answer.
    return label.end("name") if label["name"] in tools else label.start("name")


def _may_be_named(name: str, tools: Tools) -> bool:
    """Tell whether a label's value may have that name: a tool, or what could be one, or nothing."""
    return not name or name in tools or not name.isalpha()


def _find_tilde_fence_end(held: str) -> HeadDecision:
    """A fence of tildes, if the word after them is one of a protocol."""
    info_string, line_break, fenced_text = held.partition("\n")
    if not line_break:
        return -1 if len(info_string) > 40 else None
    if info_string.strip().lower() not in FENCES:
        return -1
    closing = CLOSING_TILDES.search(fenced_text)
    return len(info_string) + 1 + closing.end() if closing else None


CLOSING_TILDES = Expression(r"^[ \t]*~~~+[ \t]*(?=\n)", re.M)


def _take_framing(text: str, tools: Tools) -> Parsed | None:
    return Parsed()


def _read_label(text: str, tools: Tools) -> Parsed | None:
    """In the middle of a line a label alone is a mention; with an object or a tool it is none."""
    after_label = text.partition("]")[2]
    labelled = LABELLED.match(after_label)
    if labelled is None or (labelled["value"] and _may_be_named(labelled["name"], tools)):
        return Parsed(explicit=labelled is not None and labelled["value"] == "{")
    if labelled["name"] in tools:
        return Parsed(explicit=True)
    return Parsed(text=after_label)


def _read_lone_object(text: str, tools: Tools) -> Parsed | None:
    """`{"tool": "x"}`, alone or with arguments: no tool of that name need exist."""
    value = json_text.read_value(text) if len(text) < MAX_CHARACTERS else None
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
        return None
    other_keys = set(value) - {"tool", "id", "call_id", "thought"}
    if len(other_keys) > 1 or not other_keys <= set(calls.ARGUMENT_KEYS):
        return None
    if not all(isinstance(value[key], dict | list | str) for key in other_keys):
        return None
    return Parsed()


def _read_lone_call(text: str, tools: Tools) -> Parsed | None:
    """Read `{"name": "x", "arguments": {...}}` of no tool that exists."""
    return Parsed() if read_unknown_call(text, tools) else None


def read_unknown_call(text: str, tools: Tools) -> ToolRequest | None:
    """Read an object that has the form of a call, and names none of the tools."""
    value = json_text.read_value(text) if len(text) < MAX_CHARACTERS else None
    if not isinstance(value, dict) or not _has_form_of_call(list(value)):
        return None
    request = calls.read_request(value, tools)
    if request is None or request.name in tools:
        return None
    return request if TOOL_NAME.fullmatch(request.name) else None


def _has_form_of_call(keys: list[str]) -> bool:
    """Tell whether an object says a name and arguments, and nothing else but an id."""
    name_and_arguments = [key for key in keys if key not in (*calls.ID_KEYS, "type", "thought")]
    if len(name_and_arguments) != 2:
        return False
    name_key, arguments_key = name_and_arguments
    return name_key in calls.NAME_KEYS and arguments_key in calls.ARGUMENT_KEYS


def _read_element(text: str, tools: Tools) -> Parsed | None:
    """Read an element of a protocol that holds what may be a call, a result, or nothing."""
    if text.endswith(">") and text.count(">") == 1:
        return None
    inside = re.sub(r"\A<[^>]*>|</[^<>]*>\Z", "", text)
    alone = inside.strip()
    if text.startswith(tuple(f"<{tag}" for tag in RESULTS)) or not alone:
        return Parsed()
    names_tool = alone in tools or ("_" in alone and alone.replace("_", "").isalnum())
    if not (names_tool or CALLED.match(inside)):
        return None
    return Parsed(fault=f"This request could not be read: {alone[:200]}")


MENTIONED = Expression(
    r"[ \t]*(?:[.,;:!?)\"'`\u2026|]|[ ]\w|(?:and|or|to|is|are|in|with|\.{3}|\u2026)\b)"
)


def _make_element_end(opener: str, tools: Tools) -> EndDetector:
    closer = f"</{opener[1:].rstrip('> ')}>"
    return LeadEnd(lambda start: not MENTIONED.match(start), CloserEnd(closer))


NEXT_TURN = Dialect("next turn", lambda opener, tools: HeldEnd(_find_turn_end), _read_next_turn)

FRAMING = (
    Dialect(
        LONE_OBJECT, make_bare_call_end, _read_lone_object, line_start_markers=("{",), atomic=True
    ),
    Dialect(
        LONE_CALL, make_bare_call_end, _read_lone_call, reply_start_markers=("{",), atomic=True
    ),
    Dialect(
        "label",
        lambda opener, tools: HeldEnd(partial(_find_label_end, tools)),
        _read_label,
        LABELS,
        case_insensitive=True,
    ),
    Dialect(
        "element",
        _make_element_end,
        _read_element,
        start_markers=tuple(f"<{tag}>" for tag in (*CALLS, *RESULTS)),
    ),
    Dialect(
        "tilde fence",
        lambda opener, tools: HeldEnd(_find_tilde_fence_end),
        _take_framing,
        line_start_markers=("~~~",),
    ),
    Dialect(
        LETTER,
        lambda opener, tools: LineEnd(),
        _take_framing,
        line_start_markers=("andybot asks:", "andybot responds:", "**andybot responds:"),
        case_insensitive=True,
    ),
)
