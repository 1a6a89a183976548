"""Phrases of people who want a command, with a gap for its value."""

import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from andy_cli.models.inside.values.words import find_words


class Templates(NamedTuple):
    """The phrases of people who want a command, with a gap for the value."""

    texts: tuple[str, ...]
    words: frozenset[str]
    """Those of several templates: no value begins or ends with one."""


GAP = "..."
ALIKE = 0.008
"""Nearness to a template in which two pieces do not differ; the shorter is the value."""
VALUE = re.compile(r"\[[^\]]*\]")


@cache
def find_templates(examples: tuple[str, ...]) -> Templates | None:
    """Make templates of the examples that have a value in brackets; None if none has."""
    texts = tuple(VALUE.sub(GAP, example) for example in examples if "[" in example)
    if not texts:
        return None
    counted = Counter(word for text in texts for word in {*find_words(text)})
    return Templates(texts, frozenset(word for word, times in counted.items() if times > 1))
