"""The text of a mail that was saved to a file (.eml): its headers, its words, and what is attached.

Source: RFC 5322 and RFC 2045 to 2049.
"""

import email
import email.policy
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from typing import NamedTuple

from andy_cli.toolbox.documents.charsets import decode_text
from andy_cli.toolbox.documents.html import plain_text

SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
MAX_PARTS = 1000


def read_message(data: bytes) -> str:
    """Write a mail as a person reads it; of what is given as text and as a page the text alone, if
    there is any."""
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    parts = list_parts(message)
    headers = [
        f"{name}: {value}" for name in SHOWN_HEADERS if (value := read_header(message, name))
    ]
    attached = [name_attachment(part.message) for part in parts if is_attachment(part.message)]
    footer = [f"Attached: {', '.join(attached)}"] if attached else []
    return "\n\n".join(filter(None, ["\n".join(headers), *read_bodies(parts), *footer]))


class MailPart(NamedTuple):
    message: Message
    has_text: bool
    """True if the same is there as text beside it."""


def list_parts(message: Message) -> list[MailPart]:
    """List the parts that hold something, outermost first; a mail within a mail is one."""
    waiting, parts = [MailPart(message, has_text=False)], list[MailPart]()
    while waiting and len(parts) < MAX_PARTS:
        part = waiting.pop(0)
        inner = part.message.get_payload()
        if part.message.get_content_maintype() == "multipart" and isinstance(inner, list):
            inner_messages = [one for one in inner if isinstance(one, Message)]
            is_choice = part.message.get_content_subtype() == "alternative"
            has_text = part.has_text or (is_choice and any(map(is_plain_text, part.message.walk())))
            waiting[:0] = [MailPart(one, has_text) for one in inner_messages]
        else:
            parts.append(part)
    return parts


def is_plain_text(message: Message) -> bool:
    """Tell whether it is text that says something: many mails have an empty one beside a page."""
    is_text = message.get_content_type() == "text/plain" and not is_attachment(message)
    return is_text and bool(read_payload(message).strip())


def read_bodies(parts: list[MailPart]) -> Iterator[str]:
    """Read the words of the mail."""
    for part in parts:
        if is_attachment(part.message):
            continue
        if part.message.get_content_type() != "text/html":
            yield read_payload(part.message).strip()
        elif not part.has_text:
            yield plain_text(read_payload(part.message))[1].strip()


def read_payload(part: Message) -> str:
    payload = part.get_payload(decode=True)
    charset = part.get_content_charset() or ""
    text = decode_text(payload, charset) if isinstance(payload, bytes) else ""
    return text.replace("\r\n", "\n")


def is_attachment(part: Message) -> bool:
    # What is called multipart has no parts where it is damaged.
    is_text = part.get_content_maintype() in ("text", "multipart")
    return not is_text or part.get_content_disposition() == "attachment"


def name_attachment(part: Message) -> str:
    """`plan.pdf`, or `message/rfc822` of one without a name."""
    return decode_words(part.get_filename() or part.get_content_type())


def read_header(message: Message, name: str) -> str:
    return decode_words(" ".join(str(message.get(name, "")).split()))


def decode_words(value: str) -> str:
    """Decode the encoded words of a header; what is none of them stays as it is."""
    try:
        return str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, ValueError):
        return value
