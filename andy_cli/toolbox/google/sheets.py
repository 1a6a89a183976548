"""Google Sheets: reading, writing, adding and emptying cells, making a spreadsheet (sheets.v4)."""

from andy_cli.toolbox.google.contents.cells import Rows
from andy_cli.toolbox.google.contents.pages import count_noun, fitting_items, outcome, shorten_words
from andy_cli.toolbox.google.http.apis import SHEETS
from andy_cli.toolbox.google.http.exchange import Query
from andy_cli.toolbox.google.http.refusals import Missing
from andy_cli.toolbox.google.http.service import (
    Record,
    as_record,
    as_text,
    open_service,
    quote_part,
)
from andy_cli.toolbox.google.ids import file_id, show_id
from andy_cli.toolbox.tool import Outcome, ToolError

NOUN = "a spreadsheet"
NO_PLACE = Missing("Google Sheets makes no spreadsheet there.")
AS_TYPED: Query = {"valueInputOption": "USER_ENTERED"}
"""`3.5`, `2026-03-01` and `=A1+B1` become what they become when a person types them."""


async def read_cells(spreadsheet: str, cells: str) -> Outcome:
    id, place = file_id(spreadsheet, NOUN), cell_range(cells)
    async with open_service(SHEETS) as sheets:
        found = await sheets.read(_values_path(id, place), _missing_spreadsheet(id))
    rows = found.get("values")
    rows = rows if isinstance(rows, list) else []
    kept = fitting_items(rows)
    left = len(rows) - len(kept)
    more = {"truncated": f"{left} more rows follow. Read them by a range of their own."}
    where = as_text(found.get("range")) or place
    data: Record = {"range": where, "values": kept, **(more if left else {})}
    return outcome(data, f"read {count_noun(len(rows), 'row')} from {shorten_words(where)}")


async def write_cells(spreadsheet: str, cells: str, values: Rows) -> Outcome:
    id, place = file_id(spreadsheet, NOUN), cell_range(cells)
    async with open_service(SHEETS) as sheets:
        body = {"range": place, "values": values}
        done = await sheets.change(
            "PUT", _values_path(id, place), _missing_spreadsheet(id), body, AS_TYPED
        )
        where = sheets.created_id(done, "updatedRange")
    return outcome(_updated_range(done), f"wrote {_updated_cells(done)} to {shorten_words(where)}")


async def append_rows(spreadsheet: str, cells: str, values: Rows) -> Outcome:
    """Add rows below the table that the range is in; what stands there moves down."""
    id, place = file_id(spreadsheet, NOUN), cell_range(cells)
    async with open_service(SHEETS) as sheets:
        query: Query = {**AS_TYPED, "insertDataOption": "INSERT_ROWS"}
        path = f"{_values_path(id, place)}:append"
        done = await sheets.change(
            "POST", path, _missing_spreadsheet(id), {"values": values}, query
        )
        updates = as_record(done.get("updates"))
        where = sheets.created_id(updates, "updatedRange")
    return outcome(
        _updated_range(updates), f"added {_updated_cells(updates)} at {shorten_words(where)}"
    )


async def create_spreadsheet(title: str) -> Outcome:
    name = check_title(title)
    async with open_service(SHEETS) as sheets:
        body = {"properties": {"title": name}}
        made = await sheets.change("POST", "/spreadsheets", NO_PLACE, body)
        id = sheets.created_id(made, "spreadsheetId")
    link = (
        as_text(made.get("spreadsheetUrl")) or f"https://docs.google.com/spreadsheets/d/{id}/edit"
    )
    return outcome(
        {"id": id, "title": name, "link": link}, f"made the spreadsheet {shorten_words(name)}"
    )


async def clear_cells(spreadsheet: str, cells: str) -> Outcome:
    id, place = file_id(spreadsheet, NOUN), cell_range(cells)
    async with open_service(SHEETS) as sheets:
        done = await sheets.change(
            "POST", f"{_values_path(id, place)}:clear", _missing_spreadsheet(id), {}
        )
        where = sheets.created_id(done, "clearedRange")
    return outcome({"clearedRange": where}, f"emptied {shorten_words(where)}")


def _updated_range(done: Record) -> Record:
    names = ("updatedRange", "updatedRows", "updatedColumns", "updatedCells")
    return {name: done[name] for name in names if name in done}


def _updated_cells(done: Record) -> str:
    number = done.get("updatedCells")
    return count_noun(number, "cell") if isinstance(number, int) else "cells"


def cell_range(cells: str) -> str:
    """A range in A1 notation, or the name of a sheet or range. Raises ToolError."""
    place = cells.strip()
    if not place or len(place) > 500 or not place.isprintable() or set(place) <= {"."}:
        raise ToolError(f"{show_id(cells)} is no range.", "Write it like A1:C10 or Sheet1!A1:C10.")
    return place


def check_title(title: str) -> str:
    if name := " ".join(title.split()):
        return name
    raise ToolError("The spreadsheet needs a title.")


def _values_path(id: str, place: str) -> str:
    return f"/spreadsheets/{quote_part(id)}/values/{quote_part(place)}"


def _missing_spreadsheet(id: str) -> Missing:
    return Missing(f"There is no spreadsheet {show_id(id)}.", "drive_search gives the ids.")
