"""Code fences: one around a request is framing, and the words before one may make it an example."""

import re

from andy_cli.compiler.expression import Expression

INLINE = Expression(r"(`+)(?!\w+\n)[^`]+\1")
FENCE = Expression(r"\s*(?P<run>`{3,})[^\n`]*\n(?P<body>.*?)(?:\n[ \t]*(?P=run)`*\s*)?\Z", re.S)


def strip_fence(fenced_text: str) -> str:
    """The text inside the fence, stripped; other text as it is, stripped."""
    fenced_text = fenced_text.strip()
    if INLINE.fullmatch(fenced_text):
        return fenced_text.strip("`").strip()
    fence_match = FENCE.match(fenced_text)
    return fence_match["body"].strip() if fence_match else fenced_text


def info_word(fenced_text: str) -> str:
    """The word after the backticks of a fence, in lower case; empty where there is none."""
    first_line, line_break, _ = fenced_text.lstrip("`~").partition("\n")
    return first_line.strip().lower() if line_break else ""


MAX_DISTANCE = 160
"""Characters before the code that are looked at."""

EXAMPLE = Expression(
    r"""\b(?:
        (?:for|as)\ (?:an?\ )?(?:example|instance) | e\.\s?g\.
      | (?:an|another|the)\ example | examples      | (?:would|could|might|should)\ (?:then\ )?look
      | looks?\ (?:something\ |a\ bit\ )?like
      | something\ like | syntax | zum\ beispiel | z\.\s?b\. | par\ exemple | por\ ejemplo
    )[^.!?\n]{0,120}\s*\Z""",
    re.IGNORECASE | re.VERBOSE,
)


def introduces_example(text: str) -> bool:
    """Tell whether the end of a text says that what follows shows how something is written."""
    return EXAMPLE.search(text[-MAX_DISTANCE:]) is not None
