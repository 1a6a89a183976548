"""The kind of value that a parameter takes, and the pieces of a request of that kind. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import DamerauLevenshtein

from andy_cli.messages import Schema
from andy_cli.models.inside.values.calendar_words import is_same_in_calendar
from andy_cli.models.inside.values.words import (
    ENDING,
    IDLE,
    INTERROGATIVES,
    LINKS,
    find_plain_words,
    find_stem,
    find_things,
    find_words,
)

KIND_WORDS: Mapping[str, str] = {
    "url": "url uri link href website page web",
    "mail": "cc bcc",
    "phone": "phone tel mobile telephone",
    "folder": "folder directory dir root cwd",
    "file": "file filename path paths",
    "sum": "expression formula equation",
    "date": "date day",
    "time": "time hour o'clock",
    "text": "text content contents body message note comment utterance fact",
}
"""Kind -> the words by which a parameter's name or description says it."""
KIND_OF = {word: kind for kind, names in KIND_WORDS.items() for word in names.split()}
FORMATS = {"uri": "url", "url": "url", "email": "mail", "date": "date", "time": "time"}
MAX_WORDS = 10
"""Words of a span."""
SHORT_TITLE = 2
"""Words."""
MISTYPED_SHARE = 0.2
"""Part of a word's letters that may be mistyped."""
MAX_NAMES = 10_000
"""Names of files, folders and places whose words are kept: each part of a request is compared."""
MAX_TEXTS = 128
"""Texts whose names are kept: a plan looks for those of the same few parts again and again."""


class Span(NamedTuple):
    text: str
    start: int
    end: int


def find_kind(name: str, schema: Schema) -> str:
    """Find what kind of text a parameter wants; `words` when nothing says so."""
    if form := FORMATS.get(str(schema.get("format") or "")):
        return form
    called = find_words(name)
    about = find_words(str(schema.get("description") or ""))
    if called[-1:] == ["id"]:
        return "id"
    if _takes_mail(called, set(about)):
        return "mail"
    if "address" in about:
        return "url" if {"page", "web", "site", "open", "fetch"} & set(about) else "words"
    return next((KIND_OF[word] for word in (*about, *called) if word in KIND_OF), "words")


def _takes_mail(called: Sequence[str], about: set[str]) -> bool:
    """Tell whether a parameter is an email address, by its name and its description's words."""
    is_receiver = bool({"address", "receiver", "recipient", *called} & {*about, "email", "mail"})
    is_mail = bool({"email", "mail", "e-mail"} & {*about, *called})
    return is_mail and is_receiver and not {"text", "subject"} & about


def find_typed(kind: str, text: str) -> list[Span]:
    """Find the pieces that are of the kind by their form, the likeliest first."""
    spans: dict[str, list[Span]] = {}
    for thing in find_things(text):
        spans.setdefault(thing.kind, []).append(Span(thing.text, thing.start, thing.end))
    found = spans.get(kind, [])
    if kind == "file":
        return [*found, *spans.get("quote", [])]
    return found or [span for span in spans.get("file", []) if _reads_as_file(kind, span.text)]


def _reads_as_file(kind: str, text: str) -> bool:
    """Tell whether a thing of the kind reads like a file: a hidden folder, `.ssh`, or a host,
    `example.org`; its ending is no ending of files that is known.
    """
    import mimetypes  # 3 ms

    if kind == "folder":
        return text.startswith(".")
    return kind == "url" and mimetypes.guess_type(text)[0] is None


BEHIND = re.compile(
    r"(?::\s+|\b(?:saying|says|that says|with the (?:words?|text|message)|that|dass|que|che)\s+"
    r"(?!is\b))(.+)",
    re.I | re.S,
)
"""Words that lead to a text that is to be written or said."""


def find_texts(text: str) -> list[Span]:
    """Find texts that are to be written or said: in quotes, else after what leads to one."""
    quoted = find_typed("quote", text)
    if quoted:
        return quoted
    return [Span(match[1].strip(" ."), *match.span(1)) for match in BEHIND.finditer(text)]


def find_phrases(text: str, taken: Iterable[range], own: frozenset[str]) -> list[Span]:
    """Find every run of words that may be a value: it has nothing in it that is taken or has a
    form of its own, and neither begins nor ends with a link or with one of the tool's `own` words
    (stems).
    """
    taken = list(taken)
    free = [span for span in find_typed("quote", text) if not overlaps(span, taken)]
    return free or _list_runs(text, taken, own)


def _list_runs(text: str, taken: Sequence[range], own: frozenset[str]) -> list[Span]:
    blocked = [*taken, *(range(thing.start, thing.end) for thing in find_things(text))]
    tokens = [match.span() for match in re.finditer(r"[^\s,;:!?\"()]+", text)]
    found: list[Span] = []
    for at, (start, _) in enumerate(tokens):
        for _, end in tokens[at : at + MAX_WORDS]:
            end = close_bracket(text, start, end)
            said = text[start:end].strip(". ").removesuffix("'s").removesuffix("\u2019s")
            span = Span(said, start, end)
            if overlaps(span, blocked) or not set(span.text).isdisjoint(",;:!?"):
                break
            if _is_whole(span.text, own):
                found.append(span)
    return found


