"""Does a figure follow from two others? Asked only of what stands nowhere as it is. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from andy_cli.agent.grounding.quantities import Figure
from andy_cli.compiler.expression import Expression

MANY = 150
"""Of more figures than these nearly every other would follow: nothing can be said against it."""

FACTORS = (*range(2, 13), 14, 15, 16, 20, 24, 28, 30, 31, 52, 60, 90, 100, 365, 1000, 1024, 3600)
RECKONED = Expression(
    r"\b(?:i\.e|that(?:['’]s| is)|which is|thus|hence|comes? to|came to|amounts?|adds? up|totals?"
    r"|totalling|altogether|overall|together|combined|sum|averag\w+|mean (?:is|of)|the mean|each"
    r"|fewer|cheaper|dearer|faster|slower|higher|lower|longer|shorter|older|younger|than|remain\w*"
    r"|the rest|difference|gap of|twice|half|third|quarter|double|share|make up|makes up"
    r"|out of|ago|saves?|saving|spent|short|net|profit|loss|ausgegeben|dépensé\w*"
    r"|gastado|así que|increase\w*"
    r"|decrease\w*|grew|rose|fell|dropped|would be|ratio|margin|late|early|apart|ahead"
    r"|insgesamt|zusammen|also|durchschnitt\w*|schnitt|mehr|weniger|übrig"
    r"|soit|moyenne|ensemble|reste\w*|moins|donc|promedio"
    r"|más|menos|quedan?|restan?|es decir|suman?)\b|[=≈~×]|(?:%|percent|prozent) (?:of|der|des"
    r"|du|de|del|von)\b|\bof (?:the |your |its )?\d",
    re.IGNORECASE,
)
"""It says that the figure was worked out, not read."""

SHARE = Expression(r"\d(?:\s?[kmgt]i?b)? (?:out )?of \S{0,3}\d\S*[^.;]{0,12}$", re.IGNORECASE)
"""It follows one figure of another: `115.95 of 134.00`."""
SUMMED = Expression(
    r"\b(?:totals?|altogether|in all|sum|add(?:s|ed)? up|combined|insgesamt|zusammen|gesamt\w*"
    r"|ensemble|en tout|suman?)\b",
    re.IGNORECASE,
)
"""It says that figures were added, and nothing else."""


def sums_up(figure: Figure, values: Sequence[float]) -> bool:
    """Is it one of the values, or two or three of them together?"""
    room = figure.slack * 1.0001
    if any(near(values, figure.value - each, room) for each in (0.0, *values)):
        return True
    few = values if len(values) <= 60 else ()
    return any(near(values, figure.value - a - b, room) for a in few for b in few if a < b)


def rounding(digits: str) -> float:
    """How far a figure may be from what it rounds, by the zeros it ends with: `246,300` by 50."""
    whole = re.sub(r"[^\d]", "", digits)
    if re.search(r"[.,]\d{1,2}$", digits):
        return 0.0
    return 0.5 * 10.0 ** (len(whole) - len(whole.rstrip("0")))


def follows(asked: Iterable[Figure], values: Sequence[float]) -> bool:
    """Is one of them a sum, a difference, a product, a quotient or a percentage of two values, or
    some common multiple or part of one? `values` are in order."""
    return any(from_two(each, values) for each in asked)


def from_two(figure: Figure, values: Sequence[float]) -> bool:
    value, slack = figure.value, figure.slack * 1.0001
    for first in values:
        wanted = [value - first, value + first, first - value]
        if first:
            # Quotients: the room grows or shrinks with the figure they are taken of.
            wanted += [value / first, value * first, value * first / 100]
            rooms = [slack, slack, slack]
            rooms += [slack / abs(first), slack * abs(first), slack * abs(first) / 100]
            if value:
                wanted += [first / value, 100 * first / value]
                room = slack / abs(value)
                rooms += [abs(first / value) * room, abs(100 * first / value) * room]
        else:
            rooms = [slack, slack, slack]
        if any(near(values, each, room) for each, room in zip(wanted, rooms, strict=True)):
            return True
        if any(abs(first * each - value) <= slack for each in FACTORS):
            return True
        if any(abs(first / each - value) <= slack for each in FACTORS):
            return True
    return False


def near(values: Sequence[float], value: float, room: float) -> bool:
    at = bisect_left(values, value - room)
    return at < len(values) and values[at] <= value + room
