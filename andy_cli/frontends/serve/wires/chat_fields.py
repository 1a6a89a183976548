"""Check the plain fields of the chat completions API: their types and ranges.

Some clients write that there is no limit as `max_tokens: -1`.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from andy_cli.frontends.serve.wires.answer_parts import ApiError

MOST = 128
"""Tools, and answers to one request, at most."""
WRONG = "invalid_type"
LIMITS = ("max_tokens", "max_completion_tokens")


class FieldRule(NamedTuple):
    """What a field may be."""

    fits: Callable[[object], bool]
    words: str


def whole_number(low: int, high: int = 2**53) -> FieldRule:
    above = f"a whole number of at least {low}"
    words = above if high == 2**53 else f"a whole number from {low} to {high}"

    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        return low <= value <= high

    return FieldRule(fits, words)


def number_between(low: float, high: float) -> FieldRule:
    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return low <= value <= high

    return FieldRule(fits, f"a number from {low} to {high}")


def is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


YES_OR_NO = FieldRule(lambda value: isinstance(value, bool), "true or false")
OBJECT = FieldRule(lambda value: isinstance(value, dict), "an object")
TEXT = FieldRule(lambda value: isinstance(value, str), "a text")
STOP = FieldRule(
    lambda value: isinstance(value, str) or is_text_list(value), "a text or a list of texts"
)
LIMIT = FieldRule(
    lambda value: is_unlimited(value) or whole_number(1).fits(value),
    "a whole number of at least 1, or -1 for no limit",
)
FIELDS: Mapping[str, FieldRule] = {
    "n": whole_number(1, MOST),
    "stream": YES_OR_NO,
    "stream_options": OBJECT,
    "parallel_tool_calls": YES_OR_NO,
    "temperature": number_between(0, 2),
    "top_p": number_between(0, 1),
    "presence_penalty": number_between(-2, 2),
    "frequency_penalty": number_between(-2, 2),
    "max_tokens": LIMIT,
    "max_completion_tokens": whole_number(1),
    "seed": whole_number(-(2**63), 2**64),
    "stop": STOP,
    "user": TEXT,
    "logit_bias": OBJECT,
    "logprobs": YES_OR_NO,
    "top_logprobs": whole_number(0, 20),
    "response_format": OBJECT,
    "metadata": OBJECT,
}
"""Of the chat completions API, where some clients say -1 for no limit.

Fields that are not here are the model's server's own.
"""


def check_fields(body: Mapping[str, object], fields: Mapping[str, FieldRule]) -> None:
    """Raises ApiError (400) that names the field. null is as good as nothing."""
    for name, value in body.items():
        fit = fields.get(name)
        if fit and value is not None and not fit.fits(value):
            raise ApiError(400, f"{name} is {fit.words}.", code=WRONG)


def has_unlimited(fields: Mapping[str, object]) -> bool:
    return any(is_unlimited(fields.get(name)) for name in LIMITS)


def is_unlimited(value: object) -> bool:
    return type(value) is int and value == -1


def drop_unlimited(fields: Mapping[str, object]) -> dict[str, object]:
    """Without limits that are none: not every server knows them."""
    return {
        name: value
        for name, value in fields.items()
        if not (name in LIMITS and is_unlimited(value))
    }
