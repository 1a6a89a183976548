"""Answers that are passed on as they are, byte for byte.

Where a model was given tools, the answer is read along, choice by choice: from where something has
to be changed the events are ours. Until then not one is touched.
"""

import json
import re
from collections.abc import AsyncIterator, Callable

from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.frontends.serve.answers.rewritten_answer import read_prompt_tokens
from andy_cli.frontends.serve.answers.watched_choice import WatchedChoice
from andy_cli.frontends.serve.call_records import CallRecord
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.chat_writer import dump_json


def plain_body(chat_request: ChatRequest, body: bytes, model: str) -> bytes:
    """The request as it came, unless the model is called otherwise here."""
    if not model or chat_request.model == model:
        return body
    return dump_json({**chat_request.body, "model": model})


DONE = b"data: [DONE]"
LINE_END = re.compile(rb"\r+\n")


def split_events(block: bytes) -> list[bytes]:
    """The events of a server that puts no blank line between them; else the one there is."""
    if block.count(b"\ndata:") == 0:
        return [block]
    lines = [line for line in block.split(b"\n") if line]
    are_complete = all(line.endswith((b"}", b"[DONE]")) for line in lines)
    return lines if are_complete else [block]


class PassthroughRewriter:
    """Reads along with one streamed answer; says of each event whether it may go on as it is."""

    def __init__(self, begin_dialogue: Callable[[], ToolDialogue], record: CallRecord) -> None:
        """`begin_dialogue` begins the dialogue that a choice goes on with, should it have to."""
        self._begin_dialogue = begin_dialogue
        self._record = record
        self._rest = b""
        self._choices: dict[int, WatchedChoice] = {}
        self._after: list[bytes] = []
        self._damaged = False
        self.ended = False
        """Its server said that it is over, or why it is not; and all of it could be read."""
        self.counted = 0
        """Tokens of the prompt, as its server says."""

    @property
    def called(self) -> bool:
        """True if a call came of it."""
        return any(choice.called for choice in self._choices.values())

    def take_bytes(self, data: bytes) -> bytes:
        """The bytes that may go on now."""
        data = self._rest + data
        if b"\r" in data:
            data = LINE_END.sub(b"\n", data)
        events_end = data.rfind(b"\n\n") + 2
        if events_end < 2:
            self._rest = data
            return b""
        self._rest = data[events_end:]
        return self._rewrite_events(data[:events_end])

    def _rewrite_events(self, data: bytes) -> bytes:
        # One blank line more than is needed belongs to no event.
        blocks = [block for chunk in data.split(b"\n\n") if (block := chunk.strip(b"\n"))]
        return b"".join(
            self._rewrite_event(event) for block in blocks for event in split_events(block)
        )

    def _rewrite_event(self, event_data: bytes) -> bytes:
        event_bytes = event_data + b"\n\n"
        if event_data == DONE:
            self.ended = not self._damaged
            return self._hold_event(event_bytes) if self.ended else b""
        event = read_event(event_data)
        if event_data.startswith(b"event: error") or (event and event.get("error")):
            self.ended = True
            return self._hold_event(event_bytes)
        if event is None:
            return self._hold_if_ended(event_bytes)
        if not event:
            self._damaged = True
            return b""  # a client would fail at it
        if event.get("usage"):
            self.counted = read_prompt_tokens(event)
        choice = _find_only_choice(event)
        if choice is None:
            return self._hold_if_ended(event_bytes)
        return self._watch_choice(event, choice, event_bytes)

    def _watch_choice(
        self, event: dict[str, object], choice: dict[str, object], event_bytes: bytes
    ) -> bytes:
        watched = self._find_choice(choice.get("index"))
        rewritten = watched.take_event(event, choice, event_bytes)
        self.ended = self.ended or (bool(watched.finish) and not self._damaged)
        return rewritten

    def _find_choice(self, index: object) -> WatchedChoice:
        number = index if type(index) is int else 0
        if number not in self._choices:
            self._choices[number] = WatchedChoice(number, self._begin_dialogue(), self._record)
        return self._choices[number]

    def _hold_if_ended(self, event_bytes: bytes) -> bytes:
        """Hold back what stands after the end of a choice: how much was used, say."""
        waits = any(choice.finish for choice in self._choices.values())
        return self._hold_event(event_bytes) if waits else event_bytes

    def _hold_event(self, event_bytes: bytes) -> bytes:
        self._after.append(event_bytes)
        return b""

    async def write_rest(self) -> AsyncIterator[bytes]:
        """Write what is left, once the stream is over."""
        if self._rest.strip():  # it broke off in the middle of an event, or without a blank line
            yield self._rewrite_events(self._rest.strip(b"\r\n"))
        for choice in self._choices.values():
            async for event_bytes in choice.write_rest(self.ended):
                yield event_bytes
        for event_bytes in self._after:
            yield event_bytes


def read_event(event_data: bytes) -> dict[str, object] | None:
    """The event; None for what is no data, empty for what cannot be read."""
    if not event_data.startswith(b"data:"):
        return None
    try:
        event = json.loads(event_data[5:].decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else None


def _find_only_choice(event: dict[str, object]) -> dict[str, object] | None:
    """Find the choice of an event that holds one alone."""
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    return choice if isinstance(choice, dict) else None
