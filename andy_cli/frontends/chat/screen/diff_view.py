"""The change to a file on a terminal: numbered, green and red, and with signs that need neither."""

from collections.abc import Iterator

from rich.cells import chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.numbered_diff import (
    DiffLine,
    Sign,
    count_digits,
    read_diff,
    spell_line,
)

STYLES: dict[Sign, Style] = {
    "+": markdown.ADDED,
    "-": markdown.REMOVED,
    " ": markdown.NORMAL,
    "gap": markdown.QUIET,
}
INDENT = "  "
MIN_COLUMNS = 10
"""Columns a line of text has, on however narrow a screen."""


class DiffView:
    """A diff that fills the width it is given; long lines are wrapped under themselves."""

    def __init__(self, diff_text: str) -> None:
        self._lines = list(read_diff(diff_text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.render_rows(options.max_width)

    def render_rows(self, width: int) -> list[Text]:
        """The rows of a screen so wide."""
        digits = count_digits(self._lines)
        margin = len(INDENT) + digits + len(" + ")
        row_width = max(MIN_COLUMNS, width - margin)
        return [row for line in self._lines for row in self._wrap_line(line, digits, row_width)]

    def _wrap_line(self, line: DiffLine, digits: int, row_width: int) -> Iterator[Text]:
        style = STYLES[line.sign]
        number = str(line.number or "").rjust(digits)
        shown_sign = " " if line.sign == "gap" else line.sign
        for row_text in chop_cells(spell_line(line), row_width) or [""]:
            row = Text(INDENT, no_wrap=True, overflow="ignore")
            row.append(number, markdown.QUIET)
            row.append(f" {shown_sign} {row_text}", style)
            row.rstrip()
            yield row
            number, shown_sign = " " * digits, " "
