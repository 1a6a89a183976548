"""Take secrets out of whatever is written to disk or shown as an error. Pure.

Three ways to know one: its own form (`sk-...`, `ghp_...`, a JWT, a private key), the name beside it
(`Authorization:`, `MY_TOKEN=`, `"password": "..."`), or its value, for keys in use. Ordinary prose
stays as it is: not every `password` is followed by one.

What may be repeated has a bound wherever it would be looked for from every character again: hostile
text takes no longer than its length.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

MASK = "[redacted]"
RUN = 8
"""As many characters in a row of a known secret give it away."""

LONG = 16
"""A shorter known secret is looked for whole: eight characters of it may be a word."""

FORMS = re.compile(
    r"""
    (?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))(?:  # nothing, or a JSON escape
        [sr]k-(?=[\w-]{0,99}[\dA-Z])[\w-]{16,}      # OpenAI, Anthropic, OpenRouter
      | [sr]k_(?:live|test)_\w{12,}            # Stripe
      | csk-[\w-]{16,} | gsk_\w{20,} | xai-[\w-]{20,} | hf_[A-Za-z0-9]{20,}
      | gh[opusr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | glpat-[\w-]{16,}
      | xox[abeoprs]-[\w-]{10,} | pypi-[\w-]{20,} | npm_[A-Za-z0-9]{30,}
      | A(?:KIA|SIA)[A-Z0-9]{16} | AIza[\w-]{30,}
      | ya29\.[\w.-]{20,} | 1//0[\w-]{20,}
      | \d{8,10}:AA[\w-]{30,}                  # Telegram
      | eyJ[\w-]{8,999}\.[\w-]{8,}\.[\w-]*        # JWT
    )
  | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
PASSWORD_IN_URL = re.compile(r"(?<=://)([^\s/:@\"']*):([^\s/@\"']+)@")
SCHEME = re.compile(r"\b(?:Bearer|Basic)\s+([\w.~+/=-]{8,})", re.IGNORECASE)
COOKIE = re.compile(r"\b(?:Set-)?Cookie\s*:\s*([^\r\n\"]{0,99}=[^\r\n\"]*)", re.IGNORECASE)
NAMED = re.compile(
    r"""
    (?:\b|_)(?:[\w-]{0,40}(?:token|secret|password|passwd|api[_-]?key|access[_-]?key|private[_-]?key)
        |authorization|proxy-authorization)
     \\?["']?\s*[:=]\s*\\?["']?
    ([^\s"'`,;()\[\]{}<>$\\]{8,})(?![(\[{])
    """,
    re.VERBOSE | re.IGNORECASE,
)
SECRET_NAME = re.compile(
    r"(?:^|[_-]|\b)(?:token|secret|password|passwd|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"authorization|cookie)$|(?:Token|Secret|Password|Key)$",
    re.IGNORECASE,
)


def redact(text: str, secrets: Sequence[str] = ()) -> str:
    """The text with `[redacted]` for each secret; `secrets` are values known to be some."""
    return "".join(MASK if secret else part for part, secret in _parts(text, secrets))


def starred(text: str, secrets: Sequence[str] = ()) -> str:
    """The text with a star for each character of a secret, so that nothing moves."""
    return "".join("*" * len(part) if secret else part for part, secret in _parts(text, secrets))


def _parts(text: str, secrets: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text in parts, each with whether it is a secret."""
    at = 0
    for start, end in _spans(text, secrets):
        yield text[at:start], False
        yield text[start:end], True
        at = end
    yield text[at:], False


def _spans(text: str, secrets: Sequence[str]) -> list[tuple[int, int]]:
    """Where the secrets stand, in order and without overlap."""
    found = [match.span() for match in FORMS.finditer(text)]
    found += [match.span(2) for match in PASSWORD_IN_URL.finditer(text)]
    found += [match.span(1) for match in SCHEME.finditer(text)]
    found += [match.span(1) for match in COOKIE.finditer(text)]
    found += [match.span(1) for match in NAMED.finditer(text) if _telling(match[1])]
    for secret in secrets:
        found += _known(text, secret)
    return _merged(found)


def _telling(value: str) -> bool:
    """Whether what stands after a telling name is a value rather than a word."""
    return len(value) >= LONG or any(c.isdigit() for c in value)


def _known(text: str, secret: str) -> list[tuple[int, int]]:
    """Every run of `RUN` characters of a long secret, or the whole of a shorter one."""
    size = RUN if len(secret) >= LONG else len(secret)
    if size < RUN:
        return []
    found = []
    for run in {secret[start : start + size] for start in range(len(secret) - size + 1)}:
        at = text.find(run)
        while at >= 0:
            found.append((at, at + size))
            at = text.find(run, at + 1)
    return found


def _merged(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def redact_value(value: object, secrets: Sequence[str] = ()) -> object:
    """A JSON value without secrets: in its texts, and where the name beside a text says so."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {
            key: MASK
            if isinstance(each, str) and each and SECRET_NAME.search(str(key))
            else redact_value(each, secrets)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_value(each, secrets) for each in value]
    return value
