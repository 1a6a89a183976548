"""Cut a reply into segments: prose, code, quotes, reasoning, calls and framing.

The one reader of replies. It knows where a marker may count; what may be run of a segment and
what is shown of it is said elsewhere. Text may arrive in any pieces: a character is looked at
once, and given out as soon as it cannot be part of a marker. The texts of the segments joined are
the reply.

                  backticks                    opener                  end found
       +--------+ <--------> +-------------+ --------> +------------+ ----------> a call, or
       |  CODE  |            |    PROSE    |           |   FRAME    |   no call: text again
       +--------+            +-------------+ <-------- +------------+
                                |   |    ^                   | thinks_until
       a foreign turn begins    |   |    | closer            v
              v-----------------+   +----|-----------> +------------+
       +--------+                opener  +------------ | REASONING  |
       |  OVER  |                                      +------------+
       +--------+

PROSE and CODE are one state here (`_in_text`): code is prose in which no marker counts.
"""

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from andy_cli.compiler.bodies.end_detectors import MAX_LEAD_LENGTH, make_code_end
from andy_cli.compiler.bodies.lookahead import may_begin_request
from andy_cli.compiler.bodies.wrappings import (
    MAX_DISTANCE,
    info_word,
    introduces_example,
    strip_fence,
)
from andy_cli.compiler.control_tokens import (
    ANSWER_ENDS,
    ANSWERS,
    CLOSERS,
    COMMENT,
    FENCES,
    HARMONY,
    REASONING,
    RESULT_FENCES,
    STRIPPED_CLOSERS,
    STRIPPED_OPENER,
    WORDY,
    Header,
    names_call,
    read_header,
)
from andy_cli.compiler.dialect import Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.lexing.frame import WEAK, Frame
from andy_cli.compiler.lexing.markers import BLANKS, Marker, Markers

Kind = Literal[
    "prose",
    "code",
    "quote",
    "row",
    "reasoning",
    "call",
    "framing",
    "frame end",
    "closer",
    "invented",
]
"""`quote` is a line of a block quote, `row` one of a table. `frame end` is framing right after a
call. `closer` ends reasoning that nobody opened."""


LINES: Mapping[str, Kind] = {">": "quote", "|": "row"}
"""By the first character of a line."""
SHOWN: Collection[Kind] = ("prose", "code", "quote", "row")


class Segment(NamedTuple):
    kind: Kind
    start: int
    """Its place in the reply."""
    text: str
    parsed: Parsed = Parsed()
    """The content of a call, if it is one."""
    dialect: str = ""
    fence: str = ""
    """The call stands in a code fence of its own: the info word of that, or `code`."""

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.start + len(self.text)


FENCE = 3
CHUNK_SIZE = 4096
"""Characters that are read at once: what is copied and searched at each marker stays small."""
PATIENCE, ALARMS = 500_000, 5_000
"""Characters that may be read again in vain, and how often; openers are text from then on. A reply
of nothing but openers would take the square of its length otherwise."""
INFO, INFO_LINE = Expression(r"[\w-]{0,20}[ \t]*"), Expression(r"[\w-]{0,20}[ \t]*\r?\n")
LINE = Expression(r"\n[ \t]*(?P<lead>[^\n])?")
PLAIN_TURNS = ("\n", *COMMENT)
"""They turn prose into code, or code into prose, and begin no request."""
MENTION = Expression(r"[<\[]/?.*(?:tool|function_call|invoke|TOOL|[|\uff5c])")


class FoundMarker(NamedTuple):
    """A marker in what is held, and what stands around it."""

    text: str
    held: str
    start: int
    lead: str
    """The first character of its line that is not blank; empty where it begins the line."""
    final: bool
    """Nothing follows what is held."""

    @property
    def before(self) -> str:
        return self.held[: self.start]

    @property
    def behind(self) -> str:
        return self.held[self.start + len(self.text) :]


