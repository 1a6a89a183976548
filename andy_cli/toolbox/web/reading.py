"""The text of a page, a window at a time: Markdown of HTML, text of PDF, all else as it is."""

import asyncio
import html
import json
import os
import re
import sys
from http import HTTPStatus
from typing import Literal, NamedTuple
from urllib.parse import urljoin

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.toolbox.documents.charsets import declared_in, decode_text
from andy_cli.toolbox.documents.formats.pdf import is_pdf
from andy_cli.toolbox.documents.html import plain_text
from andy_cli.toolbox.documents.text import SNIFFED, looks_like_text
from andy_cli.toolbox.files.kinds import UNKNOWN, kind_of_bytes, name_one
from andy_cli.toolbox.files.names import show_size
from andy_cli.toolbox.web.client import FetchedAnswer, WebRequest, fetch_answer
from andy_cli.toolbox.web.failures import show_text
from andy_cli.toolbox.web.limits import host_of, page_limits

MAX_PAGE_SIZE = 3_000_000
"""Characters of HTML that are read; what comes after them is scripts or no page."""

TIMEOUT = 15.0
"""Seconds for taking a page apart."""

KINDS = {"image": "an image", "audio": "sound", "video": "a film", "font": "a font"}
KEEPING = "api_call with a path keeps it as a file; file_ingest reads that if it is a document."
LEADS_ON = re.compile(
    r"<meta\b(?=[^>]{0,300}http-equiv\s*=\s*[\"']?refresh)"
    r"[^>]{0,300}?\burl\s*=\s*[\"']?([^\"'>\s]{1,2000})",
    re.IGNORECASE,
)
"""A page that sends browsers on: `<meta http-equiv="refresh" content="0; url=/en/">`."""
MAX_HEAD_BYTES = 100_000
PAGES = ("text/html", "application/xhtml+xml")


ACCEPTED = (
    "text/html, application/xhtml+xml, text/plain, application/json, application/pdf, */*;q=.5"
)

MAX_REFUSAL = 1_000
"""Characters that are quoted of the page of an error."""

BUSY, CLOSED = (408, 425, 429), (401, 402, 403, 407, 451)
"""Statuses of a server that has too much to do, and of one that wants to know who asks."""


class PageText(NamedTuple):
    title: str
    text: str


async def read_window(url: str, offset: int, most_characters: int) -> tuple[str, str]:
    """Title, address and so many characters of a page's text; and the host, for the screen.

    Raises ToolError for an answer that is no page, and for an offset after its end.
    """
    page = await fetch_answer(WebRequest(url, headers={"accept": ACCEPTED}), page_limits())
    host = spell_out(host_of(page.url))
    if not 200 <= page.status < 300:
        raise ToolError(
            f"{host} answered {status_of(page.status)}, not with a page. {_advise(page)}",
            _quote_refusal(page),
        )
    title, text = await text_of(page)
    text = text.strip()
    if not text:
        raise ToolError(*_explain_empty(page, host))
    if offset >= len(text):
        size = f"The page has {len(text)} characters"
        raise ToolError(f"{size}: an offset of {offset} is past its end.")
    shown_text = text[offset : offset + most_characters]
    head = f"# {title}\n{page.url}\n\n" if title else f"{page.url}\n\n"
    end = offset + len(shown_text)
    if len(shown_text) == len(text):
        return head + shown_text, host
    advice = f" Go on with offset {end}." if end < len(text) else ""
    return f"{head}{shown_text}\n\n[Characters {offset} to {end} of {len(text)}.{advice}]", host


def _advise(page: FetchedAnswer) -> str:
    """Say what may help where a server answers so."""
    if page.status in BUSY or page.status >= 500:
        seconds = page.headers.get("retry-after", "")
        is_count = seconds.isascii() and seconds.isdecimal() and len(seconds) < 6
        return f"Try it again in {seconds} s." if is_count else "Try it again later."
    return "It is not open to everybody." if page.status in CLOSED else "Check the address."


def _quote_refusal(page: FetchedAnswer) -> str:
    """Quote the words that came with an error, as they often say what is wrong; nothing of what
    holds no text.
    """
    try:
        kind = kind_of(page)
    except ToolError:
        return ""
    if kind == "pdf":
        return ""
    text = decode_text(page.body[:MAX_HEAD_BYTES], named_charset(page) or declared_in(page.body))
    if kind == "page":  # the few words of an error need no process of their own to find them
        text = " ".join(plain_text(text))
    words = one_line(" ".join(text.split()))
    shown_words = words if len(words) <= MAX_REFUSAL else f"{words[:MAX_REFUSAL]}..."
    return f"It says: {shown_words}" if words else ""


