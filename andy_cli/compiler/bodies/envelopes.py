"""The answer in an object that a model makes of it unasked: `{"answer": "It is noon."}`. Pure."""

from andy_cli.compiler.bodies.fences import strip_fence
from andy_cli.compiler.expression import Expression
from andy_cli.foreign_values import read_json

ANSWER_KEYS = frozenset({"answer", "final_answer", "finalanswer", "response", "reply"})
ROLE_KEYS = frozenset({"content", "message", "text"})
"""Keys of the answer where another one says whose words they are."""
SIDE_KEYS = frozenset({"thought", "thoughts", "thinking", "reasoning", "role"})
"""Keys of what a model writes beside its answer; beside those stand calls that are none."""
CALL_KEYS = frozenset({"tool", "tool_calls", "action", "name", "type"})
FIRST_KEY = Expression(r"\s*(?:```(?:json)?\s*)?\{\s*\"(?P<key>[^\"]*)\"")
STARTS = ("{", "```json", "```\n{")


def may_become_envelope(text: str) -> bool:
    """Tell whether the beginning of a text is, or may yet be, that of such an object."""
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
    """Find the answer where the text is nothing but such an object; empty where it is not."""
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
