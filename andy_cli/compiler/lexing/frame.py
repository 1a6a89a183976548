"""Hold one open frame: what began it, who may read it, and what stands in it so far.

A frame is read by one of the dialects that its opener belongs to; where none of them can, by what
stands in it. What is evidently a call and cannot be read is a fault, and what is none is text.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from andy_cli.compiler.bodies.contents import read_contents
from andy_cli.compiler.bodies.end_detectors import FrameEnd
from andy_cli.compiler.bodies.json_text import ends_with_text
from andy_cli.compiler.dialect import Dialect, EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.lexing.framing import FRAMING
from andy_cli.compiler.lexing.open_calls import OpenCall, read_open_call
from andy_cli.messages import ToolRequest

WEAK = "{[\\"
"""Openers that begin with one of these, and no marker, may as well be text."""
FOLLOWS = Expression(r"[ \t]*[^\w\s<\[{`]{0,3}[ \t]*")
"""Text that may stand between a call in a sentence and the words that go on with it."""
CLOSING_MARKS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c", "\u00ab": "\u00bb"}
# Not `*+`: before Python 3.11.5 that repeats alternatives wrongly. The parts never go back.
BEHIND_CALL = Expression(
    r"(?:\s++|</[^<>\s]{1,40}+>|(?:<\|close\|>\w{1,20}+)?<[|｜][^<>|｜\s]{1,40}+[|｜]>"
    r"|\]<\]minimax\[>\[|\[/[A-Z_]{1,40}+\])*"
)
"""Framing that may stand between a call and the quotation mark after it."""
HALF_CLOSER = Expression(
    r"(?:<[/|｜]?[^<>\s]{0,40}|<\|close\|>\w{0,20}(?:<\|?\w{0,3}\|?)?|\[/?[A-Z_]{0,40}|\](?:<[]\w[>]{0,11})?)?"
)
UNREADABLE = "This request could not be read: {}"


class FrameReading(NamedTuple):
    """The dialect that could read a frame, and what it says."""

    dialect: Dialect
    parsed: Parsed


class Frame:
    def __init__(
        self,
        opener: str,
        readers: tuple[Dialect, ...],
        end_detector: EndDetector,
        tools: Tools,
        mid_line: bool,
        quote: str,
    ) -> None:
        """`mid_line`: words stand before the opener on its line. `quote`: right before it."""
        self.opener, self.readers = opener, readers
        self.end_detector, self._tools = end_detector, tools
        self._mid_line, self._quote = mid_line, quote
        self.is_strong = len(opener) > 2 and opener[0] in "<[]\u273f" and opener[-1] not in "([{"
        """A marker began it, nothing that text may begin with as well."""
        self._collected: list[str] = []
        self._size = 0
        self.ended = False
        """Its end was found, and what follows on its line is perhaps not known yet."""

    @property
    def written(self) -> str:
        """All of it so far, opener included."""
        return self.opener + "".join(self._collected)

    @property
    def size(self) -> int:
        """Characters of it so far."""
        return len(self.opener) + self._size

    @property
    def fence(self) -> bool:
        """It is a code fence, or inline code."""
        return self.opener[0] in "`~"

    @property
    def is_cut_off(self) -> bool:
        """The reply ended right after a marker that begins nothing else."""
        alone = self.written.strip() == self.opener.strip()
        return alone and not self.ended and self.is_strong

    @property
    def is_atomic(self) -> bool:
        """It ended, and if it is no request, nothing inside it is one either."""
        return self.ended and all(dialect.atomic for dialect in self.readers)

    def feed(self, text: str) -> int | None:
        """Take the next text; returns how much of it belongs to the frame.

        None for all of it while the end is not seen, and -1 where this cannot be a frame at all.
        """
        end = self.end_detector.feed(text) if text else None
        if end is None or end >= 0:
            self._collected.append(text[:end])
            self._size += len(self._collected[-1])
            self.ended = end is not None
        return end

    def read_again(self, text: str, is_call: bool = False) -> str | None:
        """Look for whatever else may stand in it, once; returns the text that is to be fed then.

        None where it cannot be more than text. `is_call`: what began is one, whatever it is.
        """
        if not self.is_strong or not self._may_ask or isinstance(self.end_detector, FrameEnd):
            return None
        text, self._collected, self._size = "".join(self._collected) + text, [], 0
        self.ended = False
        closers = chain.from_iterable(dialect.end_markers for dialect in self.readers)
        end_markers = {closer for closer in closers if len(closer) > 1}
        self.end_detector = FrameEnd(end_markers, self.opener, self._tools, is_call)
        return text

    def words_follow(self, following_text: str, final: bool) -> bool | None:
        """Tell whether words follow a call in a sentence, on its line; None: not known yet."""
        if not (self._mid_line and self.ended and self.opener[0] in WEAK):
            return False
        if skipped := FOLLOWS.compiled.match(following_text):
            following_text = following_text[skipped.end() :]
        if not following_text and not final:
            return None
        return following_text[:1].isalnum()

    def is_torn(self, following_text: str, final: bool) -> bool | None:
        """Tell whether its value did not end: a quotation mark stands right behind the brackets
        that follow a text in it, and is not merely one too many; None: not known yet."""
        if not self.ended or self._quote in CLOSING_MARKS or not ends_with_text(self.written):
            return False
        following_text = following_text.lstrip("}]")
        quote, behind = following_text[:1], following_text[1:].lstrip()
        if not final and quote in ("", '"') and behind in ("", "<"):
            return None
        return quote == '"' and self._goes_on_with(behind)

    def _goes_on_with(self, behind: str) -> bool:
        """Tell whether what stands behind the quotation mark still belongs to the call."""
        if not behind or behind.startswith("</"):
            return self.is_strong
        return behind[0] not in "<[`"

    def in_quotation_marks(self, following_text: str, final: bool) -> bool | None:
        """Tell whether it is a quotation, between quotation marks; None: not known yet."""
        closing = CLOSING_MARKS.get(self._quote)
        if not closing or not self.ended:
            return False
        if self.is_strong:
            if skipped := BEHIND_CALL.compiled.match(following_text):
                following_text = following_text[skipped.end() :]
        elif self.opener[0] not in WEAK:
            return False
        if not final and HALF_CLOSER.fullmatch(following_text):
            return None
        return following_text.startswith(closing)

    def read(self, at_end: bool, in_prose: bool) -> FrameReading | None:
        """Read it: by one of its dialects, else by what stands in it; None where it is text."""
        doubtful: FrameReading | None = None
        for read in self._read_as_dialects(at_end, in_prose):
            if not (read.parsed.fault or read.parsed.incomplete):
                return read
            doubtful = doubtful or read
        if self.is_strong and self._may_ask:
            return self._read_contents(at_end) or doubtful
        return doubtful

    def _read_as_dialects(self, at_end: bool, in_prose: bool) -> Iterator[FrameReading]:
        """Each dialect's reading that is more than a mention."""
        for dialect in self.readers:
            parsed = dialect.parse(self.written, self._tools)
            if parsed is None or (parsed.incomplete and not at_end):
                continue
            if not self._is_mention(dialect, parsed, in_prose):
                settled = parsed.settled or not at_end
                yield FrameReading(dialect, parsed._replace(settled=settled))

    def _is_mention(self, dialect: Dialect, parsed: Parsed, in_prose: bool) -> bool:
        """Tell whether prose shows a form here and calls nothing."""
        label = self._mid_line and self.opener[0] == "[" and dialect in FRAMING
        if (in_prose or label) and not parsed.explicit:
            return True
        faulty = bool(parsed.fault) and not parsed.requests
        return self._holds_mention(parsed) or (self._mid_line and self.is_strong and faulty)

    def read_open(self, protocol: str) -> OpenCall | None:
        """Read a call whose end has not come, as far as it is sure.

        None in a sentence, and where a bare bracket began it that is not of the `protocol`.
        """
        if self.ended or self.fence or self._mid_line or self._quote in CLOSING_MARKS:
            return None
        for reader in self.readers:
            if self.is_strong or reader.name == protocol:
                call = read_open_call(reader, self.written, self._tools)
                if call is not None:
                    return call
        return None

    @property
    def _may_ask(self) -> bool:
        """A dialect may read it: it is no mere framing."""
        return any(reader not in FRAMING for reader in self.readers)

    def _holds_mention(self, parsed: Parsed) -> bool:
        """`<tool_call> and </tool_call>`: a word of prose, and no arguments, is no call."""
        return any(map(self._is_word, parsed.requests))

    def _is_word(self, request: ToolRequest) -> bool:
        """Tell whether the name of a request is a word of the sentence around it, or no name."""
        if not any(map(str.isalnum, request.name)):
            return True
        in_words = self._mid_line and self.is_strong and not request.arguments
        return in_words and request.name.isalpha() and request.name not in self._tools

    def _read_contents(self, at_end: bool) -> FrameReading | None:
        """Read it by what stands in it; a call that cannot be read whole is a fault."""
        contents = read_contents(self.written, self._tools, is_closed=at_end and self._is_endless)
        requests, unread = contents.requests, contents.unread
        if not (requests or unread):
            return None if at_end else FrameReading(self.readers[0], Parsed())
        if self._holds_mention(Parsed(requests)) or (not requests and self._is_text(at_end)):
            return None
        repairs = ("read by its content",) if requests else ()
        parsed = Parsed(requests, repairs, text=contents.text)
        return FrameReading(self.readers[0], _report_unread(parsed, unread, at_end))

    @property
    def _is_endless(self) -> bool:
        """No marker ends it: it goes to the end of the reply."""
        return not any(reader.end_markers for reader in self.readers)

    def _is_text(self, at_end: bool) -> bool:
        """Tell whether contents of which nothing could be read were not meant as a call."""
        return not self._is_likely or (self._mid_line and not at_end)

    @property
    def _is_likely(self) -> bool:
        """A tool is named, or a call is written as JSON: not a mention of its marker."""
        content = self.written.removeprefix(self.opener)
        return any(name in content for name in self._tools) or "{" in content


def _report_unread(parsed: Parsed, unread: Sequence[str], at_end: bool) -> Parsed:
    """Say of what could not be read that it was cut off, or that it is a fault."""
    if not unread:
        return parsed
    fault = "" if at_end else UNREADABLE.format(unread[0][:200])
    return parsed._replace(incomplete=at_end, fault=fault)
