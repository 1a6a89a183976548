"""Take secrets out of whatever is written to disk or shown as an error. Pure.

Three ways to know one: its own form (`sk-...`, `ghp_...`, a JWT, a private key), the name beside it
(`Authorization:`, `MY_TOKEN=`, `"password": "..."`), or its value, for keys in use. Ordinary prose
stays as it is: not every `password` is followed by one.

Each pattern marks the secret by its groups. What may be repeated has a bound wherever it would be
looked for from every character again: hostile text takes no longer than its length.
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from urllib.parse import quote

# All patterns are texts until they are first used: some cost a millisecond to compile.
KEY_FORMS = r"""(?xs)
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
NAMES = r"""(?:(?:api|access|private|secret|subscription|account|shared|signing|encryption|master
    |service|license|auth|client)[_-]?key
    |token|secret|password|passwd|passphrase|passcode|credentials?|pwd
    |pass(?<![a-z0-9]pass)(?![a-z])|auth(?<![a-z0-9]auth)(?![a-z])|pat(?<=_pat))"""
"""The ends of names that stand beside a secret."""

PASSWORD_IN_URL = r"""(?<=://)([^\s/:@"']*):([^\s/"']+)@"""
SCHEME = r"(?i)\b(?:Bearer|Basic)\s+([\w.~+/=-]{8,})"
AUTHORIZED = r"(?i)authorization\s*[:=]\s*[\w-]{2,20}[ \t]+([\w.~+/=:-]{8,})"
COOKIE = r"""(?i)\b(?:Set-)?Cookie\s*:\s*([^\r\n"]{0,99}=[^\r\n"]*)"""
VALUE = r"""([^\s"'`,;()\[\]{}<>$\\&]{8,})(?![(\[{])"""
QUOTED = r"""(?:"([^\s"\\]{8,})\\?"|'([^\s'\\]{8,})\\?')"""
"""Within quotes a password may hold what would end it elsewhere."""
NAME = rf"(?xi)(?=[tspcamle])(?:{NAMES}|authorization)"
"""The first letters are there for speed alone."""
NAMED = (
    rf"""(?x)
    \\?["']?\s*(?:[:=]|=>|:=)\s*
    (?:[|>][+-]?[ \t]*\n[ \t]*)?                      # a block of YAML
    \\?(?:{QUOTED}|["']?{VALUE})""",
    r"""(?x)\s*(?:</key>\s*<string)?>\s*([^\s<>$]{8,})</    # XML, a property list""",
    r"""(?x)["']\s+value\s*=\s*["']([^\s"'<>$]{8,})["']""",
)
"""Forms of a value after a name."""
LISTED = r"""(?x)s\\?["']?\s*[:=]\s*\[([^\[\]{}]{8,4000})\]"""
IN_LIST = r"""["']([^\s"'\\]{8,})["'\\]"""
QUERY = rf"(?i)[?&](?:key|sig|signature|code|X-Amz-(?:Signature|Credential|Security-Token))={VALUE}"
OPTION = rf"""(?xi)
    (?<![\w-])--?[\w-]{{0,40}}{NAMES}[ ]+["']?{VALUE}
  | (?<![\w-])(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/]{{1,99}}:([^\s"'/]{{8,}})
  | \blogin[ \t]+\S{{1,99}}\s+password[ \t]+(\S{{8,}})
  | \b(?:setx|setenv|set[ ]+-\w{{1,9}})[ ]+\w{{0,40}}{NAMES}[ ]+["']?{VALUE}
  | \b(?:sshpass|(?:mysql|mariadb)\w*|login)\b[^\n|;]{{0,99}}?[ ]-p[ ]?["']?{VALUE}
  | \b(?:identified[ ]+by|password)[ ]+'([^\s']{{8,}})'      # SQL
  | \bprivate-lines:[ ]\d+\r?\n([\w+/=\s]+)                  # PuTTY
    """
PROSE = r"""(?xi)
    \b(?:key|token|secret|password|credential)s?\b[^\n:=]{0,60}[:=]\s*["'`]?([\w+/-]{20,})
    """
