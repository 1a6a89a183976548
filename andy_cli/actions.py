"""Say what a call does: its action, with the values in the slots."""

from collections.abc import Sequence
from pathlib import Path

from andy_cli.messages import Arguments

NOWHERE: tuple[object, ...] = (None, "", ".", "./", Path(), [])
"""Values that a sentence leaves out: nothing, and the folder where everything happens."""
MAX_NAMED_VALUES = 3
"""Values of a list that a sentence names."""


def fill_action(action: str, arguments: Arguments) -> str:
    """Fill the slots of an action.

    `list the music in {path}` with no path is `list the music`, and `read {path|a file}` is
    `read a file`.
    """
    said, _, rest = action.partition("{")
    while rest:
        slot, _, tail = rest.partition("}")
        name, _, unnamed = slot.partition("|")
        value = arguments.get(name)
        if value in NOWHERE and unnamed:
            said += unnamed
        elif value in NOWHERE:
            # The preposition that led to the value goes with it.
            said = said.rstrip().rsplit(" ", 1)[0]
        else:
            said += list_values(value) if isinstance(value, list) else str(value)
        between, _, rest = tail.partition("{")
        said += between
    return " ".join(said.split())


def list_values(values: Sequence[object]) -> str:
    """`a, b, c and 9 more`."""
    more = f" and {len(values) - MAX_NAMED_VALUES:,} more" if len(values) > MAX_NAMED_VALUES else ""
    return ", ".join(map(str, values[:MAX_NAMED_VALUES])) + more
