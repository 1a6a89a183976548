"""The first call of an answer, while the model writes it: what of it is sure goes on at once.

It is read again each time it has grown by a part of itself, so that reading it costs no more than
its length. What has gone on is never taken back: what follows either fits to it, or is the call as
the model wrote it, or the answer ends with an error.
"""

import json
from collections.abc import Sequence
from time import monotonic
from typing import Protocol

from andy_cli.agent.calls.injection import is_copied
from andy_cli.agent.history.rendering import new_id
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.lexing.open_calls import OpenCall
from andy_cli.compiler.mapper.json_schema import tool_parameters
from andy_cli.frontends.serve.answers.sure_arguments import SureArguments
from andy_cli.frontends.serve.wires.answer_parts import ApiError, CompletedCall, ToolCallDelta
from andy_cli.messages import ToolRequest

GROWTH = 16
"""It is read again when it has grown by 1/16, and by 16 characters, or after MIN_INTERVAL."""
MIN_INTERVAL = 0.05
"""Seconds."""


def unusable_call_error(name: str) -> ApiError:
    """The error of a stream whose client knows of a call that does not become one."""
    return ApiError(502, f"The model began a call of {name} that cannot be used.", "upstream_error")


class OpenCallReader(Protocol):
    """The part of a compiler that reads a call while it is written."""

    @property
    def open_text(self) -> str: ...

    @property
    def open_size(self) -> int: ...

    def read_open_call(self) -> OpenCall | None: ...


class EarlyCall:
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

    def read_more(self, reading: OpenCallReader) -> ToolCallDelta | None:
        """Read on; return what more of the call may go to the client now."""
        size = reading.open_size
        if not size or (size < self._next_size and monotonic() < self._next_time):
            return None
        self._next_size = size + GROWTH + size // GROWTH
        self._next_time = monotonic() + MIN_INTERVAL
        open_call = reading.read_open_call()
        if (
            open_call is None
            or open_call.name not in self._tools
            or self._is_copied(reading.open_text)
        ):
            return None
        return self._add_arguments(open_call)

    def _is_copied(self, written: str) -> bool:
        request = ToolRequest("", span=(0, len(written)))
        return bool(self._results) and is_copied(request, written, self._results)

    def _add_arguments(self, open_call: OpenCall) -> ToolCallDelta | None:
        if not self.is_begun:
            self._arguments = SureArguments(tool_parameters(self._tools[open_call.name]))
        text_before = self._arguments.text
        if (self.is_begun and open_call.name != self.name) or not open_call.arguments.startswith(
            text_before
        ):
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
        for call in calls[:1]:
            if call.name == self.name:
                self._invalid_arguments = self._invalid_arguments or self._fit_arguments(
                    call.arguments
                )

    def complete_calls(
        self,
        calls: Sequence[CompletedCall],
        invalid_calls: Sequence[CompletedCall],
        cut_off: bool,
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
        return (
            completed,
            *(call._replace(position=position) for position, call in enumerate(others, 1)),
        )

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
        """The arguments that its client has."""
        return self._arguments.text[: self._sent]
