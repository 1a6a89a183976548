"""One reply, readable while it arrives, and the one loop that asks until a reply can be used.

The loop is that of a turn and of `andy serve`. It runs no tool, shows nothing and keeps nothing.
Whoever asks says what is sent, makes of every reply what is shown of it, and decides what the reply
is worth: a turn runs tools and asks again, the dialogue behind an answer of `andy serve` says what
was wrong with the reply and asks again.
"""

from collections.abc import AsyncIterator, Callable
from typing import Protocol, TypeVar

from andy_cli.compiler.compiler import CompiledReply, Visible
from andy_cli.errors import ModelError
from andy_cli.messages import Chunk, NotDone, Usage
from andy_cli.models.client import closing_stream

RAW_LIMIT = 100_000
"""Characters of a reply that are kept as they came."""


class ReplyReader(Protocol):
    """The part of a `Compiler` that a reply needs."""

    @property
    def over(self) -> bool:
        """Somebody else's turn began: nothing that may still come belongs to the reply."""
        ...

    def take(self, chunk: Chunk) -> Visible:
        """Take the next piece; returns what of it may be shown now."""
        ...

    def finish(self, cut_off: bool = False) -> tuple[Visible, CompiledReply]:
        """End the reply; returns what is left to show, and what all of it means."""
        ...


class ModelReply:
    """Iterate over it for what may be shown; afterwards `compiled` says what it means.

    `note_compiled` is called with that once, however the reply ended.
    """

    def __init__(
        self,
        chunks: AsyncIterator[Chunk],
        compiler: ReplyReader,
        note_compiled: Callable[[CompiledReply], None] = lambda compiled: None,
        raw_limit: int = RAW_LIMIT,
    ) -> None:
        """`raw_limit`: characters of the reply that `raw` keeps."""
        self._chunks = chunks
        self._compiler = compiler
        self._note_compiled = note_compiled
        self._raw: list[str] = []
        self._raw_left = self._raw_limit = raw_limit
        self.compiled = CompiledReply()
        self.rest = Visible()
        """The text the compiler had held back when the stream ended; not yielded if it failed."""
        self.finish = ""
        """The reason of its end, as the server says it: `stop`, `length` ...; empty until then."""
        self.stopped_at = ""
        """The text at which it was told to stop, where it says so."""
        self.not_done: tuple[NotDone, ...] = ()
        """Something of what is wanted is not done; known of planned replies alone."""
        self.usage = Usage()
        self.received = 0
        """Characters that came so far: text, reasoning and calls."""

    @property
    def cut_off(self) -> bool:
        """The server stopped it for length, or the stream ended without saying that it was done."""
        return self.finish in CUT_OFF

    @property
    def raw(self) -> str:
        """The text that the model wrote, before anything was made of it: as much as there is room.

        Reasoning and calls that the server keeps apart from the text are not in it.
        """
        return "".join(self._raw)[: self._raw_limit]

    async def __aiter__(self) -> AsyncIterator[Visible]:
        try:
            async with closing_stream(self._chunks) as chunks:
                async for chunk in chunks:
                    self._note_chunk(chunk)
                    if visible := self._compiler.take(chunk):
                        yield visible
                    if self._compiler.over:
                        self.finish = self.finish or "stop"
                        break  # the server is told to stop by the end of the connection
        finally:
            # Also when the stream fails or is cancelled: what was said so far is kept.
            is_whole = may_run_calls(self.finish)
            self.rest, compiled = self._compiler.finish(not is_whole)
            self.compiled = compiled if is_whole else without_requests(compiled)
            self._note_compiled(self.compiled)
        yield self.rest

    async def read_whole(self) -> "ModelReply":
        """Read the reply to its end without showing anything; returns it."""
        async for _ in self:
            pass
        return self

    def _note_chunk(self, chunk: Chunk) -> None:
        self.finish = chunk.finish or self.finish
        self.stopped_at = chunk.stopped_at or self.stopped_at
        self.not_done += chunk.not_done
        self.usage = chunk.usage or self.usage
        self.received += len(chunk.text) + len(chunk.reasoning)
        self.received += len(chunk.call.arguments) if chunk.call else 0
        if chunk.text and self._raw_left > 0:
            self._raw.append(chunk.text)
            self._raw_left -= len(chunk.text)


CUT_OFF = ("", "length")
"""The ends of a reply that is not whole; empty: the stream broke off without an end."""


def may_run_calls(finish: str) -> bool:
    """Tell whether what a reply asks for may be done: not if it was cut off or held back (P7)."""
    return finish not in (*CUT_OFF, "content_filter", "error")


def without_requests(compiled: CompiledReply) -> CompiledReply:
    """Drop what a reply asks for, whatever the notation and however whole it looks."""
    if not compiled.requests:
        return compiled
    return compiled._replace(requests=(), incomplete=True)


def record_reply(compiled: CompiledReply) -> dict[str, object]:
    """Record what a reply means, as captures and `andy replay` have it."""
    return {
        "dialect": compiled.dialect,
        "calls": [
            {"name": request.name, "arguments": dict(request.arguments or {})}
            for request in compiled.requests
        ],
        "content": compiled.text,
        "reasoning": compiled.reasoning,
        "incomplete": compiled.incomplete,
        "faults": [compiled.fault] if compiled.fault else [],
    }


Piece = TypeVar("Piece", covariant=True)


class Asker(Protocol[Piece]):
    """Somebody who asks a model; a piece is what comes of it meanwhile: an event, or a delta."""

    def begin_round(self) -> bool:
        """Count another reply; False where no other is wanted."""
        ...

    async def ask(self) -> ModelReply:
        """Send a request that is built from the present state; its reply is not read yet."""
        ...

    def show(self, reply: ModelReply) -> AsyncIterator[Piece]:
        """Read the reply while it arrives. Raises ModelError where it breaks off."""
        ...

    async def recover(self, error: ModelError) -> Piece:
        """Change the request after an error, so that it can be sent again. Raises the error if
        nothing can be changed; what was changed costs a round."""
        ...

    def use(self, reply: ModelReply) -> AsyncIterator[Piece]:
        """Act on a whole reply, or note what the model is told before the next request."""
        ...


async def exchange(asker: Asker[Piece]) -> AsyncIterator[Piece]:
    """Ask until no other reply is wanted; yields the pieces as they come. Raises ModelError."""
    while asker.begin_round():
        reply = await asker.ask()
        try:
            async for piece in asker.show(reply):
                yield piece
        except ModelError as error:
            yield await asker.recover(error)
            continue
        async for piece in asker.use(reply):
            yield piece
