"""Turn the segments of one reply into text to show, reasoning, and tools to call.

The lexer says what stands where; here it is decided what of it may be run and what is shown. A
request that is not run goes back to the text, and what is neither shown nor run is listed. Where a
user asked for code or data to read, what looks like a request is text: that is told by the names of
notations, which are the same in every language; a file's ending names none.

What is shown is joined by one rule for every front end: where something was taken out, no blank
line and no double blank is left. Text arrives in pieces; white space at the end waits for what
follows it.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple, Protocol

from andy_cli.compiler.bodies.calls import says_no_call
from andy_cli.compiler.bodies.wrappings import is_only_framing
from andy_cli.compiler.control_tokens import FENCES, PROMPTED
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.dialects.native import NativeCalls
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.lexing.frame import Frame
from andy_cli.compiler.lexing.framing import (
    LETTER,
    LONE_CALL,
    LONE_OBJECT,
    PLAIN_JSON,
    read_unknown_call,
)
from andy_cli.compiler.lexing.lexer import SHOWN, Lexer, Segment
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.lexing.open_calls import OpenCall
from andy_cli.compiler.mapper.json_schema import PARAMETER_KEYS, add_aliases
from andy_cli.foreign_values import standardize_required
from andy_cli.messages import Chunk, ToolRequest

NOTATION = Expression(
    r"(?i)(?<![\w./\\-])(?:json|jsonl|yaml|xml|toml|html|python|javascript|typescript|code|codes"
    r"|snippet|snippets|schema|schemas|regex|codebeispiel|beispielcode)(?![\w/\\-]|\.\w)|```"
)
"""Words that name how something is written."""


def asks_for_code(user: str) -> bool:
    """Tell whether the user's words name a notation to write in."""
    return NOTATION.search(user) is not None


PUNCTUATION = ",.;:!?)"
ENDS = ".!?:"


class WhitespaceJoiner:
    """Joins the pieces that are shown, so that no blank line and no double blank is left where
    something was taken out between them."""

    def __init__(self) -> None:
        self._space = ""
        """White space after what was shown, which waits for what comes next."""
        self._gap = ""
        """The white space since something was taken out."""
        self._taken_out = False
        self._last = ""
        """The last character that was shown."""
        self._new: list[str] = []
        """The pieces that were not passed on yet."""

    @property
    def empty(self) -> bool:
        """Nothing but white space has come so far."""
        return not self._last

    @property
    def blank(self) -> str | None:
        """The white space that waits; None where what waits is more than that."""
        return None if self._taken_out else self._space

    def show(self, text: str) -> None:
        if self._taken_out:
            body = text.lstrip()
            self._gap += text[: len(text) - len(body)]
            if not body:
                return
            self._space, text = self._join(body[0]), body
            self._taken_out, self._gap = False, ""
        body = text.rstrip()
        if not body:
            self._space += text
            return
        self._new += [self._space, body]
        self._space, self._last = text[len(body) :], body[-1]

    def take_out(self) -> None:
        """Note that something that stood here is not shown."""
        if self._gap.count("\n") > self._space.count("\n"):
            self._space = self._gap
        self._taken_out, self._gap = True, ""

    def take_frame_out(self) -> None:
        """Note that a frame ends here: the white space before it was inside it."""
        self._gap, self._taken_out = "", True

    def drop_all(self) -> str:
        """Take back all that was shown or waits; returns what had not been passed on."""
        text = "".join([*self._new, self._space])
        self._new, self._space, self._gap, self._last = [], "", "", ""
        self._taken_out = True
        return text

    def _join(self, first_character: str) -> str:
        """Choose the white space between the two texts; the one after keeps its indent."""
        earlier_space, later_space = self._space, self._gap
        _, line_break, indent = later_space.rpartition("\n")
        if not self._last:
            return indent if line_break else ""
        if later_space.count("\n") > earlier_space.count("\n"):
            return later_space
        if line_break:
            return earlier_space[: earlier_space.rfind("\n") + 1] + indent
        return self._join_words(earlier_space, later_space, first_character)

    def _join_words(self, earlier_space: str, later_space: str, first_character: str) -> str:
        """Choose the white space between two texts of which the second begins no line."""
        if earlier_space + later_space == "" and self._last in ENDS and first_character.isupper():
            return " "
        if "\n" not in earlier_space and not later_space and first_character in PUNCTUATION:
            return ""
        return earlier_space or later_space

    def pass_on(self) -> str:
        """Pass on what can be since the last time."""
        text, self._new = "".join(self._new), []
        return text

    def finish(self) -> str:
        """All that is left; after what was taken out no white space stays."""
        return self.pass_on() + ("" if self._taken_out else self._space)


