"""What a step did, on a terminal: its line, below it the change to a file or a command's end."""

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
    Folded,
    Rows,
    fold_beginning,
    fold_end,
    rows_that_fit,
)
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import action_line, describe_corrections
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Status

LAST = 5
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

    def __init__(self, folded: Folded) -> None:
        self._folded = folded
        self._corrections: dict[str, tuple[str, ...]] = {}
        self._in_words: dict[str, str] = {}
        self._actions: dict[str, str] = {}
        self._thoughts: list[str] = []

    def hear(self, event: Event) -> None:
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
                self._in_words[call] = describe_corrections(changes, name)

    def _keep_thoughts(self) -> None:
        thoughts, self._thoughts = "".join(self._thoughts).strip(), []
        if thoughts:
            self._folded.keep("What the model thought", markdown.styled(thoughts, markdown.QUIET))

    def action(self, call: str) -> str:
        """What is under way, in words."""
        return self._actions.get(call, "")

    def line(self, event: events.ToolAnswered) -> Text:
        """`listed 3 songs, 0.1 s`, red where it failed, amber where it was not allowed."""
        self._actions.pop(event.tool_id, None)
        failed = event.status is Status.SUCCESS and event.display.exit_code != 0
        line = markdown.styled(
            action_line(event), markdown.ERROR if failed else STYLES[event.status]
        )
        if corrected := self._in_words.pop(event.tool_id, ""):
            line.append(f" ({neutralize_text(corrected)})", markdown.QUIET)
        return line

    def below(self, event: events.ToolAnswered, console: Console) -> list[Text]:
        """The rows under that line; what they leave out is kept for the key that shows all."""
        shown = event.display
        if shown.diff:
            view = DiffView(shown.diff)
            whole = view.rows(console.width)
            rows = fold_end(whole, rows_that_fit(console), SHOWS_ALL)
            if len(rows) < len(whole):
                self._folded.keep(event.did, view)
            return rows
        whole = [*output_rows(shown.output, console.width)]
        rows = fold_beginning(whole, LAST, SHOWS_ALL)
        if len(whole) > LAST:
            self._folded.keep(event.did, Rows(whole))
        return rows


def output_rows(output: str, width: int) -> Iterator[Text]:
    """What a command wrote as it would stand on a terminal, dim and indented; nothing acts."""
    room = max(NARROWEST, width - 2)
    for written in output.rstrip().split("\n") if output.strip() else ():
        # A line that was drawn again and again stands there as it was last.
        line = neutralize_text(written.rstrip("\r").rpartition("\r")[2]).expandtabs(8)
        for piece in chop_cells(line.rstrip(), room) or [""]:
            yield Text(f"  {piece}", style=markdown.QUIET, no_wrap=True, overflow="ignore")
