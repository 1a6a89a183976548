"""How many rows of the results are as words say: with a value, above a figure, of a day. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from andy_cli.agent.grounding.dates import DATE, dates, days
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.quantities import DURATION, FIGURE, SIZE, durations, readings, sizes
from andy_cli.agent.grounding.tables import Table, figure_of
from andy_cli.compiler.expression import Expression

MORE = Expression(
    r"\b(?:larger|bigger|over|longer|above|more|after|newer|since|greater|exceed\w*|least|later"
    r"|größer|länger|mehr|plus|más)\b"
)

LESS = Expression(
    r"\b(?:smaller|under|shorter|below|less|before|older|fewer|within|most|earlier|until|kleiner"
    r"|kürzer|weniger|moins|menos)\b"
)

Rows = set[int]


def matching(number: int, said: str, wanted: Sequence[str], index: Index) -> bool:
    """Is it the number of rows that are as it is said? `wanted` are the telling words of it. Yes
    where nothing of what is said can be read off the results: `3 important mails`."""
    on = [day for match in DATE.finditer(said) for each in days(match) for day in each]
    known = [each for each in wanted if len(each) > 2 and stem_known(each, index)]
    bounds = bounds_of(said)
    if not (on or known or bounds):
        return True
    for table in index.tables:
        ways = [*compared(table, *bounds)] if bounds else []
        if on:
            ways.append(
                {
                    at
                    for at, row in enumerate(table.rows)
                    if any(day[1:] == each[1:] for day in on for each in dates(row))
                }
            )
        named = holding(known, table.rows)
        both = set.intersection(*named) if named else None
        counted = [each & both for each in ways if both is not None] or [*ways]
        if any(
            len(each) == number for each in [*counted, *([] if ways else [*named, both or set()])]
        ):
            return True
        if ways and any(len(each) == number for each in ways):
            return both is None or not both
    return not bounds and not on and len(known) < len(wanted)


def stem_known(word: str, index: Index) -> bool:
    return (
        word in index.given_words
        or singular(word) in index.given_words
        or (word.startswith("un") and word[2:] in index.given_words)
    )


def singular(noun: str) -> str:
    return noun[:-1] if noun.endswith("s") and len(noun) > 3 else noun


def holding(words: Iterable[str], rows: Sequence[str]) -> list[Rows]:
    """Which rows hold each word; a flag of that name must be true, for `unread` `read` false."""
    joined = "\n".join(rows)
    found = []
    for word in words:
        stem = singular(word)
        sought = stem
        if f"{stem}=true" in joined or f"{stem}=false" in joined:
            sought = f"{stem}=true"
        elif word.startswith("un") and f"{word[2:]}=" in joined:
            sought = f"{word[2:]}=false"
        found.append({at for at, row in enumerate(rows) if sought in row})
    return found


def bounds_of(said: str) -> tuple[int, list[float]] | None:
    """Above (1) or below (-1) which figures: `longer than four minutes`."""
    sign = 1 if MORE.search(said) else -1 if LESS.search(said) else 0
    figures = [each.value for match in SIZE.finditer(said) for each in sizes(match[1], match[2])]
    figures += [each.value for match in DURATION.finditer(said) for each in durations(match[0])]
    if not figures:
        figures = [each.value for text in FIGURE.compiled.findall(said) for each in readings(text)]
    return (sign, figures) if sign and figures else None


def compared(table: Table, sign: int, figures: Sequence[float]) -> Iterator[Rows]:
    """The rows beyond each figure, by the columns it lies within if there are any: a limit of 120
    is none for ratings up to ten."""
    columns = [column for column in map(numeric, table.columns.values()) if column]
    columns = [each for each in columns if len(each) == len(table.rows)]
    for figure in figures:
        within = [each for each in columns if min(each) <= figure <= max(each)]
        for numbers in within or columns:
            yield {at for at, each in enumerate(numbers) if sign * each > sign * figure}
            yield {at for at, each in enumerate(numbers) if sign * each >= sign * figure}
    measured = [row_sizes(each) for each in table.rows]
    if measured and all(measured):
        for figure in figures:
            yield {
                at for at, row in enumerate(measured) if any(sign * e > sign * figure for e in row)
            }


def numeric(values: Sequence[object]) -> list[float]:
    """The column as figures; empty where one is none."""
    found = [each for each in map(figure_of, values) if each is not None]
    return found if len(found) == len(values) else []


def row_sizes(row: str) -> list[float]:
    return [sizes(match[1], match[2])[0].value for match in SIZE.finditer(row)]
