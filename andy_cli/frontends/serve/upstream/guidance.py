"""Guidance of a server's model that is too weak to choose a tool by itself: each step is chosen for
it by meaning, as for the small model inside.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from andy_cli.frontends.serve.upstream.sources import ReplySource, SourceWrapper, understand_fields
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.messages import Chunk, Request
from andy_cli.models.inside.guided import PlannerLoader, make_plain_request, plan_chunks

PLANNER = PlannerLoader("This model")
"""Of the models of all upstreams; it is loaded for the first request."""


def guide_source(source: ReplySource, chat_request: ChatRequest) -> ReplySource:
    """Wrap the source of one answer so that each step is chosen for its model."""
    system = [message.content for message in chat_request.history if message.role == "system"]
    return GuidedSource(source, "\n\n".join(system))


@dataclass(slots=True)
class GuidedSource(SourceWrapper):
    """A source whose model writes no calls: texts alone, with the client's instruction."""

    instruction: str

    @property
    def guided(self) -> bool:
        return True

    async def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        planned = await plan_chunks(understand_fields(request, fields), PLANNER.load)
        if planned is not None:
            for chunk in planned:
                yield chunk
            return
        text_request = make_plain_request(request, self.instruction)
        async for chunk in self.source.reply(text_request, fields):
            yield chunk
