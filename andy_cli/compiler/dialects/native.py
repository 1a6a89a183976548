"""Native: the server's own tool calls, `delta.tool_calls` with index, id, name and arguments.

    {"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "now"}}]}}

There is nothing to read in the text: the pieces of calls are joined into requests. Pieces belong
together by position, then by id, then by order. Servers get every part of that wrong somewhere: two
calls at one position, an id that changes after the first piece, names that are sent again or in two
parts, arguments that grow from piece to piece, two argument objects in one string. A call whose
arguments cannot be read is never guessed at: the reply counts as incomplete and the model is asked
again.

The history goes back in the API's own shape (C11): results are `tool` messages that carry the id of
their call.
"""

import json
import re
from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from andy_cli.compiler.bodies.end_detectors import ReplyEnd
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.open_calls import OpenCall
from andy_cli.foreign_values import read_float, read_json, replace_surrogates
from andy_cli.messages import Arguments, CallDelta, Message, ToolCall, ToolRequest, Wire

FENCE = re.compile(r"\A```[a-z]*\s*(.*?)\s*```\Z", re.DOTALL | re.IGNORECASE)

LEFT_OVER = re.compile(r"(?:[\s}\]]|</?\w{1,40}>|<\|\w{1,40}\|>)+")
"""Closers of a notation, or one bracket too many, that a server left behind the arguments."""
MAX_SHOWN_CHARACTERS = 200
"""Characters of arguments that cannot be read, which the model is told."""
AS_OBJECT = "Write its arguments as one JSON object."


