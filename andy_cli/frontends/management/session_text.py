"""Render what was said in a session for people: steps in words, results without JSON."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from andy_cli.foreign_values import as_records, read_json, text_of
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.settings import load
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.registry import Registry

SPEAKERS = {"user": "You", "assistant": "andy", "tool": "Result", "system": "System"}
INDENT = "  "


def render_messages(records: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Render messages as Markdown, without andy's own notes to the model."""
    actions: dict[str, str] = {}
    for record in records:
        if not record.get("note"):
            steps = describe_calls(record)
            actions.update(steps)
            yield from render_message(record, list(steps.values()), actions)


def render_message(
    record: Mapping[str, object], steps: list[str], actions: Mapping[str, str]
) -> Iterator[str]:
    """Render one message; nothing of one that is empty. `actions` are those of calls so far."""
    content = str(record["content"]).strip()
    heading = SPEAKERS[str(record["role"])]
    if record["role"] == "tool":
        content = render_result(content)
        action = actions.get(text_of(record, "call_id")) or text_of(record, "name")
        heading += f": {action}" if action else ""
    if content:
        yield f"\n## {heading}\n\n{content}\n"
    elif steps:
        yield f"\n## {heading}\n"
    yield "".join(f"\n- {step}\n" for step in steps)
    if (unverified := record.get("unverified")) and isinstance(unverified, list | tuple):
        yield f"\n(not verified: {', '.join(map(str, unverified))})\n"


def describe_calls(record: Mapping[str, object]) -> dict[str, str]:
    """Describe the calls of a message in the words of their tools, by their ids."""
    return {
        str(call["id"]): describe_call(str(call["name"]), call.get("arguments"))
        for call in as_records(record.get("calls"))
    }


def describe_call(name: str, arguments: object) -> str:
    """Describe a call; one of a tool that is no longer there by its name."""
    tool = load_quietly().get(name)
    if tool is None or not isinstance(arguments, Mapping):
        return f"use {name}"
    return one_line(tool.intent(arguments))


@cache
def load_quietly() -> Registry:
    """Load the tools for their words alone: what is wrong with one of them is told elsewhere."""
    return Collection(load(), Path.cwd().resolve()).registry


def render_result(content: str) -> str:
    """Render a result as a block: data as lines of names and values, text as it is."""
    value = read_json(content)
    try:
        text = "\n".join(list_lines(value)) if isinstance(value, dict | list) else content
    except RecursionError:  # nested as deeply as no data is
        text = content
    return text if "```" in text else f"```\n{text}\n```"


def list_lines(value: object) -> Iterator[str]:
    """List the entries of a value, one a line and with what is in them below it."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from join_lines(f"{name}:", list(list_lines(member)), is_plain(member))
    elif isinstance(value, list):
        for member in value:
            yield from join_lines("-", list(list_lines(member)), True)
    else:
        yield from format_plain(value).splitlines() or [""]


def join_lines(opening: str, lines: list[str], on_one_line: bool) -> Iterator[str]:
    """Put lines after their opening where the first of them fits there, else below it."""
    first = f" {lines.pop(0)}" if lines and on_one_line else ""
    yield f"{opening}{first}"
    yield from (f"{INDENT}{line}" for line in lines)


def is_plain(value: object) -> bool:
    return not isinstance(value, dict | list)


def format_plain(value: object) -> str:
    """Format a value of JSON as words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)
