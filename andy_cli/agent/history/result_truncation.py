"""Truncate results that are too long, into valid JSON that says what is missing (C30).

A stub says how much there was, keeps the head of it, and says how to get the rest.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

from andy_cli.compiler.expression import Expression
from andy_cli.models.token_count import tokens

SHORTENED = "shortened"
TRUNCATED = "truncated"
HEAD = 600
"""Characters of the data that a stub keeps at first; later none."""
DEEPEST = 12
LEAST = 160
"""Characters of a line that says what is missing."""
FAULTS = ("error", "errors", "exception", "traceback")
FAULT = Expression(
    r"\s*(?:(?:[Ee]rror|Failed|Failure|[A-Z]\w*(?:Error|Exception))\s*:|Traceback \(most recent)"
)
AGAIN = "Call {tool} again with the same arguments, or with narrower ones, to see the rest."


class TruncatedValue(NamedTuple):
    value: object
    length: int
    """Characters of JSON, about."""
    whole: bool


def is_error(content: str) -> bool:
    """Tell whether a result says what went wrong: such are never cut."""
    value = read_json(content)
    if not isinstance(value, Mapping):
        return FAULT.match(content) is not None
    return any(value.get(key) for key in FAULTS) or value.get("ok") is False


def read_json(content: str) -> object | None:
    """Read the JSON object or list a result holds; None for text."""
    if content.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: object = json.loads(content, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def make_stub(content: str, tool: str = "", head: int = HEAD) -> str:
    """Make the stub of a result with so many characters of its data.

    A stub of a stub keeps counts.
    """
    value = read_json(content)
    if isinstance(value, dict) and value.get(SHORTENED) is True:
        if not head:
            value.pop("head", None)
        return dump_json(value)
    fields: dict[str, object] = {SHORTENED: True, "characters": len(content)}
    if (items := count_items(value)) is not None:
        fields["items"] = items
    elif value is None:
        fields["lines"] = content.count("\n") + 1
    if head:
        fields["head"] = content[:head] if value is None else truncate_value(value, head).value
    fields["rest"] = AGAIN.format(tool=tool or "the tool")
    return dump_json(fields)


def count_items(value: object) -> object | None:
    """Count the items of a list, or of the lists in an object; None if there is none."""
    if isinstance(value, list):
        return len(value)
    if isinstance(value, dict):
        if value.get(TRUNCATED) is True and "items" in value:
            items: object = value["items"]
            return items
        lists = {str(name): len(inner) for name, inner in value.items() if isinstance(inner, list)}
        return dict(sorted(lists.items(), key=lambda item: -item[1])[:5]) or None
    return None


def truncate_value(value: object, limit: int, depth: int = DEEPEST) -> TruncatedValue:
    """Truncate a value to JSON of about `limit` characters; never looks far beyond it."""
    if isinstance(value, str):
        shown_text = value if len(value) <= limit else f"{value[: max(limit - 3, 0)]}..."
        return TruncatedValue(shown_text, len(shown_text) + 2, len(value) <= limit)
    if isinstance(value, list | dict) and depth == 0:
        return TruncatedValue("...", 5, False)
    if isinstance(value, list):
        return _truncate_list(value, limit, depth)
    if isinstance(value, dict):
        return _truncate_object(value, limit, depth)
    if isinstance(value, float) and not isfinite(value):
        value = str(value)  # JSON has no word for it
    return TruncatedValue(value, len(str(value)), True)


def _truncate_list(value: list[object], limit: int, depth: int) -> TruncatedValue:
    elements: list[object] = []
    length = 2
    for element in value:
        truncated = truncate_value(element, limit - length, depth - 1)
        if elements and (not truncated.whole or length + truncated.length > limit):
            return TruncatedValue(elements, length, False)
        if not truncated.whole and limit - length < 20:
            return TruncatedValue(elements, length, False)
        elements.append(truncated.value)
        length += truncated.length + 2
        if not truncated.whole:
            return TruncatedValue(elements, length, False)
    return TruncatedValue(elements, length, True)


def _truncate_object(value: Mapping[str, object], limit: int, depth: int) -> TruncatedValue:
    """Short values first, so that one long list does not hide all the rest."""
    fields: dict[str, object] = {}
    length, is_whole = 2, True
    order = sorted(value, key=lambda key: isinstance(value[key], list | dict))
    for key in order:
        remaining = limit - length - len(key) - 6
        if remaining < 8:
            is_whole = False
            break
        truncated = truncate_value(value[key], remaining, depth - 1)
        fields[key] = truncated.value
        length += truncated.length + len(key) + 6
        is_whole = is_whole and truncated.whole
    return TruncatedValue({key: fields[key] for key in value if key in fields}, length, is_whole)


def truncate_result(content: str, limit: int, tool: str = "") -> str:
    """Truncate a fresh result to `limit` tokens (but for errors, and never to less than a stub).

    Data becomes valid JSON marked `truncated`, with the first items and the number of those left
    out; text keeps its head and tail around a line that says what is missing.
    """
    if tokens(content) <= limit or is_error(content):
        return content
    value = read_json(content)
    size = max(int(len(content) * limit / tokens(content)), 1)
    while True:
        if value is None:
            shorter = _render_truncated_text(content, size, tool)
        else:
            shorter = _render_truncated_data(value, size, tool)
        if tokens(shorter) <= limit or size < LEAST:
            return shorter
        size = int(size * 0.8)


def _render_truncated_data(value: object, size: int, tool: str) -> str:
    data = truncate_value(value, max(size - LEAST - 60, 0)).value
    fields: dict[str, object] = {TRUNCATED: True}
    if (items := count_items(value)) is not None:
        fields["items"] = items
        fields["left_out"] = _subtract_counts(items, count_items(data))
    fields["data"] = data
    fields["rest"] = AGAIN.format(tool=tool or "the tool")
    return dump_json(fields)


def _subtract_counts(items: object, kept_counts: object) -> object:
    if isinstance(items, int):
        return items - (kept_counts if isinstance(kept_counts, int) else 0)
    if not isinstance(items, dict):
        return items
    known_counts = kept_counts if isinstance(kept_counts, dict) else {}
    return {key: count - known_counts.get(key, 0) for key, count in items.items()}


def _render_truncated_text(content: str, size: int, tool: str) -> str:
    remaining = max(size - LEAST, 0)
    head, tail = content[: remaining * 2 // 3], content[len(content) - remaining // 3 :]
    if (line := head.rfind("\n")) > len(head) // 2:
        head = head[: line + 1]
    if 0 <= (line := tail.find("\n")) < len(tail) // 2:
        tail = tail[line + 1 :]
    removed = content[len(head) : len(content) - len(tail)]
    line_breaks = removed.count("\n")
    notice = (
        f"[... {line_breaks:,} line breaks and {len(removed):,} characters left out here. "
        f"{AGAIN.format(tool=tool or 'the tool')} ...]"
    )
    return "\n".join(filter(None, [head.rstrip("\n"), notice, tail]))


def dump_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