class NativeCalls:
    """The calls of one reply."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def add(self, delta: CallDelta) -> None:
        call = self._find(delta)
        if call is None or call.ended_by(delta):
            call = _Call(delta.position)
            self._calls.append(call)
        call.add(delta)
        if delta.position is not None:
            self._at[delta.position] = call
        if delta.id:
            self._by_id[delta.id] = call

    @property
    def open_call(self) -> OpenCall | None:
        """The only call so far, if it has a name; its arguments may be wrong."""
        call = self._calls[0] if len(self._calls) == 1 else None
        if call is None or not call.name:
            return None
        return OpenCall(call.name, "".join(call.pieces))

    @property
    def open_size(self) -> int:
        """Characters of its arguments."""
        return self._calls[0].size if len(self._calls) == 1 else 0

    def _find(self, delta: CallDelta) -> "_Call | None":
        if delta.position is not None:
            call_there = self._at.get(delta.position)
            if call_there is not None and delta.id not in ("", call_there.id):
                return self._by_id.get(delta.id, call_there)
            # Some count the index up with each piece of one call.
            is_continuation = call_there is None and bool(delta.id) and not delta.name
            return self._by_id.get(delta.id) if is_continuation else call_there
        if delta.id:
            return self._by_id.get(delta.id)
        return None if delta.name or not self._calls else self._calls[-1]

    def read(self, complete: bool) -> "NativeReading":
        """Read the requests in the order of their positions.

        `complete`: the reply ended with a finish reason other than length. If it did not, nothing
        may run, however whole a call looks.
        """
        if not complete:
            return NativeReading(incomplete=bool(self._calls))
        requests: list[ToolRequest] = []
        used_ids: set[str] = set()
        fault = unreadable_name = ""
        for _, call in sorted(enumerate(self._calls), key=_place_of_call):
            argument_objects = call.read() if call.name else None
            if argument_objects is None:
                unreadable_name = unreadable_name if fault else call.name
                fault = fault or call.describe_fault()
            for arguments in argument_objects or ():
                requests.append(
                    ToolRequest(call.name, arguments, _make_unique_id(call.id, used_ids))
                )
        return NativeReading(tuple(requests), bool(fault), fault, unreadable_name)


class NativeReading(NamedTuple):
    """The calls of a reply, as they are meant."""

    requests: tuple[ToolRequest, ...] = ()
    incomplete: bool = False
    """Some call was cut off, or cannot be read."""
    fault: str = ""
    """Which cannot be read although the reply is whole, in words for the model."""
    unreadable_name: str = ""
    """The tool that it names."""


def _make_unique_id(id: str, used_ids: set[str]) -> str:
    """The id, or one like it when another call has it already: results are told by id."""
    unique_id, count = id, 2
    while unique_id in used_ids:
        unique_id, count = f"{id}_{count}", count + 1
    if unique_id:
        used_ids.add(unique_id)
    return unique_id


def _place_of_call(numbered: "tuple[int, _Call]") -> tuple[int, int]:
    order, call = numbered
    return (order if call.position is None else call.position), order


@dataclass(slots=True)
class _Call:
    position: int | None
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    """Characters of them."""
    scan: JsonScan = field(default_factory=JsonScan)
    closed: bool = False
    """The argument object is finished: nothing is open any more."""

    def ended_by(self, delta: CallDelta) -> bool:
        """Tell whether the piece begins a call of its own, though its place says otherwise."""
        is_other_call = bool(self.id) and delta.id not in ("", self.id)
        if self.closed:
            return self._begins_behind(delta, is_other_call)
        if not delta.name or delta.name == self.name:
            return False
        return is_other_call or (bool(self.name) and any(self.pieces))

    def _begins_behind(self, delta: CallDelta, is_other_call: bool) -> bool:
        """Tell whether a piece after finished arguments begins a call of its own."""
        has_name, has_arguments = bool(delta.name), bool(delta.arguments.strip())
        if is_other_call:
            return has_name or has_arguments
        # Id and name once more: the arguments say if it is the same call.
        is_same = bool(delta.id) and (delta.id, delta.name) == (self.id, self.name)
        return has_name and has_arguments and not is_same

    def add(self, delta: CallDelta) -> None:
        self.id = self.id or delta.id
        if delta.name and not (self.name and any(self.pieces)):
            # A name is sent once, again with every piece, in parts, grown from piece to piece, or
            # after the arguments.
            self.name = delta.name if delta.name.startswith(self.name) else self.name + delta.name
        if delta.arguments:
            if self._is_grown(delta.arguments):
                self.pieces, self.size, self.scan = [], 0, JsonScan()
            self.pieces.append(delta.arguments)
            self.size += len(delta.arguments)
            self._follow(delta.arguments)

    def _is_grown(self, piece: str) -> bool:
        """Tell whether the piece is all arguments so far and more: no object goes on so, for a
        bracket and a key do not stand behind its own beginning."""
        if self.closed or piece[0] != "{" or len(piece) < self.size or not self.size:
            return False
        return piece.startswith("".join(self.pieces))

    def _follow(self, piece: str) -> None:
        """Follow the argument objects; each character is looked at once."""
        position = 0
        while (end := self.scan.feed(piece, position)) is not None:
            self.scan, self.closed, position = JsonScan(), True, end
        self.closed = self.closed and not self.scan.began

    def describe_fault(self) -> str:
        written = f"{self.name or 'no name'}({''.join(self.pieces)[:MAX_SHOWN_CHARACTERS]})"
        return f"This request could not be read: {written}. {AS_OBJECT}"

    def read(self) -> list[Arguments] | None:
        """The argument objects that were written, one that is sent again once, and without what
        only holds the place of one; None if they are cut off or no objects."""
        text = replace_surrogates("".join(self.pieces)).strip()
        if fenced := FENCE.match(text):
            text = fenced[1]
        if text in ("", "null"):
            return [{}]
        argument_objects: list[Arguments] = []
        for value in _read_values(text):
            if not isinstance(value, dict):
                return None
            # As they are written: to Python 1 and true are equal.
            if repr(value) not in map(repr, argument_objects[-1:]):
                argument_objects.append(value)
        return argument_objects


def _read_values(text: str) -> list[object]:
    """The values that arguments hold, without what only holds the place of one."""
    try:
        values = list(_parse_values(text))
    except ValueError:
        values = [_parse_python(text)]
    match values:
        case [str(encoded)]:
            values = [read_json(encoded)]
        case [[only_value]]:
            values = [only_value]
    return [value for value in values if value is not None and value != {}] or values


def _parse_values(text: str) -> Iterator[object]:
    """The JSON values that stand one after another; raises ValueError on anything else.

    A line break within a string may be written as it is: it has one meaning only.
    """
    decoder = json.JSONDecoder(strict=False, parse_float=read_float)
    position = 0
    while position < len(text) and not (position and LEFT_OVER.fullmatch(text, position)):
        try:
            value, position = decoder.raw_decode(text, position)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        yield value
        while position < len(text) and text[position].isspace():
            position += 1


def _parse_python(text: str) -> object:
    """Some models write a Python dictionary; a whole one has one meaning only."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def render(history: Sequence[Message]) -> list[Wire]:
    return [as_wire(message) for message in history]


def as_wire(message: Message) -> Wire:
    # Anthropic refuses a blank text beside calls; null is what OpenAI itself writes there.
    has_blank_text = message.calls and not message.content.strip()
    content = None if has_blank_text else message.content
    wire_message: dict[str, object] = {"role": message.role, "content": content}
    if message.calls:
        wire_message["tool_calls"] = [as_native(call) for call in message.calls]
    if message.role == "tool":
        wire_message["tool_call_id"] = message.call_id
        wire_message["name"] = message.name
    return wire_message


def as_native(call: ToolCall) -> dict[str, object]:
    """A call as the API writes it: the arguments are a JSON text (A21)."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


DIALECT = Dialect(
    name="native",
    make_end_detector=lambda opener, tools: ReplyEnd(),
    parse=lambda text, tools: None,
    render=render,
)
