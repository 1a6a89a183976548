"""A file copied into another folder, or sent to a web address."""

import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO
from urllib.parse import urlsplit

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import contain
from andy_cli.messages import Effect
from andy_cli.toolbox.files.encodings import CHUNK_SIZE
from andy_cli.toolbox.files.names import show_path, show_size
from andy_cli.toolbox.files.opening import open_file
from andy_cli.toolbox.files.writing import write_whole
from andy_cli.toolbox.runtime_context import Work, current_context, granted_path
from andy_cli.toolbox.tool import Outcome, ResourceAccess, progress
from andy_cli.toolbox.web.limits import is_trusted

MAX_ANSWER_BYTES = 4000
"""Bytes of a server's answer that are told."""
METHOD = "PUT"
"""The method by which a file is given to a web address: its bytes as they are (RFC 9110, 9.3.4)."""


def is_address(destination: str) -> bool:
    return "://" in destination


def find_upload_access(path: str, destination: str) -> ResourceAccess:
    """Find what would be read, and its target. Raises ToolError for an address of another kind."""
    size = _file_size(path)
    shown_file = f"{spell_out(path)}{f', {show_size(size)}' if size is not None else ''}"
    if is_address(destination):
        _check_address(destination)
        shown_transfer = f"the whole of {shown_file}\nto {spell_out(destination)}"
        return ResourceAccess(
            (path,),
            "read",
            address=destination,
            method=METHOD,
            trusted=is_trusted(destination),
            shown=shown_transfer,
        )
    target = _target_path(path, destination)
    shown_transfer = f"{shown_file}, copied to {spell_out(target)}"
    old_size = _file_size(target)
    if old_size is not None:
        shown_transfer += f", in place of the file there of {show_size(old_size)}"
    return ResourceAccess(
        (path, target), operations=("read", "write"), shown=shown_transfer, effect=Effect.WRITE
    )


def _check_address(address: str) -> None:
    if urlsplit(address).scheme.lower() not in ("http", "https"):
        raise ToolError(
            f"{spell_out(address)[:200]} is no address that files can be sent to.",
            "Give one with https:// or a folder of the workspace.",
        )


def _file_size(path: str) -> int | None:
    """In bytes; only of what may be looked at unasked."""
    contained = contain(path, current_context().workspace, "read")
    if contained.path is None or contained.verdict != "inside":
        return None
    try:
        return contained.path.lstat().st_size
    except OSError:
        return None


def _target_path(path: str, destination: str) -> str:
    """The file in the destination folder, as a path somebody could have written."""
    name = PurePosixPath(path).name
    return str(PurePosixPath(destination or ".") / name)


def copy_file(path: str, destination: str, work: Work) -> Outcome:
    """Raises ToolError, with nothing changed."""
    source, granted = open_file(path)
    with source:
        target = granted_path(_target_path(path, destination), "write")
        if target.path == granted.path:
            raise ToolError(f"{show_path(granted.path)} is in that folder already.")
        size = os.fstat(source.fileno()).st_size
        is_new = write_whole(target, _read_pieces(source, size, work), work.go_on)
    source_name, target_name = show_path(granted.path), show_path(target.path)
    summary = f"replaced {target_name} by a copy of {source_name}, {show_size(size)}"
    if is_new:
        summary = f"copied {source_name} to {target_name}, {show_size(size)}"
    return Outcome(summary, summary)


def _read_pieces(file: BinaryIO, size: int, work: Work) -> Iterator[bytes]:
    done_bytes = 0
    while data := file.read(CHUNK_SIZE):
        work.go_on()
        done_bytes += len(data)
        progress(f"{show_size(done_bytes)} of {show_size(size)}")
        yield data


async def send_file(path: str, address: str) -> Outcome:
    """The whole file to a web address. Raises ToolError."""
    _check_address(address)
    file, granted = open_file(path)
    with file:
        size = os.fstat(file.fileno()).st_size
        answer = await give_file(file, address)
    return Outcome(
        answer, f"sent {show_path(granted.path)}, {show_size(size)}, to {spell_out(address)}"
    )


async def give_file(file: BinaryIO, address: str) -> str:
    """Give the open file to the address by METHOD; what was answered. Raises ToolError."""
    # httpx2 takes 0.1 s to import, and most files stay here.
    from andy_cli.toolbox.web.files import send_body

    answer = await send_body(address, METHOD, file)
    said_back = answer.body[:MAX_ANSWER_BYTES].decode("utf-8", "replace")
    if not 200 <= answer.status < 300:
        raise ToolError(
            f"The server did not take it: {answer.status}. {spell_out(said_back)[:300]}"
        )
    return f"The server took it: {answer.status}. {said_back}".strip()
