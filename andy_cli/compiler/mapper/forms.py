"""Numbers in the form their type declares: 3 for an integer that was written 3.0.

For JSON both are one number, so nothing is corrected and no receipt is given; programs that are
called with the arguments do tell them apart. Objects inside are data, and stay as they are.
"""

from andy_cli.compiler.mapper.nodes import SchemaNode

LARGEST_EXACT = 2**53


def match_number_form(value: object, node: SchemaNode, in_list: bool = False) -> object:
    """The value itself, unless a number in it is written in the form of another type."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        wanted = bool(node.kinds) and node.kinds <= {"integer", "null"}
        return int(value) if wanted and value.is_integer() and abs(value) < LARGEST_EXACT else value
    if isinstance(value, int):
        # A lone whole number is a float in every language; in a list of floats it is not.
        wanted = in_list and node.floating and "integer" not in node.kinds
        return float(value) if wanted and abs(value) < LARGEST_EXACT else value
    if not isinstance(value, list):
        return value
    if node.branches:
        node = next((each for each in node.branches if each.fits(value)), node)
    return _match_list_form(value, node)


def _match_list_form(value: list[object], node: SchemaNode) -> list[object]:
    made = [
        each if (child := node.item(at)) is None else match_number_form(each, child, in_list=True)
        for at, each in enumerate(value)
    ]
    changed = any(one is not other for one, other in zip(made, value, strict=True))
    return made if changed else value


def match_number_forms(value: dict[str, object], node: SchemaNode) -> dict[str, object]:
    """The arguments themselves, or with parameters that are numbers or lists of them formed."""
    made = value
    for key in node.counted:
        child = node.child(key)
        if key in value and child is not None:
            each = match_number_form(value[key], child)
            if each is not value[key]:
                made = {**made, key: each}
    return made
