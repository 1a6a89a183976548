"""The content for a file, as a model gives it: text, or base64 for what is no text.

content_of("hello", "")                         b"hello"
content_of("aGVsbG8=", "image/png")             b"hello"
content_of("data:image/png;base64,aGVsbG8=", "")     b"hello"
"""

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import one_line

TEXTUAL = re.compile(
    r"text/.*|.*[+/](?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|typescript|sql|x-sh"
    r"|x-httpd-php|x-www-form-urlencoded|graphql|x-ndjson|x-tex|rtf)"
)
DATA_URL = re.compile(r"data:([\w.+/-]*)((?:;[\w.+-]+=[^;,]*)*)(;base64)?,(.*)", re.DOTALL)


def content_of(content: str, mime_type: str) -> bytes:
    """The bytes of a file. Raises ToolError for a binary type whose content is no base64."""
    kind = mime_type.partition(";")[0].strip().lower()
    url = DATA_URL.fullmatch(content.strip()) if content.lstrip()[:5] == "data:" else None
    if url and (kind or url[1]) and not is_text(kind or url[1].lower()):
        packed = url[4]
        return _unpack_content(packed, kind or url[1]) if url[3] else unquote_to_bytes(packed)
    return content.encode("utf-8", "replace") if is_text(kind) else _unpack_content(content, kind)


def is_text(kind: str) -> bool:
    """Tell whether a MIME type means text; none at all does."""
    return not kind or TEXTUAL.fullmatch(kind) is not None


def _unpack_content(content: str, kind: str) -> bytes:
    packed = "".join(content.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(
            f"The content of a file of type {one_line(kind)[:80]} is given in base64, "
            "and this is none.",
            "Encode it, or give a type that is text.",
        ) from error
