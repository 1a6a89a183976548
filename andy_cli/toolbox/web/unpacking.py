"""Unpack what arrives packed, piece by piece: no piece grows to more than `CHUNK_SIZE` bytes.

Not the HTTP library's own unpacking: it makes of 64 kB that arrive as much as they hold, which may
be 64 MB, and unpacks what was packed several times over in one go.
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator

from andy_cli.errors import ToolError

CHUNK_SIZE = 1 << 16
ACCEPTED = "gzip, deflate"
GZIP, ZLIB, BARE = 31, 15, -15
"""The window of zlib says which header it expects."""

MAGIC = b"\x1f\x8b"


async def unpack_pieces(
    body_pieces: AsyncIterable[bytes], packing: str
) -> AsyncGenerator[bytes, None]:
    """The pieces as they were before packing; `packing` is the Content-Encoding.

    Raises ToolError for what is packed otherwise, damaged or cut off.
    """
    packing = packing.strip().lower()
    if packing in ("", "identity", "none"):
        async for data in body_pieces:
            yield data
        return
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise ToolError(f"The answer is packed as {packing[:40]!r}, which is not read.")
    unpacker = _Unpacker(packing == "deflate")
    async for data in body_pieces:
        for unpacked in unpacker.take(data):
            yield unpacked
    unpacker.finish()


class _Unpacker:
    def __init__(self, deflate: bool) -> None:
        self._deflate = deflate
        self._member: zlib._Decompress | None = None
        self._packed = b""
        self._finished = 0

    def take(self, packed: bytes) -> Iterator[bytes]:
        self._packed += packed
        while self._member is not None or self._begins_member():
            unpacked = self._unpack_piece()
            if unpacked:
                yield unpacked
            if self._member is not None and len(unpacked) < CHUNK_SIZE:
                return

    def _begins_member(self) -> bool:
        """Begin a member with what has arrived; tell whether it is one; else it does not count."""
        head = self._packed[:2]
        if len(head) < 2 or (self._finished and (self._deflate or head != MAGIC)):
            return False
        window = GZIP
        if self._deflate:
            # Servers disagree on what deflate is: with the header of zlib or without.
            headed = head[0] & 0x0F == 8 and int.from_bytes(head, "big") % 31 == 0
            window = ZLIB if headed else BARE
        self._member = zlib.decompressobj(window)
        return True

    def _unpack_piece(self) -> bytes:
        assert self._member is not None
        try:
            unpacked = self._member.decompress(self._packed, CHUNK_SIZE)
        except zlib.error as error:
            raise ToolError("The answer is packed, and damaged.") from error
        self._packed = self._member.unconsumed_tail
        if self._member.eof:
            self._packed = self._member.unused_data
            self._member = None
            self._finished += 1
        return unpacked

    def finish(self) -> None:
        if self._member is not None or (self._packed and not self._finished):
            raise ToolError("The answer was cut off before its end.")
