"""What a model server's refusal means: an error in our words, or a feature to leave out.

Servers say the same thing in many shapes; these were seen (the body of a 4xx or 5xx, or an event
inside a 200):

    {"error": {"message": "...", "type": "...", "code": "..."}}     OpenAI and most others
    [{"error": {"code": 400, "message": "...", "status": "..."}}]   Gemini
    {"error": "..."}                                                Ollama, LM Studio
    {"detail": [{"loc": ["body", "field"], "msg": "..."}]}          FastAPI: vLLM, Mistral
    {"object": "error", "message": "...", "code": 404}              older vLLM
"""

import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.errors import AuthError, ModelError, TransientError

PASSING = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""

LONGEST = 400
"""Characters of a server's own words that are passed on."""


class Refusal(NamedTuple):
    message: str = ""
    code: str = ""
    """Its type and code, lower case, with a blank between."""
    fields: tuple[str, ...] = ()
    """Fields of the request that it names."""


def read_refusal(body: object) -> Refusal:
    """What the server said, from a decoded JSON body of any shape."""
    if isinstance(body, list) and body:
        return read_refusal(body[0])
    if not isinstance(body, Mapping):
        return Refusal(_clean(body) if isinstance(body, str) else "")
    inner = body.get("error")
    if isinstance(inner, Mapping):
        body = inner
    elif isinstance(inner, str):
        return Refusal(_clean(inner), _code(body))
    if isinstance(detail := body.get("detail"), list):
        return _fastapi(detail)
    said = body.get("message") or body.get("detail") or body.get("msg") or ""
    parameter = body.get("param")
    fields = (parameter,) if isinstance(parameter, str) else ()
    return Refusal(_clean(said if isinstance(said, str) else str(said)), _code(body), fields)


def _fastapi(detail: list[object]) -> Refusal:
    items = [item for item in detail if isinstance(item, Mapping)]
    places = [item.get("loc") for item in items]
    fields = [str(place[-1]) for place in places if isinstance(place, list) and place]
    said = [f"{item.get('msg')} ({item.get('type')}): {item.get('loc')}" for item in items]
    return Refusal(_clean("; ".join(said)), "", tuple(fields))


def _code(body: Mapping[str, object]) -> str:
    parts = (body.get("type"), body.get("code"), body.get("status"))
    return " ".join(str(part) for part in parts if part is not None).lower()


