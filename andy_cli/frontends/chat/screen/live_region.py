"""A few lines below the printed text that are drawn again and again.

Printed text stays. Each step is one write: the old region is erased, finished text is printed.
Lines of the tail that stay as they are are not touched, so that nothing flickers. Where a prompt
stays below the tail prompt-toolkit draws it.
"""

from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from math import ceil

from rich.cells import cell_len
from rich.color import Color, ColorType
from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import ControlType, Segment, Segments
from rich.style import Style

from andy_cli.frontends.chat.prompt.live_prompt import LivePrompt
from andy_cli.frontends.chat.prompt.prompt_renderer import JOINING
from andy_cli.frontends.chat.prompt.prompt_state import PromptLine

MARGIN = 2
"""Rows of the screen that a tail leaves free."""
PICTURES = "\ufe0f"
"""Makes a picture of the sign before it, which is a cell wider in some terminals."""
COLORS = (
    "ansiblack ansired ansigreen ansiyellow ansiblue ansimagenta ansicyan ansigray "
    "ansibrightblack ansibrightred ansibrightgreen ansibrightyellow ansibrightblue "
    "ansibrightmagenta ansibrightcyan ansiwhite"
).split()
"""prompt-toolkit's names of the sixteen colours, in the order of their numbers."""
ATTRIBUTES = ("bold", "italic", "underline", "strike", "reverse", "dim")
"""Words of rich and of prompt-toolkit alike."""

SegmentLine = list[Segment]


class LiveRegion:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._drawn_lines: list[SegmentLine] = []
        self._width = console.width
        """Of the terminal, when the tail was drawn."""

    def print(self, *finished: RenderableType, tail: RenderableType | None = None) -> None:
        """Add to what stays, and draw the tail anew below it; without one there is none."""
        console = self._console
        lines = [] if tail is None or not console.is_terminal else self._render_lines(tail)
        with console:
            unchanged = 0 if finished else self._count_unchanged(lines)
            self._erase_drawn(unchanged)
            for renderable in finished:
                # Not cropped: a long line of code is broken by the terminal, and copied whole.
                console.print(renderable, crop=False)
            self._draw_lines(lines[unchanged:])
            self._drawn_lines, self._width = lines, console.width

    def erase_printed(self, printed: Sequence[RenderableType]) -> bool:
        """Erase what was printed last; False if it is not all on the screen any more."""
        console = self._console
        if not console.is_terminal or console.width != self._width:
            return False
        rows = sum(len(console.render_lines(renderable, pad=False)) for renderable in printed)
        if rows >= self._available_rows:
            return False
        self._go_back(rows)
        return True

    def _go_back(self, rows: int) -> None:
        with self._console:
            self._erase_drawn(0)
            self._drawn_lines = []
            self._erase_rows(rows)

    @property
    def _available_rows(self) -> int:
        """Rows of the screen that a tail may fill."""
        return max(1, self._console.height - MARGIN)

    def _render_lines(self, tail: RenderableType) -> list[SegmentLine]:
        return self._console.render_lines(tail, pad=False)[-self._available_rows :]

    def _count_unchanged(self, lines: list[SegmentLine]) -> int:
        """Count the lines that can stay; never the last one, where the cursor stands."""
        if self._console.width != self._width:
            return 0
        line_pairs = zip(self._drawn_lines[:-1], lines[:-1], strict=False)
        return sum(
            1
            for _ in takewhile(
                lambda drawn_and_new: drawn_and_new[0] == drawn_and_new[1], line_pairs
            )
        )

    def _erase_drawn(self, unchanged: int) -> None:
        if not self._drawn_lines:
            return
        # A terminal that was made narrower has broken the lines that no longer fit.
        width = max(1, self._console.width)
        lengths = [Segment.get_line_length(line) for line in self._drawn_lines[unchanged:]]
        rows = sum(max(1, ceil(cells / width)) for cells in lengths)
        self._erase_rows(rows - 1)

    def _erase_rows(self, rows_above: int) -> None:
        """Erase the row of the cursor, and so many above it."""
        line = (ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2)
        above = (ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)
        self._console.control(Control(*line, *(above * rows_above)))

    def _draw_lines(self, lines: list[SegmentLine]) -> None:
        for index, line in enumerate(lines):
            ending = [Segment.line()] if index < len(lines) - 1 else []
            self._console.print(Segments([*line, *ending]), end="")


class PromptLiveRegion(LiveRegion):
    """Draws what is finished where it grew, and leaves it there: most of it is on the screen."""

    def __init__(self, console: Console, prompt: LivePrompt) -> None:
        super().__init__(console)
        self._prompt = prompt

    def print(self, *finished: RenderableType, tail: RenderableType | None = None) -> None:
        console = self._console
        self._width = console.width
        printed = [segment for renderable in finished for segment in console.render(renderable)]
        rows = list(Segment.split_lines(printed))
        growing = [] if tail is None else self._render_lines(tail)
        has_room = len(rows) + len(growing) <= self._available_rows and self._prompt.draws
        if has_room and all(count_most_cells(row) <= console.width for row in rows):
            self._prompt.show_live([convert_line(row) for row in [*rows, *growing]])
            self._prompt.show()
            self._prompt.commit_rows(len(rows))
        else:
            self._prompt.show_live([convert_line(row) for row in growing])
            # Not cropped: what may be too long is broken by the terminal, and copied whole.
            console.print(Segments(printed), crop=False, end="")

    def _go_back(self, rows: int) -> None:
        self._prompt.print_above("", rows_back=rows)

    @property
    def _available_rows(self) -> int:
        return self._prompt.live_rows


def count_most_cells(line: SegmentLine) -> int:
    """Count the cells of a line in a terminal that joins no characters, as many do not."""
    text = "".join([segment.text for segment in line])
    if text.isascii():
        return len(text)
    cells = (2 if character in JOINING else cell_len(character) for character in text)
    return sum(cells) + text.count(PICTURES)


def convert_line(line: SegmentLine) -> PromptLine:
    return [(convert_style(segment.style), segment.text) for segment in line]


@cache
def convert_style(style: Style | None) -> str:
    """The words by which prompt-toolkit knows a style of rich."""
    if style is None:
        return ""
    words = [name for name in ATTRIBUTES if getattr(style, name)]
    if style.color is not None:
        words.append(f"fg:{convert_color(style.color)}")
    if style.bgcolor is not None:
        words.append(f"bg:{convert_color(style.bgcolor)}")
    return " ".join(words)


def convert_color(color: Color) -> str:
    if color.type is ColorType.DEFAULT:
        return "ansidefault"
    if color.number is not None and color.number < len(COLORS):
        return COLORS[color.number]
    return f"#{color.get_truecolor().hex.removeprefix('#')}"
