"""Find where a request ends: readers that take text in pieces and keep their place.

They never look back, so a request of any size is read once.
"""

import re
from collections.abc import Callable, Iterable

from andy_cli.compiler.bodies.calls import clean_tool_name
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.bodies.lookahead import may_be_fence, may_begin_request
from andy_cli.compiler.dialect import EndDetector, Tools
from andy_cli.compiler.expression import Expression

MAX_CHARACTERS = 8_000_000
"""Characters of a request that a `LimitedEnd` reads; one scanned as a single value has no limit."""


class LimitedEnd:
    """Ends after `MAX_CHARACTERS` at the latest; what is longer is cut off and incomplete."""

    def __init__(self) -> None:
        self._size = 0

    def feed(self, text: str) -> int | None:
        self._size += len(text)
        return len(text) if self._size > MAX_CHARACTERS else self._find_end(text)

    def _find_end(self, text: str) -> int | None:
        raise NotImplementedError


class MarkerEnd(LimitedEnd):
    """Ends with the first of the end markers; with `skips_strings` one in a JSON string is none."""

    def __init__(self, *end_markers: str, skips_strings: bool = False) -> None:
        super().__init__()
        self._end_markers = re.compile(
            "|".join(re.escape(end_marker) for end_marker in end_markers), re.IGNORECASE
        )
        self._keep = max(map(len, end_markers)) - 1
        self._scan = JsonScan() if skips_strings else None
        self._tail = ""

    def _find_end(self, text: str) -> int | None:
        known_length, held_text, position = len(self._tail), self._tail + text, 0
        for marker_match in self._end_markers.finditer(held_text):
            if marker_match.end() <= known_length:
                continue
            position = self._follow(text, position, max(0, marker_match.start() - known_length))
            if self._scan is None or not self._scan.in_string:
                return marker_match.end() - known_length
        self._follow(text, position, len(text))
        self._tail = held_text[-self._keep :] if self._keep else ""
        return None

    def _follow(self, text: str, position: int, end_position: int) -> int:
        """Move the scan up to `end_position`; one value may follow another."""
        while self._scan is not None and position < end_position:
            value_end = self._scan.feed(text[position:end_position])
            if value_end is None:
                break
            self._scan, position = JsonScan(), position + value_end
        return end_position


class QuotedMarkerEnd(LimitedEnd):
    """Ends with the first of the end markers that stands outside of texts between two quotes.

    The quote is a marker too, the same on both sides.
    """

    def __init__(self, quote: str, *end_markers: str) -> None:
        super().__init__()
        self._quote = quote
        self._markers = re.compile("|".join(map(re.escape, (quote, *end_markers))))
        self._keep = max(map(len, (quote, *end_markers))) - 1
        self._is_quoted = False
        self._tail = ""

    def _find_end(self, text: str) -> int | None:
        known_length, held_text, position = len(self._tail), self._tail + text, 0
        while marker_match := self._markers.search(held_text, position):
            position = marker_match.end()
            if marker_match[0] == self._quote:
                self._is_quoted = not self._is_quoted
            elif not self._is_quoted:
                return position - known_length
        self._tail = held_text[max(position, len(held_text) - self._keep) :]
        return None


HeadDecision = int | tuple[EndDetector, int] | None
"""The end of all of it (-1: this is none), or what finds the end and where that begins."""


class HeldEnd:
    """Holds the text until its head says what finds the end; from then on that is asked."""

    def __init__(self, decide: Callable[[str], HeadDecision], held_text: str = "") -> None:
        self._decide = decide
        self._held = held_text
        self._end_detector: EndDetector | None = None

    def feed(self, text: str) -> int | None:
        if self._end_detector is not None:
            return self._end_detector.feed(text)
        known_length = len(self._held)
        self._held += text
        decision = self._decide(self._held)
        if decision is None or decision == -1:
            return decision
        if isinstance(decision, int):
            return max(0, decision - known_length)
        self._end_detector, body_start = decision
        body_end = self._end_detector.feed(self._held[body_start:])
        if body_end is None or body_end < 0:
            return body_end
        return body_start + body_end - known_length


MAX_LEAD_LENGTH = 120
"""Characters after which what begins a request has said so."""


