"""Print lines, values as JSON, and rows as columns that are as wide as they need to be."""

import json
import sys
from collections.abc import Sequence


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in format_table(rows)))


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns as wide as they need to be, the last one free."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(cells).rstrip() for cells in padded]
