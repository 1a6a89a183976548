"""Google Drive: list, read, search, make, change, throw away.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from andy_cli.toolbox.google.lazy import Offset, google_tool
from andy_cli.toolbox.tool import Outcome, parameter

FileId = Annotated[
    str,
    parameter(
        "id or link of the file", aliases=["id", "file", "documentId", "url", "link"], min_length=1
    ),
]
FolderId = Annotated[
    str,
    parameter(
        "id of the folder; root is the top, nothing means all files",
        aliases=["folder", "parentId", "parent"],
    ),
]
MaxResults = Annotated[
    int,
    parameter("how many at most", aliases=["pageSize", "limit", "count", "n"], ge=1, le=1000),
]
Name = Annotated[str, parameter("name of the file", aliases=["title", "fileName"], min_length=1)]
Content = Annotated[str, parameter("text of the file", aliases=["text", "data", "body"])]
MimeType = Annotated[
    str,
    parameter(
        "media type, such as text/plain; nothing goes by the name",
        aliases=["mime", "contentType", "type"],
    ),
]
Query = Annotated[
    str,
    parameter(
        "words in the name or text",
        aliases=["q", "search", "searchQuery", "name", "keywords"],
        min_length=1,
    ),
]

READS = "drive.readonly"
CHANGES = "drive"


@google_tool(
    READS,
    effect="network",
    title="list of online files",
    action="list files in Google Drive",
)
async def drive_list(folderId: FolderId = "", maxResults: MaxResults = 20) -> Outcome:
    """List files in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.list_files(folderId, maxResults)


@google_tool(
    READS,
    effect="network",
    title="online file reader",
    action="read a file in Google Drive",
)
async def drive_read(fileId: FileId, offset: Offset = 0) -> Outcome:
    """Read the text of a file in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.read_file(fileId, offset)


@google_tool(
    CHANGES,
    effect="act",
    title="online file creator",
    action="make a file in Google Drive called {name}",
)
async def drive_create(name: Name, content: Content = "", mimeType: MimeType = "") -> Outcome:
    """Make a file in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.create_file(drive.new_file(name, content, mimeType))


@google_tool(
    CHANGES,
    effect="act",
    title="online file writer",
    action="replace what a file in Google Drive holds",
)
async def drive_update(fileId: FileId, content: Content) -> Outcome:
    """Replace the text of a file in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.update_file(fileId, content)


@google_tool(
    CHANGES,
    effect="act",
    title="online trash",
    action="put a file in Google Drive into its trash",
)
async def drive_delete(fileId: FileId) -> Outcome:
    """Move a file in Google Drive to the trash."""
    from andy_cli.toolbox.google import drive

    return await drive.trash_file(fileId)


@google_tool(
    READS,
    effect="network",
    title="online file search",
    action="search Google Drive for {query}",
)
async def drive_search(query: Query, maxResults: MaxResults = 20) -> Outcome:
    """Search the files in Google Drive."""
    from andy_cli.toolbox.google import drive

    return await drive.search_files(query, maxResults)
