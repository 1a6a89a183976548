"""Fields of a request, checked: what has the wrong type is refused in words that name the field."""

from collections.abc import Callable, Mapping
from typing import Any

from andy_cli.frontends.serve.wires.answer_parts import ApiError

DEEPEST = 100
"""Levels of lists and objects in a request."""
MOST = 2**31
LARGEST = 2**64
"""Of numbers: a seed may be as large."""
Check = Callable[[object, str], object]


def wrong_type(where: str, wanted: str) -> ApiError:
    return ApiError(400, f"{where} is {wanted}.", code="invalid_type")


def check_object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise wrong_type(where, "an object")
    return value


def check_list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise wrong_type(where, "a list")
    return value


def check_text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise wrong_type(where, "a text")
    return value


def check_name(value: object, where: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 256:
        raise wrong_type(where, "a name")
    return value


def check_flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise wrong_type(where, "true or false")
    return value


def check_number(value: object, where: str) -> float:
    # A larger whole number may have no float at all; NaN and infinity are none of these either.
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -LARGEST <= value <= LARGEST
    ):
        return value
    raise wrong_type(where, "a number")


def check_count(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise wrong_type(where, f"a whole number from 1 to {MOST}")
    return value


def check_limit(value: object, where: str) -> int:
    """-1 is none."""
    return -1 if value == -1 and not isinstance(value, bool) else check_count(value, where)


def check_texts(value: object, where: str) -> list[str]:
    return [check_text(each, f"{where}[{at}]") for at, each in enumerate(check_list(value, where))]


def map_fields(
    body: Mapping[str, object], wanted: Mapping[str, tuple[str, Check]]
) -> dict[str, object]:
    """Fields by the names the chat API has for them, without those that are null.

    `wanted` is name -> name there, and the check; ApiError says what is wrong.
    """
    return {
        there: check(body[here], here)
        for here, (there, check) in wanted.items()
        if body.get(here) is not None
    }


def check_body(body: object) -> Mapping[str, Any]:
    """The body as an object. Raises ApiError where it is none or nested too deeply."""
    if not isinstance(body, dict):
        raise ApiError(400, "The request body is no JSON object.")
    level: list[object] = [body]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in nested_values(each)]
        if not level:
            return body
    raise ApiError(400, f"The request has more than {DEEPEST} levels of lists and objects.")


def nested_values(value: object) -> list[object]:
    """The lists and objects that a list or an object holds."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in held if isinstance(each, dict | list)]
