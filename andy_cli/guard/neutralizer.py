"""What did not come from us may not drive the terminal: it is shown without control characters.

Kept are line breaks and tabs. Dropped are the other C0 and C1 controls, DEL, and the characters
that turn the direction of text round; what followed an escape character is then plain text.
"""

import re

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def neutralize(text: str) -> str:
    """Safe to write to a terminal, whatever it was; pieces may be neutralized one by one."""
    return CONTROL.sub("", text)
