"""The text of a file, whatever it is: text, source code, HTML, PDF, office documents, books, mails.

for part in text_of(file, "report.pdf"):    Part("page 1", "...")
"""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.documents.charsets import declared_in, decode_text
from andy_cli.toolbox.documents.formats import docx, epub, mail, opendocument, pdf, pptx, rtf, xlsx
from andy_cli.toolbox.documents.html import plain_text
from andy_cli.toolbox.runtime_context import GoOn, go_on_always

PAGES = (".html", ".htm", ".xhtml", ".shtml")
BINARY = frozenset(
    """.7z .a .aac .apk .avi .bin .bmp .bz2 .class .db .deb .dll .dmg .doc .dylib .eot .exe
    .flac .gguf .gif .gz .heic .ico .img .iso .jar .jpeg .jpg .lib .lzma .m4a .m4v .mid .mkv .mov
    .mp3 .mp4 .mpeg .mpg .msi .npy .npz .o .obj .ogg .opus .otf .parquet .pickle
    .pkl .png .ppt .psd .pyc .pyd .pyo .rar .rpm .so .sqlite .sqlite3 .tar .tgz .tif .tiff
    .ttf .war .wasm .wav .weba .webm .webp .whl .wma .wmv .woff .woff2 .xls .xz .zip
    .zst""".split()
)
"""Kinds that are not looked into: they hold no text that could be read."""

SNIFFED = 8192
CONTROLS = bytes({*range(9), *range(14, 32), 127} - {27})
"""Rare in text; colours begin with 27."""

FEW_CONTROLS = 8

OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""A zip file, or the container of an encrypted document."""


MISSING = frozenset([pdf.MISSING, rtf.MISSING, xlsx.MISSING])
"""The sentences for where a package is missing that could read a file."""


class TextPart(NamedTuple):
    place: str
    """`page 3`, `slide 2`, `sheet Sales`, `chapter 1`; nothing where there are no parts."""
    text: str
    unit: str = ""
    """The unit of a line of the text: a `line` of the file, a `paragraph`, or nothing."""


DocumentReader = Callable[[BinaryIO, GoOn], Iterator[TextPart]]


def _read_numbered(read_texts: Callable[[BinaryIO], Iterable[str]], unit: str) -> DocumentReader:
    """Make the reader of what has parts without names: pages, slides, chapters."""

    def read(file: BinaryIO, go_on: GoOn) -> Iterator[TextPart]:
        for number, text in enumerate(read_texts(file), 1):
            go_on()
            yield TextPart(f"{unit} {number}", text)

    return read


_read_pdf = _read_numbered(pdf.pdf_pages, "page")
_read_slides = _read_numbered(pptx.read_slides, "slide")


def _read_word(file: BinaryIO, go_on: GoOn) -> Iterator[TextPart]:
    for part_name, text in docx.read_parts(file):
        yield TextPart(part_name, text, "" if part_name else "paragraph")


def _read_sheets(file: BinaryIO, go_on: GoOn) -> Iterator[TextPart]:
    for name, text in xlsx.read_sheets(file, go_on):
        yield TextPart(f"sheet {name}", text)


def _open_document(file: BinaryIO, go_on: GoOn) -> Iterator[TextPart]:
    for part_name, text in opendocument.read_parts(file):
        yield TextPart(part_name, text, "" if part_name else "paragraph")


OFFICE_READERS: dict[str, DocumentReader] = {
    ".docx": _read_word,
    ".docm": _read_word,
    ".pptx": _read_slides,
    ".pptm": _read_slides,
    ".ppsx": _read_slides,
    ".xlsx": _read_sheets,
    ".xlsm": _read_sheets,
    ".odt": _open_document,
    ".ods": _open_document,
    ".odp": _open_document,
    ".epub": _read_numbered(epub.read_chapters, "chapter"),
}
"""By the end of the name."""
TEXT_READERS: dict[str, Callable[[bytes], str]] = {
    ".eml": mail.read_message,
    ".rtf": rtf.read_rich_text,
}
"""The same of files that are text themselves, in which words are encoded."""
MEMBERS = {
    docx.MAIN: ".docx",
    pptx.START: ".pptx",
    "xl/workbook.xml": ".xlsx",
    epub.CONTAINER: ".epub",
    opendocument.CONTENT: ".odt",
}
"""Members of archives that are documents, whatever these are called."""


def is_binary(name: str) -> bool:
    """Tell whether the name alone says that there is no text in it."""
    return PurePath(name).suffix.lower() in BINARY


def form_of(file: BinaryIO, name: str) -> str:
    """Say what an open file of this name is: `.pdf`, `.docx`, ..., `page`, `text`; nothing if no
    text can be had of it. The file stands at its start afterwards."""
    head = file.read(SNIFFED)
    document_form = _form_of_head(head, name) or _form_of_archive(file, head)
    file.seek(0)
    return document_form


def _form_of_head(head: bytes, name: str) -> str:
    suffix = PurePath(name).suffix.lower()
    if pdf.is_pdf(head):
        return ".pdf"
    if suffix in OFFICE_READERS and head.startswith(OFFICE):
        return suffix
    if is_binary(name) or not looks_like_text(head):
        return ""
    if suffix in TEXT_READERS:
        return suffix
    return "page" if suffix in PAGES else "text"


def text_of(
    file: BinaryIO, name: str, most_bytes: int = 50_000_000, go_on: GoOn = go_on_always
) -> Iterator[TextPart]:
    """Give the text of an open file, in parts; at most so many bytes of plain text are read.

    Raises ToolError for one that is larger, damaged, encrypted, or no text at all; and what `go_on`
    raises.
    """
    document_form = form_of(file, name)
    if document_form == ".pdf":
        yield from _read_pdf(file, go_on)
    elif reader := OFFICE_READERS.get(document_form):
        yield from reader(file, go_on)
    elif document_form:
        yield _read_plain(file, name, document_form, most_bytes)
    else:
        raise ToolError(f"{spell_out(PurePath(name).name)} holds no text that can be read.")


def _form_of_archive(file: BinaryIO, head: bytes) -> str:
    """Say which document an archive is whose name does not say it, or nothing."""
    if not head.startswith(b"PK\x03\x04"):
        return ""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return ""
    return next((document_form for member, document_form in MEMBERS.items() if member in names), "")


def _read_plain(file: BinaryIO, name: str, document_form: str, most_bytes: int) -> TextPart:
    data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ToolError(f"{spell_out(PurePath(name).name)} is larger than {most_bytes / 1e6:g} MB.")
    if read := TEXT_READERS.get(document_form):
        return TextPart("", read(data))
    if document_form == "page":
        title, text = plain_text(decode_text(data, declared_in(data)))
        return TextPart("", f"{title}\n\n{text}".strip())
    return TextPart("", decode_text(data), "line")


def looks_like_text(head: bytes) -> bool:
    """Tell whether a file that begins like this is text; an empty one is."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    controls = len(head) - len(head.translate(None, CONTROLS))
    return b"\0" not in head and controls <= max(FEW_CONTROLS, len(head) // 50)
