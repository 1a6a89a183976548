"""Take secrets out of whatever is written to disk or shown as an error. Pure.

Three ways to know one: its own form (`sk-...`, `ghp_...`, a JWT, a private key), the name beside it
(`Authorization:`, `MY_TOKEN=`, `"password": "..."`), or its value, for keys in use. Ordinary prose
stays as it is: not every `password` is followed by one.

What may be repeated has a bound wherever it would be looked for from every character again: hostile
text takes no longer than its length.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

MASK = "[redacted]"
RUN = 8
"""As many characters in a row of a known secret give it away."""

LONG = 16
"""A shorter known secret is looked for whole: eight characters of it may be a word."""

# What costs a millisecond to compile is a text until it is first used.
FORMS = r"""(?xs)
    (?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))(?:  # nothing, or a JSON escape
        [sr]k-(?=[\w-]{0,99}[\dA-Z])[\w-]{16,}      # OpenAI, Anthropic, OpenRouter
      | [sr]k_(?:live|test)_\w{12,} | whsec_[\w+/=]{20,}             # Stripe
      | csk-[\w-]{16,} | gsk_\w{20,} | xai-[\w-]{20,} | hf_[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,}
      | nvapi-[\w-]{20,} | r8_[A-Za-z0-9]{20,} | fw_[A-Za-z0-9]{20,} | sess-[A-Za-z0-9]{20,}
      | gh[opusr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | gl[a-z]{2,6}-[\w-]{16,}
      | gl(?:sa|c)_\w{20,}
      | xox[abceoprs]-[\w-]{10,} | xapp-[\w-]{20,} | pypi-[\w-]{20,} | npm_[A-Za-z0-9]{20,}
      | A(?:KIA|SIA|ROA|IDA|BIA|CCA)[A-Z0-9]{16} | AIza[\w-]{30,} | GOCSPX-[\w-]{20,}
      | ya29\.[\w.-]{20,} | 1//0[\w-]{20,}
      | SG\.[\w-]{16,}\.[\w-]{16,} | key-[0-9a-f]{32} | (?:AC|SK)[0-9a-f]{32}
      | do[opr]_v1_[0-9a-f]{20,} | dapi[0-9a-f]{32} | dckr_pat_[\w-]{20,} | dp\.[a-z]{2,5}\.\w{20,}
      | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,} | sq0[a-z]{3}-[\w-]{20,} | lin_api_\w{20,} | ntn_\w{20,}
      | secret_[A-Za-z0-9]{32,} | figd_[\w-]{20,} | PMAK-[0-9a-f-]{20,} | NRAK-\w{20,}
      | hv[sbr]\.[\w-]{20,} | sbp_[0-9a-f]{20,} | pul-[0-9a-f]{20,} | tskey-[\w-]{16,}
      | rubygems_[0-9a-f]{20,} | sntry[su]_[\w+/=]{20,} | pscale_(?:tkn|pw)_[\w.-]{20,}
      | AGE-SECRET-KEY-1[A-Z0-9]{30,} | pat[A-Za-z0-9]{14}\.[0-9a-f]{32,}
      | \d{8,10}:AA[\w-]{30,}                  # Telegram
      | [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}  # Discord
      | eyJ[\w-]{8,999}\.[\w-]{8,}\.[\w-]*        # JWT
    )
  | hooks\.slack\.com/services/[\w/]{20,} | discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}
  | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----.*?
    (?:-----END[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)
    """
NAMES = r"""(?:token|secret|password|passwd|passphrase|passcode|credentials?|pwd
    |(?:\b|_)(?:pass|auth)|_pat
    |(?:api|access|private|secret|subscription|account|shared|signing|encryption|master|service
    |license|auth|client)[_-]?key)"""
"""What a name ends in that stands beside a secret."""

PASSWORD_IN_URL = re.compile(r"(?<=://)([^\s/:@\"']*):([^\s/\"']+)@")
SCHEME = re.compile(r"\b(?:Bearer|Basic)\s+([\w.~+/=-]{8,})", re.IGNORECASE)
AUTHORIZED = re.compile(r"authorization\s*[:=]\s*[\w-]{2,20}\s+([\w.~+/=:-]{8,})", re.IGNORECASE)
COOKIE = re.compile(r"\b(?:Set-)?Cookie\s*:\s*([^\r\n\"]{0,99}=[^\r\n\"]*)", re.IGNORECASE)
VALUE = r"""([^\s"'`,;()\[\]{}<>$\\&]{8,})(?![(\[{])"""
NAMED = rf"""(?xi)
    (?:{NAMES}|authorization)
     \\?["']?\s*(?:[:=]|=>|:=)\s*\\?["']?
    {VALUE}
    """
QUERY = re.compile(
    rf"[?&](?:key|sig|signature|code|X-Amz-(?:Signature|Credential|Security-Token))={VALUE}",
    re.IGNORECASE,
)
OPTION = rf"""(?xi)
    (?<![\w-])--?[\w-]{{0,40}}{NAMES}[ ]+["']?{VALUE}
  | (?<![\w-])(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/]{{1,99}}:([^\s"'/]{{8,}})
  | \blogin[ \t]+\S{{1,99}}\s+password[ \t]+(\S{{8,}})
    """
PROSE = re.compile(
    r"\b(?:key|token|secret|password|credential)s?\b[^\n:=]{0,60}[:=]\s*[\"'`]?([\w+/-]{20,})",
    re.IGNORECASE,
)
SECRET_NAME = rf"""(?xi)(?:^|[_-]|\b|(?<=[a-z])(?-i:(?=[A-Z]))){NAMES}$
    |^(?:proxy-)?authorization$|^(?:set-)?cookie$"""
PLACEHOLDER = re.compile(
    r"(?:your|my|the|some|insert|replace|placeholder|change|example|xxx|\*\*\*|\.\.\.|redacted)[^0-9]*",
    re.IGNORECASE,
)


SIGNS = tuple(
    """sk- rk- sk_ rk_ whsec_ xai- hf_ pplx- nvapi- r8_ fw_ sess- gho_ ghp_ ghr_ ghs_ ghu_ glsa_
    glc_ xox xapp- pypi- npm_ AKIA ASIA AROA AIDA ABIA ACCA AIza GOCSPX- ya29. 1//0 SG. _v1_ dapi
    dp. shp sq0 lin_api_ ntn_ figd_ PMAK- NRAK- hvs. hvb. hvr. sbp_ pul- sntry pscale_ :AA
    eyJ hooks.slack
    api/webhooks -----BEGIN""".split()
)
PLAIN_SIGNS = tuple(
    "token secret pass pwd credential auth _pat key cookie bearer basic login sig code -u".split()
)
"""As above, in whatever case."""
SIGN_FORMS = (
    r"gl[a-z]{2,6}-|pat[A-Za-z0-9]{14}\.|[AS][CK][0-9a-f]{32}|[MNO][\w-]{23,27}\.[\w-]{6}\."
)


def suspicious(text: str, secrets: Sequence[str] = ()) -> bool:
    """Whether `redact` may find something in the text: a first look, ten times as fast."""
    plain = text.lower()
    return (
        any(sign in text for sign in SIGNS)
        or any(sign in plain for sign in PLAIN_SIGNS)
        or ("://" in text and "@" in text)
        or re.search(SIGN_FORMS, text) is not None
        or any(run in text for secret in secrets for run in _runs(secret))
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
    found = [match.span() for match in re.finditer(FORMS, text)]
    found += [match.span(2) for match in PASSWORD_IN_URL.finditer(text)]
    found += [match.span(1) for match in COOKIE.finditer(text)]
    for form in (SCHEME, AUTHORIZED, re.compile(NAMED), QUERY, re.compile(OPTION)):
        groups = [(match, match.lastindex or 1) for match in form.finditer(text)]
        found += [match.span(group) for match, group in groups if _telling(match[group])]
    found += [match.span(1) for match in PROSE.finditer(text) if _random(match[1])]
    for secret in secrets:
        found += _known(text, secret)
    return _merged(found)


def _telling(value: str) -> bool:
    """Whether what stands after a telling name is a value rather than a word."""
    if PLACEHOLDER.fullmatch(value):
        return False
    return len(value) >= LONG or any(c.isdigit() for c in value)


def _random(value: str) -> bool:
    """Whether a word was drawn rather than written: figures stand among its capitals."""
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(value))
    return changes >= 3 and value != value.lower()


def _known(text: str, secret: str) -> list[tuple[int, int]]:
    """Where runs of a known secret stand."""
    found = []
    for run in _runs(secret):
        at = text.find(run)
        while at >= 0:
            found.append((at, at + len(run)))
            at = text.find(run, at + 1)
    return found


def _runs(secret: str) -> set[str]:
    """Every run of `RUN` characters of a long secret, or the whole of a shorter one."""
    size = RUN if len(secret) >= LONG else len(secret)
    if size < RUN:
        return set()
    return {secret[start : start + size] for start in range(len(secret) - size + 1)}


def _merged(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values that the names of an environment's variables give away as secrets."""
    return tuple(
        value for name, value in environment.items() if value and re.search(SECRET_NAME, name)
    )


def redact_value(value: object, secrets: Sequence[str] = ()) -> object:
    """A JSON value without secrets: in its texts, and where the name beside a text says so."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {
            key: MASK
            if isinstance(each, str) and each and re.search(SECRET_NAME, str(key))
            else redact_value(each, secrets)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_value(each, secrets) for each in value]
    return value
