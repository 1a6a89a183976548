"""Fields of a request, checked: what has the wrong type is refused in words that name the field.

The plain fields of the chat completions API stand in `FIELD_CHECKS`. Some clients write that there
is no limit as `max_tokens: -1`.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from andy_cli.frontends.serve.wires.answer_parts import ApiError

MAX_BODY_DEPTH = 128
"""Lists and objects inside each other, in any request."""
MAX_DEPTH = 100
"""Lists and objects inside each other, in a request that is translated."""
MAX_NUMBER = 2**64
"""Of numbers: a seed may be as large."""
MAX_WHOLE_NUMBER = 2**53
"""Up to which every whole number has a float."""
Check = Callable[[object, str], object]
Value = TypeVar("Value")


def refuse_field(field_path: str, explanation: str, code: str | None = None) -> ApiError:
    """Make the refusal of what a client sent in a field: it begins with the name of that."""
    return ApiError(400, f"{field_path} {explanation}", code=code, param=field_path)


def wrong_type(field_path: str, expected: str) -> ApiError:
    return refuse_field(field_path, f"is {expected}.", code="invalid_type")


def typed_check(kind: type[Value], expected: str) -> Callable[[object, str], Value]:

    def check(value: object, field_path: str) -> Value:
        if not isinstance(value, kind):
            raise wrong_type(field_path, expected)
        return value

    return check


check_object: Callable[[object, str], Mapping[str, Any]] = typed_check(dict, "an object")
check_list: Callable[[object, str], list[Any]] = typed_check(list, "a list")
check_text = typed_check(str, "a text")
check_flag = typed_check(bool, "true or false")


def check_name(value: object, field_path: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 256:
        raise wrong_type(field_path, "a name")
    return value


def number_between(low: float, high: float, words: str = "") -> Callable[[object, str], float]:
    """Make the check for numbers in a range; NaN and infinity are in none."""
    expected = words or f"a number from {low} to {high}"

    def check(value: object, field_path: str) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise wrong_type(field_path, expected)

    return check


def whole_number(low: int, high: int = MAX_WHOLE_NUMBER) -> Callable[[object, str], int]:
    """Make the check for whole numbers in a range."""
    above = f"a whole number of at least {low}"
    expected = above if high == MAX_WHOLE_NUMBER else f"a whole number from {low} to {high}"

    def check(value: object, field_path: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise wrong_type(field_path, expected)
        return value

    return check


# A larger whole number may have no float at all.
check_number = number_between(-MAX_NUMBER, MAX_NUMBER, "a number")


def check_texts(value: object, field_path: str) -> list[str]:
    return [
        check_text(text, f"{field_path}[{index}]")
        for index, text in enumerate(check_list(value, field_path))
    ]


class CheckedObject(NamedTuple):
    """An object of a request, whose fields are checked when they are read."""

    values: Mapping[str, Any]
    path: str = ""
    """The field that holds it; empty for the whole body."""

    def get(self, name: str, default: object = None) -> Any:  # noqa: ANN401
        """Return a field that was not checked."""
        return self.values.get(name, default)

    def path_to(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def read(self, name: str, check: Callable[[object, str], Value]) -> Value:
        """Raises ApiError where the check does."""
        return check(self.values.get(name), self.path_to(name))

    def read_given(self, name: str, check: Callable[[object, str], Value]) -> Value | None:
        """Read a field that may be left out."""
        return None if self.values.get(name) is None else self.read(name, check)

    def read_object(self, name: str) -> "CheckedObject":
        return CheckedObject(self.read(name, check_object), self.path_to(name))

    def list_objects(self, name: str) -> Iterator["CheckedObject"]:
        for index, member in enumerate(self.read(name, check_list)):
            member_path = f"{self.path_to(name)}[{index}]"
            yield CheckedObject(check_object(member, member_path), member_path)


def map_fields(
    body: Mapping[str, object], field_names: Mapping[str, tuple[str, Check]]
) -> dict[str, object]:
    """Fields by the names the chat API has for them, without those that are null.

    `field_names` is name -> name there, and the check; ApiError says what is wrong.
    """
    return {
        chat_name: check(body[own_name], own_name)
        for own_name, (chat_name, check) in field_names.items()
        if body.get(own_name) is not None
    }


def check_body(body: object) -> CheckedObject:
    """The body as an object. Raises ApiError where it is none or nested too deeply."""
    if not isinstance(body, dict):
        raise ApiError(400, "The request body is no JSON object.")
    if is_nested_deeper(body, MAX_DEPTH):
        raise ApiError(400, f"The request has more than {MAX_DEPTH} levels of lists and objects.")
    return CheckedObject(body)


def is_nested_deeper(value: object, levels: int) -> bool:
    """Tell whether lists and objects stand inside each other on more than these levels."""
    level = [value]
    for _ in range(levels + 1):
        nested = [member for member in level if isinstance(member, (dict, list))]
        if not nested:
            return False
        level = []
        for outer in nested:
            level.extend(outer.values() if isinstance(outer, dict) else outer)
    return True


MAX_TOOLS = 128
"""Tools, and answers to one request, at most."""
LIMITS = ("max_tokens", "max_completion_tokens")


def check_stop(value: object, field_path: str) -> object:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise wrong_type(field_path, "a text or a list of texts")
    return value


def list_stops(fields: Mapping[str, object]) -> list[str]:
    """List the stop sequences of a request whose fields are checked."""
    value = fields.get("stop")
    texts = value if isinstance(value, list) else [value]
    return list(filter(None, texts))


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
    "max_completion_tokens": check_token_limit,
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
    return len(drop_unlimited(fields)) < len(fields)


def drop_unlimited(fields: Mapping[str, object]) -> dict[str, object]:
    """Without limits that are none: not every server knows them."""
    return {name: value for name, value in fields.items() if name not in LIMITS or value != -1}


def parse_json_body(body: bytes) -> object:
    """Parse the JSON of a request strictly. Raises ApiError (400).

    What two programs would read in two ways is refused: a name that is there twice, and numbers
    that JSON does not know.
    """
    try:
        value: object = DECODER.decode(body.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        is_double = isinstance(error, DuplicateKey)
        explanation = str(error) if is_double else "The request body is no JSON."
        raise ApiError(400, explanation) from None
    may_be_deep = body.count(b"{") + body.count(b"[") > MAX_BODY_DEPTH
    if may_be_deep and is_nested_deeper(value, MAX_BODY_DEPTH):
        raise ApiError(400, "The request body is nested too deeply.")
    return value


class DuplicateKey(ValueError):
    """A name that is twice in one object."""


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise DuplicateKey("A name is twice in one object of the request body.")
    return members


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _parse_finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(written)
    return number


DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant, parse_float=_parse_finite
)
