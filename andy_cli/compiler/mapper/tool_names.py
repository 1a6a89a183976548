"""Find the tool that a written name means.

Another tool is never meant. A name may differ from the registered one in case and separators, in
what a wire adds to it, in a namespace that the offered tool carries itself, and in one slip of the
pen; a foreign namespace, one word more or one word less is the name of an unknown tool.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from andy_cli.compiler.bodies.calls import clean_tool_name
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.provider_schema import provider_names
from andy_cli.compiler.mapper.standard_schema import tool_parameters
from andy_cli.compiler.mapper.synonyms import plain_name, split_words
from andy_cli.messages import Schema

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
SHORTEST_SLIP = 6
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
    for is_same in (has_same_letters, has_namespace, has_same_words):
        matching_names = [name for name, tool in tools.items() if is_same(written, name, tool)]
        if matching_names:
            return ToolMatch(matching_names[0], True) if len(matching_names) == 1 else None
    slips = [name for name, tool in tools.items() if is_only_slip(written, name, tool, arguments)]
    return ToolMatch(slips[0], False) if len(slips) == 1 else None


def is_only_slip(written: str, name: str, tool: Schema, arguments: object) -> bool:
    return is_slip(written, name) and takes_exactly(tool, arguments)


def has_same_letters(written: str, name: str, tool: Schema) -> bool:
    """Tell whether only case and separators differ from the name, or from an alias of it."""
    plain_written = plain_name(written)
    return bool(plain_written) and (
        plain_written == plain_name(name) or plain_written in _declared_aliases(tool)
    )


def _declared_aliases(tool: Schema) -> list[str]:
    function = tool.get("function", tool)
    declared = function.get("x-aliases") if isinstance(function, Mapping) else None
    return [plain_name(str(alias)) for alias in declared] if isinstance(declared, list) else []


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
    if len(name_word) < SHORTEST_SLIP or (written_word[0], written_word[-1]) != (
        name_word[0],
        name_word[-1],
    ):
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
