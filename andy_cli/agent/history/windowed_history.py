"""Keep what a model is told of the history within its window (C30).

The history itself stays whole. What is told of it is shortened well below the window at once, and
only then: so the requests in between begin with the same words, which servers have in their cache,
and a turn costs no more after a thousand others.
"""

from collections.abc import Collection, Sequence

from andy_cli.agent.history.compaction import is_summary
from andy_cli.agent.history.compression import CompressedHistory, compress_history, estimate_message
from andy_cli.messages import Message

GOAL = 0.7
"""Part of the window that is filled once something has to be shortened."""


class WindowedHistory:
    """The told part of a history that grows: its beginning shortened, then the rest as it is."""

    def __init__(self) -> None:
        self._history: list[Message] = []
        self._compacted: list[Message] = []
        self._stands_for = 0
        """So many messages of the history are told as `_compacted`, whatever the model."""
        self.reset()

    def reset(self) -> None:
        """Tell everything again: another model has another window."""
        self._shortened = [*self._compacted]
        self._covered = self._stands_for
        """So many messages of the history stand in `_shortened`."""
        self._counted = self._stands_for
        self._tokens = sum(map(estimate_message, self._compacted))

    def list_messages(self, history: list[Message]) -> list[Message]:
        """List what is told, oldest first."""
        self._follow(history)
        return [*self._shortened, *history[self._covered :]]

    def count_tokens(self, history: list[Message]) -> int:
        """Estimate the tokens of what is told. A message is counted once."""
        self._follow(history)
        self._tokens += sum(map(estimate_message, history[self._counted :]))
        self._counted = len(history)
        return self._tokens

    def compact(self, history: list[Message], stands_for: int, messages: Sequence[Message]) -> None:
        """Tell these from now on in place of the first messages of the history."""
        self._history = history
        self._compacted, self._stands_for = [*messages], stands_for
        self.reset()

    def list_results(self, history: list[Message]) -> list[str]:
        """List what tools returned, as far as it is told or was summed up in what is told."""
        messages = self.list_messages(history)
        known_messages = (*history[: self._stands_for], *messages)
        return [message.content for message in known_messages if message.role == "tool"]

    def shorten(
        self, history: list[Message], window: int, fixed: int, failed: Collection[str]
    ) -> CompressedHistory:
        """Shorten what is told to GOAL of what `window` tokens leave beside `fixed` ones."""
        messages = self.list_messages(history)
        compressed = compress_history(
            messages,
            window,
            fixed,
            decisions=[
                position for position, message in enumerate(messages) if is_summary(message)
            ],
            failed=failed,
            goal_share=GOAL,
            leave_out=True,
        )
        self._shortened = list(compressed.history)
        self._covered = self._counted = len(history)
        self._tokens = compressed.after
        return compressed

    def _follow(self, history: list[Message]) -> None:
        """Begin anew with another history, or one from which something was taken back."""
        if history is not self._history or len(history) < self._stands_for:
            self._compacted, self._stands_for = [], 0
        if history is not self._history or len(history) < self._counted:
            self._history = history
            self.reset()
