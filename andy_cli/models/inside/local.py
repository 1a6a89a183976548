"""A model that runs in this process.

It is too small to call tools when left alone, so where a request says what the reply may be
(`Request.constraint`) the reply is planned for it (planning/planner.py) or held to a grammar.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from andy_cli.errors import ContextLengthError, ModelError
from andy_cli.messages import Chunk, Constraint, Request, Sampling, Usage, Wire
from andy_cli.models.inside import weights
from andy_cli.models.inside.guided import make_planner, plan_chunks
from andy_cli.models.inside.local_server import CONTEXT, Engine
from andy_cli.models.inside.planning.planner import Planner

MAX_GUIDED_BYTES = 1_000_000_000
"""Bytes of weights below which a model is guided: about 1.5 billion parameters in four bits."""

REPLY_TOKENS = 200
"""The longest reply when nothing else is said: so small a model rambles after that."""

SCHEMA_TOKENS = 1000
"""The longest reply that is held to a schema: it ends by itself, unless a text in it does not."""

MAX_SEED = 2**32 - 1
"""The engine has so many; the next number means that it shall choose one."""

TEMPLATE_TOKENS = 64
"""Tokens of the context that neither messages nor reply may take: the template's own words."""

MESSAGE_TOKENS = 8
"""Tokens of the context that the template takes for each message."""

Body = dict[str, Any]


class LocalClient:
    """One local model. The weights are fetched at the first request, and loaded for the first that
    the model itself is needed for: a reply that is planned may do without.
    """

    tools = False

    def __init__(self, model: str) -> None:
        self.name = f"local:{model}"
        self._model = model
        self._engine: Engine | None = None
        self._planner: Planner | None = None
        self._loading = threading.Lock()
        self._size: int | None = None

    @property
    def guided(self) -> bool:
        """So small that each step is chosen for it; a larger one writes requests by itself."""
        if self._size is None:
            path = weights.find(self._model)
            self._size = path.stat().st_size if path else 0
        return self._size < MAX_GUIDED_BYTES

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        constraint = request.constraint or Constraint()
        if request.keep_whole and constraint.choices and not _fits_surely(request.messages):
            engine = await asyncio.to_thread(self.engine)
            await asyncio.to_thread(_check_length, engine, request.messages)
        planned_chunks = await plan_chunks(request, self._load_planner)
        if planned_chunks is not None:
            for chunk in planned_chunks:
                yield chunk
            return
        engine = await asyncio.to_thread(self.engine)
        body = await asyncio.to_thread(_body, engine, request, constraint)
        async with aclosing(_stream_chunks(engine, body)) as chunks:
            async for chunk in chunks:
                yield chunk

    def engine(self) -> Engine:
        """The loaded model; blocks while it loads."""
        with self._loading:
            if self._engine is None:
                self._engine = Engine(weights.pull(self._model))
            return self._engine

    def _load_planner(self) -> Planner:
        """Load what plans, and fetch the weights; blocks."""
        with self._loading:
            if self._planner is None:
                weights.pull(self._model)
                self._planner = make_planner(Path(self._model).stem)
            return self._planner

    async def close(self) -> None:
        """Free the memory; a later request loads the model again."""
        self._engine = self._planner = None


def _body(engine: Engine, request: Request, constraint: Constraint) -> Body:
    messages, limit = _fit_to_window(engine, request, constraint)
    body: Body = {
        "messages": messages,
        "max_tokens": limit,
        "temperature": 0,
        "stop": list(request.stop),
        "stream_options": {"include_usage": True},
        "verbose": bool(request.stop),  # only so is it told which of them ended the reply
    }
    body |= _sampling_fields(request.sampling)
    if constraint.schema:
        body["json_schema"] = dict(constraint.schema)
    elif constraint.grammar:
        body["grammar"] = constraint.grammar
    elif not body["temperature"]:
        body["dry_multiplier"] = 0.8  # greedy choice makes so small a model repeat itself
    return body


def _fit_to_window(
    engine: Engine, request: Request, constraint: Constraint
) -> tuple[list[Wire], int]:
    """The messages that are sent, and of how many tokens the reply may be at most."""
    usual = SCHEMA_TOKENS if constraint.schema else REPLY_TOKENS
    limit = request.max_tokens or usual
    if request.keep_whole:
        return list(request.messages), limit  # the engine refuses what is too long
    most = CONTEXT // 2
    limit = min(limit, most) if limit > 0 else most
    room = CONTEXT - limit - TEMPLATE_TOKENS
    return fit_messages(request.messages, room, lambda text: len(engine.tokens(text))), limit


