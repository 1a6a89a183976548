"""What a turn costs beside the model and the tool, and how that grows with the history.

One turn is a request for one call, its result, and the answer: two requests to a model that is in
the same process and answers at once, and a tool that does nothing. Its floor is the same work with
nothing around it: the history rendered twice, and both replies compiled.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.guard.gate import Gate
from andy_cli.messages import CallDelta, Chunk, Message, Request, ToolCall, Usage
from andy_cli.settings import load
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import tool
from tests.benchmarks.measure import table

SIZES = (10, 50, 100, 200, 400)
RUNS = 41
GOAL = 5.0
"""Milliseconds, at 200 messages."""
ANSWER = "There are notes.md and plan.txt in this folder; plan.txt is the newer one."


@tool(effect="read", action="look")
async def look(path: str = ".") -> list[str]:
    """Look"""
    return ["notes.md", "plan.txt"]


@dataclass
class Instant:
    """Answers at once, in as many pieces as a word has letters."""

    replies: Sequence[Sequence[Chunk]]
    name: str = "x:instant"
    tools: bool = True
    guided: bool = False
    at: int = 0

    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        said = self.replies[self.at % len(self.replies)]
        self.at += 1
        for chunk in said:
            yield chunk

    async def close(self) -> None:
        pass


def script(native: bool) -> list[list[Chunk]]:
    end = Chunk(finish="stop", usage=Usage())
    answer = [*(Chunk(ANSWER[at : at + 5]) for at in range(0, len(ANSWER), 5)), end]
    if native:
        return [[Chunk(call=CallDelta(0, "c", "look", "{}")), Chunk(finish="tool_calls")], answer]
    call = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    return [[*(Chunk(call[at : at + 5]) for at in range(0, len(call), 5)), end], answer]


def history(size: int) -> list[Message]:
    """Turns of four messages, as they are in real sessions: a question, a call, a result, words."""
    found: list[Message] = []
    for at in range(size // 4 + 1):
        call = ToolCall(f"call{at:05}", "look", {"path": f"folder {at}"})
        found += [
            Message("user", f"What is new in folder {at}? I only need the names of the files."),
            Message("assistant", "", (call,)),
            Message("tool", f'["notes {at}.md", "plan {at}.txt"]', call_id=call.id, name="look"),
            Message("assistant", f"There are notes {at}.md and plan {at}.txt in folder {at}."),
        ]
    return found[:size]


def conversation(size: int, native: bool) -> Conversation:
    folder = Path.cwd()
    asked = ["limits.context=1000000", f"dialect={'native' if native else 'hermes'}"]
    settings = load(asked, environment={})
    instant = Instant(script(native), tools=native)
    chat = Conversation(instant, Registry([look]), Gate(folder), settings, folder)
    chat.history.messages[:] = history(size)
    return chat


async def one_turn(chat: Conversation) -> None:
    seen = [event async for event in turn(chat, "What is here?")]
    ended = seen[-1]
    assert isinstance(ended, events.Ended)
    assert ended.result == ANSWER, ended.result


async def measured(size: int, native: bool) -> float:
    """Median milliseconds of processor time of a turn after so many messages."""
    chat = conversation(size, native)
    before = list(chat.history.messages)
    times = []
    for _ in range(RUNS):
        chat.history.messages[:], chat.tools.actions = before, []
        started = time.process_time()
        await one_turn(chat)
        times.append(time.process_time() - started)
    return median(times) * 1000


def floor(size: int, native: bool) -> float:
    """Median milliseconds to render the history twice and to compile both replies."""
    chat = conversation(size, native)
    times = []
    for _ in range(RUNS):
        started = time.process_time()
        for said in script(native):
            chat.requests.render()
            compiler = chat.model.profile.make_compiler(False, False)
            for chunk in said:
                compiler.take(chunk)
            compiler.finish()
        times.append(time.process_time() - started)
    return median(times) * 1000


def main() -> None:
    for native in (True, False):
        rows, turns = [], []
        for size in SIZES:
            cost, least = asyncio.run(measured(size, native)), floor(size, native)
            turns.append(cost)
            goal = f" (<= {GOAL:.0f} ms)" if size == 200 else ""
            ratio = f"{cost / least:.1f}x{goal}"
            rows.append((f"{size} messages", f"{cost:.2f} ms", f"{least:.2f} ms", ratio))
        for at in range(1, len(SIZES)):
            grown = (turns[at] - turns[at - 1]) / (SIZES[at] - SIZES[at - 1]) * 1000
            what = f"{SIZES[at - 1]} to {SIZES[at]}"
            rows.append((what, f"{grown:.1f} us a message", "", "(the same in all rows: linear)"))
        kind = "native calls" if native else "calls in the text (hermes)"
        table(f"conversation: a turn beside model and tool, {kind}", rows)
