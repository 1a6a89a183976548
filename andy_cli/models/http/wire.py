r"""Bytes of a reply, streamed or whole, into chunks.

    data: {"choices": [{"index": 0, "delta": {"content": "Hel"}}]}
    data: {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]}
    data: [DONE]

Servers take liberties with this, and every one that was seen is read: all three line ends, no blank
line between events, an event over several `data:` lines, comments, a byte-order mark, a whole
`chat.completion` although a stream was asked for, contents that are lists of parts, a `message`
where a `delta` belongs, an `error` where a choice belongs.

Not the events of the openai package: making one costs 48 us, reading the line ourselves 3.
"""

import json
from collections.abc import Sequence
from typing import Final

from andy_cli.errors import ModelError, TransientError
from andy_cli.messages import Chunk
from andy_cli.models.http.choices import ChoiceReader
from andy_cli.models.http.refusals import error_in_reply, narrow_kind

BOM: Final = b"\xef\xbb\xbf"
DONE: Final = "[DONE]"
DECODE: Final = json.JSONDecoder().raw_decode
"""Reads the value at a position: the line is not copied to drop its `data:`."""


class WireReader:
    """Reads one reply: `feed` the bytes as they come, then `finish`. Neither raises.

    What went wrong is in `failure`, so that the chunks read before it are not lost: look at it
    after each call. A reply ended well if a chunk carried a finish reason.
    """

    def __init__(self) -> None:
        self.failure: ModelError | None = None
        self.done = False
        """The server said that nothing follows."""
        self._head = b""
        self._whole: list[bytes] | None = None
        self._begun = False
        self._pieces: list[bytes] = []
        self._after_return = False
        self._is_error = False
        self._held: list[str] = []
        self._stray = ""
        self._damaged = False
        self._choices = ChoiceReader()
        self._read_any = False

    def feed(self, data: bytes) -> list[Chunk]:
        if self.failure or self.done:
            return []
        if not self._begun:
            data = self._begin_reading(data)
        if self._whole is not None:
            self._whole.append(data)
            return []
        self._read_lines(data)
        return self._choices.take()

    def finish(self) -> list[Chunk]:
        """The connection has ended."""
        if self._whole is not None:
            self._read_whole(b"".join(self._whole))
        elif not (self.failure or self.done):
            self._read_lines(b"\n\n")
            if not (self.failure or self.done or self._choices.any) and self._read_any:
                self.failure = _no_choice()
            elif self._stray and not self._read_any:
                self.failure = not_a_reply(self._stray)
        # Usage without a reply is nothing that was said: the request may be tried again.
        return self._choices.take(is_last=self._choices.any)

    def _begin_reading(self, data: bytes) -> bytes:
        """Find out from the first character what is coming; return what follows."""
        head = self._head + data
        if BOM.startswith(head):
            self._head = head
            return b""
        self._head = b""
        head = head.removeprefix(BOM).lstrip(b" \t\r\n")
        if head:
            self._begun = True
            if head[:1] in b"{[<":
                self._whole = []
        return head

    def _read_lines(self, data: bytes) -> None:
        """Read the lines that are whole now."""
        for line in self._whole_lines(data):
            if line.startswith("data:"):
                self._read_data(line)
            elif line:
                self._read_field(line)
            elif self._held or self._is_error:
                self._end_event()
            if self.failure or self.done:
                return

    def _whole_lines(self, data: bytes) -> list[str]:
        """Cut into lines, keeping the last if it is not whole; nothing is looked at twice."""
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        lines_end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._after_return = data.endswith(b"\r") or (self._after_return and not data)
        if not lines_end:
            self._pieces.append(data)
            return []
        end, unfinished_line = data[:lines_end], data[lines_end:]
        if self._pieces:
            end = b"".join((*self._pieces, end))
        self._pieces = [unfinished_line] if unfinished_line else []
        block = end.decode("utf-8", "replace")
        if "\r" in block:
            block = block.replace("\r\n", "\n").replace("\r", "\n")
        return block[:-1].split("\n")

    def _read_data(self, line: str) -> None:
        if not (self._held or self._is_error) and line.endswith("}"):
            try:
                event, end = DECODE(line, 6 if line[5] == " " else 5)
            except (ValueError, RecursionError):
                end = -1
            if end == len(line):
                self._take_event(event, line)
                return
        payload = line[5:].strip()
        if payload == DONE:
            self._end_event()
            self.done = True
            self._end_reply(is_sure=not self._damaged)
        elif payload:
            self._held.append(payload)

    def _end_reply(self, is_sure: bool) -> None:
        """The server has said all: that is a reply only if there was a choice in it."""
        if self.failure:
            return
        if self._choices.any:
            self._choices.finish_reply(is_sure)
        elif self._damaged and not self._read_any:
            self.failure = not_a_reply("")
        else:
            self.failure = _no_choice()

    def _read_field(self, line: str) -> None:
        """Another field, a comment, or what has no business in an event stream."""
        if line.startswith("event:"):
            self._end_event()
            self._is_error = line[6:].strip() == "error"
        elif line.startswith("{"):
            self._held.append(line)
            self._end_event()
        elif not line.startswith((":", "id:", "retry:")):
            self._stray = self._stray or line[:200]

    def _end_event(self) -> None:
        """An event of several lines, or one whose line could not be read at once, is over."""
        held_lines, is_error = self._held, self._is_error
        self._held, self._is_error = [], False
        if not held_lines:
            return
        events, damaged = _parse_lines(held_lines)
        self._damaged = self._damaged or damaged
        if is_error and not any(_is_error(event) for event in events):
            self.failure = error_in_reply({"error": events[0] if events else " ".join(held_lines)})
            return
        for event in events:
            self._take_event(event, "\\u")

    def _take_event(self, event: object, line: str) -> None:
        """One decoded event. The line is looked at for escapes only, which are rare."""
        self._read_any = True
        if not isinstance(event, dict):
            return
        if ("error" in event or "choices" not in event) and _is_error(event):
            self.failure = error_in_reply(event)
            return
        self._choices.read(event, escaped="\\u" in line, is_sure=not self._damaged)
        if self._choices.given_up:
            self.failure = _given_up(self._choices.given_up)

    def _read_whole(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        if text.startswith("<"):
            self.failure = not_a_reply(text)
            return
        events, damaged = _parse_objects(text)
        if not events:
            self.failure = not_a_reply(text) if _cannot_be_json(text) else cut_off()
            return
        for event in events:
            if isinstance(event, list):
                event = event[0] if event else {}
            self._take_event(event, "\\u")
        if not self.failure and not damaged:
            self._end_whole(events, text)

    def _end_whole(self, events: Sequence[object], text: str) -> None:
        if self._choices.any or any(map(_is_reply, events)):
            self._end_reply(is_sure=True)
        else:
            self.failure = not_a_reply(text)


def _is_error(event: object) -> bool:
    if not isinstance(event, dict):
        return False
    if event.get("error"):
        return True
    return "choices" not in event and (event.get("object") == "error" or "detail" in event)


def _is_reply(event: object) -> bool:
    """Tell whether it is meant as a reply, be there a choice in it or not."""
    return isinstance(event, dict) and ("choices" in event or event.get("object") in REPLIES)


REPLIES = ("chat.completion", "chat.completion.chunk")


def _parse_lines(lines: Sequence[str]) -> tuple[list[object], bool]:
    """Parse lines as one, else each by itself; also whether any could not be read."""
    events, damaged = _parse_objects("\n".join(lines))
    if not damaged or len(lines) == 1:
        return events, damaged
    read = [_parse_objects(line) for line in lines]
    return [event for line_events, _ in read for event in line_events], any(
        is_damaged for _, is_damaged in read
    )


def _parse_objects(text: str) -> tuple[list[object], bool]:
    """The JSON values that stand one after another, and whether something else came after."""
    values: list[object] = []
    position = 0
    while position < len(text):
        try:
            value, position = DECODE(text, position)
        except (ValueError, RecursionError):
            return values, True
        values.append(value)
        while position < len(text) and text[position].isspace():
            position += 1
    return values, False


def _cannot_be_json(text: str) -> bool:
    """Tell whether this is not even the beginning of a JSON value that was cut off."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos < len(text.rstrip()) and not error.msg.startswith("Unterminated")
    except RecursionError:
        return True
    return True


def _no_choice() -> ModelError:
    error = TransientError("The model server answered without a reply in it.", "Try again.")
    return narrow_kind(error, "protocol")


def _given_up(reason: str) -> ModelError:
    error = TransientError(f"The model server gave the reply up ({reason}).", "Try again.")
    return narrow_kind(error, "server")


def cut_off() -> ModelError:
    error = TransientError("The model server's answer was cut off in the middle.", "Try again.")
    return narrow_kind(error, "protocol")


def not_a_reply(text: str) -> ModelError:
    """The error for an answer that no chat API gives: the address is probably wrong."""
    page = text.lstrip().startswith("<")
    answer_kind = "a web page, not an API answer" if page else "something else than a chat reply"
    error = ModelError(
        f"The model server's address gave {answer_kind}.",
        "The address is probably wrong: it usually ends in /v1. A network sign-in page would "
        "do this too.",
    )
    return narrow_kind(error, "not_json")
