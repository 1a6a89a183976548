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
from andy_cli.compiler.markers import Markers

__all__ = ["Sanitizer", "asks_about_tools", "leaks", "sanitize"]


class Sanitizer:
    """One answer, as it arrives; how it was cut never matters. Build a new one for each.

    `feed` returns what can be shown now, `finish` what is left. Held back is only what may still
    become protocol, and the sentence that may still turn out to narrate a call.
    """

    def __init__(self, markers: Markers, tools: Tools, asked_about_tools: bool = False) -> None:
        """`markers` as the compiler has them; `tools` are those of this session."""
        names = tuple(tools)
        known = protocol(markers.all, names)
        self._stages: list[Scanner | Narrator] = [Scanner(known, tools)]
        if not asked_about_tools:
            self._stages.append(Narrator(names))
        self._stages.append(Scanner(known, tools))

    def feed(self, text: str) -> str:
        for stage in self._stages:
            if not text:
                break
            text = stage.feed(text)
        return text

    def finish(self) -> str:
        text = ""
        for stage in self._stages:
            text = (stage.feed(text) if text else "") + stage.finish()
        return text


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
