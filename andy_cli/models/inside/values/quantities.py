"""Quantities that are said in other words than a number: durations, ordinals, dozens. Pure.

quantities.toml has the words.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from andy_cli.models.inside.values.numbers import (
    HALF,
    read_spelled_numbers,
    without_things,
)
from andy_cli.models.inside.values.words import find_words

LINK = r"(?:\s+of)?(?:\s+(?:an?|de|di)\s+|\s+d['\u2019]|['\u2019\s-]*)"
"""Between a share and its unit."""
AND = "and|und|y|con|et|e"
BETWEEN = re.compile(rf"\s*(?:,|{AND})?\s*")
"""Between two parts of a duration: `1 hour and 20 minutes`."""
GLUED = re.compile(r"(?<![\w.,/-])(\d+(?:[.,]\d+)?)[a-z]{1,3}\b(?![-/\d])")
"""`25g`, `3h`, `the 54er`, `the 9th`."""
PAIR = re.compile(r"(?<![\w.,/-])(\d{1,4})-(\d{1,4})(?![\w/-]|[.,]\d)")
"""`7-2`, `1001-1210`."""
MEASURE = re.compile(r"[^\W\d_]+|[\u20ac\u00a3$%]|\u00b0 ?[CF]")
HUNDRED, METRE = 100, "m"
MIN_MEASURES = 2
"""Members that are units of measure, of an enumeration of them."""
AMBIGUOUS = frozenset({"min", "second"})
"""Units that are something else beside another one: `min_hours`, `hours of the second driver`."""
SYMBOL = re.compile(r"[\u20ac\u00a3$]")
BEFORE_HUNDREDTHS = re.compile(rf"\s*({MEASURE.pattern})\s*(?:{AND})?\s*")
"""`3 euro 50`, `ocho euros con cincuenta`."""
PAUSE = re.compile(r"\s*(?:[,.;:!?)\u2013]|$)")
Number = tuple[float, int, int]
"""A number, and where it stands."""


class Duration(NamedTuple):
    seconds: float
    unit: int
    """Seconds of the unit that it is said in."""
    start: int
    number_end: int
    """The end of its number, or of all of it."""
    end: int

    def precedes(self, other: "Duration", text: str) -> bool:
        """Tell whether another one is the rest of it: `1 hour and 20 minutes`."""
        between = text[self.end : other.start]
        return other.seconds < self.unit and BETWEEN.fullmatch(between) is not None


class Words(NamedTuple):
    units: Mapping[str, int]
    """Word -> seconds."""
    parts: re.Pattern[str]
    """A share of a unit, or a unit and a half."""
    shares: Mapping[str, re.Pattern[str]]
    unit: re.Pattern[str]
    counts: Mapping[str, re.Pattern[str]]
    measures: Mapping[str, Sequence[str]]
    """Symbol -> what it is called."""


@cache
def load_words() -> Words:
    file = Path(__file__).with_name("quantities.toml")
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    units: dict[str, int] = {}
    for size, words in found["units"].items():
        units |= dict.fromkeys(words.split(), int(size))
    unit = "|".join(sorted(units, key=len, reverse=True))
    shares = "|".join(sorted(found["shares"].values(), key=len, reverse=True))
    parts = rf"(?<!\w)(?:(?P<share>{shares}){LINK})?(?P<unit>{unit})\b(?P<half>{HALF.pattern})?"
    return Words(
        units,
        re.compile(parts, re.I),
        {share: re.compile(pattern, re.I) for share, pattern in found["shares"].items()},
        re.compile(rf"\s?({unit})\b", re.I),
        {count: re.compile(rf"\b(?:{said})\b", re.I) for count, said in found["counts"].items()},
        {symbol: [symbol, *said.split()] for symbol, said in found["measures"].items()},
    )


def find_unit(texts: Sequence[str]) -> int | None:
    """Find the seconds of the unit that the first of some texts names: `hold minutes`."""
    units = load_words().units
    for text in texts:
        named = [word for word in find_words(text) if word in units]
        clear = [word for word in named if word not in AMBIGUOUS]
        if named:
            return units[(clear or named)[0]]
    return None


def convert_durations(text: str, numbers: Sequence[Number], unit: int) -> list[Number]:
    """Convert the durations among the numbers of a text to a unit (in seconds), and add those that
    are said without a number: `half an hour` is 30 where minutes are wanted.
    """
    found = join_durations(text, [*list_counted(text, numbers), *list_shared(text)])
    spans = [range(one.start, one.end) for one in found]
    others = [number for number in numbers if not any(number[1] in span for span in spans)]
    return [*others, *((one.seconds / unit, one.start, one.number_end) for one in found)]


def join_durations(text: str, pieces: Sequence[Duration]) -> list[Duration]:
    """Join durations that belong together (`1 hour 30 minutes`). Of those that
    overlap the first is kept."""
    found: list[Duration] = []
    for piece in sorted(pieces, key=lambda it: it.start):
        if found and found[-1].precedes(piece, text):
            seconds = found[-1].seconds + piece.seconds
            found[-1] = Duration(seconds, piece.unit, found[-1].start, piece.end, piece.end)
        elif not found or piece.start >= found[-1].end:
            found.append(piece)
    return found


def join_hundredths(text: str, numbers: Sequence[Number]) -> list[Number]:
    """Join two numbers that are one in a currency or in metres: `3 euro 50`, `1 m 80`. Behind the
    second is a pause: `3 euro, 50 people` are two.
    """
    joined: list[Number] = []
    for number in numbers:
        if joined and are_hundredths(text, joined[-1], number):
            whole, start, _ = joined.pop()
            joined.append((whole + number[0] / HUNDRED, start, number[2]))
        else:
            joined.append(number)
    return joined


def are_hundredths(text: str, whole: Number, number: Number) -> bool:
    """Tell whether a number is the rest of the one before it, in hundredths of its unit."""
    between = BEFORE_HUNDREDTHS.fullmatch(text, whole[2], number[1])
    is_number = whole[0].is_integer() and number[0] in range(10, HUNDRED)
    if not (between and is_number and PAUSE.match(text, number[2])):
        return False
    called = load_words().measures.values()
    names = (names for names in called if names[0].isupper() or names[0] == METRE)
    return any(names_measure(measure_names, [between[1]]) for measure_names in names)


def find_measure(text: str, numbers: Sequence[Number], members: Sequence[str]) -> str | None:
    """Find the one of some units of measure, or currencies, that stands beside a number: `g` of
    `350 grams`, `EUR` of `40 euro`. None where the members are something else (`S`, `M`, `L`).
    """
    names = {member: list_measure_names(member) for member in members}
    if sum(map(bool, names.values())) < MIN_MEASURES:
        return None
    said = list_words_behind(text, numbers)
    meant = [member for member, called in names.items() if names_measure(called, said)]
    return meant[0] if len(meant) == 1 else None


def names_measure(called: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether words name a unit: by its symbol in this very case, or by a name in any case."""
    symbol, names = called[:1], called[1:]
    return any(word in symbol or word.lower() in names for word in said)


