"""Files of the web: kept as they arrive, or sent as they are read.

    await download(Request(url), place("song.mp3", "write"))
    with place("song.mp3").open() as file:
        await send(url, "PUT", file)

While a file arrives it is a `.part` beside its place; it takes the place in one step when it is
whole, so whatever was there before stays until then, and for good if nothing comes of it.
"""

import os
import secrets
import stat
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.workspace import folder_inside
from andy_cli.toolbox.files.writing import Hashed, WritingRecord
from andy_cli.toolbox.runtime_context import GrantedPath
from andy_cli.toolbox.tool import progress
from andy_cli.toolbox.web.client import (
    NO_HEADERS,
    Fetched,
    Upload,
    WebAnswer,
    WebRequest,
    fetch_answer,
    open_answer,
)
from andy_cli.toolbox.web.limits import MEGABYTE, for_files

CHUNK_SIZE = 1 << 18
PROGRESS_BYTES = 1_000_000
"""Bytes between two lines of progress."""


class Kept(NamedTuple):
    """An answer that became a file."""

    url: str
    status: int
    headers: Mapping[str, str]
    bytes: int
    is_new: bool
    """Nothing was there before."""


async def download_file(
    request: WebRequest, granted: GrantedPath, trusted: Collection[str] | None = None
) -> Kept:
    """Fetch a file to its place. Raises ToolError, also for a status that is no success."""
    # What is packed on the way would have no announced size.
    headers = {"accept-encoding": "identity", **request.headers}
    async with open_answer(request._replace(headers=headers), for_files(), trusted) as answer:
        if not 200 <= answer.status < 300:
            raise ToolError(f"There is no such file: the server answered {answer.status}.")
        return await keep_answer(answer, granted)


async def keep_answer(answer: WebAnswer, granted: GrantedPath) -> Kept:
    """Stream an answer to its place, whatever its status. Raises ToolError if it cannot be.

    It is noted, so that it can be taken back.
    """
    arrived, hashed, writing = 0, Hashed(), WritingRecord(granted)
    with _replacing_file(granted) as (file, is_new):
        meter = _Meter(answer.length)
        async for data in answer.pieces:
            file.write(data)
            hashed.add(data)
            arrived += len(data)
            meter.at(arrived)
    writing.record(hashed.digest, is_new)
    return Kept(answer.url, answer.status, answer.headers, arrived, is_new)


async def send_body(
    url: str, method: str, file: BinaryIO, headers: Mapping[str, str] = NO_HEADERS
) -> Fetched:
    """Send an open file as the body of a request; what the server answered, whatever its status.

    Raises ToolError for a file that changes its size meanwhile, and as `open_answer` does.
    """
    size = os.fstat(file.fileno()).st_size
    upload = Upload(size, lambda: _read_pieces(file, size))
    return await fetch_answer(WebRequest(url, method, headers, upload), for_files())


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


@contextmanager
def _replacing_file(granted: GrantedPath) -> Iterator[tuple[BinaryIO, bool]]:
    """A new file that takes the place when nothing goes wrong, and whether that is free; no link
    is followed."""
    with folder_inside(granted.path, granted.root) as folder:
        name = granted.path.name
        draft_name = f".{name[:100]}.{secrets.token_hex(4)}.part"
        mode = _replaced_mode(name, folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(draft_name, flags, 0o666, dir_fd=folder), "wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                yield file, mode is None
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft_name, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            _remove_part(draft_name, folder)
            raise


def _replaced_mode(name: str, folder: int) -> int | None:
    """The permissions of the file that is replaced. Raises ToolError for what is no plain file."""
    try:
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(state.st_mode):
        raise ToolError(f"{name} is no plain file: it is not replaced.", "Choose another name.")
    return stat.S_IMODE(state.st_mode)


def _remove_part(draft_name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(draft_name, dir_fd=folder)
