"""Answers on the wire of Anthropic's Messages API, whole and streamed.

Whole or streamed, an answer is made of the same blocks; a stream tells of each change of them.
"""

import secrets
from collections.abc import Mapping, Sequence

from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    TextDelta,
    ToolCallDelta,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, read_arguments
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.messages.messages_request import shows_thinking

REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
KINDS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Status -> type of an error; what is not here is the client's below 500, the server's above."""


class MessagesWriter:
    def __init__(self, chat_request: ChatRequest, model: str) -> None:
        self._thinks = shows_thinking(chat_request)
        self._blocks: list[dict[str, object]] = []
        self._texts: list[str] = []
        """Of the block that is open."""
        self._open = ""
        self._message: dict[str, object] = {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self._begun = False
        self._calling = ""
        """The arguments that went on of a call that is being written."""

    def streams_call(self, name: str) -> bool:
        """Arguments of every tool go on in pieces."""
        return True

    def write_event(self, answer_part: AnswerPart) -> bytes:
        begun, self._begun = self._begun, True
        first = (
            b""
            if begun
            else write_messages_event("message_start", message=self._message)
            + write_messages_event("ping")
        )
        if isinstance(answer_part, Finish):
            return first + self._close_block() + self._write_end(answer_part)
        if isinstance(answer_part, ToolCallDelta):
            return first + self._calling_piece(answer_part)
        if isinstance(answer_part, CompletedCall):
            return first + self._write_call(answer_part)
        if isinstance(answer_part, TextDelta):
            return first + self._add_text("text", "text_delta", "text", answer_part.text)
        if not self._thinks:
            return first
        return first + self._add_text("thinking", "thinking_delta", "thinking", answer_part.text)

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes:
        for answer_part in answer_parts:
            self.write_event(answer_part)
        return dump_json({**self._message, "content": self._blocks})

    @staticmethod
    def write_failure(api_error: ApiError) -> bytes:
        """An error in a stream that has begun."""
        return write_messages_event("error", error=write_messages_error(api_error)["error"])

    def _add_text(self, kind: str, delta: str, key: str, text: str) -> bytes:
        """A piece of a block, which is opened where it is not."""
        first = b"" if self._open == kind else self._close_block() + self._open_block(kind, key)
        self._texts.append(text)
        return first + self._write_delta({"type": delta, key: text})

    def _open_block(self, kind: str, key: str) -> bytes:
        further_fields = {"signature": ""} if kind == "thinking" else {}
        self._blocks.append({"type": kind, key: "", **further_fields})
        self._open = kind
        return self._write_start(self._blocks[-1])

    def _close_block(self) -> bytes:
        if not self._open:
            return b""
        self._blocks[-1][self._open] = "".join(self._texts)
        self._texts, self._open = [], ""
        return write_messages_event("content_block_stop", index=len(self._blocks) - 1)

    def _calling_piece(self, answer_part: ToolCallDelta) -> bytes:
        """More of a call that is being written."""
        first = b"" if self._calling else self._open_call(answer_part)
        self._calling += answer_part.text
        return first + self._write_delta(
            {"type": "input_json_delta", "partial_json": answer_part.text}
        )

    def _open_call(self, answer_part: CompletedCall | ToolCallDelta) -> bytes:
        closed = self._close_block()
        self._blocks.append(
            {"type": "tool_use", "id": answer_part.id, "name": answer_part.name, "input": {}}
        )
        return closed + self._write_start(self._blocks[-1])

    def _write_call(self, answer_part: CompletedCall) -> bytes:
        first = b"" if self._calling else self._open_call(answer_part)
        text, self._calling = answer_part.arguments[len(self._calling) :], ""
        self._blocks[-1] = {**self._blocks[-1], "input": read_arguments(answer_part.arguments)}
        delta = {"type": "input_json_delta", "partial_json": text}
        stop_event = write_messages_event("content_block_stop", index=len(self._blocks) - 1)
        return first + self._write_delta(delta) + stop_event

    def _write_start(self, block: Mapping[str, object]) -> bytes:
        return write_messages_event(
            "content_block_start", index=len(self._blocks) - 1, content_block=block
        )

    def _write_delta(self, delta: Mapping[str, object]) -> bytes:
        return write_messages_event("content_block_delta", index=len(self._blocks) - 1, delta=delta)

    def _write_end(self, finish: Finish) -> bytes:
        reason = REASONS.get(finish.reason, "stop_sequence" if finish.stopped_at else "end_turn")
        ended = {"stop_reason": reason, "stop_sequence": finish.stopped_at or None}
        usage = {"input_tokens": finish.input_tokens, "output_tokens": finish.output_tokens}
        self._message = {**self._message, **ended, "usage": usage}
        return write_messages_event(
            "message_delta", delta=ended, usage=usage
        ) + write_messages_event("message_stop")


def write_messages_error(api_error: ApiError) -> dict[str, object]:
    kind = KINDS.get(
        api_error.status, "invalid_request_error" if api_error.status < 500 else "api_error"
    )
    error_record: dict[str, object] = {"type": kind, "message": api_error.message}
    if api_error.details:
        error_record["details"] = api_error.details
    return {"type": "error", "error": error_record}


def write_messages_event(type: str, **event_fields: object) -> bytes:
    return f"event: {type}\ndata: ".encode() + dump_json({"type": type, **event_fields}) + b"\n\n"
