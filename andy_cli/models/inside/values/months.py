"""The names of months in the five languages that are tried, as the Unicode CLDR has them. Pure."""

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


def is_same_month(one: str, other: str) -> bool:
    """Tell whether two words name the same month: `janvier` is January, `feb` February."""
    return one in MONTHS and MONTHS[one] == MONTHS.get(other)
