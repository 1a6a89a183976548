"""The request to the model: rendered from the history, and kept within the model's window (C30)."""

from collections.abc import AsyncIterator, Collection, Sequence
from functools import partial
from pathlib import Path

from andy_cli import events
from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.calls.tool_runner import ToolRunner
from andy_cli.agent.history.compression import CompressedHistory, truncate_result
from andy_cli.agent.history.history import History, read_bare_words, render_history
from andy_cli.agent.model.model_session import ModelSession
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.prompt.shortlist import DESCRIBE, TOOLS_SHARE, make_describer, shorten_tools
from andy_cli.agent.prompt.trust import find_absent_untrusted, mark_untrusted_choices
from andy_cli.compiler.dialect import Tools
from andy_cli.errors import ModelError
from andy_cli.messages import Constraint, Message, Request, Sampling, TurnContext, Wire
from andy_cli.models.token_count import REPLY_TOKENS, reserve_for_reply
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

DEFAULT_WINDOW = 64_000
"""Tokens of a window of which nothing is known."""
SMALL_HISTORY = 3_000
"""Tokens of a history that fit into every window."""
SMALL_RESULT = 12_000
"""Characters of a result that fit into every window."""
RESULT_SHARE = 4
"""A result takes one part in so many of the window."""
INSTRUCTIONS_SHARE = 4
"""So do the files with instructions together."""
FILES_CUT = (
    "The model is told only the beginning of {names}: instructions may take a quarter of its "
    "window. Shorten them, or choose a model with a longer context."
)

TOO_LONG = ("context", "too_large")
NARROWED_SHARE = 0.75
"""Part of what was sent that is taken for the window of a server which found it too long."""


