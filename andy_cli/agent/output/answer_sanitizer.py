"""Sanitize the answers of a conversation: by its model's markers, with the titles of its tools."""

from andy_cli.agent.history.history import History
from andy_cli.agent.model.model_session import ModelSession
from andy_cli.agent.output.rendered_text import strip_markdown
from andy_cli.agent.output.sanitizer import find_leaks, sanitize
from andy_cli.agent.output.tool_titles import ToolTitles, asks_about_tools
from andy_cli.toolbox.registry import Registry

WORKED_ON = 60
"""So many messages back, a name of a tool in a result is one that the user works on."""


class AnswerSanitizer:
    """Sanitizes all that is shown of answers, whoever shows it."""

    def __init__(self, model: ModelSession, history: History, registry: Registry) -> None:
        self._model, self._history, self._registry = model, history, registry

    def sanitize(self, text: str) -> str:
        """Sanitize a text that a request carries for the user."""
        profile = self._model.profile
        return sanitize(text, profile.markers, profile.known, self.make_titles())

    def find_leaks(self, answer: str) -> tuple[str, ...]:
        """Find the plumbing that would stand in the answer once it is rendered."""
        profile = self._model.profile
        return find_leaks(strip_markdown(answer), profile.markers, profile.known, answer)

    def clean(self, answer: str) -> str:
        """Clean the answer, or a piece of it, so that nothing leaks when it is rendered."""
        if strip_markdown(answer) == answer or not self.find_leaks(answer):
            return answer
        return self.sanitize(strip_markdown(answer))

    def make_titles(self) -> ToolTitles | None:
        """Make what says titles for the names of tools; None where the user asks about tools."""
        history = self._history
        if asks_about_tools(history.user_request):
            return None
        user = history.messages[history.turn_start].content
        worked_on = [
            message.content
            for message in history.messages[-WORKED_ON:]
            if message.role == "tool" and message.call_id not in history.failed_calls
        ]
        names = self._model.profile.names
        titles = {tool.name: tool.title for tool in self._registry}
        offered = {names[name]: title for name, title in titles.items() if name in names}
        return ToolTitles({**offered, **titles}, "\n".join([user, *worked_on]))
