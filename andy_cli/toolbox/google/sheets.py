"""Google Sheets: reading, writing, adding and emptying cells, making a spreadsheet (sheets.v4)."""

from collections.abc import Mapping

from andy_cli.toolbox.google.contents.cells import Rows, rows_of, show_rows
from andy_cli.toolbox.google.contents.pages import count_noun, fitting_items, outcome, shorten_words
from andy_cli.toolbox.google.http.apis import SHEETS, base_address
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
from andy_cli.toolbox.tool import Outcome, ResourceAccess, ToolError

NOUN = "a spreadsheet"
NO_PLACE = Missing("Google Sheets makes no spreadsheet there.")
AS_TYPED: Query = {"valueInputOption": "USER_ENTERED"}
"""`3.5`, `2026-03-01` and `=A1+B1` become what they become when a person types them."""


async def read_cells(spreadsheet: str, cells: str) -> Outcome:
    id, place = file_id(spreadsheet, NOUN), _cell_range(cells)
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
    id, place = file_id(spreadsheet, NOUN), _cell_range(cells)
    async with open_service(SHEETS) as sheets:
        body = {"range": place, "values": values}
        done = await sheets.change(
            "PUT", _values_path(id, place), _missing_spreadsheet(id), body, AS_TYPED
        )
        where = sheets.created_id(done, "updatedRange")
    return outcome(_updated_range(done), f"wrote {_updated_cells(done)} to {shorten_words(where)}")


async def append_rows(spreadsheet: str, cells: str, values: Rows) -> Outcome:
    """Add rows below the table that the range is in; what stands there moves down."""
    id, place = file_id(spreadsheet, NOUN), _cell_range(cells)
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
    name = _check_title(title)
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
    id, place = file_id(spreadsheet, NOUN), _cell_range(cells)
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


def _cell_range(cells: str) -> str:
    """A range in A1 notation, or the name of a sheet or range. Raises ToolError."""
    place = cells.strip()
    if not place or len(place) > 500 or not place.isprintable() or set(place) <= {"."}:
        raise ToolError(f"{show_id(cells)} is no range.", "Write it like A1:C10 or Sheet1!A1:C10.")
    return place


def _check_title(title: str) -> str:
    if name := " ".join(title.split()):
        return name
    raise ToolError("The spreadsheet needs a title.")


def _values_path(id: str, place: str) -> str:
    return f"/spreadsheets/{quote_part(id)}/values/{quote_part(place)}"


def _missing_spreadsheet(id: str) -> Missing:
    return Missing(f"There is no spreadsheet {show_id(id)}.", "drive_search gives the ids.")


def claim_reading(arguments: Mapping[str, object]) -> ResourceAccess:
    return ResourceAccess(address=base_address(SHEETS))


def claim_writing(arguments: Mapping[str, object]) -> ResourceAccess:
    rows = show_rows(rows_of(arguments.get("values")))
    return _claim_change("PUT", f"Into the cells {_where(arguments)}:\n\n{rows}")


def claim_appending(arguments: Mapping[str, object]) -> ResourceAccess:
    rows = show_rows(rows_of(arguments.get("values")))
    return _claim_change("POST", f"New rows below {_where(arguments)}:\n\n{rows}")


def claim_creating(arguments: Mapping[str, object]) -> ResourceAccess:
    return _claim_change(
        "POST", f"New spreadsheet: {_check_title(str(arguments.get('title') or ''))}"
    )


def claim_clearing(arguments: Mapping[str, object]) -> ResourceAccess:
    return _claim_change("POST", f"Empty the cells {_where(arguments)}")


def _where(arguments: Mapping[str, object]) -> str:
    id = file_id(str(arguments.get("spreadsheetId", "")), NOUN)
    return f"{_cell_range(str(arguments.get('range') or ''))} of the spreadsheet {id}"


def _claim_change(method: str, shown: str) -> ResourceAccess:
    return ResourceAccess(address=base_address(SHEETS), method=method, shown=shown)
