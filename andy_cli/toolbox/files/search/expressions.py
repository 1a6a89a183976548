"""Regular expressions that models write, matched in time linear in the text.

Not by `re`: a pattern like `(a+)+$` would hold the interpreter for hours, and nothing could stop
it. The engine is the Rust one that pydantic brings, the same as ripgrep's.
"""

import re
import string
import unicodedata
from collections.abc import Callable

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out

MAX_CHARACTERS = 1000
"""Characters of a pattern."""

ESCAPING = (
    "Write a backslash before what is meant as it is, as in \\( or \\*; "
    "names of files go into glob."
)

OF_THE_WHOLE = re.compile(r"\\[Az]|\(\?")
"""Signs that mean another thing in several lines than in each, or may."""


class Finder:
    """Matches anywhere in a text. Without a capital letter in it, it does not look at case."""

    def __init__(self, pattern: str) -> None:
        """Raises ToolError that says what is wrong with the pattern."""
        if len(pattern) > MAX_CHARACTERS:
            raise ToolError(
                f"The pattern is longer than {MAX_CHARACTERS} characters.", "Give a shorter one."
            )
        any_case = set(string.ascii_uppercase).isdisjoint(re.sub(r"\\.", "", pattern))
        expression = unicodedata.normalize("NFC", "(?i)" * any_case + pattern)
        self.matches = _compile_expression(expression, pattern)
        self.may_match: Callable[[str], bool] = lambda lines: True
        """A first rough look at many lines at once: false where none of them matches."""
        if not OF_THE_WHOLE.search(pattern):
            self.may_match = _compile_expression(f"(?m){expression}", pattern)
        if not pattern.isascii():
            self.matches = _match_composed(self.matches)
            self.may_match = _match_composed(self.may_match)


def _match_composed(matches: Callable[[str], bool]) -> Callable[[str], bool]:
    """Make what looks at a text as keyboards write it too: macOS and some PDF programs write two
    signs, a letter and its accent, for one.
    """
    return lambda text: (
        matches(text) or (not text.isascii() and matches(unicodedata.normalize("NFC", text)))
    )


def _compile_expression(expression: str, pattern: str) -> Callable[[str], bool]:
    """Make what tells whether a text matches. Raises ToolError that speaks of the pattern."""
    # 2 ms, and few conversations search.
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    schema = core_schema.str_schema(pattern=expression, regex_engine="rust-regex", strict=True)
    try:
        return SchemaValidator(schema).isinstance_python
    except SchemaError as error:
        raise ToolError(_explain_error(pattern, str(error)), ESCAPING) from error


def _explain_error(pattern: str, error: str) -> str:
    *_, reason = re.split("[Ee]rror: ", error.strip())
    words = reason.splitlines()[-1].strip().removesuffix(".")
    return f"{spell_out(pattern)} is no regular expression: {words}."
