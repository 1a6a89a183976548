"""The text of an EPUB book (.epub), chapter by chapter.

    META-INF/container.xml:     <rootfile full-path="EPUB/package.opf"/>
    EPUB/package.opf:           <item id="c1" href="one.xhtml"/>  ...  <itemref idref="c1"/>

Source: EPUB 3.3, sections 4 and 5; EPUB 2 is the same there.
"""

import posixpath
from collections.abc import Iterator, Mapping
from typing import BinaryIO
from urllib.parse import unquote

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.charsets import declared_in, decode_text
from andy_cli.toolbox.documents.formats.package import opened_package, plain_name
from andy_cli.toolbox.documents.html import plain_text

CONTAINER = "META-INF/container.xml"
CONTAINER_NAMESPACE = ("urn:oasis:names:tc:opendocument:xmlns:container",)
PACKAGE_NAMESPACE = ("http://www.idpf.org/2007/opf",)


def read_chapters(file: BinaryIO) -> Iterator[str]:
    """Give the text of each chapter in order. Raises ToolError for what cannot be read."""
    with opened_package(file, "EPUB book", CONTAINER) as package:
        book_reader = _Book()
        package.parse(CONTAINER, book_reader.start)
        package.parse(book_reader.contents, book_reader.start)
        for link_id in book_reader.order:
            path = posixpath.join(
                posixpath.dirname(book_reader.contents), unquote(book_reader.files[link_id])
            )
            name = posixpath.normpath(path)
            if name not in package.names:
                yield "(this chapter is missing in the file)"
                continue
            page = package.read(name)
            if b"\0" in page:
                raise ToolError("The book is protected: its text cannot be read.")
            yield plain_text(decode_text(page, declared_in(page)))[1]


class _Book:
    """The place of a book's contents, its files, and the order in which they are read."""

    def __init__(self) -> None:
        self.contents = ""
        self.files: dict[str, str] = {}
        self.order: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if plain_name(name, CONTAINER_NAMESPACE) == "rootfile":
            self.contents = self.contents or attributes["full-path"]
        elif (kind := plain_name(name, PACKAGE_NAMESPACE)) == "item":
            # The table of contents, where it is a page of its own, is no chapter.
            if "nav" not in attributes.get("properties", "").split():
                self.files[attributes["id"]] = attributes["href"]
        elif kind == "itemref" and attributes["idref"] in self.files:
            self.order.append(attributes["idref"])