def list_words_behind(text: str, numbers: Sequence[Number]) -> Sequence[str]:
    """List what stands after each number, a word or a sign, and the signs of currencies."""
    ends = [*(it.end(1) for it in GLUED.finditer(text)), *(end for _, _, end in numbers)]
    behind = (MEASURE.match(text[end:].lstrip(" ")) for end in ends)
    return [*(word[0] for word in behind if word), *SYMBOL.findall(text)]


def list_measure_names(member: str) -> Sequence[str]:
    """List what a unit of measure or a currency is called, its symbol first; nothing of others."""
    called = load_words().measures.values()
    by_symbol = (names for names in called if names[0] in (member, member.upper()))
    by_name = (names for names in called if member.lower() in names[1:])
    return next(by_symbol, next(by_name, []))


def list_counted(text: str, numbers: Sequence[Number]) -> Iterator[Duration]:
    """List durations that begin with a number: `20 minutes`, `3h`."""
    words = load_words()
    glued = [(read_number(it[1]), it.start(), it.end(1)) for it in GLUED.finditer(text)]
    for value, start, end in [*numbers, *glued]:
        if match := words.unit.match(text, end):
            unit = words.units[match[1].lower()]
            yield Duration(value * unit, unit, start, end, match.end())


def list_shared(text: str) -> Iterator[Duration]:
    """List durations that are a share of a unit, or a unit and a half."""
    words = load_words()
    for match in words.parts.finditer(text):
        said = match["share"]
        if said or match["half"]:
            share = next((key for key, it in words.shares.items() if it.fullmatch(said or "")), "1")
            size = float(share) + 0.5 if match["half"] else float(share)
            unit = words.units[match["unit"].lower()]
            yield Duration(size * unit, unit, match.start(), match.end(), match.end())


def find_quantities(text: str) -> list[Number]:
    """Find numbers that stand in no number's form: dozens, `25g`, `7-2`."""
    text = without_things(text)
    found = [(read_number(it[1]), *it.span()) for it in GLUED.finditer(text)]
    for pair in PAIR.finditer(text):
        found += [(float(pair[place]), *pair.span(place)) for place in (1, 2)]
    for count, pattern in load_words().counts.items():
        found += [(float(count), *match.span()) for match in pattern.finditer(text)]
    return sorted({span[1:]: span for span in found}.values(), key=lambda number: number[1])


def list_ordinals(text: str) -> list[Number]:
    """List the places in a row that are said in letters: `the third one`."""
    return [(it.value, it.start, it.end) for it in read_spelled_numbers(text) if it.is_ordinal]


def read_number(digits: str) -> float:
    return float(digits.replace(",", "."))
