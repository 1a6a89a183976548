"""The state of a chat: its options, and the conversation once it is open."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple, cast

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.history import USER_RAN
from andy_cli.compiler.detect import parse_billions
from andy_cli.errors import UsageError
from andy_cli.fenced_text import fence_text
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.session_choice import (
    find_last_answer,
    offer_sessions,
    open_session,
    summarize_session,
)
from andy_cli.frontends.session_factory import OpenConversation, fetch_weights, open_chat
from andy_cli.guard.addresses import is_loopback_url, show_url
from andy_cli.guard.gate import AskApproval, Mode
from andy_cli.models import select
from andy_cli.models.memory import recall_model
from andy_cli.models.select import FIRST_RUN, Chosen, NoModelError, RemoteServerError
from andy_cli.sessions.store import ResumedSession, SessionCard


class CommandOutput(NamedTuple):
    """A command that the user typed, and what it printed."""

    command: str
    text: str
    """With the command before it, bounded, without secrets."""


MODES = {
    "ask": "andy looks at what is in the folder freely, and asks before all else",
    "plan": "andy looks and plans, and changes nothing",
    "edits": "andy also changes files in the folder without asking",
    "auto": "andy asks nothing and does all but what destroys",
}
CYCLED = [name for name in MODES if name != "auto"]


def shorten_count(number: int) -> str:
    """`950`, `12.3k`, `1.2M`."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if number >= unit:
            return f"{number / unit:.1f}{name}"
    return str(number)


def is_on_disk(chosen: Chosen) -> bool:
    """Find out that nothing has to be fetched for a model."""
    if chosen.provider.name != "local":
        return True
    from andy_cli.models.inside import weights  # only where a model runs inside andy

    return weights.find(chosen.endpoint.model) is not None


SMALL_BILLIONS = 4.0
"""Parameters below which many models choose tools badly."""
UNPROBED = (
    "{name} is small and was never tried out. In some minutes this finds out what it does well:\n"
    "andy models probe {name} --base-url {url}"
)


def suggest_probe(chosen: Chosen) -> str:
    """Suggest to try a small model of the user's own server out; nothing where it was."""
    endpoint = chosen.endpoint
    size = parse_billions(endpoint.model)
    is_small = size is not None and size < SMALL_BILLIONS and is_loopback_url(endpoint.base_url)
    was_probed = recall_model(endpoint).trusted is not None
    if not is_small or was_probed:
        return ""
    return UNPROBED.format(name=endpoint.model, url=show_url(endpoint.base_url))


