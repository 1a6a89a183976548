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
    for zone_name, country in countries.items():
        if zone_name in zones:
            by_country[country].append(zone_name)
    return {
        country: country_zones[0]
        for country, country_zones in by_country.items()
        if _have_same_time(sorted(country_zones))
    }


@cache
def list_places() -> Mapping[str, str]:
    """Name of a place -> its time zone; takes a third of a second at the first call."""
    zones = [
        zone_name
        for zone_name in sorted(available_timezones())
        if zone_name.partition("/")[0] in AREAS
    ]
    places = {fold_name(zone_name.rpartition("/")[2]): zone_name for zone_name in reversed(zones)}
    try:
        from babel import Locale
        from babel.core import get_global
    except ImportError:
        return places
    countries = _find_countries(zones, get_global("zone_territories"))
    for language in LANGUAGES:
        locale = Locale(language)
        for country, zone_name in countries.items():
            places.setdefault(fold_name(str(locale.territories.get(country, ""))), zone_name)
        for zone_name, names in locale.time_zones.items():
            if zone_name in zones and names.get("city"):
                places.setdefault(fold_name(str(names["city"])), str(zone_name))
    places.pop("", None)
    return places


def _have_same_time(zones: Sequence[str]) -> bool:
    if len(zones) == 1:
        return True
    current_time = datetime.now().astimezone()
    return (
        len({current_time.astimezone(ZoneInfo(zone_name)).utcoffset() for zone_name in zones}) == 1
    )