LINE_BREAK = r"""(?:\\\\?r)?(?:[\\=]?\r?\n|\\\\?n)[ \t]*"""
"""Within a text or as an escape of JSON, after the sign of a shell or of a mail."""
CONTINUED = rf"""{LINE_BREAK}([\w+/-]{{6,}}={{0,2}})(?=["'`,;]{{0,3}}(?:\\|\s*?\n|\s*\Z))"""
"""The rest of a secret in the next line, which has nothing else."""
BEGUN = rf"""(?x)
    \\?["']?\s*[:=][ \t]*["']?([^\s"'`,;()\[\]{{}}<>$\\&]{{1,7}})(?={LINE_BREAK}[\w+/-]{{8}})
    """
"""A secret of which only a few characters stand in its first line."""
STAND_IN = r"""(?xs)
    (?i:your|my|the|some|insert|replace|placeholder|change|example|xxx|\*\*\*|\.\.\.|redacted)[^0-9]*
  | \$[\w{(].* | \{\{.* | <.* | %[({].* | [\w.]+[(\[].*[)\]]
    """
"""A placeholder, a variable, a slot of a template or a call stands for a secret and is none."""
# Possessive: letters that could be parted in many ways would take for ever.
WORDY = r"(?:[A-Z]++[a-z]*+|[a-z]{2,}+|\d++)*+"
"""A part of a path as people name things; what is drawn has single letters between its figures."""

SECRET_NAME = rf"""(?xi)(?:^|[_-]|\b|(?<=[a-z])(?-i:(?=[A-Z]))){NAMES}$
    |^(?:proxy-)?authorization$|^(?:set-)?cookie$"""
SIGNS = tuple(
    """sk- rk- sk_ rk_ whsec_ xai- hf_ pplx- nvapi- r8_ fw_ sess- gho_ ghp_ ghr_ ghs_ ghu_ glsa_
    glc_ xox xapp- pypi- npm_ AKIA ASIA AROA AIDA ABIA ACCA AIza GOCSPX- ya29. 1//0 SG. _v1_ dapi
    dp. shp sq0 lin_api_ ntn_ figd_ PMAK- NRAK- hvs. hvb. hvr. sbp_ pul- rubygems_ sntry pscale_
    :AA eyJ hooks.slack
    api/webhooks -----BEGIN""".split()
)
"""Texts of which one is in whatever `KEY_FORMS` finds, but for what `SIGN_FORMS` finds."""
PLAIN_SIGNS = tuple(
    """token secret pass pwd credential auth _pat key cookie bearer basic login sig code -u
    mysql mariadb identified private-lines""".split()
)
"""Texts of which one is in whatever a name gives away as a secret, in whatever case."""
SIGN_FORMS = (
    r"gl[a-z]{2,6}-",
    r"pat[A-Za-z0-9]{14}\.",
    r"[AS][CK][0-9a-f]{32}",
    r"[MNO][\w-]{23,27}\.[\w-]{6}\.",
)
"""Each is looked for alone: `re` takes three times as long for one expression of all."""

MASK = "[redacted]"
RUN_LENGTH = 8
"""Characters in a row of a known secret that give it away."""

MIN_PART_LENGTH = 16
"""A shorter known secret is looked for whole: eight characters of it may be a word."""

MAX_DEPTH, TOO_DEEP = 100, "[nested too deeply to be kept]"
"""Nobody nests values as deep, and what cannot be walked cannot be redacted."""

URL_SAFE = str.maketrans("+/", "-_")
"""The other alphabet of Base64."""


def may_hold_secret(text: str, secrets: Sequence[str] = ()) -> bool:
    """Tell whether `redact_text` may find something: a first look, ten times as fast."""
    plain = text.lower()
    if any(sign in text for sign in SIGNS) or any(sign in plain for sign in PLAIN_SIGNS):
        return True
    if ("://" in text and "@" in text) or _has_sign_form(text):
        return True
    return any(run in text for secret in secrets for run in _encoded_runs(secret))


