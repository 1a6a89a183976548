"""The text of a document in Rich Text Format (.rtf)."""

from collections.abc import Callable

from andy_cli.errors import ToolError

MISSING = "Reading RTF needs striprtf: pip install 'andy-cli[docs]'"


def read_rich_text(data: bytes) -> str:
    """Read what is written, without its form. Raises ToolError where striprtf is missing, and for
    what cannot be read.
    """
    try:
        from striprtf.striprtf import rtf_to_text  # an extra
    except ImportError as error:
        raise ToolError(MISSING) from error
    convert: Callable[..., str] = rtf_to_text
    try:
        # What is not ASCII stands in escapes, of the charset that the document names.
        return convert(data.decode("latin-1"), errors="replace")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ToolError("The RTF document is damaged and cannot be read.") from error
