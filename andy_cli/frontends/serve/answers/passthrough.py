"""Answers that are passed on as they are, byte for byte.

Where a model was given tools, the answer is read along, choice by choice: should a text hold a call
although its server was to make one of it, the events from there on are ours. Until then not one is
touched. What has to be asked again goes on as a dialogue that began with it.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence

from andy_cli.agent.model.reply import may_run_calls, without_requests
from andy_cli.compiler.compiler import CompiledReply, Visible
from andy_cli.foreign_values import as_record
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.frontends.serve.answers.rewritten_answer import read_prompt_tokens
from andy_cli.frontends.serve.answers.streamed_calls import (
    StreamedCall,
    StreamedCalls,
    list_call_pieces,
    rename_call,
    unusable_call_error,
)
from andy_cli.frontends.serve.answers.tool_dialogue import (
    MAX_TRIES,
    continue_dialogue,
    make_early_call,
    make_reader,
    note_reasoning,
    shows_request,
    understand_call,
)
from andy_cli.frontends.serve.call_records import CallRecord
from andy_cli.frontends.serve.upstream.sources import BegunSource
from andy_cli.frontends.serve.wires.answer_parts import (
    CompletedCall,
    Finish,
    TextDelta,
    ToolCallDelta,
)
from andy_cli.frontends.serve.wires.chat_writer import open_call, write_call, write_data_event
from andy_cli.messages import Chunk
from andy_cli.models.http.wire import ChoiceReader, plain_finish, whole_characters

Event = dict[str, object]


class WatchedChoice:
    """One choice of an answer that is streamed: what of it goes on as it came, and how it ends."""

    def __init__(self, index: int, dialogue: ToolDialogue, record: CallRecord) -> None:
        self._index = index
        self._dialogue = dialogue
        self._record = record
        self._reader = make_reader(dialogue)
        self._calls = StreamedCalls(dialogue.wanted_tools, dialogue.most_calls)
        self._early_call = dialogue.early_call = make_early_call(
            dialogue, lambda name: name not in dialogue.chat_request.freeform_tools
        )
        self._calling = ""
        """The arguments that went on of a call that is being written in the text."""
        self._added = 0
        """Calls that the server did not make, or not so."""
        self._open_calls: list[StreamedCall] = []
        """Calls that have begun, and of which the dialogue says what they are."""
        self._ahead = ""  # white space that went on before the reader showed it
        self._half = ""
        """The first half of a character that its server cut in two."""
        self._shown_any = False
        self._raw: list[str] = []
        self._thoughts: list[str] = []
        self._head: Event = {}
        self.finish: Event | None = None
        """The event that ends it; it waits until it is known what the text meant."""
        self._last_choice: Event = {}
        """Its choice, without what has gone on before."""
        self._last = b""
        """The bytes of the event that ends it, as they go on."""

    def _take_calls(
        self, event: Event, choice: Event, call_pieces: list[object], event_bytes: bytes
    ) -> bytes:
        """Take pieces of calls; returns the events that may go on now.

        Raises ApiError where a call in the text has begun: in its place the server's own counts.
        """
        if self._early_call is not None and self._calling:
            raise unusable_call_error(self._early_call.name)
        tools = self._dialogue.tool_prompt.tools
        renamed = [rename_call(call_piece, tools) for call_piece in call_pieces]
        shown_pieces, reach = self._calls.add_pieces(renamed)
        delta = _read_delta(choice)
        if shown_pieces != delta.get("tool_calls") or choice.get("finish_reason"):
            others = {key: value for key, value in delta.items() if key != "function_call"}
            begun = {**choice, "delta": {**others, "tool_calls": shown_pieces}}
            event_bytes = write_data_event({**event, "choices": [begun | {"finish_reason": None}]})
        return self._calls.take_event(event_bytes, reach)

    def _take_text(self, event: Event, choice: Event, delta: Event) -> bytes | None:
        """Take words; returns what of them may go on, None where they go on as they came."""
        written = delta.get("content")
        if not isinstance(written, str) or not written:
            return None
        text, self._half = whole_characters(self._half + written)
        self._raw.append(text)
        self._record.add_raw(text)
        visible = self._reader.take(Chunk(text))
        if (shown_text := self._show_text(visible.text)) == written:
            return None
        event_data = self._write_thought(visible)
        if (shown_text or len(delta) > 1) and not list_call_pieces(delta):
            begun = {**choice, "delta": {**delta, "content": shown_text}, "finish_reason": None}
            event_data += write_data_event({**event, "choices": [begun]})
        return event_data + self._show_call()

    def take_event(self, event: Event, choice: Event, event_bytes: bytes) -> bytes:
        """Read an event with this choice alone; returns the bytes that may go on now."""
        self._head = event
        delta = _read_delta(choice)
        finish, event_data = choice.get("finish_reason"), b""
        self._note_thought(delta)
        call_pieces = list_call_pieces(delta)
        if call_pieces:
            event_data = self._take_calls(event, choice, call_pieces, event_bytes)
        words = self._take_text(event, choice, delta)
        event_data += words or b""
        is_taken = bool(call_pieces) or words is not None
        if not finish:
            return event_data if is_taken else event_bytes
        if waiting := _read_delta(self._last_choice):  # it was ended before, with words
            event_data = self._write_event(waiting) + event_data
        self._last_choice = {**choice, "delta": {}} if is_taken else choice
        self.finish = {**event, "choices": [self._last_choice]}
        self._last = write_data_event(self.finish) if is_taken else event_bytes
        return event_data

    def _note_thought(self, delta: Event) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._thoughts.append(thought)

    def _write_thought(self, visible: Visible) -> bytes:
        """Write what the model thought between its words, as a whole answer and other wires do."""
        if not visible.reasoning:
            return b""
        return self._write_event({"reasoning_content": visible.reasoning})

    def _show_text(self, visible_text: str) -> str:
        """Return what of a text may go on: all, while nothing looks like a call."""
        shown_text = self._catch_up(visible_text)
        held_blank = self._reader.blank
        if held_blank is not None:
            shown_text += held_blank.removeprefix(self._ahead)
            self._ahead = held_blank
        self._shown_any = self._shown_any or bool(shown_text.strip())
        return shown_text

    def _show_call(self) -> bytes:
        if self._early_call is None or self._calls:
            return b""
        call_delta = self._early_call.read_more(self._reader.compiler)
        return self._write_calling(call_delta) if call_delta else b""

    def _write_calling(self, call_delta: ToolCallDelta) -> bytes:
        first = b""
        if not self._calling:
            first = self._write_event({"tool_calls": [open_call(call_delta)]})
            self._added += 1
        self._calling += call_delta.text
        return first + self._write_arguments(call_delta.position, call_delta.text)

    def _catch_up(self, text: str) -> str:
        """Leave out what went on before from what the reader shows now."""
        if not text:
            return ""
        ahead, self._ahead = self._ahead, ""
        return text.removeprefix(ahead)

    @property
    def has_said(self) -> bool:
        """True if words or calls of it have come."""
        return bool(self._raw or self._calls)

    @property
    def called(self) -> bool:
        return bool(self._calls) or self._record.calls > 0

    @property
    def _finish_reason(self) -> str:
        return plain_finish(str(self._last_choice.get("finish_reason") or "stop"))

    async def write_rest(self, ended: bool) -> AsyncIterator[bytes]:
        """Write the rest of the choice. `ended`: its server said that it is over."""
        # Of nothing that was cut off is a call made (P7).
        is_whole = ended and may_run_calls(self._finish_reason)
        final_piece, compiled = self._reader.finish(not is_whole)
        if not is_whole:
            compiled = without_requests(compiled)
        note_reasoning(self._dialogue, compiled)
        yield self._write_thought(final_piece)
        text = self._catch_up(final_piece.text)
        if not is_whole or self._needs_nothing(compiled):
            if text:
                yield self._write_event({"content": text})
            yield self._calls.release_all() + (self._write_last(is_whole) if ended else b"")
            return
        if text and self._shown_any:
            yield self._write_event({"content": text})
        async for event_data in self._go_on():
            yield event_data

    def _write_last(self, is_whole: bool) -> bytes:
        """Write the event that ends it; beside calls it has their reason, whatever came."""
        if not (is_whole and self._calls):
            return self._last
        if self.finish is None:
            return self._write_event({}, "tool_calls")
        if self._last_choice["finish_reason"] == "tool_calls":
            return self._last
        choice = {**self._last_choice, "finish_reason": "tool_calls"}
        return write_data_event({**self.finish, "choices": [choice]})

    def _needs_nothing(self, compiled: CompiledReply) -> bool:
        """Tell whether the choice stays as its server made it."""
        if self._calls:
            return self._calls.is_settled
        if self._calling:
            return False
        if compiled.requests or compiled.incomplete or self._dialogue.must:
            return False
        if shows_request(self._dialogue, compiled):
            return False
        silent = not (self._shown_any or compiled.text.strip())
        return not (silent and self._thoughts and self._dialogue.chat_request.tools)

    async def _go_on(self) -> AsyncIterator[bytes]:
        """The rest of it, as a dialogue in which this was the first reply."""
        begun_calls, mixed_up = self._calls.begun_calls, self._calls.mixed_up
        wanted = [*self._calls][: self._dialogue.most_calls]
        for call in () if mixed_up else begun_calls:
            if not call.is_sent:
                yield self._complete_begun(call, await understand_call(self._dialogue, call.delta))
        reason = "tool_calls"
        if not begun_calls or mixed_up or len(begun_calls) < len(wanted):
            async for event_or_finish in self._continue_dialogue():
                if not isinstance(event_or_finish, Finish):
                    yield event_or_finish
                elif not begun_calls:
                    reason = event_or_finish.reason
        yield self._write_event({}, reason)

    def _first_reply(self) -> list[Chunk]:
        """Build the dialogue's first reply: all of it, or the calls that did not go on."""
        deltas = self._calls.deltas
        if self._calls.begun_calls and not self._calls.mixed_up:
            deltas = [call.delta for call in self._calls if not call.is_begun]
        calls = [Chunk(call=delta) for delta in deltas]
        words = Chunk("".join(self._raw), "".join(self._thoughts))
        end = Chunk(finish=self._finish_reason)
        return [*calls, end] if self._calls.begun_calls else [words, *calls, end]

    def _complete_call(self, call: CompletedCall) -> bytes:
        """Write a call, or the rest of one that has begun."""
        early_call = self._early_call
        if early_call is not None and self._calling and call.id == early_call.id:
            self._record.calls += 1
            return self._write_arguments(call.position, call.arguments[len(self._calling) :])
        if self._open_calls:
            return self._complete_begun(self._open_calls.pop(0), [call])
        return self._write_new_call(call)

    def _complete_begun(self, begun: StreamedCall, calls: Sequence[CompletedCall]) -> bytes:
        """Write the rest of a call that has begun, and the other ones that came of it."""
        if not calls:
            raise unusable_call_error(begun.name)
        remaining_text = begun.write_rest(calls[0])
        first = self._write_arguments(begun.position, remaining_text) if remaining_text else b""
        return first + b"".join(map(self._write_new_call, calls[1:]))

    def _write_new_call(self, call: CompletedCall) -> bytes:
        self._record.calls += 1
        self._record.compiled += f"{call.name} {call.arguments}\n"[:2000]
        index = 1 + max((begun.position for begun in self._calls.begun_calls), default=-1)
        texted = self._dialogue.chat_request.freeform_tools
        written = {"index": index + self._added, **write_call(call, texted)}
        self._added += 1
        return self._write_event({"tool_calls": [written]})

    async def _continue_dialogue(self) -> AsyncIterator[bytes | Finish]:
        """Continue as a dialogue; the model is asked again only where no call went on before."""
        begun_calls, dialogue = self._calls.begun_calls, self._dialogue
        if self._calls:
            dialogue.early_call = None  # the server's own calls went on as they came
        dialogue.source = BegunSource(dialogue.source, self._first_reply())
        dialogue.said = self._shown_any or bool(begun_calls)
        self._open_calls = begun_calls * self._calls.mixed_up
        async for answer_part in continue_dialogue(dialogue, 1 if begun_calls else MAX_TRIES):
            match answer_part:
                case TextDelta(text):
                    yield self._write_event({"content": text})
                case ToolCallDelta():
                    yield self._write_calling(answer_part)
                case CompletedCall():
                    if event_data := self._complete_call(answer_part):
                        yield event_data
                case Finish():
                    yield self._end_dialogue(answer_part)

    def _end_dialogue(self, finish: Finish) -> Finish:
        """Note how a dialogue ended. Raises ApiError where it left a call open."""
        for begun in self._open_calls:
            raise unusable_call_error(begun.name)
        self._record.repairs = finish.repairs
        return finish

    def _write_arguments(self, position: int, text: str) -> bytes:
        call_piece = {"index": position, "function": {"arguments": text}}
        return self._write_event({"tool_calls": [call_piece]})

    def _write_event(self, delta: Event, finish: str | None = None) -> bytes:
        head = {key: value for key, value in self._head.items() if key not in ("choices", "usage")}
        choice = {"index": self._index, "delta": delta, "finish_reason": finish}
        return write_data_event({**head, "choices": [choice]})


