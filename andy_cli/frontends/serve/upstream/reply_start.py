"""Checks that an answer is one, and whole, before and after it is passed on.

A server may answer 200 and then say nothing, no choice, an error, or show a page: what fails before
it begins is an error, and may be asked again. Once anything of it was passed on, a client can only
be told that it broke off.
"""

import json
import re
from collections.abc import AsyncIterator, Iterable

from andy_cli.compiler.control_tokens import CLOSERS, REASONING
from andy_cli.errors import ModelError
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.models.http.wire import WireReader

CHOICE = re.compile(rb'"choices"\s*:\s*\[\s*\{')
END = re.compile(rb'"finish_reason"\s*:\s*"|"error"\s*:|\[DONE\]')


def match_in_json(markers: Iterable[str]) -> bytes:
    """Write an expression for markers in JSON, where some servers escape brackets and all that is
    not ASCII, with small or capital digits.

    Its branches are plain texts, which are searched for many times as fast as others.
    """
    spellings: list[str] = []
    for marker in markers:
        escaped = json.dumps(marker)[1:-1]
        wholly = escaped.replace("<", r"\u003c").replace(">", r"\u003e")
        capital = re.sub(r"(?<=\\u).{4}", lambda digits: digits[0].upper(), wholly)
        spellings += [marker, escaped, wholly, capital]
    return b"|".join(re.escape(spelling.encode()) for spelling in dict.fromkeys(spellings))


OPENINGS = {opener[0] for opener in REASONING if not opener[0].isalpha()}
FIRST_WORDS = re.compile(
    rb'"(?:content|refusal)"\s*:\s*"(?:\\[nrt]|\s)*+(?:(?P<opening>%b)|[^"\s])'
    rb'|"(?:reasoning|reasoning_content|tool_calls|function_call)"\s*:\s*["\[{]'
    % match_in_json(sorted(OPENINGS))
)
"""The beginning of an answer, or what shows that its server tells its parts apart."""
CLOSER = re.compile(match_in_json(CLOSERS))
MARKER_BYTES = 32
"""Bytes of an end that may stand in the piece before."""
MAX_HELD_BYTES = 2**16
"""Bytes that are held back at most."""
STATUSES = {"bad_request": 400, "context": 400, "filtered": 400, "rate_limit": 429, "quota": 429}
"""The status of an error inside a 200, by its kind; others are failures of the server (502)."""


def has_choice(data: bytes) -> bool:
    return CHOICE.search(data) is not None


def has_end(data: bytes) -> bool:
    return END.search(data) is not None


def begins_with_words(data: bytes) -> bool | None:
    """Tell whether the words of an answer are nothing but words; None while there are none.

    Thoughts and channels that a server leaves in the text begin with a bracket, or end with a
    marker where the prompt began them.
    """
    first = FIRST_WORDS.search(data)
    if first is None:
        return None
    return first["opening"] is None and CLOSER.search(data) is None


async def peek_words(chunks: AsyncIterator[bytes]) -> tuple[bool, AsyncIterator[bytes]]:
    """Tell whether a stream begins with words, and give the same bytes. Raises ApiError."""
    held_bytes = b""
    async for data in chunks:
        held_bytes += data
        begins = begins_with_words(held_bytes)
        if begins is not None or has_ping(data) or len(held_bytes) > MAX_HELD_BYTES:
            return begins is not False, _resume_chunks(held_bytes, chunks)
    return True, _resume_chunks(held_bytes, chunks)


def interrupted_error() -> ApiError:
    return ApiError(502, "The model's server broke off its reply.", "upstream_error")


def damaged_error() -> ApiError:
    return ApiError(502, "The model's server sent a reply that cannot be read.", "upstream_error")


def has_ping(data: bytes) -> bool:
    """Tell whether a comment is in it: the server keeps the connection open, and so must we."""
    return data.startswith(b":") or b"\n:" in data


async def read_sound(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pass bytes on in whole lines, as long as their events can be read. Raises ApiError.

    Only from an odd line on the events are read: to read them all costs four times what the rest
    of passing them on does.
    """
    reader: WireReader | None = None
    held_pieces: list[bytes] = []  # of a line that is not whole: an error can still stand before it
    async for data in chunks:
        lines_end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if lines_end:
            lines = b"".join((*held_pieces, data[:lines_end]))
            held_pieces.clear()
            reader = _check_lines(lines, reader)
            yield lines
        held_pieces.append(data[lines_end:])
    if held := b"".join(held_pieces):
        reader = _check_lines(held, reader)
        yield held


def _check_lines(lines: bytes, reader: WireReader | None) -> WireReader | None:
    """Return the reader that reads from here on, if one has to. Raises ApiError."""
    if reader is None:
        # Do all events look like objects? JSON has no line breaks in its texts: counting will do.
        begun = lines.count(b"\ndata:") + lines.startswith(b"data:")
        ended = lines.count(b"}\n") + lines.count(b"}\r\n") + lines.count(b"[DONE]")
        if begun == ended + lines.endswith(b"}"):
            return None
        reader = WireReader()
    reader.feed(lines if lines.endswith(b"\n") else lines + b"\n\n")
    if reader.damaged:
        raise damaged_error()
    return reader


async def begin_reply(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pass bytes on, once a choice was seen in them. Raises ApiError if there is none, or if what
    stands before it cannot be read."""
    held_bytes = b""
    async for data in chunks:
        held_bytes += data
        if has_choice(held_bytes) or has_ping(held_bytes) or len(held_bytes) > MAX_HELD_BYTES:
            _check_head(held_bytes)
            return _resume_chunks(held_bytes, chunks)
    raise explain_no_choice(held_bytes)


def _check_head(data: bytes) -> None:
    """Raises ApiError for an event up to the first choice that cannot be read."""
    choice = CHOICE.search(data)
    choice_end = data.find(b"\n\n", choice.start()) if choice else -1
    reader = WireReader()
    reader.feed(data[: choice_end + 2] if choice_end >= 0 else data)
    if reader.damaged:
        raise damaged_error()


async def _resume_chunks(held_bytes: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield held_bytes
    async for data in chunks:
        yield data


def explain_no_choice(data: bytes) -> ApiError:
    reader = WireReader()
    reader.feed(data)
    reader.finish()
    if reader.failure is None:
        message = "The model's server ended its reply before it began."
        return ApiError(502, message, "upstream_error")
    return explain_failure(reader.failure)


def explain_failure(failure: ModelError) -> ApiError:
    status = STATUSES.get(failure.kind, 502)
    kind = "invalid_request_error" if status == 400 else "upstream_error"
    code = "context_length_exceeded" if failure.kind == "context" else None
    return ApiError(status, str(failure), kind, code)
