"""Where a text may hold a time, a duration or a size: much less to read. Pure."""

import re
from collections.abc import Iterable, Iterator

from andy_cli.agent.grounding.quantities import SHORT_SIZE, SIZE, sizes
from andy_cli.agent.grounding.tables import MANY
from andy_cli.compiler.expression import Expression

TIMED = Expression(
    r"\d[\s-]?(?:[hms]\b|[hm]\s?\d)|h(?:ou)?rs?\b|\bmin(?:s|ut)?|\bsec(?:s|on)?|stund|heure|hora"
    r"|segund|sekund|\dmin|\dsec",
)

CLOCKED = Expression(r"\d[:h.]\d\d|\d\s?(?:[ap]\.?\s?m\b|uhr|heures|o'clock)")
SIZED = Expression(r"\d[\s-]?(?:[kmgt]i?[bo]?\b|b\b|byte|octet|kilo|mega|giga|tera)")
"""Quick to look for: only what stands around them is read."""


def windows(text: str, sign: Expression, before: int, after: int) -> Iterator[tuple[int, int]]:
    """What stands around each place of the sign; places near each other have one window."""
    first = last = -1
    for match in sign.finditer(text):
        start, end = match.start() - before, match.end() + after
        if first >= 0 and start <= last:
            last = end
            continue
        if first >= 0:
            yield first, last
        first, last = max(0, start), end
    if first >= 0:
        yield first, last


def measured_in(text: str, pattern: Expression) -> Iterator[re.Match[str]]:
    for start, end in windows(text, SIZED, 26, 4):
        yield from pattern.compiled.finditer(text, start, end)


def summed_sizes(results: Iterable[str]) -> list[float]:
    """What the sizes of each result, written with units, come to."""
    totals = []
    for text in results:
        matches = [*measured_in(text, SIZE)] or [*measured_in(text, SHORT_SIZE)]
        if 1 < len(matches) <= MANY:
            for way in (0, -1):
                totals.append(sum(sizes(each[1], each[2])[way].value for each in matches))
    return totals