def close_bracket(text: str, start: int, end: int) -> int:
    """Find the end of a piece of a text with the bracket after it that closes one in it."""
    is_open = "(" in text[start:end] and ")" not in text[start:end]
    return end + (is_open and text[end : end + 1] == ")")


def _is_whole(text: str, own: frozenset[str]) -> bool:
    """Tell whether words may be a value: no link and none of the tool's words is at an edge."""
    said = find_words(text)
    if not said or text.isdigit():
        return False
    return not any(word in LINKS or find_stem(word) in own for word in (said[0], said[-1]))


CAPITALIZED = r"[A-Z\u00c0-\u00de][^\W\d_]+(?:['\u2019](?:[^\W\d_]{2,}|s(?= [A-Z])))?"
TITLE = r"[A-Z][b-df-hj-np-tv-z]{1,2}\."
"""`Mr.`, `Dr.`, `St.`: an abbreviation without a vowel."""
PROPER_NAME = re.compile(
    rf"(?<![\w'\u2019-])(?:{TITLE} )?{CAPITALIZED}"
    rf"(?:(?:[ -]|\s(?:of|de|the|di|du|des|van|von|in)\s){CAPITALIZED})*(?!\w)"
)
SENTENCE_BEGINNING = re.compile(r"(?:^|[.!?]\s)\W*$")
MANY_NAMES = 5
"""Words for each of several names; where there are fewer all nouns have a capital, as in German."""


WEEKDAYS = frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())


def find_proper_names(text: str) -> list[Span]:
    """Find what has capitals inside a sentence, or several at its beginning: `Crow Gully`."""
    things = [range(thing.start, thing.end) for thing in find_things(text)]
    spans = [Span(match[0], *match.span()) for match in PROPER_NAME.finditer(text)]
    found = [span for span in spans if _is_name(span, text) and not overlaps(span, things)]
    return found if len(found) < 2 or len(found) * MANY_NAMES <= len(text.split()) else []


def _is_name(span: Span, text: str) -> bool:
    is_first = " " not in span.text and SENTENCE_BEGINNING.search(text[: span.start])
    return len(span.text) > 2 and span.text not in WEEKDAYS and not is_first


def quote_names(text: str, names: Sequence[str], common: frozenset[str] = frozenset()) -> str:
    """Put what is there, has blanks in its name and is called by all of it, in backticks: `read
    my notes.txt` is no request for `notes.txt`.

    It may be called by its path or the end of that. A folder of `common` words alone is no name:
    `play my music`.
    """
    said = text.casefold()
    ends = {end for name in names for end in list_spaced_ends(name)}
    called = {end for end in ends if end.casefold() in said}
    files = {end for end in called if ENDING.search(end)}
    folders = {end for end in called - files if not set(find_plain_words(end)) <= common}
    if not files | folders:
        return text
    longest = sorted(map(re.escape, files | folders), key=len, reverse=True)
    pattern = rf"(?<![\w`'\"/])(?:{'|'.join(longest)})/?(?![\w`'\"])"

    def quote(match: re.Match[str]) -> str:
        name = match[0].rstrip("/")
        is_folder = match[0].endswith("/") or not ENDING.search(name)
        return f"`{name}/`" if is_folder else f"`{name}`"

    return re.sub(pattern, quote, text, flags=re.I)


EXCEPT = (
    r"(?<=thing )but|(?<=all )but|except(?: for)?|other than|apart from|instead of|rather than"
    r"|au(?:\u00df|ss)er|(?:an)?statt|bis auf|excepto|salvo|menos|en (?:vez|lugar) de"
    r"|sauf|except\u00e9|hormis|au lieu de|plut\u00f4t que|tranne|eccetto|invece di"
)
"""Prepositions that leave out what follows, in the five languages that are tried."""


def drop_excluded(text: str, names: Sequence[str]) -> str:
    """Drop what is there and is left out of a wish, with the words that say so: `play Volare
    instead of Azzurro`, `anything but Volare`.
    """
    said = text.casefold()
    titles: set[str] = set()
    for name in names:
        title = ENDING.sub("", name.rpartition("/")[2]).casefold()
        titles.update(part for part in (title, *title.split(" - ")) if part and part in said)
    if not (titles and re.search(EXCEPT, said)):
        return text
    longest = "|".join(sorted(map(re.escape, titles), key=len, reverse=True))
    pattern = rf"\s*\b(?:{EXCEPT})\s+`?(?:{longest})(?:\.\w+)?\b`?"
    quoted = [range(thing.start, thing.end) for thing in find_things(text) if thing.kind == "quote"]

    def drop(match: re.Match[str]) -> str:
        # Within quotation marks the words belong to a title.
        return match[0] if any(match.end() - 1 in span for span in quoted) else ""

    return re.sub(pattern, drop, text, flags=re.I)


