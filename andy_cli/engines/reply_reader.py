"""Read a model's reply for an engine: text, reasoning, and calls with their arguments as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.compiler import StreamCompiler, ToolRequest, fit_arguments

Functions = Sequence[Mapping[str, object]]


class FittedCall(NamedTuple):
    """A call as the tool's schema wants it, as far as it can be made to fit."""

    name: str
    arguments: str
    """A JSON object."""


class ReplyDelta(NamedTuple):
    """The text, reasoning and calls that a piece of a reply adds."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[FittedCall, ...] = ()


NO_DELTA = ReplyDelta()


class EngineReplyReader:
    """Reads one reply, cut anywhere; each call is told once, as soon as nothing can change it."""

    def __init__(self, tools: Functions) -> None:
        self._tools = tools
        self._stream = StreamCompiler(tools)
        self._told = 0

    def feed(self, text: str) -> ReplyDelta:
        visible = self._stream.feed(text)
        requests = self._stream.requests
        if not (visible.text or visible.reasoning) and len(requests) <= self._told:
            return NO_DELTA
        return ReplyDelta(visible.text, visible.reasoning, self._take_calls(requests))

    def finish(self, cut_off: bool = False) -> ReplyDelta:
        """End the reply: what was held back, and the calls that only its end completes."""
        visible, reply = self._stream.finish(cut_off)
        return ReplyDelta(visible.text, visible.reasoning, self._take_calls(reply.requests))

    def _take_calls(self, requests: Sequence[ToolRequest]) -> tuple[FittedCall, ...]:
        new_requests, self._told = requests[self._told :], max(self._told, len(requests))
        return tuple(call for request in new_requests for call in fit_call(request, self._tools))


def fit_call(request: ToolRequest, tools: Functions) -> tuple[FittedCall, ...]:
    """Fit a call to its tool's schema; where that is not possible it stays as it was written.

    Several calls where a list was written for a tool that takes one thing.
    """
    written = dict(request.arguments or {})
    fitted = fit_arguments(request.name, written, tools)
    if fitted.problems or fitted.guessed:
        return (FittedCall(request.name, write_json(written)),)
    return tuple(FittedCall(call.name, write_json(call.arguments)) for call in fitted.calls)


def write_json(arguments: Mapping[str, object]) -> str:
    return json.dumps(dict(arguments), ensure_ascii=False)


def read_reply(text: str, tools: Functions, cut_off: bool = False) -> ReplyDelta:
    """Read a whole reply."""
    reader = EngineReplyReader(tools)
    first_delta, last_delta = reader.feed(text), reader.finish(cut_off)
    return ReplyDelta(
        first_delta.text + last_delta.text,
        first_delta.reasoning + last_delta.reasoning,
        first_delta.calls + last_delta.calls,
    )
