"""One notation after the other gets the same tasks, each a whole turn of the product."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.compiler.detect import DIALOGUE, NATIVE, OBJECT, Detected, Template, choose_dialect
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.errors import SHELL_WAYS, AuthError, ModelError, TransientError
from andy_cli.events import Event
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.probe.probe_tasks import (
    TASKS,
    ProbeTask,
    find_fault,
    is_lost,
    offer_tools,
)
from andy_cli.guard.gate import Gate
from andy_cli.messages import Usage
from andy_cli.models.client import ModelClient, closing_stream
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry

GENERAL = (OBJECT, DIALOGUE, "hermes")
"""Dialects that any model may be able to write, whoever made it."""

BOUNDS = ("limits.rounds=4", "limits.calls=8")
MAX_TOKENS = 1000
"""Tokens of a reply at most: a model that has lost its way writes on and on."""
MAX_REPLIES = 2
"""Replies of that length that a task may cost."""

PASSING_ERRORS = ("server", "protocol")
"""Kinds of failure that may be those of native calls: servers fail over what they cannot read."""

PATIENCE = 2
"""Tasks at which the server may fail before it has answered any."""

EASY_TASKS = 3
"""The first tasks, the easy ones: a notation in which none of them is right is given up."""

TIME_IS_UP = "the time was up"

HOPELESS = ("no_model", "not_found", "quota", "redirect")
"""Kinds that no other notation will mend."""


class TaskOutcome(NamedTuple):
    """One task, tried once."""

    task: ProbeTask
    why: str = ""
    """The fault; empty if it was carried out."""
    error: ModelError | None = None
    """The error of the server, if it was the server that failed."""


class ProbedWay(NamedTuple):
    """A notation, and whether the server holds the model to what it may write in it."""

    protocol: str
    held: bool = False

    @property
    def name(self) -> str:
        return f"{self.protocol}, held" if self.held else self.protocol


class ProbeRow(NamedTuple):
    """The result of one notation."""

    way: ProbedWay
    outcomes: tuple[TaskOutcome, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    note: str = ""
    """Why it was not tried to the end."""

    @property
    def protocol(self) -> str:
        return self.way.protocol

    @property
    def right(self) -> int:
        return sum(not outcome.why for outcome in self.outcomes)

    @property
    def was_refused(self) -> bool:
        """True if the server takes no request in this notation."""
        return not (self.outcomes or self.is_out_of_time)

    @property
    def is_out_of_time(self) -> bool:
        return self.note == TIME_IS_UP

    @property
    def failed_easy_tasks(self) -> bool:
        return len(self.outcomes) == EASY_TASKS and not self.right

    @property
    def did_something(self) -> bool:
        """True if something was done with it: an answer to small talk shows nothing."""
        return any(outcome.task.calls and not outcome.why for outcome in self.outcomes)


class ProbeBench(NamedTuple):
    """The model that is probed, and how often."""

    chosen: Chosen
    client: ModelClient
    loose_client: ModelClient
    """A client of the same model whose server is not asked to hold it to anything."""
    options: Options
    tries: int
    progress: Callable[[str], None] = lambda line: None
    report: Callable[[str], None] = lambda line: None
    """Tells how a notation did."""
    tasks_end: float = math.inf
    """The time of the monotonic clock by which the tasks end once one notation works."""
    trust_end: float = math.inf
    """The time by which all ends: also the trials of what the model can be trusted with."""

    def create_conversation(self, probed_way: ProbedWay, tools: Registry) -> Conversation:
        """A new one: no task knows of another."""
        settings = self.settings(probed_way.protocol)
        client = self.client if probed_way.held else self.loose_client
        conversation = Conversation(client, tools, Gate(Path.cwd()), settings, Path.cwd())
        conversation.ways = SHELL_WAYS
        return conversation

    def settings(self, protocol: str) -> Settings:
        changes = [*self.options.set, f"dialect={protocol}", *BOUNDS]
        if not (self.chosen.provider.connect or self.options.settings().whole("max_tokens")):
            changes.append(f"max_tokens={MAX_TOKENS}")
        return replace(self.options, set=tuple(changes)).settings()


def find_family(bench: ProbeBench, template: Template) -> Detected:
    """Find the dialect that would be used if nothing was known from trying."""
    known_dialects = dialects_by_name().values()
    return choose_dialect(bench.chosen.endpoint.model, template, (), known_dialects)


def list_candidates(bench: ProbeBench, family: str) -> list[ProbedWay]:
    """List the notations worth trying, each once; where two are equal, the first is kept."""
    native = [NATIVE] if bench.client.tools else []
    protocols = list(dict.fromkeys([*native, family, *GENERAL]))
    return [candidate for protocol in protocols for candidate in list_ways(bench, protocol)]


def list_ways(bench: ProbeBench, protocol: str) -> list[ProbedWay]:
    """A notation without, and with all that its server can do to hold the model to it."""
    dialect = dialects_by_name().get(protocol)
    holds = dialect is not None and dialect.constraint is not None
    settings = bench.options.settings()
    served = bool(bench.chosen.endpoint.base_url) and settings.text("constraints") != "off"
    loose = ProbedWay(protocol)
    return [ProbedWay(protocol, True), loose] if holds and served else [loose]


async def try_in_turn(bench: ProbeBench, probed_ways: Sequence[ProbedWay]) -> list[ProbeRow]:
    """Try each of them. One that cannot become the best any more is not tried to the end."""
    rows: list[ProbeRow] = []
    for number, probed_way in enumerate(probed_ways, 1):
        counted = f"notation {number} of {len(probed_ways)}: {probed_way.name}"
        row = await try_way(bench, probed_way, counted, find_best(rows))
        is_failed = bool(row.outcomes) and all(outcome.error for outcome in row.outcomes)
        if not is_failed:
            bench.report(f"{counted}: {describe_row(row)}")
        rows.append(row)
    return rows


def describe_row(row: ProbeRow) -> str:
    """Describe how far a notation came, and why no further."""
    figures = f"{row.right} of {len(row.outcomes)} right in {row.seconds:.0f} s"
    return ", ".join(filter(None, [figures if row.outcomes else "", row.note]))


async def try_way(
    bench: ProbeBench, probed_way: ProbedWay, counted: str, ahead: ProbeRow | None
) -> ProbeRow:
    """Try all tasks in one notation; `ahead` is the one that did best before it."""
    tasks = TASKS * bench.tries
    # While nothing works there is nothing to be trusted with: that time is for the tasks too.
    end = bench.tasks_end if ahead else bench.trust_end
    started, row = time.monotonic(), ProbeRow(probed_way)
    for number, task in enumerate(tasks, 1):
        bench.progress(f"{counted}  {number} of {len(tasks)}: {task.name}")
        try:
            async with asyncio.timeout_at(end):
                outcome, usage = await try_task(bench, probed_way, task)
        except TimeoutError:
            return row._replace(note=TIME_IS_UP)
        total = Usage(*map(sum, zip(row.usage, usage, strict=True)))
        row = row._replace(usage=total, seconds=round(time.monotonic() - started, 1))
        if outcome.error and outcome.error.kind == "no_tools":
            return row._replace(outcomes=(), note=str(outcome.error))
        row = row._replace(outcomes=(*row.outcomes, outcome))
        if note := find_stop_reason(row, len(tasks) - number, ahead):
            return row._replace(note=note)
    return row


async def try_task(
    bench: ProbeBench, probed_way: ProbedWay, task: ProbeTask
) -> tuple[TaskOutcome, Usage]:
    """Try one task. Raises the ModelError that every other request would end in too."""
    conversation = bench.create_conversation(probed_way, offer_tools(task))
    turn_events = await take_turn(conversation, task.said, partial(is_lost, task))
    error = find_failure(turn_events)
    if error and error.kind != "no_tools" and is_hopeless(error, probed_way.protocol):
        raise error
    fault = str(error) if error else find_excess(task, turn_events) or find_fault(task, turn_events)
    return TaskOutcome(task, fault, error), conversation.model.usage


async def take_turn(
    conversation: Conversation, text: str, is_lost: Callable[[Sequence[Event]], bool]
) -> list[Event]:
    """Take a turn until it ends, is lost by what was called, or has become too long."""
    max_tokens = MAX_REPLIES * (conversation.settings.whole("max_tokens") or MAX_TOKENS)
    taken: list[Event] = []
    async with closing_stream(turn(conversation, text)) as turn_events:
        async for event in turn_events:
            taken.append(event)
            is_called = isinstance(event, events.ToolAnswered)
            is_long = conversation.model.usage.output_tokens >= max_tokens
            if is_long or (is_called and is_lost(taken)):
                break
    return taken


def find_excess(task: ProbeTask, turn_events: Sequence[Event]) -> str:
    """Say that a turn was left as it had become too long; else nothing."""
    has_ended = any(isinstance(event, events.Ended) for event in turn_events)
    return "" if has_ended or is_lost(task, turn_events) else "it wrote on and on"


def find_stop_reason(row: ProbeRow, left: int, ahead: ProbeRow | None) -> str:
    """Say why so many tasks that are left need not be tried, or nothing."""
    error = row.outcomes[-1].error
    if error and len(row.outcomes) >= PATIENCE and all(outcome.error for outcome in row.outcomes):
        return str(error)
    if left and row.failed_easy_tasks:
        return f"stopped: none of the first {EASY_TASKS} right"
    if ahead and left and _is_beaten(row, left, ahead):
        return "stopped: another does better"
    return ""


def _is_beaten(row: ProbeRow, left: int, ahead: ProbeRow) -> bool:
    """Find out if it would lose even if it did all that is left to do."""
    if row.right + left == ahead.right:
        return row.usage.total >= ahead.usage.total
    return row.right + left < ahead.right


def find_failure(turn_events: Sequence[Event]) -> ModelError | None:
    """Find the error of the server that ended the turn: what a model writes is no such error."""
    ended = next((event for event in turn_events if isinstance(event, events.Ended)), None)
    if ended is None or ended.subtype != "error_provider":
        return None
    kinds: Mapping[int, type[ModelError]] = {75: TransientError, 77: AuthError}
    for event in turn_events:
        if isinstance(event, events.Failed) and event.severity == "error":
            error: ModelError = kinds.get(ended.exit_code, ModelError)(event.message, event.hint)
            error.kind = event.kind
            return error
    return None


def is_hopeless(error: ModelError, protocol: str) -> bool:
    """Judge if every other request would end in this error too."""
    if isinstance(error, TransientError):
        return protocol != NATIVE or error.kind not in PASSING_ERRORS
    return isinstance(error, AuthError) or error.kind in HOPELESS


def raise_if_unanswered(rows: Sequence[ProbeRow]) -> None:
    errors = [outcome.error for row in rows for outcome in row.outcomes]
    if errors and errors[-1] and all(errors):
        raise errors[-1]


def find_best(rows: Sequence[ProbeRow]) -> ProbeRow | None:
    """Most tasks right, then fewest tokens; None if nothing was ever done."""
    working = [row for row in rows if row.did_something]
    return min(working, key=lambda row: (-row.right, row.usage.total), default=None)
