"""The planned reply of a model that each step is chosen for, as its client gives it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from andy_cli.messages import Chunk, Constraint, Request, Usage, Wire
from andy_cli.models.inside.encoder import load_encoder
from andy_cli.models.inside.planning.choosing import Scorer
from andy_cli.models.inside.planning.planner import Planner, Utterance
from andy_cli.models.inside.planning.replies.dialogue import is_about_command, read_turn
from andy_cli.models.inside.values.filling import Filler
from andy_cli.settings import data_folder

NO_ANSWER = "skip"


def make_planner(name: str, writes_texts: bool = False) -> Planner:
    """Load what plans for the model `name`, which `writes_texts` by itself or does not; blocks."""
    encoder = load_encoder(data_folder() / "vectors")
    return Planner(name, encoder, Scorer(encoder), Filler(encoder), writes_texts)


async def plan_chunks(
    request: Request, load_planner: Callable[[], Planner]
) -> tuple[Chunk, ...] | None:
    """Plan a reply: its chunks; None where the model writes."""
    planned = await asyncio.to_thread(plan_reply, request, load_planner)
    return None if planned is None else (*make_planned_chunks(planned, request),)


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
    yield Chunk(finish="stop", usage=Usage(), stopped_at=stop, not_done=(*planned.not_done,))


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
