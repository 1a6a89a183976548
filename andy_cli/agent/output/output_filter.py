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
        """The next piece as the compiler gives it."""
        found: list[Event] = []
        if visible.retracted:  # what is on the screen stays there; the answer is a new paragraph
            self._parts = []
            found += [] if self._held else [events.Said("assistant", "\n\n", delta=True)]
        if visible.reasoning:
            found.append(events.Reasoned(visible.reasoning))
        if visible.text:
            self._parts.append(visible.text)
            found += [] if self._held else [events.Said("assistant", visible.text, delta=True)]
        return found

    def release(self) -> list[Event]:
        """What was held may be shown after all."""
        held, self._held = self._held, False
        return [events.Said("assistant", self.text, delta=True)] if held and self.text else []
