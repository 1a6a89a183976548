"""Resolve what the model wrote into calls we are willing to run, or say to it why not.

Look up the tool, ask for what the notation leaves open, fit names and values to the schema,
validate (R14). Never the gate: `andy serve` resolves with its client's schemas and runs nothing.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.calls.injection import unescape_control_tokens
from andy_cli.call_notes import write_invalid_arguments
from andy_cli.compiler.dialect import Dialect, InterviewRefusal, Tools
from andy_cli.compiler.mapper.json_schema import schema_excerpt
from andy_cli.compiler.mapper.mapper import Mapped, find_tool, map_call
from andy_cli.compiler.mapper.synonyms import split_words
from andy_cli.messages import Arguments, Constraint, Problem, Schema, ToolCall, ToolRequest, Wire

AskAside = Callable[[Sequence[Wire], Constraint | None], Awaitable[str]]
"""(messages after the history, what the answer may be) -> the model's answer, seen by nobody."""

CheckArguments = Callable[[str, Arguments], tuple[Problem, ...]]
"""(tool, arguments) -> what does not fit although the schema lets it through."""

FindMeantPaths = Callable[[str, Arguments], tuple[Arguments, tuple[str, ...]]]
"""(tool, arguments) -> the same with the paths that were meant, and what was changed."""


class OfferedTools(NamedTuple):
    """The tools a request may mean."""

    tools: Tools
    only_reads: Callable[[str], bool] = lambda name: False
    """Tells whether a tool only reads: where it does, a value may be guessed."""
    check: CheckArguments = lambda name, arguments: ()
    paths: FindMeantPaths = lambda name, arguments: (arguments, ())


class ResolvedCall(NamedTuple):
    request: ToolRequest
    """The request that it comes from, as the model meant it: markers restored in its arguments."""
    call: ToolCall
    """The call as it is or would have been; it may only be run if there is no fault."""
    fault: str = ""
    """The words for the model in place of a result."""
    changes: tuple[str, ...] = ()
    """Corrections, such as `file -> path`."""
    problems: tuple[Problem, ...] = ()
    guessed: bool = False
    """The tool that was meant is a guess: it needs a yes."""


async def resolve_tool_request(
    request: ToolRequest, dialect: Dialect, offer: OfferedTools, ask_aside: AskAside
) -> tuple[ResolvedCall, ...]:
    """Resolve one request: into one call normally, into several where a list was given to a tool
    that reads one thing.

    `dialect`: the one it was written in, which need not be the taught one.
    """
    request = request._replace(arguments=unescape_control_tokens(request.arguments))
    arguments: object = request.arguments or {}
    if dialect.interview is not None:
        completed = await complete_arguments(request, dialect, offer, ask_aside)
        if isinstance(completed, InterviewRefusal):
            return (ResolvedCall(request, ToolCall(request.id, request.name), completed.text),)
        arguments = completed
    mapped = map_call(request.name, arguments, offer.tools, offer.only_reads)
    # The first of several calls keeps the id of the request.
    ids = [request.id, *(f"{request.id[:8]}{number}" for number in range(1, len(mapped.calls)))]
    return tuple(
        validate_call(request, ToolCall(id, *call), mapped, offer)
        for id, call in zip(ids, mapped.calls, strict=False)
    )


async def complete_arguments(
    request: ToolRequest, dialect: Dialect, offer: OfferedTools, ask_aside: AskAside
) -> Arguments | InterviewRefusal:
    """Ask the model for the arguments that are missing: every question to it, every answer back
    (A16 to A20). The side conversation grows. For an unknown tool nothing is asked."""
    arguments = request.arguments or {}
    match = find_tool(request.name, arguments, offer.tools)
    if match is None or dialect.interview is None:
        return arguments
    parameters = read_parameters(offer.tools[match.name])
    interview = dialect.interview(match.name, parameters, arguments)
    side_messages: list[Wire] = [{"role": "assistant", "content": dialect.write(request)}]
    answer: str | None = None
    try:
        while True:
            question = next(interview) if answer is None else interview.send(answer)
            side_messages.append({"role": "user", "content": question.text})
            answer = await ask_aside(side_messages, question.constraint)
            side_messages.append({"role": "assistant", "content": answer})
    except StopIteration as finished:
        outcome: Arguments | InterviewRefusal = finished.value
        return outcome


