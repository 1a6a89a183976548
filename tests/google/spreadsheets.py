"""Google Sheets as far as our tools go: values in A1 ranges, typed as a person types them."""

import re
from typing import Any
from uuid import uuid4

Record = dict[str, Any]

A1 = re.compile(r"(?:(?:'((?:[^']|'')+)'|([^'!]+))!)?(?:([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?)?")

Rectangle = tuple[str, int, int, int, int]
"""Sheet, first row and column, last row and column; all from 0."""


class Spreadsheets:
    def __init__(self) -> None:
        self.sheets: dict[str, dict[str, list[list[Any]]]] = {}
        """Spreadsheet -> sheet -> rows of cells."""
        self.titles: dict[str, str] = {}

    def add(self, id: str, title: str, **sheets: list[list[Any]]) -> None:
        self.titles[id] = title
        self.sheets[id] = sheets or {"Sheet1": []}

    def spreadsheets_create(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        id = uuid4().hex
        self.add(id, body["properties"]["title"])
        url = f"https://docs.google.com/spreadsheets/d/{id}/edit"
        properties = {"title": self.titles[id], "locale": "en_US", "timeZone": "Etc/GMT"}
        return {"spreadsheetId": id, "properties": properties, "spreadsheetUrl": url}

    def spreadsheets_get(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        assert query["fields"] == "sheets(properties(title))"
        return {"sheets": [{"properties": {"title": sheet}} for sheet in self.sheets[path[2]]]}

    def spreadsheets_values_get(
        self, path: list[str], query: dict[str, str], body: Record
    ) -> Record:
        area = self._area(path[2], path[4])
        sheet, top, left, bottom, right = area
        rows = self.sheets[path[2]][sheet][top : bottom + 1]
        shown = [[_shown(cell) for cell in row[left : right + 1]] for row in rows]
        shown = [_trimmed(row) for row in shown]
        while shown and not shown[-1]:
            shown.pop()
        found = {"range": _written(area), "majorDimension": "ROWS"}
        return {**found, "values": shown} if shown else found

    def spreadsheets_values_update(
        self, path: list[str], query: dict[str, str], body: Record
    ) -> Record:
        sheet, top, left, bottom, right = self._area(path[2], path[4])
        rows = body["values"]
        if body.get("range") not in (None, path[4]):
            raise ValueError(f"Requested writing within range {path[4]}, but got another.")
        if len(rows) > bottom - top + 1 or max(map(len, rows)) > right - left + 1:
            if path[4].count(":"):
                raise ValueError(f"Requested writing within range [{path[4]}], but tried more.")
            bottom, right = top + len(rows) - 1, left + max(map(len, rows)) - 1
        return self._write(path[2], (sheet, top, left, bottom, right), rows)

    def spreadsheets_values_append(
        self, path: list[str], query: dict[str, str], body: Record
    ) -> Record:
        assert query["insertDataOption"] == "INSERT_ROWS"
        id, place = path[2], path[4].removesuffix(":append")
        sheet, _, left, _, _ = self._area(id, place)
        rows, at = body["values"], len(self.sheets[id][sheet])
        area = (sheet, at, left, at + len(rows) - 1, left + max(map(len, rows)) - 1)
        return {"spreadsheetId": id, "updates": self._write(id, area, rows)}

    def spreadsheets_values_clear(
        self, path: list[str], query: dict[str, str], body: Record
    ) -> Record:
        id, place = path[2], path[4].removesuffix(":clear")
        area = self._area(id, place)
        sheet, top, left, bottom, right = area
        for row in self.sheets[id][sheet][top : bottom + 1]:
            row[left : right + 1] = [None] * len(row[left : right + 1])
        return {"spreadsheetId": id, "clearedRange": _written(area)}

    def _write(self, id: str, area: Rectangle, rows: list[list[Any]]) -> Record:
        sheet, top, left, _, _ = area
        grid = self.sheets[id][sheet]
        written = 0
        for down, row in enumerate(rows):
            for across, cell in enumerate(row):
                while len(grid) <= top + down:
                    grid.append([])
                line = grid[top + down]
                line += [None] * (left + across + 1 - len(line))
                if cell is not None:
                    line[left + across] = _typed(cell)
                    written += 1
        return {
            "spreadsheetId": id,
            "updatedRange": _written(area),
            "updatedRows": len(rows),
            "updatedColumns": max(map(len, rows)),
            "updatedCells": written,
        }

    def _area(self, id: str, place: str) -> Rectangle:
        sheets = self.sheets[id]
        if place in sheets:
            return (place, 0, 0, 999, 25)
        match = A1.fullmatch(place)
        sheet = (match[1] or "").replace("''", "'") or match[2] if match else None
        sheet = sheet or next(iter(sheets))
        if match is None or sheet not in sheets:
            raise ValueError(f"Unable to parse range: {place}")
        if not match[3]:
            return (sheet, 0, 0, 999, 25)
        top, left = int(match[4]) - 1, _column(match[3])
        bottom = int(match[6]) - 1 if match[6] else top
        return (sheet, top, left, bottom, _column(match[5]) if match[5] else left)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _written(area: Rectangle) -> str:
    sheet, top, left, bottom, right = area
    name = sheet if sheet.isalnum() else f"'{sheet}'"
    first, last = f"{chr(65 + left)}{top + 1}", f"{chr(65 + right)}{bottom + 1}"
    return f"{name}!{first}" if first == last else f"{name}!{first}:{last}"


def _typed(cell: object) -> object:
    """What becomes of a text that is typed."""
    if isinstance(cell, str) and re.fullmatch(r"-?\d+(\.\d+)?", cell):
        return float(cell) if "." in cell else int(cell)
    return cell


def _shown(cell: object) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    return "" if cell is None else str(cell)


def _trimmed(row: list[str]) -> list[str]:
    while row and not row[-1]:
        row = row[:-1]
    return row
