"""Numbers in the form their type declares: 3 for an integer that was written 3.0.

For JSON both are one number, so nothing is corrected and no receipt is given; programs that are
called with the arguments do tell them apart. Objects inside are data, and stay as they are.
"""

from andy_cli.compiler.mapper.nodes import Node

LARGEST = 2**53


def formed(value: object, node: Node, in_list: bool = False) -> object:
    """The value itself, unless a number in it is written in the form of another type."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        wanted = bool(node.kinds) and node.kinds <= {"integer", "null"}
        return int(value) if wanted and value.is_integer() and abs(value) < LARGEST else value
    if isinstance(value, int):
        # A lone whole number is a float in every language; in a list of floats it is not.
        wanted = in_list and node.floating and "integer" not in node.kinds
        return float(value) if wanted and abs(value) < LARGEST else value
    if not isinstance(value, list):
        return value
    if node.branches:
        node = next((each for each in node.branches if each.fits(value)), node)
    return _list(value, node)


def _list(value: list[object], node: Node) -> list[object]:
    made = [
        each if (child := node.item(at)) is None else formed(each, child, in_list=True)
        for at, each in enumerate(value)
    ]
    changed = any(one is not other for one, other in zip(made, value, strict=True))
    return made if changed else value


def in_form(value: dict[str, object], node: Node) -> dict[str, object]:
    """The arguments themselves, or with parameters that are numbers or lists of them formed."""
    made = value
    for key in node.counted:
        child = node.child(key)
        if key in value and child is not None:
            each = formed(value[key], child)
            if each is not value[key]:
                made = {**made, key: each}
    return made
