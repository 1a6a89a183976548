"""The kind of a file, told from its first bytes: text, or a name for what is not.

kind(head)      "" for text, else "PNG picture", "ZIP archive", ...
"""

from andy_cli.toolbox.documents.charsets import BOMS
from andy_cli.toolbox.documents.formats.pdf import is_pdf

SAMPLE_BYTES = 8192
"""Bytes that are looked at."""

MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG picture"),
    (0, b"\xff\xd8\xff", "JPEG picture"),
    (0, b"GIF87a", "GIF picture"),
    (0, b"GIF89a", "GIF picture"),
    (8, b"WEBP", "WebP picture"),
    (0, b"II*\0", "TIFF picture"),
    (0, b"MM\0*", "TIFF picture"),
    (0, b"\0\0\1\0", "icon"),
    (0, b"8BPS", "Photoshop picture"),
    (4, b"ftypheic", "HEIC picture"),
    (4, b"ftypavif", "AVIF picture"),
    (4, b"ftyp", "video"),
    (0, b"\x1aE\xdf\xa3", "video"),
    (8, b"AVI ", "video"),
    (8, b"WAVE", "WAV sound"),
    (0, b"ID3", "MP3 song"),
    (0, b"\xff\xfb", "MP3 song"),
    (0, b"OggS", "Ogg sound"),
    (0, b"fLaC", "FLAC sound"),
    (0, b"MThd", "MIDI file"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office document of the old kind"),
    (0, b"PK\3\4", "ZIP archive"),
    (0, b"PK\5\6", "ZIP archive"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (0, b"Rar!\x1a\7", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\x7fELF", "program"),
    (0, b"MZ", "Windows program"),
    (0, b"\xcf\xfa\xed\xfe", "program"),
    (0, b"\xca\xfe\xba\xbe", "program"),
    (0, b"\0asm", "WebAssembly program"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"wOFF", "font"),
    (0, b"wOF2", "font"),
    (0, b"\0\1\0\0\0", "font"),
    (0, b"OTTO", "font"),
    (0, b"GGUF", "language model"),
)
OFFICE = (
    (b"word/", "Word document"),
    (b"xl/", "Excel sheet"),
    (b"ppt/", "PowerPoint presentation"),
    (b"mimetypeapplication/epub+zip", "EPUB book"),
    (b"mimetypeapplication/vnd.oasis.opendocument", "OpenDocument file"),
)
"""The marks of a document that is an archive: they stand in the names of its first members."""

TEXTUAL = (
    "document",
    "document of the old kind",
    "sheet",
    "presentation",
    "book",
    "OpenDocument file",
    "archive",
    "database",
)
"""Endings of the names of those that hold text, if in a form of their own; pictures do not."""

READABLE = frozenset({"PDF document", *dict(OFFICE).values()})
"""Kinds of which there is a reader in `toolbox/documents`."""
UNCLEAR = frozenset({"ZIP archive", "Office document of the old kind"})
"""Kinds of which the name of the file says more: a document may begin with a large picture, and
one that is encrypted is in a container of the old kind."""
SUFFIXES = (
    *(".docx", ".docm", ".pptx", ".pptm", ".ppsx", ".xlsx", ".xlsm"),
    *(".odt", ".ods", ".odp", ".epub"),
)

ENCODED_SUFFIXES = (".eml", ".rtf")
"""Of files that are text themselves, in which words are encoded."""

PLAIN = bytes({7, 8, 9, 10, 11, 12, 13, 27, *range(0x20, 0x7F), *range(0x80, 0x100)})
"""Bytes that stand in texts of some encoding; escape sequences too."""
UNKNOWN = "binary file"
MAX_BINARY_SHARE = 0.1
"""The part of other bytes from which on it is no text."""


def kind_of_bytes(head: bytes) -> str:
    """A name for what begins with these bytes; empty for text, which nothing is too."""
    if is_pdf(head):
        return "PDF document"
    if any(head.startswith(byte_order_mark) for byte_order_mark, _ in BOMS) or _is_text(head):
        return ""
    names = (name for offset, magic, name in MAGIC if head.startswith(magic, offset))
    name = next(names, UNKNOWN)
    return _document_kind(head) or name if name == "ZIP archive" else name


def _document_kind(head: bytes) -> str:
    return next((name for marker, name in OFFICE if marker in head), "")


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    return len(head.translate(None, PLAIN)) <= len(head) * MAX_BINARY_SHARE


def holds_text(name: str) -> bool:
    """Tell whether there may be text inside of such a file, though it is none itself."""
    return name.endswith(TEXTUAL)


def name_one(name: str) -> str:
    """`a PNG picture`, `an MP3 song`."""
    return f"{'an' if name.startswith(('A', 'E', 'I', 'O', 'MP3', 'i')) else 'a'} {name}"


def advise_kind(name: str) -> str:
    """Advice on what can be done with such a file; empty where nothing can."""
    if name == "MP3 song":
        return "play_mp3 plays it."
    if name == "Office document of the old kind":
        return "Save it as .docx, .xlsx or .pptx: then file_ingest reads its text."
    if name.endswith(("document", "sheet", "presentation", "book", "OpenDocument file")):
        return "file_ingest reads the text of documents."
    return ""


def is_document(kind: str, name: str) -> bool:
    """Tell whether there is a reader for a file of this kind and name."""
    if not kind:
        return name.lower().endswith(ENCODED_SUFFIXES)
    return kind in READABLE or (kind in UNCLEAR and name.lower().endswith(SUFFIXES))
