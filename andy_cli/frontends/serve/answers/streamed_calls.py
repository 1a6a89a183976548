"""The calls that a model's server makes in a stream: what of them is sure goes on as it came.

An event is held back from the first place on that may be corrected, and so is every event after
it: what a client has got is never taken back.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from andy_cli.agent.calls.request_resolution import read_parameters
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.mapper import find_tool
from andy_cli.frontends.serve.answers.early_call import unusable_call_error
from andy_cli.frontends.serve.answers.sure_arguments import SureArguments
from andy_cli.frontends.serve.wires.answer_parts import CompletedCall
from andy_cli.messages import CallDelta
from andy_cli.models.http.wire import read_call_delta


@dataclass(slots=True)
class StreamedCall:
    position: int
    id: str = ""
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
        """True if all of it has gone on."""
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
    def __init__(self, tools: Tools, most_calls: int | None = None) -> None:
        """`tools`: those of which the client gets a call. `most_calls`: so many it gets at most."""
        self._tools = tools
        self._most_calls = most_calls
        self._calls: dict[int, StreamedCall] = {}
        self.deltas: list[CallDelta] = []
        """All that came."""
        self.mixed_up = False
        """Two calls share a place, or one has none: which is which is known at the end."""
        self._held: list[tuple[bytes, Mapping[int, int]]] = []
        """Events, and how many characters of which calls have come with each."""

    def __iter__(self) -> Iterator[StreamedCall]:
        return iter(self._calls.values())

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def is_settled(self) -> bool:
        """True if all of them went on, whole and fitting."""
        return not self._held and all(call.arguments.is_whole for call in self)

    @property
    def begun_calls(self) -> list[StreamedCall]:
        """Those that their client knows of."""
        return [call for call in self if call.is_begun]

    def take_pieces(self, call_pieces: Sequence[object], event: bytes) -> bytes:
        """Read the pieces of calls in an event; returns the events that may go on now."""
        reach: dict[int, int] = {}
        for call_piece in call_pieces:
            if isinstance(call_piece, dict):
                delta = read_call_delta(call_piece)
                self.deltas.append(delta)
                self.mixed_up = self.mixed_up or self._is_mixed_up(delta)
                if not self.mixed_up:
                    call = self._add_delta(delta)
                    reach[call.position] = len(call.arguments.text)
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
        call = self._calls.setdefault(position, StreamedCall(position))
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
        while (
            self._held
            and not self.mixed_up
            and all(self._is_sure(*reached) for reached in self._held[0][1].items())
        ):
            event, reach = self._held.pop(0)
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


def rename_calls(message: Mapping[str, object], tools: Tools) -> dict[str, object] | None:
    """The message with the client's own names of its tools; None if it has them already.

    Some servers put a prefix before a name (`functions.`), or another case.
    """
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    renamed = [_rename_call(call, tools) for call in listed]
    return {**message, "tool_calls": renamed} if renamed != listed else None


def _rename_call(call: object, tools: Tools) -> object:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return call
    name = function.get("name")
    if not isinstance(name, str) or not name or name in tools:
        return call
    tool_match = find_tool(name, {}, tools)
    return (
        {**call, "function": {**function, "name": tool_match.name}}
        if tool_match and tool_match.sure
        else call
    )
