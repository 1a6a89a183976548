"""Events -> terminal. Output is appended and never drawn again; only an open block is live.

Events only add to what is waiting; at most ten times a second the blocks of markdown that are
finished are printed, rendered, all in one go, and what is still being written stands below them.
Rendering the whole answer at each step would cost the square of its length.
"""

import time
from collections.abc import Callable, Iterator
from typing import Literal

from rich.cells import chop_cells
from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.text import Text

from andy_cli import events
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.diff_view import DiffView
from andy_cli.frontends.chat.screen.folded_texts import (
    FoldedTexts,
    count_fitting_rows,
    fold_beginning,
    fold_end,
)
from andy_cli.frontends.chat.screen.live_region import LiveRegion
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import (
    CORRECTION_MARK,
    WITHDRAWN,
    describe_corrections,
    describe_shortening,
    find_changed_paragraphs,
    format_action,
    format_problem,
    list_not_done,
)
from andy_cli.guard.terminal_sanitizer import Neutralizer, neutralize_text
from andy_cli.messages import Status

REFRESH_SECONDS = 1 / 10
"""Seconds between two drawings."""
PAUSE_FACTOR = 10
"""A drawing that took long is followed by a pause so many times as long."""
STATUS_DELAY = 1.0
"""Seconds without a sign of life after which one is given."""
RENDERED = 2_000
"""Characters of an open block that are rendered while it grows; a longer one shows its end."""

MAX_OUTPUT_ROWS = 5
"""Rows of a command's output that stay on the screen."""
NARROWEST = 10
STATUS_STYLES: dict[Status, Style] = {
    Status.SUCCESS: markdown.ACTION,
    Status.FAILED: markdown.ERROR,
    Status.TIMED_OUT: markdown.ERROR,
    Status.DENIED: markdown.WARNING,
    Status.CANCELLED: markdown.WARNING,
}


