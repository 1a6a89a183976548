"""Calls that go on to the client while they are written: what of them is sure does so at once.

Of the calls that a model's server makes in a stream, an event is held back from the first place on
that may be corrected, and so is every event after it: what a client has got is never taken back.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from andy_cli.agent.calls.injection import is_copied
from andy_cli.agent.calls.request_resolution import read_parameters
from andy_cli.agent.history.history import new_id
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.lexing.open_calls import OpenCall
from andy_cli.compiler.mapper.json_schema import tool_parameters
from andy_cli.compiler.mapper.mapper import find_tool
from andy_cli.frontends.serve.answers.sure_arguments import SureArguments
from andy_cli.frontends.serve.wires.answer_parts import ApiError, CompletedCall, ToolCallDelta
from andy_cli.messages import CallDelta, ToolRequest
from andy_cli.models.http.wire import read_call_delta

CallReach = Mapping[int, int]
"""Position of a call -> the characters of its arguments up to the end of an event."""


@dataclass(slots=True)
class StreamedCall:
    position: int
    shown_id: str
    """The id that its client knows."""
    id: str = ""
    """The id that its server gave it."""
    name: str = ""
    arguments: SureArguments = field(default_factory=lambda: SureArguments({}))
    sent: int = -1
    """Characters of its arguments that its client has; -1: it does not know of the call."""

    @property
    def is_begun(self) -> bool:
        """True once its client knows of it."""
        return self.sent >= 0

    @property
    def is_sent(self) -> bool:
        return self.arguments.is_whole and self.sent >= len(self.arguments.text)

    def write_rest(self, call: CompletedCall) -> str:
        """Write the rest, so that it becomes this call. Raises ApiError if it cannot."""
        arguments = json.loads(call.arguments)
        remaining_text = self.arguments.write_rest(arguments) if call.name == self.name else None
        is_other = self.is_sent and json.loads(self.arguments.text) != arguments
        if remaining_text is None or is_other:
            raise unusable_call_error(self.name)
        return self.arguments.text[self.sent : self.arguments.sure] + remaining_text

    @property
    def delta(self) -> CallDelta:
        """All of it in one piece."""
        return CallDelta(self.position, self.id, self.name, self.arguments.text)


class StreamedCalls:
    def __init__(self, tools: Tools, most_calls: int | None) -> None:
        """`tools`: those of which the client gets a call. `most_calls`: so many it gets at most."""
        self._tools = tools
        self._most_calls = most_calls
        self._calls: dict[int, StreamedCall] = {}
        self.deltas: list[CallDelta] = []
        self.mixed_up = False
        """Two calls share a place, or one has none: which is which is known at the end."""
        self._held: list[tuple[bytes, CallReach]] = []

    def __iter__(self) -> Iterator[StreamedCall]:
        return iter(self._calls.values())

    def __bool__(self) -> bool:
        return bool(self.deltas)

    @property
    def is_settled(self) -> bool:
        """All of them went on, whole and fitting."""
        return not self._held and all(call.arguments.is_whole for call in self)

    @property
    def begun_calls(self) -> list[StreamedCall]:
        return [call for call in self if call.is_begun]

    def add_pieces(self, call_pieces: Sequence[object]) -> tuple[list[object], CallReach]:
        """Read the pieces of calls in an event; returns them as its client gets them, and how far
        they reach."""
        reach: dict[int, int] = {}
        shown_pieces = [
            self._add_piece(call_piece, reach) if isinstance(call_piece, dict) else call_piece
            for call_piece in call_pieces
        ]
        return shown_pieces, reach

    def _add_piece(
        self, call_piece: Mapping[str, object], reach: dict[int, int]
    ) -> Mapping[str, object]:
        delta = read_call_delta(call_piece)
        self.deltas.append(delta)
        self.mixed_up = self.mixed_up or self._is_mixed_up(delta)
        if self.mixed_up:
            return call_piece
        is_first = delta.position not in self._calls
        call = self._add_delta(delta)
        reach[call.position] = len(call.arguments.text)
        return _correct_piece(call_piece, delta, call.shown_id, is_first)

    def take_event(self, event: bytes, reach: CallReach) -> bytes:
        """Take an event with pieces of calls; returns the events that may go on now."""
        self._held.append((event, reach))
        return self._release_sure()

    def release_all(self) -> bytes:
        """The events that were held back, as they came: the reply was cut off."""
        held_events, self._held = self._held, []
        return b"".join(event for event, _ in held_events)

    def _is_mixed_up(self, delta: CallDelta) -> bool:
        if delta.position is None:
            return True
        call = self._calls.get(delta.position)
        if call is None:
            return False
        if not (delta.name and call.name):
            return False  # a piece of it, whatever id it has now
        return delta.name != call.name or bool(delta.id and delta.id != call.id)

    def _add_delta(self, delta: CallDelta) -> StreamedCall:
        position = delta.position or 0
        if position not in self._calls:
            shown_id = choose_call_id(delta.id, [call.shown_id for call in self])
            self._calls[position] = StreamedCall(position, shown_id)
        call = self._calls[position]
        call.id = call.id or delta.id
        if delta.name and not call.name:
            text_before = call.arguments.text
            call.name = delta.name
            tool = self._tools.get(call.name)
            call.arguments = SureArguments(read_parameters(tool) if tool else {})
            call.arguments.add_text(text_before)
        call.arguments.add_text(delta.arguments)
        return call

    def _release_sure(self) -> bytes:
        released = []
        while self._held and not self.mixed_up:
            event, reach = self._held[0]
            if not all(self._is_sure(*reached) for reached in reach.items()):
                break
            del self._held[0]
            released.append(event)
            for position, characters in reach.items():
                self._calls[position].sent = characters
        return b"".join(released)

    def _is_sure(self, position: int, characters: int) -> bool:
        call = self._calls[position]
        if call not in [*self][: self._most_calls]:
            return False
        if not (call.is_begun or call.arguments.begins):
            return False  # what fits nothing at all is told to the model, which no client sees
        return call.name in self._tools and call.arguments.sure >= characters


def _correct_piece(
    call_piece: Mapping[str, object], delta: CallDelta, shown_id: str, is_first: bool
) -> Mapping[str, object]:
    """The piece with an id that tells its call from the others, and a text for arguments."""
    function = call_piece.get("function")
    corrected = {**call_piece}
    if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
        corrected["function"] = {**function, "arguments": delta.arguments}
    if is_first or delta.id not in ("", shown_id):
        corrected["id"] = shown_id
    return corrected


def choose_call_id(id: str, used_ids: Collection[str]) -> str:
    """The id of a call, or a new one where it has none of its own: results are told by id."""
    return id if id and id not in used_ids else f"call_{new_id()}"


def list_call_pieces(delta: Mapping[str, object]) -> list[object]:
    """The pieces of calls in an event; a call in the form of `functions` is one like the others."""
    calls, legacy_call = delta.get("tool_calls"), delta.get("function_call")
    if isinstance(calls, list) and calls:
        return calls
    return [{"index": 0, "function": legacy_call}] if isinstance(legacy_call, dict) else []


def rename_call(call: object, tools: Tools) -> object:
    """The call with the client's own name of its tool.

    Some servers put a prefix before a name (`functions.`), or another case.
    """
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return call
    name = function.get("name")
    if not isinstance(name, str) or not name or name in tools:
        return call
    tool_match = find_tool(name, {}, tools)
    if tool_match is None or not tool_match.sure:
        return call
    return {**call, "function": {**function, "name": tool_match.name}}


GROWTH = 16
"""It is read again when it has grown by 1/16, and by 16 characters, or after MIN_INTERVAL."""
MIN_INTERVAL = 0.05
"""Seconds."""


def unusable_call_error(name: str) -> ApiError:
    """The error of a stream whose client knows of a call that does not become one."""
    return ApiError(502, f"The model began a call of {name} that cannot be used.", "upstream_error")


class EarlyCall:
    """The first call of an answer, while the model writes it: what of it is sure goes on at once.

    It is read again each time it has grown by a part of itself, so that reading it costs no more
    than its length. What has gone on is never taken back: what follows either fits to it, or is
    the call as the model wrote it, or the answer ends with an error.
    """

    def __init__(self, tools: Tools, results: list[str]) -> None:
        """`tools`: those that may be called. `results`: what repeats one of them is no call."""
        self._tools = tools
        self._results = results
        self.id = f"call_{new_id()}"
        self.name = ""
        self._arguments = SureArguments({})
        self._sent = 0
        self._invalid_arguments = ""
        """The arguments as the model wrote them, when they did not fit."""
        self._next_size, self._next_time = 0, 0.0

    @property
    def is_begun(self) -> bool:
        """Its client knows of it."""
        return bool(self.name)

    def read_more(self, compiler: Compiler) -> ToolCallDelta | None:
        """Read on; return what more of the call may go to the client now."""
        size = compiler.open_size
        if not size or (size < self._next_size and monotonic() < self._next_time):
            return None
        self._next_size = size + GROWTH + size // GROWTH
        self._next_time = monotonic() + MIN_INTERVAL
        open_call = compiler.read_open_call()
        if open_call is None or open_call.name not in self._tools:
            return None
        written = compiler.open_text
        request = ToolRequest("", span=(0, len(written)))
        if self._results and is_copied(request, written, self._results):
            return None
        return self._add_arguments(open_call)

    def _add_arguments(self, open_call: OpenCall) -> ToolCallDelta | None:
        if not self.is_begun:
            self._arguments = SureArguments(tool_parameters(self._tools[open_call.name]))
        elif open_call.name != self.name:
            return None
        text_before = self._arguments.text
        if not open_call.arguments.startswith(text_before):
            return None
        self._arguments.add_text(open_call.arguments[len(text_before) :])
        # Its end waits for the end of the reply: a call that is cut off is never whole.
        end = self._arguments.end
        sure_length = end - 1 if end else self._arguments.sure
        text = self._arguments.text[self._sent : sure_length]
        if not (text and self._arguments.begins) or (end and not self.is_begun):
            return None
        self.name = open_call.name
        self._sent = sure_length
        return ToolCallDelta(0, self.id, self.name, text)

    def note_invalid_calls(self, calls: Sequence[CompletedCall]) -> None:
        """Keep the call as the model wrote it first, should nothing better come of it."""
        if calls and calls[0].name == self.name and not self._invalid_arguments:
            self._invalid_arguments = self._fit_arguments(calls[0].arguments)

    def complete_calls(
        self, calls: Sequence[CompletedCall], invalid_calls: Sequence[CompletedCall], cut_off: bool
    ) -> tuple[CompletedCall, ...]:
        """The calls of the answer, this one first and so that it begins as its client knows it.

        `cut_off`: so was the reply, and the call stays a part of JSON. Raises ApiError where it
        stays one although the reply is whole: its client could take it for a call.
        """
        own_call = next((call for call in (*calls, *invalid_calls) if call.name == self.name), None)
        text = self._find_whole_text(own_call) if own_call else ""
        if not (text or cut_off):
            raise unusable_call_error(self.name)
        completed = CompletedCall(0, self.id, self.name, text or self._sent_text, bool(text))
        others = [call for call in calls if call is not own_call]
        renumbered = (call._replace(position=position) for position, call in enumerate(others, 1))
        return (completed, *renumbered)

    def _find_whole_text(self, own_call: CompletedCall) -> str:
        """The arguments of the call that was made of it in the end, else as they were first
        written; empty if neither begins as its client knows it."""
        text = self._fit_arguments(own_call.arguments) or self._invalid_arguments
        return text if text.startswith(self._sent_text) else ""

    def _fit_arguments(self, arguments: str) -> str:
        """These arguments so that they begin with what went on; empty if they cannot."""
        remaining_text = self._arguments.write_rest(json.loads(arguments))
        if remaining_text is not None:
            return self._arguments.text[: self._arguments.sure] + remaining_text
        return arguments if arguments.startswith(self._sent_text) else ""

    @property
    def _sent_text(self) -> str:
        return self._arguments.text[: self._sent]
