"""Reading of a model server's refusal, as an error in our words.

Servers say the same thing in many shapes; these were seen (the body of a 4xx or 5xx, or an event
inside a 200):

    {"error": {"message": "...", "type": "...", "code": "..."}}     OpenAI and most others
    [{"error": {"code": 400, "message": "...", "status": "..."}}]   Gemini
    {"error": "..."}                                                Ollama, LM Studio
    {"detail": [{"loc": ["body", "field"], "msg": "..."}]}          FastAPI: vLLM, Mistral
    {"object": "error", "message": "...", "code": 404}              older vLLM
"""

import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from andy_cli.errors import AuthError, ModelError, TransientError
from andy_cli.foreign_values import read_json
from andy_cli.models.http.wording import wording

RETRYABLE_STATUS = frozenset({408, 409, 429, 500, 502, 503, 504, *range(520, 525), 529})
"""Statuses after which the same request may succeed; those from 520 on are Cloudflare's."""

MAX_REFUSAL_CHARACTERS = 4000
"""Characters of a refusal that are read."""
MAX_CHARACTERS = 400
"""Characters of a server's own words that are passed on."""


class ServerRefusal(NamedTuple):
    message: str = ""
    code: str = ""
    """Its type and code, lower case, with a blank between."""
    fields: tuple[str, ...] = ()
    """Fields of the request that it names."""
    type: str = ""
    """Its type, as it was written."""
    name: str = ""
    """Its code, as it was written, where that is a word."""
    text: str = ""
    """All that it says under whatever key, to find names in; never shown."""


def read_refusal(body: object) -> ServerRefusal:
    """Find the server's words, from a decoded JSON body of any shape."""
    fields = tuple(dict.fromkeys(_find_fields(body)))[:MAX_FIELDS]
    text = " ".join(_find_texts(body))[:MAX_REFUSAL_CHARACTERS]
    while isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return ServerRefusal(_clean_line(body) if isinstance(body, str) else "", text=text)
    inner = body.get("error")
    if isinstance(inner, Mapping):
        body = inner
    joined_words = "; ".join(dict.fromkeys(_find_words(body)))
    return ServerRefusal(
        _clean_line(joined_words), _error_code(body), fields, *_error_labels(body), text
    )


def parse_refusal(data: bytes) -> ServerRefusal:
    """Read the body of a refusal, whether or not it is JSON."""
    body = read_json(data, NO_JSON)  # in any form of Unicode
    if body is not NO_JSON:
        return read_refusal(body)
    text = data.decode("utf-8-sig", "replace")
    body = read_json(text, NO_JSON)
    return read_page(text) if body is NO_JSON else read_refusal(body)


NO_JSON = object()


def read_page(text: str) -> ServerRefusal:
    """Quote a refusal that is no JSON: a page of a proxy is nothing a person wants to read."""
    if wording("wants_https").search(text):
        return ServerRefusal(code="https")
    if "<" in text:
        return ServerRefusal()
    return ServerRefusal(_clean_line(text), text=text[:MAX_REFUSAL_CHARACTERS])


WORDS = ("message", "detail", "msg", "error", "errors", "error_message", "title", "description")
"""The fields in which servers put their words; the first that holds some is taken."""
NAMING = frozenset(
    "param parameter field property additionalProperty loc path pointer instancePath".split()
)
"""Keys whose values name a field of the request."""
QUOTED = frozenset({"input", "ctx"})
"""Keys under which a server repeats what it was sent."""
MAX_FIELDS = 20
"""Fields that are read of a refusal at most."""
MAX_DEPTH = 6


def _find_words(refusal_part: object, depth: int = 0) -> Iterator[str]:
    """The sentences of a refusal, wherever they stand."""
    if isinstance(refusal_part, str):
        yield refusal_part
    elif depth >= MAX_DEPTH:
        return
    elif isinstance(refusal_part, list):
        for item in refusal_part[:MAX_FIELDS]:
            yield from _find_words(item, depth + 1)
    elif isinstance(refusal_part, Mapping):
        words = (_find_words(refusal_part.get(key), depth + 1) for key in WORDS)
        first = next(chain.from_iterable(words), None)
        location = refusal_part.get("loc")
        if first is not None:  # FastAPI, vLLM and Mistral say where
            is_placed = isinstance(location, list)
            yield f"{first} ({refusal_part.get('type')}): {location}" if is_placed else first


