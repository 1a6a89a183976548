"""Times in the unit that the schema declares (R19)."""

from andy_cli.compiler.mapper.nodes import SchemaNode

LEAST_MILLISECONDS, MOST_MILLISECONDS = 1000, 1_000_000


def convert_units(
    arguments: dict[str, object], node: SchemaNode
) -> tuple[dict[str, object], list[str]]:
    """A thousand and more where `x-unit` is `s` are milliseconds.

    What would still be a thousand seconds afterwards is left as it is.
    """
    made, changes = arguments, list[str]()
    for name in node.timed:
        child, value = node.child(name), arguments.get(name)
        seconds = None if child is None else convert_to_seconds(value, child)
        if seconds is not None:
            made = {**made, name: seconds}
            changes.append(f"{name}: {value} ms -> {seconds} s")
    return made, changes


def convert_to_seconds(value: object, node: SchemaNode) -> int | float | None:
    """The seconds that so many milliseconds are; None if these are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if node.schema.get("x-unit") != "s" or not LEAST_MILLISECONDS <= value < MOST_MILLISECONDS:
        return None
    return _round_seconds(value / 1000, "number" not in node.kinds)


def _round_seconds(seconds: float, always: bool) -> int | float:
    """Whole seconds where the schema wants them: rounded up, the tool is given its time."""
    return -int(-seconds // 1) if always or seconds.is_integer() else seconds
