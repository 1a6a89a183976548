"""The names of months in the five languages that are tried, by the Unicode CLDR."""

from collections.abc import Mapping
from functools import cache

from andy_cli.models.inside.values.words import find_plain_words

LANGUAGES = ("en", "de", "es", "fr", "it")
SHORTENED = ("en", "de")
"""Languages whose abbreviations are no words of another one: `set` is September in Italian."""


def is_same_month(one: str, other: str) -> bool:
    """Tell whether two words name the same month: `janvier` is January, `feb` February."""
    months = load_months()
    return one in months and months[one] == months.get(other)


@cache
def load_months() -> Mapping[str, int]:
    """Word without accents -> number of the month; none where the package Babel is missing."""
    try:
        from babel import Locale  # 0.05 s with the names
    except ImportError:
        return {}
    months: dict[str, int] = {}
    for language in LANGUAGES:
        forms = Locale(language).months["format"]
        kinds = ("wide", "abbreviated") if language in SHORTENED else ("wide",)
        for kind in kinds:
            for number, name in forms[kind].items():
                months.setdefault(find_plain_words(name)[0], number)
    return months
