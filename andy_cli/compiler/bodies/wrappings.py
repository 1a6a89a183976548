"""Unwrap the words of a model: out of a code fence, or an object around its answer. Pure.

A fence around a request is framing, and the words before one may make it an example. An answer may
stand in an object that nobody asked for: `{"answer": "It is noon."}`.
"""

import re

from andy_cli.compiler.expression import Expression
from andy_cli.foreign_values import read_json

INLINE = Expression(r"(`+)(?![ \t]*+\w++[ \t]*+\n)[^`]+\1")
FENCE = Expression(r"\s*(?P<run>`{3,})[^\n`]*\n(?P<body>.*?)(?:\n[ \t]*(?P=run)`*\s*)?\Z", re.S)


def strip_fence(fenced_text: str) -> str:
    """The text inside the fence, stripped; other text as it is, stripped."""
    fenced_text = fenced_text.strip()
    if INLINE.fullmatch(fenced_text):
        return fenced_text.strip("`").strip()
    fence_match = FENCE.match(fenced_text)
    return fence_match["body"].strip() if fence_match else fenced_text


def info_word(fenced_text: str) -> str:
    """The word after the backticks of a fence, in lower case; empty where there is none."""
    first_line, line_break, _ = fenced_text.lstrip("`~").partition("\n")
    return first_line.strip().lower() if line_break else ""


MAX_DISTANCE = 160
"""Characters before the code that are looked at."""

EXAMPLE = Expression(
    r"""\b(?:
        (?:for|as)\ (?:an?\ )?(?:example|instance) | e\.\s?g\.
      | (?:an|another|the)\ example | examples      | (?:would|could|might|should)\ (?:then\ )?look
      | looks?\ (?:something\ |a\ bit\ )?like
      | something\ like | syntax | zum\ beispiel | z\.\s?b\. | par\ exemple | por\ ejemplo
    )[^.!?\n]{0,120}\s*\Z""",
    re.IGNORECASE | re.VERBOSE,
)


def introduces_example(text: str) -> bool:
    """Tell whether the end of a text says that what follows shows how something is written."""
    return EXAMPLE.search(text[-MAX_DISTANCE:]) is not None


ANSWER_KEYS = frozenset({"answer", "final_answer", "finalanswer", "response", "reply"})
ROLE_KEYS = frozenset({"content", "message", "text"})
"""Keys of the answer where another one says whose words they are."""
SIDE_KEYS = frozenset({"thought", "thoughts", "thinking", "reasoning", "role"})
"""Keys of what a model writes beside its answer; beside those stand calls that are none."""
CALL_KEYS = frozenset({"tool", "tool_calls", "action", "name", "type"})
FIRST_KEY = Expression(r"\s*(?:```(?:json)?\s*)?\{\s*\"(?P<key>[^\"]*)\"")
STARTS = ("{", "```json", "```\n{")


def may_become_envelope(text: str) -> bool:
    """Tell whether the beginning of a text is, or may yet be, that of an object
    around an answer."""
    begun = text.lstrip()
    if is_only_framing(begun):
        return True
    if not begun.startswith(STARTS):
        return any(start.startswith(begun) for start in STARTS)
    first = FIRST_KEY.match(begun)
    return first is None or first["key"].lower() in ANSWER_KEYS | ROLE_KEYS | SIDE_KEYS | CALL_KEYS


def is_only_framing(text: str) -> bool:
    """Tell whether a text is nothing but brackets and marks of a fence, of a call that never came
    or around one."""
    return bool(text.strip()) and not text.strip("{[]}` \t\r\n")


def unwrap_answer(text: str) -> str:
    """Find the answer where the text is nothing but an object around it; empty where it is not."""
    fields = read_fields(text)
    answer_keys = ANSWER_KEYS | (ROLE_KEYS if fields.get("role") == "assistant" else set())
    answers = [value for key, value in fields.items() if key in answer_keys]
    has_more = not fields.keys() <= answer_keys | SIDE_KEYS
    if has_more or len(answers) != 1 or not isinstance(answers[0], str):
        return ""
    return answers[0].strip()


def read_fields(text: str) -> dict[str, object]:
    """Read the fields that hold something, by their keys in lower case; none of any other text."""
    body = strip_fence(text.strip())
    value = read_json(body)
    fields = value if isinstance(value, dict) else {}
    return {key.lower(): field for key, field in fields.items() if field}
