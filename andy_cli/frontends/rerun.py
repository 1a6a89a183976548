"""`andy replay CAPTURE --turns`: the captured turns once more, from what was recorded alone.

The model's words come from the recorded bytes and the results from the recorded results: the same
turn, compiler, mapper, sanitizer and audit run as at the time. Nothing is sent and no tool runs.
"""

import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.recorded import Record, Recorded, Recording, text
from andy_cli.frontends.words import action_line, not_done_lines, problem
from andy_cli.guard.gate import ApprovalRequest, Decision, Gate
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Arguments, Chunk, Effect, Request, Status
from andy_cli.models.http.ollama_wire import reader_at
from andy_cli.settings import load
from andy_cli.toolbox import collection
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, Tool, ready


class Recalled:
    """A model that says again what it said, and tools that return what they returned."""

    def __init__(self, recorded: Iterable[Recorded], results: Iterable[Record], name: str) -> None:
        self._recorded = deque(each for each in recorded if each.pieces)
        self.results = deque(results)
        self.name = name
        self.tools = True
        self.guided = False

    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        if not self._recorded:
            return
        recorded = self._recorded.popleft()
        reader = reader_at(recorded.address)
        for piece in recorded.pieces:
            for chunk in [piece] if isinstance(piece, Chunk) else reader.feed(piece):
                yield chunk
        for chunk in reader.finish():
            yield chunk

    async def close(self) -> None:
        pass

    def run(self, _: Arguments) -> Outcome:
        result = self.results.popleft() if self.results else {}
        if text(result, "status") != Status.SUCCESS:
            raise ToolError(text(result, "content"))
        return Outcome(text(result, "content"), text(result, "did"))


class Recollection(Gate):
    """Allows what was allowed."""

    def __init__(self, recalled: Recalled) -> None:
        super().__init__(Path.cwd())
        self._recalled = recalled

    async def decide(self, proposal: ApprovalRequest) -> Decision:
        results = self._recalled.results
        if results and text(results[0], "status") == Status.DENIED:
            # The words that calls/tool_runner.py tells the model hold the reason.
            told = text(results.popleft(), "content").partition(": ")[2]
            return Decision(False, told.partition(". Do not")[0], asked=True)
        return Decision(True, "as at the time")


def rerun(recording: Recording, as_json: bool) -> int:
    """Raises UsageError where the capture holds no turn: those of earlier versions do not."""
    if not recording.turns:
        raise UsageError(
            "This capture does not say where a turn begins: only replies can be replayed.",
            "Leave --turns out.",
        )
    return asyncio.run(_rerun(recording, as_json))


async def _rerun(recording: Recording, as_json: bool) -> int:
    first = recording.turns[0]
    recalled = Recalled(recording.requests, recording.results, text(first, "model"))
    settings = load((f"dialect={text(first, 'dialect')}",), environment={})
    tools = Registry(_stand_ins(first, recalled))
    chat = Conversation(recalled, tools, Recollection(recalled), settings, Path.cwd())
    code = 0
    for each in recording.turns:
        async for event in turn(chat, text(each, "user")):
            _write(events.as_json(event) if as_json else shown(event))
            if isinstance(event, events.Ended):
                code = event.exit_code
    return code


def _stand_ins(record: Record, recalled: Recalled) -> Iterator[Tool]:
    """The tools of the time: today's where they are still there, each with its result recalled."""
    today = {each.name: each for each in collection.load_tool_files()}
    listed = record.get("tools")
    for each in listed if isinstance(listed, list) else ():
        function = each.get("function", {}) if isinstance(each, dict) else {}
        name = str(function.get("name", ""))
        known = today.get(name)
        if known is not None:
            yield replace(known, run=recalled.run, unavailable_reason=ready, background=False)
        elif name:
            yield _foreign(name, function, recalled.run)


def _foreign(name: str, function: Record, run: Callable[[Arguments], Outcome]) -> Tool:
    parameters = function.get("parameters")
    return Tool(
        name=name,
        description=text(function, "description"),
        describe=lambda: parameters if isinstance(parameters, dict) else {},
        effect=Effect.READ,
        action=f"use {name}",
        run=run,
    )


def shown(event: events.Event) -> str:
    match event:
        case events.Said(role="user", content=content):
            return f"\n> {content}\n"
        case events.Said(content=content):
            return content
        case events.ToolAnswered() if event.did:
            return f"\n- {action_line(event)}\n"
        case events.Corrected(changes=changes):
            return f"\n- put right: {', '.join(changes)}\n"
        case events.Failed(message=message, hint=hint):
            return f"\n{problem(message, hint)}\n"
        case events.Audited(unsupported=names) if names:
            return f"\n- nothing supports: {json.dumps(names, ensure_ascii=False)}\n"
        case events.Ended():
            return "".join(f"\n{line}" for line in not_done_lines(event)) + "\n"
    return ""


def _write(said: str) -> None:
    sys.stdout.write(neutralize_text(said) + ("\n" if said.startswith("{") else ""))
