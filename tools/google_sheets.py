"""Google Sheets: read, write, add to, make, empty.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import BeforeValidator

from andy_cli.toolbox.google.lazy import google_tool, parse_table
from andy_cli.toolbox.tool import Outcome, parameter

SpreadsheetId = Annotated[
    str,
    parameter(
        "id or link of the spreadsheet",
        aliases=["id", "sheetId", "fileId", "spreadsheet", "url"],
        min_length=1,
    ),
]
Range = Annotated[
    str,
    parameter(
        "which cells, like Sheet1!A1:C10",
        aliases=["cells", "cellRange", "a1Range", "a1"],
        min_length=1,
    ),
]
Values = Annotated[
    list[list[str | int | float | bool | None]],
    BeforeValidator(parse_table),
    parameter(
        'rows of cells, as JSON: [["Name", "Age"], ["Ada", 36]]',
        aliases=["rows", "data", "value", "content"],
        min_length=1,
    ),
]
Title = Annotated[str, parameter("title of the spreadsheet", aliases=["name"], min_length=1)]

READS = "spreadsheets.readonly"
CHANGES = "spreadsheets"


@google_tool(
    READS,
    effect="network",
    title="spreadsheet reader",
    action="read {range|cells} of a spreadsheet",
)
async def sheets_read(spreadsheetId: SpreadsheetId, range: Range) -> Outcome:
    """Read cells in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.read_cells(spreadsheetId, range)


@google_tool(
    CHANGES,
    effect="act",
    title="spreadsheet writer",
    action="write to {range|cells} of a spreadsheet",
)
async def sheets_write(spreadsheetId: SpreadsheetId, range: Range, values: Values) -> Outcome:
    """Write to cells in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.write_cells(spreadsheetId, range, values)


@google_tool(
    CHANGES,
    effect="act",
    title="spreadsheet row writer",
    action="add rows to a spreadsheet below {range}",
)
async def sheets_append(spreadsheetId: SpreadsheetId, range: Range, values: Values) -> Outcome:
    """Add rows below a table in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.append_rows(spreadsheetId, range, values)


@google_tool(
    CHANGES,
    effect="act",
    title="spreadsheet creator",
    action="make a spreadsheet called {title}",
)
async def sheets_create(title: Title) -> Outcome:
    """Make a spreadsheet in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.create_spreadsheet(title)


@google_tool(
    CHANGES,
    effect="act",
    title="spreadsheet eraser",
    action="empty {range|cells} of a spreadsheet",
)
async def sheets_clear(spreadsheetId: SpreadsheetId, range: Range) -> Outcome:
    """Empty cells in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.clear_cells(spreadsheetId, range)