def list_spaced_ends(name: str) -> list[str]:
    """List the ends of a path that have blanks in them: what lies there may be called so."""
    parts = name.rstrip("/").split("/")
    ends = ["/".join(parts[at:]) for at in range(len(parts))]
    is_named = name.endswith("/") or ENDING.search(name)
    return [end for end in ends if " " in end] if is_named else []


def overlaps(span: Span, taken: Iterable[range]) -> bool:
    return any(span.start < other.stop and other.start < span.end for other in taken)


class Match(NamedTuple):
    name: str
    """Of a file or folder, as it is there."""
    letters: int
    """The number of letters of its name that were said."""
    words: frozenset[str]
    """The words that were said of it."""
    share: float
    """The part of its letters that were said: of its title or of its artist."""

    @property
    def is_clear(self) -> bool:
        """It is spoken of, and not only a word that happens to be in its name."""
        return self.share > 0.8 or (len(self.words) > 1 and self.share > 0.4)

    def is_part(self, word: str) -> bool:
        return set(find_plain_words(word)) <= self.words


def find_named(text: str, names: Sequence[str], own: frozenset[str]) -> list[Match]:
    """Find the files and folders among `names` that the text speaks of, the best first: `Queen` is
    a whole artist rather than a part of `Dancing Queen`.

    Case, accents, the ending and one mistyped letter in five do not count.
    """
    return list(_find_once(text, tuple(names), own))


@lru_cache(MAX_TEXTS)
def _find_once(text: str, names: Sequence[str], own: frozenset[str]) -> tuple[Match, ...]:
    said = [word for word in find_plain_words(text) if word not in IDLE]
    said = [word for word in said if find_stem(word) not in own]
    plain = " ".join(find_plain_words(text))
    compared = [_compare_name(name, said, plain) for name in names]
    found = [match for match in compared if match.letters > 2 and not match.words <= LINKS]
    return tuple(sorted(found, key=lambda match: (-match.letters, -match.share, len(match.name))))


def find_titles(text: str, names: Sequence[str]) -> frozenset[str]:
    """Find the titles of several words, as plain words, that stand in a text word for word: `play
    up up and away`.
    """
    said = pad_words(text)
    titles = (part.text for name in names for part in _list_parts(name))
    return frozenset(title for title in titles if " " in title and f" {title} " in said)


def pad_words(text: str) -> str:
    """The plain words of a text with a blank before and after each."""
    return f" {' '.join(find_plain_words(text))} "


def _compare_name(name: str, said: Sequence[str], text: str) -> Match:
    heard: set[str] = set()
    letters, share = 0, 0.0
    for part in _list_parts(name):
        found = part.find_said_words(said, text)
        meant_letters = sum(map(len, set(found.values())))
        heard |= set(found)
        letters += meant_letters
        share = max(share, meant_letters / (part.count_letters(text) or 1))
    return Match(name, letters, frozenset(heard), share)


class NamePart(NamedTuple):
    """A title, an artist, or all of a name."""

    text: str
    """Its plain words."""
    words: frozenset[str]
    """The words by which it is called."""

    def count_letters(self, text: str) -> int:
        """Count the letters by which it may be called in a text: of a title of which but one word
        tells something, `Take On Me`, that word is not the whole.
        """
        is_short = len(self.words) > 1 or len(self.text.split()) <= SHORT_TITLE
        return sum(map(len, self.words)) if is_short or self.text in text else len(self.text)

    def find_said_words(self, said: Sequence[str], text: str) -> dict[str, str]:
        """Find the words that were said of it, each with the word of it that it means.

        What people ask with calls a name only as it stands: `whats the code` means no `whats on`.
        """
        if self.words <= LINKS | INTERROGATIVES:
            is_said = f" {self.text} " in f" {text} "
            return {word: word for word in self.words} if is_said else {}
        return {
            word: meant
            for meant in self.words
            for word in said
            if is_near(word, meant) or is_same_in_calendar(word, meant)
        }


@lru_cache(MAX_NAMES)
def _list_parts(name: str) -> tuple[NamePart, ...]:
    """List the parts of a name, those with a hyphen in two ways.

    Recordings are called by their title or by their artist: `Title - Artist.mp3`.
    """
    base = name.rstrip("/").rpartition("/")[2]
    parts = []
    titles = ENDING.sub("", base).split(" - ")
    for part in dict.fromkeys([*titles, *(title.replace("-", " ") for title in titles)]):
        plain = find_plain_words(part)
        words = {word for word in plain if not word.isdigit() or len(word) > 1}
        parts.append(NamePart(" ".join(plain), frozenset(words - LINKS or words)))
    return tuple(parts)


def is_near(one: str, other: str) -> bool:
    if one[:1] != other[:1]:
        return False
    one, other = one.replace("-", ""), other.replace("-", "")
    longest = max(len(one), len(other))
    most = int(longest * MISTYPED_SHARE)
    return one == other or (
        min(len(one), len(other)) > 5
        and DamerauLevenshtein.distance(one, other, score_cutoff=most) <= most
    )
