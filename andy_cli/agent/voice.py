"""What of a reply is shown, as it arrives: without plumbing, and perhaps only once it is whole."""

from andy_cli import events
from andy_cli.agent.sanitizer import Sanitizer
from andy_cli.compiler.compiler import Visible
from andy_cli.events import Event


class Voice:
    """`held`: no text is shown before it is known whether the reply keeps to its protocol."""

    def __init__(self, sanitizer: Sanitizer, held: bool = False) -> None:
        self._sanitizer = sanitizer
        self._parts: list[str] = []
        self._held = held

    @property
    def said(self) -> str:
        """All that was shown, or may be."""
        return "".join(self._parts)

    def hear(self, visible: Visible) -> list[Event]:
        found: list[Event] = []
        if visible.reasoning:
            found.append(events.Reasoned(visible.reasoning))
        if visible.text:
            found += self._shown(self._sanitizer.feed(visible.text))
        return found

    def end(self) -> list[Event]:
        """The reply is complete."""
        return self._shown(self._sanitizer.finish())

    def let_go(self) -> list[Event]:
        """What was held may be shown after all."""
        held, self._held = self._held, False
        return [events.Said("assistant", self.said, delta=True)] if held and self.said else []

    def _shown(self, text: str) -> list[Event]:
        if not text:
            return []
        self._parts.append(text)
        return [] if self._held else [events.Said("assistant", text, delta=True)]