def _find_texts(body: object, depth: int = 0) -> Iterator[str]:
    """Every text in it but what repeats the request."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, list) and depth < MAX_DEPTH:
        for item in body[:MAX_FIELDS]:
            yield from _find_texts(item, depth + 1)
    elif isinstance(body, Mapping) and depth < MAX_DEPTH:
        for key, value in body.items():
            if key not in QUOTED:
                yield from _find_texts(value, depth + 1)


def _find_fields(body: object, depth: int = 0) -> Iterator[str]:
    """The fields that are named by the keys of a refusal, at any depth."""
    if depth > MAX_DEPTH:
        return
    if isinstance(body, list):
        for item in body[:MAX_FIELDS]:
            yield from _find_fields(item, depth + 1)
    elif isinstance(body, Mapping):
        for key, value in body.items():
            if key in NAMING and isinstance(value, str | list):
                yield from _field_names(value)
            elif key not in QUOTED:
                yield from _find_fields(value, depth + 1)


def _field_names(location: str | list[object]) -> Iterator[str]:
    """`body`, `messages`, 2, `name` is messages.2.name, and so is /messages/2/name."""
    segments = location.strip("/").split("/") if isinstance(location, str) else location
    if field := ".".join(str(segment) for segment in segments if segment != "body"):
        yield field[:MAX_CHARACTERS]


def _error_labels(body: Mapping[str, object]) -> tuple[str, str]:
    type, name = body.get("type"), body.get("code")
    return (type if isinstance(type, str) else ""), (name if isinstance(name, str) else "")


def _error_code(body: Mapping[str, object]) -> str:
    code_parts = (body.get("type"), body.get("code"), body.get("status"))
    return " ".join(str(code_part) for code_part in code_parts if code_part is not None).lower()


def _clean_line(text: str) -> str:
    """On one line, and without characters that only a terminal would act on."""
    beginning = text[: 2 * MAX_CHARACTERS]
    printable = (character if character.isprintable() else " " for character in beginning)
    line = " ".join("".join(printable).split())
    return line if len(line) <= MAX_CHARACTERS else line[:MAX_CHARACTERS] + "…"


def error_in_reply(body: object) -> ModelError:
    """The error for an `error` object inside a reply that began with status 200.

    A status is told only where the object has one: nobody finds another in the server's log.
    """
    refusal = read_refusal(body)
    if number := wording("code_status").search(refusal.code):
        return as_error(int(number[1]), refusal, "The model server")
    status = _status_by_words(refusal.code)
    return as_error(status, refusal, "The model server", tells_status=False)


CODE_WORDINGS = {
    429: "code_rate_limit",
    503: "code_overload",
    500: "code_failure",
    401: "code_key",
}


def _status_by_words(code: str) -> int:
    for status, name in CODE_WORDINGS.items():
        if wording(name).search(code):
            return status
    return 400


def as_error(
    status: int,
    refusal: ServerRefusal,
    server_name: str,
    key_from: str = "",
    retry_after: float | None = None,
    tells_status: bool = True,
) -> ModelError:
    """The refusal as one sentence. `server_name` begins it: a name of the server.

    With `tells_status` the sentence has the status in it: the server sent that number.
    """
    shown_status = f" ({status})" if tells_status else ""
    status = _find_meant_status(status, refusal)
    quoted = f": {refusal.message}" if refusal.message else "."
    if is_quota(status, refusal):
        return ModelError(
            f"{server_name} says that the account has no quota left{quoted}",
            "Check the plan and billing of the account, or choose another with {model}.",
            kind="quota",
        )
    if too_long(refusal):
        error = ModelError(
            f"The conversation is too long for the model{quoted}",
            "{less}, or choose a model with a longer context.",
            kind="context",
        )
        error.fitting_share = find_fitting_share(refusal.message, status)
        return error
    if permanent := _find_permanent_refusal(status, refusal, server_name, quoted):
        return permanent
    if status in RETRYABLE_STATUS:
        return _transient_error(status, server_name, f"{shown_status}{quoted}", retry_after)
    if status in (401, 403):
        return _no_entry(status, server_name, f"{shown_status}{quoted}", key_from)
    if status == 413:
        return ModelError(
            f"{server_name} finds the request too large{quoted}",
            "Ask for less at a time.",
            kind="too_large",
        )
    return ModelError(
        f"{server_name} refused the request{shown_status}{quoted}", kind="bad_request"
    )


def _find_meant_status(status: int, refusal: ServerRefusal) -> int:
    """Find the status that says more: Google answers a wrong key with 400."""
    is_wrong_key = status == 400 and wording("wrong_key").search(refusal.text)
    return 401 if is_wrong_key else status


def _find_permanent_refusal(
    status: int, refusal: ServerRefusal, server_name: str, quoted: str
) -> ModelError | None:
    """Refusals that no change of the request by us can help."""
    if "content_filter" in refusal.code or "content_policy" in refusal.code:
        message, advice = f"{server_name} holds the request back{quoted}", "Say it otherwise."
        return ModelError(message, advice, kind="filtered")
    if status == 407:
        message = f"A proxy on the way to {server_name} wants a name and a password (407)."
        advice = "Write them into HTTPS_PROXY: http://NAME:PASSWORD@HOST:PORT."
        return ModelError(message, advice, kind="proxy")
    return None


def is_quota(status: int, refusal: ServerRefusal) -> bool:
    return status == 402 or "insufficient_quota" in refusal.code or "billing" in refusal.code


LEAST_SHARE = 0.02
"""A smaller part is none of sizes: another number stands there, such as the id of a request."""


def too_long(refusal: ServerRefusal) -> bool:
    """Tell whether the conversation is too long for the model. Tokens a minute are no context."""
    if wording("code_too_long").search(refusal.code):
        return True
    if any("." in field or "[" in field for field in refusal.fields):
        return False  # a part of the request is too long, such as an id
    if wording("rate").search(f"{refusal.message} {refusal.code}"):
        return False
    says_so = wording("too_long").search(refusal.message) is not None
    return says_so or _compares_sizes(refusal.message)


def _compares_sizes(message: str) -> bool:
    """Tell whether it says how long the prompt is and how long it may be, in whatever words."""
    if not wording("prompt").search(message) or not wording("measured").search(message):
        return False
    return len(set(wording("size").findall(message))) > 1


def find_fitting_share(message: str, status: int) -> float:
    """Find which part of the prompt would have fitted, by the two largest sizes that are told: `has
    9,000 tokens, maximum 4096`; 0 where two are not told, or tell something else."""
    sizes = {int(size.replace(",", "")) for size in wording("size").findall(message)}
    sizes.discard(status)  # `Error code: 400`, as what stands before a server quotes it
    largest = max(sizes, default=0)
    # `16,384 (16,000 in the messages, 384 in the completion)`: of parts of it none is the limit.
    limits = {size for size in sizes - {largest} if largest - size not in sizes - {size}}
    share = max(limits, default=0) / max(largest, 1)
    return share if share > LEAST_SHARE else 0.0


def names_no_model(status: int, refusal: ServerRefusal) -> bool:
    """Tell whether the model is what the server does not have."""
    if status not in (400, 404, 422):
        return False
    if wording("code_no_model").search(refusal.code):
        return True
    return wording("no_model").search(refusal.message) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Find how many seconds the server asks us to wait: `2`, or a date; None if it says neither."""
    text = headers.get("retry-after", "")
    milliseconds = headers.get("retry-after-ms", "")  # Azure's, and finer
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(text)
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