class WindowBudget:
    """The size of the model's window, and how much of it is used."""

    def __init__(
        self, settings: Settings, registry: Registry, model: ModelSession, history: History
    ) -> None:
        self._settings, self._registry = settings, registry
        self._model, self._history = model, history
        self._describer: Tool | None = None
        """The tool that looks up those that the model is shown by name alone."""
        self._looked_up: set[str] = set()
        self._window = 0
        self.is_assumed = False
        """Nothing is known of the window: neither a setting nor the server tells it."""
        self.own_context = 0
        """Tokens that a model inside andy reads at most where it writes by itself; 0 for others."""
        self._narrowed_at = 0
        """The length of the history when it was last told with less."""
        self._warning = ""

    def reset(self) -> None:
        """Begin anew for another model: it has another window."""
        self._window = 0
        self._describer = None
        self._looked_up.clear()
        self._history.told.reset()

    async def find_window(self) -> int:
        """Find the tokens of prompt and reply together: as set, as the server says, or a guess."""
        if not self._window:
            server_facts = await self._model.server.ask()
            known_context = server_facts.context or 0
            # What chooses each step for such a model reads more than the model itself could.
            is_chosen_inside = server_facts.is_inside and self._model.client.guided
            self.own_context = known_context if is_chosen_inside else 0
            known_window = self._settings.whole("limits.context") or (
                0 if is_chosen_inside else known_context
            )
            self._window = known_window or DEFAULT_WINDOW
            self.is_assumed = not (known_window or is_chosen_inside)
        return self._window

    async def measure_fullness(self) -> float:
        """Estimate how much of the window the next request fills: 0.31."""
        return self.estimate() / await self.find_window()

    async def describe_window(self) -> str:
        """Describe the size of the window: `8,192`, or `64,000 assumed`."""
        window = await self.find_window()
        return f"{window:,} assumed" if self.is_assumed else f"{window:,}"

    def estimate(self) -> int:
        """Estimate the tokens of all that is sent."""
        return self._model.profile.fixed + self._history.told.count_tokens()

    async def make_room(self, failed_calls: Collection[str]) -> AsyncIterator[events.Event]:
        """Shorten what is told of a history that has outgrown the model's window (C30)."""
        self._history.failed_calls |= set(failed_calls)
        if cut_files := await self._fit_instructions():
            yield events.Failed(
                "warning", "context", FILES_CUT.format(names=" and ".join(cut_files))
            )
        await self._fit_tools()
        if self.estimate() < SMALL_HISTORY:
            return
        if self.estimate() + reserve_for_reply(await self.find_window()) > self._window:
            shortened = self._shorten()
            if shortened.after < shortened.before:
                yield events.Compressed(
                    shortened.before, shortened.after, shortened.cut_texts, shortened.left_out
                )

    async def _fit_instructions(self) -> list[str]:
        """Cut the files with instructions to their part of the window; returns their names."""
        model = self._model
        if model.client.guided or model.profile.fixed < SMALL_HISTORY:
            return []
        return model.limit_instructions(await self.find_window() // INSTRUCTIONS_SHARE)

    async def _fit_tools(self) -> None:
        """Show as many tools whole as the window has room for."""
        model = self._model
        are_few = model.shortlist is None and model.profile.fixed < SMALL_HISTORY
        if model.client.guided or are_few:
            return
        token_limit = int(await self.find_window() * TOOLS_SHARE)
        if model.shortlist is not None or model.profile.fixed > token_limit:
            self._choose_tools(token_limit)

    def _choose_tools(self, token_limit: int) -> None:
        """Show the likeliest tools whole, and offer what looks up the others."""
        model = self._model
        if self._describer is None or self._registry.get(DESCRIBE) is not self._describer:
            self._describer = make_describer(self._find_ready, self._looked_up.update)
            self._registry.put([self._describer])
        called = {call.name for message in self._history.messages for call in message.calls}
        first = self._looked_up | called
        chosen = shorten_tools(self._find_ready(), self._history.user_request, token_limit, first)
        if chosen != model.shortlist:
            model.show_tools(chosen)

    def _find_ready(self) -> Tools:
        return self._registry.ready_functions(self._model.profile.known)

    def _shorten(self) -> CompressedHistory:
        history, fixed = self._history, self._model.profile.fixed
        return history.told.shorten(self._window, fixed, history.failed_calls)

    async def narrow(self, error: ModelError) -> str:
        """Tell this model less from now on if its server said that the request is too long.

        Once for a request. Returns a sentence that says what it is told less of; nothing where that
        cannot be, or the error says something else.
        """
        length = len(self._history.messages)
        if error.kind not in TOO_LONG or self._narrowed_at == length:
            return ""
        self._narrowed_at = length
        self._window = await self._guess_smaller_window(error.fitting_share)
        self.is_assumed = False
        cut_files = await self._fit_instructions()
        shortened = self._shorten()
        if shortened.after < shortened.before:
            return "Asking again with the oldest messages shortened or left out."
        return f"Asking again with less of {' and '.join(cut_files)}." if cut_files else ""

    async def _guess_smaller_window(self, fitting_share: float) -> int:
        sent_tokens = min(await self.find_window(), self.estimate())
        if 0 < fitting_share < NARROWED_SHARE:  # it is far from what was assumed
            return int(sent_tokens * fitting_share)
        window = int(sent_tokens * NARROWED_SHARE)
        if not self.is_assumed:
            return window
        # What goes with every request may be most of it: half of the rest still has room.
        fixed_tokens = self._model.profile.fixed - self._model.count_told_instructions()
        needed_tokens = (fixed_tokens + sent_tokens) // 2
        return max(window, needed_tokens + min(REPLY_TOKENS, needed_tokens // 3))

    def warn_of_unread(self, reply: ModelReply) -> str:
        """Warn, once, if the server read much less than it was sent."""
        if self._warning:
            return ""
        self._warning = warn_of_lost_prompt(self.estimate(), reply.usage.input_tokens)
        return self._warning

    async def fit_result(self, content: str, tool: str) -> str:
        """Shorten the result of a tool that is too long."""
        if len(content) <= SMALL_RESULT:
            return content
        return truncate_result(content, await self.find_window() // RESULT_SHARE, tool)

    async def fit_restored(self, message: Message) -> Message:
        """Shorten a message of a session as it was told when it was new."""
        content = message.content
        if message.role == "tool":
            content = await self.fit_result(content, message.name)
        if message.role in ("user", "tool"):
            content = escape_control_tokens(content)
        return message._replace(content=content)


WRONG_BY = 0.5
"""If a server counts less than this part of our estimate, no estimate is that wrong."""
MIN_TOKENS = 1000
SMALLEST_WINDOW = 500
"""No window is smaller: a server that reports less counts something else."""


def warn_of_lost_prompt(estimated: int, reported: int) -> str:
    """Say that the server read far less than was sent; nothing if it did not, or does not tell.

    `estimated` is ours for the whole request, `reported` the server's `usage.prompt_tokens`. Not
    for short prompts, where the estimate may be off by more than anything was dropped.
    """
    if not SMALLEST_WINDOW < reported < estimated * WRONG_BY or estimated < MIN_TOKENS:
        return ""
    return (
        f"The server read about {reported:,} tokens of some {estimated:,} that were sent: it may "
        "have dropped the beginning. Give it a larger context window, or set a smaller one here."
    )


class RequestRenderer:
    """Renders the history anew for whichever model reads it now."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        registry: Registry,
        model: ModelSession,
        history: History,
        tools: ToolRunner,
    ) -> None:
        self._settings, self._folder, self._registry = settings, folder, registry
        self._model, self._history, self._tools = model, history, tools

    def render(
        self, side_messages: Sequence[Wire] = (), constraint: Constraint | None = None
    ) -> Request:
        """Render the history as this model reads it, `side_messages` messages after it."""
        profile, dialect = self._model.profile, self._model.dialect
        messages = [Message("system", profile.system), *self.select_messages()]
        wire_messages = render_history(
            messages, dialect, profile.known, profile.names, profile.id_form, side_messages
        )
        temperature = self._settings.text("temperature")
        return Request(
            messages=tuple(wire_messages),
            tools=profile.schemas,
            constraint=constraint,
            stop=dialect.stop,
            max_tokens=self._settings.whole("max_tokens") or None,
            sampling=Sampling(float(temperature) if temperature else None),
        )

    def render_next(self) -> Request:
        """Render the request for the next reply of the turn."""
        return self.render(constraint=self._constrain_step())

    def select_messages(self) -> list[Message]:
        """Select what the model is told of the history: as much as its window holds.

        A model that each step is chosen for is told the user's own words alone, and no notes of
        ours: it takes each word of a message for what is wanted.
        """
        messages = self._history.told.list_messages()
        if not self._model.client.guided:
            return messages
        bare_messages: list[Message] = []
        for message in messages:
            if message.role == "user":
                message = message._replace(content=read_bare_words(message.content))
            if not message.note:
                bare_messages.append(message)
        return bare_messages

    def _constrain_step(self) -> Constraint | None:
        """Say what the next reply may be, for clients that can hold a model to it."""
        model = self._model
        constrain = model.dialect.constraint
        if constrain is None:
            return None
        if model.client.guided and not model.profile.is_one_object:
            return self._offer_choices(constrain(model.profile.tools))
        # Held to an object it could not think first, as such a model does.
        return None if model.thinks_first else constrain(model.profile.tools)

    def _offer_choices(self, base_constraint: Constraint) -> Constraint:
        """Add the commands, and what is known beside the request, for a small model."""
        # Only small models need them.
        from andy_cli.toolbox.nearby import find_nearby_names, read_nearby_lines

        model = self._model
        results = self._history.list_results()
        all_results = self._history.list_all_results()
        earlier_results = all_results[: len(all_results) - len(results)]
        actions = self._tools.actions[-len(results) :] if results else []
        choices = mark_untrusted_choices(
            list(model.profile.tools), base_constraint.choices, self._registry, model.trust
        )
        names = find_nearby_names(self._folder)
        context = TurnContext(
            results=tuple(results),
            done=tuple(action.did if action.ok else "" for action in actions),
            earlier=tuple(earlier_results),
            names=names,
            read_lines=partial(read_nearby_lines, self._folder, names),
            absent=find_absent_untrusted(self._registry, model.profile.tools, model.trust),
        )
        return base_constraint._replace(choices=choices, context=context)

    async def ask_aside(self, side_messages: Sequence[Wire], constraint: Constraint | None) -> str:
        """Ask the model something that is not put into the history; returns its answer."""
        held_to = None if self._model.client.guided else constraint
        return await self._model.ask_aside(self.render(side_messages, held_to))
