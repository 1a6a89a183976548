"""A source of replies that is listened to: what the model writes is kept with its call."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from andy_cli.frontends.serve.records import Record
from andy_cli.frontends.serve.source import Around
from andy_cli.messages import Chunk, Request


@dataclass(slots=True)
class Heard(Around):
    record: Record
    begun: bool = False
    """The model has begun to write."""
    replies: int = 0

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        self.replies += 1
        if self.record.raw:
            self.record.wrote("\n---\n")
        async for chunk in self.source.reply(request, fields):
            self.begun = True
            self.record.wrote(chunk.text)
            yield chunk
