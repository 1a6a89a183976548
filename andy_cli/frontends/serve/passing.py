"""Answers that are passed on as they are, byte for byte.

Where a model was given tools, its text is read along: should it write a call in its text although
its server was to make one of it, the events from there on are ours. Until then not one is touched.
"""

import json
from collections.abc import AsyncIterator, Sequence

from andy_cli.frontends.serve.asked import Asked
from andy_cli.frontends.serve.chat_wire import call_of, dumped, line, texted_tools
from andy_cli.frontends.serve.emulation import Dialogue, Understood, reader, understood
from andy_cli.frontends.serve.pieces import Called
from andy_cli.frontends.serve.records import Record
from andy_cli.messages import Chunk


def plain_body(asked: Asked, body: bytes, model: str) -> bytes:
    """The request as it came, unless the model is called otherwise here."""
    if not model or asked.model == model:
        return body
    return dumped({**asked.body, "model": model})


class Watching:
    """Reads along with one streamed answer; says of each event whether it may go on as it is."""

    def __init__(self, dialogue: Dialogue, record: Record) -> None:
        self._dialogue = dialogue
        self._record = record
        self._reader = reader(dialogue)
        self._texted = texted_tools(dialogue.asked.body.get("tools"))
        self._rest = b""
        self._ahead = ""  # white space that went on before the reader showed it
        self._native = False
        self._raw: list[str] = []
        self._head: dict[str, object] = {}
        self._finish: dict[str, object] | None = None
        self._after: list[bytes] = []

    def take(self, data: bytes) -> bytes:
        """The bytes that may go on now."""
        data = self._rest + data
        cut = data.rfind(b"\n\n") + 2
        if cut < 2:
            self._rest = data
            return b""
        self._rest = data[cut:]
        return b"".join(self._event(each) for each in data[:cut].split(b"\n\n") if each)

    def _event(self, raw: bytes) -> bytes:
        whole = raw + b"\n\n"
        event = self._read(raw)
        if event is None:
            return self._later(whole) if self._finish is not None else whole
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
        if not isinstance(choice, dict):
            return self._later(whole) if self._finish is not None else whole
        self._head = event
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._native = self._native or bool(delta.get("tool_calls"))
        text = delta.get("content")
        if isinstance(text, str) and text:
            shown = self._shown(text)
            if shown != text:
                choice["delta"] = {**delta, "content": shown}
                whole = line(event) if shown or len(delta) > 1 else b""
        if choice.get("finish_reason"):
            self._finish = event
            return self._later(whole)
        return whole

    def _shown(self, text: str) -> str:
        """What of it may go on, and so all of it while nothing looks like a call."""
        self._raw.append(text)
        self._record.wrote(text)
        shown = self._caught_up(self._reader.take(Chunk(text)).text)
        blank = self._reader.blank
        if blank is not None:
            shown += blank.removeprefix(self._ahead)
            self._ahead = blank
        return shown

    def _caught_up(self, text: str) -> str:
        """What the reader shows now, without what went on before."""
        if not text:
            return ""
        ahead, self._ahead = self._ahead, ""
        return text.removeprefix(ahead)

    def _later(self, whole: bytes) -> bytes:
        """The end of the answer waits until it is known what the text meant."""
        self._after.append(whole)
        return b""

    @staticmethod
    def _read(raw: bytes) -> dict[str, object] | None:
        if not raw.startswith(b"data:") or raw == b"data: [DONE]":
            return None
        try:
            event = json.loads(raw[5:].decode())
        except (ValueError, RecursionError):  # no UTF-8, no JSON
            return None
        return event if isinstance(event, dict) else None

    async def end(self) -> AsyncIterator[bytes]:
        """What is left, once the stream is over."""
        last, compiled = self._reader.finish(self._finish is None)
        found = Understood()
        if compiled.requests and not self._native:
            found = await understood(self._dialogue, compiled, "".join(self._raw))
        text = "".join([self._caught_up(last.text), *found.shown])
        self._record.calls += len(found.calls)
        self._record.repairs = self._dialogue.repairs
        self._record.compiled = "\n".join(f"{each.name} {each.arguments}" for each in found.calls)
        for out in self._ending(text, found.calls):
            yield out

    def _ending(self, text: str, calls: Sequence[Called]) -> list[bytes]:
        out = []
        if text:
            out.append(self._delta({"content": text}))
        for each in calls:
            call = call_of(each, self._texted)
            out.append(self._delta({"tool_calls": [{"index": each.position, **call}]}))
        if calls and self._finish is not None:
            out.append(self._delta({}, "tool_calls"))
            out += self._after[1:]
        else:
            out += self._after
        return [*out, self._rest] if self._rest else out

    def _delta(self, delta: dict[str, object], finish: str | None = None) -> bytes:
        head = {key: value for key, value in self._head.items() if key not in ("choices", "usage")}
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return line({**head, "choices": [choice]})
