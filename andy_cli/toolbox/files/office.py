"""Documents among files: which have a reader, and their text in parts."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from andy_cli.toolbox.work import Work

READABLE = frozenset(
    {
        "PDF document",
        "Word document",
        "Excel sheet",
        "PowerPoint presentation",
        "EPUB book",
        "OpenDocument file",
    }
)
"""Kinds, as `kinds.kind` calls them."""
UNCLEAR = frozenset({"ZIP archive", "Office document of the old kind"})
"""Kinds of which the name of the file says more: a document may begin with a large picture, and
one that is encrypted is in a container of the old kind."""
SUFFIXES = (
    *(".docx", ".docm", ".pptx", ".pptm", ".ppsx", ".xlsx", ".xlsm"),
    *(".odt", ".ods", ".odp", ".epub"),
)


class DocumentPart(NamedTuple):
    place: str
    """`page 3`, `sheet Sales`; nothing where there are no parts."""
    text: str


def is_document(kind: str, name: str) -> bool:
    """Tell whether there is a reader for a file of this kind and name."""
    return kind in READABLE or (kind in UNCLEAR and name.lower().endswith(SUFFIXES))


def read_document(file: BinaryIO, name: str, work: Work) -> Iterator[DocumentPart]:
    """Give the text of an open document, part by part. Raises ToolError for what cannot be read."""
    # The readers of documents are imported when there is a document.
    from andy_cli.toolbox.documents.text import text_of

    for text_part in text_of(file, name, go_on=work.go_on):
        work.go_on()
        yield DocumentPart(text_part.place, text_part.text)
