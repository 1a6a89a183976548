"""Evidence, from its replies, of whether a server hands its model the tools that it is sent.

Some servers accept tools and leave them out of the prompt. Three things tell: a call, which proves
that the model saw them; the tokens of the prompt as the server counts them, if those are no more
than the messages alone; and, where no count tells, replies that never call. After a few of these
one request is a trial: the tools are taught in the prompt. If that one calls, they always are.
"""

from typing import NamedTuple

SILENT = 3
"""Replies without a call before the first trial; from one trial to the next twice as many."""
ENOUGH = 120
"""Tokens of messages from which one count is believed that comes near: it is no accident."""
NEAR = 0.8, 1.3
"""The nearness, as parts of our estimate."""
DIFFERENT = 30
"""Tokens by which two shorter requests must differ before their counts are believed."""
OVERHEAD = 60
"""Tokens that a template may add to the messages of a request."""
LOW, HIGH = 0.6, 1.5
"""Bounds of a true number of tokens as parts of our estimate; for messages."""
SHORTEST_TOOLS = 0.35
"""The same lower bound for tools: a template may write them much shorter than JSON."""


class Prompt(NamedTuple):
    """Tokens of one request: estimated for its messages and its tools, and as its server counts
    them together (0: it does not say)."""

    messages: int
    tools: int
    counted: int

    @property
    def without_tools(self) -> bool:
        """The count is that of the messages, and too low for messages and tools."""
        lower_bound = LOW * self.messages
        upper_bound = HIGH * self.messages + OVERHEAD
        return (
            lower_bound
            <= self.counted
            < min(upper_bound, lower_bound + SHORTEST_TOOLS * self.tools)
        )

    @property
    def with_tools(self) -> bool:
        """The count is too high for the messages alone."""
        return self.counted > HIGH * self.messages + OVERHEAD


class ObservedTools:
    """The evidence of one model's replies; `sure` once it is known that it sees its tools."""

    def __init__(self, silent: int = 0) -> None:
        self.sure = False
        self.ignored = False
        """The server leaves the tools out."""
        self.silent = silent
        """Replies in a row that called nothing."""
        self._next_trial = SILENT
        self._short: Prompt | None = None

    @property
    def trial(self) -> bool:
        """True if the next request with tools is to teach them in its prompt."""
        return not self.sure and self.silent >= self._next_trial

    def note_reply(self, called: bool, prompt: Prompt) -> None:
        """Note a complete reply to a request that offered tools natively."""
        if called or prompt.with_tools:
            self.sure, self.ignored = True, False
        elif not self.sure:
            self.silent += 1
            self.ignored = self.ignored or (prompt.without_tools and self._is_believed(prompt))

    def note_trial(self, called: bool) -> None:
        """Note how a model replied that was taught its tools in the prompt for once."""
        self.silent = 0
        self._next_trial *= 2
        self.ignored = self.ignored or called

    def _is_believed(self, prompt: Prompt) -> bool:
        """Tell whether the counts follow the messages; some servers always report the same."""
        lower_bound, upper_bound = (share * prompt.messages for share in NEAR)
        if prompt.messages >= ENOUGH and lower_bound <= prompt.counted <= upper_bound + OVERHEAD:
            return True
        earlier_prompt, self._short = self._short or prompt, prompt
        grown = abs(prompt.messages - earlier_prompt.messages)
        counted = (prompt.counted - earlier_prompt.counted) * (
            prompt.messages - earlier_prompt.messages
        )
        return grown >= DIFFERENT and LOW / HIGH * grown * grown <= counted