class Lexer:
    """Reads one reply. Build a new one for each; they are cheap."""

    def __init__(
        self,
        markers: Markers,
        tools: Tools,
        reasoning_open: bool = False,
        runs_requests: bool = True,
        is_nested: bool = False,
        plain_spans: Collection[tuple[int, int]] = (),
    ) -> None:
        """`runs_requests`: calls in it are meant to be run; else it is an answer that shows some.

        `is_nested`: this reads a part of a reply once more, and no part of that again.
        `plain_spans`: what earlier was read as requests there, and is text.
        """
        self._markers, self._tools = markers, tools
        self._runs, self._inner, self._plain = runs_requests, is_nested, plain_spans
        self._held = ""
        self._at = 0  # where in the reply `_held` starts
        self._code = ""  # the run of backticks that opened the code we are in
        self._in_code = False  # what is given out next is code
        self._code_turns: list[int] = []  # where in `_held` that changes
        self._lead = ""  # the first character of the line that is not blank
        self._end_markers: tuple[str, ...] = (*CLOSERS, *HARMONY) if reasoning_open else ()
        self._prompted = reasoning_open  # its opener may be written once more
        self._frame: Frame | None = None
        self._behind_call = False  # nothing but white space stands since
        self._behind_plain = False  # ... which is text
        self._began = False  # something was said
        self._called = False  # something was asked for
        self._thought = False  # reasoning has ended before
        self._mentioned: set[str] = set()  # markers that opened nothing
        self._tells_dialogue = False  # it begins with a turn of somebody's, or announced one
        self._near = ""  # the last characters of prose
        self._first = ""  # the first characters that were shown
        self._answer = ""  # what ends the element that holds the answer
        self._given_back = 0  # characters that were read as a request and were none
        self._alarms = 0  # how often something looked like a request and was none
        self._out: list[Segment] = []
        self.opened = ""
        """The opener of the reasoning that is, or was, going on."""
        self.over = False
        """Somebody else's turn began: nothing after it is the model's."""

    def leave_reasoning(self) -> None:
        """Take what was taken for reasoning that the prompt opened for text."""
        self._end_markers, self._prompted = (), False

    @property
    def reasoning(self) -> bool:
        """It is in a stretch of reasoning."""
        return bool(self._end_markers)

    @property
    def size(self) -> int:
        """Characters that were given out."""
        return self._at

    @property
    def open_frame(self) -> Frame | None:
        """The frame that may become a request, where its end has not come."""
        return self._frame

    @property
    def holding(self) -> bool:
        """More than white space is held back."""
        return bool(self._held or self._frame)

    def feed(self, text: str) -> list[Segment]:
        """Take the next piece; returns the segments, or parts of them, that are sure."""
        frame = self._frame
        if frame is not None and not (self._held or frame.ended) and 0 < len(text) <= CHUNK_SIZE:
            end = frame.feed(text)
            if end is None:  # most of what stands in a call: nothing else need be looked at
                return []
            self._held, text = text, ""
            self._go_on_behind(frame, end)
            if end >= 0:
                self._in_frame(final=False)
            self._read("", final=False)
        for position in range(0, len(text), CHUNK_SIZE):
            self._read(text[position : position + CHUNK_SIZE], final=False)
        return self._pop_segments()

    def finish(self) -> list[Segment]:
        """The reply is complete: what is left of it."""
        is_half_closer = self._frame is None and self._markers.begins_closer(self._held.strip())
        if self._behind_call and is_half_closer and not self._behind_plain:
            self._emit("frame end", len(self._held))  # half of it, cut off
        self._read("", final=True)
        return self._pop_segments()

    def _pop_segments(self) -> list[Segment]:
        segments, self._out = self._out, []
        return segments

    # Each state consumes what it can and hands on; one that needs more text to decide leaves it
    # in `_held`.

    def _read(self, text: str, final: bool) -> None:
        self._held += text
        while self._held or final:
            earlier_state = self._read_position()
            if self.over:
                self._emit("invented", len(self._held))
            elif self._frame is not None:
                self._in_frame(final)
            elif self._end_markers:
                self._in_reasoning(final)
            else:
                self._in_text(final)
            if self._read_position() == earlier_state:
                return

    def _read_position(self) -> tuple[object, ...]:
        """The state of which something changes with every step."""
        frame = self._frame
        frame_state = (frame.end_detector, frame.ended) if frame else ()
        return len(self._held), frame_state, self._end_markers, self.over

    def _emit(self, kind: Kind, size: int) -> None:
        if size:
            self._out.append(Segment(kind, self._at, self._held[:size]))
            self._drop(size)

    def _drop(self, size: int) -> None:
        self._at += size
        self._held = self._held[size:]

    def _in_frame(self, final: bool) -> None:
        frame = self._frame
        assert frame is not None
        if not frame.ended:
            end = frame.feed(self._held)
            if end is None:
                self._held = ""
                if not final:
                    return
            else:
                self._go_on_behind(frame, end)
                if end < 0:
                    return
        if torn := frame.is_torn(self._held, final):
            self._read_again(frame, is_call=True)
        if torn is not False:
            return
        quoted = frame.in_quotation_marks(self._held, final)
        in_prose = frame.words_follow(self._held, final)
        if quoted is not None and in_prose is not None:
            self._close_frame(frame, in_prose, quoted)

    def _go_on_behind(self, frame: Frame, end: int) -> None:
        """So much of what is held belongs to the frame, or -1: it is none."""
        if end < 0:
            self._read_again(frame)
        else:
            self._held = self._held[end:]

    def _read_again(self, frame: Frame, is_call: bool = False) -> None:
        """No dialect writes so: whatever else stands in the frame is looked at, once."""
        text = frame.read_again(self._held, is_call)
        if text is None:
            self._give_back(frame)
        else:
            self._given_back += len(text)
            self._held = text

    def _close_frame(self, frame: Frame, in_prose: bool, quoted: bool) -> None:
        """The end of a frame is known: whoever can read it does."""
        if frame.is_cut_off and not self._began:  # a reply of nothing but an opener
            self._consume(frame, None, Parsed(incomplete=True))
            return
        read = None if quoted else frame.read(not frame.ended, in_prose)
        if read:
            self._consume(frame, read.dialect, read.parsed)
        elif quoted or in_prose:
            self._text_again(frame)
        elif frame.opener[0] == "`":
            self._close_fence(frame)
        elif frame.is_atomic:
            self._text_again(frame)
        else:
            self._give_back(frame)

    def _close_fence(self, frame: Frame) -> None:
        """A fence around nothing but calls with markers of their own is framing."""
        word = info_word(frame.written)
        if word in FENCES and not self._inner:
            is_invented = word in RESULT_FENCES and self._called and self._runs
            is_cut_off = not (frame.ended or is_invented)
            self._consume(frame, None, Parsed(incomplete=is_cut_off, ends_reply=is_invented))
            return
        calls = self._calls_inside(strip_fence(frame.written))
        if calls:
            names = {dialect.name: dialect for dialect in self._markers.all}
            requests = tuple(request for call in calls for request in call.parsed.requests)
            self._consume(frame, names.get(calls[0].dialect), Parsed(requests))
        else:
            self._give_back(frame)

    def _calls_inside(self, content: str) -> list[Segment]:
        """The calls in a fence, if nothing else stands there."""
        if not self._runs or self._inner or content[:1] not in ("<", "[", "|"):
            return []
        nested_lexer = Lexer(self._markers, self._tools, is_nested=True)
        segments = [*nested_lexer.feed(content), *nested_lexer.finish()]
        if any(segment.kind in SHOWN and segment.text.strip() for segment in segments):
            return []
        return [segment for segment in segments if segment.parsed.requests]

    def _consume(self, frame: Frame, dialect: Dialect | None, parsed: Parsed) -> None:
        """Give out a frame that was read, and go on after it."""
        written, self._frame = frame.written, None
        self._held = written + self._held
        if (self._at, self._at + len(written)) in self._plain:
            self._show(len(written))
            self._behind_call = self._behind_plain = True  # a list of requests goes on
            return
        name = dialect.name if dialect else ""
        has_content = parsed.is_request or bool(parsed.text)
        kind: Kind = "call" if has_content or parsed.reasoning else "framing"
        fence = self._own_fence(frame, name)
        self._out.append(Segment(kind, self._at, written, parsed, name, fence))
        self._drop(len(written))
        self.over = parsed.ends_reply and (self._runs or self._began)
        self._end_markers = parsed.thinks_until
        self._behind_plain = False
        self._behind_call |= has_content
        self._called |= parsed.is_request
        self._began |= bool(parsed.text)
        self._lead = ""  # what stood between is not on the line any more

    def _own_fence(self, frame: Frame, dialect: str) -> str:
        """The info word of the fence that a call stands in, or `code`."""
        # In a protocol of ours that was taught, the keys are markers and the fence is framing.
        is_framing = self._runs and dialect != "" and dialect == self._markers.protocol
        if frame.opener[0] != "`" or is_framing:
            return ""
        return info_word(frame.written) or "code"

    def _text_again(self, frame: Frame) -> None:
        """It was text, all of it."""
        self._mentioned.add(frame.opener)
        self._frame, self._held = None, frame.written + self._held
        self._show(len(frame.written))

    def _give_back(self, frame: Frame) -> None:
        """It was text: show the marker, or its first character, and look again after it."""
        if len(frame.written) > MAX_LEAD_LENGTH or frame.opener not in WEAK:
            self._alarms += 1
        if not frame.fence:
            self._given_back += len(frame.written)
        self._mentioned.add(frame.opener)
        self._frame, self._held = None, frame.written + self._held
        if frame.fence:
            self._turn_code(frame.opener, 0)
        self._show(len(frame.opener) if frame.fence or frame.is_strong else 1)

    def _in_reasoning(self, final: bool) -> None:
        if self._prompted and not self._repeated_opener(final):
            return
        places = [(self._held.find(closer), closer) for closer in self._end_markers]
        found_places = [place for place in places if place[0] >= 0]
        if found_places:
            self._end_reasoning(*min(found_places))
            return
        sure_end = len(self._held)
        if not final:
            sure_end -= max(_count_overlap(self._held, closer) for closer in self._end_markers)
        self._emit("reasoning", sure_end)

    def _end_reasoning(self, position: int, closer: str) -> None:
        self._emit("reasoning", position)
        # What also begins something is left for those who read it.
        self._emit("framing", 0 if closer in self._markers.heads else len(closer))
        self._end_markers, self._thought, self._lead = (), True, ""

    def _repeated_opener(self, final: bool) -> bool:
        """Take out an opener that the prompt had written already; False if it may yet be one."""
        start = self._held.lstrip()
        opener = next((tag for tag in REASONING if start.startswith(tag)), "")
        if not (opener or final) and any(tag.startswith(start) for tag in REASONING):
            return False
        self._prompted = False
        if opener:
            self._emit("framing", len(self._held) - len(start) + len(opener))
        return True

    def _in_text(self, final: bool) -> None:
        held_text, begins_line = self._held, not self._lead
        sure_end = len(held_text)
        if not final:
            sure_end = self._markers.find_unsure(held_text, begins_line, self._behind_call)
        line_start = 0  # where the line begins in `held_text`; 0: before it, after `self._lead`
        found = self._markers.find(held_text, begins_line, self._behind_call)
        for marker_text, start, end in found:
            if end > sure_end:
                sure_end = min(sure_end, start)  # its end may yet belong to another one
                break
            was_taken = self._take_found(marker_text, held_text, line_start, start, final)
            if was_taken:
                return
            if was_taken is None:
                sure_end = start
                break
            if "\n" in marker_text:
                line_start = start + marker_text.rindex("\n") + 1
        self._show(sure_end)

    def _take_found(
        self, marker_text: str, held_text: str, line_start: int, start: int, final: bool
    ) -> bool | None:
        """Act on a line break, a run of backticks or a marker.

        True where the state changes with it, False where it is text, and None while it is too
        early to say; so do all functions that take a part of the text.
        """
        if marker_text in PLAIN_TURNS:
            self._turn_plainly(marker_text, start)
            return False
        is_fence = marker_text[0] == "`" or marker_text == "~~~"
        if self._code and not is_fence:
            return False
        earlier_lead = "" if line_start else self._lead
        lead = earlier_lead or held_text[line_start:start].lstrip(BLANKS)[:1]
        found_marker = FoundMarker(marker_text, held_text, start, lead, final)
        return self._follow_backticks(found_marker) if is_fence else self._take_marker(found_marker)

    def _turn_plainly(self, mark: str, start: int) -> None:
        """Keep track of what begins no request: a line break ends inline code, and what is
        commented out of a page is code."""
        opener, closer = COMMENT
        if mark == opener and not self._code:
            self._turn_code(opener, start)
        elif mark == closer and self._code == opener:
            self._turn_code("", start + len(closer))
        elif mark == "\n" and 0 < len(self._code) < FENCE:
            self._turn_code("", start)

    def _follow_backticks(self, found_marker: FoundMarker) -> bool | None:
        """Keep track of inline code and fences; True if a fence may be a request's own.

        A fence closes at the start of a line, and opens there or at the end of one.
        """
        backticks, starts_line = found_marker.text, not found_marker.lead
        if self._code:
            if self._closes_code(backticks, starts_line):
                self._turn_code("", found_marker.start + len(backticks))
            return False
        if backticks == "~~~":
            if starts_line:
                self._open_frame(found_marker._replace(lead=""), self._markers[backticks])
            return starts_line
        if len(backticks) < FENCE:
            return self._open_code(found_marker, not self._has_begun(found_marker))
        if not starts_line and not INFO_LINE.match(found_marker.behind):
            is_open = not found_marker.final and INFO.fullmatch(found_marker.behind)
            return None if is_open else False
        is_example = introduces_example(self._near + found_marker.before)
        return self._open_code(found_marker, not is_example)

    def _closes_code(self, backticks: str, starts_line: bool) -> bool:
        if len(self._code) < FENCE:
            return backticks == self._code
        return backticks.startswith(self._code) and starts_line

    def _open_code(self, found_marker: FoundMarker, may_ask: bool) -> bool:
        """Open code; as a frame where it may hold a request."""
        may_run = self._runs or len(found_marker.text) >= FENCE
        may_hold_request = may_ask and bool(self._markers.fenced) and may_run
        if may_hold_request:
            marker = Marker("opener", dialects=self._markers.fenced)
            self._open_frame(found_marker._replace(lead=""), marker)
        else:
            self._turn_code(found_marker.text, found_marker.start)
        return may_hold_request

    def _turn_code(self, backticks: str, position: int) -> None:
        """Code opens with this run of backticks, or with none ends, there in what is held."""
        self._code = backticks
        self._code_turns.append(position)

    def _take_marker(self, found_marker: FoundMarker) -> bool | None:
        if found_marker.lead in LINES:
            return False
        marker = self._markers[found_marker.text]
        match marker.kind:
            case "opener":
                return self._take_opener(found_marker, marker)
            case "result":
                return self._take_result(found_marker, marker)
            case "token":
                return self._take_token(found_marker, marker)
            case "foreign":
                return self._take_foreign_turn(found_marker, marker)
            case "reasoning":
                return self._open_reasoning(found_marker)
            case "reasoned":
                return self._close_reasoning(found_marker)
            case _:
                if not self._is_stray(found_marker):
                    return False
                return self._take_out(found_marker, framed=self._behind_call)

    def _take_opener(self, found_marker: FoundMarker, marker: Marker) -> bool:
        """Open a frame where its opener may stand, and what follows may be a request."""
        start = found_marker.start
        following_text = found_marker.held[start : start + MAX_LEAD_LENGTH]
        if found_marker.text in ("{", "[") and not may_begin_request(following_text, self._tools):
            return False
        if self._runs and self._tells_result(found_marker):
            return self._end_turn(found_marker)
        if not self._may_open(found_marker, marker):
            return False
        self._open_frame(found_marker, marker)
        return True

    def _take_result(self, found_marker: FoundMarker, marker: Marker) -> bool:
        """A result: after a call invented, else told once more."""
        if self._called and self._runs:
            return self._end_turn(found_marker)
        if marker.dialects:
            self._open_frame(found_marker, marker)
        return bool(marker.dialects)

    def _tells_result(self, found_marker: FoundMarker) -> bool:
        """Tell whether a line right after a call is the result, which begins a reply elsewhere."""
        is_behind = self._behind_call and not (self._behind_plain or found_marker.before.strip())
        return is_behind and not found_marker.lead and self._markers.is_turn(found_marker.text)

    def _end_turn(self, found_marker: FoundMarker) -> bool:
        """Somebody else's turn begins here."""
        self._show(found_marker.start)
        self.over = True
        return True

    def _take_out(self, found_marker: FoundMarker, further: int = 0, framed: bool = False) -> bool:
        """Give out what stands before as text, and the marker and `further` text as framing."""
        framed = framed and not found_marker.before.strip()
        self._show(found_marker.start)
        self._emit("frame end" if framed else "framing", len(found_marker.text) + further)
        self._lead = ""
        return True

    def _take_token(self, found_marker: FoundMarker, marker: Marker) -> bool | None:
        """A control token: framing, and perhaps the head of somebody else's turn."""
        if marker.where == "reply" and (self._called or self._has_begun(found_marker)):
            return False
        if found_marker.text == "</s>" and not (found_marker.final or found_marker.behind.strip()):
            return None
        if not self._is_token(found_marker):
            return False
        header = read_header(found_marker.text, found_marker.behind, found_marker.final)
        if header is None:
            return None
        if self._begins_foreign_turn(header, found_marker):
            return self._end_turn(found_marker)
        return self._take_out(found_marker, header.size, framed=self._behind_call)

    def _begins_foreign_turn(self, header: Header, found_marker: FoundMarker) -> bool:
        if header.turn == "result":
            return self._called
        began = self._called or self._has_begun(found_marker)
        return header.turn == "foreign" and (began or found_marker.text[0] != "[")

    def _has_begun(self, found_marker: FoundMarker) -> bool:
        """Something was said before this place."""
        return self._began or bool(found_marker.before.strip())

    def _is_token(self, found_marker: FoundMarker) -> bool:
        """Tell whether what has the form of a control token is one where it stands."""
        token = found_marker.text
        if token in ANSWERS or token == "<s>":
            if self._has_begun(found_marker):
                return False
            self._answer = f"</{token[1:]}"
        elif token in ANSWER_ENDS:
            return token == self._answer
        elif token == "</s>":  # else the end of what is crossed out
            return found_marker.behind.lstrip()[:1] in ("", "<", "[")
        return not names_call(token) or self._is_stray(found_marker)

    def _belongs_to_dialogue(self, found_marker: FoundMarker, began: bool) -> bool:
        """Tell whether the reply begins with the turns of somebody, or a colon announced them."""
        is_announced = (self._near + found_marker.before).rstrip().endswith(":")
        self._tells_dialogue = self._tells_dialogue or not began or is_announced
        return self._tells_dialogue

    def _take_foreign_turn(self, found_marker: FoundMarker, marker: Marker) -> bool:
        """A line that begins somebody else's turn: after a call, or alone at the end."""
        if found_marker.lead:
            return False
        began = self._called or self._has_begun(found_marker)
        if (self._called and self._runs) or (marker.where == "anywhere" and began):
            return self._end_turn(found_marker)
        if self._belongs_to_dialogue(found_marker, began):
            return False
        if marker.dialects:
            self._open_frame(found_marker, marker)
        return bool(marker.dialects)

    def _open_reasoning(self, found_marker: FoundMarker) -> bool | None:
        """Reasoning begins at the start of a reply, after a frame, or on a line of its own."""
        opener, following_text = found_marker.text, found_marker.behind
        if not self._has_begun(found_marker):
            return self._begin_reasoning(found_marker)
        if opener in WORDY:
            return False
        if self._follows_directly(found_marker):
            return self._begin_reasoning(found_marker)
        if found_marker.lead:
            return self._mention(opener)
        if not (following_text or found_marker.final):
            return None
        if following_text[:1] in ("", "\r", "\n") or opener.startswith("<|"):
            return self._begin_reasoning(found_marker)
        return self._mention(opener)

    def _follows_directly(self, found_marker: FoundMarker) -> bool:
        """Right after a call, or stuck to a text after earlier reasoning."""
        if self._behind_call and not found_marker.before.strip():
            return True
        return self._thought and bool(self._last_before(found_marker).strip())

    def _mention(self, marker: str) -> bool:
        """Note a marker that is text, for the one that would end what it opens."""
        self._mentioned.add(marker)
        return False

    def _last_before(self, found_marker: FoundMarker) -> str:
        """The character right before it, if there is one."""
        return (found_marker.before or self._near)[-1:]

    def _begin_reasoning(self, found_marker: FoundMarker) -> bool:
        self._take_out(found_marker)
        self._end_markers, self.opened = REASONING[found_marker.text], found_marker.text
        return True

    def _close_reasoning(self, found_marker: FoundMarker) -> bool:
        """The closer of reasoning that nobody opened: what came before it was thought."""
        if found_marker.text in STRIPPED_CLOSERS:
            return self._close_stripped(found_marker)
        opener = next(tag for tag, closers in REASONING.items() if found_marker.text in closers)
        if opener in self._mentioned:  # `between <think> and </think>`
            return False
        # After reasoning or a call it is one too many, and an answer that is only shown was sorted
        # before: what stands in front of it stays text.
        if self._thought or self._called or not self._runs:
            return self._take_out(found_marker)
        return self._split(found_marker, len(found_marker.text))

    def _close_stripped(self, found_marker: FoundMarker) -> bool:
        """The names of channels without their tokens: only where the first stands before."""
        begins = (self._first + found_marker.before).lstrip().startswith(STRIPPED_OPENER)
        is_split = begins and self._runs and not (self._thought or self._called)
        return is_split and self._split(found_marker, STRIPPED_CLOSERS[found_marker.text])

    def _split(self, found_marker: FoundMarker, size: int) -> bool:
        """Give out what stands before as text that was thought, and its closer."""
        self._show(found_marker.start)
        self._emit("closer", size)
        self._thought, self._began, self._lead = True, False, ""
        return True

    def _is_stray(self, found_marker: FoundMarker) -> bool:
        """Framing after a call, or without its opener: on a line of its own, or stuck to text."""
        if self._behind_plain:
            return False
        if self._behind_call and not found_marker.before.strip():
            return True
        if MENTION.match(found_marker.text) is None:
            return False
        name = found_marker.text.strip("</[]>|")
        if any(name in opener for opener in self._mentioned):
            return False
        if not found_marker.lead:
            return True
        # The end of a call that is text: `[stop()]<|tool_call_end|>`, or of a sentence.
        previous_character = self._last_before(found_marker)
        return previous_character.isalnum() or previous_character in ".!?}])"

    def _may_open(self, found_marker: FoundMarker, marker: Marker) -> bool:
        """Tell whether an opener may open where it stands."""
        if self._given_back > PATIENCE or self._alarms > ALARMS:
            return False
        if marker.where == "behind":
            return self._behind_call and not found_marker.before.strip()
        if marker.where == "reply":
            return not self._has_begun(found_marker)
        if marker.where == "line" and found_marker.lead:
            return False
        # Without a marker of its own, what prose announces as an example is one.
        plain = all(dialect.fenced for dialect in marker.dialects)
        return not (plain and introduces_example(self._near + found_marker.before))

    def _open_frame(self, found_marker: FoundMarker, marker: Marker) -> None:
        opener, quote = found_marker.text, self._last_before(found_marker)
        self._show(found_marker.start)
        self._held = self._held[len(opener) :]  # `_at` stays where the request begins
        readers = marker.dialects
        if found_marker.lead and opener in WEAK:  # the others want it at the start of a line
            readers = tuple(reader for reader in readers if opener in reader.start_markers)
        make_detector = make_code_end if opener[0] == "`" else marker.make_end_detector
        assert make_detector is not None, "every opener has one"
        end_detector = make_detector(opener, self._tools)
        self._frame = Frame(
            opener, readers, end_detector, self._tools, bool(found_marker.lead), quote
        )

    def _show(self, size: int) -> None:
        """Give out text, by what it stands in."""
        if not size:
            return
        text = self._held[:size]
        if text.strip():
            self._began, self._behind_call, self._behind_plain = True, False, False
        self._near = (self._near + text)[-MAX_DISTANCE:]
        if len(self._first) < len(STRIPPED_OPENER):
            self._first = (self._first + text).lstrip()[: len(STRIPPED_OPENER)]
        position = 0
        for code_turn in self._code_turns:
            self._show_part(code_turn - position)
            position = code_turn
            self._in_code = not self._in_code
        self._show_part(size - position)
        self._code_turns = []

    def _show_part(self, size: int) -> None:
        """Give out text of which all is code, or none."""
        text = self._held[:size]
        if self._in_code:
            self._emit("code", size)
        else:
            self._emit_lines(text)
        _, line_break, last_line = text.rpartition("\n")
        if line_break:
            self._lead = ""
        self._lead = self._lead or last_line.strip(BLANKS)[:1]

    def _emit_lines(self, text: str) -> None:
        """Give out prose, the lines of quotes and of tables apart."""
        kind: Kind = LINES.get(self._lead or text.lstrip(BLANKS)[:1], "prose")
        sent_length = 0
        for match in LINE.finditer(text):
            lead, line_kind = match["lead"], LINES.get(match["lead"], "prose")
            if lead and line_kind != kind:
                self._emit(kind, match.start("lead") - sent_length)
                sent_length, kind = match.start("lead"), line_kind
        self._emit(kind, len(text) - sent_length)


def _count_overlap(text: str, marker: str) -> int:
    """Count the characters at the end of the text that may begin the marker."""
    for size in range(min(len(marker) - 1, len(text)), 0, -1):
        if text.endswith(marker[:size]):
            return size
    return 0
