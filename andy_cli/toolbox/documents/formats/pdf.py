"""The text of a PDF, page by page."""

import logging
import time
from collections.abc import Iterator
from typing import BinaryIO

from andy_cli.errors import ToolError, ToolTimeout

MISSING = "Reading PDF needs pypdf: pip install 'andy-cli[docs]'"
START = b"%PDF-"
BEFORE_START = b"\r\n\t\f \0\xef\xbb\xbf"
"""Bytes that careless programs write in front of a PDF, and every viewer passes over."""
MAX_PAGES = 5000
MAX_CHARACTERS = 20_000_000
TIMEOUT = 120.0
"""Seconds for one file; looked at between pages."""

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The errors of pypdf over damaged files, beside what it means to raise."""


def is_pdf(head: bytes) -> bool:
    """Tell whether a file that begins like this is a PDF."""
    return head.lstrip(BEFORE_START).startswith(START)


def pdf_pages(file: BinaryIO) -> Iterator[str]:
    """The pages in order, one without text as nothing. Raises ToolError for a file that is
    encrypted, damaged or too much, and where pypdf is missing."""
    try:
        import pypdf  # 0.3 s, and an extra
        from pypdf import errors
    except ImportError as error:
        raise ToolError(MISSING) from error
    # It writes what it thinks of a file to the screen.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    try:
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ToolError("The PDF is encrypted: its text needs a password.")
        yield from _limit_pages(page.extract_text() for page in reader.pages)
    except (errors.FileNotDecryptedError, errors.DependencyError) as error:
        raise ToolError("The PDF is encrypted: its text needs a password.") from error
    except (errors.PyPdfError, *FAULTS) as error:
        raise ToolError("The PDF is damaged and cannot be read.") from error


def _limit_pages(texts: Iterator[str]) -> Iterator[str]:
    deadline = time.monotonic() + TIMEOUT
    characters = 0
    for count, text in enumerate(texts):
        characters += len(text)
        if count >= MAX_PAGES or characters > MAX_CHARACTERS:
            raise ToolError("The PDF holds too much text to be read as a whole.")
        if time.monotonic() > deadline:
            raise ToolTimeout(f"The PDF takes longer than {TIMEOUT:g} s to read.")
        # What is no character of any script cannot be written down.
        yield text.encode("utf-8", "replace").decode("utf-8")
