"""The tail of what is printed, where a prompt stays below it: prompt-toolkit draws it."""

from functools import cache

from rich.color import Color, ColorType
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style

from andy_cli.frontends.chat.prompt.live_prompt import LivePrompt
from andy_cli.frontends.chat.prompt.prompt_state import PromptLine
from andy_cli.frontends.chat.screen.live_region import LiveRegion, SegmentLine

COLORS = (
    "ansiblack ansired ansigreen ansiyellow ansiblue ansimagenta ansicyan ansigray "
    "ansibrightblack ansibrightred ansibrightgreen ansibrightyellow ansibrightblue "
    "ansibrightmagenta ansibrightcyan ansiwhite"
).split()
"""prompt-toolkit's names of the sixteen colours, in the order of their numbers."""
ATTRIBUTES = {
    "bold": "bold",
    "italic": "italic",
    "underline": "underline",
    "strike": "strike",
    "reverse": "reverse",
    "dim": "dim",
}


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
        if has_room and all(Segment.get_line_length(row) <= console.width for row in rows):
            self._prompt.show_live([convert_line(row) for row in [*rows, *growing]])
            self._prompt.show()
            self._prompt.commit_rows(len(rows))
        else:
            self._prompt.show_live([convert_line(row) for row in growing])
            # Not cropped: a long line of code is broken by the terminal, and copied whole.
            console.print(Segments(printed), crop=False, end="")

    def _go_back(self, rows: int) -> None:
        self._prompt.print_above("", rows_back=rows)

    @property
    def _available_rows(self) -> int:
        return self._prompt.live_rows


def convert_line(line: SegmentLine) -> PromptLine:
    return [(convert_style(segment.style), segment.text) for segment in line]


@cache
def convert_style(style: Style | None) -> str:
    """The words by which prompt-toolkit knows a style of rich."""
    if style is None:
        return ""
    words = [word for name, word in ATTRIBUTES.items() if getattr(style, name)]
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