def _clean(text: str) -> str:
    """On one line, and without characters that only a terminal would act on."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 2 * LONGEST]).split())
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"


FEATURES = (
    ("tools", r"(?<!_)tools?\b.{0,40}(not (supported|available)|unsupported)"),
    ("tools", r"(not|n't) support.{0,40}(\btools?\b|function.call)"),
    ("tools", r"tool.choice.{0,40}requires|enable-auto-tool-choice|--jinja"),
    ("alternation", r"roles? must alternate|after the optional system message"),
    ("tool role", r"role\W{0,12}tool\b|\btool\W{0,4}role"),
    (
        "system role",
        r"system (role|message|prompt|instruction)\w* (is |are )?not|role\W{0,12}system",
    ),
    ("system role", r"developer\b.{0,20}(is not one of|role)|role\W{0,12}developer"),
    ("max_tokens", r"max_completion_tokens"),
    ("stream_options", r"stream_options"),
    ("constraint", r"response_format|json_schema|structured_outputs|grammar"),
    ("stop", r"\bstop\b.{0,30}(not (supported|permitted)|unsupported)"),
    ("extras", r"extra.{0,3}(inputs|forbidden|fields)|unrecogni[sz]ed (request )?argument"),
    ("extras", r"unknown (field|parameter|argument)|unsupported parameter"),
)
"""What a refusal may name, the most telling first, and the words it does so with."""


def feature_of(status: int, refusal: Refusal) -> str:
    """The feature of our request that the server will not take; empty when it names none."""
    if status not in (400, 404, 405, 415, 422, 500, 501):
        return ""
    said = f"{refusal.message} {' '.join(refusal.fields)}"
    for name, words in FEATURES:
        if re.search(words, said, re.IGNORECASE | re.DOTALL):
            return name
    return ""


def error_in_reply(body: object) -> ModelError:
    """The error for an `error` object inside a reply that began with status 200."""
    refusal = read_refusal(body)
    number = re.search(r"\b([45]\d\d)\b", refusal.code)
    status = int(number[1]) if number else _status_by_words(refusal.code)
    return as_error(status, refusal, "The model server")


def _status_by_words(code: str) -> int:
    if re.search(r"rate.?limit|too.many", code):
        return 429
    if re.search(r"overload|unavailable|timeout|server.?error|internal", code):
        return 503
    if re.search(r"authentication|invalid.api.key|unauthorized", code):
        return 401
    return 400


def as_error(
    status: int, refusal: Refusal, who: str, key_from: str = "", retry_after: float | None = None
) -> ModelError:
    """The refusal as one sentence. `who` begins it: a name of the server."""
    quoted = f": {refusal.message}" if refusal.message else "."
    if is_quota(refusal):
        return kinded(
            ModelError(
                f"{who} says that the account has no quota left{quoted}",
                "Check the plan and billing of the account, or choose another with --model.",
            ),
            "quota",
        )
    if too_long(refusal):
        return kinded(
            ModelError(
                f"The conversation is too long for the model{quoted}",
                "Shorten it with /compact, or choose a model with a longer context.",
            ),
            "context",
        )
    if status in PASSING:
        return _transient(status, who, quoted, retry_after)
    if status in (401, 403):
        return _no_entry(status, who, quoted, key_from)
    if status == 413:
        return kinded(
            ModelError(
                f"{who} finds the request too large{quoted}",
                "Shorten the conversation with /compact.",
            ),
            "too_large",
        )
    return kinded(ModelError(f"{who} refused the request ({status}){quoted}"), "bad_request")


def is_quota(refusal: Refusal) -> bool:
    return "insufficient_quota" in refusal.code or "billing" in refusal.code


def too_long(refusal: Refusal) -> bool:
    if "context_length" in refusal.code or "exceed_context" in refusal.code:
        return True
    words = (
        r"maximum context length|context (length|size|window).{0,40}(exceed|too)|"
        r"(exceeds?|larger than|longer than).{0,60}context|prompt is too long"
    )
    return re.search(words, refusal.message, re.IGNORECASE) is not None


def names_no_model(status: int, refusal: Refusal) -> bool:
    """Whether the model is what the server does not have."""
    if status not in (400, 404, 422):
        return False
    words = (
        r"model.{0,80}(not found|not exist|unknown|no such|not a valid|is not available)|"
        r"(invalid|unknown|no such) model"
    )
    if re.search(r"model_not_found|invalid_model", refusal.code):
        return True
    return re.search(words, refusal.message, re.IGNORECASE) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server asks us to wait: `2`, or a date; None if it says neither."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text)
    return seconds if 0 <= seconds < 1e7 else None


def _seconds_until(date: str) -> float:
    if not date:
        return -1
    # 10 ms, and few servers send a date.
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, OverflowError):
        return -1


def _transient(status: int, who: str, quoted: str, retry_after: float | None) -> TransientError:
    if status == 429:
        what, kind = "asks for fewer requests", "rate_limit"
    elif status in (503, 529):
        what, kind = "is overloaded", "overloaded"
    else:
        what, kind = "failed", "server"
    hint = f"It may be tried again in {_words(retry_after)}." if retry_after else "Try again later."
    error = TransientError(f"{who} {what} ({status}){quoted}", hint, retry_after)
    error.kind = kind
    return error


def _words(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 120 else f"{minutes} min ({seconds:.0f} s)"


def _no_entry(status: int, who: str, quoted: str, key_from: str) -> AuthError:
    key = f"the key in {key_from}" if key_from else "a request without a key"
    hint = f"Check {key_from}." if key_from else "Set the provider's key; see `andy models list`."
    verb = "does not accept" if status == 401 else "does not allow this with"
    error = AuthError(f"{who} {verb} {key} ({status}){quoted}", hint)
    error.kind = "auth" if status == 401 else "forbidden"
    return error


def kinded(error: ModelError, kind: str) -> ModelError:
    """The error under a narrower name than its class has; events carry it."""
    error.kind = kind
    return error
