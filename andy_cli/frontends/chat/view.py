"""Events -> terminal. Output is appended and never drawn again; only an open block is live.

A finished block of markdown is printed once, rendered. What is still being written stands below
it as plain text, redrawn at most 15 times a second: rendering the whole answer at each step would
cost the square of its length.
"""

import time

from markdown_it import MarkdownIt
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from andy_cli import events
from andy_cli.events import Event
from andy_cli.frontends import paint
from andy_cli.frontends.words import action_line, problem
from andy_cli.guard.neutralizer import neutralize

REFRESH = 1 / 15
"""Seconds between two drawings of the open block."""


class View:
    """Shows one turn. `show` every event, then `close`, also after a cancellation."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = ""
        self._scanned = 0
        self._reader = MarkdownIt("commonmark").enable("table")
        self._live: Live | None = None
        self._drawn = 0.0
        self._doing = ""

    def show(self, event: Event) -> None:
        match event:
            case events.Said(role="assistant", content=content):
                self._add(neutralize(content))
            case events.Reasoned() if not self._open:
                self._status("thinking ...")
            case events.ToolUsed(action=action) if action:
                self._finish_text()
                self._status(f"{neutralize(action)} ...")
            case events.ToolAnswered() if event.did:
                self._finish_text()
                self._print(paint.styled(f"• {action_line(event)}", paint.ACTION))
            case events.Failed(severity=severity, message=message, hint=hint):
                self._finish_text()
                style = paint.ERROR if severity == "error" else paint.WARNING
                self._print(paint.styled(problem(message, hint), style))
            case events.Audited(unsupported=names) if names:
                self._finish_text()
                words = f"Nothing that was found supports: {', '.join(names)}"
                self._print(paint.styled(words, paint.WARNING))
            case events.Ended():
                self._finish_text()

    def waiting(self, text: str) -> None:
        """Something is going on and nothing can be shown of it yet."""
        if not self._open:
            self._status(text)

    def close(self) -> None:
        self._finish_text()
        self._stop()

    def _add(self, text: str) -> None:
        self._doing = ""
        self._open += text
        # Only a blank line can have ended a block, so nothing is parsed before there is one.
        if "\n\n" in self._open[max(0, self._scanned - 1) :]:
            self._commit()
        self._scanned = len(self._open)
        self._draw()

    def _commit(self) -> None:
        """Print the blocks that are finished: all before the last one that has begun."""
        starts = [
            token.map[0]
            for token in self._reader.parse(self._open)
            if token.level == 0 and token.map and token.nesting >= 0
        ]
        if len(starts) < 2 or not starts[-1]:
            return
        lines = self._open.splitlines(keepends=True)
        finished, self._open = "".join(lines[: starts[-1]]), "".join(lines[starts[-1] :])
        self._print(Markdown(finished.strip("\n")))

    def _finish_text(self) -> None:
        rest, self._open, self._scanned, self._doing = self._open.strip(), "", 0, ""
        if rest:
            self._print(Markdown(rest))

    def _print(self, what: Markdown | Text) -> None:
        self._stop()
        self._console.print(what)

    def _status(self, text: str) -> None:
        self._doing = text
        self._draw(at_once=True)

    def _draw(self, at_once: bool = False) -> None:
        now = time.monotonic()
        if not self._console.is_terminal or (now - self._drawn < REFRESH and not at_once):
            return
        self._drawn = now
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._tail(), refresh=True)

    def _tail(self) -> Text:
        if self._doing:
            return Text(self._doing, style=paint.QUIET)
        room = max(3, self._console.height - 4)
        return Text("\n".join(self._open[-room * self._console.width :].splitlines()[-room:]))

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
