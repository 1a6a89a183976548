"""Files of the web: kept as they arrive, or sent as they are read.

    async with open_answer(WebRequest(url), file_limits()) as answer:
        await keep_answer(answer, granted_path("song.mp3", "write"))
    with granted_path("song.mp3").open() as file:
        await send_body(url, "PUT", file)

A file that arrives takes its place in one step when it is whole: whatever was there before stays
until then, and for good if nothing comes of it.
"""

import os
from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.files.writing import HashedPieces, WritingRecord, replacing_file
from andy_cli.toolbox.runtime_context import GrantedPath
from andy_cli.toolbox.tool import progress
from andy_cli.toolbox.web.client import (
    FetchedAnswer,
    Upload,
    WebAnswer,
    WebRequest,
    fetch_answer,
)
from andy_cli.toolbox.web.limits import MEGABYTE, file_limits

CHUNK_SIZE = 1 << 18
PROGRESS_BYTES = 1_000_000
"""Bytes between two lines of progress."""


class KeptAnswer(NamedTuple):
    """An answer that became a file."""

    url: str
    status: int
    headers: Mapping[str, str]
    bytes: int
    is_new: bool
    """Nothing was there before."""


async def keep_answer(answer: WebAnswer, granted: GrantedPath) -> KeptAnswer:
    """Stream an answer to its place. Raises ToolError if it cannot be.

    It is noted, so that it can be taken back.
    """
    arrived, hashed, writing = 0, HashedPieces(), WritingRecord(granted)
    with replacing_file(granted) as (file, is_new):
        meter = _Meter(answer.length)
        async for data in answer.pieces:
            file.write(data)
            hashed.add(data)
            arrived += len(data)
            meter.at(arrived)
    writing.record(hashed.digest, is_new)
    return KeptAnswer(answer.url, answer.status, answer.headers, arrived, is_new)


async def send_body(url: str, method: str, file: BinaryIO) -> FetchedAnswer:
    """Send an open file as the body of a request; what the server answered, whatever its status.

    Raises ToolError for a file that changes its size meanwhile, and as `open_answer` does.
    """
    size = os.fstat(file.fileno()).st_size
    upload = Upload(size, lambda: _read_pieces(file, size))
    return await fetch_answer(WebRequest(url, method, body=upload), file_limits())


async def _read_pieces(file: BinaryIO, size: int) -> AsyncIterator[bytes]:
    file.seek(0)
    sent_bytes, meter = 0, _Meter(size)
    while data := file.read(min(CHUNK_SIZE, size - sent_bytes)):
        yield data
        sent_bytes += len(data)
        meter.at(sent_bytes)
    if sent_bytes < size:
        raise ToolError("The file became shorter while it was sent. Try again.")


class _Meter:
    """Tells how far a file has come, `12 of 40 MB`, but not at every piece."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._told = 0

    def at(self, done_bytes: int) -> None:
        if done_bytes - self._told < PROGRESS_BYTES and done_bytes != self._total:
            return
        self._told = done_bytes
        of_total = f" of {self._total / MEGABYTE:.0f}" if self._total >= done_bytes else ""
        progress(f"{done_bytes / MEGABYTE:.0f}{of_total} MB")