class Visible(NamedTuple):
    """The part of a piece of the reply that may be shown."""

    text: str = ""
    reasoning: str = ""
    retracted: bool = False
    """All text before this piece has turned out to be reasoning."""
    unthought: bool = False
    """All reasoning before this piece has turned out to be text."""


class Hidden(NamedTuple):
    """A stretch of the reply that is neither shown nor run."""

    kind: str
    start: int
    end: int


class CompiledReply(NamedTuple):
    text: str = ""
    reasoning: str = ""
    requests: tuple[ToolRequest, ...] = ()
    dialect: str = ""
    """The dialect of the requests; empty when there are none."""
    spans: tuple[tuple[int, int], ...] = ()
    """The places of requests, those included that could not be read."""
    repairs: tuple[str, ...] = ()
    fault: str = ""
    """The fault of a request, in words the model can act on."""
    unreadable_name: str = ""
    """The tool that a request with a fault names, where that much could be read."""
    incomplete: bool = False
    """A request was cut off; it is not among the requests."""
    hidden: tuple[Hidden, ...] = ()
    """Neither shown nor run: framing, and what the model said in somebody else's name."""
    thought_first: bool | None = None
    """It began inside reasoning that the prompt had opened; None where that cannot be told."""
    shown_requests: tuple[ToolRequest, ...] = ()
    """Requests in fences between words: shown and not run, as they may be examples."""


NOTHING_VISIBLE = Visible()
Opened = Literal["", "likely", "known"]
"""If the prompt has opened the reasoning. Where that is only `likely`, a reply without the closer
is an answer."""


class ProseFilter(Protocol):
    """Says the prose of a reply otherwise: no code, no quotation and no call passes through it."""

    def feed(self, text: str) -> list[str]:
        """The next piece; returns what can be shown. An empty text: something was taken out."""
        ...

    def pass_by(self, text: str) -> list[str]:
        """Pass by what is no prose, or with "" nothing that is shown; returns what was held."""
        ...


