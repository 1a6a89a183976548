"""What a model is trusted with that each step is chosen for, as it is too small to choose well.

On requests as people type them the embedded model changed or ran the wrong thing in 9 of 100: so
it looks, plays and tells, and says plainly of everything else that it is too small for it.
"""

from collections.abc import Mapping, Sequence

from andy_cli.messages import Choice, Effect
from andy_cli.toolbox.registry import Registry

BEYOND: Mapping[Effect, str] = {
    Effect.WRITE: "change files",
    Effect.RUN: "run commands",
    Effect.ACT: "do things in your name",
    Effect.DESTROY: "delete files",
}
"""What a call with such an effect would do."""
ALSO_BEYOND = {"say": "speak"}
"""Tools of other effects whose value is a text of the user's, which such a model gets wrong."""
DOUBLES = frozenset({"file_get", "file_put", "api_call"})
"""Tools that do what others do too."""


def trusted_choices(
    names: Sequence[str], choices: Sequence[Choice], registry: Registry
) -> tuple[Choice, ...]:
    """The choices, one for each named tool: those that are beyond the model say so."""
    return tuple(
        _described(choice, name, registry)
        for name, choice in zip(names, choices, strict=True)
        if name not in DOUBLES
    )


def _described(choice: Choice, name: str, registry: Registry) -> Choice:
    """The choice with what its tool says of it."""
    tool = registry.get(name)
    if tool is None:
        return choice
    return choice._replace(
        beyond=beyond(name, registry),
        action=tool.action,
        examples=tool.examples,
        harmless=tool.effect in (Effect.READ, Effect.NETWORK),
    )


def beyond(name: str, registry: Registry) -> str:
    """What the tool would do, where the model is not trusted with it; else nothing."""
    tool = registry.get(name)
    return ALSO_BEYOND.get(name, "") or (BEYOND.get(tool.effect, "") if tool else "")
