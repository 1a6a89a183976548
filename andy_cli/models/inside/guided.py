"""The replies of a model that each step is chosen for, as a client gives them: of the small model
inside, and of a served model that is too weak to choose a tool by itself.

What to do is planned by meaning for either, and no tool is offered to a served one. It writes the
texts that are asked for, and is not asked what it knows: such models err in most of what they say
of that.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

from andy_cli.messages import Chunk, Constraint, Request, Usage, Wire
from andy_cli.models.client import ForwardingClient, ModelClient, closing_stream
from andy_cli.models.inside.encoder import load_encoder
from andy_cli.models.inside.planning.choosing import Scorer
from andy_cli.models.inside.planning.planner import Planner, Utterance
from andy_cli.models.inside.planning.replies.dialogue import is_about_command, read_turn
from andy_cli.models.inside.values.filling import Filler
from andy_cli.settings import data_folder

NO_ANSWER = "skip"
INSTRUCTION = (
    "You are a helpful assistant. Answer in a few sentences. You see no files, and can change "
    "and do nothing: say so if that is wanted."
)


def make_planner(name: str, writes_texts: bool = False) -> Planner:
    """Load what plans for the model `name`, which `writes_texts` by itself or does not; blocks."""
    encoder = load_encoder(data_folder() / "vectors")
    return Planner(name, encoder, Scorer(encoder), Filler(encoder), writes_texts)


async def plan_chunks(
    request: Request, load_planner: Callable[[], Planner]
) -> tuple[Chunk, ...] | None:
    """Plan a reply: its chunks; None where the model writes."""
    planned = await asyncio.to_thread(plan_reply, request, load_planner)
    return None if planned is None else tuple(make_planned_chunks(planned, request))


def plan_reply(request: Request, load_planner: Callable[[], Planner]) -> Utterance | None:
    """Return what is said where it is planned; None where the model writes. Blocks."""
    if request.constraint is None:  # a question that nothing fits: a value would be made up
        return Utterance(NO_ANSWER) if read_turn(request.messages).question else None
    if not (request.constraint.choices or request.constraint.context.results):
        return None
    said = load_planner().write_reply(request.messages, request.constraint)
    if said is None:
        return None
    # Words that have to be of a form are the model's own.
    return None if request.constraint.schema and not said.is_command else said


def make_planned_chunks(planned: Utterance, request: Request) -> Iterator[Chunk]:
    """Make the chunks of a planned reply."""
    said, stop = planned.text, ""
    if not planned.is_command:  # a stop sequence is for text
        said, stop = cut_at_stop(said, request.stop)
    yield Chunk(text=said)
    # No language model read or wrote anything.
    yield Chunk(finish="stop", usage=Usage(), stopped_at=stop, not_done=tuple(planned.not_done))


def make_plain_request(request: Request, instruction: str) -> Request:
    """Make of a request to choose a command the same conversation without any command.

    What its words have to be of the form of stays.
    """
    said = [
        message
        for message in request.messages
        if message.get("role") != "system" and not is_about_command(message)
    ]
    system: list[Wire] = [{"role": "system", "content": instruction}] if instruction else []
    schema = request.constraint.schema if request.constraint else None
    constraint = Constraint(schema=schema) if schema else None
    return request._replace(messages=(*system, *said), constraint=constraint, stop=())


def cut_at_stop(text: str, stops: Sequence[str]) -> tuple[str, str]:
    """The text before the first of the stop sequences in it, and that sequence; else all of it."""
    found = [(at, stop) for stop in stops if (at := text.find(stop)) >= 0]
    at, stop = min(found, default=(len(text), ""))
    return text[:at], stop


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
