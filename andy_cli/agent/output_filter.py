"""Show a reply as it arrives: without talk of tools, and perhaps only once it is whole."""

from andy_cli import events
from andy_cli.agent.tool_mentions.mention_filter import MentionFilter
from andy_cli.compiler.compiler import Visible
from andy_cli.events import Event


class OutputFilter:
    """Turns what the compiler lets through into events. Build a new one for each reply.

    `held`: no text is shown before it is known whether the reply keeps to its protocol.
    """

    def __init__(self, tools: tuple[str, ...], asked_about_tools: bool, held: bool = False) -> None:
        self._tools, self._asked = tools, asked_about_tools
        self._mentions = self._new_filter()
        self._parts: list[str] = []
        self._held = held

    def _new_filter(self) -> MentionFilter | None:
        return None if self._asked else MentionFilter(self._tools)

    @property
    def text(self) -> str:
        """All that was shown, or may be."""
        return "".join(self._parts)

    def take(self, visible: Visible) -> list[Event]:
        """The next piece as the compiler gives it."""
        found: list[Event] = []
        if visible.retracted:  # what is on the screen stays there; the answer is a new paragraph
            self._parts, self._mentions = [], self._new_filter()
            found += [] if self._held else [events.Said("assistant", "\n\n", delta=True)]
        if visible.reasoning:
            found.append(events.Reasoned(visible.reasoning))
        if visible.text:
            text = visible.text
            found += self._shown(self._mentions.feed(text) if self._mentions else text)
        return found

    def finish(self) -> list[Event]:
        """The reply is complete."""
        return self._shown(self._mentions.finish() if self._mentions else "")

    def release(self) -> list[Event]:
        """What was held may be shown after all."""
        held, self._held = self._held, False
        return [events.Said("assistant", self.text, delta=True)] if held and self.text else []

    def _shown(self, text: str) -> list[Event]:
        if not text:
            return []
        self._parts.append(text)
        return [] if self._held else [events.Said("assistant", text, delta=True)]
