"""`andy debug map`: calls, corrected by the schemas of their tools as the product does it."""

from collections.abc import Mapping

from andy_cli.compiler.mapper.mapper import Mapped, MappedCall, map_call
from andy_cli.compiler.mapper.synonyms import split_words
from andy_cli.frontends.debug.debug_part import Cut, Part, Record, list_of, tools_of
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
    """Judge if a tool only reads: by its annotations, else by the words of its name."""
    declared = declared_harmless(tool)
    if declared is not None:
        return declared
    named = split_words(str(_said_of(tool).get("name", "")))
    return not ((ALWAYS if READING.intersection(named[:1]) else ACTING) & set(named))


def declared_harmless(tool: Record) -> bool | None:
    """Read from a tool's annotations if it only reads; None if they do not say."""
    said = _said_of(tool)
    if "effect" in said:
        return said["effect"] in ("read", "protocol", "none")
    if isinstance(said.get("destructiveHint"), bool) and said["destructiveHint"]:
        return False
    hint = said.get("readOnlyHint")
    return hint if isinstance(hint, bool) else None


def _said_of(tool: Record) -> dict[str, object]:
    function = tool.get("function", tool)
    said: dict[str, object] = {}
    for part in (tool, function, tool.get("annotations"), _notes(function)):
        said.update(part if isinstance(part, Mapping) else {})
    return said


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
        "errors": [problem._asdict() for problem in problems],
    }


def _told(call: MappedCall) -> dict[str, object]:
    return {"name": call.name, "arguments": dict(call.arguments)}


def _mapped(call: object, tools: dict[str, Record]) -> Mapped:
    """Fit one call to its tool. Raises TypeError for what is not a call."""
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise TypeError("calls is a list of objects with a name and arguments")
    name = str(call["name"])
    made = map_call(name, call.get("arguments"), tools, lambda tool: harmless(tools[tool]))
    if made.guessed and not made.problems:
        said = f"{name} may be {made.calls[0].name}, which needs a yes"
        return made._replace(changes=(), problems=(Problem("", "name", said),))
    if len(made.calls) > 1 and not declared_harmless(tools[made.calls[0].name]):
        # Only a maker's word makes several calls of one; from a name it is but a guess.
        several = Problem("", "type", f"{made.changes[0]}: which one is meant?")
        return made._replace(changes=(), problems=(several,))
    return made._replace(changes=()) if made.problems else made


PART = Part("map", answered)
