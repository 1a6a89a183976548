"""Show the model those of too many tools that a turn may need, the others by name."""

from collections.abc import Iterable

from andy_cli.agent.history.history import History
from andy_cli.agent.model.model_session import ModelSession
from andy_cli.agent.prompt.shortlist import DESCRIBE, SHARE, make_describer, shorten_tools
from andy_cli.compiler.dialect import Tools
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool


class ToolFitting:
    """Knows which tools the model looked up, and offers what looks them up."""

    def __init__(self, model: ModelSession, history: History, registry: Registry) -> None:
        self._model, self._history, self._registry = model, history, registry
        self.reset()

    def reset(self) -> None:
        """Begin anew for another model."""
        self._describer: Tool | None = None
        self._looked_up: set[str] = set()

    def fit(self, window: int) -> None:
        """Show as many tools whole as a window of so many tokens has room for."""
        model = self._model
        token_limit = int(window * SHARE)
        if model.shortlist is None and model.profile.fixed <= token_limit:
            return
        if self._describer is None or self._registry.get(DESCRIBE) is not self._describer:
            self._describer = make_describer(self._find_ready, self._note_looked_up)
            self._registry.put([self._describer])
        called = {call.name for message in self._history.messages for call in message.calls}
        first = self._looked_up | called
        chosen = shorten_tools(self._find_ready(), self._history.user_request, token_limit, first)
        if chosen != model.shortlist:
            model.show_tools(chosen)

    def _find_ready(self) -> Tools:
        return self._registry.ready_functions(self._model.profile.known)

    def _note_looked_up(self, names: Iterable[str]) -> None:
        self._looked_up |= set(names)
