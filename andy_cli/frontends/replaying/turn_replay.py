"""`andy replay CAPTURE --turns`: the captured turns once more, from what was recorded alone.

The model's words come from the recorded bytes and the results from the recorded results: the same
turn, compiler, mapper, sanitizer and audit run as at the time. Nothing is sent and no tool runs.
"""

import asyncio
import contextlib
import json
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.call_notes import read_refusal
from andy_cli.errors import SHELL_WAYS, ModelError, ToolError, UsageError
from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.frontends.replaying.capture_reader import Record, RecordedCapture, RecordedRequest
from andy_cli.frontends.terminal.messages import format_action, format_problem, list_not_done
from andy_cli.guard.gate import ApprovalRequest, Decision, Gate
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Arguments, Chunk, Effect, Request, Status
from andy_cli.settings import load
from andy_cli.toolbox import collection
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, Tool


class RecordedModel:
    """A model that says again what it said, and tools that return what they returned."""

    def __init__(
        self, requests: Iterable[RecordedRequest], results: Iterable[Record], name: str
    ) -> None:
        self._requests = deque(request for request in requests if request.pieces)
        self.results = deque(results)
        self.name = name
        self.tools = True
        self.guided = False

    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        if not self._requests:
            return
        with contextlib.suppress(ModelError):  # what came of it was recorded too
            for chunk in self._requests.popleft().read_chunks():
                yield chunk

    async def close(self) -> None:
        pass

    def find_result(self, tool: str) -> Record:
        """Find the next result of a tool; those before it are of calls that do not get so far."""
        while self.results and text_of(self.results[0], "name") != tool:
            self.results.popleft()
        return self.results[0] if self.results else {}

    def run(self, tool: str, _: Arguments) -> Outcome:
        result = self.find_result(tool)
        if self.results:
            self.results.popleft()
        if text_of(result, "status") != Status.SUCCESS:
            raise ToolError(text_of(result, "content"))
        return Outcome(text_of(result, "content"), text_of(result, "did"))


class RecordedGate(Gate):
    """Allows what was allowed."""

    def __init__(self, model: RecordedModel) -> None:
        super().__init__(Path.cwd())
        self._model = model

    async def decide(self, approval_request: ApprovalRequest) -> Decision:
        result = self._model.find_result(approval_request.tool)
        if text_of(result, "status") == Status.DENIED:
            note = text_of(self._model.results.popleft(), "content")
            return Decision(False, read_refusal(note) or note, asked=True)
        return Decision(True, "as at the time")


def replay_turns(recording: RecordedCapture, as_json: bool) -> int:
    """Replay the turns of a capture. Raises UsageError if it holds none, as old captures do."""
    if not recording.turns:
        raise UsageError(
            "This capture does not say where a turn begins: only replies can be replayed.",
            "Leave --turns out.",
        )
    return asyncio.run(_replay_turns(recording, as_json))


async def _replay_turns(recording: RecordedCapture, as_json: bool) -> int:
    first = recording.turns[0]
    model = RecordedModel(recording.requests, recording.results, text_of(first, "model"))
    settings = load((f"dialect={text_of(first, 'dialect')}",), environment={})
    tools = Registry(_recorded_tools(first, model))
    conversation = Conversation(model, tools, RecordedGate(model), settings, Path.cwd())
    conversation.ways = SHELL_WAYS
    code = 0
    for recorded_turn in recording.turns:
        async for event in turn(conversation, text_of(recorded_turn, "user")):
            _print_text(events.as_json(event) if as_json else render_event(event))
            if isinstance(event, events.Ended):
                code = event.exit_code
    return code


def _recorded_tools(record: Record, model: RecordedModel) -> Iterator[Tool]:
    """The tools of the time: today's where they are still there, each with its result recalled.

    Those that could not be used then cannot be now.
    """
    needs = as_record(record.get("needs"))
    today = {tool.name: tool for tool in collection.load_tool_files()}
    for entry in as_records(record.get("tools")):
        function = as_record(entry.get("function"))
        name = str(function.get("name", ""))
        if not name:
            continue
        run_tool, reason = partial(model.run, name), partial(text_of, needs, name)
        tool = today.get(name) or _make_foreign_tool(name, function, run_tool)
        yield replace(tool, run=run_tool, unavailable_reason=reason, background=False)


def _make_foreign_tool(
    name: str, function: Record, run_tool: Callable[[Arguments], Outcome]
) -> Tool:
    parameters = as_record(function.get("parameters"))
    return Tool(
        name=name,
        description=text_of(function, "description"),
        describe=lambda: parameters,
        effect=Effect.READ,
        action=f"use {name}",
        run=run_tool,
    )


def render_event(event: events.Event) -> str:
    match event:
        case events.Said(role="user", content=content):
            return f"\n> {content}\n"
        case events.Said(content=content):
            return content
        case events.ToolAnswered() if event.did:
            return f"\n- {format_action(event)}\n"
        case events.Corrected(changes=changes):
            return f"\n- corrected: {', '.join(changes)}\n"
        case events.Failed(message=message, hint=hint):
            return f"\n{format_problem(message, hint)}\n"
        case events.Audited(unsupported=names) if names:
            return f"\n- nothing supports: {json.dumps(names, ensure_ascii=False)}\n"
        case events.Ended():
            return "".join(f"\n{line}" for line in list_not_done(event)) + "\n"
    return ""


def _print_text(text: str) -> None:
    sys.stdout.write(neutralize_text(text) + ("\n" if text.startswith("{") else ""))
