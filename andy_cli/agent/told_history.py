"""Keep what a model is told of the history within its window (C30).

The history itself stays whole. What is told of it is shortened well below the window at once, and
only then: so the requests in between begin with the same words, which servers have in their cache,
and a turn costs no more after a thousand others.
"""

from collections.abc import Collection

from andy_cli.agent.compression import Compressed, compressed, size
from andy_cli.messages import Message

GOAL = 0.7
"""Part of the window that is filled once something has to be shortened."""


class ToldHistory:
    """What is told of one history that grows: its beginning shortened, then the rest as it is."""

    def __init__(self) -> None:
        self._history: list[Message] = []
        self.reset()

    def reset(self) -> None:
        """Tell everything again: another model has another window."""
        self._shortened: list[Message] = []
        self._covered = 0
        """How many messages of the history stand in `_shortened`."""
        self._counted = self._tokens = 0

    def messages(self, history: list[Message]) -> list[Message]:
        """What is told, oldest first."""
        self._follow(history)
        return [*self._shortened, *history[self._covered :]]

    def tokens(self, history: list[Message]) -> int:
        """Estimated tokens of what is told. Each message is counted once."""
        self._follow(history)
        self._tokens += sum(map(size, history[self._counted :]))
        self._counted = len(history)
        return self._tokens

    def shorten(
        self, history: list[Message], window: int, fixed: int, failed: Collection[str]
    ) -> Compressed:
        """Shorten what is told to GOAL of what `window` tokens leave beside `fixed` ones."""
        done = compressed(
            self.messages(history), window, fixed, failed=failed, goal=GOAL, leave_out=True
        )
        self._shortened = list(done.history)
        self._covered = self._counted = len(history)
        self._tokens = done.after
        return done

    def _follow(self, history: list[Message]) -> None:
        """Begin anew with another history, or one from which something was taken back."""
        if history is not self._history or len(history) < self._counted:
            self._history = history
            self.reset()
