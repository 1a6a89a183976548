"""Sources of replies that add something to another one."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from andy_cli.frontends.serve.call_records import CallRecord
from andy_cli.frontends.serve.upstream.sources import SourceWrapper
from andy_cli.messages import Chunk, Request


@dataclass(slots=True)
class RecordingSource(SourceWrapper):
    record: CallRecord
    begun: bool = False
    """The model has begun to write."""
    replies: int = 0

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        self.replies += 1
        if self.record.raw:
            self.record.add_raw("\n---\n")
        async for chunk in self.source.reply(request, fields):
            self.begun = True
            self.record.add_raw(chunk.text)
            yield chunk


@dataclass(slots=True)
class BegunSource(SourceWrapper):
    """A source whose first reply has come already."""

    chunks: Sequence[Chunk]
    used: bool = False

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        if not self.used:
            self.used = True
            for chunk in self.chunks:
                yield chunk
            return
        async for chunk in self.source.reply(request, fields):
            yield chunk
