"""Streams of chunks are generators: whoever stops reading one early must close it."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from andy_cli.messages import Chunk


@asynccontextmanager
async def closing_stream(
    chunks: AsyncIterator[Chunk],
) -> AsyncGenerator[AsyncIterator[Chunk], None]:
    """Close the stream when the block is left: that is what ends a request."""
    try:
        yield chunks
    finally:
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()
