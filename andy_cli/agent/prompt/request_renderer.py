"""Render what the model is asked: the history, a side conversation, and what it may write."""

from collections.abc import Sequence
from pathlib import Path

from andy_cli.agent.calls.tool_runner import ToolRunner
from andy_cli.agent.history.history import History
from andy_cli.agent.model.model_session import ModelSession
from andy_cli.agent.prompt.trust import mark_untrusted_choices
from andy_cli.messages import Constraint, Message, Request, Wire
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry


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
        """Render the history, with `side_messages` messages behind it."""
        max_tokens = self._settings.whole("max_tokens") or None
        messages = self.select_messages()
        return self._model.profile.render_request(messages, side_messages, constraint, max_tokens)

    def render_next(self) -> Request:
        """Render the request for the next reply of the turn."""
        return self.render(constraint=self._constrain_step())

    def select_messages(self) -> list[Message]:
        """Select what the model is told of the history: as much as its window holds.

        A model that each step is chosen for is told no notes of ours: it takes them for wishes.
        """
        messages = self._history.list_told_messages()
        if not self._model.client.guided:
            return messages
        return [message for message in messages if not message.note]

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
        from andy_cli.toolbox.nearby import find_nearby_names

        model = self._model
        results = self._history.list_results()
        everything = self._history.list_all_results()
        actions = self._tools.actions[-len(results) :] if results else []
        choices = mark_untrusted_choices(
            [*model.profile.tools], base_constraint.choices, self._registry, model.trust
        )
        return base_constraint._replace(
            choices=choices,
            results=(*results,),
            done=tuple(action.did if action.ok else "" for action in actions),
            earlier=(*everything[: len(everything) - len(results)],),
            names=find_nearby_names(self._folder),
        )

    async def ask_aside(self, side_messages: Sequence[Wire], constraint: Constraint | None) -> str:
        """Ask the model something that is not put into the history; returns its answer."""
        held_to = None if self._model.client.guided else constraint
        return await self._model.ask_aside(self.render(side_messages, held_to))
