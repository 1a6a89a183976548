"""Split the reasoning at the start of a reply from what follows it, which is left as it is.

For engines that read reasoning before calls: what follows goes to the compiler.
"""

from typing import NamedTuple

from andy_cli.compiler.control_tokens import CLOSERS, REASONING, WORDY

OPENERS = tuple(opener for opener in REASONING if opener not in WORDY)
"""Markers that are plain words are left out: an answer may begin with them."""


class SplitDelta(NamedTuple):
    reasoning: str = ""
    content: str = ""


class ReasoningSplitter:
    """Splits one reply, cut anywhere."""

    def __init__(self, opener: str = "") -> None:
        """`opener`: the prompt ended after it, so the reply begins as reasoning."""
        self._held = ""
        self._closers = REASONING.get(opener, ())
        self.ended = False
        """The reasoning is over, or there was none: the rest is content."""

    def feed(self, text: str) -> SplitDelta:
        self._held += text
        if not self.ended and not self._closers:
            self._open()
        if self.ended:
            content, self._held = self._held, ""
            return SplitDelta(content=content)
        return self._split() if self._closers else SplitDelta()

    def finish(self) -> SplitDelta:
        """End the reply; returns what was held back."""
        held_text, self._held = self._held, ""
        return SplitDelta(reasoning=held_text) if self._closers else SplitDelta(content=held_text)

    def _open(self) -> None:
        start = self._held.lstrip()
        for opener in OPENERS:
            if start.startswith(opener):
                self._closers = REASONING[opener]
                self._held = start.removeprefix(opener)
                return
        self.ended = not any(opener.startswith(start) for opener in OPENERS)

    def _split(self) -> SplitDelta:
        found_closers = [(self._held.find(closer), closer) for closer in self._closers]
        found_closers = [found for found in found_closers if found[0] >= 0]
        if found_closers:
            position, closer = min(found_closers)
            reasoning, content = self._held[:position], self._held[position + len(closer) :]
            self._held, self._closers, self.ended = "", (), True
            return SplitDelta(reasoning, content)
        begun = max(count_begun(self._held, closer) for closer in self._closers)
        sure_length = len(self._held) - begun
        reasoning, self._held = self._held[:sure_length], self._held[sure_length:]
        return SplitDelta(reasoning)


def count_begun(text: str, marker: str) -> int:
    """Count the characters at the end of a text that may be the beginning of a marker."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(marker[:size])), 0)


def find_opener(prompt: str) -> str:
    """The opener that a prompt ends with; empty if it ends with none."""
    end = prompt.rstrip()
    return next((opener for opener in OPENERS if end.endswith(opener)), "")


def split_reasoning(text: str, opener: str = "") -> SplitDelta:
    """Split a whole reply."""
    splitter = ReasoningSplitter(opener)
    first_delta, last_delta = splitter.feed(text), splitter.finish()
    return SplitDelta(
        first_delta.reasoning + last_delta.reasoning, first_delta.content + last_delta.content
    )


__all__ = [
    "CLOSERS",
    "OPENERS",
    "ReasoningSplitter",
    "SplitDelta",
    "find_opener",
    "split_reasoning",
]
