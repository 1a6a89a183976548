"""Regular expressions that models write, matched in time linear in the text.

Not by `re`: a pattern like `(a+)+$` would hold the interpreter for hours, and nothing could stop
it. The engine is the Rust one that pydantic brings, the same as ripgrep's.
"""

import re
import string

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out

MAX_CHARACTERS = 1000
"""Characters of a pattern."""

ESCAPING = (
    "Write a backslash before what is meant as it is, as in \\( or \\*; "
    "names of files go into glob."
)


class Finder:
    """Matches anywhere in a text. Without a capital letter in it, it does not look at case."""

    def __init__(self, pattern: str) -> None:
        """Raises ToolError that says what is wrong with the pattern."""
        # 2 ms, and few conversations search.
        from pydantic_core import SchemaError, SchemaValidator, core_schema

        if len(pattern) > MAX_CHARACTERS:
            raise ToolError(
                f"The pattern is longer than {MAX_CHARACTERS} characters.", "Give a shorter one."
            )
        self.any_case = set(string.ascii_uppercase).isdisjoint(_mask_escapes(pattern))
        schema = core_schema.str_schema(
            pattern="(?i)" * self.any_case + pattern, regex_engine="rust-regex", strict=True
        )
        try:
            self.matches = SchemaValidator(schema).isinstance_python
        except SchemaError as error:
            raise ToolError(_explain_error(pattern, str(error)), ESCAPING) from error


def _explain_error(pattern: str, error: str) -> str:
    *_, reason = error.strip().rpartition("error: ")
    return f"{spell_out(pattern)} is no regular expression: {reason.splitlines()[-1].strip()}."


NO_LITERALS = str.maketrans(dict.fromkeys(".^$+{}\n", "\0"))


def _mask_escapes(pattern: str) -> str:
    return re.sub(r"\\.", "\0", pattern)


def common_literal(pattern: str) -> str:
    """A text that stands in everything the pattern matches, for a first rough look; perhaps none.

    Only where that is plain: no groups, no choices, no classes.
    """
    if re.search(r"[(|\[]|\\[pPxuU]", pattern):
        return ""
    masked = re.sub(r".(?:\*|\?|\{[^}]*\})[?+]?", "\0", _mask_escapes(pattern))
    longest = max(masked.translate(NO_LITERALS).split("\0"), key=len)
    return longest if len(longest) > 2 and longest.isascii() and longest.isprintable() else ""
