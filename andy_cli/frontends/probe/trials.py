"""One notation after the other gets the same tasks, each a whole turn of the product."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.compiler import dialects
from andy_cli.compiler.detect import DIALOGUE, NATIVE, OBJECT, Detected, Template, choose_dialect
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
from andy_cli.errors import AuthError, ModelError, TransientError
from andy_cli.events import Event
from andy_cli.frontends.options import Options
from andy_cli.frontends.probe.battery import TASKS, Task, lacking, offered
from andy_cli.guard.gate import Gate
from andy_cli.messages import Usage
from andy_cli.models.client import ModelClient
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry

GENERAL = (OBJECT, DIALOGUE, "hermes")
"""What any model may be able to write, whoever made it."""

BOUNDS = ("limits.rounds=6", "limits.calls=8")
MOST_TOKENS = "max_tokens=2000"
"""A model that has lost its way costs no more than this."""

PASSING = ("server", "protocol")
"""Kinds of failure that may be those of native calls: servers fail over what they cannot read."""

PATIENCE = 2
"""Tasks at which the server may fail before it has answered any."""

HOPELESS = ("no_model", "not_found", "quota", "redirect")
"""Kinds that no other notation will mend."""


class Outcome(NamedTuple):
    """One task, tried once."""

    task: Task
    why: str = ""
    """What was wrong; empty if it was carried out."""
    error: ModelError | None = None
    """What the server said, if it was the server that failed."""


class Way(NamedTuple):
    """A notation, and whether the server holds the model to what it may write in it."""

    protocol: str
    held: bool = False

    @property
    def name(self) -> str:
        return f"{self.protocol}, held" if self.held else self.protocol


class Row(NamedTuple):
    """How one notation did."""

    way: Way
    outcomes: tuple[Outcome, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    note: str = ""
    """Why it was not tried to the end."""

    @property
    def protocol(self) -> str:
        return self.way.protocol

    @property
    def right(self) -> int:
        return sum(not each.why for each in self.outcomes)

    @property
    def works(self) -> bool:
        """Whether something was done with it: an answer to small talk shows nothing."""
        return any(each.task.calls and not each.why for each in self.outcomes)


class Bench(NamedTuple):
    """What is probed, and how often."""

    chosen: Chosen
    client: ModelClient
    loose: ModelClient
    """The same model, whose server is not asked to hold it to anything."""
    options: Options
    tries: int
    progress: Callable[[str], None] = lambda line: None

    def conversation(self, way: Way, tools: Registry) -> Conversation:
        """A new one: no task knows of another."""
        settings = self.settings(way.protocol)
        client = self.client if way.held else self.loose
        return Conversation(client, tools, Gate(Path.cwd()), settings, Path.cwd())

    def settings(self, protocol: str) -> Settings:
        bounds: tuple[str, ...] = BOUNDS
        if not (self.chosen.provider.connect or self.options.settings().whole("max_tokens")):
            bounds += (MOST_TOKENS,)
        return replace(
            self.options, set=(*self.options.set, f"dialect={protocol}", *bounds)
        ).settings()


def family_of(bench: Bench, template: Template) -> Detected:
    """What would be written if nothing was known from trying."""
    there = discover(dialects, Dialect, "DIALECT")
    return choose_dialect(bench.chosen.endpoint.model, template, (), there)


def candidates(bench: Bench, family: str) -> list[Way]:
    """What is worth trying, each once; where two are equal, the first is kept."""
    native = [NATIVE] if bench.client.tools else []
    protocols = [*dict.fromkeys([*native, family, *GENERAL])]
    return [way for protocol in protocols for way in ways_of(bench, protocol)]


def ways_of(bench: Bench, protocol: str) -> list[Way]:
    """A notation without, and with all that its server can do to hold the model to it."""
    dialect = discover(dialects, Dialect, "DIALECT")
    holds = any(each.constraint for each in dialect if each.name == protocol)
    settings = bench.options.settings()
    served = bool(bench.chosen.endpoint.base_url) and settings.text("constraints") != "off"
    return [Way(protocol, True), Way(protocol)] if holds and served else [Way(protocol)]


async def in_turn(bench: Bench, ways: Sequence[Way]) -> list[Row]:
    """How each of them did. One that cannot become the best any more is not tried to the end."""
    rows: list[Row] = []
    for each in ways:
        rows.append(await tried(bench, each, best(rows)))
    return rows


async def tried(bench: Bench, way: Way, ahead: Row | None = None) -> Row:
    """All tasks in one notation; `ahead` is the one that did best before it."""
    tasks = TASKS * bench.tries
    started, row = time.monotonic(), Row(way)
    for at, task in enumerate(tasks, 1):
        bench.progress(f"{way.name}  {at} of {len(tasks)}: {task.name}")
        chat = bench.conversation(way, offered(task))
        seen = [event async for event in turn(chat, task.said)]
        used = Usage(*(one + more for one, more in zip(row.usage, chat.model.usage, strict=True)))
        row = row._replace(usage=used, seconds=round(time.monotonic() - started, 1))
        error = failure(seen)
        if error and error.kind == "no_tools":
            return row._replace(outcomes=(), note=str(error))
        if error and hopeless(error, way.protocol):
            raise error
        outcome = Outcome(task, str(error) if error else lacking(task, seen), error)
        row = row._replace(outcomes=(*row.outcomes, outcome))
        if error and at >= PATIENCE and all(each.error for each in row.outcomes):
            return row._replace(note=str(error))
        if ahead and at < len(tasks) and _beaten(row, len(tasks) - at, ahead):
            return row._replace(note="stopped: another does better")
    return row


def _beaten(row: Row, left: int, ahead: Row) -> bool:
    """Whether it would lose even if it did all that is left to do."""
    if row.right + left == ahead.right:
        return sum(row.usage) >= sum(ahead.usage)
    return row.right + left < ahead.right


def failure(seen: Sequence[Event]) -> ModelError | None:
    """What ended the turn, as the error it was."""
    code = next((each.exit_code for each in seen if isinstance(each, events.Ended)), 1)
    kinds: Mapping[int, type[ModelError]] = {75: TransientError, 77: AuthError}
    for each in seen:
        if isinstance(each, events.Failed) and each.severity == "error":
            error: ModelError = kinds.get(code, ModelError)(each.message, each.hint)
            error.kind = each.kind
            return error
    return None


def hopeless(error: ModelError, protocol: str) -> bool:
    """Whether every other request would end so too."""
    if isinstance(error, TransientError):
        return protocol != NATIVE or error.kind not in PASSING
    return isinstance(error, AuthError) or error.kind in HOPELESS


def fail_if_nobody_answered(rows: Sequence[Row]) -> None:
    errors = [each.error for row in rows for each in row.outcomes]
    if errors and errors[-1] and all(errors):
        raise errors[-1]


def best(rows: Sequence[Row]) -> Row | None:
    """Most tasks right, then fewest tokens; None if nothing was ever done."""
    working = [row for row in rows if row.works]
    return min(working, key=lambda row: (-row.right, sum(row.usage)), default=None)
