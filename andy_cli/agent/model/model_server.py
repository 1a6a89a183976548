"""The server of a model: what it tells of it, and whether it hands the model the tools it is sent.

Some servers accept tools and leave them out of the prompt. Three things tell: a call, which proves
that the model saw them; the tokens of the prompt as the server counts them, if those are no more
than the messages alone; and, where no count tells, replies that never call. After a few of these
one request is a trial: the tools are taught in the prompt. If that one calls, they always are.
What is found out is remembered through `ModelServer`.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from andy_cli.compiler.detect import NO_TEMPLATE, Template
from andy_cli.errors import ToolsRefusedError
from andy_cli.messages import NOTHING_LEARNED, Learned

SILENT = 3
"""Replies without a call before the first trial; from one trial to the next twice as many."""
MIN_COUNTED_TOKENS = 120
"""Tokens of messages from which one count is believed that comes near: it is no accident."""
NEAR_RATIO = 0.8, 1.3
"""The nearness, as parts of our estimate."""
DIFFERENT = 30
"""Tokens by which two shorter requests must differ before their counts are believed."""
OVERHEAD = 60
"""Tokens that a template may add to the messages of a request."""
LOW, HIGH = 0.6, 1.5
"""Bounds of a true number of tokens as parts of our estimate; for messages."""
MIN_TOOLS_SHARE = 0.35
"""The same lower bound for tools: a template may write them much shorter than JSON."""


class PromptTokens(NamedTuple):
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
            < min(upper_bound, lower_bound + MIN_TOOLS_SHARE * self.tools)
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
        self._short: PromptTokens | None = None

    @property
    def trial(self) -> bool:
        """True if the next request with tools is to teach them in its prompt."""
        return not self.sure and self.silent >= self._next_trial

    def note_reply(self, called: bool, prompt: PromptTokens) -> None:
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

    def _is_believed(self, prompt: PromptTokens) -> bool:
        """Tell whether the counts follow the messages; some servers always report the same."""
        lower_bound, upper_bound = (share * prompt.messages for share in NEAR_RATIO)
        if (
            prompt.messages >= MIN_COUNTED_TOKENS
            and lower_bound <= prompt.counted <= upper_bound + OVERHEAD
        ):
            return True
        earlier_prompt, self._short = self._short or prompt, prompt
        grown = abs(prompt.messages - earlier_prompt.messages)
        counted = (prompt.counted - earlier_prompt.counted) * (
            prompt.messages - earlier_prompt.messages
        )
        return grown >= DIFFERENT and LOW / HIGH * grown * grown <= counted


TAKES_NO_TOOLS = "its server says that it takes no tools"
IGNORES_TOOLS = "its server leaves out the tools that it is sent"


class ModelFacts(NamedTuple):
    """Facts that a server tells of a model."""

    template: Template = NO_TEMPLATE
    context: int | None = None
    """Tokens of prompt and reply together."""
    is_inside: bool = False
    """The model runs inside andy, where its client keeps to the context."""


async def ask_no_server() -> ModelFacts:
    """Return what is known of a model without a server."""
    return ModelFacts()


async def answer_nothing() -> bool | None:
    """Return what a server says of tools that says nothing."""
    return None


class ModelServer(NamedTuple):
    """A server of a model, as far as it matters here."""

    ask: Callable[[], Awaitable[ModelFacts]] = ask_no_server
    """Asks what it tells of the model: when that is needed, and not before."""
    takes_tools: Callable[[], Awaitable[bool | None]] = answer_nothing
    """Asks whether it says that the model takes tools; None where it does not say."""
    learned: Learned = NOTHING_LEARNED
    """The memory of the model there."""
    believed: bool = True
    """It need not be asked whether it takes tools."""
    refused: Callable[[str, str], object] = lambda instead, why: None
    """To be told that it takes no tools, and which dialect is used instead and why."""
    called: Callable[[], object] = lambda: None
    """To be told that the model has called a tool natively."""
    silent: Callable[[int], object] = lambda replies: None
    """To be told how many replies in a row called nothing, while it is not known why."""


NO_SERVER = ModelServer()


class NativeTools:
    """Knows whether one model is sent tools, as far as that is known by now."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._observed = ObservedTools(server.learned.silent)
        self._asked = server.believed or server.learned.native is not None
        self._sure = server.learned.native is True
        self._trial = self._paused = False
        self._taken = True

    @property
    def sent(self) -> bool:
        """The model is sent tools: its server takes them, and no trial teaches them."""
        return self._taken and not (self._trial or self._paused)

    def refuse(self) -> None:
        """Note that its server takes none, or leaves them out."""
        self._taken = False

    async def ask_server(self) -> str:
        """Ask its server, once; returns why it is not sent tools from now on, or nothing."""
        if self._asked or not self._taken:
            return ""
        self._asked = True
        self._taken = await self._server.takes_tools() is not False
        return "" if self._taken else TAKES_NO_TOOLS

    def note_reply(self, called: bool, prompt: PromptTokens) -> None:
        """Note a complete reply to a request with tools. Raises ModelError if they were left out
        of it."""
        if self._sure:
            return
        if called:
            self._sure = True
            self._server.called()
        self._observed.note_reply(called, prompt)
        if self._observed.ignored:
            raise ToolsRefusedError("The server did not show the model the tools it was sent.")
        if not self._observed.sure:
            self._server.silent(self._observed.silent)

    def pause(self) -> None:
        """Send none for the rest of the turn."""
        self._paused = True

    def begin_turn(self) -> bool:
        """Begin a trial if one is due; returns whether it is."""
        self._trial = self._taken and not self._sure and self._observed.trial
        return self._trial

    def end_turn(self, called: bool) -> str:
        """End a trial; returns why the model is not sent tools from now on, or nothing."""
        self._paused = False
        if not self._trial:
            return ""
        self._trial = False
        self._observed.note_trial(called)
        self._taken = not called
        self._server.silent(self._observed.silent)
        return IGNORES_TOOLS if called else ""
