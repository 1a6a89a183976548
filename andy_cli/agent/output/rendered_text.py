"""Strip Markdown from an answer: escapes and emphasis gone, entities resolved (C29).

`&lt;tool_call&gt;` is no marker before it is rendered, and is one on the screen.
"""

import html

from andy_cli.compiler.expression import Expression

MARKS = frozenset("&\\*_~`")
"""Characters that rendering takes away or changes."""
ESCAPED = Expression(r"\\([^\w\s])")
EMPHASIS = Expression(r"[*~`]+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def strip_markdown(text: str) -> str:
    """Return about what a reader sees of it; itself where nothing is rendered."""
    if not MARKS.intersection(text):
        return text
    return html.unescape(EMPHASIS.sub("", ESCAPED.sub(r"\1", text)))
