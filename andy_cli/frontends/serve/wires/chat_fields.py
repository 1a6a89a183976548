"""Check the plain fields of the chat completions API: their types and ranges.

Some clients write that there is no limit as `max_tokens: -1`.
"""

from collections.abc import Mapping

from andy_cli.frontends.serve.wires.field_checks import (
    MAX_WHOLE_NUMBER,
    Check,
    check_flag,
    check_object,
    check_text,
    number_between,
    whole_number,
    wrong_type,
)

MAX_TOOLS = 128
"""Tools, and answers to one request, at most."""
LIMITS = ("max_tokens", "max_completion_tokens")


def check_stop(value: object, field_path: str) -> object:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise wrong_type(field_path, "a text or a list of texts")
    return value


def check_token_limit(value: object, field_path: str) -> object:
    is_limit = type(value) is int and (value == -1 or 1 <= value <= MAX_WHOLE_NUMBER)
    if not is_limit:
        raise wrong_type(field_path, "a whole number of at least 1, or -1 for no limit")
    return value


FIELD_CHECKS: Mapping[str, Check] = {
    "n": whole_number(1, MAX_TOOLS),
    "stream": check_flag,
    "stream_options": check_object,
    "parallel_tool_calls": check_flag,
    "temperature": number_between(0, 2),
    "top_p": number_between(0, 1),
    "presence_penalty": number_between(-2, 2),
    "frequency_penalty": number_between(-2, 2),
    "max_tokens": check_token_limit,
    "max_completion_tokens": whole_number(1),
    "seed": whole_number(-(2**63), 2**64),
    "stop": check_stop,
    "user": check_text,
    "logit_bias": check_object,
    "logprobs": check_flag,
    "top_logprobs": whole_number(0, 20),
    "response_format": check_object,
    "metadata": check_object,
}
"""Field -> its check. A field that is not here is the model's server's own."""


def check_fields(body: Mapping[str, object]) -> None:
    """Raises ApiError (400) that names the field. null is as good as nothing."""
    for name, value in body.items():
        check = FIELD_CHECKS.get(name)
        if check is not None and value is not None:
            check(value, name)


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
