"""A code fence around a request is framing."""

import re

from andy_cli.compiler.expression import Expression

INLINE = Expression(r"(`+)(?!\w+\n)[^`]+\1")
FENCE = Expression(r"\s*(?P<run>`{3,})[^\n`]*\n(?P<body>.*?)(?:\n[ \t]*(?P=run)`*\s*)?\Z", re.S)


def strip_fence(text: str) -> tuple[str, bool]:
    """The text inside the fence, and whether there was one; other text as it is, stripped."""
    text = text.strip()
    if INLINE.fullmatch(text):
        return text.strip("`").strip(), True
    match = FENCE.match(text)
    return (match["body"].strip(), True) if match else (text.strip(), False)


def info_word(text: str) -> str:
    """The word behind the backticks of a fence, in lower case; empty where there is none."""
    first, line_break, _ = text.lstrip("`~").partition("\n")
    return first.strip().lower() if line_break else ""
