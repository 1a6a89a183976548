"""Google Docs: read, make, add to, replace in.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from andy_cli.toolbox.google.lazy import Offset, find_access_later, require_scope
from andy_cli.toolbox.tool import Outcome, parameter, tool

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

READS = require_scope("documents.readonly")
CHANGES = require_scope("documents")


@tool(
    effect="network",
    title="online document reader",
    action="read a document in Google Docs",
    find_access=find_access_later("docs_read"),
    unavailable_reason=READS,
)
async def docs_read(documentId: DocumentId, offset: Offset = 0) -> Outcome:
    """Read a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.read_document(documentId, offset)


@tool(
    effect="act",
    title="online document creator",
    action="make a document in Google Docs called {title}",
    find_access=find_access_later("docs_create"),
    unavailable_reason=CHANGES,
)
async def docs_create(title: Title, text: Text = "") -> Outcome:
    """Make a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.create_document(title, text)


@tool(
    effect="act",
    title="online document writer",
    action="add text to a document in Google Docs",
    find_access=find_access_later("docs_append"),
    unavailable_reason=CHANGES,
)
async def docs_append(documentId: DocumentId, text: Added) -> Outcome:
    """Add text at the end of a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.append_text(documentId, text)


@tool(
    effect="act",
    title="online document editor",
    action="replace text in a document in Google Docs",
    find_access=find_access_later("docs_replace"),
    unavailable_reason=CHANGES,
)
async def docs_replace(
    documentId: DocumentId, findText: FindText, replaceText: ReplaceText
) -> Outcome:
    """Replace a text everywhere in a document in Google Docs."""
    from andy_cli.toolbox.google import docs

    return await docs.replace_text(documentId, findText, replaceText)