class TurnView:
    """Shows one turn. `show` every event, `tick` now and then, `close` in any case."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        tail: LiveRegion | None = None,
        folded: FoldedTexts | None = None,
    ) -> None:
        """`folded` takes what is shortened."""
        self.audit: Callable[[str], str] = str
        """Looks at each block once more before it is printed, and says what to print."""
        self.folded = FoldedTexts() if folded is None else folded
        self._actions = ActionView(self.folded)
        self._console = console
        self._region = tail or LiveRegion(console)
        self._clock = clock
        self._pieces: list[str] = []
        self._neutralizer = Neutralizer()
        self._open_text = ""
        self._kind_above: Literal["", "text", "line"] = ""
        """The kind of block right above; text keeps an empty line's distance."""
        self._is_midway = False
        """Without redrawing: text was begun and its line is not ended yet."""
        self._printed_pages: list[markdown.MarkdownPage] = []
        """The blocks of the answer that were printed, nothing between them."""
        self._kind_before_text: Literal["", "text", "line"] = ""
        self._activity = ""
        self._progress_lines: tuple[str, ...] = ()
        """The progress of the running tool: after its action, or as lines below it."""
        self.busy = "andy is getting ready"
        """The line for when nothing else is known."""
        self.count_received: Callable[[], int] = int
        """Count the characters of the reply that came so far: a long call shows nothing else."""
        self.meter = ""
        """The progress of a download, in the place of what goes on; set from any thread."""
        self._last_event = self._clock()
        self._next_drawing = 0.0
        self._drawn_tail: tuple[str, str] = ("", "")
        self._told_shortening = False
        self._is_withdrawn = False
        """The answer on the screen was sent back."""

    def show_event(self, event: Event) -> None:
        self._last_event = self._clock()
        self._actions.note_event(event)
        match event:
            case events.Said(role="assistant", content=content, delta=False) if content:
                self._replace_answer(content)
            case events.Said(role="assistant", content=content) if content:
                self._activity = ""
                self._tell_withdrawal()
                self._pieces.append(content)
                if self._last_event >= self._next_drawing:
                    self.tick()
            case events.Reasoned():
                self._activity = "thinking"
            case events.ToolUsed(action=action) if action:
                self.finish_text()
                self._tell_withdrawal()
                self._activity, self._progress_lines = join_lines(action), ()
                self.tick()
            case events.Compressed():
                self._tell_shortening(event)
            case _:
                self._show_boundary(event)

    def _show_boundary(self, event: Event) -> None:
        """Show an event that ends the text before it."""
        match event:
            case events.ToolAnswered():
                self._activity = ""
                if event.did:
                    self._print_line(self._actions.render_line(event), prefix="• ")
                    self._region.print(*self._actions.render_below(event, self._console))
            case events.Consented(tool_id=call, decision="allowed"):
                self._activity = join_lines(self._actions.find_action(call))
            case events.Failed(kind="grounding") if self._console.is_terminal:
                self.finish_text()
                self._activity, self._is_withdrawn = "looking again", bool(self._printed_pages)
            case events.Failed(severity=severity, message=message, hint=hint):
                style = markdown.ERROR if severity == "error" else markdown.WARNING
                self._print_line(format_problem(message, hint), style)
            case events.Audited(unsupported=names) if names:
                self._print_line(f"No result of a tool shows: {', '.join(names)}", markdown.WARNING)
            case events.Ended():
                self._told_shortening = self._is_withdrawn = False
                self.finish_text()
                for line in list_not_done(event):
                    self._print_line(line, markdown.WARNING)

    def _tell_shortening(self, event: events.Compressed) -> None:
        """Say it once a turn: each of many rounds may shorten something."""
        if not self._told_shortening:
            self._told_shortening = True
            self._print_line(describe_shortening(event), markdown.QUIET)

    def _tell_withdrawal(self) -> None:
        """Say that an answer does not hold, where a call keeps the next one from its place."""
        if self._is_withdrawn:
            self._is_withdrawn = False
            self._print_line(WITHDRAWN, markdown.WARNING)

    def _replace_answer(self, content: str) -> None:
        """A whole answer in place of its pieces: over them while they are on the screen."""
        self.finish_text()
        self._is_withdrawn = False
        self._activity = ""
        pages_before, self._printed_pages = self._printed_pages, []
        text = "".join(page.text for page in pages_before)
        if not pages_before:
            self._pieces.append(content)
        elif self._region.erase_printed(pages_before):
            self._kind_above = self._kind_before_text
            self._pieces.append(content)
        elif changed_text := find_changed_paragraphs(text, content):
            self._print_line(CORRECTION_MARK, markdown.QUIET)
            self._pieces.append(changed_text)
        self.finish_text()

    def tick(self) -> None:
        """Bring the screen up to date."""
        current_time = self._clock()
        self._open_text += self._neutralizer.feed("".join(self._pieces))
        has_new_text, self._pieces = bool(self._pieces), []
        if not self._console.is_terminal:
            # Nothing that is written to a pipe can be taken back: a word goes out when it is whole.
            words = max(self._open_text.rfind(" "), self._open_text.rfind("\n")) + 1
            if self._open_text[:words].strip() or self._is_midway:
                self._write_plain(self._open_text[:words])
                self._open_text = self._open_text[words:]
            return
        finished_length = markdown.count_finished(self._open_text) if has_new_text else 0
        finished = self._open_text[:finished_length]
        self._open_text = self._open_text[finished_length:]
        key = self._open_text, self._describe_status(current_time - self._last_event)
        if finished.strip() or key != self._drawn_tail:
            self._drawn_tail = key
            self._region.print(*self._render_pages(finished), tail=self._render_tail(*key))
        # A long page, or a slow terminal, is drawn less often: the time is the reply's.
        self._next_drawing = current_time + max(
            REFRESH_SECONDS, PAUSE_FACTOR * (self._clock() - current_time)
        )

    def show_progress(self, text: str) -> None:
        """Take the progress of the running tool, from any thread, for the next drawing."""
        self._progress_lines = tuple(join_lines(line) for line in text.splitlines())

    def tell(self, text: str) -> None:
        """A line of ours between what the model says."""
        self._print_line(text, markdown.QUIET)

    def finish_text(self) -> None:
        """Print all that the model said so far, and take the live region away."""
        self._open_text += (
            self._neutralizer.feed("".join(self._pieces)) + self._neutralizer.finish()
        )
        self._pieces = []
        remaining_text, self._open_text, self._drawn_tail = self._open_text, "", ("", "")
        if self._console.is_terminal:
            self._region.print(*self._render_pages(remaining_text))
        elif self._is_midway or remaining_text.strip():
            self._write_plain(remaining_text.rstrip() + "\n")
            self._is_midway = False

    def close(self) -> None:
        """The turn is over, one way or another; an empty line ends it."""
        self._activity = ""
        self.finish_text()
        if self._kind_above:
            self._region.print("")
            self._kind_above = ""

    def _print_line(
        self, text: str | Text, style: Style = markdown.NORMAL, prefix: str = ""
    ) -> None:
        self.finish_text()
        if self._kind_above == "text":
            self._region.print("")
        self._kind_above, self._printed_pages = "line", []
        row_width = max(10, self._console.width - len(prefix))
        styled = markdown.style_text(text, style) if isinstance(text, str) else text
        for row_number, line in enumerate(styled.wrap(self._console, row_width)):
            begins = Text(prefix if row_number == 0 else " " * len(prefix), style=styled.style)
            self._region.print(begins + line)

    def _render_pages(self, text: str) -> list[RenderableType]:
        if not text.strip():
            return []
        page = markdown.MarkdownPage(self.audit(text), first=not self._kind_above)
        if not self._printed_pages:
            self._kind_before_text = self._kind_above
        self._kind_above = "text"
        self._printed_pages.append(page)
        return [page]

    def _describe_status(self, quiet: float) -> str:
        """Describe what goes on, and after a while the seconds it has taken."""
        if self.meter:
            return self.meter
        if not self._activity:
            return "" if quiet < STATUS_DELAY else self._describe_waiting(quiet)
        progress_note, below = "", [f"\n  {line}" for line in self._progress_lines]
        if len(below) == 1:
            progress_note, below = f": {self._progress_lines[0]}", []
        activity = f"{self._activity}{progress_note}"
        if quiet < STATUS_DELAY:
            return "".join([f"{activity} ...", *below])
        return "".join([f"{activity}, {int(quiet)} s (Ctrl-C stops it)", *below])

    def _describe_waiting(self, quiet: float) -> str:
        """Describe a reply that shows nothing yet, and how much of it came: it may be a call."""
        received = self.count_received()
        written = f", {received:,} characters" if received else ""
        return f"{self.busy}, {int(quiet)} s{written} (Ctrl-C stops it)"

    def _render_tail(self, text: str, status: str) -> RenderableType | None:
        renderables: list[RenderableType] = []
        if text.strip():
            renderables.append(self._render_growing(text))
        if status:
            renderables.append(Text(neutralize_text(status), style=markdown.QUIET, no_wrap=True))
        return Group(*renderables) if renderables else None

    def _render_growing(self, text: str) -> RenderableType:
        if len(text) <= RENDERED:
            return markdown.MarkdownPage(text, first=not self._kind_above)
        rows, columns = self._console.height, self._console.width
        visible_text = text[-rows * columns :]
        return Text("\n".join(visible_text.splitlines()[-rows:]))

    def _write_plain(self, text: str) -> None:
        """Without redrawing: as the model wrote it."""
        if not self._is_midway:
            text = text.lstrip()
            if self._kind_above:
                text = f"\n{text}"
        self._is_midway, self._kind_above = True, "text"
        self._console.file.write(text)
        self._console.file.flush()


def join_lines(text: str) -> str:
    return " ".join(text.split())


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
            format_action(event), markdown.ERROR if failed else STATUS_STYLES[event.status]
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
            rows = fold_end(all_rows, count_fitting_rows(console), self._folded.key)
            if len(rows) < len(all_rows):
                self._folded.keep_text(event.did, diff_view)
            return rows
        all_rows = list(render_output(display.output, console.width))
        rows = fold_beginning(all_rows, MAX_OUTPUT_ROWS, self._folded.key)
        if len(all_rows) > MAX_OUTPUT_ROWS:
            self._folded.keep_text(event.did, Group(*all_rows))
        return rows


def render_output(output: str, width: int) -> Iterator[Text]:
    """Render the output of a command, dim and indented; control codes do nothing."""
    row_width = max(NARROWEST, width - 2)
    for written in output.rstrip().split("\n") if output.strip() else ():
        # A line that was drawn again and again stands there as it was last.
        line = neutralize_text(written.rstrip("\r").rpartition("\r")[2]).expandtabs(8)
        for row_text in chop_cells(line.rstrip(), row_width) or [""]:
            yield Text(f"  {row_text}", style=markdown.QUIET, no_wrap=True, overflow="ignore")
