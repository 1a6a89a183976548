"""Answers on the wire of OpenAI's Responses API, whole and streamed.

    created in_progress item* (completed | incomplete)        or, from anywhere: failed
    item = added (part added, delta*, done | arguments or input delta, done) done

Whole or streamed, an answer is made of the same items; a stream tells of each change of them.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    TextDelta,
    ToolCallDelta,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.chat_writer import dump_json, write_error
from andy_cli.frontends.serve.wires.responses_request import (
    FORMS,
    OfferedTool,
    read_offered_tools,
    write_call_item,
)

DEFAULTS: Mapping[str, object] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "reasoning": {"effort": None, "summary": None},
    "store": False,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "truncation": "disabled",
    "user": None,
}
"""Fields of the request that the answer repeats, or with what it has instead."""
DELTAS = {
    "function": "response.function_call_arguments",
    "custom": "response.custom_tool_call_input",
}
"""Calls that a stream tells of piece by piece."""
CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why an answer ended too early -> the API's word for it."""


class ItemKind(NamedTuple):
    """An item that grows: what its parts and events are called."""

    item: str
    id: str
    part: str
    item_fields: Mapping[str, object]
    part_fields: Mapping[str, object]
    event_fields: Mapping[str, object]

    def write_part(self, text: str) -> dict[str, object]:
        return {"type": self.part, "text": text, **self.part_fields, **self.event_fields}


# A message's likelihoods are not known.
MESSAGE = ItemKind(
    "message", "msg", "output_text", {"role": "assistant"}, {"annotations": []}, {"logprobs": []}
)
REASONING = ItemKind("reasoning", "rs", "reasoning_text", {"summary": []}, {}, {})


