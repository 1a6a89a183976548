"""How many there are of what the results list, by its kind. Pure."""

import re
from collections.abc import Iterator

from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.tables import NAMED, Table
from andy_cli.agent.grounding.vocabulary import ITEMS

CORE = frozenset(["file", "folder", "song", "mail", "event", "task", "result"])
"""Families whose words in an answer are always about results."""


def totals_of(index: Index, noun: str) -> set[int]:
    """How long the lists are, together too, and how many different values a column has."""
    if found := special(noun, index) or folders_of(noun, index):
        return found
    found = {len(each.rows) for each in index.tables if each.rows and lists_such(each, noun)}
    found |= {len(index.results), len(index.evidence.deeds)}
    longest = [max((len(each.rows) for each in tables), default=0) for tables in index.by_result]
    if len(longest) > 1:
        found.add(sum(longest))
    for table in index.tables:
        found.update(different(table, singular(noun)))
        found.update(kinds_of(table, noun))
    return found - {0}


def folders_of(noun: str, index: Index) -> set[int]:
    if ITEMS.get(noun) != "folder":
        return set()
    return {sum(map(is_folder, map(str.casefold, each.rows))) for each in index.tables} - {0}


def lists_such(table: Table, noun: str) -> bool:
    """Is each of its rows one of these? Not where folders are marked as such, nor where several
    lines are of one file."""
    family = ITEMS.get(noun)
    if family in {"file", "song"} and singular(noun) not in {"item", "entry", "entrie", "element"}:
        return not any(map(is_folder, map(str.casefold, table.rows))) and not (
            family == "file" and repeats_names(table)
        )
    return True


def different(table: Table, stem: str) -> Iterator[int]:
    """How many values the columns of this name have."""
    for key, values in table.columns.items():
        if stem in folded(key):
            yield len({str(each) for each in values})
            yield sum(len(each) for each in values if isinstance(each, list))


def repeats_names(table: Table) -> bool:
    found = [NAMED.search(each) for each in table.rows]
    names = [each[0] for each in found if each]
    return len(names) == len(found) and len(set(names)) < len(names)


MEDIA = {
    "photo": "jpe?g|png|heic|gif|webp|tiff?|bmp|raw",
    "picture": "jpe?g|png|heic|gif|webp|tiff?|bmp|svg",
    "image": "jpe?g|png|heic|gif|webp|tiff?|bmp|svg|iso", "foto": "jpe?g|png|heic|gif|webp",
    "bilder": "jpe?g|png|heic|gif|webp", "video": "mp4|mkv|avi|mov|webm|m4v",
    "script": "sh|py|js|ps1|bat|rb|pl", "recording": "mp3|wav|m4a|ogg|flac|mp4",
    "log": "log", "pdf": "pdf", "mp3": "mp3", "csv": "csv", "png": "png", "jpg": "jpe?g",
}  # fmt: skip


def special(noun: str, index: Index) -> set[int]:
    """`two photos` are counted by their file names."""
    ending = MEDIA.get(singular(noun))
    if not ending:
        return set()
    pattern = re.compile(rf"\.(?:{ending})\b", re.IGNORECASE)
    found = {sum(bool(pattern.search(row)) for row in each.rows) for each in index.tables}
    return found - {0}


def kinds_of(table: Table, noun: str) -> Iterator[int]:
    """Files and folders of one listing are counted apart."""
    family = ITEMS.get(noun)
    if family not in {"file", "folder", "song"}:
        return
    rows = [each.casefold().rstrip() for each in table.rows]
    folders = sum(is_folder(each) for each in rows)
    if folders:
        yield folders if family == "folder" else len(rows) - folders
    ending = f".{singular(noun)}"
    if found := sum(ending in each for each in rows):
        yield found
    if family == "song":
        yield sum(bool(re.search(r"\.(?:mp3|wav|flac|ogg|m4a|opus|aac)\b", each)) for each in rows)


def is_folder(row: str) -> bool:
    return row.endswith("/") or bool(
        re.search(
            r"\bd[rwx-]{9}|\[dir\]|<dir>|=(?:dir|directory|folder)\b|isdir\w*=true|[/\\]\s", row
        )
    )
