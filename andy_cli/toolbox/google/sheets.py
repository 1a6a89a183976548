"""Google Sheets: reading, writing, adding and emptying cells, making a spreadsheet (sheets.v4)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.google.contents.cells import Rows
from andy_cli.toolbox.google.contents.pages import fitting_items, shorten_words, text_outcome
from andy_cli.toolbox.google.http.apis import SHEETS
from andy_cli.toolbox.google.http.exchange import Query
from andy_cli.toolbox.google.http.refusals import MissingWords
from andy_cli.toolbox.google.http.service import (
    Record,
    Service,
    open_service,
    quote_part,
)
from andy_cli.toolbox.google.ids import check_title, file_id, show_id
from andy_cli.toolbox.google.seen_names import remember_name
from andy_cli.toolbox.tool import Outcome, ToolError

NOUN = "a spreadsheet"
NO_PLACE = MissingWords("Google Sheets makes no spreadsheet there.")
NO_RANGE = "Unable to parse range"
"""The words of Google for a range that is none, or of a sheet that is not there."""
MAX_SHEETS = 50
"""Sheets that are named."""
AS_TYPED: Query = {"valueInputOption": "USER_ENTERED"}
"""`3.5`, `2026-03-01` and `=A1+B1` become what they become when a person types them."""


@asynccontextmanager
async def _open_spreadsheet(id: str) -> AsyncIterator[Service]:
    """Open the API; where a range is refused that is not there, the error names the sheets."""
    async with open_service(SHEETS) as sheets:
        try:
            yield sheets
        except ToolError as error:
            if NO_RANGE not in str(error):
                raise
            raise ToolError(str(error), await _name_sheets(sheets, id)) from error


async def _name_sheets(sheets: Service, id: str) -> str:
    """Name the sheets, or nothing where they cannot be read."""
    fields: Query = {"fields": "sheets(properties(title))"}
    path = f"/spreadsheets/{quote_part(id)}"
    try:
        spreadsheet = await sheets.read(path, _missing_spreadsheet(id), fields)
    except ToolError:
        return ""
    listed = as_records(spreadsheet.get("sheets"))[:MAX_SHEETS]
    titles = [text_of(as_record(sheet.get("properties")), "title") for sheet in listed]
    return f"There are the sheets: {', '.join(map(shorten_words, titles))}." if titles else ""


async def read_cells(spreadsheet: str, cells: str) -> Outcome:
    id, range_name = file_id(spreadsheet, NOUN), cell_range(cells)
    async with _open_spreadsheet(id) as sheets:
        value_range = await sheets.read(_values_path(id, range_name), _missing_spreadsheet(id))
    rows = value_range.get("values")
    rows = rows if isinstance(rows, list) else []
    fitting = fitting_items(rows)
    rows_left = len(rows) - len(fitting)
    cut_note = {"truncated": f"{rows_left} more rows follow. Read them by a range of their own."}
    shown_range = text_of(value_range, "range") or range_name
    data: Record = {"range": shown_range, "values": fitting, **(cut_note if rows_left else {})}
    return text_outcome(
        data, f"read {count_noun(len(rows), 'row')} from {shorten_words(shown_range)}"
    )


async def write_cells(spreadsheet: str, cells: str, values: Rows) -> Outcome:
    id, range_name = file_id(spreadsheet, NOUN), cell_range(cells)
    async with _open_spreadsheet(id) as sheets:
        body = {"range": range_name, "values": values}
        answer = await sheets.change(
            "PUT", _values_path(id, range_name), _missing_spreadsheet(id), body, AS_TYPED
        )
        updated_range = sheets.created_id(answer, "updatedRange")
    return text_outcome(
        _updated_range(answer), f"wrote {_updated_cells(answer)} to {shorten_words(updated_range)}"
    )


async def append_rows(spreadsheet: str, cells: str, values: Rows) -> Outcome:
    """Add rows below the table that the range is in; what stands there moves down."""
    id, range_name = file_id(spreadsheet, NOUN), cell_range(cells)
    async with _open_spreadsheet(id) as sheets:
        query: Query = {**AS_TYPED, "insertDataOption": "INSERT_ROWS"}
        path = f"{_values_path(id, range_name)}:append"
        answer = await sheets.change(
            "POST", path, _missing_spreadsheet(id), {"values": values}, query
        )
        updates = as_record(answer.get("updates"))
        updated_range = sheets.created_id(updates, "updatedRange")
    return text_outcome(
        _updated_range(updates),
        f"added {_updated_cells(updates)} at {shorten_words(updated_range)}",
    )


async def create_spreadsheet(title: str) -> Outcome:
    name = check_title(title, NOUN)
    async with open_service(SHEETS) as sheets:
        body = {"properties": {"title": name}}
        created = await sheets.change("POST", "/spreadsheets", NO_PLACE, body)
        id = sheets.created_id(created, "spreadsheetId")
    remember_name(id, name)
    sheet_link = (
        text_of(created, "spreadsheetUrl") or f"https://docs.google.com/spreadsheets/d/{id}/edit"
    )
    return text_outcome(
        {"id": id, "title": name, "link": sheet_link}, f"made the spreadsheet {shorten_words(name)}"
    )


async def clear_cells(spreadsheet: str, cells: str) -> Outcome:
    id, range_name = file_id(spreadsheet, NOUN), cell_range(cells)
    async with _open_spreadsheet(id) as sheets:
        answer = await sheets.change(
            "POST", f"{_values_path(id, range_name)}:clear", _missing_spreadsheet(id), {}
        )
        cleared_range = sheets.created_id(answer, "clearedRange")
    return text_outcome({"clearedRange": cleared_range}, f"emptied {shorten_words(cleared_range)}")


def _updated_range(updates: Record) -> Record:
    names = ("updatedRange", "updatedRows", "updatedColumns", "updatedCells")
    return {name: updates[name] for name in names if name in updates}


def _updated_cells(updates: Record) -> str:
    number = updates.get("updatedCells")
    return count_noun(number, "cell") if isinstance(number, int) else "cells"


def cell_range(cells: str) -> str:
    """A range in A1 notation, or the name of a sheet or range. Raises ToolError."""
    range_name = cells.strip()
    if (
        not range_name
        or len(range_name) > 500
        or not range_name.isprintable()
        or set(range_name) <= {"."}
    ):
        raise ToolError(f"{show_id(cells)} is no range.", "Write it like A1:C10 or Sheet1!A1:C10.")
    return range_name


def _values_path(id: str, range_name: str) -> str:
    return f"/spreadsheets/{quote_part(id)}/values/{quote_part(range_name)}"


def _missing_spreadsheet(id: str) -> MissingWords:
    return MissingWords(f"There is no spreadsheet {show_id(id)}.", "drive_search gives the ids.")