class ResponsesWriter:
    def __init__(self, chat_request: ChatRequest, model: str) -> None:
        body = chat_request.body
        repeated_fields = {key: body[key] for key in DEFAULTS if body.get(key) is not None}
        self._response: dict[str, object] = {
            "id": f"resp_{secrets.token_hex(12)}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "background": False,
            "error": None,
            "incomplete_details": None,
            "model": model,
            "output": [],
            "parallel_tool_calls": chat_request.parallel,
            "previous_response_id": None,
            **DEFAULTS,
            **repeated_fields,
            "store": False,
            "usage": None,
        }
        self._tools = read_offered_tools(body)
        self._items: list[dict[str, object]] = []
        self._open: ItemKind | None = None
        self._texts: list[str] = []
        self._calling = ""
        """The arguments that went on of a call that is being written."""
        self._count = 0

    def streams_call(self, name: str) -> bool:
        """Tell whether its arguments go on in pieces: only those of functions do."""
        tool = self._tools.get(name)
        return tool is None or tool.kind == "function"

    def write_event(self, answer_part: AnswerPart) -> bytes:
        first = b"" if self._count else self._write_beginning()
        if isinstance(answer_part, Finish):
            return first + self._close_item() + self._write_end(answer_part)
        if isinstance(answer_part, ToolCallDelta):
            return first + self._calling_piece(answer_part)
        if isinstance(answer_part, CompletedCall):
            return first + self._write_call(answer_part)
        kind = MESSAGE if isinstance(answer_part, TextDelta) else REASONING
        return first + self._add_text(kind, answer_part.text)

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes:
        for answer_part in answer_parts:
            self.write_event(answer_part)
        return dump_json(self._response)

    def write_failure(self, api_error: ApiError) -> bytes:
        """The end of a stream that failed: as the API tells of it, and as its clients raise it."""
        error_record = {"code": api_error.code or "server_error", "message": api_error.message}
        self._response |= {"status": "failed", "error": error_record, "output": self._items}
        return self._write_event("response.failed", response=self._response) + self._write_event(
            "error", **error_record, param=None, **write_error(api_error)
        )

    def _write_beginning(self) -> bytes:
        event_names = [f"response.{status}" for status in ("created", "in_progress")]
        return b"".join(self._write_event(name, response=self._response) for name in event_names)

    def _write_event(self, type: str, **event_fields: object) -> bytes:
        value = {"type": type, "sequence_number": self._count, **event_fields}
        self._count += 1
        return f"event: {type}\ndata: ".encode() + dump_json(value) + b"\n\n"

    @property
    def _item_place(self) -> dict[str, object]:
        return {"output_index": self._item_index, "item_id": self._items[-1]["id"]}

    @property
    def _item_index(self) -> int:
        return len(self._items) - 1

    @property
    def _content_place(self) -> dict[str, object]:
        return {**self._item_place, "content_index": 0}

    def _add_text(self, kind: ItemKind, text: str) -> bytes:
        """A piece of an item, which is opened where it is not."""
        first = b"" if self._open is kind else self._close_item() + self._open_item(kind)
        self._texts.append(text)
        return first + self._write_event(
            f"response.{kind.part}.delta", **self._content_place, delta=text, **kind.event_fields
        )

    def _open_item(self, kind: ItemKind) -> bytes:
        self._open = kind
        id = f"{kind.id}_{secrets.token_hex(12)}"
        head = {"type": kind.item, "id": id, "status": "in_progress", "content": []}
        self._items.append({**head, **kind.item_fields})
        return self._write_item("added", self._items[-1]) + self._write_event(
            "response.content_part.added", **self._content_place, part=kind.write_part("")
        )

    def _close_item(self) -> bytes:
        if self._open is None:
            return b""
        kind, text = self._open, "".join(self._texts)
        self._open, self._texts = None, []
        place, part = self._content_place, kind.write_part(text)
        self._items[-1] |= {"status": "completed", "content": [part]}
        ended = f"response.{kind.part}.done"
        data = self._write_event(ended, **place, text=text, **kind.event_fields)
        data += self._write_event("response.content_part.done", **place, part=part)
        return data + self._write_item("done", self._items[-1])

    def _write_item(self, change: str, item: Mapping[str, object]) -> bytes:
        event_name = f"response.output_item.{change}"
        return self._write_event(event_name, output_index=self._item_index, item=item)

    def _calling_piece(self, answer_part: ToolCallDelta) -> bytes:
        """More of a call of a function that is being written."""
        data = b"" if self._calling else self._open_call(CompletedCall(*answer_part[:3], ""))
        self._calling += answer_part.text
        return data + self._write_event(
            f"{DELTAS['function']}.delta", **self._item_place, delta=answer_part.text
        )

    def _open_call(self, answer_part: CompletedCall) -> bytes:
        closed, tool = self._close_item(), self._find_tool(answer_part.name)
        call_item = write_call_item(tool, answer_part, secrets.token_hex(12))
        call_item["status"] = "in_progress"
        self._items.append(call_item)
        begun = call_item | ({FORMS[tool.kind].given: ""} if tool.kind in DELTAS else {})
        return closed + self._write_item("added", begun)

    def _write_call(self, answer_part: CompletedCall) -> bytes:
        data = b"" if self._calling else self._open_call(answer_part)
        tool, item_id = self._find_tool(answer_part.name), str(self._items[-1]["id"])
        self._items[-1] = call_item = write_call_item(tool, answer_part, "") | {"id": item_id}
        field, grows = FORMS[tool.kind].given, DELTAS.get(tool.kind)
        if grows:
            text = str(call_item[field])
            name_field = {"name": tool.name} if tool.kind == "function" else {}
            remaining_text, self._calling = text[len(self._calling) :], ""
            data += self._write_event(f"{grows}.delta", **self._item_place, delta=remaining_text)
            if answer_part.is_whole:
                data += self._write_event(
                    f"{grows}.done", **self._item_place, **name_field, **{field: text}
                )
        return data + self._write_item("done", call_item)

    def _find_tool(self, name: str) -> OfferedTool:
        return self._tools.get(name, OfferedTool("function", name, "", {}))

    def _write_end(self, finish: Finish) -> bytes:
        cut_reason = CUT.get(finish.reason)
        status = "incomplete" if cut_reason else "completed"
        self._response |= {
            "status": status,
            "incomplete_details": {"reason": cut_reason} if cut_reason else None,
            "output": self._items,
            "usage": write_responses_usage(finish),
        }
        return self._write_event(f"response.{status}", response=self._response)


def write_responses_usage(finish: Finish) -> dict[str, object]:
    return {
        "input_tokens": finish.input_tokens,
        "input_tokens_details": {"cached_tokens": finish.cached_tokens},
        "output_tokens": finish.output_tokens,
        "output_tokens_details": {"reasoning_tokens": finish.reasoning_tokens},
        "total_tokens": finish.input_tokens + finish.output_tokens,
    }
