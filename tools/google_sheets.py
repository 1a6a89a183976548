"""Google Sheets: read, write, add to, make, empty.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from andy_cli.toolbox.google.arguments import parse_table
from andy_cli.toolbox.google.lazy import find_access_later, require_scope
from andy_cli.toolbox.tool import Outcome, parameter_aliases, tool

SpreadsheetId = Annotated[
    str,
    Field(
        description="id or link of the spreadsheet",
        min_length=1,
        json_schema_extra=parameter_aliases("id", "sheetId", "fileId", "spreadsheet", "url"),
    ),
]
Range = Annotated[
    str,
    Field(
        description="which cells, like Sheet1!A1:C10",
        min_length=1,
        json_schema_extra=parameter_aliases("cells", "cellRange", "a1Range", "a1"),
    ),
]
Values = Annotated[
    list[list[str | int | float | bool | None]],
    BeforeValidator(parse_table),
    Field(
        description='rows of cells, as JSON: [["Name", "Age"], ["Ada", 36]]',
        min_length=1,
        json_schema_extra=parameter_aliases("rows", "data", "value", "content"),
    ),
]
Title = Annotated[
    str,
    Field(
        description="title of the spreadsheet",
        min_length=1,
        json_schema_extra=parameter_aliases("name"),
    ),
]

READS = require_scope("spreadsheets.readonly")
CHANGES = require_scope("spreadsheets")


@tool(
    effect="network",
    title="spreadsheet reader",
    action="read {range|cells} of a spreadsheet",
    find_access=find_access_later("sheets_read"),
    unavailable_reason=READS,
)
async def sheets_read(spreadsheetId: SpreadsheetId, range: Range) -> Outcome:
    """Read cells in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.read_cells(spreadsheetId, range)


@tool(
    effect="act",
    title="spreadsheet writer",
    action="write to {range|cells} of a spreadsheet",
    find_access=find_access_later("sheets_write"),
    unavailable_reason=CHANGES,
)
async def sheets_write(spreadsheetId: SpreadsheetId, range: Range, values: Values) -> Outcome:
    """Write to cells in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.write_cells(spreadsheetId, range, values)


@tool(
    effect="act",
    title="spreadsheet row writer",
    action="add rows to a spreadsheet below {range}",
    find_access=find_access_later("sheets_append"),
    unavailable_reason=CHANGES,
)
async def sheets_append(spreadsheetId: SpreadsheetId, range: Range, values: Values) -> Outcome:
    """Add rows below a table in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.append_rows(spreadsheetId, range, values)


@tool(
    effect="act",
    title="spreadsheet creator",
    action="make a spreadsheet called {title}",
    find_access=find_access_later("sheets_create"),
    unavailable_reason=CHANGES,
)
async def sheets_create(title: Title) -> Outcome:
    """Make a spreadsheet in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.create_spreadsheet(title)


@tool(
    effect="act",
    title="spreadsheet eraser",
    action="empty {range|cells} of a spreadsheet",
    find_access=find_access_later("sheets_clear"),
    unavailable_reason=CHANGES,
)
async def sheets_clear(spreadsheetId: SpreadsheetId, range: Range) -> Outcome:
    """Empty cells in Google Sheets."""
    from andy_cli.toolbox.google import sheets

    return await sheets.clear_cells(spreadsheetId, range)