class LeadEnd:
    """Finds the end as another one does, and gives up where the first characters begin no request.

    `may_begin` is asked about the text so far, the `start` included, while that is short.
    """

    def __init__(
        self, may_begin: Callable[[str], bool], end_detector: EndDetector, start: str = ""
    ) -> None:
        self._may_begin, self._start = may_begin, start
        self._end_detector = end_detector

    def feed(self, text: str) -> int | None:
        if len(self._start) < MAX_LEAD_LENGTH:
            self._start += text[: MAX_LEAD_LENGTH - len(self._start)]
            if not self._may_begin(self._start):
                return -1
        return self._end_detector.feed(text)


def begins_with(characters: str) -> Callable[[str], bool]:
    """Make a `may_begin`: the first character that is not blank is one of these, or is to come."""
    return lambda text: text.lstrip()[:1] in characters


def make_json_end() -> EndDetector:
    """Ends with the JSON value; nothing but white space may stand before it."""
    return LeadEnd(begins_with("{["), JsonScan())


VALUE_BEGINS = Expression(r"{|\[\s*[{\]]")
NO_HEAD = Expression(r"[^\w.\-:/\s\[\]]")


def find_named_json(held: str) -> HeadDecision:
    """A list, or a name with `[CALL_ID]` and `[ARGS]` and then an object (Mistral).

    The brackets of those markers open no list.
    """
    value_match = VALUE_BEGINS.search(held)
    text_before_value = held[: value_match.start()] if value_match else held
    if NO_HEAD.search(text_before_value) or len(text_before_value) > MAX_LEAD_LENGTH:
        return -1
    return (JsonScan(), value_match.start()) if value_match else None


LEADING = Expression(r"(?:\s|\\n|```\w{0,20}+|<\|[^<>|\s]{1,60}+\|>)*")
UNFINISHED = Expression(r"(?:<(?:\|[^<>|\s]{0,60}\|?)?|`{1,2}|\\)?")
CALL_NAME = Expression(r"(?:call[: ]\s*|functions?[.:])?([A-Za-z_](?:[\w.\-]|\\_)*)(?::\d{1,4})?")


def begins_contents(text: str, tools: Tools) -> bool | None:
    """Tell whether a call may stand in a frame that begins so; None while that is open."""
    text = LEADING.sub("", text, count=1)
    if UNFINISHED.fullmatch(text):
        return None
    if text[0] in "{[<'\"":
        return True
    call_name = CALL_NAME.match(text)
    if call_name is None:
        return False
    rest = text[call_name.end() :]
    if rest in ("", "\\"):  # the name may go on: Markdown writes an underline with a backslash
        return None
    next_character = rest.lstrip()[:1]
    if clean_tool_name(call_name[1], tools) in tools or next_character in ("(", "{"):
        return True
    return False if next_character else None


class FrameEnd:
    """Whatever stands in a frame, up to one of its end markers; given up where words begin it, and
    it is not known to be a call."""

    def __init__(
        self, end_markers: Iterable[str], start_marker: str, tools: Tools, is_call: bool = False
    ) -> None:
        closers = list(end_markers)
        if start_marker[0] == "<" and start_marker[-1] == ">":
            closers.append(f"</{start_marker[1:-1]}>")
        self._tools = tools
        self._start = ""
        self._begun = is_call
        self._until = MarkerEnd(*dict.fromkeys([*closers, NEVER_WRITTEN]))

    def feed(self, text: str) -> int | None:
        frame_end = self._until.feed(text)
        if not self._begun:  # what stands after the end says nothing of what begins
            self._start += text[:frame_end][: MAX_LEAD_LENGTH - len(self._start)]
            has_begun = begins_contents(self._start, self._tools)
            if has_begun is False or (has_begun is None and len(self._start) == MAX_LEAD_LENGTH):
                return -1
            self._begun = bool(has_begun)
        return frame_end


NEVER_WRITTEN = "\0\0"
"""A closer that does not come."""


class ReplyEnd:
    """Whatever follows belongs to it."""

    def feed(self, text: str) -> int | None:
        return None


class LineEnd:
    """Ends before the next line break."""

    def feed(self, text: str) -> int | None:
        line_break = text.find("\n")
        return line_break if line_break >= 0 else None


def make_bare_call_end(start_marker: str, tools: Tools) -> EndDetector:
    """An object, a list or calls that no marker announces: given up as soon as it can be none."""
    return LeadEnd(
        lambda begun_text: may_begin_request(begun_text, tools),
        JsonScan(start_marker),
        start_marker.lstrip(";, \n\\"),
    )


