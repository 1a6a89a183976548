"""Names of months and weekdays in the five languages that are tried, as the Unicode CLDR has them.

Pure.
"""

import re
import unicodedata

NAMES = """
    january jan januar enero janvier gennaio
    february feb februar febrero fevrier febbraio
    march mar marz marzo mars
    april apr abril avril aprile
    may mai mayo maggio
    june jun juni junio juin giugno
    july jul juli julio juillet luglio
    august aug agosto aout
    september sep sept septiembre septembre settembre
    october oct oktober okt octubre octobre ottobre
    november nov noviembre novembre
    december dec dezember dez diciembre decembre dicembre
"""
"""A line a month, without accents; abbreviations in English and German alone: elsewhere some are
words of another language, as `set` for September in Italian.
"""
MONTHS = {name: month for month, names in enumerate(NAMES.split("\n")) for name in names.split()}
"""Name -> number of the month."""
DAY_NAMES = """
    monday montag lunes lundi lunedi
    tuesday dienstag martes mardi martedi
    wednesday mittwoch miercoles mercredi mercoledi
    thursday donnerstag jueves jeudi giovedi
    friday freitag viernes vendredi venerdi
    saturday samstag sonnabend sabado samedi sabato
    sunday sonntag domingo dimanche domenica
"""
DAYS = {name: day for day, names in enumerate(DAY_NAMES.split("\n")) for name in names.split()}
"""Name -> number of the weekday, 1 for Monday."""
MEANINGS = {name: ("month", number) for name, number in MONTHS.items()} | {
    name: ("day", number) for name, number in DAYS.items()
}


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
    plain = "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if char.isascii())
    words = re.findall(r"[a-z]+|\d+", plain)
    month = next((MONTHS[word] for word in words if word in MONTHS), 0)
    numbers = [int(word) for word in words if word.isdecimal()]
    if not re.fullmatch(WRITTEN_DATE, text, re.I) or len(numbers) != 2:
        return 0, 0, 0
    return numbers[0], month, numbers[1]


def list_calendar_names(word: str) -> list[str]:
    """List all names of the month or weekday that a word names: of `viernes`, or `fridays`."""
    meaning = MEANINGS.get(word) or MEANINGS.get(word.removesuffix("s"))
    return [name for name, meant in MEANINGS.items() if meant == meaning] if meaning else []


def is_same_in_calendar(one: str, other: str) -> bool:
    """Tell whether two words name the same month, or the same weekday: `janvier` is January."""
    return one in MEANINGS and MEANINGS[one] == MEANINGS.get(other)
