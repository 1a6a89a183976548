"""The public door: a call as a model wrote it -> the call its schema forces, or what is wrong.

What validates is returned untouched. What is returned validates, or there are problems. Mapping
twice is mapping once. Nothing here raises, waits or looks at the world (C15, D15, R14, R18).
"""

from collections.abc import Callable, Mapping
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
    """Parts that still do not fit; empty: the calls are valid."""
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
    """The call with arguments that fit, or the problems of those that do not.

    `given` is `written` as plain JSON; where nothing is changed it is `written` that comes back.
    """
    node = schema.node
    if isinstance(given, dict) and node.fits(given):
        valid = _finish_arguments(found.name, FittedValue(0, given), node)
        if valid is not None:
            unchanged = valid.calls[0].arguments is given and isinstance(written, Mapping)
            return Mapped((make_call(found.name, written),)) if unchanged else valid
    scope = MappingScope(harmless, found.name)
    corrected = None if schema.too_many(given) else _correct_arguments(given, node, scope)
    return corrected or _report_misfit(found.name, given, written, schema, scope)


def _correct_arguments(given: object, node: SchemaNode, scope: MappingScope) -> Mapped | None:
    """The call that the arguments can be corrected to, or several where only lists do not fit."""
    best = _fit_start(given, node, scope)
    corrected = _finish_arguments(scope.tool, best, node) if best is not None else None
    if corrected is None and scope.may_guess and isinstance(given, dict):
        return _fan_out(scope.tool, given, node)
    return corrected


def _finish_arguments(name: str, fit: FittedValue, node: SchemaNode) -> Mapped | None:
    """With times in the unit and numbers in the form that are declared; None: it does not fit."""
    if not isinstance(fit.value, dict):
        return None
    arguments, changes = convert_units(fit.value, node)
    if not node.fits(arguments):
        return None
    call = MappedCall(name, match_number_forms(arguments, node))
    return Mapped((call,), (*fit.changes, *changes))


def are_positional(values: list[object], node: SchemaNode) -> bool:
    """Tell whether they can be the values of the parameters in the order of the schema."""
    told = not any(isinstance(value, dict) for value in values)
    return told and len(values) > 1 and len(node.required) <= len(values) <= len(node.properties)


def make_call(name: str, arguments: object) -> MappedCall:
    return MappedCall(name, arguments if isinstance(arguments, Mapping) else {})


def _fit_start(given: object, node: SchemaNode, scope: MappingScope) -> FittedValue | None:
    """Fit arguments that may be no object: a text, a list of them, values in order."""
    parsed = parse_structure(given) if isinstance(given, str) else None
    if isinstance(parsed, list) and not isinstance(next(iter(parsed), None), dict):
        return None
    given = given if parsed is None else parsed
    match given:
        case [dict() as alone]:
            given = alone
        case None:
            given = {}
    if scope.may_guess:
        given = _name_values(given, node)
    return fit_value(given, node, scope)


def _name_values(given: object, node: SchemaNode) -> object:
    """Values without names under the names that they can be meant for."""
    if isinstance(given, list) and are_positional(given, node):
        return dict(zip(node.properties, given, strict=False))
    if not isinstance(given, dict | list) and (only := node.only):
        return {only: given}
    return given


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


def _fan_out(name: str, given: dict[str, object], node: SchemaNode) -> Mapped | None:
    """Make one call for each row of lists of one length that stand where single values belong."""
    lists = {key: value for key, value in given.items() if isinstance(value, list)}
    lengths = set(map(len, lists.values()))
    if not all(_takes_one_value(node.child(key)) for key in lists):
        return None
    if len(lengths) != 1 or not 1 < min(lengths) <= MOST_CALLS:
        return None
    scope = MappingScope(True, name)
    calls: list[MappedCall] = []
    changes: dict[str, None] = {}
    for row in zip(*lists.values(), strict=True):
        fit = fit_value({**given, **dict(zip(lists, row, strict=True))}, node, scope)
        if fit is None or not isinstance(fit.value, dict):
            return None
        calls.append(make_call(name, match_number_forms(fit.value, node)))
        changes |= dict.fromkeys(fit.changes)
    fanned = f"{', '.join(lists)}: a list -> {len(calls)} calls"
    return Mapped(tuple(calls), (fanned, *changes))


def _takes_one_value(node: SchemaNode | None) -> bool:
    return node is not None and bool(node.kinds) and not node.takes("array")
