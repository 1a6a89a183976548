"""The text of a file, whatever it is: text, source code, HTML, PDF, Word.

for part in text_of(file, "report.pdf"):    Part("page 1", "...")
"""

from pathlib import PurePath
from typing import BinaryIO, Literal, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.neutralizer import spelled
from andy_cli.toolbox.documents import docx, pdf
from andy_cli.toolbox.documents.charsets import declared_in, decoded
from andy_cli.toolbox.documents.html import plain_text

PAGES = (".html", ".htm", ".xhtml", ".shtml")
BINARY = frozenset(
    """.7z .a .aac .apk .avi .bin .bmp .bz2 .class .db .deb .dll .dmg .doc .dylib .eot .exe
    .flac .gguf .gif .gz .heic .ico .img .iso .jar .jpeg .jpg .lib .lzma .m4a .m4v .mid .mkv .mov
    .mp3 .mp4 .mpeg .mpg .msi .npy .npz .o .obj .odp .ods .odt .ogg .opus .otf .parquet .pickle
    .pkl .png .ppt .pptx .psd .pyc .pyd .pyo .rar .rpm .so .sqlite .sqlite3 .tar .tgz .tif .tiff
    .ttf .war .wasm .wav .weba .webm .webp .whl .wma .wmv .woff .woff2 .xls .xlsx .xz .zip
    .zst""".split()
)
"""What is not looked into: it holds no text that could be read."""

SNIFFED = 8192
CONTROLS = bytes({*range(9), *range(14, 32), 127} - {27})
"""Rare in text; colours begin with 27."""

FEW = 8

OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""A zip file, or the container of an encrypted document."""


class Part(NamedTuple):
    place: str
    """`page 3`, or nothing where there are no pages."""
    text: str
    unit: str = ""
    """What a line of the text is one of: a `line` of the file, a `paragraph`, or nothing."""


def is_binary(name: str) -> bool:
    """Whether the name alone says that there is no text in it."""
    return PurePath(name).suffix.lower() in BINARY


def form_of(head: bytes, name: str) -> Literal["pdf", "word", "page", "text", ""]:
    """What a file of this name that begins like this is; nothing if no text can be had of it."""
    suffix = PurePath(name).suffix.lower()
    if head.startswith(b"%PDF-"):
        return "pdf"
    if suffix == ".docx" and head.startswith(OFFICE):
        return "word"
    if is_binary(name) or not looks_like_text(head):
        return ""
    return "page" if suffix in PAGES else "text"


def text_of(file: BinaryIO, name: str, most: int = 50_000_000) -> list[Part]:
    """The text of an open file, in parts; at most so many bytes are read.

    Raises ToolError for one that is larger, damaged, encrypted, or no text at all.
    """
    form = form_of(file.read(SNIFFED), name)
    file.seek(0)
    if form == "pdf":
        return [Part(f"page {at}", text) for at, text in enumerate(pdf.pages(file), 1)]
    if form == "word":
        return [Part("", docx.text(file), "paragraph")]
    if not form:
        raise ToolError(f"{spelled(PurePath(name).name)} holds no text that can be read.")
    data = file.read(most + 1)
    if len(data) > most:
        raise ToolError(f"{spelled(PurePath(name).name)} is larger than {most / 1e6:g} MB.")
    if form == "page":
        title, text = plain_text(decoded(data, declared_in(data)))
        return [Part("", f"{title}\n\n{text}".strip())]
    return [Part("", decoded(data), "line")]


def looks_like_text(head: bytes) -> bool:
    """Whether a file that begins like this is text; an empty one is."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    controls = len(head) - len(head.translate(None, CONTROLS))
    return b"\0" not in head and controls <= max(FEW, len(head) // 50)