class Compiler:
    """Reads one reply. Build a new one for each; they are cheap."""

    def __init__(
        self,
        markers: Markers,
        tools: Tools | None = None,
        reasoning_open: Opened = "",
        runs_requests: bool = True,
        plain_spans: Collection[tuple[int, int]] = (),
        wants_code: bool = False,
        keeps_objects: bool = True,
        prose: ProseFilter | None = None,
    ) -> None:
        """`runs_requests`: requests are meant to be run; else this is an answer that shows none.

        `plain_spans`: what earlier was read as requests there, and is text. `wants_code`: the
        user asked for code or JSON, so what has no marker of its own is what was asked for.
        `keeps_objects`: an object `{"tool": "x"}` of no tool that exists is text also beside
        other words.
        """
        self._markers = markers
        self._tools: Tools = add_aliases(tools or {})
        self._lexer = Lexer(
            markers, self._tools, bool(reasoning_open), runs_requests, plain_spans=plain_spans
        )
        self._likely = reasoning_open == "likely"
        self._runs, self._wants_code, self._plain = runs_requests, wants_code, plain_spans
        self._keeps_objects = keeps_objects and runs_requests
        self._prose = prose
        self._native = NativeCalls()
        self._joiner = WhitespaceJoiner()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._new_reasoning: list[str] = []
        self._parsed: list[Parsed] = []
        self._shown_behind = 0  # after so many of them
        self._spans: list[tuple[int, int]] = []
        self._hidden: list[Hidden] = []
        self._dialect = ""
        self._waiting: list[Segment] = []  # fences with requests, until it is known what follows
        self._examples = False  # a fence with a request was an example
        self._shown_requests: list[ToolRequest] = []
        self._unsettled = False  # the last request ran to the end of the reply
        self._retracted = self._unthought = False
        self.relabelled = False
        """Text that was shown has turned out to be reasoning."""

    @property
    def over(self) -> bool:
        """Nothing that may still come belongs to the reply."""
        return self._lexer.over

    def take(self, chunk: Chunk) -> Visible:
        """The next piece as a client yields it."""
        if chunk.call is not None:
            self._native.add(chunk.call)
        if chunk.reasoning:
            if self._likely:  # its server keeps the two apart
                self._likely = False
                self._lexer.leave_reasoning()
            self._reasoning.append(chunk.reasoning)
            return Visible(self.feed(chunk.text).text if chunk.text else "", chunk.reasoning)
        return self.feed(chunk.text)

    def feed(self, text: str) -> Visible:
        """The next piece of text; returns what can now be shown."""
        segments = self._lexer.feed(text)
        if not segments:
            return NOTHING_VISIBLE
        for segment in segments:
            self._take(segment)
        return self._pass_on(self._joiner.pass_on())

    def finish(self, cut_off: bool = False) -> tuple[Visible, CompiledReply]:
        """End the reply, complete or `cut_off` by length or a failure; returns the last piece to
        show, and what all of the reply means."""
        for segment in self._lexer.finish():
            self._take(segment)
        self._flush_prose()
        self._settle(as_text=False)
        if self._lexer.reasoning:
            self._end_open_reasoning(cut_off)
        if cut_off and self._unsettled:
            self._parsed[-1] = Parsed(incomplete=True)
        final_piece = self._pass_on(self._joiner.finish())
        return final_piece, self._compile(cut_off)

    def _compile(self, cut_off: bool) -> CompiledReply:
        """All that the reply means; a server's own calls count before those in the text."""
        native = self._native.read(complete=not cut_off)
        written = self._join_requests(self._parsed)
        text_dialect = self._dialect if written else ""
        faults = [parsed.fault for parsed in self._parsed if parsed.fault] + [native.fault]
        is_incomplete = any(parsed.incomplete for parsed in self._parsed)
        return CompiledReply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            requests=native.requests or written,
            dialect="native" if native.requests else text_dialect,
            spans=tuple(self._spans),
            repairs=tuple(chain.from_iterable(parsed.repairs for parsed in self._parsed)),
            fault=faults[0],
            unreadable_name=native.unreadable_name,
            incomplete=native.incomplete or is_incomplete,
            hidden=tuple(self._hidden),
            thought_first=self._tell_thought_first(cut_off),
            shown_requests=tuple(self._shown_requests),
        )

    def _tell_thought_first(self, cut_off: bool) -> bool | None:
        if self.relabelled or (self._likely and not self._lexer.reasoning):
            return True
        return False if self._unthought and not cut_off else None

    @property
    def blank(self) -> str | None:
        """The white space at the end that is not shown yet; None if more than that is held back."""
        is_held_back = self._lexer.holding or self._lexer.reasoning or self._waiting
        return None if is_held_back else self._joiner.blank

    @property
    def _open_frame(self) -> Frame | None:
        """The frame in which the first call of the reply is being written."""
        first = self._runs and not (self._parsed or self._waiting)
        return self._lexer.open_frame if first else None

    @property
    def open_text(self) -> str:
        """The first call of the reply as it was written in the text so far."""
        frame = self._open_frame
        return frame.written if frame is not None else ""

    @property
    def open_size(self) -> int:
        """Characters of the first call of the reply, while it is being written."""
        frame = self._open_frame
        return self._native.open_size or (frame.size if frame is not None else 0)

    def read_open_call(self) -> OpenCall | None:
        """Read the first call of the reply while it is being written, as far as it is sure.

        A server's own call is read as it came. This costs as much as reading all of it: ask now
        and then.
        """
        if native := self._native.open_call:
            return native
        frame = self._open_frame
        return frame.read_open(self._markers.protocol) if frame is not None else None

    @property
    def followed(self) -> tuple[ToolRequest, ...]:
        """Requests in the text after which something was shown."""
        return self._join_requests(self._parsed[: self._shown_behind])

    @property
    def settled(self) -> tuple[ToolRequest, ...]:
        """Requests in the text that are complete: nothing that may still come changes them."""
        if not self._parsed:
            return ()
        return self._join_requests(self._parsed[:-1] if self._unsettled else self._parsed)

    def _join_requests(self, parsed: Sequence[Parsed]) -> tuple[ToolRequest, ...]:
        return tuple(request for parsed_call in parsed for request in parsed_call.requests)

    def _take(self, segment: Segment) -> None:
        if segment.kind in SHOWN:
            self._take_text(segment)
            return
        self._flush_prose()
        match segment.kind:
            case "reasoning":
                self._add_reasoning(segment.text)
            case "closer":
                self._relabel(segment)
            case "framing" if segment.dialect in (LONE_OBJECT, LONE_CALL, LETTER):
                self._take_possible_answer(segment)
            case "call" if segment.fence and segment.fence not in FENCES:
                self._take_markerless(segment)
            case "call":
                self._take_call(segment)
            case _:
                self._hide(segment)

    def _take_text(self, segment: Segment) -> None:
        if self._prose is None:
            self._show_pieces([segment.text], segment.start)
        elif segment.kind in ("prose", "row"):
            self._show_pieces(self._prose.feed(segment.text), segment.start)
        else:
            self._show_pieces([*self._prose.pass_by(segment.text), segment.text], segment.start)

    def _flush_prose(self) -> None:
        if self._prose is not None:
            self._show_pieces(self._prose.pass_by(""))

    def _show_pieces(self, pieces: Sequence[str], start: int = 0) -> None:
        for piece in pieces:
            if not piece:
                self._joiner.take_out()
            elif piece.strip() and not (self._waiting and is_only_framing(piece)):
                fence = self._take_begun_fence(piece)
                self._settle(as_text=True)
                self._show(fence + piece)
            elif self._waiting:  # the end of a fence that never began is no word after it
                self._waiting.append(Segment("prose", start, piece))
            else:
                self._joiner.show(piece)

    def _take_begun_fence(self, piece: str) -> str:
        """Take the backticks that wait, where the piece is the info word after them."""
        is_begun = bool(self._waiting) and self._waiting[-1].text.endswith("```")
        if not is_begun or self._waiting[-1].kind != "prose" or piece[0].isspace():
            return ""
        return self._waiting.pop().text

    def _show(self, text: str) -> None:
        if text.strip():
            self._shown_behind = len(self._parsed)
        self._joiner.show(text)

    def _take_markerless(self, segment: Segment) -> None:
        """Take what may as well be an example or an object that was asked for."""
        if self._wants_code or self._examples or not self._runs:
            self._settle(as_text=True)
            self._show_request(segment)
        else:
            self._waiting.append(segment)

    def _take_possible_answer(self, segment: Segment) -> None:
        """Take framing that may be the whole answer: then it is shown after all."""
        is_alone = self._joiner.empty and self._runs
        is_object = segment.dialect != LETTER and (self._keeps_objects or self._wants_code)
        if is_object or (segment.dialect == LONE_CALL and not is_alone):
            self._settle(as_text=True)
            self._show(segment.text)
        elif is_alone:
            self._waiting.append(segment)
        else:
            self._hide(segment)

    def _settle(self, as_text: bool) -> None:
        """Decide what the waiting fences are: requests, unless words stand on both sides.

        With words on one side they are marked as quoted: whoever runs them asks first.
        """
        waiting, self._waiting = self._waiting, []
        followed = as_text and any(segment.fence for segment in waiting)
        self._examples |= followed
        as_text = as_text and not (followed and self._joiner.empty)
        for segment in waiting:
            if segment.kind == "call" and not as_text:
                self._take_call(segment, quoted=followed or not self._joiner.empty)
            else:
                self._settle_text(segment, as_text)

    def _settle_text(self, segment: Segment, as_text: bool) -> None:
        """Show a waiting segment that is no call after all; framing only if it is the answer.

        An object that is the whole reply and calls a tool that does not exist is no answer.
        """
        is_whole = segment.dialect in (LONE_OBJECT, LONE_CALL) and not (as_text or self._parsed)
        request = read_unknown_call(segment.text, self._tools) if is_whole else None
        if request is not None:
            self._take_call(segment._replace(parsed=Parsed((request,)), dialect=PLAIN_JSON))
        elif self._is_framing(segment, as_text):
            self._hide(segment)
        elif segment.dialect == LETTER:
            label, colon, answer = segment.text.partition(":")
            self._list_hidden(segment._replace(text=label + colon))
            self._show(answer.strip("* "))
        else:
            self._show_request(segment)

    def _is_framing(self, segment: Segment, as_text: bool) -> bool:
        """Tell whether a waiting segment that is no call is nothing that is shown."""
        if segment.kind == "framing":
            return bool(self._parsed) or (as_text and segment.dialect != LONE_CALL)
        return not as_text and bool(self._parsed) and is_only_framing(segment.text)

    def _show_request(self, segment: Segment) -> None:
        """Show a fence with a request that may be an example, and note the request."""
        if self._runs and not self._wants_code:
            self._shown_requests += segment.parsed.requests
        self._show(segment.text)

    def _take_call(self, segment: Segment, quoted: bool = False) -> None:
        parsed = segment.parsed
        self._spans.append(segment.span)
        self._add_reasoning(parsed.reasoning)
        if answer := parsed.text or ("" if self._runs else parsed.text_behind):
            self._joiner.take_out()
            self._take_answer(answer)
        self._joiner.take_out()
        if parsed.is_request:
            self._take_requests(segment, parsed, quoted)

    def _take_requests(self, segment: Segment, parsed: Parsed, quoted: bool) -> None:
        self._dialect = self._dialect or segment.dialect
        requests = tuple(
            request._replace(span=segment.span, quoted=quoted)
            for request in parsed.requests
            if not says_no_call(request.name, self._tools)
        )
        self._unsettled = bool(requests) and not parsed.settled
        self._parsed.append(parsed._replace(requests=requests))
        if not requests:
            self._list_hidden(segment)

    def _take_answer(self, text: str) -> None:
        """Show a text that a frame carries for the user."""
        lexer = Lexer(Markers([]), {}, runs_requests=False, is_nested=True)
        for segment in [*lexer.feed(text), *lexer.finish()]:
            if segment.kind in SHOWN:
                self._take_text(segment)
        self._flush_prose()

    def _hide(self, segment: Segment) -> None:
        if self._waiting and segment.kind != "invented":
            self._waiting.append(segment._replace(text=""))
        if segment.text.strip() or segment.kind == "invented":
            self._list_hidden(segment)
        if segment.kind == "frame end":
            self._joiner.take_frame_out()
        else:
            self._joiner.take_out()

    def _list_hidden(self, segment: Segment) -> None:
        start, end = segment.span
        last = self._hidden[-1] if self._hidden else None
        if last and (last.kind, last.end) == (segment.kind, start):
            self._hidden[-1] = last._replace(end=end)
        else:
            self._hidden.append(Hidden(segment.kind, start, end))

    def _add_reasoning(self, text: str) -> None:
        if text:
            self._reasoning.append(text)
            self._new_reasoning.append(text)

    def _relabel(self, closer: Segment) -> None:
        """Reasoning that the prompt had opened ends here: what was taken for text was thought."""
        self._settle(as_text=True)
        dropped_gaps = self._joiner.drop_all()
        self._add_reasoning("".join([*self._text, dropped_gaps]))
        self._retracted = bool(self._text)
        self._text = []
        self.relabelled = True
        self._list_hidden(closer)

    def _end_open_reasoning(self, cut_off: bool) -> None:
        """Reasoning that never ended: requests at its very end were meant."""
        text = "".join(self._reasoning)
        if self._likely:
            self._take_as_text(text)
        elif self._take_last_requests(text) or cut_off:
            return
        elif self._lexer.opened in PROMPTED:  # an answer that begins so
            self._reasoning = []
            self._joiner.show(self._lexer.opened + text)

    def _take_last_requests(self, reasoning: str) -> bool:
        """Take the requests after all words of open reasoning; False where there are none."""
        lexer = Lexer(self._markers, self._tools, is_nested=True)
        segments = [*lexer.feed(reasoning), *lexer.finish()]
        tail: list[Segment] = []
        while segments and _is_no_word(segments[-1]):
            tail.insert(0, segments.pop())
        asking = [segment for segment in tail if segment.parsed.requests]
        if not asking:
            return False
        requests = self._join_requests([segment.parsed for segment in asking])
        # Their places are those in the reasoning; in the text of the reply they have none.
        requests = tuple(request._replace(span=(0, 0)) for request in requests)
        self._parsed.append(Parsed(requests, ("took a request from open reasoning",)))
        self._dialect = asking[0].dialect
        self._reasoning = [segment.text for segment in segments]
        end = self._lexer.size
        self._spans.append((end - sum(len(segment.text) for segment in tail), end))
        return True

    def _take_as_text(self, text: str) -> None:
        """Take for text what was taken for reasoning since the prompt seemed to open it."""
        self._reasoning, self._new_reasoning = [], []
        self._likely, self._unthought = False, bool(text.strip())
        self._lexer = Lexer(
            self._markers, self._tools, runs_requests=self._runs, plain_spans=self._plain
        )
        for segment in [*self._lexer.feed(text), *self._lexer.finish()]:
            self._take(segment)
        self._flush_prose()
        self._settle(as_text=False)

    def _pass_on(self, text: str) -> Visible:
        if not (text or self._new_reasoning or self._retracted or self._unthought):
            return NOTHING_VISIBLE
        if text:
            self._text.append(text)
        reasoning = "".join(self._new_reasoning)
        visible = Visible(text, reasoning, self._retracted, self._unthought)
        self._new_reasoning, self._retracted = [], False
        return visible


def _is_no_word(segment: Segment) -> bool:
    return segment.kind in ("call", "framing", "frame end") or not segment.text.strip()


def tools_by_name(functions: Sequence[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """OpenAI function tools under their names; entries without a name are left out."""
    tools: dict[str, Mapping[str, object]] = {}
    for tool in functions:
        function = tool.get("function", tool)
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            standard = standardize_parameters(function)
            tools[str(function["name"])] = {"type": "function", "function": standard}
    return tools


def standardize_parameters(function: Mapping[str, object]) -> Mapping[str, object]:
    """Write the parameters of a function as all that reads them expects."""
    standard = dict(function)
    for key in PARAMETER_KEYS:
        schema = function.get(key)
        if isinstance(schema, Mapping):
            standard[key] = standardize_required(schema)
    return standard
