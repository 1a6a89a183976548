"""The rows and columns in results. Pure."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.grounding.quantities import FIGURE, readings
from andy_cli.agent.grounding.vocabulary import EXTENSIONS
from andy_cli.compiler.expression import Expression

MANY = 300
"""Of so many lines of text nobody adds up the figures."""

RULE = Expression(r"[\s\-=|+:_*─┼┬┴]*")
HEADING = Expression(r".*:\s*|total\s+[\d.,]+\w?\s*|#+\s.*|[├└│─\s]*\.\s*", re.IGNORECASE)
SUMMARY = Expression(
    r"^\W*(?:total|found|showing|listed|\d+ (?:files?|director\w+|results?|rows?|matches|items"
    r"|entries|e?-?mails?|messages?|events?|tasks?|songs?|commits?|total|passed)\b"
    r"|there (?:is|are)\b|page \d+|results? \d|on branch|contents of|listing)"
    r"|\b\d+ (?:files?|director\w+|rows?|items|entries)\W*$",
    re.IGNORECASE,
)

ENDING = Expression(r"\.([a-z][a-z0-9]{1,4})(?![\w.])")
NAMED = Expression(
    rf"(?<![^\s,;:\"'/|])[^\s,;:\"'/|]{{1,200}}\.(?:{'|'.join(sorted(EXTENSIONS))})(?![\w.])",
    re.IGNORECASE,
)


class Table(NamedTuple):
    """What a result lists: each row as text in lower case, and what stands under each other."""

    rows: tuple[str, ...]
    columns: Mapping[str, Sequence[object]]


def tables_of(value: object, text: str) -> list[Table]:
    """All lists in a result, at any depth."""
    if isinstance(value, str):
        return text_tables(text)
    found: list[Table] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            found.append(listed(each))
            waiting += [item for item in each if isinstance(item, list | dict)]
        elif isinstance(each, dict):
            waiting += [item for item in each.values() if isinstance(item, list | dict)]
            if len(each) > 1:
                found.append(Table((), {str(key): [item] for key, item in each.items()}))
            held = [item for item in each.values() if isinstance(item, dict)]
            if len(held) > 1 and len(held) == len(each):
                found.append(listed(held))
            for item in each.values():
                if isinstance(item, str) and "\n" in item:
                    found += text_tables(item)
    return found


def listed(items: Sequence[object]) -> Table:
    columns: dict[str, list[object]] = {}
    for item in items:
        for key, value in pairs(item):
            columns.setdefault(key, []).append(value)
    return Table(tuple(row_text(each) for each in items), columns)


def pairs(item: object) -> Iterable[tuple[str, object]]:
    if isinstance(item, dict):
        for key, value in item.items():
            if isinstance(value, dict):
                yield from ((f"{key} {name}", each) for name, each in value.items())
            else:
                yield str(key), value
    elif isinstance(item, list):
        yield from ((str(at), each) for at, each in enumerate(item))
    else:
        yield "", item


def row_text(item: object) -> str:
    if isinstance(item, dict):
        return " ".join(f"{key}={value}" for key, value in item.items()).casefold()
    return str(item).casefold()


def text_tables(text: str) -> list[Table]:
    """The lines of a text without its headings; each block of them; the names in it."""
    lines = [each for each in text.split("\n") if each.strip()]
    if lines and all(each.lstrip().startswith("{") for each in lines):
        lines = [each.strip() for each in lines]
    entries = [each for each in lines if is_entry(each)]
    found = [table_of_lines(entries)]
    blocks = text.split("\n\n")
    if len(blocks) > 1:
        found += [
            table_of_lines([line for line in each.split("\n") if line.strip() and is_entry(line)])
            for each in blocks
        ]
        found.append(Table(tuple(each for each in blocks if each.strip()), {}))
    else:
        found += headed(lines)
        found += branches(lines)
    found += separated(entries)
    if len(entries) > 1 and is_head(entries):
        found[0] = table_of_lines(entries[1:])
    bulleted = [each for each in lines if re.match(r"\s*(?:[-*•]|\d+[.)]|├|└|│)\s*", each)]
    if bulleted and len(bulleted) != len(entries):
        found.append(table_of_lines(bulleted))
    names = {*NAMED.compiled.findall(text)}
    if names:
        found.append(Table(tuple(sorted(names)), {}))
    for line in lines[:40]:
        if ", " in line:
            found.append(
                Table(
                    tuple((line.partition(": ")[2] if ": " in line else line).split(", ")),
                    {},
                )
            )
    return [each for each in found if each.rows]


def branches(lines: Sequence[str]) -> list[Table]:
    """What stands at one depth under one line, as in the listing of a tree."""
    open_groups: list[tuple[int, list[str]]] = []
    found: list[list[str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip(" \t│├└─"))
        while open_groups and open_groups[-1][0] > depth:
            open_groups.pop()
        if not open_groups or open_groups[-1][0] < depth:
            open_groups.append((depth, []))
            found.append(open_groups[-1][1])
        open_groups[-1][1].append(line)
    return [table_of_lines(each) for each in found] if len(found) > 1 else []


def separated(lines: Sequence[str]) -> list[Table]:
    """Lines of cells with one sign between them, the first line the head."""
    for sign in ";\t|,":
        widths = {line.count(sign) for line in lines}
        if len(lines) > 2 and len(widths) == 1 and widths != {0}:
            rows = [[cell.strip() for cell in line.split(sign)] for line in lines[1:]]
            names = [cell.strip() for cell in lines[0].split(sign)]
            columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
            return [Table(tuple(lines[1:]), columns)]
    return []


def headed(lines: Sequence[str]) -> list[Table]:
    """What stands under each line that ends with a colon."""
    found: list[list[str]] = []
    for line in lines:
        if line.rstrip().endswith(":"):
            found.append([])
        elif found:
            found[-1].append(line)
    return [table_of_lines(each) for each in found]


def is_entry(line: str) -> bool:
    return not (RULE.fullmatch(line) or HEADING.fullmatch(line) or SUMMARY.search(line))


def is_head(lines: Sequence[str]) -> bool:
    """Is the first line the head of a table: no figure in it, but in most of the others?"""
    first, rest = lines[0], lines[1:]
    if any(each.isdigit() for each in first):
        return False
    if len({line.count(",") for line in lines}) == 1 and first.count(","):
        return True
    return sum(any(map(str.isdigit, each)) for each in rest) == len(rest) and (
        first.upper() == first or "  " in first.strip() or "|" in first or "\t" in first
    )


def table_of_lines(lines: Sequence[str]) -> Table:
    """Numbers of the lines are columns, counted from both ends."""
    columns: dict[str, list[object]] = {}
    for line in lines if len(lines) <= MANY else ():
        found = [
            readings(each)[0].value for each in FIGURE.compiled.findall(line) if readings(each)
        ]
        for at, value in enumerate(found[:8]):
            columns.setdefault(str(at), []).append(value)
            columns.setdefault(f"-{len(found) - at}", []).append(value)
    return Table(tuple(lines), columns)


def figure_of(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str) and len(value) < 24:
        digits = FIGURE.compiled.findall(value)
        if len(digits) == 1 and (found := readings(digits[0])):
            return found[0].value
    return None


def parsed(text: str) -> object:
    """The JSON that a result is; the text itself where it is none."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return value
