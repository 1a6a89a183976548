"""Phrases of people who want a command, with a gap for its value."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from andy_cli.models.inside.values.words import find_plain_words, find_words
from andy_cli.phrases import load_phrases


class Templates(NamedTuple):
    """The phrases of people who want a command, with a gap for the value."""

    texts: tuple[str, ...]
    words: frozenset[str]
    """Words of several templates: no value begins or ends with one."""


GAP = "..."
ALIKE = 0.008
"""Nearness to a template in which two pieces do not differ; the shorter is the value."""
VALUE = re.compile(r"\[[^\]]*\]")
NAME_LETTERS = 4
"""Of a word that may be what something is called; shorter ones are in too many names."""
OFTEN = 4
"""Phrases that begin with a word which wishes begin with."""
MOSTLY_SHARE = 0.4
"""The part of the phrases with the word that these have to be."""


@cache
def find_templates(examples: tuple[str, ...]) -> Templates | None:
    """Make templates of the examples that have a value in brackets; None if none has."""
    gapped = (VALUE.sub(GAP, example) for example in examples if "[" in example)
    texts = tuple(text for text in gapped if text != GAP)
    if not texts:
        return None
    counted = Counter(word for text in texts for word in set(find_words(text)))
    return Templates(texts, frozenset(word for word, times in counted.items() if times > 1))


@cache
def list_spoken_words() -> frozenset[str]:
    """List the words that people say who want a tool, beside the values."""
    return find_spoken_words(said for phrases in load_phrases().values() for said in phrases)


@cache
def list_first_words() -> frozenset[str]:
    """List the words that wishes mostly begin with."""
    return find_first_words(said for phrases in load_phrases().values() for said in phrases)


def find_first_words(phrases: Iterable[str]) -> frozenset[str]:
    """Find the words that phrases mostly begin with, where they have them."""
    spoken = [find_plain_words(phrase) for phrase in phrases]
    first = Counter(words[0] for words in spoken if words)
    known = Counter(word for words in spoken for word in set(words))
    return frozenset(
        word for word, count in first.items() if count >= max(OFTEN, MOSTLY_SHARE * known[word])
    )


def find_spoken_words(phrases: Iterable[str]) -> frozenset[str]:
    spoken = (VALUE.sub(" ", phrase) for phrase in phrases)
    return frozenset(word for text in spoken for word in find_plain_words(text))
