"""Answers on the wire of the chat completions API, whole and streamed."""

import json
import secrets
import time
from collections.abc import Container, Sequence
from typing import NamedTuple

from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    find_finish,
    join_texts,
    list_calls,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, read_arguments
from andy_cli.frontends.serve.wires.freeform_tools import read_freeform_text
from andy_cli.messages import Usage

DONE = b"data: [DONE]\n\n"


class AnswerPosition(NamedTuple):
    """The place of one answer among several to a request; `last` says that none follows it."""

    number: int = 0
    last: bool = True
    before: Usage = Usage()
    """The tokens that the answers before it used."""
    id: str = ""
    """Of all of them; empty: one of its own."""


ALONE = AnswerPosition()


class ChatWriter:
    """Writes one answer; pieces become events as they come."""

    calls_reason = "tool_calls"
    """The finish reason of an answer with calls."""

    def __init__(
        self, chat_request: ChatRequest, model: str, answer_position: AnswerPosition = ALONE
    ) -> None:
        self._asked = chat_request
        self._place = answer_position
        self._head = {
            "id": answer_position.id or new_answer_id(),
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self.used = Usage()
        self._begun = False
        self._calling = ""
        """The arguments that went on of a call that is being written."""
        self._texted = chat_request.freeform_tools

    def streams_call(self, name: str) -> bool:
        """Tell whether its arguments go on in pieces: those of a tool that takes a text do not."""
        return name not in self._texted

    def write_event(self, answer_part: AnswerPart) -> bytes:
        if isinstance(answer_part, Finish):
            return self._write_end(answer_part)
        deltas: list[dict[str, object]]
        if isinstance(answer_part, TextDelta):
            deltas = [{"content": answer_part.text}]
        elif isinstance(answer_part, ReasoningDelta):
            deltas = [{"reasoning_content": answer_part.text}]
        elif isinstance(answer_part, ToolCallDelta):
            deltas = self._calling_deltas(answer_part)
        else:
            deltas = self._call_deltas(answer_part)
        return b"".join(map(self._write_chunk, deltas))

    def _calling_deltas(self, answer_part: ToolCallDelta) -> list[dict[str, object]]:
        deltas = [] if self._calling else [open_call(answer_part)]
        self._calling += answer_part.text
        deltas.append({"index": answer_part.position, "function": {"arguments": answer_part.text}})
        return [{"tool_calls": [delta]} for delta in deltas]

    def _call_deltas(self, answer_part: CompletedCall) -> list[dict[str, object]]:
        if answer_part.name in self._texted:
            whole_call = {"index": answer_part.position, **write_call(answer_part, self._texted)}
            return [{"tool_calls": [whole_call]}]
        remaining_text = answer_part.arguments[len(self._calling) :]
        deltas = self._calling_deltas(ToolCallDelta(*answer_part[:3], remaining_text))
        self._calling = ""
        return deltas

    def _write_chunk(self, delta: dict[str, object], finish: str | None = None) -> bytes:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant", "content": "", **delta}
        choice: dict[str, object] = {"index": self._place.number, "delta": delta}
        choice |= {"logprobs": None, "finish_reason": finish}
        return write_data_event({**self._head, "choices": [choice]})

    def _write_end(self, finish: Finish) -> bytes:
        self.used = Usage(finish.input_tokens, finish.output_tokens)
        last_events = self._write_chunk({}, self._finish_reason(finish))
        if not self._place.last:
            return last_events
        if self._asked.usage:
            usage = self._sum_usage(finish)
            last_events += write_data_event({**self._head, "choices": [], "usage": usage})
        return last_events + DONE

    def _finish_reason(self, finish: Finish) -> str:
        return self.calls_reason if finish.reason == "tool_calls" else finish.reason

    def _sum_usage(self, finish: Finish) -> dict[str, int]:
        """Of all answers up to this one; they share one prompt."""
        usage_before = self._place.before
        prompt_tokens = usage_before.input_tokens or finish.input_tokens
        completion_tokens = usage_before.output_tokens + finish.output_tokens
        return {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }

    @staticmethod
    def write_failure(api_error: ApiError) -> bytes:
        """An error in a stream that has begun: the client is told, and that it is over."""
        return write_data_event(write_error(api_error)) + DONE

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes:
        finish = find_finish(answer_parts)
        self.used = Usage(finish.input_tokens, finish.output_tokens)
        message = {"role": "assistant", "refusal": None, **self._write_message(answer_parts)}
        choice: dict[str, object] = {"index": self._place.number, "message": message}
        choice |= {"logprobs": None, "finish_reason": self._finish_reason(finish)}
        completion = {**self._head, "object": "chat.completion", "choices": [choice]}
        return dump_json({**completion, "usage": self._sum_usage(finish)})

    def _write_message(self, answer_parts: Sequence[AnswerPart]) -> dict[str, object]:
        return write_message(answer_parts, self._texted)


class LegacyWriter(ChatWriter):
    """Writes the one call of an answer as `function_call`, for clients that know no tools."""

    calls_reason = "function_call"

    def streams_call(self, name: str) -> bool:
        return False

    def _call_deltas(self, answer_part: CompletedCall) -> list[dict[str, object]]:
        opened_call = {"name": answer_part.name, "arguments": ""}
        rest = {"arguments": answer_part.arguments}
        return [{"function_call": opened_call}, {"function_call": rest}]

    def _write_message(self, answer_parts: Sequence[AnswerPart]) -> dict[str, object]:
        message = super()._write_message(answer_parts)
        message.pop("tool_calls", None)
        for call in list_calls(answer_parts):
            message["function_call"] = {"name": call.name, "arguments": call.arguments}
            message["content"] = message["content"] or None
        return message


def new_answer_id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"


def write_message(answer_parts: Sequence[AnswerPart], texted: Container[str]) -> dict[str, object]:
    """The text, thoughts and calls of a whole message; `texted` are tools that take a text."""
    message: dict[str, object] = {"content": join_texts(answer_parts, TextDelta)}
    if thought := join_texts(answer_parts, ReasoningDelta):
        message["reasoning_content"] = thought
    if calls := list_calls(answer_parts):
        message["tool_calls"] = [write_call(call, texted) for call in calls]
    return message


def write_call(answer_part: CompletedCall, texted: Container[str]) -> dict[str, object]:
    """A whole call; `texted` are the names of tools that take a text."""
    if answer_part.name in texted:
        text = read_freeform_text(read_arguments(answer_part.arguments))
        kind, call_body = "custom", {"name": answer_part.name, "input": text}
    else:
        kind, call_body = "function", {"name": answer_part.name, "arguments": answer_part.arguments}
    return {"id": answer_part.id, "type": kind, kind: call_body}


def open_call(call_delta: ToolCallDelta) -> dict[str, object]:
    """The first piece of a call: its arguments follow."""
    call = CompletedCall(*call_delta[:3], "")
    return {"index": call.position, **write_call(call, ())}


def write_error(api_error: ApiError) -> dict[str, object]:
    error_record = {"message": api_error.message, "type": api_error.kind}
    return {"error": {**error_record, "param": api_error.param, "code": api_error.code}}


def dump_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def write_data_event(value: object) -> bytes:
    return b"data: " + dump_json(value) + b"\n\n"
