"""The public door: a call as a model wrote it -> the call its schema forces, or what is wrong.

What validates is returned untouched. What is returned validates, or there are problems. Mapping
twice is mapping once. Nothing here raises, waits or looks at the world (C15, D15, R14, R18).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.coercions import convert_units, match_number_forms
from andy_cli.compiler.mapper.corrections import fit_value
from andy_cli.compiler.mapper.json_input import NotJson, copy_as_json, parse_structure, write_short
from andy_cli.compiler.mapper.provider_schema import provider_names
from andy_cli.compiler.mapper.rename_properties import FittedValue, MappingScope
from andy_cli.compiler.mapper.schema_node import PreparedSchema, SchemaNode, prepare_schema
from andy_cli.compiler.mapper.tool_names import ToolMatch, find_nearest_names, find_tool
from andy_cli.messages import Arguments, Problem

MOST_CALLS = 20
"""Calls that one list may become."""


class MappedCall(NamedTuple):
    name: str
    arguments: Arguments


class Mapped(NamedTuple):
    calls: tuple[MappedCall, ...]
    """Normally one; several where lists of one length were given to a tool that reads one thing."""
    changes: tuple[str, ...] = ()
    """Receipts for a person: `file -> path`, `"3" -> 3`, `dropped colour`."""
    problems: tuple[Problem, ...] = ()
    """What still does not fit; empty: the calls are valid."""
    guessed: bool = False
    """The name was guessed, and the tool has an effect: it needs a yes."""


def map_call(name: str, arguments: object, tools: Tools, harmless: Callable[[str], bool]) -> Mapped:
    """The call with its name and arguments corrected as far as the tool's schema forces it.

    `harmless`: whether a tool only reads; elsewhere nothing is guessed, clamped or dropped.
    """
    found = find_tool(name, arguments, tools)
    if found is None:
        inner = _find_call_inside(arguments, tools)
        if inner is not None and name not in tools:
            return map_call(*inner, tools, harmless)
        return _report_unknown(name, arguments, tools)
    try:
        given = copy_as_json(arguments)
    except NotJson as fault:
        call = MappedCall(found.name, arguments if isinstance(arguments, Mapping) else {})
        return Mapped((call,), problems=(Problem("", "type", str(fault)),))
    made = _fit_arguments(
        found, given, arguments, prepare_schema(tools[found.name]), harmless(found.name)
    )
    if found.name == name or provider_names(tools)[found.name] == name:
        return made
    guessed = not found.sure and not harmless(found.name)
    return made._replace(changes=(f"{name} -> {found.name}", *made.changes), guessed=guessed)


def _fit_arguments(
    found: ToolMatch, given: object, written: object, schema: PreparedSchema, harmless: bool
) -> Mapped:
    node = schema.node
    if isinstance(given, dict) and node.fits(given):
        made, changes = convert_units(given, node)
        if node.fits(made):
            formed = match_number_forms(made, node)
            same_object = formed is made and not changes and isinstance(written, Mapping)
            arguments = written if same_object else formed
            return Mapped((make_call(found.name, arguments),), tuple(changes))
    scope = MappingScope(harmless, found.name)
    if schema.too_many(given):
        return _report_misfit(found.name, given, written, schema, scope)
    best = _fit_start(given, schema, scope)
    if best is not None and isinstance(best.value, dict):
        in_time, changes = convert_units(best.value, node)
        if node.fits(in_time):
            arguments = match_number_forms(in_time, node)
            return Mapped((make_call(found.name, arguments),), (*best.changes, *changes))
    if harmless and isinstance(given, dict) and (many := _fan_out(found.name, given, schema)):
        return many
    return _report_misfit(found.name, given, written, schema, scope)


def are_positional(values: list[object], node: SchemaNode) -> bool:
    """Whether they can be the values of the parameters in the order of the schema."""
    told = not any(isinstance(value, dict) for value in values)
    return told and len(values) > 1 and len(node.required) <= len(values) <= len(node.properties)


def make_call(name: str, arguments: object) -> MappedCall:
    return MappedCall(name, arguments if isinstance(arguments, Mapping) else {})


def _fit_start(given: object, schema: PreparedSchema, scope: MappingScope) -> FittedValue | None:
    """Arguments that are no object are read as one: a text, a list of them, values in order."""
    if given is None:
        given = {}
    if isinstance(given, str) and isinstance(found := parse_structure(given), dict | list):
        if isinstance(found, list) and not isinstance(found[0] if found else None, dict):
            return None
        given = found
    while isinstance(given, list) and len(given) == 1 and isinstance(given[0], dict):
        given = given[0]
    if isinstance(given, list) and scope.may_guess and are_positional(given, schema.node):
        given = dict(zip(schema.node.properties, given, strict=False))
    if not isinstance(given, dict | list) and scope.may_guess and (only := schema.node.only):
        given = {only: given}
    return fit_value(given, schema.node, scope)


def _report_misfit(
    name: str, given: object, written: object, schema: PreparedSchema, scope: MappingScope
) -> Mapped:
    arguments = written if isinstance(written, Mapping) else {}
    problems = schema.problems(given if given is not None else {})
    asked = tuple(scope.questions[:2])
    fallback = Problem("", "type", f"{write_short(given)} is no object of arguments")
    return Mapped((MappedCall(name, arguments),), problems=(*asked, *problems) or (fallback,))


def _report_unknown(name: str, arguments: object, tools: Tools) -> Mapped:
    close = find_nearest_names(name, tools)
    hint = f" The nearest are: {', '.join(close)}." if close else ""
    problem = Problem("", "name", f"There is no tool {name!r}.{hint}")
    call = MappedCall(name, arguments if isinstance(arguments, Mapping) else {})
    return Mapped((call,), problems=(problem,))


def _find_call_inside(arguments: object, tools: Tools) -> tuple[str, object] | None:
    """`{"name": ..., "arguments": ...}` as the arguments of something unknown."""
    if not isinstance(arguments, Mapping):
        return None
    for key in ("name", "tool", "tool_name", "function", "function_name"):
        name = arguments.get(key)
        if isinstance(name, str) and name in tools:
            for inner in ("arguments", "parameters", "args", "input", "params"):
                if isinstance(arguments.get(inner), Mapping):
                    return name, arguments[inner]
    return None


def _fan_out(name: str, given: dict[str, object], schema: PreparedSchema) -> Mapped | None:
    """Lists where single values belong, all of one length: one call for each row of them."""
    node = schema.node
    lists = {key: value for key, value in given.items() if isinstance(value, list)}
    children = [node.child(key) for key in lists]
    if not all(child and child.kinds and not child.takes("array") for child in children):
        return None
    lengths = set(map(len, lists.values()))
    if len(lengths) != 1 or not 1 < min(lengths) <= MOST_CALLS:
        return None
    rows = zip(*lists.values(), strict=True)
    scope = MappingScope(True, name)
    fits = [fit_value({**given, **dict(zip(lists, row, strict=True))}, node, scope) for row in rows]
    whole: Sequence[FittedValue] = [one for one in fits if one is not None]
    if len(whole) < len(fits):
        return None
    receipts = dict.fromkeys(change for one in whole for change in one.changes)
    calls = [
        make_call(name, match_number_forms(one.value, node))
        for one in whole
        if isinstance(one.value, dict)
    ]
    told = f"{', '.join(lists)}: a list -> {len(calls)} calls"
    return Mapped(tuple(calls), (told, *receipts))
