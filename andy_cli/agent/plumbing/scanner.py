"""Takes protocol out of text that arrives in pieces, and nothing else (C7, C9).

Reads as the compiler does, with the same markers and readers, but for what is never touched: code
fences whose info word is no protocol, inline code, block quotes and tables. What an opener began
and no reader accepts is text.
"""

from functools import lru_cache

from andy_cli.agent.plumbing.forms import (
    FENCE_FORM,
    FIRST_FORMS,
    FORMS,
    INLINE,
    INLINE_LABEL,
    LABEL,
    THOUGHT,
    cautious,
)
from andy_cli.agent.plumbing.gaps import Gaps
from andy_cli.compiler.dialect import Body, Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.markers import REASONING, Marker, Markers

OWN = (*FIRST_FORMS, *FORMS, INLINE_LABEL, FENCE_FORM, THOUGHT)
FENCE = 3
PIECE = 4096
"""Characters that are read at once: what is copied at each marker stays small."""
PATIENCE, ALARMS = 500_000, 20_000
"""Characters that may be read again in vain, and how often; openers are text from then on."""
BLANKS = " \t\r\ufeff"
LEAD = Expression(r"[ \t\r\ufeff]*")
STRAY = Expression(r"[<\[]/?.*(?:tool|function_call|invoke|TOOL|[|\uff5c])")


@lru_cache(maxsize=16)
def protocol(dialects: tuple[Dialect, ...], tools: tuple[str, ...]) -> Markers:
    """The markers of all dialects, and what else is protocol; ordinary fences are none."""
    open_dialects = [cautious(each)._replace(fenced=False) for each in dialects]
    return Markers([*FIRST_FORMS, *open_dialects, *FORMS], tools)


