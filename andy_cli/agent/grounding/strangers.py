"""Entries of a list or a table that the results do not know beside others that they know. Pure."""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Entry
from andy_cli.agent.grounding.reading import Reading
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.vocabulary import EXTENSIONS, KNOWN_NAMES, LABELS, STOP


def strangers(reading: Reading, group: Sequence[Entry], *, listed: bool) -> Iterator[Claim]:
    """Entries the results do not know, in a list most of whose entries they know."""
    names = [each for each in group if is_name(reading, each)]
    if len(names) < 2:
        return
    known = [knows(reading, each) for each in names]
    for entry, good in zip(names, known, strict=True):
        others = len(names) - 1
        backed = sum(known) - good
        needed = others if entry.label or others < 3 else others * 0.6
        verbatim = backed == others and (others > 1 or not listed)
        if good or backed < needed or (entry.label and " " not in entry.text):
            continue
        if not coded(entry.text) and reworded(reading, entry, verbatim):
            continue
        yield Claim(entry.text, entry.start, entry.end, "item")


def knows(reading: Reading, entry: Entry) -> bool:
    name = folded(entry.text)
    return reading.index.holds(name) if coded(name) else reading.index.says(name)


def is_name(reading: Reading, entry: Entry) -> bool:
    words = words_of(folded(entry.text))
    if not words or len(words) > 9 or "\0" in entry.text or is_file_name(entry.text):
        return False
    telling = [each for each in words if each not in STOP and not each[0].isdigit()]
    return bool(telling) and not all(each in LABELS for each in telling)


def reworded(reading: Reading, entry: Entry, verbatim: bool) -> bool:
    """Its own words for something known: a title is altered by one word, prose by most."""
    telling = [each for each in words_of(folded(entry.text)) if each not in STOP]
    strange = [
        each
        for each in telling
        if each not in reading.index.words and singular(each) not in reading.index.words
    ]
    words = [each for each in entry.text.split() if each.casefold() not in STOP]
    title = all(not each[0].isalpha() or each[0].isupper() for each in words)
    if any(each[0].isdigit() for each in strange):
        return False
    if all(each in KNOWN_NAMES or each in LABELS for each in strange):
        return True
    if not strange or (verbatim and not entry.label):
        return not strange
    return not title and len(strange) < 0.6 * len(telling)


def coded(text: str) -> bool:
    """`id_rsa_old`, `aws_s3_bucket.logs`: a name in one piece, of several parts."""
    return re.fullmatch(r"[a-z0-9]+(?:[_.]+[a-z0-9]+)+", text) is not None


def is_file_name(text: str) -> bool:
    ending = text.rpartition(".")[2].lower()
    if re.search(r"[`\"*:]|\s(?:a|an|the|is|are|was|were|has|in|of)\s", text):
        # A sentence that ends with a name is none.
        return False
    return ending in EXTENSIONS and "." in text and "/" not in text and len(text) < 200