def _transient_error(
    status: int, server_name: str, quoted: str, retry_after: float | None
) -> TransientError:
    if status == 429:
        failure_words, kind = "asks for fewer requests", "rate_limit"
    elif status == 503 and wording("loading").search(quoted):
        failure_words, kind = "is not ready yet", "loading"
    elif status in (503, 529):
        failure_words, kind = "is overloaded", "overloaded"
    else:
        failure_words, kind = "failed", "server"
    advice = "Try again later."
    if retry_after:
        advice = f"It may be tried again in {_spell_seconds(retry_after)}."
    return TransientError(f"{server_name} {failure_words}{quoted}", advice, retry_after, kind)


def _spell_seconds(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 120 else f"{minutes} min ({seconds:.0f} s)"


NAME_A_KEY = "Set a variable to your key, and name the variable with {key}."


def _no_entry(status: int, server_name: str, quoted: str, key_from: str) -> AuthError:
    key = f"the key in {key_from}" if key_from else "a request without a key"
    advice = f"Check {key_from}." if key_from else NAME_A_KEY
    refusal_verb = "does not accept" if status == 401 else "does not allow this with"
    kind = "auth" if status == 401 else "forbidden"
    return AuthError(f"{server_name} {refusal_verb} {key}{quoted}", advice, kind)


def use_https(shown_address: str) -> ModelError:
    message = f"{shown_address} speaks https, and was asked by http."
    return ModelError(message, "Write https:// in {address}.", kind="protocol")
