"""Tell whether a user asked for code or data to read: then what looks like a request is text.

By the names of notations, which are the same in every language; a file's ending names none.
"""

from andy_cli.compiler.expression import Expression

NOTATION = Expression(
    r"(?i)(?<![\w./\\-])(?:json|jsonl|yaml|xml|toml|html|python|javascript|typescript|code|codes"
    r"|snippet|snippets|schema|schemas|regex|codebeispiel|beispielcode)(?![\w/\\-]|\.\w)|```"
)
"""Words that name how something is written."""


def asks_for_code(user: str) -> bool:
    """Tell whether the user's words name a notation to write in."""
    return NOTATION.search(user) is not None
