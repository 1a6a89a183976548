"""Find which entry of a list is meant by what it is beside the others: the newest, the longest; and
tell where nothing says which. Pure.

superlatives.toml has the words.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from andy_cli.models.inside.values.calendar_words import MONTHS
from andy_cli.models.inside.values.entries import ListedEntry
from andy_cli.models.inside.values.numbers import find_ordinal, without_things
from andy_cli.models.inside.values.templates import list_first_words
from andy_cli.models.inside.values.words import LINKS, find_plain_words

ARTICLES = "la|el|le|les|il|lo|los|las"
"""Words between an entry and what is said of it: `le fichier le plus long`."""


class Superlative(NamedTuple):
    pattern: re.Pattern[str]
    keys: Sequence[str]
    """The fields of a record that may tell; the first one that it has does."""
    is_highest: bool

    def find_extreme(self, entries: Sequence[ListedEntry]) -> str | None:
        """Find the name of the entry that is beyond all others; None where nothing tells, or two
        are alike."""
        ranked = [(rank, entry.name) for entry in entries if (rank := self._rank(entry.record))]
        if not ranked:
            return None
        highest, name = (max if self.is_highest else min)(ranked)
        is_alone = [rank for rank, _ in ranked].count(highest) == 1
        return name if is_alone else None

    def _rank(self, record: Mapping[str, object]) -> tuple[float, str] | None:
        """Rank a record by a number, or by a date as ISO 8601 writes it."""
        value = next((record[key] for key in self.keys if key in record), None)
        if isinstance(value, int | float):
            return value, ""
        return (0.0, value) if isinstance(value, str) and value[:4].isdigit() else None


@cache
def load_words() -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Load what entries are called, as a regular expression, and the table of each superlative."""
    text = Path(__file__).with_name("superlatives.toml").read_text(encoding="utf-8")
    entries, *rows = tomllib.loads(text.replace("\n|", "|")).values()
    return entries, rows


@cache
def load_superlatives() -> tuple[Superlative, ...]:
    entries, rows = load_words()
    return tuple(
        Superlative(
            re.compile(
                rf"\b(?:{row['words']})(?= (?:{entries})\b|$)"
                rf"|\b(?:{entries}) (?:(?:{ARTICLES}) )?(?:{row['words']})\b"
            ),
            row["keys"],
            row["is_highest"],
        )
        for row in rows
    )


def find_superlative(text: str) -> Superlative | None:
    """Find what is said of an entry beside the others: `the newest file`, `der längste Song`."""
    plain = " ".join(find_plain_words(without_things(text)))
    return next((one for one in load_superlatives() if one.pattern.search(plain)), None)


def says_which(text: str) -> bool:
    """Tell whether a text says which file is meant: `open the file` and `read it` do not."""
    # `May` may be what a file is called.
    telling = set(find_plain_words(text)) - (LINKS - MONTHS.keys()) - list_first_words()
    nouns, _ = load_words()
    return any(not re.fullmatch(nouns, word) for word in telling)


def points_at_entry(text: str) -> bool:
    """Tell whether a text says which one of a list is meant: the second, the newest."""
    return find_ordinal(text) is not None or find_superlative(text) is not None
