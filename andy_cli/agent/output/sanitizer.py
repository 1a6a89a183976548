"""Show no plumbing in an answer, and nothing else taken away (C1, C6 to C9, C29, R10, R15).

The structure is the compiler's: calls in any dialect, markers, role labels and control tokens.
What is left to do here are the names of tools, which become titles.
"""

from andy_cli.agent.output.tool_titles import ToolTitles
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.lexing.lexer import SHOWN, Lexer
from andy_cli.compiler.lexing.markers import Markers


class Sanitizer:
    """Reads one answer as it arrives; how it was cut never matters. Build a new one for each."""

    def __init__(self, markers: Markers, tools: Tools, titles: ToolTitles | None = None) -> None:
        """`markers` as the compiler has them; `titles` if the user has not asked about tools."""
        self._compiler = Compiler(markers, tools, runs=False, prose=titles)

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
    lexer = Lexer(markers, tools, runs=False)
    visible = (*SHOWN, "reasoning")
    segments = [*lexer.feed(text), *lexer.finish()]
    return tuple(
        segment.text
        for segment in segments
        if segment.kind not in visible and segment.text.strip() and not segment.fence
    )


def _squeeze(text: str) -> str:
    return "".join(text.split())