def _explain_empty(page: FetchedAnswer, host: str) -> tuple[str, str]:
    """Say why there is no text in an answer, and what to do then."""
    if is_pdf(page.body[:SNIFFED]):
        return f"The PDF of {host} holds no text: its pages are pictures.", ""
    if not page.body:
        return f"The answer of {host} is empty.", ""
    head = decode_text(page.body[:MAX_HEAD_BYTES], named_charset(page))
    if leads_on := LEADS_ON.search(head):
        target = show_text(urljoin(page.url, html.unescape(leads_on[1])))
        return f"There is no text on this page of {host}: it leads to {target}.", "Fetch that."
    return f"There is no text on this page of {host}: it may be made by scripts.", ""


def status_of(status: int) -> str:
    """`404 Not Found`"""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def kind_of(page: FetchedAnswer) -> Literal["page", "pdf", "text"]:
    """Tell what came, by what is in it before what it is called. Raises ToolError for what holds no
    text, saying what it is.
    """
    head, declared_type = page.body[:SNIFFED], media_type(page)
    if is_pdf(head):
        return "pdf"
    is_media = declared_type.partition("/")[0] in KINDS and declared_type != "image/svg+xml"
    if is_media or not looks_like_text(head):
        raise ToolError(f"{describe_type(page)}: there is no text to read.", KEEPING)
    text_start = head.lstrip()[:100].lower()
    is_page = declared_type in PAGES or text_start.startswith((b"<!doctype html", b"<html"))
    return "page" if is_page else "text"


def describe_type(page: FetchedAnswer) -> str:
    """`It is a PNG picture of 34.0 kB`"""
    declared_type = media_type(page)
    known_name = kind_of_bytes(page.body[:SNIFFED])
    other = "" if declared_type.startswith("text/") else show_text(declared_type)
    called = KINDS.get(declared_type.partition("/")[0]) or other or "binary data"
    if known_name not in ("", UNKNOWN):
        called = name_one(known_name)
    return f"It is {called} of {show_size(len(page.body))}"


def media_type(page: FetchedAnswer) -> str:
    return page.headers.get("content-type", "").partition(";")[0].strip().lower()


def named_charset(page: FetchedAnswer) -> str:
    """The charset that the server names."""
    header_parts = page.headers.get("content-type", "").lower().partition("charset=")
    return header_parts[2].partition(";")[0].strip(" \"'")


async def text_of(page: FetchedAnswer) -> PageText:
    """Raises ToolError for what holds no text that can be read."""
    kind = kind_of(page)
    if kind == "text":
        return PageText("", decode_text(page.body, named_charset(page)))
    if kind == "pdf":
        try:
            return await _read_apart("pdf", page.url, page.body)
        except TimeoutError as error:
            raise ToolTimeout(f"The PDF takes longer than {TIMEOUT:g} s to read.") from error
        except _Failed as error:
            raise ToolError("The PDF is damaged or too much to be read.") from error
    page_html = decode_text(page.body, named_charset(page) or declared_in(page.body))[
        :MAX_PAGE_SIZE
    ]
    try:
        return await _read_apart("page", page.url, page_html.encode("utf-8", "replace"))
    except (TimeoutError, _Failed):
        # It is more than a page: what it says is still there.
        return PageText(*plain_text(page_html))


class _Failed(Exception):
    """The process that reads has ended without an answer."""


async def _read_apart(kind: str, url: str, data: bytes) -> PageText:
    reader_input = json.dumps({"kind": kind, "url": url}).encode() + b"\n" + data
    reader = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "andy_cli.toolbox.web.reader",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_reader_environment(),
    )
    try:
        async with asyncio.timeout(TIMEOUT):
            reader_output, _ = await reader.communicate(reader_input)
    finally:
        if reader.returncode is None:
            reader.kill()
            await reader.wait()
    if reader.returncode:
        raise _Failed
    answer = json.loads(reader_output)
    if "error" in answer:
        raise ToolError(answer["error"])
    return PageText(answer["title"], answer["text"])


def _reader_environment() -> dict[str, str]:
    """Keep what Python needs to find our code, and nothing of the user's."""
    kept_variables = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ
    }
    return {
        **kept_variables,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONUTF8": "1",
    }