class ChatSession:
    """Opens the conversation when it is first needed, or for the greeting; nothing is kept of it
    before the user has said something."""

    def __init__(
        self, options: Options, tell_user: Callable[[str], None], ask_approval: AskApproval
    ) -> None:
        self.options = options
        """The way in which the next conversation is opened; /model changes it."""
        self.first_options = options
        """The options of the start: the server they name can be gone back to."""
        self.tell = tell_user
        self.greet: Callable[[OpenConversation], object] = lambda conversation: None
        """Called when the first conversation is open, before anything is told of it."""
        self.fetch_weights: Callable[[str], Awaitable[None]] = fetch_weights
        """Gets the weights of a model that runs inside andy."""
        self.pick_model: Callable[[], Awaitable[Options]] | None = None
        """Lets the user choose where there is no model; raises UsageError. None: nobody can."""
        self.is_over = False
        """Set by /exit."""
        self.listed_models: list[tuple[str, str]] = []
        """Models as they were listed last, and the address of each; empty for a provider's own."""
        self.opened: OpenConversation | None = None
        self.resumed: ResumedSession | None = None
        """The session that the next conversation goes on with."""
        self.offered_sessions: list[SessionCard] = []
        """The list of sessions that was shown last: numbers are of this one."""
        self.command_outputs: list[CommandOutput] = []
        """Commands that the user typed, which the model is told of with the next message."""
        self._ask_approval = ask_approval
        self._opening = asyncio.Lock()
        self._held_back: list[str] | None = None
        """Notes that come while a conversation is opened."""
        self._fullness = ""
        """The filled part of the window, for the status line; empty before the first answer."""
        self._last_model = ""
        """The model of the conversation that was closed last."""

    def describe_status(self, music: str) -> str:
        """The model, its dialect once known, and the mode; loudly, where nothing is asked.

        Then the music, and after the first answer how full the window is and how many tokens were
        used: what matters least comes last, as a narrow screen shows the beginning.
        """
        shown_mode = self.mode.upper() if self.mode == "auto" else self.mode
        playing = [music] if music else []
        if self.opened is None:
            expected_model = self._last_model or self.options.model or "andy"
            return " - ".join([expected_model, shown_mode, *playing])
        conversation = self.opened.chat
        status_parts = [conversation.client.name, conversation.dialect.name, shown_mode, *playing]
        if self._fullness:
            status_parts.append(self._fullness)
        if any(conversation.model.usage):
            status_parts.append(f"{shorten_count(conversation.model.usage.total)} tokens")
        return " - ".join(status_parts)

    async def measure_window(self) -> None:
        """Find out how full the window is, for the status line, which says so if it is assumed."""
        if self.opened is None:
            return
        budget = self.opened.chat.budget
        self._fullness = f"context {await budget.measure_fullness():.0%}"
        if budget.is_assumed:
            self._fullness += f" of {await budget.describe_window()}"

    @property
    def mode(self) -> str:
        if self.opened is not None:
            return self.opened.chat.gate.mode
        return self.options.settings().text("guard.mode")

    def set_mode(self, mode: str) -> None:
        """From now on, and also after /clear; `mode` is one of MODES."""
        self.options = replace(self.options, mode=mode, yes=False, mode_origin="/mode")
        if self.opened is not None:
            self.opened.chat.gate.mode = cast(Mode, mode)

    def cycle_mode(self) -> None:
        """Go on to the next mode; never to `auto`, which nobody should meet by a slip."""
        next_index = CYCLED.index(self.mode) + 1 if self.mode in CYCLED else 0
        self.set_mode(CYCLED[next_index % len(CYCLED)])

    async def open_conversation(self, early: bool = False) -> OpenConversation:
        """Open the conversation, if it is not open yet.

        Raises what `open_chat` raises; the next call tries again.

        `early`, before the user has said something, no server elsewhere and no user is asked for
        anything; raises `RemoteServerError` or `NoModelError` where that is not enough.
        """
        async with self._opening:
            if self.opened is None:
                self._held_back = []
                try:
                    self.opened = await self._create_conversation(early)
                    greet, self.greet = self.greet, lambda conversation: None
                    greet(self.opened)
                finally:
                    sentences, self._held_back = self._held_back, None
                    for sentence in sentences:
                        self.tell(sentence)
        return self.opened

    async def _create_conversation(self, early: bool) -> OpenConversation:
        options_before = self.options
        try:
            chosen = await self._choose_model(early)
            if not is_on_disk(chosen):
                if early:
                    raise RemoteServerError(f"{chosen.endpoint.model} was not fetched.")
                await self.fetch_weights(chosen.endpoint.model)
            settings = self.options.settings()
            conversation = await open_chat(
                self.options, settings, self._tell_or_hold, self._ask_approval, self.resumed, chosen
            )
            if hint := suggest_probe(chosen):
                self._tell_or_hold(hint)
        except BaseException:
            # Also after Ctrl-C: what was chosen and cannot be had is chosen anew.
            self.options = replace(
                self.options,
                model=options_before.model,
                base_url=options_before.base_url,
                api_key_env=options_before.api_key_env,
            )
            raise
        self.resumed = None
        return conversation

    async def _choose_model(self, early: bool) -> Chosen:
        """The model that the options mean, or that the user chooses where there is none.

        A model inside andy that is not here yet is none that the user would expect to be fetched.
        """
        settings = self.options.settings()
        try:
            chosen = await select.choose_model(settings, loopback_only=early)
            if self.pick_model is None or settings.text("model") or is_on_disk(chosen):
                return chosen
            raise NoModelError(FIRST_RUN)
        except NoModelError:
            if early or self.pick_model is None:
                raise
        self.options = await self.pick_model()
        return replace(await select.choose_model(self.options.settings()), why="you chose it")

    def _tell_or_hold(self, sentence: str) -> None:
        if self._held_back is None:
            self.tell(sentence)
        else:
            self._held_back.append(sentence)

    @property
    def session_id(self) -> str:
        """Of the session that is written to; empty before anything was said."""
        if self.resumed is not None:
            return self.resumed.card.id
        return self.opened.chat.session_id if self.opened is not None else ""

    @property
    def is_kept(self) -> bool:
        """True if there is a session on disk that can be resumed."""
        if self.opened is None:
            return self.resumed is not None
        return self.opened.log is not None and self.opened.log.path.exists()

    @property
    def last_answer(self) -> str:
        """The last answer, be it of the session that is gone on with; empty where there is none."""
        if self.opened is None:
            answer = find_last_answer(self.resumed.messages if self.resumed else ())
        elif (account := self.opened.chat.provenance) and account.answer:
            return account.answer
        else:
            answer = find_last_answer(self.opened.chat.history.messages)
        return answer.content if answer else ""

    def offer_others(self) -> list[SessionCard]:
        self.offered_sessions = offer_sessions(without=self.session_id)
        return self.offered_sessions

    async def resume_session(self, session_card: SessionCard) -> str:
        """Go on with a session; returns what the user is told of it. Raises UsageError.

        The conversation so far is left only when the other could be opened.
        """
        if self.options.no_session:
            raise UsageError("With --no-session nothing is gone on with.", "Start andy without it.")
        if session_card.id == self.session_id:
            raise UsageError(f"{session_card.id} is this conversation.")
        resumed = open_session(session_card)
        await self.close()
        self.resumed = resumed
        return summarize_session(resumed)

    def take_printed(self, conversation: Conversation) -> str:
        """Return what typed commands printed, to stand after the user's next words; once."""
        printed, self.command_outputs = self.command_outputs, []
        if printed and conversation.client.guided:
            # As of attached files: it takes each word of a message for what is wanted.
            self.tell("This model is not told what commands printed: it is too small for it.")
            return ""
        for output in printed:
            conversation.history.note_typed_command(output.command)
        return "".join(f"{USER_RAN}{fence_text(output.text)}" for output in printed)

    async def close(self) -> None:
        self.command_outputs = []
        if self.resumed is not None:
            self.resumed.log.close()
            self.resumed = None
        self._fullness = ""
        if self.opened is not None:
            self._last_model = self.opened.chat.client.name
            await self.opened.close()
            self.opened = None
