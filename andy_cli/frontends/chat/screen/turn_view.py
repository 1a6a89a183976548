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
from andy_cli.frontends.chat.screen.folded_texts import Folded
from andy_cli.frontends.chat.screen.live_region import Tail
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import (
    PUT_RIGHT,
    changed_paragraphs,
    not_done_lines,
    problem,
)
from andy_cli.guard.terminal_sanitizer import Neutralizer, neutralize_text

REFRESH = 1 / 10
"""Seconds between two drawings."""
SHARE = 10
"""A drawing that took long is followed by a pause so many times as long."""
PATIENCE = 1.0
"""Seconds without a sign of life after which one is given."""
RENDERED = 2_000
"""Characters of an open block that are rendered while it grows; a longer one shows its end."""


class View:
    """Shows one turn. `show` every event, `tick` now and then, `close` in any case."""

    def __init__(
        self,
        console: Console,
        busy: str = "andy is getting ready",
        clock: Callable[[], float] = time.monotonic,
        audit: Callable[[str], str] = str,
        tail: Tail | None = None,
        folded: Folded | None = None,
    ) -> None:
        """`audit` looks at each block once more before it is printed, and says what to print.

        `folded` takes what is shortened.
        """
        self.audit = audit
        self.folded = Folded() if folded is None else folded
        self._actions = ActionView(self.folded)
        self._console = console
        self._tail = tail or Tail(console)
        self._clock = clock
        self._pieces: list[str] = []
        self._neutralizer = Neutralizer()
        self._open = ""
        self._above: Literal["", "text", "line"] = ""
        """What stands right above; text keeps an empty line's distance."""
        self._midway = False
        """Without redrawing: text was begun and its line is not ended yet."""
        self._said: list[markdown.Page] = []
        """The blocks of the answer that were printed, nothing between them."""
        self._before_text: Literal["", "text", "line"] = ""
        self._doing = ""
        self._at: tuple[str, ...] = ()
        """What the running tool is at: behind its action, or as lines below it."""
        self.busy = busy
        """What goes on when nothing else is known."""
        self.meter = ""
        """How far a download is; set from any thread, it stands in the place of what goes on."""
        self._heard = self._clock()
        self._next = 0.0
        self._drawn: tuple[str, str] = ("", "")

    def show(self, event: Event) -> None:
        self._heard = self._clock()
        self._actions.hear(event)
        match event:
            case events.Said(role="assistant", content=content, delta=False) if content:
                self._replace(content)
            case events.Said(role="assistant", content=content) if content:
                self._doing = ""
                self._pieces.append(content)
                if self._heard >= self._next:
                    self.tick()
            case events.Reasoned():
                self._doing = "thinking"
            case events.ToolUsed(action=action) if action:
                self.finish_text()
                self._doing, self._at = one_line(action), ()
                self.tick()
            case _:
                self._mark(event)

    def _mark(self, event: Event) -> None:
        """What ends the text before it."""
        match event:
            case events.ToolAnswered():
                self._doing = ""
                if event.did:
                    self._line(self._actions.line(event), mark="• ")
                    self._tail.print(*self._actions.below(event, self._console))
            case events.Consented(tool_id=call, decision="allowed"):
                self._doing = one_line(self._actions.action(call))
            case events.Failed(kind="grounding") if self._console.is_terminal:
                self.finish_text()
                self._doing = "looking again"
            case events.Failed(severity=severity, message=message, hint=hint):
                style = markdown.ERROR if severity == "error" else markdown.WARNING
                self._line(problem(message, hint), style)
            case events.Audited(unsupported=names) if names:
                self._line(f"Nothing that was found supports: {', '.join(names)}", markdown.WARNING)
            case events.Ended():
                self.finish_text()
                for line in not_done_lines(event):
                    self._line(line, markdown.WARNING)

    def _replace(self, content: str) -> None:
        """A whole answer in place of its pieces: over them while they are on the screen."""
        self.finish_text()
        self._doing = ""
        before, self._said = self._said, []
        text = "".join(each.text for each in before)
        if not before:
            self._pieces.append(content)
        elif self._tail.take_back(before):
            self._above = self._before_text
            self._pieces.append(content)
        elif news := changed_paragraphs(text, content):
            self._line(PUT_RIGHT, markdown.QUIET)
            self._pieces.append(news)
        self.finish_text()

    def tick(self) -> None:
        """Bring the screen up to date."""
        now = self._clock()
        self._open += self._neutralizer.feed("".join(self._pieces))
        new, self._pieces = bool(self._pieces), []
        if not self._console.is_terminal:
            words = max(self._open.rfind(" "), self._open.rfind("\n")) + 1
            if self._open[:words].strip() or self._midway:
                self._speak(self._open[:words])
                self._open = self._open[words:]
            return
        cut = markdown.finished(self._open) if new else 0
        finished, self._open = self._open[:cut], self._open[cut:]
        key = self._open, self._status(now - self._heard)
        if finished.strip() or key != self._drawn:
            self._drawn = key
            self._tail.print(*self._pages(finished), tail=self._below(*key))
        self._next = now + max(REFRESH, SHARE * (self._clock() - now))

    def at(self, text: str) -> None:
        """What the running tool is at; from any thread, shown at the next drawing."""
        self._at = tuple(one_line(line) for line in text.splitlines())

    def tell(self, text: str) -> None:
        """A line of ours between what the model says."""
        self._line(text, markdown.QUIET)

    def finish_text(self) -> None:
        """What the model said so far is all of it: print it and take the tail away."""
        self._open += self._neutralizer.feed("".join(self._pieces)) + self._neutralizer.finish()
        self._pieces = []
        rest, self._open, self._drawn = self._open, "", ("", "")
        if self._console.is_terminal:
            self._tail.print(*self._pages(rest))
        elif self._midway or rest.strip():
            self._speak(rest.rstrip() + "\n")
            self._midway = False

    def close(self) -> None:
        """The turn is over, one way or another; an empty line ends it."""
        self._doing = ""
        self.finish_text()
        if self._above:
            self._tail.print("")
            self._above = ""

    def _line(self, text: str | Text, style: Style = markdown.NORMAL, mark: str = "") -> None:
        self.finish_text()
        if self._above == "text":
            self._tail.print("")
        self._above, self._said = "line", []
        room = max(10, self._console.width - len(mark))
        styled = markdown.styled(text, style) if isinstance(text, str) else text
        for at, line in enumerate(styled.wrap(self._console, room)):
            begins = Text(mark if at == 0 else " " * len(mark), style=styled.style)
            self._tail.print(begins + line)

    def _pages(self, text: str) -> list[RenderableType]:
        if not text.strip():
            return []
        page = markdown.Page(self.audit(text), first=not self._above)
        if not self._said:
            self._before_text = self._above
        self._above = "text"
        self._said.append(page)
        return [page]

    def _status(self, quiet: float) -> str:
        """What goes on, once it has gone on for a while; with the seconds it has taken."""
        if self.meter:
            return self.meter
        at = f": {self._at[0]}" if self._doing and len(self._at) == 1 else ""
        below = [f"\n  {line}" for line in self._at] if self._doing and not at else []
        if quiet < PATIENCE:
            return "".join([f"{self._doing}{at} ...", *below]) if self._doing else ""
        doing = f"{self._doing or self.busy}{at}, {int(quiet)} s (Ctrl-C stops it)"
        return "".join([doing, *below])

    def _below(self, text: str, status: str) -> RenderableType | None:
        parts: list[RenderableType] = []
        if text.strip():
            parts.append(self._growing(text))
        if status:
            parts.append(Text(neutralize_text(status), style=markdown.QUIET, no_wrap=True))
        return Group(*parts) if parts else None

    def _growing(self, text: str) -> RenderableType:
        if len(text) <= RENDERED:
            return markdown.Page(text, first=not self._above)
        room = self._console.height
        return Text("\n".join(text[-room * self._console.width :].splitlines()[-room:]))

    def _speak(self, text: str) -> None:
        """Without redrawing: as the model wrote it."""
        if not self._midway:
            text = "\n" * bool(self._above) + text.lstrip()
        self._midway, self._above = True, "text"
        self._console.file.write(text)
        self._console.file.flush()


def one_line(text: str) -> str:
    return " ".join(text.split())