def _sampling_fields(sampling: Sampling) -> Body:
    body = {name: value for name, value in sampling._asdict().items() if value is not None}
    if sampling.seed is not None:
        body["seed"] = sampling.seed % MAX_SEED
    return body


def _fits_surely(messages: Sequence[Wire]) -> bool:
    """Tell without the model whether messages fit in its context: a token is a byte at least."""
    texts = _list_read_texts(messages)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) + MESSAGE_TOKENS * len(texts)
    return size + TEMPLATE_TOKENS <= CONTEXT


def _list_read_texts(messages: Sequence[Wire]) -> list[str]:
    """List the texts that count: of a model that is guided the system message is not read."""
    return [_text(message) for message in messages if message.get("role") != "system"]


def _check_length(engine: Engine, messages: Sequence[Wire]) -> None:
    """Raises ContextLengthError."""
    texts = _list_read_texts(messages)
    size = len(engine.tokens("\n".join(texts))) + MESSAGE_TOKENS * len(texts)
    if size + TEMPLATE_TOKENS > CONTEXT:
        raise ContextLengthError(
            f"The messages are {size} tokens long, and the context of this model holds "
            f"{CONTEXT}. Send less."
        )


def fit_messages(messages: Sequence[Wire], room: int, count: Callable[[str], int]) -> list[Wire]:
    """Keep the messages that fit in `room` tokens: the system message and the newest ones.

    The newest stays whatever its length, cut in the middle when it must be.
    """
    has_system = bool(messages) and messages[0].get("role") == "system"
    system, rest = list(messages[:has_system]), list(messages[has_system:])
    sizes = [count(_text(message)) + MESSAGE_TOKENS for message in rest]
    room -= sum(count(_text(message)) + MESSAGE_TOKENS for message in system)
    first = _find_first_that_fits(sizes, room)
    rest, sizes = rest[first:], sizes[first:]
    if system and len(rest) > 1 and rest[0].get("role") == "assistant":
        del rest[0], sizes[0]  # templates want the user to begin
    if rest and sizes[0] > room:
        rest[0] = {**rest[0], "content": _cut(_text(rest[0]), max(room, TEMPLATE_TOKENS), sizes[0])}
    return system + rest


def _find_first_that_fits(sizes: Sequence[int], room: int) -> int:
    """Find the place from which all fit; that of the last where it is too large alone."""
    first = 0
    while first < len(sizes) - 1 and sum(sizes[first:]) > room:
        first += 1
    return first


def _cut(text: str, room: int, size: int) -> str:
    keep = len(text) * room // (size * 2) - 8
    return f"{text[:keep]} ... {text[-keep:]}"


def _text(message: Wire) -> str:
    return str(message.get("content") or "")


async def _stream_chunks(engine: Engine, body: Body) -> AsyncGenerator[Chunk, None]:
    """The chunks of one chat completion, made by a thread. Closing the generator stops it."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Chunk | ModelError | None] = asyncio.Queue()
    stopped = threading.Event()

    def put(item: Chunk | ModelError | None) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, item)

    def receive(chunk: Mapping[str, Any]) -> bool:
        put(_chunk(chunk))
        return stopped.is_set()

    def generate() -> None:
        try:
            engine.chat(body, receive)
            put(None)
        except ModelError as error:
            put(error)
        except RuntimeError as error:  # the engine's word for whatever it cannot do
            put(ModelError(f"The model cannot answer this: {error}."))

    work = loop.run_in_executor(None, generate)
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, ModelError):
                raise item
            if any(item):
                yield item
    finally:
        stopped.set()
        await work


def _chunk(chunk: Mapping[str, Any]) -> Chunk:
    first, *_ = chunk.get("choices") or [{}]
    delta = first.get("delta") or {}
    counts = chunk.get("usage")
    usage = Usage(counts["prompt_tokens"], counts["completion_tokens"]) if counts else None
    native_facts = chunk.get("__verbose") or {}
    return Chunk(
        text=delta.get("content") or "",
        reasoning=delta.get("reasoning_content") or "",
        finish=first.get("finish_reason") or "",
        usage=usage,
        stopped_at=native_facts.get("stopping_word") or "",
    )
