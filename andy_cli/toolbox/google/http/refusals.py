"""A refusal of Google, as one sentence that tells what to do. Pure.

The shapes of its errors: developers.google.com/workspace/drive/api/guides/handle-errors, and
`error_description` of OAuth (RFC 6749, section 5.2).
"""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.foreign_values import as_record, as_records, read_json
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.google.lazy import LOG_IN

MAX_CHARACTERS = 300
"""Characters of Google's own words that are passed on."""

UNSURE = "It is not known whether it happened: look before it is tried again."
NOT_DONE = "Nothing was changed."
RETRYABLE_STATUS = frozenset([408, 429, 500, 502, 503, 504])
"""Statuses after which a read may be tried again."""

GONE = (404, 410)
"""Statuses of what is not there."""

TOO_FAST = frozenset(["rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"])
USED_UP = frozenset(
    "quotaExceeded dailyLimitExceeded storageQuotaExceeded teamDriveFileLimitExceeded".split()
)
NOT_GRANTED = frozenset(["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"])
SWITCHED_OFF = frozenset(["accessNotConfigured", "SERVICE_DISABLED"])


class MissingWords(NamedTuple):
    """The words for a missing thing: the user gets the message, the model the advice too."""

    message: str
    advice: str = ""


MAX_WAIT = 20.0
"""Seconds an API may ask to wait for a read; more is told instead."""


class GoogleRefusal(NamedTuple):
    status: int
    reasons: frozenset[str] = frozenset()
    message: str = ""
    """Google's words: one line, without secrets."""
    wait: float | None = None
    """Seconds that it asks to wait."""

    @property
    def passing(self) -> bool:
        """True if the same may work in a moment."""
        return self.status in RETRYABLE_STATUS or bool(self.reasons & TOO_FAST)

    @property
    def may_be_done(self) -> bool:
        """True of a server that fails: only one that refuses has surely not done it."""
        return self.status == 408 or 500 <= self.status < 600

    @property
    def can_be_repeated(self) -> bool:
        """True if the same may work after a wait that nobody minds."""
        return self.passing and (self.wait or 0) <= MAX_WAIT


def read_refusal(
    status: int, headers: Mapping[str, str], body: bytes, secrets: Sequence[str] = ()
) -> GoogleRefusal:
    from andy_cli.guard.redactor import redact_text  # 3 ms, and only failures need it

    error_message, reasons = _read_error(read_json(body))
    message = one_line(redact_text(error_message, secrets))[:MAX_CHARACTERS].strip()
    return GoogleRefusal(
        status, reasons, message, parse_retry_after(headers.get("retry-after", ""))
    )


def _read_error(answer: object) -> tuple[str, frozenset[str]]:
    """The words and the reasons of an error object, whatever is missing in it."""
    written = as_record(answer)
    error = written.get("error")
    if isinstance(error, str):
        return str(written.get("error_description") or error), frozenset([error])
    if not isinstance(error, dict):
        return "", frozenset()
    details = [*as_records(error.get("errors")), *as_records(error.get("details"))]
    reasons = [error.get("status"), *(detail.get("reason") for detail in details)]
    return str(error.get("message") or ""), frozenset(str(reason) for reason in reasons if reason)


def parse_retry_after(text: str) -> float | None:
    """Seconds of a Retry-After header, which is a number or a date."""
    if text.strip().isdecimal() and len(text.strip()) < 10:
        return float(text)
    from email.utils import parsedate_to_datetime  # 4 ms, and few answers ask to wait

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def explain_refusal(refusal: GoogleRefusal, name: str, missing: str, change: bool) -> str:
    """Explain a refusal. `missing` is said where there is no such thing; `change` tells that the
    request would have changed something."""
    explanation = _explain_reason(refusal, name, missing)
    if not change:
        return explanation
    return f"{explanation} {UNSURE if refusal.may_be_done else NOT_DONE}"


def _explain_reason(refusal: GoogleRefusal, name: str, missing: str) -> str:
    status, reasons, words = refusal.status, refusal.reasons, _quote_message(refusal.message)
    if status == 401:
        return f"Google does not accept the login any more (401). {LOG_IN}"
    if status == 429 or reasons & TOO_FAST:
        return (
            f"{name} was asked too often ({status}). Try again in {_spell_seconds(refusal.wait)}."
        )
    if status == 403:
        return _explain_forbidden(reasons, name, words)
    return missing if status in GONE else _explain_status(status, name, words)


def _explain_status(status: int, name: str, words: str) -> str:
    if status in (409, 412):
        return f"{name} says that something has changed there meanwhile ({status}){words}."
    if status == 413:
        return f"That is larger than {name} takes at once (413). Send less."
    if 300 <= status < 400:
        return f"{name} points to another address ({status}). Check the google.*_url settings."
    if status == 408 or status >= 500:
        return f"{name} has a fault at the moment ({status}). Try again later."
    return f"{name} did not accept this ({status}){words}. Correct it and try again."


def _explain_forbidden(reasons: frozenset[str], name: str, words: str) -> str:
    if reasons & USED_UP:
        return f"The quota of {name} is used up (403){words}. Try again tomorrow, or make room."
    if reasons & NOT_GRANTED:
        return f"The Google login does not allow this (403). {LOG_IN[:-1]} again and allow it."
    if reasons & SWITCHED_OFF:
        return (
            f"{name} is not switched on for the client that andy uses (403). Switch its API on at "
            "console.cloud.google.com, under APIs & Services."
        )
    if "exportSizeLimitExceeded" in reasons:
        return "Google turns no more than 10 MB into text (403). Open it in the browser instead."
    return f"The account may not do this in {name} (403){words}."


def _quote_message(message: str) -> str:
    return f": {message.rstrip('.')}" if message else ""


def _spell_seconds(seconds: float | None) -> str:
    return "a minute" if seconds is None else f"{max(1, round(seconds))} seconds"
