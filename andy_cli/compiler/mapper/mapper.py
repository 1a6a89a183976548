"""Map a call as a model wrote it to the call that its schema forces, or say what is wrong with it.

What validates is returned untouched. What is returned validates, or there are problems. Mapping
twice is mapping once. Nothing here raises, waits or looks at the world (C15, D15, R14, R18).

Another tool is never meant. A name may differ from the registered one in case and separators, in
what a wire adds to it, in a namespace that the offered tool carries itself, and in one slip of the
pen, or be an alias that the tool declares; a foreign namespace, one word more or one word less is
the name of an unknown tool.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from andy_cli.compiler.bodies.calls import clean_tool_name
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.coercions import (
    convert_milliseconds,
    match_number_forms,
    resolve_written_floats,
)
from andy_cli.compiler.mapper.corrections import fit_in_part, fit_value
from andy_cli.compiler.mapper.json_schema import (
    is_strict,
    list_aliases,
    provider_names,
    tool_parameters,
)
from andy_cli.compiler.mapper.json_values import NotJson, copy_as_json, parse_structure, write_short
from andy_cli.compiler.mapper.prepared_schema import PreparedSchema, SchemaNode, prepare_schema
from andy_cli.compiler.mapper.rename_properties import FittedValue, MappingScope
from andy_cli.compiler.mapper.synonyms import plain_name, split_words
from andy_cli.messages import Arguments, Problem, Schema

WIRE = Expression(r"(?:mcp__|(?:functions|default_api|tools|mcp|call)(?:__|[.:/]))")
"""Prefixes that a wire puts before a name; further prefixes come off where JSON is read."""
NAMESPACE = Expression(r"__|[.:/]")
GENERIC = frozenset(
    "get set list search find query read write create add update delete remove send run call fetch "
    "execute start stop open close play lookup show check calculate compute convert".split()
)
"""Verbs that alone name no tool: a bare `write` is not `sheets.write`."""
CONFUSABLE = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "contact/contract county/country casual/causal message/massage desert/dessert "
        "diary/dairy angel/angle marital/martial trail/trial recent/resent "
        "complement/compliment personal/personnel adopt/adapt affect/effect"
    ).split()
)
"""Words that one slip turns into one another."""
MIN_SLIP_LENGTH = 6
"""Letters of a word in which a slip can be told from another word."""


class ToolMatch(NamedTuple):
    name: str
    sure: bool
    """Nothing but case, style and prefixes differs; else it is a guess."""


def find_tool(written: str, arguments: object, tools: Tools) -> ToolMatch | None:
    """The registered tool; None where none, or more than one, may be meant."""
    if written in tools:
        return ToolMatch(written, True)
    names_by_offer = {offer: name for name, offer in provider_names(tools).items()}
    if written in names_by_offer:
        return ToolMatch(names_by_offer[written], True)
    bare_name = clean_tool_name(written.partition("(")[0], tools)
    if bare_name in tools:
        return ToolMatch(bare_name, True)
    while WIRE.match(bare_name):
        bare_name = WIRE.sub("", bare_name, count=1)
    return _find_similar_tool(bare_name, arguments, tools)


def _find_similar_tool(written: str, arguments: object, tools: Tools) -> ToolMatch | None:
    """The only tool whose name differs in nothing that matters, else in one slip of the pen."""
    for is_same in (has_same_letters, has_namespace, has_same_words, has_alias):
        matching_names = [name for name, tool in tools.items() if is_same(written, name, tool)]
        if matching_names:
            return ToolMatch(matching_names[0], True) if len(matching_names) == 1 else None
    slips = [
        name
        for name, tool in tools.items()
        if is_slip(written, name) and takes_exactly(tool, arguments)
    ]
    return ToolMatch(slips[0], False) if len(slips) == 1 else None


def has_same_letters(written: str, name: str, tool: Schema) -> bool:
    """Tell whether only case and separators differ."""
    return bool(plain_name(written)) and plain_name(written) == plain_name(name)


def has_namespace(written: str, name: str, tool: Schema) -> bool:
    """Tell whether only the namespace of the offered tool was left out: `mean` for `math.mean`."""
    if plain_name(written) in GENERIC:
        return False
    return any(
        plain_name(written) == plain_name(short_name) for short_name in _without_namespaces(name)
    )


def _without_namespaces(name: str) -> Iterator[str]:
    while len(name_parts := NAMESPACE.split(name, 1)) > 1:
        name = name_parts[1]
        yield name


def has_same_words(written: str, name: str, tool: Schema) -> bool:
    """Tell whether two words changed places: `search_web` for `web_search`."""
    written_words = split_words(written)
    return len(written_words) == 2 and written_words == tuple(reversed(split_words(name)))


def has_alias(written: str, name: str, tool: Schema) -> bool:
    """Tell whether the tool declares the name as an alias: `bash` of `terminal_execute`."""
    return plain_name(written) in map(plain_name, list_aliases(tool))


def takes_exactly(tool: Schema, arguments: object) -> bool:
    """Tell whether the arguments have the very names that the tool asks for."""
    given_names = frozenset(arguments) if isinstance(arguments, Mapping) else frozenset()
    return _declared_names(tool, "required") <= given_names <= _declared_names(tool, "properties")


def _declared_names(tool: Schema, word: str) -> frozenset[str]:
    declared = tool_parameters(tool).get(word)
    return frozenset(map(str, declared)) if isinstance(declared, Mapping | list) else frozenset()


def is_slip(written: str, name: str) -> bool:
    """Tell whether one word has one slip in it, or the last one lacks its plural."""
    written_words, name_words = split_words(written), split_words(name)
    differing = [
        (written_word, name_word)
        for written_word, name_word in zip(written_words, name_words, strict=False)
        if written_word != name_word
    ]
    if len(written_words) != len(name_words) or len(differing) != 1:
        return False
    written_word, name_word = differing[0]
    if f"{written_word}s" == name_word:
        return written_words[-1] == written_word
    return is_mistyped(written_word, name_word)


def is_mistyped(written_word: str, name_word: str) -> bool:
    """Tell whether a letter within the word was left out, doubled or swapped with the next.

    A letter in place of another, and any slip at the ends, too often make another word.
    """
    if len(name_word) < MIN_SLIP_LENGTH:
        return False
    written_ends, name_ends = written_word[0] + written_word[-1], name_word[0] + name_word[-1]
    if written_ends != name_ends:
        return False
    if frozenset([written_word.rstrip("s"), name_word.rstrip("s")]) in CONFUSABLE:
        return False
    if len(written_word) == len(name_word):
        return has_neighbours_swapped(written_word, name_word)
    if len(written_word) < len(name_word):
        return any(
            remove_letter(name_word, index) == written_word
            for index in range(1, len(name_word) - 1)
        )
    doubled_letters = (
        index
        for index in range(1, len(written_word))
        if written_word[index] == written_word[index - 1]
    )
    return any(remove_letter(written_word, index) == name_word for index in doubled_letters)


def has_neighbours_swapped(written_word: str, name_word: str) -> bool:
    differing_places = [
        index for index in range(len(written_word)) if written_word[index] != name_word[index]
    ]
    neighbours = len(differing_places) == 2 and differing_places[1] == differing_places[0] + 1
    return neighbours and sorted(written_word) == sorted(name_word)


def remove_letter(word: str, index: int) -> str:
    return word[:index] + word[index + 1 :]


def find_nearest_names(name: str, tools: Tools) -> list[str]:
    """At most three names that come close, for `did you mean`."""
    # Costs 45 ms and is needed only where a name is unknown.
    from rapidfuzz import fuzz, process

    spaced_names = {tool: " ".join(split_words(tool)) for tool in tools}
    nearest = process.extract(
        " ".join(split_words(name)), spaced_names, scorer=fuzz.WRatio, score_cutoff=60, limit=3
    )
    return [tool for _, _, tool in nearest]


MAX_READINGS = 4
"""Ways to take arguments that do not fit, of which the nearest is told."""
MAX_CALLS = 20
"""Calls that one list may become."""


class MappedCall(NamedTuple):
    name: str
    arguments: Arguments


class Mapped(NamedTuple):
    calls: tuple[MappedCall, ...]
    """Normally one; several where lists of one length were given to a tool that reads one thing."""
    changes: tuple[str, ...] = ()
    """Receipts for a person: `file -> path`, `"3" -> 3`, `dropped flavour`."""
    problems: tuple[Problem, ...] = ()
    """Parts that still do not fit; empty: the calls are valid."""
    guessed: bool = False
    """The name was guessed, and the tool has an effect: it needs a yes."""


def map_call(
    name: str, arguments: object, tools: Tools, only_reads: Callable[[str], bool]
) -> Mapped:
    """The call with its name and arguments corrected as far as the tool's schema forces it.

    `only_reads`: whether a tool only reads; elsewhere nothing is guessed, clamped or dropped.
    """
    tool_match = find_tool(name, arguments, tools)
    if tool_match is None:
        inner = _find_call_inside(arguments, tools)
        if inner is not None and name not in tools:
            return map_call(*inner, tools, only_reads)
        return _report_unknown(name, arguments, tools)
    try:
        given_arguments = copy_as_json(arguments)
    except NotJson as fault:
        call = make_call(tool_match.name, arguments)
        return Mapped((call,), problems=(Problem("", "type", str(fault)),))
    tool = tools[tool_match.name]
    schema = prepare_schema(tool)
    settled_arguments = given_arguments
    if given_arguments is not arguments:  # one that holds a WrittenFloat is copied
        settled_arguments = resolve_written_floats(given_arguments, schema.node)
    mapped = _fit_arguments(
        tool_match,
        settled_arguments,
        arguments if settled_arguments is given_arguments else settled_arguments,
        schema,
        MappingScope(only_reads(tool_match.name), tool_match.name, is_strict(tool)),
    )
    if tool_match.name == name or provider_names(tools)[tool_match.name] == name:
        return mapped
    guessed = not tool_match.sure and not only_reads(tool_match.name)
    return mapped._replace(
        changes=(f"{name} -> {tool_match.name}", *mapped.changes), guessed=guessed
    )


def _fit_arguments(
    tool_match: ToolMatch,
    given_arguments: object,
    written: object,
    schema: PreparedSchema,
    scope: MappingScope,
) -> Mapped:
    """The call with arguments that fit, or the problems of those that do not.

    `given_arguments` is `written` as plain JSON; where nothing is changed it is `written` that
    comes back.
    """
    node = schema.node
    if isinstance(given_arguments, dict) and node.fits(given_arguments):
        valid = _finish_arguments(tool_match.name, FittedValue(0, given_arguments), node)
        if valid is not None:
            unchanged = valid.calls[0].arguments is given_arguments and isinstance(written, Mapping)
            return Mapped((make_call(tool_match.name, written),)) if unchanged else valid
    corrected = None
    if not schema.too_many(given_arguments):
        corrected = _correct_arguments(given_arguments, node, scope)
    if corrected:
        return corrected
    return _report_invalid_arguments(tool_match.name, given_arguments, written, schema, scope)


def _correct_arguments(
    given_arguments: object, node: SchemaNode, scope: MappingScope
) -> Mapped | None:
    """The call that the arguments can be corrected to, or several where only lists do not fit."""
    best_fit = _fit_start(given_arguments, node, scope)
    corrected = _finish_arguments(scope.tool, best_fit, node) if best_fit is not None else None
    if corrected is None and scope.may_guess and isinstance(given_arguments, dict):
        return _fan_out(scope.tool, given_arguments, node)
    return corrected


def _finish_arguments(name: str, fitted: FittedValue, node: SchemaNode) -> Mapped | None:
    """With times in the unit and numbers in the form that are declared; None: it does not fit."""
    if not isinstance(fitted.value, dict):
        return None
    arguments, changes = convert_milliseconds(fitted.value, node)
    if not node.fits(arguments):
        return None
    call = MappedCall(name, match_number_forms(arguments, node))
    return Mapped((call,), (*fitted.changes, *changes))


def are_positional(values: list[object], node: SchemaNode) -> bool:
    """Tell whether they can be the values of the parameters in the order of the schema."""
    are_plain = not any(isinstance(value, dict) for value in values)
    return (
        are_plain and len(values) > 1 and len(node.required) <= len(values) <= len(node.properties)
    )


def make_call(name: str, arguments: object) -> MappedCall:
    return MappedCall(name, arguments if isinstance(arguments, Mapping) else {})


def _fit_start(
    given_arguments: object, node: SchemaNode, scope: MappingScope
) -> FittedValue | None:
    """Fit arguments that may be no object: a text, a list of them, values in order."""
    parsed = parse_structure(given_arguments) if isinstance(given_arguments, str) else None
    if isinstance(parsed, list) and not isinstance(next(iter(parsed), None), dict):
        return None
    given_arguments = given_arguments if parsed is None else parsed
    match given_arguments:
        case [dict() as alone]:
            given_arguments = alone
        case None:
            given_arguments = {}
    if scope.may_guess:
        given_arguments = _name_values(given_arguments, node)
    return fit_value(given_arguments, node, scope)


def _name_values(given_arguments: object, node: SchemaNode) -> object:
    """Values without names under the names that they can be meant for."""
    if isinstance(given_arguments, list) and are_positional(given_arguments, node):
        return dict(zip(node.properties, given_arguments, strict=False))
    if not isinstance(given_arguments, dict | list) and (only_property := node.only):
        return {only_property: given_arguments}
    return given_arguments


def _report_invalid_arguments(
    name: str, given_arguments: object, written: object, schema: PreparedSchema, scope: MappingScope
) -> Mapped:
    problems = _find_problems(given_arguments, schema, scope)
    questions = tuple(scope.questions[:2])
    fallback = Problem("", "type", f"{write_short(given_arguments)} is no object of arguments")
    return Mapped((make_call(name, written),), problems=(*questions, *problems) or (fallback,))


def _find_problems(
    given_arguments: object, schema: PreparedSchema, scope: MappingScope
) -> tuple[Problem, ...]:
    """Find the problems of the reading with the fewest wrong names: what could be put right is not
    asked about."""
    problems = schema.problems(given_arguments if given_arguments is not None else {})
    if not isinstance(given_arguments, dict) or schema.too_many(given_arguments):
        return problems
    # The steps left are the same, the questions were asked before.
    aside = MappingScope(scope.may_guess, scope.tool, scope.is_strict, steps=scope.steps)
    readings = islice(fit_in_part(given_arguments, schema.node, aside), MAX_READINGS)
    found = filter(None, map(schema.problems, readings))
    return min((*found, problems), key=lambda each: sum(map(_is_about_name, each)))


def _is_about_name(problem: Problem) -> bool:
    return problem.rule in ("required", "additionalProperties")


def _report_unknown(name: str, arguments: object, tools: Tools) -> Mapped:
    nearest_names = find_nearest_names(name, tools)
    name_hint = f" The nearest are: {', '.join(nearest_names)}." if nearest_names else ""
    problem = Problem("", "name", f"There is no tool {name!r}.{name_hint}")
    return Mapped((make_call(name, arguments),), problems=(problem,))


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


def _fan_out(name: str, given_arguments: dict[str, object], node: SchemaNode) -> Mapped | None:
    """Make one call for each row of lists of one length that stand where single values belong."""
    lists = {key: value for key, value in given_arguments.items() if isinstance(value, list)}
    lengths = set(map(len, lists.values()))
    if not all(_takes_one_value(node.child(key)) for key in lists):
        return None
    if len(lengths) != 1 or not 1 < min(lengths) <= MAX_CALLS:
        return None
    scope = MappingScope(True, name)
    calls: list[MappedCall] = []
    changes: dict[str, None] = {}
    for row in zip(*lists.values(), strict=True):
        arguments = given_arguments | dict(zip(lists, row, strict=True))
        fitted = fit_value(arguments, node, scope)
        if fitted is None or not isinstance(fitted.value, dict):
            return None
        calls.append(make_call(name, match_number_forms(fitted.value, node)))
        changes |= dict.fromkeys(fitted.changes)
    fanned = f"{', '.join(lists)}: a list -> {len(calls)} calls"
    return Mapped(tuple(calls), (fanned, *changes))


def _takes_one_value(node: SchemaNode | None) -> bool:
    return node is not None and bool(node.kinds) and not node.takes("array")
