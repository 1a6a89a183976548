"""Answers on Ollama's own wire, whole and streamed: each line of a stream is a JSON object.

Times are nanoseconds. Of a streamed answer the time to its first piece is that of the prompt; of a
whole one they are not known apart, and Ollama too leaves out what it did not measure.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter_ns

from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
    join_texts,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.ollama.ollama_request import format_time, is_thinking_shown

LINES = "application/x-ndjson"


class OllamaChatWriter:
    """Writes one answer of /api/chat."""

    def __init__(self, chat_request: ChatRequest, model: str) -> None:
        self._model = chat_request.body.get("model") or model
        self._thinks = is_thinking_shown(chat_request.body)
        self._began = perf_counter_ns()
        self._first = 0
        """When the first piece came."""

    def streams_call(self, name: str) -> bool:
        """Arguments are objects here, and come whole."""
        return False

    def write_event(self, answer_part: AnswerPart) -> bytes:
        if answer_part != TextDelta(""):  # which only keeps the stream alive
            self._first = self._first or perf_counter_ns()
        if isinstance(answer_part, Finish):
            spent = self._first - self._began
            return dump_line({**self._render_pieces([]), **self._render_end(answer_part, spent)})
        if isinstance(answer_part, ReasoningDelta) and not self._thinks:
            return b""
        return dump_line({**self._render_pieces([answer_part]), "done": False})

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes:
        finish = next(
            answer_part for answer_part in answer_parts if isinstance(answer_part, Finish)
        )
        return dump_json({**self._render_pieces(answer_parts), **self._render_end(finish)})

    @staticmethod
    def write_failure(api_error: ApiError) -> bytes:
        """An error in a stream that has begun."""
        return dump_line(render_error(api_error))

    def _render_pieces(self, answer_parts: Sequence[AnswerPart]) -> dict[str, object]:
        """The head of an answer, and what the pieces say."""
        head = {"model": self._model, "created_at": format_time(datetime.now(UTC))}
        text = join_texts(answer_parts, TextDelta)
        thinking = join_texts(answer_parts, ReasoningDelta) if self._thinks else ""
        calls = [
            render_call(answer_part)
            for answer_part in answer_parts
            if isinstance(answer_part, CompletedCall)
        ]
        return {**head, **self._render_content(text, thinking, calls)}

    def _render_content(
        self, text: str, thinking: str, calls: Sequence[Mapping[str, object]]
    ) -> dict[str, object]:
        message: dict[str, object] = {"role": "assistant", "content": text}
        if thinking:
            message["thinking"] = thinking
        if calls:
            message["tool_calls"] = calls
        return {"message": message}

    def _render_end(self, finish: Finish, prompt_time: int = 0) -> dict[str, object]:
        """Render the last line; `prompt_time`: nanoseconds, 0 if not known."""
        total = perf_counter_ns() - self._began
        prompt = {"prompt_eval_duration": prompt_time} if prompt_time else {}
        return {
            "done": True,
            "done_reason": "length" if finish.reason == "length" else "stop",
            "total_duration": total,
            "load_duration": 0,
            "prompt_eval_count": finish.input_tokens,
            **prompt,
            "eval_count": finish.output_tokens,
            "eval_duration": total - prompt_time,
        }


class OllamaGenerateWriter(OllamaChatWriter):
    """Writes one answer of /api/generate, which makes no calls."""

    def _render_content(
        self, text: str, thinking: str, calls: Sequence[Mapping[str, object]]
    ) -> dict[str, object]:
        return {"response": text, "thinking": thinking} if thinking else {"response": text}


def render_call(call: CompletedCall) -> dict[str, object]:
    """A call; its id is there for clients that know ids."""
    arguments: object = json.loads(call.arguments)
    function = {"index": call.position, "name": call.name, "arguments": arguments}
    return {"id": call.id, "function": function}


def render_error(api_error: ApiError) -> dict[str, object]:
    return {"error": api_error.message}


def dump_line(value: object) -> bytes:
    return dump_json(value) + b"\n"