class Scanner:
    """Reads one text. Build a new one for each."""

    def __init__(self, markers: Markers, tools: Tools) -> None:
        self._markers = markers
        self._tools = tools
        self._gaps = Gaps()
        self._held = ""
        self._code = ""  # the run of backticks that opened the code we are in
        self._lead = ""  # the first character of the line that is not blank
        self._body: Body | None = None
        self._ended = False  # the body has, and what follows on its line is not known yet
        self._opener = ""
        self._weak = False  # the opener is none of its own: what follows on the line counts
        self._readers: tuple[Dialect, ...] = ()
        self._collected: list[str] = []
        self._closers: tuple[str, ...] = ()
        self._behind_call = False
        self._given_back = 0
        self._alarms = 0
        self._mentioned = False  # an opener that opened nothing: its closer may be mentioned too
        self._last = ""  # the last character of text before
        self.found: list[str] = []
        """What was taken out, in order."""

    def feed(self, text: str) -> str:
        for at in range(0, len(text), PIECE):
            self._read(text[at : at + PIECE], final=False)
        return self._gaps.passed()

    def finish(self) -> str:
        self._read("", final=True)
        return self._gaps.finish()

    def _read(self, text: str, final: bool) -> None:
        self._held += text
        while self._held or final:
            before = (len(self._held), self._body, self._closers, self._ended)
            if self._body is not None:
                self._in_protocol(final)
            elif self._closers:
                self._in_reasoning(final)
            else:
                self._in_text(final)
            if (len(self._held), self._body, self._closers, self._ended) == before:
                return

    def _in_protocol(self, final: bool) -> None:
        assert self._body is not None
        if not self._ended:
            end = self._body.feed(self._held) if self._held else None
            if end is not None and end < 0:
                self._next_reader()
                return
            size = len(self._held) if end is None else end
            self._collected.append(self._held[:size])
            self._held = self._held[size:]
            if end is None and not final:
                return
            self._ended = end is not None
        follows = self._held.lstrip(" \t")[:1]
        if self._weak and not follows and not final:
            return
        self._close(at_end=not self._ended, in_prose=self._weak and follows.isalnum())

    def _next_reader(self) -> None:
        """None of the dialects can read it: what no dialect reads may still be protocol."""
        own = tuple(each for each in self._readers if each in OWN)
        if own in ((), self._readers):
            self._false_alarm()
            return
        written = "".join(self._collected)
        self._given_back += len(written)
        self._held = written + self._held
        self._readers, self._collected = own, []
        self._body = own[0].body(self._opener, self._tools)

    def _close(self, at_end: bool, in_prose: bool) -> None:
        """Who can read it takes it out; in prose only what is a call of a tool that exists."""
        written = self._opener + "".join(self._collected)
        lone = at_end and written.strip() == self._opener  # named last, it opens nothing
        for reader in self._readers:
            if (in_prose and reader is not INLINE) or (lone and reader not in OWN):
                continue
            parsed = reader.parse(written, self._tools)
            if parsed is not None and not self._mentions(parsed):
                if reader in OWN and parsed.text:  # more than belongs to it: to be read as text
                    self._held = parsed.text + self._held
                    written = written.removesuffix(parsed.text)
                    parsed = Parsed()
                self._consume(written, parsed)
                return
        if not at_end and self._opener in ("{", "["):
            self._body, self._ended, self._collected = None, False, []
            self._show(written)
        else:
            self._given_back += len(written)
            self._false_alarm()

    def _mentions(self, parsed: Parsed) -> bool:
        """`<tool_call> and </tool_call>`: a word of prose, and no arguments, is no call."""
        return any(
            not any(map(str.isalnum, each.name))
            or (each.name.isalpha() and each.name not in self._tools and not each.arguments)
            for each in parsed.requests
        )

    def _consume(self, written: str, parsed: Parsed) -> None:
        self._body, self._ended, self._collected = None, False, []
        self._behind_call = True
        self._take_out(written)
        if parsed.text:
            self._show(parsed.text)
            self._gaps.take_out()
        self._closers = parsed.thinks_until

    def _take_out(self, written: str) -> None:
        self.found.append(written)
        self._gaps.take_out()

    def _false_alarm(self) -> None:
        written = self._opener + "".join(self._collected)
        self._alarms += 1
        self._mentioned = self._mentioned or (self._opener[0] in "<[" and len(self._opener) > 2)
        self._body, self._ended, self._collected = None, False, []
        fence = self._opener[0] in "`~"
        shown = len(self._opener) if fence else 1
        self._code = self._opener if fence else self._code
        self._show(written[:shown])
        self._held = written[shown:] + self._held

    def _in_reasoning(self, final: bool) -> None:
        """Thought has no place in an answer; its closers end it, or the end of the text does."""
        ends = [(at, each) for each in self._closers if (at := self._held.find(each)) >= 0]
        if ends:
            at, closer = min(ends)
            self._held = self._held[at if closer in self._markers.heads else at + len(closer) :]
            self._closers = ()
            self._gaps.take_out()
        elif final:
            self._held = ""
        else:
            keep = max(map(len, self._closers)) - 1
            self._held = self._held[-keep:]

    def _in_text(self, final: bool) -> None:
        held = self._held
        sure = len(held) if final else self._markers.unsure(held, not self._lead, self._behind_call)
        line = -1  # where the line begins in `held`; it has begun before it
        for found, start, end in self._markers.find(held, not self._lead, self._behind_call):
            if end > sure:
                sure = min(sure, start)
                break
            if found == "\n":
                line = end
                self._code = "" if len(self._code) < FENCE else self._code
            elif found[0] == "`" or found == "~~~":
                if self._backticks(found, held, line, start):
                    return
            elif not self._code and self._marker(found, held, line, start):
                return
            elif "\n" in found:
                line = start + found.rindex("\n") + 1
                self._code = "" if len(self._code) < FENCE else self._code
        self._show(held[:sure])
        self._held = held[sure:]

    def _lead_at(self, held: str, line: int, at: int) -> str:
        """The first character of the line up to there that is not blank; none: it starts there."""
        if line < 0 and self._lead:
            return self._lead
        blanks = LEAD.compiled.match(held, max(line, 0), at)
        end = blanks.end() if blanks else at
        return held[end : end + 1] if end < at else ""

    def _backticks(self, run: str, held: str, line: int, start: int) -> bool:
        """Follow code; True if a fence begins that holds protocol."""
        starts_line = not self._lead_at(held, line, start)
        if self._code:
            fence = len(self._code) >= FENCE
            closes = run.startswith(self._code) and starts_line if fence else run == self._code
            self._code = "" if closes else self._code
        elif len(run) < FENCE:
            self._code = run
        elif starts_line:
            self._open(run, (FENCE_FORM,), held, start)
            return True
        return False

    def _marker(self, found: str, held: str, line: int, start: int) -> bool:
        """Act on a marker; False if it does not count where it stands and is text."""
        marker = self._markers[found]
        lead = self._lead_at(held, line, start)
        before = held[:start]
        if lead in (">", "|") and lead:
            return False
        if marker.kind == "opener":
            readers = self._counting(found, marker, lead, before)
            if readers:
                self._open(found, readers, held, start)
            return bool(readers)
        if marker.kind == "closer" and not self._strays(found, lead, before):
            return False
        if marker.kind == "reasoning" and lead:
            self._open(found, (THOUGHT,), held, start)
            return True
        self._show(before)
        self._held = held[start + len(found) :]
        if marker.kind == "closer" and self._behind_call:
            self._gaps.framed()
        self._take_out(found)
        if marker.kind == "reasoning":
            self._closers = REASONING[found]
        return True

    def _counting(self, found: str, marker: Marker, lead: str, before: str) -> tuple[Dialect, ...]:
        """Those who may read what the opener begins here."""
        if self._given_back > PATIENCE or self._alarms > ALARMS:
            return ()
        if marker.where == "behind":
            return marker.dialects if self._behind_call and not before.strip() else ()
        if marker.where == "reply":
            return marker.dialects if self._gaps.empty and not before.strip() else ()
        if lead and (found in ("{", "[") or found[0] == "{"):
            return (INLINE,)
        if lead and LABEL in marker.dialects:
            return (INLINE_LABEL,)
        return marker.dialects if marker.where == "anywhere" or not lead else ()

    def _strays(self, closer: str, lead: str, before: str) -> bool:
        """Framing behind a call, or without its opener: on a line of its own, or stuck to text."""
        if self._behind_call and not before.strip():
            return True
        if self._mentioned or STRAY.match(closer) is None:
            return False
        last = before[-1:] or self._last
        return not lead or last.isalnum() or last in ".!?}])"

    def _open(self, opener: str, readers: tuple[Dialect, ...], held: str, start: int) -> None:
        self._show(held[:start])
        self._held = held[start + len(opener) :]
        self._opener, self._readers = opener, readers
        bracket, named = opener[-1] in "{[", opener[-1] == "("
        self._weak = len(opener) == 1 or ((bracket or named) and opener[0] not in "{[<")
        self._body = readers[0].body(opener, self._tools)

    def _show(self, text: str) -> None:
        if not text:
            return
        line = text.rpartition("\n")
        self._lead = ("" if line[1] else self._lead) or line[2].strip(BLANKS)[:1]
        self._last = text[-1]
        self._behind_call = self._behind_call and not text.strip()
        self._gaps.show(text)