def standardize_choice(choice: Event, has_said: bool) -> Event:
    """The choice with a delta whose content is a text, as clients read it; itself if it has one.

    `has_said`: a whole message would say once more what its deltas said.
    """
    delta = choice.get("delta")
    if isinstance(delta, dict) and not isinstance(delta.get("content"), list):
        return choice
    given = delta or (None if has_said else choice.get("message"))
    fields = dict(as_record(given))
    fields |= _read_content(fields.pop("content", None))
    return {**{key: choice[key] for key in choice if key != "message"}, "delta": fields}


def _read_content(content: object) -> Event:
    """The words and thoughts of a content, be it a text or a list of parts."""
    reader = ChoiceReader()
    reader.read({"choices": [{"delta": {"content": content}}]}, escaped=True, is_sure=False)
    chunks = reader.take()
    words: Event = {
        "content": "".join(chunk.text for chunk in chunks),
        "reasoning_content": "".join(chunk.reasoning for chunk in chunks),
    }
    return {name: text for name, text in words.items() if text}


def _read_delta(choice: Event) -> Event:
    delta = choice.get("delta")
    return delta if isinstance(delta, dict) else {}


DONE = b"[DONE]"
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
        events: list[bytes] = []
        for chunk in data.split(b"\n\n"):
            # One blank line more than is needed belongs to no event.
            if block := chunk.strip(b"\n"):
                events += split_events(block)
        return b"".join(map(self._rewrite_event, events))

    def _rewrite_event(self, event_data: bytes) -> bytes:
        event_bytes = event_data + b"\n\n"
        data = join_data(event_data)
        if data == DONE:
            self.ended = not self._damaged
            return self._hold_event(event_bytes) if self.ended else b""
        event = read_event(data)
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
        return self._watch_choices(event, event_bytes)

    def _watch_choices(self, event: Event, event_bytes: bytes) -> bytes:
        """Watch the choice of an event that holds one alone."""
        choices = event.get("choices")
        if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict):
            return self._watch_choice(event, choices[0], event_bytes)
        return self._hold_if_ended(event_bytes)

    def _watch_choice(self, event: Event, choice: Event, event_bytes: bytes) -> bytes:
        number = choice.get("index")
        if type(number) is not int:
            number = 0
        if number not in self._choices:
            self._choices[number] = WatchedChoice(number, self._begin_dialogue(), self._record)
        watched = self._choices[number]
        standard = standardize_choice(choice, watched.has_said)
        if standard is not choice:
            choice, event = standard, {**event, "choices": [standard]}
            event_bytes = write_data_event(event)
        rewritten = watched.take_event(event, choice, event_bytes)
        self.ended = self.ended or (bool(watched.finish) and not self._damaged)
        return rewritten

    def _hold_if_ended(self, event_bytes: bytes) -> bytes:
        """Hold back what stands after the end of a choice: how much was used, say."""
        waits = any(choice.finish for choice in self._choices.values())
        return self._hold_event(event_bytes) if waits else event_bytes

    def _hold_event(self, event_bytes: bytes) -> bytes:
        self._after.append(event_bytes)
        return b""

    async def write_rest(self) -> AsyncIterator[bytes]:
        if self._rest.strip():  # it broke off in the middle of an event, or without a blank line
            yield self._rewrite_events(self._rest.strip(b"\r\n"))
        for choice in self._choices.values():
            async for event_bytes in choice.write_rest(self.ended):
                yield event_bytes
        for event_bytes in self._after:
            yield event_bytes


def join_data(event_data: bytes) -> bytes:
    """The data of an event, which may stand in several lines, among other fields and comments."""
    lines = event_data.split(b"\n")
    return b"\n".join([line[5:].strip() for line in lines if line.startswith(b"data:")])


def read_event(data: bytes) -> Event | None:
    """The event; None for what is no data, empty for what cannot be read."""
    if not data:
        return None
    try:
        event = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else None
