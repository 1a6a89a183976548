"""Show no plumbing in an answer, and nothing else taken away (C1, C6 to C9, C29, R10, R15).

The structure is the compiler's: calls in any dialect, markers, role labels and control tokens.
What is left to do here are the names of tools, which become titles.
"""

from andy_cli.agent.tool_titles import ToolTitles
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
        """The answer is complete: what is left to show."""
        return self._compiler.finish()[0].text


def sanitize(text: str, markers: Markers, tools: Tools, titles: ToolTitles | None = None) -> str:
    """The answer without plumbing; if there is none, itself byte for byte. Never raises."""
    sanitizer = Sanitizer(markers, tools, titles)
    return sanitizer.feed(text) + sanitizer.finish()


def find_leaks(rendered: str, markers: Markers, tools: Tools, source: str = "") -> tuple[str, ...]:
    """Find plumbing in the finished text, ANSI sequences stripped: empty if there is none (C29).

    Code, inline code and quotes may show what they like. Where rendering has taken their marks
    away, `source` is the text as it was: what is code or a quote there is no leak.
    """
    found = _find_hidden(rendered, markers, tools)
    if not (found and source):
        return found
    allowed = _squeezed(source)
    leaked = {_squeezed(each) for each in _find_hidden(source, markers, tools)}
    return tuple(
        each for each in found if _squeezed(each) in leaked or _squeezed(each) not in allowed
    )


def _find_hidden(text: str, markers: Markers, tools: Tools) -> tuple[str, ...]:
    lexer = Lexer(markers, tools, runs=False)
    segments = [*lexer.feed(text), *lexer.finish()]
    return tuple(
        each.text
        for each in segments
        if each.kind not in (*SHOWN, "reasoning") and each.text.strip() and not each.fence
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())
