"""The server of a model: what it tells of it, and whether the model is sent tools natively.

Many servers are believed only so far: `models/server/observed_tools.py` says what shows that one
leaves tools out. What is found out is remembered through `Server`.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from andy_cli.compiler.detect import NO_TEMPLATE, Template
from andy_cli.errors import ToolsRefusedError
from andy_cli.messages import NOTHING_LEARNED, Learned
from andy_cli.models.server.observed_tools import ObservedTools, Prompt

TOLD = "its server says that it takes no tools"
IGNORED = "its server leaves out the tools that it is sent"


class ModelFacts(NamedTuple):
    """Facts that a server tells of a model."""

    template: Template = NO_TEMPLATE
    context: int | None = None
    """Tokens of prompt and reply together."""


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
        return "" if self._taken else TOLD

    def note_reply(self, called: bool, prompt: Prompt) -> None:
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
        return IGNORED if called else ""
