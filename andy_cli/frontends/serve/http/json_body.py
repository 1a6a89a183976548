"""Parse the JSON of a request strictly.

What two programs would read in two ways is refused: a name that is there twice, and numbers that
JSON does not know.
"""

import json
import math

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.field_checks import is_nested_deeper

MAX_DEPTH = 128
"""Lists and objects inside each other."""


def parse_json_body(body: bytes) -> object:
    """Raises ApiError (400)."""
    try:
        value: object = DECODER.decode(body.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        explanation = (
            str(error) if isinstance(error, DuplicateKey) else "The request body is no JSON."
        )
        raise ApiError(400, explanation) from None
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and is_nested_deeper(value, MAX_DEPTH):
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
