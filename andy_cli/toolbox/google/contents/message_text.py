"""A message of Gmail as a person reads it. Pure.

The resource is that of gmail.v1 (`Message`, `MessagePart`): a tree of parts, their bytes in
base64url, already without transfer encoding.
"""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from andy_cli.foreign_values import as_record, as_records, decode_base64url, text_of
from andy_cli.toolbox.documents.charsets import decode_text
from andy_cli.toolbox.documents.html import TextStyle, html_to_text
from andy_cli.toolbox.google.http.service import Record

MAX_DEPTH = 50
"""Parts within parts."""

CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
PARTS = 1_000
MAX_HTML_SIZE = 1_000_000
"""Characters of HTML that are looked at."""
MAIL_STYLE = TextStyle(cell=" ", links=True)


class MailBody(NamedTuple):
    data: str
    """base64url, or empty where it has to be fetched."""
    attachment: str
    """The id to fetch it by."""
    kind: str
    charset: str


def message_headers(message: Record) -> dict[str, str]:
    """The headers of the outermost part, their names in lower case; the first of each."""
    payload = as_record(message.get("payload"))
    headers: dict[str, str] = {}
    for header in as_records(payload.get("headers")):
        name = text_of(header, "name").lower()
        headers.setdefault(name, _decode_header(text_of(header, "value")))
    return headers


def _decode_header(value: str) -> str:
    """Without encoded words (RFC 2047)."""
    if "=?" not in value:
        return value
    from andy_cli.toolbox.documents.formats.mail import decode_words  # 10 ms, and Gmail mostly has

    return decode_words(value)


def list_bodies(message: Record) -> list[MailBody]:
    """List the parts to read, in order; of alternatives the first plain text that says something,
    else the last one that does."""
    return _list_bodies(as_record(message.get("payload")))


def _list_bodies(message_part: Record, depth: int = 0) -> list[MailBody]:
    kind = text_of(message_part, "mimeType").lower()
    if text_of(message_part, "filename") or depth > MAX_DEPTH:
        return []
    if kind in ("text/plain", "text/html"):
        body = _read_part(message_part, kind)
        return [body] if _says_something(body) else []
    parts = as_records(message_part.get("parts"))[:PARTS]
    bodies = [_list_bodies(inner_part, depth + 1) for inner_part in parts]
    if kind == "multipart/alternative":
        return _choose_alternative(list(filter(None, bodies)))
    return list(itertools.chain(*bodies))


def _choose_alternative(alternatives: list[list[MailBody]]) -> list[MailBody]:
    for bodies in alternatives:
        if all(body.kind == "text/plain" for body in bodies):
            return bodies
    return alternatives[-1] if alternatives else []


def _read_part(message_part: Record, kind: str) -> MailBody:
    body = as_record(message_part.get("body"))
    content_type = message_headers({"payload": message_part}).get("content-type", "")
    charset = CHARSET.search(content_type)
    return MailBody(
        text_of(body, "data"),
        text_of(body, "attachmentId"),
        kind,
        charset[1] if charset else "utf-8",
    )


def _says_something(body: MailBody) -> bool:
    if not body.data:
        return bool(body.attachment)  # its text is fetched only when it is read
    return bool(read_body(body, body.data).strip())


def read_body(body: MailBody, data: str) -> str:
    """The text of a part whose data is here by now."""
    try:
        decoded = decode_base64url(data)
    except ValueError:
        return ""
    written = _decode_body(decoded, body.charset)
    if body.kind != "text/html":
        return written.replace("\r\n", "\n")
    return html_to_text(written[:MAX_HTML_SIZE], MAIL_STYLE)[1]


def _decode_body(encoded: bytes, charset: str) -> str:
    """Gmail mostly has made UTF-8 of it, whatever the header says."""
    try:
        return encoded.decode("utf-8")
    except UnicodeDecodeError:
        return decode_text(encoded, charset)


def list_attachments(message: Record) -> list[dict[str, object]]:
    attachments: list[dict[str, object]] = []
    for message_part in _list_parts(as_record(message.get("payload"))):
        if name := text_of(message_part, "filename"):
            kind = text_of(message_part, "mimeType")
            size = as_record(message_part.get("body")).get("size")
            attachments.append({"name": name, "mimeType": kind, "bytes": size})
    return attachments


def _list_parts(payload: Record, depth: int = 0) -> Iterator[Record]:
    yield payload
    if depth < MAX_DEPTH:
        for message_part in as_records(payload.get("parts"))[:PARTS]:
            yield from _list_parts(message_part, depth + 1)
