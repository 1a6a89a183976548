"""Times in the unit that the schema declares (R19)."""

from collections.abc import Mapping

from andy_cli.compiler.mapper.schemas import Node

LEAST, TOO_MANY = 1000, 1_000_000


def in_units(arguments: Mapping[str, object], node: Node) -> tuple[dict[str, object], list[str]]:
    """A thousand and more where `x-unit` is `s` are milliseconds.

    What would still be a thousand seconds afterwards is left as it is.
    """
    made, changes = dict(arguments), list[str]()
    for name, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        child = node.child(name)
        if child is None or child.schema.get("x-unit") != "s" or not LEAST <= value < TOO_MANY:
            continue
        seconds = value / 1000
        made[name] = _whole(seconds, "number" not in child.kinds)
        changes.append(f"{name}: {value} ms -> {made[name]} s")
    return made, changes


def _whole(seconds: float, always: bool) -> int | float:
    """Whole seconds where the schema wants them: rounded up, the tool is given its time."""
    return -int(-seconds // 1) if always or seconds.is_integer() else seconds
