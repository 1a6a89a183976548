"""Events -> terminal. Output is appended and never drawn again; only an open block is live.

Events only add to what is waiting; at most ten times a second the blocks of markdown that are
finished are printed, rendered, all in one go, and what is still being written stands below them.
Rendering the whole answer at each step would cost the square of its length.
"""

import time
from collections.abc import Callable
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.text import Text

from andy_cli import events
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.action_view import ActionView
from andy_cli.frontends.chat.screen.folded_texts import FoldedTexts
from andy_cli.frontends.chat.screen.live_region import LiveRegion
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import (
    CORRECTION_MARK,
    WITHDRAWN,
    describe_shortening,
    find_changed_paragraphs,
    format_problem,
    list_not_done,
)
from andy_cli.guard.terminal_sanitizer import Neutralizer, neutralize_text

REFRESH_SECONDS = 1 / 10
"""Seconds between two drawings."""
PAUSE_FACTOR = 10
"""A drawing that took long is followed by a pause so many times as long."""
STATUS_DELAY = 1.0
"""Seconds without a sign of life after which one is given."""
RENDERED = 2_000
"""Characters of an open block that are rendered while it grows; a longer one shows its end."""


class TurnView:
    """Shows one turn. `show` every event, `tick` now and then, `close` in any case."""

    def __init__(
        self,
        console: Console,
        busy_line: str = "andy is getting ready",
        clock: Callable[[], float] = time.monotonic,
        audit: Callable[[str], str] = str,
        tail: LiveRegion | None = None,
        folded: FoldedTexts | None = None,
    ) -> None:
        """`audit` looks at each block once more before it is printed, and says what to print.

        `folded` takes what is shortened.
        """
        self.audit = audit
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
        self.busy = busy_line
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
                self._print_line(
                    f"Nothing that was found supports: {', '.join(names)}", markdown.WARNING
                )
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
            words = max(self._open_text.rfind(" "), self._open_text.rfind("\n")) + 1
            if self._open_text[:words].strip() or self._is_midway:
                self._write_plain(self._open_text[:words])
                self._open_text = self._open_text[words:]
            return
        finished_length = markdown.count_finished(self._open_text) if has_new_text else 0
        finished, self._open_text = (
            self._open_text[:finished_length],
            self._open_text[finished_length:],
        )
        key = self._open_text, self._describe_status(current_time - self._last_event)
        if finished.strip() or key != self._drawn_tail:
            self._drawn_tail = key
            self._region.print(*self._render_pages(finished), tail=self._render_tail(*key))
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
        visible_rows = self._console.height
        return Text(
            "\n".join(text[-visible_rows * self._console.width :].splitlines()[-visible_rows:])
        )

    def _write_plain(self, text: str) -> None:
        """Without redrawing: as the model wrote it."""
        if not self._is_midway:
            text = "\n" * bool(self._kind_above) + text.lstrip()
        self._is_midway, self._kind_above = True, "text"
        self._console.file.write(text)
        self._console.file.flush()


def join_lines(text: str) -> str:
    return " ".join(text.split())
