"""The result of a tool call on a terminal: a line, and a change or the end of output."""

from collections.abc import Iterator

from rich.cells import chop_cells
from rich.console import Console
from rich.style import Style
from rich.text import Text

from andy_cli import events
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.diff_view import DiffView
from andy_cli.frontends.chat.screen.folded_texts import (
    SHOWS_ALL,
    FoldedTexts,
    TextRows,
    count_fitting_rows,
    fold_beginning,
    fold_end,
)
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import describe_corrections, format_action
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Status

MAX_OUTPUT_ROWS = 5
"""Rows of a command's output that stay on the screen."""
NARROWEST = 10
STYLES: dict[Status, Style] = {
    Status.SUCCESS: markdown.ACTION,
    Status.FAILED: markdown.ERROR,
    Status.TIMED_OUT: markdown.ERROR,
    Status.DENIED: markdown.WARNING,
    Status.CANCELLED: markdown.WARNING,
}


class ActionView:
    """Draws what came of each call; remembers what was corrected before it was made."""

    def __init__(self, folded: FoldedTexts) -> None:
        self._folded = folded
        self._corrections: dict[str, tuple[str, ...]] = {}
        self._described_corrections: dict[str, str] = {}
        self._actions: dict[str, str] = {}
        self._thoughts: list[str] = []

    def note_event(self, event: Event) -> None:
        """Remember what belongs to the line of a call that has not ended yet.

        What a model thinks is not printed: it is kept, for who asks for it.
        """
        if not isinstance(event, events.Reasoned):
            self._keep_thoughts()
        match event:
            case events.Reasoned(content=content):
                self._thoughts.append(content)
            case events.Corrected(tool_id=call, changes=changes):
                self._corrections[call] = changes
            case events.ToolUsed(tool_id=call, tool_name=name, action=action):
                self._actions[call] = action
                changes = self._corrections.pop(call, ())
                self._described_corrections[call] = describe_corrections(changes, name)

    def _keep_thoughts(self) -> None:
        thoughts, self._thoughts = "".join(self._thoughts).strip(), []
        if thoughts:
            self._folded.keep_text(
                "What the model thought", markdown.style_text(thoughts, markdown.QUIET)
            )

    def find_action(self, call: str) -> str:
        """Return what a call is doing, in words."""
        return self._actions.get(call, "")

    def render_line(self, event: events.ToolAnswered) -> Text:
        """`listed 3 songs, 0.1 s`, red where it failed, amber where it was not allowed."""
        self._actions.pop(event.tool_id, None)
        failed = event.status is Status.SUCCESS and event.display.exit_code != 0
        line = markdown.style_text(
            format_action(event), markdown.ERROR if failed else STYLES[event.status]
        )
        if corrected := self._described_corrections.pop(event.tool_id, ""):
            line.append(f" ({neutralize_text(corrected)})", markdown.QUIET)
        return line

    def render_below(self, event: events.ToolAnswered, console: Console) -> list[Text]:
        """The rows under that line; what they leave out is kept for the key that shows all."""
        display = event.display
        if display.diff:
            diff_view = DiffView(display.diff)
            all_rows = diff_view.render_rows(console.width)
            rows = fold_end(all_rows, count_fitting_rows(console), SHOWS_ALL)
            if len(rows) < len(all_rows):
                self._folded.keep_text(event.did, diff_view)
            return rows
        all_rows = [*render_output(display.output, console.width)]
        rows = fold_beginning(all_rows, MAX_OUTPUT_ROWS, SHOWS_ALL)
        if len(all_rows) > MAX_OUTPUT_ROWS:
            self._folded.keep_text(event.did, TextRows(all_rows))
        return rows


def render_output(output: str, width: int) -> Iterator[Text]:
    """Render the output of a command, dim and indented; control codes do nothing."""
    row_width = max(NARROWEST, width - 2)
    for written in output.rstrip().split("\n") if output.strip() else ():
        # A line that was drawn again and again stands there as it was last.
        line = neutralize_text(written.rstrip("\r").rpartition("\r")[2]).expandtabs(8)
        for row_text in chop_cells(line.rstrip(), row_width) or [""]:
            yield Text(f"  {row_text}", style=markdown.QUIET, no_wrap=True, overflow="ignore")
