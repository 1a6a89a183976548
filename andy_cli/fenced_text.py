"""Text from elsewhere in a fence of code, as Markdown has it: nothing in it is read as more."""

import re

TICKS = re.compile("^`{3,}", re.MULTILINE)


def fence_text(text: str) -> str:
    """Put a fence of code around a text; it is longer than any that stands in the text."""
    longest = max(map(len, TICKS.findall(text)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}\n{text.rstrip()}\n{ticks}"
