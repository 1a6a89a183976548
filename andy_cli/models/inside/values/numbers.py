"""Numbers in what a user said, in digits or words, and which of several is meant. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from andy_cli.models.inside.values.words import find_plain_words, find_things

LANGUAGES = ("en", "de", "es", "fr", "it")
UNITS = frozenset(["zero", "one", "eins"])
"""Words for nought and one that are no other words."""
HOMONYMS = frozenset("one once due sei elf neuf acht mil cent sept".split())
"""Numbers that are other words too, in their language or another of these: `once` is eleven in
Spanish."""
MIN_LETTERS = 3
"""Of a number: `o` and `oh` are no noughts."""
MAX_CHARACTERS = 2_000
"""Of a text in which spelled numbers are looked for."""
MAX_TEXTS = 256
"""Texts whose spelled numbers are kept: a plan looks for those of the same few parts again."""
BEHIND_ADVERB = "the|my|la|las|el|los|mi|mis|le|les|ma|mes|il|lo|gli|die|das|den"
"""Words after which a list has an entry, but none is after `first`: `prima la lista`."""
ORDINALS = tuple(
    re.compile(rf"\b(?:{row})\b(?! \d| (?:{BEHIND_ADVERB})\b)")
    for row in (
        "first|erste[nrs]?|primer[oa]?|premi(?:er|ere)|prim[oa]",
        "second|zweite[nrs]?|segund[oa]|deuxieme|seconde|second[oa]",
        "third|dritte[nrs]?|tercer[oa]?|troisieme|terz[oa]",
        "fourth|vierte[nrs]?|cuart[oa]|quatrieme|quart[oa]",
        "fifth|funfte[nrs]?|quint[oa]|cinquieme",
        "sixth|sechste[nrs]?|sext[oa]|sixieme|sest[oa]",
        "seventh|siebte[nrs]?|septim[oa]|septieme|settim[oa]",
        "eighth|achte[nrs]?|octav[oa]|huitieme|ottav[oa]",
        "ninth|neunte[nrs]?|noven[oa]|neuvieme|non[oa]",
        "tenth|zehnte[nrs]?|decim[oa]|dixieme",
    )
)
"""From first to tenth, in five languages, without accents."""
NUMBERED = re.compile(r"\b(\d+)(?:st|nd|rd|th|e|eme|er|ere)\b|\b(?:number|track|song|file) (\d+)\b")
"""A place in digits: `the 3rd`, `track 3`."""
LAST = re.compile(r"\b(?:last|latest|final|letzte[nrs]?|derni(?:er|ere)|ultim[oa])\b")

ANY = re.compile(
    r"\b(?:any|random|some (?:one|song|track|file|of|music)|one of"
    r"|(?:etwas|irgendwelche) musik|irgendein (?:lied|song)"
    r"|algo de musica|(?:cualquier|alguna) cancion"
    r"|n'importe quelle chanson|de la musique|qual(?:che|siasi) canzone|un po di musica)\b"
)
"""Said where it does not matter which one, in five languages, without accents."""


LINE = "lines?|zeilen?|lineas?|lignes?|rig(?:a|he)"
"""Words for a line of a text, in the five languages that are tried, without accents."""
GROUPED = (
    r"[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d\d?|(?:\.\d{3}){2,}|\.\d00"
    r"|(?:[ \u00a0\u202f]\d{3})*[ \u00a0\u202f]000(?:,\d\d?)?)(?!\d)"
)
"""Thousands with commas, with dots where more than one, two noughts or a comma shows them, or with
blanks where three noughts do.
"""
DIGITS = re.compile(
    rf"(?<![\w.,/-])-?(?:(?P<grouped>{GROUPED})|\d+(?:\.\d+|,\d{{1,2}}(?!\d))?)"
    r"(?=%|\b)(?![\w/]*[\w/]|[.,-]\d)"
)
"""Also `36,5`."""
DOTTED = re.compile(r"(?<![\w.,/-])[1-9]\d{0,2}\.\d{3}(?![\w/]|[.,-]\d)")
"""Thousands where a whole number is wanted: `1.250`."""


TOKEN = re.compile(r"[^\W\d_]+|[^\w\s]")


NEGATIVE = re.compile(r"\b(?:minus|menos|moins|meno) $", re.I)
HUNDRED = 100
PERCENT = re.compile(r"\b(?:por|pour|per) $", re.I)
"""Before a hundred that makes a number a share."""
HALF_ENDING = "einhalb"
"""Of German words: `zweieinhalb`."""
HALF = re.compile(r"(?: [^\W\d_]+)? (?:and a half|y medi[ao]|et demie?|e mezz[ao])\b", re.I)
FRACTIONS = (
    (0.5, HALF),
    (0.25, re.compile(r"(?: [^\W\d_]+)? and a quarter\b", re.I)),
    (0.75, re.compile(r"(?: [^\W\d_]+)? and three quarters\b", re.I)),
)
"""Parts of one that are added to the number before them."""
HOUR = re.compile(r"(?<![\w:.,])(?:(\w{1,9})(?::\d\d)? ?([ap])\.?m\b|(\d\d?):00\b)", re.I)


def find_numbers(text: str) -> list[tuple[float, int, int]]:
    """Find the numbers a text names, in digits or words, with where they stand."""
    text = without_things(text)
    found = [(read_digits(match), *match.span()) for match in DIGITS.finditer(text)]
    found += find_spelled_numbers(text)
    extended = sorted((_extend_number(text, *number) for number in found), key=lambda it: it[1])
    spans = [(start, end) for _, start, end in extended]
    return [number for number in extended if not is_within_other(number[1:], spans)]


def read_digits(match: re.Match[str]) -> float:
    """Read a number in digits: `3,200` and `240.000` are thousands, `36,5` is not."""
    if not match["grouped"]:
        return float(match[0].replace(",", "."))
    mark = next(sign for sign in match["grouped"] if not sign.isdecimal())
    return float(match[0].replace(mark, "").replace(",", "."))


def find_dotted_thousands(text: str) -> list[tuple[float, int, int]]:
    """Find whole numbers that would else be read as broken ones: `1.250`."""
    found = DOTTED.finditer(without_things(text))
    return [(float(match[0].replace(".", "")), *match.span()) for match in found]


def find_long_numbers(text: str) -> list[tuple[float, int, int]]:
    """Find what is read as a phone but may be a number: digits alone, of which the first counts."""
    return [
        (float(thing.text), thing.start, thing.end)
        for thing in find_things(text)
        if thing.kind == "phone" and thing.text.isdecimal() and thing.text[0] in "123456789"
    ]


def write_number(number: float) -> str:
    """Write all digits of a number: 48250300, never 4.82503e+07."""
    return f"{number:.0f}" if number.is_integer() else f"{number:.12g}"


def _extend_number(text: str, number: float, start: int, end: int) -> tuple[float, int, int]:
    """Add the words beside a number that are part of it: `minus two`, `two and a half`."""
    for part, pattern in FRACTIONS:
        if fraction := pattern.match(text, end):
            number, end = number + part, fraction.end()
    if (sign := NEGATIVE.search(text[:start])) and number > 0:
        number, start = -number, sign.start()
    return number, start, end


def find_hours(text: str) -> list[tuple[float, int, int]]:
    """Find the full hours that a text names, from 0 to 23: `ten pm` is 22."""
    found = []
    for match in HOUR.finditer(text):
        said, half, full = match.groups()
        hour = int(said or full) if (said or full).isdecimal() else read_word(said)
        if hour is not None and hour < (13 if half else 24):
            hour = hour % 12 + 12 * (half in "pP") if half else hour
            found.append((float(hour), *match.span()))
    return found


def read_word(word: str) -> float | None:
    """Read a number that is one word, as `ten`; None if it is none."""
    return next((number for number, *_ in find_spelled_numbers(word)), None)


class NumberToken(NamedTuple):
    """A word or a sign, as `text_to_num` reads it."""

    match: re.Match[str]

    def text(self) -> str:
        return self.match[0].removesuffix(HALF_ENDING)

    def nt_separated(self, previous: "NumberToken") -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


class SpelledNumber(NamedTuple):
    """A number in letters, and where it stands."""

    value: float
    start: int
    end: int
    is_ordinal: bool


@lru_cache(MAX_TEXTS)
def find_spelled_numbers(text: str) -> Sequence[tuple[float, int, int]]:
    """Find the numbers that are spelled in letters, in five languages; of those that overlap the
    longest. None where the package that reads them is not installed."""
    found = list(read_spelled_numbers(text))
    ordinals = {(number.start, number.end) for number in found if number.is_ordinal}
    cardinals = {
        (number.start, number.end): number.value for number in found if not number.is_ordinal
    }
    spans = [span for span in cardinals if span not in ordinals]
    return [(cardinals[span], *span) for span in spans if not is_within_other(span, spans)]


def read_spelled_numbers(text: str) -> Iterator[SpelledNumber]:
    """Read a text in each of the languages; single letters and articles are no numbers."""
    try:
        from text_to_num import find_numbers as find_occurrences
    except ImportError:
        return
    tokens = [NumberToken(match) for match in TOKEN.finditer(text[:MAX_CHARACTERS])]
    for language in LANGUAGES:
        for found in find_occurrences(tokens, language, 0.0):
            start, end = tokens[found.start].match.start(), tokens[found.end - 1].match.end()
            said = text[start:end].lower()
            value = found.value + 0.5 * said.endswith(HALF_ENDING)
            is_article = value <= 1 and not found.is_ordinal and said not in UNITS
            if end - start < MIN_LETTERS or is_article or is_share(found.value, text, start):
                continue
            yield SpelledNumber(value, start, end, found.is_ordinal)


def is_share(value: float, text: str, start: int) -> bool:
    """Tell whether a hundred makes the number before it a share: `102 por ciento`."""
    return value == HUNDRED and PERCENT.search(text[:start]) is not None


def is_within_other(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    return any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in spans)


def find_ordinal(text: str) -> int | None:
    """Find which of several is meant: 0 for the first, -1 for the last; none where it is a line."""
    plain = " ".join(find_plain_words(without_things(text)))
    return None if names_line(plain) else find_place(plain)


def names_line(plain: str) -> bool:
    """Tell whether words without accents speak of lines of a text."""
    return re.search(rf"\b(?:{LINE})\b", plain) is not None


def find_place(plain: str) -> int | None:
    """Find the place that is said in words without accents: 0 for the first, -1 for the last."""
    said = [place for place, pattern in enumerate(ORDINALS) if pattern.search(plain)]
    if said:
        return said[0]
    if match := NUMBERED.search(plain):
        return int(match[1] or match[2]) - 1
    if LAST.search(plain):
        return -1
    return 0 if ANY.search(plain) else None


def without_things(text: str, filler: str = " ") -> str:
    """The text with blanks where addresses, files and quotations stood: places stay the same."""
    for thing in find_things(text):
        if thing.kind != "sum":
            text = text[: thing.start] + filler * (thing.end - thing.start) + text[thing.end :]
    return text