def _has_sign_form(text: str) -> bool:
    return any(re.search(sign_form, text) for sign_form in SIGN_FORMS)


def redact_text(text: str, secrets: Sequence[str] = ()) -> str:
    """The text with `[redacted]` for each secret; `secrets` are values known to be some."""
    return "".join(
        MASK if is_secret else text_part for text_part, is_secret in _split_secrets(text, secrets)
    )


def mask_secrets(text: str, secrets: Sequence[str] = ()) -> str:
    """The text with a star for each character of a secret, so that nothing moves."""
    return "".join(
        "*" * len(text_part) if is_secret else text_part
        for text_part, is_secret in _split_secrets(text, secrets)
    )


def _split_secrets(text: str, secrets: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text in parts, each with whether it is a secret."""
    position = 0
    for start, end in _find_secrets(text, secrets):
        yield text[position:start], False
        yield text[start:end], True
        position = end
    yield text[position:], False


def _find_secrets(text: str, secrets: Sequence[str]) -> list[tuple[int, int]]:
    """Find where the secrets stand, in order and without overlap."""
    spans = [*_find_forms(text), *_beside_names(text)]
    spans += _find_continued(text, sorted(end for _, end in spans))
    for secret in secrets:
        spans += _find_known(text, secret)
    return _merge_spans(spans)


def _find_forms(text: str) -> Iterator[tuple[int, int]]:
    """The secrets whose form gives them away, or a scheme, an option or a sentence before them."""
    for secret_form, looks_secret in SECRET_FORMS:
        for match in re.finditer(secret_form, text):
            group = match.lastindex or 0
            if looks_secret(match[group]):
                yield match.span(group)


def _beside_names(text: str) -> Iterator[tuple[int, int]]:
    """The secrets that telling names stand beside."""
    read_until = 0  # a name within a value is none, and a long value is not read again for each
    for name in re.finditer(NAME, text):
        end = name.end()
        if end < read_until:
            continue
        for value_form in NAMED:
            if match := _match_at(value_form, text, end):
                read_until, group = match.end(), match.lastindex or 1
                if _is_value(match[group]):
                    yield match.span(group)
        yield from _find_listed(text, end)
        begun = _match_at(BEGUN, text, end)
        if begun and next(_find_continuations(text, begun.end(1)), None):
            yield begun.span(1)


def _match_at(expression: str, text: str, position: int) -> re.Match[str] | None:
    return re.compile(expression).match(text, position)


def _find_listed(text: str, end: int) -> Iterator[tuple[int, int]]:
    """The secrets in a list whose name ends there."""
    if match := _match_at(LISTED, text, end):
        items = re.compile(IN_LIST).finditer(text, *match.span(1))
        yield from (item.span(1) for item in items if _is_random(item[1]))


def _is_value(value: str) -> bool:
    """Tell whether what stands after a telling name is a value rather than a word."""
    if re.fullmatch(STAND_IN, value) or MASK in value:
        return False
    if value.startswith(("/", "~/", "./", "../")) and _is_path(value):
        return False
    return len(value) >= MIN_PART_LENGTH or any(character.isdigit() for character in value)


def _is_random(value: str) -> bool:
    """Tell whether a word was drawn rather than written: figures stand among its capitals."""
    if value == value.lower() or _is_path(value):
        return False
    changes = _digit_changes(value)
    return changes >= 3 or (changes > 0 and "/" in value)


def _is_drawn(line: str) -> bool:
    """Tell whether a line without blanks is none that a person would write."""
    return not line.isdigit() and (_digit_changes(line) >= 2 or not _is_wordy(line))


def _digit_changes(value: str) -> int:
    """Count how often figures begin or end within it."""
    return sum(
        character.isdigit() != next_character.isdigit()
        for character, next_character in pairwise(value)
    )


def _is_path(value: str) -> bool:
    """Tell whether it reads as the name of a file: words and numbers between its slashes."""
    return "/" in value and _is_wordy(value)


def _is_wordy(value: str) -> bool:
    return all(re.fullmatch(WORDY, part) for part in re.split(r"[/._~:-]", value))


SECRET_FORMS: Sequence[tuple[str, Callable[[str], bool]]] = (
    (KEY_FORMS, bool),
    (PASSWORD_IN_URL, bool),
    (COOKIE, bool),
    (SCHEME, _is_value),
    (AUTHORIZED, _is_value),
    (QUERY, _is_value),
    (OPTION, _is_value),
    (PROSE, _is_random),
)
"""Forms of secrets, and what the secret, the last group of each, must look like."""


def _find_continued(text: str, secret_ends: Sequence[int]) -> list[tuple[int, int]]:
    """The lines in which secrets go on that end there; each line is looked at once."""
    spans: list[tuple[int, int]] = []
    for end in secret_ends:
        if not spans or end > spans[-1][1]:
            spans += _find_continuations(text, end)
    return spans


def _find_continuations(text: str, end: int) -> Iterator[tuple[int, int]]:
    """The lines below the end of a secret in which it goes on: lines are wrapped in the middle."""
    while match := _match_at(CONTINUED, text, end):
        if not _is_drawn(match[1]):
            return
        end = match.end(1)
        yield match.span(1)


def _find_known(text: str, secret: str) -> list[tuple[int, int]]:
    """Find where runs of a known secret stand, however they are encoded."""
    spans = []
    for encoded_run in _encoded_runs(secret):
        position = text.find(encoded_run)
        while position >= 0:
            spans.append((position, position + len(encoded_run)))
            position = text.find(encoded_run, position + 1)
    return spans


@lru_cache(maxsize=64)
def _encoded_runs(secret: str) -> frozenset[str]:
    """The runs of a secret as it is, as part of an address, and in Base64.

    In Base64 three characters become four: what a text becomes depends on where it begins.
    """
    data = secret.encode("utf-8", "replace")
    encoded_texts = {secret, quote(secret, safe="")}
    if len(secret) >= MIN_PART_LENGTH:
        for offset in range(3):
            # Whole threes alone: one or two bytes at the end are encoded with what follows them.
            end = len(data) - (len(data) - offset) % 3
            shifted = base64.b64encode(data[offset:end]).decode()
            encoded_texts |= {shifted, shifted.translate(URL_SAFE)}
    return frozenset[str]().union(*map(_list_runs, encoded_texts))


def _list_runs(secret: str) -> set[str]:
    """Every run of `RUN_LENGTH` characters of a long secret, or the whole of a shorter one."""
    size = RUN_LENGTH if len(secret) >= MIN_PART_LENGTH else len(secret)
    if size < RUN_LENGTH:
        return set()
    return {secret[start : start + size] for start in range(len(secret) - size + 1)}


def _merge_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


FOLDERS = ("PWD", "OLDPWD")
"""Set by shells; elsewhere PWD is short for a password."""


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values that the names of an environment's variables give away as secrets."""
    return tuple(
        value
        for name, value in environment.items()
        if name not in FOLDERS and _is_secret_entry(name, value)
    )


def redact_value(value: object, secrets: Sequence[str] = (), depth: int = 0) -> object:
    """A JSON value without secrets: in its texts, and where the name beside a text says so."""
    if isinstance(value, str):
        return redact_text(value, secrets)
    if isinstance(value, Mapping):
        if depth > MAX_DEPTH:
            return TOO_DEEP
        return {
            key: MASK
            if _is_secret_entry(key, inner_value)
            else redact_value(inner_value, secrets, depth + 1)
            for key, inner_value in value.items()
        }
    if isinstance(value, list | tuple):
        if depth > MAX_DEPTH:
            return TOO_DEEP
        return [redact_value(element, secrets, depth + 1) for element in value]
    return value


def _is_secret_entry(key: object, value: object) -> bool:
    """Tell whether the name of an entry gives its text away as a secret."""
    return isinstance(value, str) and value != "" and bool(re.search(SECRET_NAME, str(key)))
