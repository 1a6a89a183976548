"""Show no plumbing in an answer, and nothing else taken away (C1, C6 to C9, C29, R10, R15).

The structure is the compiler's: calls in any dialect, markers, role labels and control tokens.
What is left to do here are the names of tools, which become titles.
"""

import html

from andy_cli.agent.history.history import History
from andy_cli.agent.model.model_session import ModelSession
from andy_cli.agent.output.tool_titles import ToolTitles, asks_about_tools
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.lexing.lexer import SHOWN, Lexer
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.toolbox.registry import Registry


class Sanitizer:
    """Reads one answer as it arrives; how it was cut never matters. Build a new one for each."""

    def __init__(self, markers: Markers, tools: Tools, titles: ToolTitles | None = None) -> None:
        """`markers` as the compiler has them; `titles` if the user has not asked about tools."""
        self._compiler = Compiler(markers, tools, runs_requests=False, prose=titles)

    def feed(self, text: str) -> str:
        """Take the next piece; returns what can be shown now."""
        return self._compiler.feed(text).text

    def finish(self) -> str:
        """End the answer; returns what is left to show."""
        return self._compiler.finish()[0].text


def sanitize(text: str, markers: Markers, tools: Tools, titles: ToolTitles | None = None) -> str:
    """Remove the plumbing from an answer; if there is none, nothing changes. Never raises."""
    sanitizer = Sanitizer(markers, tools, titles)
    return sanitizer.feed(text) + sanitizer.finish()


def find_leaks(rendered: str, markers: Markers, tools: Tools, source: str = "") -> tuple[str, ...]:
    """Find plumbing in the finished text, ANSI sequences stripped: empty if there is none (C29).

    Code, inline code and quotes may show what they like. Where rendering has taken their marks
    away, `source` is the text as it was: what is code or a quote there is no leak.
    """
    hidden = _find_hidden(rendered, markers, tools)
    if not (hidden and source):
        return hidden
    allowed = _squeeze(source)
    leaked = {_squeeze(text) for text in _find_hidden(source, markers, tools)}
    return tuple(
        text for text in hidden if _squeeze(text) in leaked or _squeeze(text) not in allowed
    )


def _find_hidden(text: str, markers: Markers, tools: Tools) -> tuple[str, ...]:
    lexer = Lexer(markers, tools, runs_requests=False)
    visible = (*SHOWN, "reasoning")
    segments = [*lexer.feed(text), *lexer.finish()]
    return tuple(
        segment.text
        for segment in segments
        if segment.kind not in visible and segment.text.strip() and not segment.fence
    )


def _squeeze(text: str) -> str:
    return "".join(text.split())


MARKS = frozenset("&\\*_~`")
"""Characters that rendering takes away or changes."""
ESCAPED = Expression(r"\\([^\w\s])")
EMPHASIS = Expression(r"[*~`]+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def strip_markdown(text: str) -> str:
    """Return about what a reader sees of it; itself where nothing is rendered (C29).

    `&lt;tool_call&gt;` is no marker before it is rendered, and is one on the screen.
    """
    if not MARKS.intersection(text):
        return text
    return html.unescape(EMPHASIS.sub("", ESCAPED.sub(r"\1", text)))


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
