"""The trust in a model: by effect, how many free values of a call it gets right.

`andy models probe` measures it; a model that was not probed is trusted with everything but the one
inside andy, whose list ships with it: on requests as people type them it changed or ran the wrong
thing in 9 of 100, so it looks, plays and tells. What is below the bar is not offered, and a request
for it is answered in plain words.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from andy_cli.compiler.dialect import Tools
from andy_cli.messages import Choice, Effect, Learned, Schema
from andy_cli.phrases import load_phrases
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.registry import Registry

Trust = Mapping[str, int]
"""Effect -> free values of a call up to which it is trusted; an effect that is missing is not."""

MAX_FREE_VALUES = 3
"""Free values that are told apart: whoever gets so many right is trusted with any number."""

EMBEDDED: Trust = dict.fromkeys([Effect.READ, Effect.PLAY, Effect.NETWORK], MAX_FREE_VALUES)
"""Of the model inside andy, and of all that are so small that each step is chosen for them."""

BEYOND: Mapping[Effect, str] = {
    Effect.READ: "look things up",
    Effect.PLAY: "play music",
    Effect.NETWORK: "use the network",
    Effect.WRITE: "change files",
    Effect.RUN: "run commands",
    Effect.ACT: "do things in your name",
    Effect.DESTROY: "delete files",
}
"""Words for a call with such an effect."""
UNTRUSTED_BY_NAME = {"say": "speak"}
"""Tools that the embedded model is not trusted with although their effect is in its list -> what
they do; their value is a text of the user's, which it gets wrong."""
DOUBLES = frozenset({"file_get", "file_put", "api_call"})
"""Tools that do what others do too: the embedded model is not shown them, whatever is set."""


def choose_trust(guided: bool, learned: Learned, offered: str) -> Trust | None:
    """Choose the list of one model; None where it is trusted with everything.

    `offered` is the setting `tools.offered`.
    """
    if offered == "all":
        return None
    return EMBEDDED if guided else learned.trusted


def mark_untrusted_choices(
    names: Sequence[str],
    choices: Sequence[Choice],
    registry: Registry,
    trusted: Trust | None = EMBEDDED,
) -> tuple[Choice, ...]:
    """Mark the choices, one for each named tool, that the model is not trusted with."""
    return tuple(
        _describe_choice(choice, name, registry, trusted)
        for name, choice in zip(names, choices, strict=True)
        if name not in DOUBLES
    )


def find_absent_untrusted(
    registry: Registry, offered: Collection[str], trusted: Trust | None
) -> Mapping[str, str]:
    """Describe what the tools would do that are not offered, where the model is not trusted with
    it."""
    absent = [tool.name for tool in registry if tool.name not in offered]
    described = {name: describe_untrusted(name, registry, trusted) for name in absent}
    return {name: beyond for name, beyond in described.items() if beyond}


def _describe_choice(
    choice: Choice, name: str, registry: Registry, trusted: Trust | None
) -> Choice:
    """Describe a choice by what its tool says of it."""
    tool = registry.get(name)
    if tool is None:
        return choice
    return choice._replace(
        beyond=describe_untrusted(name, registry, trusted),
        action=tool.action,
        examples=tool.examples if tool.source else (*tool.examples, *load_phrases().get(name, ())),
        members=tool.members,
        repeated_as=tool.repeated_as,
        only_looks=tool.effect in (Effect.READ, Effect.NETWORK),
    )


def select_trusted_tools(tools: Tools, registry: Registry, trusted: Trust | None) -> Tools:
    """Select the tools that the model is trusted with."""
    return {
        name: tool
        for name, tool in tools.items()
        if not describe_untrusted(name, registry, trusted)
    }


def describe_untrusted(name: str, registry: Registry, trusted: Trust | None) -> str:
    """Describe what a tool would do, where the model is not trusted with it; else nothing."""
    tool = registry.get(name)
    if tool is None or trusted is None or tool.effect is Effect.PROTOCOL:
        return ""
    if trusted is EMBEDDED and name in UNTRUSTED_BY_NAME:
        return UNTRUSTED_BY_NAME[name]
    most_values = _find_most_values(tool.effect, trusted)
    if most_values is None:
        return BEYOND[tool.effect]
    enough = min(count_free_values(tool.schema), MAX_FREE_VALUES) <= most_values
    return "" if enough else _with_details(tool.effect, most_values)


def _find_most_values(effect: Effect, trusted: Trust) -> int | None:
    """Find up to how many free values a tool of this effect is trusted to the model."""
    if effect is not Effect.DESTROY:
        return trusted.get(effect)
    # Nobody is probed by deleting: it takes what writing and acting take.
    write_and_act = [trusted.get(Effect.WRITE), trusted.get(Effect.ACT)]
    if None not in write_and_act:
        return min(most_values for most_values in write_and_act if most_values is not None)
    return None


def _with_details(effect: Effect, most_values: int) -> str:
    details = "a detail"
    if most_values:
        details = f"more than {count_noun(most_values, 'detail')}"
    return f"{BEYOND[effect]} with {details} to get right"


def count_free_values(schema: Schema) -> int:
    """Count the values that a call needs and that are none of a few: texts, numbers, lists."""
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    needed = [properties.get(name, {}) for name in schema.get("required") or ()]
    return sum(not _is_one_of_few(value) for value in needed)


def _is_one_of_few(schema: Schema) -> bool:
    return "enum" in schema or "const" in schema or schema.get("type") == "boolean"


def describe_limits(model: str, tools: Tools, registry: Registry, trusted: Trust | None) -> str:
    """Tell a model of that which it is not offered; nothing where it is offered all."""
    missing = dict.fromkeys(
        filter(None, (describe_untrusted(name, registry, trusted) for name in tools))
    )
    if not missing:
        return ""
    *first_limits, last_limit = missing
    described_limits = f"{', '.join(first_limits)} or {last_limit}" if first_limits else last_limit
    return (
        f"You are too small to {described_limits} safely, so there is no tool for it here."
        f' Where the user asks for that, do not try; say only: "{model} is too small to do that'
        " safely. /model in chat"
        ' and `andy models list` show what else is here."'
    )


def describe_trust(trusted: Trust) -> Iterator[str]:
    """Describe the list: `read`, `write with 1 value at most`, `run alone`: without a value."""
    for effect, most_values in trusted.items():
        if most_values >= MAX_FREE_VALUES:
            yield effect
        elif most_values:
            yield f"{effect} with {most_values} value{'s' * (most_values > 1)} at most"
        else:
            yield f"{effect} alone"
