"""Google Docs: read, make, add to, replace in.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from andy_cli.toolbox.google.lazy import Offset, google_tool
from andy_cli.toolbox.tool import Outcome, parameter

DocumentId = Annotated[
    str,
    parameter(
        "id or link of the document",
        aliases=["id", "docId", "fileId", "document", "url"],
        min_length=1,
    ),
]
Title = Annotated[str, parameter("title of the document", aliases=["name"], min_length=1)]
Text = Annotated[str, parameter("text", aliases=["content", "body", "data"])]
Added = Annotated[
    str,
    parameter("text to add at the end", aliases=["content", "body", "data"], min_length=1),
]
FindText = Annotated[
    str,
    parameter("text to be replaced", aliases=["find", "oldText", "search", "old"], min_length=1),
]
ReplaceText = Annotated[
    str,
    parameter(
        "text to put in its place", aliases=["replace", "newText", "replacement", "new", "with"]
    ),
]

READS = "documents.readonly"
CHANGES = "documents"


@google_tool(
    READS,
    effect="network",
    title="online document reader",
    action="read a document in Google Docs",
)
async def docs_read(documentId: DocumentId, offset: Offset = 0) -> Outcome:
    """Read a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.read_document(documentId, offset)


@google_tool(
    CHANGES,
    effect="act",
    title="online document creator",
    action="make a document in Google Docs called {title}",
)
async def docs_create(title: Title, text: Text = "") -> Outcome:
    """Make a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.create_document(title, text)


@google_tool(
    CHANGES,
    effect="act",
    title="online document writer",
    action="add text to a document in Google Docs",
)
async def docs_append(documentId: DocumentId, text: Added) -> Outcome:
    """Add text at the end of a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.append_text(documentId, text)


@google_tool(
    CHANGES,
    effect="act",
    title="online document editor",
    action="replace text in a document in Google Docs",
)
async def docs_replace(
    documentId: DocumentId, findText: FindText, replaceText: ReplaceText
) -> Outcome:
    """Replace a text everywhere in a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.replace_text(documentId, findText, replaceText)
