"""Numbers in what a user said, in digits or words, and which of several is meant. Pure."""

import re

from andy_cli.models.inside.values.words import find_plain_words, find_things

NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
OTHER_NUMBER_WORDS = tuple(
    line.split()
    for line in (
        "zwei drei vier f\u00fcnf sechs sieben acht neun zehn elf zw\u00f6lf",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "due tre quattro cinque sei sette otto nove dieci undici dodici",
    )
)
"""From two to twelve; one is an article in all of them."""
HOMONYMS = frozenset("once due sei elf neuf acht".split())
"""Numbers that are other words in another of these languages, or in their own."""
SCALES = {"hundred": 100, "thousand": 1000}
TENS = {
    word: 10 * at
    for at, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
BEHIND_ADVERB = "the|my|la|las|el|los|mi|mis|le|les|ma|mes|il|lo|gli|die|das|den"
"""Words behind which a list has an entry, but none is behind `first`: `prima la lista`."""
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
LAST = re.compile(r"\b(?:last|latest|final|letzte[nrs]?|derni(?:er|ere)|ultim[oa])\b")


LINE = "lines?|zeilen?|lineas?|lignes?|rig(?:a|he)"
"""Words for a line of a text, in the five languages that are tried, without accents."""
DIGITS = re.compile(r"(?<![\w.,/-])-?\d+(?:\.\d+|,\d{1,2}(?!\d))?(?=%|\b)(?![\w/]*[\w/]|[.,-]\d)")
"""Also `36,5`; three digits behind a comma may be thousands."""


ONES = "|".join(NUMBER_WORDS[1:10])
SPELLED = re.compile(
    rf"\b(?:(?:{'|'.join(NUMBER_WORDS[1:])}) (?:hundred|thousand)"
    rf"|(?:twenty|{'|'.join(TENS)})[- ](?:{ONES})"
    r"|[^\W\d_]+)\b",
    re.I,
)


NEGATIVE = re.compile(r"\b(?:minus|menos|moins|meno) $", re.I)
HALF = re.compile(r"(?: [^\W\d_]+)? (?:and a half|y medi[ao]|et demie?|e mezz[ao])\b", re.I)
HOUR = re.compile(r"(?<![\w:.,])(?:(\w{1,9})(?::\d\d)? ?([ap])\.?m\b|(\d\d?):00\b)", re.I)


def find_numbers(text: str) -> list[tuple[float, int, int]]:
    """Find the numbers a text names, in digits or words, with where they stand."""
    text = without_things(text)
    found = [(float(match[0].replace(",", ".")), *match.span()) for match in DIGITS.finditer(text)]
    for match in SPELLED.finditer(text):
        if (number := read_number(match[0])) is not None:
            found.append((float(number), *match.span()))
    return sorted((_extend_number(text, *number) for number in found), key=lambda number: number[1])


def _extend_number(text: str, number: float, start: int, end: int) -> tuple[float, int, int]:
    """Add the words beside a number that are part of it: `minus two`, `two and a half`."""
    if half := HALF.match(text, end):
        number, end = number + 0.5, half.end()
    if (sign := NEGATIVE.search(text[:start])) and number > 0:
        number, start = -number, sign.start()
    return number, start, end


def find_hours(text: str) -> list[tuple[float, int, int]]:
    """Find the full hours that a text names, from 0 to 23: `ten pm` is 22."""
    found = []
    for match in HOUR.finditer(text):
        said, half, full = match.groups()
        hour = int(said or full) if (said or full).isdecimal() else read_number(said)
        if hour is not None and hour < (13 if half else 24):
            hour = hour % 12 + 12 * (half in "pP") if half else hour
            found.append((float(hour), *match.span()))
    return found


def read_number(word: str) -> float | None:
    """Read a number that is spelled in letters, as `twenty-one`; None if it is none."""
    word = word.lower()
    whole = word.removesuffix("einhalb")
    number = _read_whole_number(whole)
    return number + 0.5 if number and whole != word else number


def _read_whole_number(word: str) -> int | None:
    first, _, second = word.replace("-", " ").partition(" ")
    if second in SCALES and (base := _read_whole_number(first)) is not None:
        return base * SCALES[second]
    if first in TENS or first == "twenty":
        ten = TENS.get(first, 20)
        return ten + (NUMBER_WORDS.index(second) if second in NUMBER_WORDS else 0)
    if first in NUMBER_WORDS:
        return NUMBER_WORDS.index(first)
    return next((row.index(first) + 2 for row in OTHER_NUMBER_WORDS if first in row), None)


def is_homonym(word: str) -> bool:
    """Tell whether a number in letters may be another word: `once` is eleven in Spanish."""
    return word.lower() in HOMONYMS


def find_ordinal(text: str) -> int | None:
    """Find which of several is meant: 0 for the first, -1 for the last; none where it is a line."""
    plain = " ".join(find_plain_words(without_things(text)))
    return None if re.search(rf"\b(?:{LINE})\b", plain) else find_place(plain)


def find_place(plain: str) -> int | None:
    """Find the place that is said in words without accents: 0 for the first, -1 for the last."""
    said = [place for place, pattern in enumerate(ORDINALS) if pattern.search(plain)]
    if said:
        return said[0]
    if match := re.search(
        r"\b(\d+)(?:st|nd|rd|th|e|eme|er|ere)\b|\b(?:number|track|song|file) (\d+)\b", plain
    ):
        return int(match[1] or match[2]) - 1
    if LAST.search(plain):
        return -1
    if re.search(
        r"\b(?:any|random|some)(?: one| song| track| file| of)\b|\bone of\b|\bany\b", plain
    ):
        return 0
    return None


def without_things(text: str, filler: str = " ") -> str:
    """The text with blanks where addresses, files and quotations stood: places stay the same."""
    for thing in find_things(text):
        if thing.kind != "sum":
            text = text[: thing.start] + filler * (thing.end - thing.start) + text[thing.end :]
    return text
