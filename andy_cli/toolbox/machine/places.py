"""The places whose time is known: cities of time zones, and countries, in several languages.

The names in English are those of the time zones; others come from the Unicode CLDR, where the
package Babel is there.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "nl", "pl")
AREAS = frozenset(
    """Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific""".split()
)
"""Areas of time zones whose last part is a city."""


def fold_name(name: str) -> str:
    """Write a name as it is compared: lower case, no accents, blanks for underscores."""
    split = unicodedata.normalize("NFKD", name.replace("_", " ").casefold())
    return "".join(character for character in split if not unicodedata.combining(character))


def _find_countries(zones: Sequence[str], countries: Mapping[str, str]) -> dict[str, str]:
    """Find the time zone of each country that has but one time. `countries` is by zone."""
    by_country = defaultdict[str, list[str]](list)
    for zone, country in countries.items():
        if zone in zones:
            by_country[country].append(zone)
    return {country: own[0] for country, own in by_country.items() if _have_same_time(sorted(own))}


@cache
def list_places() -> Mapping[str, str]:
    """Name of a place -> its time zone; takes a third of a second at the first call."""
    zones = [zone for zone in sorted(available_timezones()) if zone.partition("/")[0] in AREAS]
    places = {fold_name(zone.rpartition("/")[2]): zone for zone in reversed(zones)}
    try:
        from babel import Locale
        from babel.core import get_global
    except ImportError:
        return places
    countries = _find_countries(zones, get_global("zone_territories"))
    for language in LANGUAGES:
        locale = Locale(language)
        for country, zone in countries.items():
            places.setdefault(fold_name(str(locale.territories.get(country, ""))), zone)
        for zone, names in locale.time_zones.items():
            if zone in zones and names.get("city"):
                places.setdefault(fold_name(str(names["city"])), str(zone))
    places.pop("", None)
    return places


def _have_same_time(zones: Sequence[str]) -> bool:
    if len(zones) == 1:
        return True
    now = datetime.now().astimezone()
    return len({now.astimezone(ZoneInfo(zone)).utcoffset() for zone in zones}) == 1
