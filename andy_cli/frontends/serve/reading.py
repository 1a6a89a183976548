"""The JSON of a request, read strictly, and what the fields of it may be.

What is read in two ways by two programs is refused: a name that is there twice, and numbers that
JSON does not know.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from andy_cli.frontends.serve.limits import is_unlimited
from andy_cli.frontends.serve.pieces import Refused

MOST = 128
"""Tools, and answers to one request, at most."""
DEEPEST = 128
"""Lists and objects inside each other."""
WRONG = "invalid_type"


def parsed(body: bytes) -> object:
    """Raises Refused (400)."""
    try:
        value: object = DECODER.decode(body.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        own = str(error) if isinstance(error, Twice) else "The request body is no JSON."
        raise Refused(400, own) from None
    if body.count(b"{") + body.count(b"[") > DEEPEST and _deep(value):
        raise Refused(400, "The request body is nested too deeply.")
    return value


class Twice(ValueError):
    """A name that is twice in one object."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Twice("A name is twice in one object of the request body.")
    return found


def _unknown(name: str) -> float:
    raise ValueError(name)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(written)
    return number


DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_unknown, parse_float=_finite)


def _deep(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


class Fit(NamedTuple):
    """What a field may be."""

    fits: Callable[[object], bool]
    words: str


def whole(low: int, high: int = 2**53) -> Fit:
    above = f"a whole number of at least {low}"
    words = above if high == 2**53 else f"a whole number from {low} to {high}"

    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        return low <= value <= high

    return Fit(fits, words)


def number(low: float, high: float) -> Fit:
    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return low <= value <= high

    return Fit(fits, f"a number from {low} to {high}")


def texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


YES_OR_NO = Fit(lambda value: isinstance(value, bool), "true or false")
OBJECT = Fit(lambda value: isinstance(value, dict), "an object")
TEXT = Fit(lambda value: isinstance(value, str), "a text")
STOP = Fit(lambda value: isinstance(value, str) or texts(value), "a text or a list of texts")
LIMIT = Fit(
    lambda value: is_unlimited(value) or whole(1).fits(value),
    "a whole number of at least 1, or -1 for no limit",
)
FIELDS: Mapping[str, Fit] = {
    "n": whole(1, MOST),
    "stream": YES_OR_NO,
    "stream_options": OBJECT,
    "parallel_tool_calls": YES_OR_NO,
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
    "max_tokens": LIMIT,
    "max_completion_tokens": whole(1),
    "seed": whole(-(2**63), 2**64),
    "stop": STOP,
    "user": TEXT,
    "logit_bias": OBJECT,
    "logprobs": YES_OR_NO,
    "top_logprobs": whole(0, 20),
    "response_format": OBJECT,
    "metadata": OBJECT,
}
"""Of the chat completions API, where some clients say -1 for no limit.

Fields that are not here are the model's server's own.
"""


def fitting(body: Mapping[str, object], fields: Mapping[str, Fit]) -> None:
    """Raises Refused (400) that names the field. null is as good as nothing."""
    for name, value in body.items():
        fit = fields.get(name)
        if fit and value is not None and not fit.fits(value):
            raise Refused(400, f"{name} is {fit.words}.", code=WRONG)
