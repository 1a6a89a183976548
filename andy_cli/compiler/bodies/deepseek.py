"""The markers that DeepSeek, Kimi K2 and Step 3 share, and where what they hold ends.

Written in ASCII, the marker of a call is the same in all of them.
"""

from itertools import product

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import RawSectionEnd, make_headed_end
from andy_cli.compiler.dialect import EndDetector, Parse, Parsed, Tools
from andy_cli.compiler.expression import Expression

BAR, LOW = "\uff5c", "\u2581"


def marker_spellings(*words: str) -> tuple[str, ...]:
    """Each word between bars, full-width or not, with low lines of both kinds."""
    return tuple(
        f"<{bar_character}{word.replace('_', line_character)}{bar_character}>"
        for word, bar_character, line_character in product(words, "｜|", "▁_")
    )


def write_marker(word: str, low_line: str = LOW) -> str:
    return f"<{BAR}{word.replace('_', low_line)}{BAR}>"


def write_section(call: str) -> str:
    """A section of one call."""
    begun = write_marker("tool_calls_begin") + write_marker("tool_call_begin")
    return begun + call + write_marker("tool_call_end") + write_marker("tool_calls_end")


OPENERS = marker_spellings("tool_calls_begin", "tool_call_begin")
CLOSERS = marker_spellings("tool_call_end", "tool_calls_end")
KIMI_OPENERS = (
    "<|tool_calls_section_begin|>",
    "<|tool_call_section_begin|>",
    "<|tool_call_begin|>",
)
KIMI_CLOSERS = ("<|tool_call_end|>", "<|tool_calls_section_end|>", "<|tool_call_section_end|>")

MARKS = r"\s*(?:<[\uff5c|]tool[\u2581_]calls?[\u2581_]begin[\uff5c|]>\s*)+"
SEPARATOR = r"\s*<[\uff5c|]tool[\u2581_]sep[\uff5c|]>\s*"
FENCE = r"\s*(?:```(?:json)?)?\s*"
V3 = Expression(rf"{MARKS}function{SEPARATOR}(?P<name>[\w.\-:/]{{1,200}}){FENCE}")
V31 = Expression(rf"{MARKS}(?!function{SEPARATOR})(?P<name>[\w.\-:/]{{1,200}}){SEPARATOR}{FENCE}")
KIMI = Expression(
    r"\s*(?:<\|tool_calls?_section_begin\|>\s*)*(?:<\|tool_call_begin\|>\s*)*"
    r"(?P<name>[\w.\-/]{1,200}(?::\d{0,9})?)\s*(?:<\|tool_call_argument_begin\|>\s*)*"
)
STEP = "<steptml:"


def find_body(start_marker: str, tools: Tools) -> EndDetector:
    """One body for all of them: they share start markers."""
    return make_headed_end(
        start_marker,
        *CLOSERS,
        *KIMI_CLOSERS,
        heads=(V3, V31, KIMI),
        other=(STEP, lambda: RawSectionEnd(*CLOSERS, "</steptml:invoke>")),
    )


def make_reader(head_pattern: Expression) -> Parse:
    parse_headed = builders.make_headed_parser(CLOSERS, head_pattern)

    def parse(frame_text: str, tools: Tools) -> Parsed | None:
        return None if STEP in frame_text[:400] else parse_headed(frame_text, tools)

    return parse
