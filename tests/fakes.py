"""ScriptedModel: the one double, at the one seam."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from andy_cli.messages import CallDelta, Chunk, Request, Usage
from tests import history_rules


@dataclass
class ScriptedModel:
    """Says its replies in order, in small pieces, and remembers what it was asked.

    A reply is a text, a list of chunks, or an exception to raise. Every request is checked against
    the rules of history_rules.py; `checked=False` where a test builds a wrong one on purpose.
    """

    replies: Sequence[str | Sequence[Chunk] | Exception]
    name: str = "scripted:model"
    tools: bool = False
    guided: bool = False
    size: int = 3
    requests: list[Request] = field(default_factory=list)
    checked: bool = True

    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        if self.checked:
            history_rules.watch(request.messages, self.name, len(self.requests))
        self.requests.append(request)
        said = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(said, Exception):
            raise said
        for chunk in self.pieces(said):
            yield chunk

    def pieces(self, said: str | Sequence[Chunk]) -> Sequence[Chunk]:
        if not isinstance(said, str):
            return said
        texts = [said[at : at + self.size] for at in range(0, len(said), self.size)]
        return [*(Chunk(text=text) for text in texts), Chunk(finish="stop", usage=Usage(10, 5))]

    async def close(self) -> None:
        pass


def native(*calls: tuple[str, str], text: str = "") -> list[Chunk]:
    """A reply with native calls, as (name, arguments in JSON)."""
    deltas = [
        Chunk(call=CallDelta(at, f"call{at}", name, arguments))
        for at, (name, arguments) in enumerate(calls)
    ]
    return [Chunk(text=text), *deltas, Chunk(finish="tool_calls", usage=Usage(10, 5))]