class CallLineEnd:
    """A line of calls, `play(track="Blue"), stop()`: ends where a line does outside brackets."""

    def __init__(self, start_marker: str) -> None:
        self._scan = JsonScan(start_marker)
        self._inside = True

    def feed(self, text: str) -> int | None:
        position = 0
        while position < len(text):
            if self._inside:
                scan_end = self._scan.feed(text, position)
                if scan_end is None:
                    return None
                self._inside, position = False, scan_end
            while position < len(text) and text[position] not in "(\n":
                position += 1
            if position == len(text):
                return None
            if text[position] == "\n":
                return position
            self._scan, self._inside = JsonScan(), True
        return None


STRING_MARKS = Expression(r"\\.|\"{3}|'{3}|[\"'#]")


def follow_strings(line: str, quote: str) -> str:
    """Tell the quotation mark of the Python text that is open after a line; `quote`: before it.

    Only a text in three of them goes on with the next line.
    """
    for mark in STRING_MARKS.finditer(line):
        if quote:
            quote = "" if mark[0] == quote else quote
        elif mark[0] == "#":
            break  # a comment, which may speak of quotation marks
        elif mark[0][0] != "\\":
            quote = mark[0]
    return quote if len(quote) == len('"""') else ""


class FenceEnd:
    """A code fence, to the end of its closing line; one in a text over several lines is none."""

    def __init__(self, start_marker: str) -> None:
        self._run = start_marker
        self._quote = ""  # of the text over several lines that is open
        self._scan: JsonScan | None = None  # of the value that stands in it
        self._holds_fence = False  # a fence is open in a text of that value
        self._written: list[str] = []  # of the line so far
        self._line: str | None = None  # the line so far while it may be the closing one
        self._first: list[str] | None = []  # the line of the opener so far

    def feed(self, text: str) -> int | None:
        for position, character in enumerate(text):
            in_text = self._quote or self._holds_fence
            if not in_text and character in "\n<" and self._closes(character):
                return position
            self._written.append(character)
            if character == "\n":
                self._end_line("".join(self._written))
                self._first, self._line, self._written = None, "", []
            elif self._first is not None:
                self._first.append(character)
            elif self._line is not None:
                self._line = self._line + character if len(self._line) < MAX_LEAD_LENGTH else None
        return None

    def _end_line(self, line: str) -> None:
        self._quote = follow_strings(line, self._quote)
        if self._first is None:
            self._follow_json(line)

    def _follow_json(self, line: str) -> None:
        """Follow a value, and the fence with an info word that a text in it holds as it is."""
        if self._scan is None and line.lstrip()[:1] in ("{", "["):
            self._scan = JsonScan()
        if self._scan is None:
            return
        if self._scan.in_open_text and line.strip().startswith(self._run):
            info_word = line.strip().strip("`")
            # A quotation mark right behind a fence ends the text, which the fence ends with.
            self._holds_fence = bool(info_word) and info_word[0] != '"'
        if self._scan.feed(f"{line}\n") is not None:
            self._scan, self._holds_fence = None, False

    def _closes(self, next_character: str) -> bool:
        """The line so far ends it: at a line break, or with a control token right after it."""
        return self._is_closing_line() or (next_character == "\n" and self._closes_at_once())

    def _closes_at_once(self) -> bool:
        """The fence ends on the line it began on."""
        return self._first is not None and "".join(self._first).rstrip().endswith(self._run)

    def _is_closing_line(self) -> bool:
        """The line so far is nothing but the fence."""
        stripped_line = (self._line or "").strip()
        return stripped_line.startswith(self._run) and not stripped_line.strip("`")


class InlineCodeEnd:
    """Inline code at the start of a reply, if it is all of it: what follows it makes it text."""

    def __init__(self, start_marker: str) -> None:
        self._run = start_marker
        self._closed = False

    def feed(self, text: str) -> int | None:
        if not self._closed:
            run_start = text.find(self._run[0])
            if run_start < 0:
                return None
            self._closed, text = True, text[run_start:].lstrip(self._run[0])
        else:
            text = text.lstrip(self._run[0])
        return -1 if text.strip() else None


def make_code_end(start_marker: str, tools: Tools) -> EndDetector:
    """Code that may hold nothing but a request: inline, or in a fence."""
    if len(start_marker) < len("```"):
        return LeadEnd(
            lambda begun_text: may_begin_request(begun_text, tools), InlineCodeEnd(start_marker)
        )
    return LeadEnd(lambda begun_text: may_be_fence(begun_text, tools), FenceEnd(start_marker))
