"""Times in the unit that the schema declares (R19)."""

from andy_cli.compiler.mapper.nodes import Node

LEAST, TOO_MANY = 1000, 1_000_000


def in_units(arguments: dict[str, object], node: Node) -> tuple[dict[str, object], list[str]]:
    """A thousand and more where `x-unit` is `s` are milliseconds.

    What would still be a thousand seconds afterwards is left as it is.
    """
    made, changes = arguments, list[str]()
    for name in node.timed:
        child, value = node.child(name), arguments.get(name)
        seconds = None if child is None else in_seconds(value, child)
        if seconds is not None:
            made = {**made, name: seconds}
            changes.append(f"{name}: {value} ms -> {seconds} s")
    return made, changes


def in_seconds(value: object, node: Node) -> int | float | None:
    """The seconds that so many milliseconds are; None if these are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if node.schema.get("x-unit") != "s" or not LEAST <= value < TOO_MANY:
        return None
    return _whole(value / 1000, "number" not in node.kinds)


def _whole(seconds: float, always: bool) -> int | float:
    """Whole seconds where the schema wants them: rounded up, the tool is given its time."""
    return -int(-seconds // 1) if always or seconds.is_integer() else seconds
