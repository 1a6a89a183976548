"""`andy debug map`: calls, corrected by the schemas of their tools as the product does it."""

from collections.abc import Mapping

from andy_cli.compiler.mapper.mapper import Mapped, MappedCall, map_call
from andy_cli.compiler.mapper.synonyms import split_words
from andy_cli.foreign_values import as_record
from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, list_of, tools_of
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


def is_harmless(tool: Record) -> bool:
    """Judge if a tool only reads: by its annotations, else by the words of its name."""
    declared = is_declared_harmless(tool)
    if declared is not None:
        return declared
    name_words = split_words(str(_collect_annotations(tool).get("name", "")))
    return not ((ALWAYS if READING.intersection(name_words[:1]) else ACTING) & set(name_words))


def is_declared_harmless(tool: Record) -> bool | None:
    """Read from a tool's annotations if it only reads; None if they do not say."""
    annotations = _collect_annotations(tool)
    if "effect" in annotations:
        return annotations["effect"] in ("read", "protocol", "none")
    if isinstance(annotations.get("destructiveHint"), bool) and annotations["destructiveHint"]:
        return False
    read_only_hint = annotations.get("readOnlyHint")
    return read_only_hint if isinstance(read_only_hint, bool) else None


def _collect_annotations(tool: Record) -> dict[str, object]:
    function = tool.get("function", tool)
    annotations: dict[str, object] = {}
    nested = as_record(function).get("annotations")
    for annotated in (tool, function, tool.get("annotations"), nested):
        annotations.update(as_record(annotated))
    return annotations


def map_calls(record: Record, _: ChunkCut) -> dict[str, object]:
    tools = tools_of(record)
    calls: list[object] = []
    changes: list[str] = []
    problems: list[Problem] = []
    for call in list_of(record, "calls"):
        mapped = _map_one(call, tools)
        problems.extend(mapped.problems)
        changes.extend(mapped.changes)
        # What cannot be corrected stays as it was, whatever that is.
        calls.extend([call] if mapped.problems else map(_make_record, mapped.calls))
    return {
        "calls": calls,
        "changes": changes,
        "valid": not problems,
        "errors": [problem._asdict() for problem in problems],
    }


def _make_record(call: MappedCall) -> dict[str, object]:
    return {"name": call.name, "arguments": dict(call.arguments)}


def _map_one(call: object, tools: dict[str, Record]) -> Mapped:
    """Fit one call to its tool. Raises TypeError for what is not a call."""
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise TypeError("calls is a list of objects with a name and arguments")
    name = str(call["name"])
    mapped = map_call(name, call.get("arguments"), tools, lambda tool: is_harmless(tools[tool]))
    if mapped.guessed and not mapped.problems:
        annotations = f"{name} may be {mapped.calls[0].name}, which needs a yes"
        return mapped._replace(changes=(), problems=(Problem("", "name", annotations),))
    if len(mapped.calls) > 1 and not is_declared_harmless(tools[mapped.calls[0].name]):
        # Only a maker's word makes several calls of one; from a name it is but a guess.
        several = Problem("", "type", f"{mapped.changes[0]}: which one is meant?")
        return mapped._replace(changes=(), problems=(several,))
    return mapped._replace(changes=()) if mapped.problems else mapped


PART = DebugPart("map", map_calls)
