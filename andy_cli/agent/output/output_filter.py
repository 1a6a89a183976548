"""Show a reply as it arrives, or only once it is whole."""

from andy_cli import events
from andy_cli.compiler.compiler import Visible
from andy_cli.events import Event


class OutputFilter:
    """Turns what the compiler lets through into events. Build a new one for each reply.

    `held`: no text is shown before it is known whether the reply keeps to its protocol.
    """

    def __init__(self, held: bool = False) -> None:
        self._parts: list[str] = []
        self._held = held

    @property
    def text(self) -> str:
        """All that was shown, or may be."""
        return "".join(self._parts)

    def take(self, visible: Visible) -> list[Event]:
        """Take the next piece as the compiler gives it."""
        shown_events: list[Event] = []
        if visible.retracted:  # what is on the screen stays there; the answer is a new paragraph
            self._parts = []
            shown_events += self._say("\n\n")
        if visible.reasoning:
            shown_events.append(events.Reasoned(visible.reasoning))
        if visible.text:
            self._parts.append(visible.text)
            shown_events += self._say(visible.text)
        return shown_events

    def _say(self, text: str) -> list[Event]:
        return [] if self._held else [events.Said("assistant", text, delta=True)]

    def release(self) -> list[Event]:
        """Show what was held after all."""
        held, self._held = self._held, False
        return [events.Said("assistant", self.text, delta=True)] if held and self.text else []
