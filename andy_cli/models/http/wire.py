"""Bytes of a reply, streamed or whole, into chunks: text, reasoning, pieces of tool calls, the end.

    data: {"choices": [{"index": 0, "delta": {"content": "Hel"}}]}
    data: {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]}
    data: [DONE]

Servers take liberties with this, and every one that was seen is read: all three line ends, no blank
line between events, an event over several `data:` lines, comments, a byte-order mark, a whole
`chat.completion` although a stream was asked for, contents that are lists of parts, a `message`
where a `delta` belongs, an `error` where a choice belongs. Every key may be missing, null or of
another type than the API promises.

Not the events of the openai package: making one costs 48 us, reading the line ourselves 3.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from andy_cli.errors import ModelError, TransientError
from andy_cli.foreign_values import as_record, replace_surrogates
from andy_cli.messages import CallDelta, Chunk, Usage
from andy_cli.models.http.refusals import error_in_reply

GIVEN_UP = frozenset(
    "error abort aborted cancelled canceled timeout failed network_error "
    "insufficient_system_resource malformed_function_call unexpected_tool_call".split()
)
"""Finish reasons of a server that did not let the model finish."""
LENGTHS = frozenset(
    "length max_tokens max_output_tokens max_length model_length token_limit incomplete "
    "model_context_window_exceeded".split()
)
FILTERS = frozenset(
    "content_filter content_filtered content-filter safety recitation blocklist spii sensitive "
    "prohibited_content guardrail_intervened refusal image_safety language".split()
)


def plain_finish(reason: str) -> str:
    """Why the reply ended in the words of the OpenAI API: what ends one early has many names."""
    name = reason.lower().rpartition(": ")[2]
    if name in LENGTHS:
        return "length"
    if name in FILTERS:
        return "content_filter"
    return "error" if name in GIVEN_UP else reason


class ChoiceReader:
    """Collects what choice 0 says over the events; the text of neighbours becomes one chunk."""

    def __init__(self) -> None:
        self.any = False
        """There was a choice: without one it is no reply, however it ended."""
        self.given_up = ""
        """The reason for which the server gave up."""
        self._chunks: list[Chunk] = []
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._half = ""
        self._usage: Usage | None = None
        self._said = False
        self._finished = False

    def take(self, is_last: bool = False) -> list[Chunk]:
        """Return the chunks read since; `is_last` also gives what waited for more."""
        if is_last:
            if self._half:
                self._texts.append("\N{REPLACEMENT CHARACTER}")
                self._half = ""
            self._take_usage()
        if self._texts or self._thoughts:
            self._flush_text()
        chunks, self._chunks = self._chunks, []
        return chunks

    def finish_reply(self, is_sure: bool) -> None:
        """The server said that the reply is whole; `is_sure`: and nothing of it was unreadable."""
        if is_sure and not self._finished:
            self._finish_choice("stop")
        self._take_usage()

    def _take_usage(self) -> None:
        """Give the usage a chunk of its own, behind the text so far."""
        if self._usage:
            self._flush_text()
            self._chunks.append(Chunk(usage=self._usage))
            self._usage = None

    def read(self, event: Mapping[str, object], escaped: bool, is_sure: bool) -> None:
        usage = event.get("usage")
        if usage:
            self._usage = _read_usage(usage) or self._usage
        choices = event.get("choices")
        # `as_records` makes a list: 0.6 us with each event, a fifth of all that it costs.
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                self.any = True
                self._read_choice(choice, escaped)
                self._end_choice(choice, is_sure)
                return

    def _end_choice(self, choice: Mapping[str, object], is_sure: bool) -> None:
        finish = choice.get("finish_reason")
        reason = plain_finish(str(finish)) if finish else ""
        if reason == "error":
            self.given_up = str(finish)
        elif reason and is_sure:
            # vLLM's name for it, and SGLang's
            stop_reason = choice.get("stop_reason") or choice.get("matched_stop")
            self._finish_choice(reason, stop_reason if isinstance(stop_reason, str) else "")

    def _read_choice(self, choice: Mapping[str, object], escaped: bool) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            if self._said:  # the whole message after its deltas would be said twice
                return
            message = choice.get("message")
            delta = message if isinstance(message, dict) else {"content": choice.get("text")}
        self._read_words(delta, escaped)
        if calls := delta.get("tool_calls"):
            self._add_calls(calls if isinstance(calls, list) else [calls])
        elif call := delta.get("function_call"):
            self._add_calls([{"function": call}])

    def _read_words(self, delta: Mapping[str, object], escaped: bool) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            self._add_reasoning(reasoning)
        content = delta.get("content")
        if content:
            if not isinstance(content, str):
                content = self._join_parts(content)
            self._add_text(content, escaped)
        elif isinstance(refusal := delta.get("refusal"), str):
            self._add_text(refusal, escaped)

    def _add_text(self, text: str, escaped: bool) -> None:
        if escaped or self._half:
            text, self._half = whole_characters(self._half + text)
        if text:
            self._said = True
            if self._thoughts:
                self._flush_text()
            self._texts.append(text)

    def _add_reasoning(self, text: str) -> None:
        if self._texts:
            self._flush_text()
        self._thoughts.append("".join(whole_characters(text)))

    def _join_parts(self, content: object) -> str:
        """The text of a list of parts; an object is its own JSON, for a dialect to read."""
        if not isinstance(content, list):
            return json.dumps(content, ensure_ascii=False)
        texts = []
        for content_part in content:
            if isinstance(content_part, str):
                texts.append(content_part)
            elif isinstance(content_part, dict) and isinstance(content_part.get("text"), str):
                texts.append(content_part["text"])
            elif isinstance(content_part, dict) and (thought := content_part.get("thinking")):
                self._add_reasoning(
                    thought if isinstance(thought, str) else self._join_parts(thought)
                )
        return "".join(texts)

    def _add_calls(self, calls: list[object]) -> None:
        self._flush_text()
        for call in calls:
            if isinstance(call, dict):
                self._said = True
                self._chunks.append(Chunk(call=read_call_delta(call)))

    def _finish_choice(self, reason: str, stopped_at: str = "") -> None:
        self._finished = True
        self._flush_text()
        self._chunks.append(Chunk(finish=reason, stopped_at=stopped_at))

    def _flush_text(self) -> None:
        if self._thoughts:
            self._chunks.append(Chunk(reasoning="".join(self._thoughts)))
            self._thoughts = []
        if self._texts:
            self._chunks.append(Chunk("".join(self._texts)))
            self._texts = []


def whole_characters(text: str) -> tuple[str, str]:
    """The text with its surrogate pairs joined, and the first half of a pair that it ends with.

    Some servers cut an escaped emoji in two, and half of one cannot be shown or stored.
    """
    half_pair = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return replace_surrogates(text[: len(text) - len(half_pair)]), half_pair


def read_call_delta(call: Mapping[str, object]) -> CallDelta:
    """One piece of a call, whatever of it is there."""
    function = call.get("function")
    if not isinstance(function, dict):
        function = call
    position, id, name = call.get("index"), call.get("id"), function.get("name")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return CallDelta(
        position=_call_position(position),
        id="" if id is None else str(id),
        name=name if isinstance(name, str) else "",
        arguments=arguments,
        extra=call.get(EXTRA),
    )


EXTRA = "extra_content"
"""The field of a call that is sent back as it came."""


def _call_position(index: object) -> int | None:
    """The place of a call; some gateways write it as a text."""
    if isinstance(index, str) and index.isdecimal() and len(index) < 4:
        return int(index)
    return index if type(index) is int else None


def _read_usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    prompt_details = as_record(usage.get("prompt_tokens_details"))
    reply_details = as_record(usage.get("completion_tokens_details"))
    return Usage(
        _as_count(usage.get("prompt_tokens") or usage.get("input_tokens")),
        _as_count(usage.get("completion_tokens") or usage.get("output_tokens")),
        _as_count(prompt_details.get("cached_tokens")),
        _as_count(reply_details.get("reasoning_tokens")),
    )


def _as_count(value: object) -> int:
    return value if isinstance(value, int) else 0


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
        self.damaged = False
        """Something of the reply could not be read."""
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
            self._end_reply(is_sure=not self.damaged)
        elif payload:
            self._held.append(payload)

    def _end_reply(self, is_sure: bool) -> None:
        """The server has said all: that is a reply only if there was a choice in it."""
        if self.failure:
            return
        if self._choices.any:
            self._choices.finish_reply(is_sure)
        elif self.damaged and not self._read_any:
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
        self.damaged = self.damaged or damaged
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
        self._choices.read(event, escaped="\\u" in line, is_sure=not self.damaged)
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
    message = "The model server answered without a reply in it."
    return TransientError(message, "Try again.", kind="protocol")


def _given_up(reason: str) -> ModelError:
    message = f"The model server gave the reply up ({reason})."
    return TransientError(message, "Try again.", kind="server")


def cut_off() -> ModelError:
    message = "The model server's answer was cut off in the middle."
    return TransientError(message, "Try again.", kind="protocol")


def not_a_reply(text: str) -> ModelError:
    """The error for an answer that no chat API gives: the address is probably wrong."""
    page = text.lstrip().startswith("<")
    answer_kind = "a web page, not an API answer" if page else "something else than a chat reply"
    return ModelError(
        f"The model server's address gave {answer_kind}.",
        "The address is probably wrong: it usually ends in /v1. A network sign-in page would "
        "do this too.",
        kind="not_json",
    )
