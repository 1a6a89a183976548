"""Turn the pieces of one reply into text to show, reasoning, and tools to call.

All streaming state lives here. A piece is looked at once: text is passed on as soon as it cannot
be part of a marker, a request is collected in a list and joined once when its end is known. So
the result never depends on how the reply was cut, and the time is linear in its length.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from andy_cli.compiler.bodies.ends import Fence, Inline
from andy_cli.compiler.bodies.fences import unfenced
from andy_cli.compiler.dialect import Body, Dialect, Parsed, Tools
from andy_cli.compiler.markers import REASONING, Marker, Markers
from andy_cli.compiler.named import BLANKS
from andy_cli.compiler.native_calls import NativeCalls
from andy_cli.compiler.prose import REACH, introduces_example
from andy_cli.messages import Chunk, ToolRequest


class Visible(NamedTuple):
    """What a piece of the reply adds to what may be shown."""

    text: str = ""
    reasoning: str = ""


class CompiledReply(NamedTuple):
    text: str = ""
    reasoning: str = ""
    requests: tuple[ToolRequest, ...] = ()
    dialect: str = ""
    """The dialect of the requests; empty when there are none."""
    spans: tuple[tuple[int, int], ...] = ()
    repairs: tuple[str, ...] = ()
    fault: str = ""
    """What was wrong with a request, in words the model can act on."""
    incomplete: bool = False
    """A request was cut off; it is not among the requests."""


class Compiler:
    """Reads one reply. Build a new one for each; they are cheap."""

    def __init__(
        self,
        markers: Markers,
        tools: Tools | None = None,
        reasoning_open: bool = False,
        inner: bool = False,
        plain: Collection[tuple[int, int]] = (),
    ) -> None:
        """`inner`: this reads a part of a reply once more, and no part of that again.

        `plain`: what earlier was read as requests there, and is text.
        """
        self._inner = inner
        self._plain = plain
        self._markers = markers
        self._tools: Tools = tools or {}
        self._native = NativeCalls()
        self._held = ""
        self._at = 0  # where in the reply `_held` starts
        self._code = ""  # the run of backticks that opened the code we are in
        self._line_start = True
        self._closers: tuple[str, ...] = REASONING["<think>"] if reasoning_open else ()
        self._body: Body | None = None
        self._opener = ""
        self._readers: tuple[Dialect, ...] = ()  # who may read what the opener began
        self._collected: list[str] = []
        self._space = ""  # white space that is only shown if something follows
        self._taken_out = False  # something was, and no text has followed yet
        self._behind_call = False  # that was a request
        self._behind_plain = False  # ... which is text
        self._gap = ""  # the white space since then
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._new: tuple[list[str], list[str]] = ([], [])
        self._parsed: list[Parsed] = []
        self._shown_behind = 0  # behind so many of them
        self._spans: list[tuple[int, int]] = []
        self._dialect = ""
        self._given_back = 0  # characters that were read as a request and were none
        self._alarms = 0  # how often something looked like a request and was none
        self.relabelled = False
        """What was shown has turned out to be reasoning."""
        self._unsettled = False  # the last request ran to the end of the reply

    def take(self, chunk: Chunk) -> Visible:
        """The next piece as a client yields it."""
        if chunk.call is not None:
            self._native.add(chunk.call)
        if chunk.reasoning:
            self._reasoning.append(chunk.reasoning)
            return Visible(self.feed(chunk.text).text if chunk.text else "", chunk.reasoning)
        return self.feed(chunk.text)

    def feed(self, text: str) -> Visible:
        """The next piece of text; returns what can now be shown."""
        for at in range(0, len(text), PIECE):
            self._read(text[at : at + PIECE], final=False)
        return self._visible()

    def finish(self, cut_off: bool = False) -> tuple[Visible, CompiledReply]:
        """The reply is complete, or `cut_off` by length or a failure: what is left, and all."""
        self._read("", final=True)
        if self._closers:
            self._rehearsed()
        if cut_off and self._unsettled:
            self._parsed[-1] = Parsed(incomplete=True)
        if not (self._parsed or self._taken_out):
            self._pass_on(self._space)
        last = self._visible()
        requests, native_incomplete = self._native.requests(complete=not cut_off)
        written = self._requests(self._parsed)
        reply = CompiledReply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            requests=tuple(requests) or written,
            dialect="native" if requests else self._dialect if written else "",
            spans=tuple(self._spans),
            repairs=tuple(repair for parsed in self._parsed for repair in parsed.repairs),
            fault=next((parsed.fault for parsed in self._parsed if parsed.fault), ""),
            incomplete=native_incomplete or any(parsed.incomplete for parsed in self._parsed),
        )
        return last, reply

    @property
    def blank(self) -> str | None:
        """The white space at the end that is not shown yet; None if more than that is held back."""
        held = self._held or self._body or self._closers or self._taken_out
        return None if held else self._space

    @property
    def followed(self) -> tuple[ToolRequest, ...]:
        """Requests in the text behind which something was shown."""
        return self._requests(self._parsed[: self._shown_behind])

    def _requests(self, parsed: Sequence[Parsed]) -> tuple[ToolRequest, ...]:
        return tuple(request for each in parsed for request in self._marked(each))

    def _marked(self, parsed: Parsed) -> Sequence[ToolRequest]:
        """Requests that may as well be an example are marked so if there is prose beside them."""
        if parsed.quotable and self._text:
            return [request._replace(quoted=True) for request in parsed.requests]
        return parsed.requests

    # One state at a time: inside a request, inside reasoning, or in text. Each consumes what it
    # can and hands on; a state that needs more text to decide leaves it in `_held`.

    def _read(self, text: str, final: bool) -> None:
        self._held += text
        while self._held or final:
            before = (len(self._held), self._body, self._closers)
            if self._body is not None:
                self._in_request(final)
            elif self._closers:
                self._in_reasoning(final)
            else:
                self._in_text(final)
            if (len(self._held), self._body, self._closers) == before:
                return

    def _in_request(self, final: bool) -> None:
        assert self._body is not None
        end = self._body.feed(self._held) if self._held else None
        if end is not None and end >= 0:
            self._collected.append(self._held[:end])
            self._held = self._held[end:]
            self._close_request(at_end=False)
        elif end is not None:
            self._collected.append(self._held)
            self._held = ""
            self._false_alarm()
        else:
            self._collected.append(self._held)
            self._held = ""
            if final:
                self._close_request(at_end=True)

    def _close_request(self, at_end: bool) -> None:
        """The end of a request is known: one of the dialects with this opener can read it."""
        written = self._opener + "".join(self._collected)
        for dialect in self._readers:
            parsed = dialect.parse(written, self._tools)
            if parsed is None:
                continue
            self._body = None
            self._unsettled = at_end and not parsed.settled and bool(parsed.requests)
            self._consume(written, dialect, parsed)
            return
        if self._opener[0] == "`" and (framed := self._in_fence(written)):
            self._body = None
            self._consume(written, *framed)
        elif not at_end and all(dialect.whole for dialect in self._readers):
            self._body, self._collected = None, []
            self._show(written)
            self._at += len(written)
        else:
            self._given_back += len(written)
            self._false_alarm()

    def _in_fence(self, written: str) -> tuple[Dialect, Parsed] | None:
        """A fence around nothing but requests that have markers of their own is framing."""
        content, _ = unfenced(written)
        if self._inner or content[:1] not in "<[|" or not content:
            return None
        again = Compiler(self._markers, self._tools, inner=True)
        again.feed(content)
        _, reply = again.finish()
        if not reply.requests or reply.text.strip():
            return None
        dialect = next(each for each in self._markers.all if each.name == reply.dialect)
        return dialect, Parsed(reply.requests, quotable=True)

    def _consume(self, written: str, dialect: Dialect, parsed: Parsed) -> None:
        span = (self._at, self._at + len(written))
        self._at += len(written)
        self._collected = []
        if span in self._plain:
            self._show(written)
            self._unsettled = False
            self._behind_call = self._behind_plain = True  # a list of requests goes on
            return
        self._behind_plain = False
        self._spans.append(span)
        self._think(parsed.reasoning)
        self._show(parsed.text)
        self._take_out()
        self._closers = parsed.thinks_until
        if parsed.requests or parsed.incomplete or parsed.fault:
            self._dialect = self._dialect or dialect.name
            requests = tuple(each._replace(span=span) for each in parsed.requests)
            self._parsed.append(parsed._replace(requests=requests))
        self._behind_call = bool(
            parsed.requests or parsed.incomplete or parsed.fault or parsed.text
        )

    def _take_out(self) -> None:
        self._taken_out = True
        self._line_start = True  # what stood between is not on the line any more

    def _false_alarm(self) -> None:
        """It was text: show the first character of the marker and look again behind it."""
        written = self._opener + "".join(self._collected)
        fence = self._opener[0] == "`"
        shown = len(self._opener) if fence else 1
        self._alarms += 1
        self._code = self._opener if fence else self._code
        self._body, self._collected = None, []
        self._show(written[:shown])
        self._at += shown
        self._held = written[shown:] + self._held

    def _in_reasoning(self, final: bool) -> None:
        found = min(
            ((at, each) for each in self._closers if (at := self._held.find(each)) >= 0),
            default=None,
        )
        if found:
            at, closer = found
            self._think(self._held[:at])
            # What also begins something is left for those who read it.
            self._drop(at if closer in self._markers.heads else at + len(closer))
            self._closers = ()
            self._take_out()
            return
        keep = 0 if final else max(_overlap(self._held, each) for each in self._closers)
        sure = len(self._held) - keep
        self._think(self._held[:sure])
        self._drop(sure)

    def _rehearsed(self) -> None:
        """Reasoning that never ended: a request in it was meant."""
        self._closers = ()
        if self._inner:
            return
        again = Compiler(self._markers, self._tools, inner=True)
        again.feed("".join(self._reasoning))
        _, reply = again.finish()
        if reply.requests:
            requests = tuple(each._replace(span=(0, 0)) for each in reply.requests)
            self._parsed.append(Parsed(requests, ("took a request from open reasoning",)))
            self._dialect = reply.dialect
            self._reasoning = [reply.text]

    def _in_text(self, final: bool) -> None:
        held = self._held
        sure = (
            len(held) if final else self._markers.unsure(held, self._line_start, self._behind_call)
        )
        for found, start, end in self._markers.find(held, self._line_start, self._behind_call):
            if end > sure:
                sure = min(sure, start)  # its end may yet belong to another one
                break
            before = held[:start]
            if found == "\n":
                self._code = "" if len(self._code) < FENCE else self._code
            elif found[0] == "`":
                if self._backticks(found, before):
                    self._open(found, Marker("opener", dialects=self._markers.fenced), before)
                    return
            elif not self._code and self._marker(found, before):
                return
        self._show(held[:sure])
        self._drop(sure)

    def _marker(self, found: str, before: str) -> bool:
        """Act on a marker; False if it does not count where it stands and is text."""
        marker = self._markers[found]
        if not self._counts(marker, before):
            return False
        if marker.kind == "opener":
            self._open(found, marker, before)
            return True
        self._show(before)
        self._drop(len(before) + len(found))
        if marker.kind == "reasoning":
            self._closers = REASONING[found]
        elif marker.kind == "reasoned":
            self._relabel()
        elif marker.kind == "closer":
            self._gap = ""  # what stood before it is inside the framing
        return True

    def _relabel(self) -> None:
        """Reasoning that the prompt had opened ends here: what was taken for text was thought."""
        self._reasoning += [*self._text, self._space]
        self._text, self._space = [], ""
        self.relabelled = True
        self._take_out()

    def _counts(self, marker: Marker, before: str) -> bool:
        if marker.kind == "opener" and not self._may_open(marker.dialects, before):
            return False
        if marker.kind == "closer" and self._behind_plain:
            return False
        if marker.kind == "closer" or marker.where == "behind":
            return self._behind_call and not before.strip()
        if marker.where == "reply":
            return not self._text and not before.strip()
        return marker.where == "anywhere" or self._starts_line(before)

    def _may_open(self, readers: Sequence[Dialect], before: str) -> bool:
        """Without a marker of its own, what prose announces as an example is one."""
        if self._given_back > PATIENCE or self._alarms > ALARMS:
            return False
        return not (all(each.fenced for each in readers) and self._an_example(before))

    def _an_example(self, before: str) -> bool:
        said = "".join([*self._text[-REACH:], self._space, before])
        return introduces_example(said)

    def _open(self, opener: str, marker: Marker, before: str) -> None:
        self._show(before)
        self._drop(len(before))
        self._held = self._held[len(opener) :]  # `_at` stays where the request begins
        self._opener, self._readers = opener, marker.dialects
        fence = opener[0] == "`"
        inline = fence and len(opener) < FENCE
        body = Inline if inline else Fence if fence else marker.body
        assert body is not None, "every opener has one"
        self._body = body(opener, self._tools)

    def _backticks(self, run: str, before: str) -> bool:
        """Keep track of inline code and fences; True if a fence may be a request's own.

        A fence opens and closes at the start of a line.
        """
        if self._code:
            if len(self._code) < FENCE:
                self._code = "" if len(run) == len(self._code) else self._code
            elif len(run) >= len(self._code) and self._starts_line(before):
                self._code = ""
        elif len(run) < FENCE:
            whole = not self._text and not before.strip() and bool(self._markers.fenced)
            self._code = "" if whole else run
            return whole
        elif self._starts_line(before):
            framing = bool(self._markers.fenced) and not self._an_example(before)
            self._code = "" if framing else run
            return framing
        return False

    def _starts_line(self, before: str) -> bool:
        line = before.rpartition("\n")[2]
        return not line.strip(BLANKS) and ("\n" in before or self._line_start)

    def _drop(self, count: int) -> None:
        self._at += count
        self._held = self._held[count:]

    def _show(self, text: str) -> None:
        """Pass text on, its trailing white space only when something follows.

        Where a request or reasoning was taken out, white space is kept on one side: the one with
        more line breaks.
        """
        if not text:
            return
        line = text.rpartition("\n")
        self._line_start = not line[2].strip(BLANKS) and (bool(line[1]) or self._line_start)
        body = text.strip() and text.rstrip()
        if self._taken_out:
            self._gap += text[: len(text) - len(text.lstrip())]
            if not body:
                return
            body = body.lstrip()
            before, after = self._space, self._gap
            self._space = after if after.count("\n") > before.count("\n") else before
            self._space = self._space if self._text else ""
            self._taken_out, self._gap = False, ""
        elif not body:
            self._space += text
            return
        self._behind_call = self._behind_plain = False
        self._shown_behind = len(self._parsed)
        self._pass_on(self._space + body)
        self._space = text[len(text.rstrip()) :]

    def _pass_on(self, text: str) -> None:
        if text:
            self._text.append(text)
            self._new[0].append(text)

    def _think(self, text: str) -> None:
        if text:
            self._reasoning.append(text)
            self._new[1].append(text)

    def _visible(self) -> Visible:
        if not (self._new[0] or self._new[1]):
            return NOTHING
        seen = Visible("".join(self._new[0]), "".join(self._new[1]))
        self._new = ([], [])
        return seen


FENCE = 3
PIECE = 4096
"""Characters that are read at once: what is copied and searched at each marker stays small."""
PATIENCE, ALARMS = 500_000, 5_000
"""Characters that may be read again in vain, and how often; openers are text from then on. A reply
of nothing but openers would take the square of its length otherwise."""
NOTHING = Visible()


def _overlap(text: str, marker: str) -> int:
    """How many characters at the end of the text may be the beginning of the marker."""
    for size in range(min(len(marker) - 1, len(text)), 0, -1):
        if text.endswith(marker[:size]):
            return size
    return 0


def tools_by_name(functions: Sequence[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """OpenAI function tools under their names; entries without a name are left out."""
    named: dict[str, Mapping[str, object]] = {}
    for each in functions:
        function = each.get("function", each)
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            named[str(function["name"])] = {"type": "function", "function": function}
    return named
