"""A served model that is too weak to choose a tool by itself: each step is chosen for it here.

What to do is planned by meaning, as for the small model inside, and no tool is offered to the
model. Nor is it asked what it knows: such models err in most of what they say of that.
"""

import threading
from collections.abc import AsyncGenerator

from andy_cli.messages import Chunk, Request
from andy_cli.models.client import ForwardingClient, ModelClient, closing_stream
from andy_cli.models.inside.planned_reply import make_planner, plan_chunks
from andy_cli.models.inside.planning.planner import Planner


class GuidedClient(ForwardingClient):
    """The client of a served model that each step is chosen for."""

    tools = False
    guided = True

    def __init__(self, client: ModelClient) -> None:
        super().__init__(client)
        self._planner: Planner | None = None
        self._loading = threading.Lock()

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        planned_chunks = await plan_chunks(request, self._load_planner)
        if planned_chunks is not None:
            for chunk in planned_chunks:
                yield chunk
            return
        async with closing_stream(self._client.reply(request)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _load_planner(self) -> Planner:
        """Load what plans; blocks. The model has no say in what is done."""
        with self._loading:
            if self._planner is None:
                self._planner = make_planner(
                    self.name.partition(":")[2],
                    lambda prompts, text: [0.0] * len(prompts),
                    lambda text: range(len(text)),  # it knows no words
                    lambda text, about, pieces: pieces[0],
                )
            return self._planner
