"""Names of months and weekdays in the five languages that are tried, as the Unicode CLDR has them.

Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

MONTH_NAMES = """
    january januar enero janvier gennaio jan
    february februar febrero fevrier febbraio feb
    march marz marzo mars marzo mar
    april april abril avril aprile apr
    may mai mayo mai maggio
    june juni junio juin giugno jun
    july juli julio juillet luglio jul
    august august agosto aout agosto aug
    september september septiembre septembre settembre sep sept
    october oktober octubre octobre ottobre oct okt
    november november noviembre novembre novembre nov
    december dezember diciembre decembre dicembre dec dez
"""
"""A line a month, without accents: a name in each language, then the abbreviations that are no
word of another language, as `set` for September in Italian is.
"""
MONTHS = {
    name: month for month, names in enumerate(MONTH_NAMES.split("\n")) for name in names.split()
}
"""Name -> number of the month."""
DAY_NAMES = """
    monday montag lunes lundi lunedi
    tuesday dienstag martes mardi martedi
    wednesday mittwoch miercoles mercredi mercoledi
    thursday donnerstag jueves jeudi giovedi
    friday freitag viernes vendredi venerdi
    saturday samstag sabado samedi sabato sonnabend
    sunday sonntag domingo dimanche domenica
"""
DAYS = {name: day for day, names in enumerate(DAY_NAMES.split("\n")) for name in names.split()}
"""Name -> number of the weekday, 1 for Monday."""
MEANINGS = {name: ("month", number) for name, number in MONTHS.items()} | {
    name: ("day", number) for name, number in DAYS.items()
}


def list_by_language(rows: str) -> list[tuple[str, ...]]:
    """List the full names in each language, without the abbreviations that only some rows have."""
    return list(zip(*(row.split() for row in rows.strip().split("\n")), strict=False))


MONTHS_OF, DAYS_OF = list_by_language(MONTH_NAMES), list_by_language(DAY_NAMES)
CELL = re.compile(r"(?P<before>^|[-\u2013/&|,;:(*\u2022]\s*|\d\.?\s?)(?P<word>[^\W\d_]{2,5})\b\.?")
"""The first word of a line or of a value in it, or a word behind a number."""
WORD_OF_LETTERS = re.compile(r"[^\W\d_]+")
MAX_SHORT_LENGTH = 2
"""Letters of abbreviations that are often other words: `so`, `ma`, `di`."""
MIN_ABBREVIATED, MIN_SHORT = 3, 5
"""So many months and weekdays abbreviates a text that has a row of them."""

NAMED = "|".join([*sorted(MONTHS, key=len, reverse=True), "märz", "février", "août", "décembre"])
WRITTEN_DATE = (
    rf"(?<![\w.])\d{{1,2}}(?:st|nd|rd|th|er|\.|º)? (?:of |de )?(?:{NAMED})\b"
    r"\.?,? (?:del? )?\d{4}\b"
    rf"|(?<!\w)(?:{NAMED})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b"
)
"""A day with the name of its month and the year: `9 April 2026`, `3 de mayo de 2026`."""


DOTTED_DATE = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")
SLASHED_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
"""With dots the day stands first; with slashes the one of both that is no month."""


def rewrite_date(text: str) -> str:
    """Write a day with the name of its month, with dots, or with slashes where they leave no doubt,
    as `2026-04-09`; another text is returned as it is.
    """
    if slashed := SLASHED_DATE.fullmatch(text):
        month, day, year = sorted(map(int, slashed.groups()))
        return text if day <= MONTHS["december"] else f"{year}-{month:02}-{day:02}"
    dotted = DOTTED_DATE.fullmatch(text)
    day, month, year = map(int, dotted.groups()) if dotted else read_named_date(text)
    return f"{year}-{month:02}-{day:02}" if 0 < month <= MONTHS["december"] else text


def read_named_date(text: str) -> tuple[int, int, int]:
    """Read the day, month and year of a date with the name of its month; zeros where it is none."""
    plain = strip_accents(text)
    words = re.findall(r"[a-z]+|\d+", plain)
    month = next((MONTHS[word] for word in words if word in MONTHS), 0)
    numbers = [int(word) for word in words if word.isdecimal()]
    if not re.fullmatch(WRITTEN_DATE, text, re.I) or len(numbers) != 2:
        return 0, 0, 0
    return numbers[0], month, numbers[1]


def spell_out(lines: Sequence[str]) -> list[str]:
    """Write out the months and weekdays that lines and values begin with, in the language in which
    the text abbreviates several: `Tue: Ben` is `Tuesday: Ben`.
    """
    cells = {_read_cell(cell) for line in lines for cell in CELL.finditer(line)}
    languages = zip(MONTHS_OF, DAYS_OF, strict=True)
    full = max((_find_full_names(cells, *names) for names in languages), key=len)
    if len(set(full.values())) < MIN_ABBREVIATED:
        return list(lines)

    def rename(cell: re.Match[str]) -> str:
        name = full.get(_read_cell(cell))
        return f"{cell['before']}{name.title()}" if name else cell[0]

    return [CELL.sub(rename, line) for line in lines]


def find_named_in(lines: Sequence[str]) -> set[str]:
    """Find the months and weekdays that stand in lines, abbreviated or not."""
    return MEANINGS.keys() & {
        strip_accents(word) for line in spell_out(lines) for word in WORD_OF_LETTERS.findall(line)
    }


def _read_cell(cell: re.Match[str]) -> tuple[str, bool]:
    """Read the word, and tell whether it stands behind a number, as a month does: `12 mar`."""
    return strip_accents(cell["word"]), cell["before"][:1].isdecimal()


def _find_full_names(
    cells: Iterable[tuple[str, bool]], months: Sequence[str], days: Sequence[str]
) -> Mapping[tuple[str, bool], str]:
    """Find the name that each word abbreviates, without short words where there are few of them."""
    full: dict[tuple[str, bool], str] = {}
    for word, is_behind_number in cells:
        likelier, other = (months, days) if is_behind_number else (days, months)
        if name := find_full_name(word, likelier) or find_full_name(word, other):
            full[word, is_behind_number] = name
    long = {cell: name for cell, name in full.items() if len(cell[0]) > MAX_SHORT_LENGTH}
    return full if len(full) - len(long) >= MIN_SHORT else long


def find_full_name(word: str, names: Iterable[str]) -> str | None:
    """Find the one name that begins with the word and is longer."""
    begun = [name for name in names if name.startswith(word)]
    return begun[0] if len(begun) == 1 and begun[0] != word else None


def strip_accents(text: str) -> str:
    """Write a text in small letters, without accents and signs that are not ASCII."""
    return "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if char.isascii())


def list_calendar_names(word: str) -> list[str]:
    """List all names of the month or weekday that a word names: of `viernes`, or `fridays`."""
    meaning = MEANINGS.get(word) or MEANINGS.get(word.removesuffix("s"))
    return [name for name, meant in MEANINGS.items() if meant == meaning] if meaning else []


def is_same_in_calendar(one: str, other: str) -> bool:
    """Tell whether two words name the same month, or the same weekday: `janvier` is January."""
    return one in MEANINGS and MEANINGS[one] == MEANINGS.get(other)
