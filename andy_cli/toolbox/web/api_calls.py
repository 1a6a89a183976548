"""One request as it was asked for, and its answer as text: status, headers, body."""

from andy_cli.toolbox.documents.charsets import decode_text
from andy_cli.toolbox.documents.text import SNIFFED, looks_like_text
from andy_cli.toolbox.files.changes import FileWrite, describe_written, read_place
from andy_cli.toolbox.files.names import show_path
from andy_cli.toolbox.runtime_context import GrantedPath
from andy_cli.toolbox.tool import Display
from andy_cli.toolbox.web.client import (
    FetchedAnswer,
    WebAnswer,
    WebRequest,
    fetch_answer,
    open_answer,
)
from andy_cli.toolbox.web.files import KeptAnswer, keep_answer
from andy_cli.toolbox.web.limits import file_limits, page_limits
from andy_cli.toolbox.web.reading import describe_type, named_charset, status_of

MAX_TOLD_CHARACTERS = 24_000
"""Characters of a body that are told."""

INTERESTING = frozenset(
    """content-type content-language location etag last-modified retry-after link allow
    www-authenticate x-request-id ratelimit ratelimit-limit ratelimit-remaining ratelimit-reset
    x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset x-total-count""".split()
)
MAX_HEADER_LENGTH = 300
MAX_REFUSAL_BYTES = 4 * MAX_TOLD_CHARACTERS
"""Of the body of an error that are read: a character has four at most."""


async def call_address(request: WebRequest) -> tuple[str, int]:
    """The answer, and its status.

        HTTP 200 OK
        content-type: application/json

        {"user_name": "ada"}

    The body is told as it came: names in it are the server's. Raises ToolError for what never came
    to an answer; an answer of whatever status is one.
    """
    answer = await fetch_answer(request, page_limits())
    return f"{_answer_head(answer, request)}\n\n{_answer_body(answer)}".rstrip(), answer.status


async def call_into_file(request: WebRequest, granted: GrantedPath) -> tuple[str, int, FileWrite]:
    """The head of the answer as `call_address` tells it, its status, and the file with its body.

    An error is no file: what is there stays, and the answer is told.
    """
    earlier = read_place(granted)
    async with open_answer(request, file_limits()) as arriving:
        if not 200 <= arriving.status < 300:
            answer = await _read_refusal(arriving)
            note = f"({granted.path} was not written: the answer is an error)"
            parts = (_answer_head(answer, request), note, _answer_body(answer, may_be_kept=False))
            nothing_kept = FileWrite(f"kept nothing in {show_path(granted.path)}", Display())
            return "\n\n".join(parts).rstrip(), answer.status, nothing_kept
        kept = await keep_answer(arriving, granted)
    note = f"(kept {kept.bytes} bytes in {granted.path})"
    written = describe_written(granted, earlier, kept.bytes, kept.is_new)
    return f"{_answer_head(kept, request)}\n\n{note}", kept.status, written


async def _read_refusal(arriving: WebAnswer) -> FetchedAnswer:
    """Read the body of an error, as much of it as is told."""
    body = bytearray()
    async for data in arriving.pieces:
        body += data
        if len(body) > MAX_REFUSAL_BYTES:
            break
    return FetchedAnswer(arriving.url, arriving.status, arriving.headers, bytes(body))


def _answer_head(answer: FetchedAnswer | KeptAnswer, request: WebRequest) -> str:
    lines = [f"HTTP {status_of(answer.status)}"]
    if answer.url != request.url:
        lines.append(f"from: {answer.url}")
    headers = answer.headers.items()
    lines += [
        f"{name}: {value[:MAX_HEADER_LENGTH]}" for name, value in headers if name in INTERESTING
    ]
    return "\n".join(lines)


def _answer_body(answer: FetchedAnswer, may_be_kept: bool = True) -> str:
    if not answer.body:
        return ""
    if not looks_like_text(answer.body[:SNIFFED]):
        return f"({describe_type(answer)}{'; name a path to keep it as a file' * may_be_kept})"
    text = decode_text(answer.body, named_charset(answer))
    if len(text) <= MAX_TOLD_CHARACTERS:
        return text
    cut_note = f"the first {MAX_TOLD_CHARACTERS} characters"
    if may_be_kept:
        cut_note = (
            f"the first {MAX_TOLD_CHARACTERS} of {len(text)} characters; "
            "name a path to keep all of it as a file"
        )
    return f"{text[:MAX_TOLD_CHARACTERS]}\n\n({cut_note})"
