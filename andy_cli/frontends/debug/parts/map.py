"""`andy debug map`: calls, corrected by the schemas of their tools as the product does it."""

from collections.abc import Mapping

from andy_cli.compiler.mapper.mapper import Mapped, MappedCall, mapped
from andy_cli.compiler.mapper.words import words
from andy_cli.frontends.debug.part import Cut, Part, Record, list_of, tools_of
from andy_cli.messages import Problem

ACTING = frozenset(
    "delete remove erase destroy drop purge wipe clear send email reply forward post publish tweet "
    "message notify share invite run exec execute terminal shell command bash write edit append "
    "overwrite replace update modify rename move upload put patch pay purchase buy order transfer "
    "withdraw deposit refund charge book reserve cancel trade sell sign submit approve install "
    "uninstall deploy restart reboot shutdown kill stop format reset revoke grant ban".split()
)
"""Verbs of tools that do something to the world, when nothing else is known of them."""
READING = frozenset(
    "get calculate calc compute find search list read check fetch lookup look show describe count "
    "estimate predict analyze analyse compare convert view query is has generate solve evaluate "
    "determine identify translate retrieve validate verify track summarize math".split()
)
ALWAYS = frozenset(
    "delete remove erase destroy purge wipe send pay purchase buy execute exec terminal".split()
)
"""They act however the name begins."""


def harmless(tool: Record) -> bool:
    """By what its maker says of it, else by the words of its name."""
    function = tool.get("function", tool)
    said: dict[str, object] = {}
    for each in (tool, function, tool.get("annotations"), _notes(function)):
        said.update(each if isinstance(each, Mapping) else {})
    if "effect" in said:
        return said["effect"] in ("read", "protocol", "none")
    if isinstance(said.get("destructiveHint"), bool) and said["destructiveHint"]:
        return False
    if isinstance(said.get("readOnlyHint"), bool):
        return bool(said["readOnlyHint"])
    named = words(str(said.get("name", "")))
    return not ((ALWAYS if READING.intersection(named[:1]) else ACTING) & set(named))


def _notes(function: object) -> object:
    return function.get("annotations") if isinstance(function, Mapping) else None


def answered(record: Record, _: Cut) -> dict[str, object]:
    tools = tools_of(record)
    calls: list[object] = []
    changes: list[str] = []
    problems: list[Problem] = []
    for call in list_of(record, "calls"):
        made = _mapped(call, tools)
        problems.extend(made.problems)
        changes.extend(made.changes)
        # What cannot be corrected stays as it was, whatever that is.
        calls.extend([call] if made.problems else map(_told, made.calls))
    return {
        "calls": calls,
        "changes": changes,
        "valid": not problems,
        "errors": [each._asdict() for each in problems],
    }


def _told(call: MappedCall) -> dict[str, object]:
    return {"name": call.name, "arguments": dict(call.arguments)}


def _mapped(call: object, tools: dict[str, Record]) -> Mapped:
    """Raises TypeError for what is no call at all."""
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise TypeError("calls is a list of objects with a name and arguments")
    name = str(call["name"])
    made = mapped(name, call.get("arguments"), tools, lambda tool: harmless(tools[tool]))
    if made.doubtful and not made.problems:
        said = f"{name} may be {made.calls[0].name}, which needs a yes"
        return made._replace(changes=(), problems=(Problem("", "name", said),))
    return made._replace(changes=()) if made.problems else made


PART = Part("map", answered)
