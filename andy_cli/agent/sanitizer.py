"""The last look at what is shown: no plumbing in it (C1, C6 to C9, C29, R10, R15).

Always the structure: calls in any dialect, markers, role labels and tokens of templates. Then the
narrow rule about sentences that narrate a call. Everything else comes out byte for byte. Taking
something out can bring together what was apart (`<|im_<|im_end|>end|>`), so the structure is
looked at again behind the sentences.
"""

from andy_cli.agent.plumbing.narration import asks_about_tools
from andy_cli.agent.plumbing.narrator import Narrator
from andy_cli.agent.plumbing.scanner import Scanner, protocol
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.markers import Markers

__all__ = ["Sanitizer", "asks_about_tools", "leaks", "sanitize"]


HALF = Expression(r"[<\[][^\s<>\[\]]{0,50}\Z")


class Sanitizer:
    """One answer, as it arrives; how it was cut never matters. Build a new one for each.

    `feed` returns what can be shown now, `finish` what is left. Held back is only what may still
    become protocol, and the sentence that may still turn out to narrate a call.
    """

    def __init__(self, markers: Markers, tools: Tools, asked_about_tools: bool = False) -> None:
        """`markers` as the compiler has them; `tools` are those of this session."""
        names = tuple(tools)
        self._known, self._tools = protocol(markers.all, names), tools
        self._scanner = Scanner(self._known, tools)
        self._narrator = None if asked_about_tools else Narrator(names)
        self._passed: list[str] = []  # until something is taken out
        self._again: Scanner | None = None
        self._half = ""
        self._ahead = ""  # what was shown before the second look could hold it back

    def feed(self, text: str) -> str:
        text = self._scanner.feed(text)
        if self._narrator and text:
            text = self._narrator.feed(text)
        return self._second_look(text)

    def finish(self) -> str:
        text = self._scanner.finish()
        if self._narrator:
            text = (self._narrator.feed(text) if text else "") + self._narrator.finish()
        shown = self._second_look(text, final=True)
        return shown + (self._new(self._again.finish()) if self._again else "")

    def _pass_on(self, text: str, final: bool) -> str:
        """The text but for a half marker at its end: something taken out may yet complete it."""
        text = self._half + text
        half = None if final else HALF.search(text, max(0, len(text) - 60))
        self._half = text[half.start() :] if half else ""
        text = text[: half.start()] if half else text
        self._passed.append(text)
        return text

    def _second_look(self, text: str, final: bool = False) -> str:
        """Only from where something was taken out on: until then it would find nothing."""
        if self._again is None:
            narrated = self._narrator is not None and self._narrator.left_out
            if not (self._scanner.found or narrated):
                return self._pass_on(text, final)
            self._again = Scanner(self._known, self._tools)
            before, text = "".join(self._passed), self._half + text
            self._ahead = before[len(self._again.feed(before)) :]
        return self._new(self._again.feed(text) if text else "")

    def _new(self, text: str) -> str:
        """The text without what has been shown already."""
        if not (self._ahead and text):
            return text
        size = min(len(text), len(self._ahead))
        repeated = text[:size] == self._ahead[:size]
        self._ahead = self._ahead[size:] if repeated else ""
        return text[size:] if repeated else text


def sanitize(text: str, markers: Markers, tools: Tools, asked_about_tools: bool = False) -> str:
    """The answer without plumbing; if there is none, itself byte for byte. Never raises."""
    sanitizer = Sanitizer(markers, tools, asked_about_tools)
    return sanitizer.feed(text) + sanitizer.finish()


def leaks(rendered: str, markers: Markers, tools: Tools, source: str = "") -> tuple[str, ...]:
    """What plumbing stands in the finished text, ANSI sequences stripped: empty if none (C29).

    Code, inline code and quotes may show what they like. Where rendering has taken their marks
    away, `source` is the text as it was: what is code or a quote there is no leak.
    """
    scanner = Scanner(protocol(markers.all, tuple(tools)), tools)
    scanner.feed(rendered)
    scanner.finish()
    if not (scanner.found and source):
        return tuple(scanner.found)
    allowed = _squeezed(source)
    inner = Scanner(protocol(markers.all, tuple(tools)), tools)
    inner.feed(source)
    inner.finish()
    leaked = {_squeezed(each) for each in inner.found}
    return tuple(
        each
        for each in scanner.found
        if _squeezed(each) in leaked or _squeezed(each) not in allowed
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())