def validate_call(
    request: ToolRequest, call: ToolCall, mapped: Mapped, offer: OfferedTools
) -> ResolvedCall:
    """Validate a call against its tool, and correct the paths that were meant."""
    tool = offer.tools.get(call.name)
    if tool is None:
        fault = f"{mapped.problems[0].message} {USE_EXISTING_TOOL}"
        return ResolvedCall(request, call, fault, problems=mapped.problems)
    problems = mapped.problems or find_placeholders(call.arguments)
    problems = problems or offer.check(call.name, call.arguments)
    if problems:
        fault = explain_invalid_arguments(call.name, problems, tool)
        return ResolvedCall(request, call, fault, mapped.changes, problems, mapped.guessed)
    arguments, path_changes = offer.paths(call.name, call.arguments)
    corrected_call = call._replace(arguments=arguments)
    changes = (*mapped.changes, *path_changes)
    return ResolvedCall(request, corrected_call, changes=changes, guessed=mapped.guessed)


PLACEHOLDER = re.compile(r"\s*<[^<>\n]+>\s*")


def find_placeholders(arguments: Arguments) -> tuple[Problem, ...]:
    """Find the texts that say what belongs there, as an example does."""
    return tuple(
        Problem(name, "placeholder", f"{value.strip()} stands for a value and is none")
        for name, value in arguments.items()
        if isinstance(value, str) and is_placeholder(name, value)
    )


def is_placeholder(name: str, value: str) -> bool:
    """Tell whether a value is the name of its parameter in angle brackets: `<path to the file>`."""
    if PLACEHOLDER.fullmatch(value) is None:
        return False
    words = {*split_words(name)}
    return bool(words) and words <= {*split_words(value)}


USE_EXISTING_TOOL = "Use one that exists, or answer without."


def explain_invalid_arguments(name: str, problems: tuple[Problem, ...], tool: Schema) -> str:
    """Tell the model what does not fit, with that part of the schema (D15)."""
    reasons: list[str] = []
    for problem in problems:
        place = f"{problem.path}: " if problem.path else ""
        reasons.append(f"{place}{problem.message}")
    return write_invalid_arguments(name, "; ".join(reasons), schema_excerpt(tool, problems))


def read_parameters(tool: Schema) -> Schema:
    """Read the schema of a tool's parameters; empty where it has none."""
    schema = tool.get("function", tool).get("parameters")
    return schema if isinstance(schema, Mapping) else {}


UNKNOWN = "I have no way to do that. What would you like me to do instead?"


def ask_for_clarification(action: str, tool: Schema | None, problems: Sequence[Problem]) -> str:
    """Ask the user for what is missing or does not fit, which the model could not put right (C16).

    `action`: what was to be done, in words; `tool` is None where there is none for it.
    """
    if tool is None or not problems:
        return UNKNOWN
    problem = problems[0]
    missing = describe_parameter(problem.path or problem.message, tool)
    if problem.rule == "required":
        return f"To {action} I still need to know {missing}. Could you tell me?"
    return f"To {action} I need to know {missing}, and what I have does not fit. What should it be?"


def describe_parameter(path: str, tool: Schema) -> str:
    """Describe a parameter by its description, else by its name as words."""
    name = path.split("/")[0]
    schema = read_parameters(tool).get("properties", {}).get(name, {})
    description = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(description, str) and description.strip():
        return description.strip().rstrip(".?!")
    if not name.isidentifier():
        return "more"
    return "the " + name.replace("_", " ").strip()
