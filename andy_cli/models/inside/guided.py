"""A served model that is too weak to choose a tool by itself: each step is chosen for it here.

What to do is planned by meaning, as for the small model inside, and no tool is offered to the
model. It writes the texts that are asked for, and is not asked what it knows: such models err in
most of what they say of that.
"""

import threading
from collections.abc import AsyncGenerator

from andy_cli.messages import Chunk, Request
from andy_cli.models.client import ForwardingClient, ModelClient, closing_stream
from andy_cli.models.inside.planned_reply import (
    make_plain_request,
    make_planner,
    plan_chunks,
)
from andy_cli.models.inside.planning.planner import Planner

INSTRUCTION = (
    "You are a helpful assistant. Answer in a few sentences. You see no files, and can change "
    "and do nothing: say so if that is wanted."
)


class PlannerLoader:
    """Loads, once, what plans for a model that has no say in what is done: the small model inside
    has, if its weights are here."""

    def __init__(self, name: str) -> None:
        """`name` is the model's, as users are told it."""
        self._name = name
        self._planner: Planner | None = None
        self._loading = threading.Lock()

    def load(self) -> Planner:
        """Load it; blocks."""
        with self._loading:
            if self._planner is None:
                self._planner = make_planner(self._name, writes_texts=True)
            return self._planner


class GuidedClient(ForwardingClient):
    """The client of a served model that each step is chosen for."""

    tools = False
    guided = True

    def __init__(self, client: ModelClient) -> None:
        super().__init__(client)
        self._planner = PlannerLoader(client.name.partition(":")[2])

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        planned_chunks = await plan_chunks(request, self._planner.load)
        if planned_chunks is not None:
            for chunk in planned_chunks:
                yield chunk
            return
        is_text = request.constraint is not None and request.constraint.choices
        model_request = make_plain_request(request, INSTRUCTION) if is_text else request
        async with closing_stream(self._client.reply(model_request)) as chunks:
            async for chunk in chunks:
                yield chunk
