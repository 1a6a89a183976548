"""Answers that are passed on as they are, byte for byte.

Where a model was given tools, its text is read along: should it write a call in its text although
its server was to make one of it, the events from there on are ours. Until then not one is touched.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence

from andy_cli.agent.reply import may_ask, without_requests
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.names import find
from andy_cli.frontends.serve.asked import Asked
from andy_cli.frontends.serve.chat_wire import call_of, dumped, line, texted_tools
from andy_cli.frontends.serve.emulation import Dialogue, Understood, reader, understood
from andy_cli.frontends.serve.pieces import Called
from andy_cli.frontends.serve.records import Record
from andy_cli.messages import Chunk
from andy_cli.models.http.choices import plain_finish


def plain_body(asked: Asked, body: bytes, model: str) -> bytes:
    """The request as it came, unless the model is called otherwise here."""
    if not model or asked.model == model:
        return body
    return dumped({**asked.body, "model": model})


DONE = b"data: [DONE]"


def split_events(block: bytes) -> list[bytes]:
    """The events of a server that puts no blank line between them; else the one there is."""
    if block.count(b"\ndata:") == 0:
        return [block]
    lines = [each for each in block.split(b"\n") if each]
    whole = all(each.endswith((b"}", b"[DONE]")) for each in lines)
    return lines if whole else [block]


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
    found = find(name, {}, tools)
    return {**call, "function": {**function, "name": found.name}} if found and found.sure else call


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
        self._damaged = False
        self.ended = False
        """Its server said that it is over, or why it is not; and all of it could be read."""

    def take(self, data: bytes) -> bytes:
        """The bytes that may go on now."""
        data = (self._rest + data).replace(b"\r\n", b"\n")
        cut = data.rfind(b"\n\n") + 2
        if cut < 2:
            self._rest = data
            return b""
        self._rest = data[cut:]
        return self._events(data[:cut])

    def _events(self, data: bytes) -> bytes:
        blocks = [block for block in data.split(b"\n\n") if block]
        return b"".join(self._event(event) for block in blocks for event in split_events(block))

    def _event(self, raw: bytes) -> bytes:
        whole = raw + b"\n\n"
        if raw == DONE:
            self.ended = not self._damaged
            return self._later(whole) if self.ended else b""
        if raw.startswith(b"event: error"):
            self.ended = True
            return self._later(whole)
        event = self._read(raw)
        if event is None:
            return self._later(whole) if self._finish is not None else whole
        if not event:
            self._damaged = True
            return b""  # a client would fail at it
        if event.get("error"):
            self.ended = True
            return self._later(whole)
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
        if not isinstance(choice, dict):
            return self._later(whole) if self._finish is not None else whole
        return self._choice(event, choice, whole)

    def _choice(self, event: dict[str, object], choice: dict[str, object], whole: bytes) -> bytes:
        self._head = event
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._native = self._native or bool(delta.get("tool_calls"))
        finish, out = choice.get("finish_reason"), b""
        if renamed := rename_calls(delta, self._dialogue.taught.tools):
            choice["delta"] = delta = renamed
            whole = line(event)
        text = delta.get("content")
        if isinstance(text, str) and text and (shown := self._shown(text)) != text:
            if shown or len(delta) > 1:
                begun = {**choice, "delta": {**delta, "content": shown}, "finish_reason": None}
                out = line({**event, "choices": [begun]})
            # What is held back of it comes before the end.
            whole = line({**event, "choices": [{**choice, "delta": {}}]}) if finish else b""
        if not finish:
            return out or whole
        self._finish = event
        self.ended = not self._damaged
        self._later(whole)
        return out

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
        """The event; None for what is no data, empty for what cannot be read."""
        if not raw.startswith(b"data:"):
            return None
        try:
            event = json.loads(raw[5:].decode())
        except (ValueError, RecursionError):  # no UTF-8, no JSON
            return {}
        return event if isinstance(event, dict) else None

    async def end(self) -> AsyncIterator[bytes]:
        """What is left, once the stream is over."""
        if self._rest.strip():  # it broke off in the middle of an event, or without a blank line
            yield self._events(self._rest.strip(b"\r\n"))
        last, compiled = self._reader.finish(not self._may_ask)
        if not self._may_ask:
            compiled = without_requests(compiled)
        found = Understood()
        if compiled.requests and not self._native:
            found = await understood(self._dialogue, compiled, "".join(self._raw))
        text = "".join([self._caught_up(last.text), *found.shown])
        self._record.calls += len(found.calls)
        self._record.repairs = self._dialogue.repairs
        self._record.compiled = "\n".join(f"{each.name} {each.arguments}" for each in found.calls)
        for out in self._ending(text, found.calls):
            yield out

    @property
    def _may_ask(self) -> bool:
        """Whether what the text asks for may become calls: nothing that was cut off may (P7)."""
        choices = self._finish["choices"] if self._finish else None
        reason = choices[0].get("finish_reason") if isinstance(choices, list) else None
        return self.ended and may_ask(plain_finish(str(reason or "stop")))

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
        return out

    def _delta(self, delta: dict[str, object], finish: str | None = None) -> bytes:
        head = {key: value for key, value in self._head.items() if key not in ("choices", "usage")}
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return line({**head, "choices": [choice]})
