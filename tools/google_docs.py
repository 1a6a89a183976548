"""Google Docs: read, make, add to, replace in.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import Field

from andy_cli.toolbox.google.lazy import find_access_later, require_scope
from andy_cli.toolbox.tool import Outcome, parameter_aliases, tool

DocumentId = Annotated[
    str,
    Field(
        description="id or link of the document",
        min_length=1,
        json_schema_extra=parameter_aliases("id", "docId", "fileId", "document", "url"),
    ),
]
Title = Annotated[
    str,
    Field(
        description="title of the document",
        min_length=1,
        json_schema_extra=parameter_aliases("name"),
    ),
]
Text = Annotated[
    str,
    Field(description="text", json_schema_extra=parameter_aliases("content", "body", "data")),
]
Added = Annotated[
    str,
    Field(
        description="text to add at the end",
        min_length=1,
        json_schema_extra=parameter_aliases("content", "body", "data"),
    ),
]
FindText = Annotated[
    str,
    Field(
        description="text to be replaced",
        min_length=1,
        json_schema_extra=parameter_aliases("find", "oldText", "search", "old"),
    ),
]
ReplaceText = Annotated[
    str,
    Field(
        description="text to put in its place",
        json_schema_extra=parameter_aliases("replace", "newText", "replacement", "new", "with"),
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
