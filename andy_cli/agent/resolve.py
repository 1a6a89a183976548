"""What the model wrote -> a call we are willing to run, or words that tell the model why not.

Look up the tool, ask for what the notation leaves open, validate. Never the gate: `andy serve`
resolves with its client's schemas and runs nothing.
"""

import difflib
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from andy_cli.compiler.dialect import Dialect, Question, Refusal, Tools
from andy_cli.messages import Arguments, Problem, Schema, ToolCall, ToolRequest

Ask = Callable[[Question], Awaitable[str]]
"""Puts a question to the model and returns its answer."""

Check = Callable[[str, Arguments], tuple[Problem, ...]]
"""(tool, arguments) -> what does not fit."""


class Resolved(NamedTuple):
    call: ToolCall
    """The call as it is or would have been; it may only be run if there is no fault."""
    fault: str = ""
    changes: tuple[str, ...] = ()
    """What was corrected, e.g. `file -> path`."""


async def resolve(
    request: ToolRequest, dialect: Dialect, tools: Tools, check: Check, ask: Ask
) -> Resolved:
    name = lookup(request.name, tools)
    call = ToolCall(request.id, name or request.name, request.arguments or {})
    if name is None:
        return Resolved(call, unknown(request.name, tools))
    changes = () if name == request.name else (f"{request.name} -> {name}",)
    if dialect.interview is not None:
        answered = await conduct(dialect, call, tools[name], ask)
        if isinstance(answered, Refusal):
            return Resolved(call, answered.text)
        call = ToolCall(call.id, name, answered)
    if problems := check(name, call.arguments):
        return Resolved(call, misfit(name, problems), changes)
    return Resolved(call, "", changes)


def lookup(written: str, tools: Tools) -> str | None:
    """The tool's registered name; case and separators do not matter (A15)."""
    if written in tools:
        return written
    plain = "".join(filter(str.isalnum, written)).lower()
    hits = [name for name in tools if "".join(filter(str.isalnum, name)).lower() == plain]
    return hits[0] if len(hits) == 1 else None


def unknown(written: str, tools: Tools) -> str:
    close = difflib.get_close_matches(written.lower(), tools, n=3, cutoff=0.5)
    nearest = f" The nearest are: {', '.join(close)}." if close else ""
    return f"There is no {written}.{nearest} Use one that exists, or answer without."


def misfit(name: str, problems: tuple[Problem, ...]) -> str:
    found = "; ".join(f"{each.path}: {each.message}" for each in problems)
    return f"{name} was not run, its arguments do not fit: {found}. Correct them and ask again."


async def conduct(dialect: Dialect, call: ToolCall, tool: Schema, ask: Ask) -> Arguments | Refusal:
    """Lead the interview: every question to the model, every answer back (A16 to A20)."""
    assert dialect.interview is not None
    interview = dialect.interview(call.name, parameters(tool), call.arguments)
    answer: str | None = None
    try:
        while True:
            question = next(interview) if answer is None else interview.send(answer)
            answer = await ask(question)
    except StopIteration as done:
        outcome: Arguments | Refusal = done.value
        return outcome


def parameters(tool: Schema) -> Schema:
    schema = tool.get("function", tool).get("parameters")
    return schema if isinstance(schema, Mapping) else {}
