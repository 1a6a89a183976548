"""The names of months in the five languages that are tried, as the Unicode CLDR has them. Pure."""

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


NAMED = "|".join([*sorted(MONTHS, key=len, reverse=True), "märz", "février", "août", "décembre"])
WRITTEN_DATE = (
    rf"(?<![\w.])\d{{1,2}}(?:st|nd|rd|th|er|\.|º)? (?:of |de )?(?:{NAMED})\b"
    r"\.?,? (?:del? )?\d{4}\b"
    rf"|(?<!\w)(?:{NAMED})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b"
)
"""A day with the name of its month and the year: `9 April 2026`, `3 de mayo de 2026`."""


def rewrite_date(text: str) -> str:
    """Write a day with the name of its month as `2026-04-09`; another text is returned as it is."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if char.isascii())
    month = next((MONTHS[word] for word in re.findall(r"[a-z]+", plain) if word in MONTHS), 0)
    numbers = [int(number) for number in re.findall(r"\d+", plain)]
    if not re.fullmatch(WRITTEN_DATE, text, re.I) or not month or len(numbers) != 2:
        return text
    return f"{numbers[1]}-{month:02}-{numbers[0]:02}"


def is_same_month(one: str, other: str) -> bool:
    """Tell whether two words name the same month: `janvier` is January, `feb` February."""
    return one in MONTHS and MONTHS[one] == MONTHS.get(other)
