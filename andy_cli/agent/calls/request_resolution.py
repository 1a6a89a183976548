"""What the model wrote -> calls we are willing to run, or words that tell the model why not.

Look up the tool, ask for what the notation leaves open, fit names and values to the schema,
validate (R14). Never the gate: `andy serve` resolves with its client's schemas and runs nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from andy_cli.compiler.dialect import Dialect, InterviewQuestion, InterviewRefusal, Tools
from andy_cli.compiler.mapper.mapper import Mapped, map_call
from andy_cli.compiler.mapper.provider_schema import schema_excerpt
from andy_cli.compiler.mapper.tool_names import find_tool
from andy_cli.messages import Arguments, Problem, Schema, ToolCall, ToolRequest

AskModel = Callable[[InterviewQuestion], Awaitable[str]]
"""Puts a question to the model and returns its answer."""

CheckArguments = Callable[[str, Arguments], tuple[Problem, ...]]
"""(tool, arguments) -> what does not fit although the schema lets it through."""


FindMeantPaths = Callable[[str, Arguments], tuple[Arguments, tuple[str, ...]]]
"""(tool, arguments) -> the same with the paths that were meant, and what was changed."""


class OfferedTools(NamedTuple):
    """The tools a request may mean."""

    tools: Tools
    harmless: Callable[[str], bool] = lambda name: False
    """Whether a tool only reads: where it does, a value may be guessed."""
    check: CheckArguments = lambda name, arguments: ()
    paths: FindMeantPaths = lambda name, arguments: (arguments, ())


class ResolvedCall(NamedTuple):
    call: ToolCall
    """The call as it is or would have been; it may only be run if there is no fault."""
    fault: str = ""
    """What the model is told instead of a result."""
    changes: tuple[str, ...] = ()
    """What was corrected, e.g. `file -> path`."""
    problems: tuple[Problem, ...] = ()
    doubtful: bool = False
    """Which tool was meant is a guess: it needs a yes."""


async def resolve_tool_request(
    request: ToolRequest, dialect: Dialect, offer: OfferedTools, ask: AskModel
) -> tuple[ResolvedCall, ...]:
    """One call normally; several where a list was given to a tool that reads one thing."""
    arguments: object = request.arguments or {}
    if dialect.interview is not None:
        answered = await complete_arguments(request, dialect, offer, ask)
        if isinstance(answered, InterviewRefusal):
            return (ResolvedCall(ToolCall(request.id, request.name), answered.text),)
        arguments = answered
    made = map_call(request.name, arguments, offer.tools, offer.harmless)
    return tuple(
        validate_call(ToolCall(number_call_id(request.id, at), *call), made, offer)
        for at, call in enumerate(made.calls)
    )


async def complete_arguments(
    request: ToolRequest, dialect: Dialect, offer: OfferedTools, ask: AskModel
) -> Arguments | InterviewRefusal:
    """The arguments, those asked for included; an unknown tool is asked for nothing."""
    given = request.arguments or {}
    found = find_tool(request.name, given, offer.tools)
    if found is None:
        return given
    return await conduct_interview(dialect, found.name, given, offer.tools[found.name], ask)


def validate_call(call: ToolCall, made: Mapped, offer: OfferedTools) -> ResolvedCall:
    tool = offer.tools.get(call.name)
    if tool is None:
        return ResolvedCall(call, f"{made.problems[0].message} {INSTEAD}", problems=made.problems)
    problems = made.problems or offer.check(call.name, call.arguments)
    if problems:
        fault = explain_misfit(call.name, problems, tool)
        return ResolvedCall(call, fault, made.changes, problems, made.guessed)
    arguments, found = offer.paths(call.name, call.arguments)
    meant = call._replace(arguments=arguments)
    return ResolvedCall(meant, changes=(*made.changes, *found), doubtful=made.guessed)


INSTEAD = "Use one that exists, or answer without."


def number_call_id(id: str, at: int) -> str:
    """Ids of calls that one request became: the first keeps its own."""
    return f"{id[:8]}{at}" if at else id


def explain_misfit(name: str, problems: tuple[Problem, ...], tool: Schema) -> str:
    """The one message to the model: what does not fit, and that part of the schema (D15)."""
    found = "; ".join(
        f"{each.path}: {each.message}" if each.path else each.message for each in problems
    )
    return (
        f"{name} was not run, its arguments do not fit: {found}."
        f" Its parameters are: {schema_excerpt(tool, problems)} Correct them and ask again."
    )


async def conduct_interview(
    dialect: Dialect, name: str, given: Arguments, tool: Schema, ask: AskModel
) -> Arguments | InterviewRefusal:
    """Lead the interview: every question to the model, every answer back (A16 to A20)."""
    assert dialect.interview is not None
    interview = dialect.interview(name, read_parameters(tool), given)
    answer: str | None = None
    try:
        while True:
            question = next(interview) if answer is None else interview.send(answer)
            answer = await ask(question)
    except StopIteration as done:
        outcome: Arguments | InterviewRefusal = done.value
        return outcome


def read_parameters(tool: Schema) -> Schema:
    schema = tool.get("function", tool).get("parameters")
    return schema if isinstance(schema, Mapping) else {}
