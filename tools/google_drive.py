"""Google Drive: list, read, search, make, change, throw away.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import Field

from andy_cli.toolbox.google.lazy import find_access_later, require_scope
from andy_cli.toolbox.tool import Outcome, parameter_aliases, tool

FileId = Annotated[
    str,
    Field(
        description="id or link of the file",
        min_length=1,
        json_schema_extra=parameter_aliases("id", "file", "documentId", "url", "link"),
    ),
]
FolderId = Annotated[
    str,
    Field(
        description="id of the folder; root is the top, nothing means all files",
        json_schema_extra=parameter_aliases("folder", "parentId", "parent"),
    ),
]
MaxResults = Annotated[
    int,
    Field(
        description="how many at most",
        ge=1,
        le=1000,
        json_schema_extra=parameter_aliases("pageSize", "limit", "count", "n"),
    ),
]
Name = Annotated[
    str,
    Field(
        description="name of the file",
        min_length=1,
        json_schema_extra=parameter_aliases("title", "fileName"),
    ),
]
Content = Annotated[
    str,
    Field(
        description="text of the file", json_schema_extra=parameter_aliases("text", "data", "body")
    ),
]
MimeType = Annotated[
    str,
    Field(
        description="media type, such as text/plain; nothing goes by the name",
        json_schema_extra=parameter_aliases("mime", "contentType", "type"),
    ),
]
Query = Annotated[
    str,
    Field(
        description="words in the name or text",
        min_length=1,
        json_schema_extra=parameter_aliases("q", "search", "searchQuery", "name", "keywords"),
    ),
]
Offset = Annotated[
    int,
    Field(
        description="where in a long text to go on",
        ge=0,
        json_schema_extra=parameter_aliases("start"),
    ),
]

READS = require_scope("drive.readonly")
CHANGES = require_scope("drive")


@tool(
    effect="network",
    title="list of online files",
    action="list files in Google Drive",
    find_access=find_access_later("drive_list"),
    unavailable_reason=READS,
)
async def drive_list(folderId: FolderId = "", maxResults: MaxResults = 20) -> Outcome:
    """List files in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.list_files(folderId, maxResults)


@tool(
    effect="network",
    title="online file reader",
    action="read a file in Google Drive",
    find_access=find_access_later("drive_read"),
    unavailable_reason=READS,
)
async def drive_read(fileId: FileId, offset: Offset = 0) -> Outcome:
    """Read the text of a file in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.read_file(fileId, offset)


@tool(
    effect="act",
    title="online file creator",
    action="make a file in Google Drive called {name}",
    find_access=find_access_later("drive_create"),
    unavailable_reason=CHANGES,
)
async def drive_create(name: Name, content: Content = "", mimeType: MimeType = "") -> Outcome:
    """Make a file in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.create_file(drive.new_file(name, content, mimeType))


@tool(
    effect="act",
    title="online file writer",
    action="replace what a file in Google Drive holds",
    find_access=find_access_later("drive_update"),
    unavailable_reason=CHANGES,
)
async def drive_update(fileId: FileId, content: Content) -> Outcome:
    """Replace the text of a file in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.update_file(fileId, content)


@tool(
    effect="act",
    title="online trash",
    action="put a file in Google Drive into its trash",
    find_access=find_access_later("drive_delete"),
    unavailable_reason=CHANGES,
)
async def drive_delete(fileId: FileId) -> Outcome:
    """Move a file in Google Drive to the trash."""
    from andy_cli.toolbox.google import drive

    return await drive.trash_file(fileId)


@tool(
    effect="network",
    title="online file search",
    action="search Google Drive for {query}",
    find_access=find_access_later("drive_search"),
    unavailable_reason=READS,
)
async def drive_search(query: Query, maxResults: MaxResults = 20) -> Outcome:
    """Search the files in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.search_files(query, maxResults)
