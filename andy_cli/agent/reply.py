"""One reply, readable while it arrives."""

from collections.abc import AsyncIterator

from andy_cli.compiler.compiler import CompiledReply, Compiler, Visible
from andy_cli.messages import Chunk, Usage
from andy_cli.models.streams import closing


class Reply:
    """Iterate over it for what may be shown; afterwards `compiled` says what it means."""

    def __init__(self, chunks: AsyncIterator[Chunk], compiler: Compiler) -> None:
        self._chunks = chunks
        self._compiler = compiler
        self._raw: list[str] = []
        self.compiled = CompiledReply()
        self.rest = Visible()
        """What the compiler had held back when the stream ended; not yielded if it failed."""
        self.finish = ""
        self.usage = Usage()

    @property
    def cut_off(self) -> bool:
        """The server stopped it for length, or the stream ended without saying that it was done."""
        return self.finish in ("", "length")

    async def __aiter__(self) -> AsyncIterator[Visible]:
        try:
            async with closing(self._chunks) as chunks:
                async for chunk in chunks:
                    self.finish = chunk.finish or self.finish
                    self.usage = chunk.usage or self.usage
                    if visible := self._compiler.take(chunk):
                        yield visible
        finally:
            # Also when the stream fails or is cancelled: what was said so far is kept.
            self.rest, self.compiled = self._compiler.finish(self.cut_off)
        yield self.rest
