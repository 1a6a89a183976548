"""Reads the messages of Ollama's chat API, whose calls have no ids, for the chat completions API.

A result names its call by `tool_call_id` where a client and its server have one, else by the tool
(`tool_name`, or `name`), else by its place: the first call that has no result yet.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.field_checks import (
    check_list,
    check_name,
    check_object,
    check_text,
    check_texts,
)
from andy_cli.frontends.serve.wires.transcript import ContentPart, Transcript, image_part, text_part

ROLES = ("system", "user", "assistant", "tool")
IMAGE_KINDS = {"iVBOR": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp", "Qk": "bmp"}
"""The beginning of a picture's base64 -> its kind."""


def read_messages(value: object) -> list[Mapping[str, object]]:
    """Read a list of messages. Raises ApiError (400) that names the field."""
    conversation = OllamaConversation()
    for index, message in enumerate(check_list(value, "messages")):
        field_path = f"messages[{index}]"
        conversation.add(check_object(message, field_path), field_path)
    return conversation.transcript.list_messages()


class OllamaConversation:
    """A transcript, and which of its calls wait for a result."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self._waiting: dict[str, str] = {}
        """Id of a call without a result -> its tool, in the order of the calls."""
        self._calls = 0

    def add(self, message: Mapping[str, Any], field_path: str) -> None:
        role = message.get("role")
        if role not in ROLES:
            raise ApiError(400, f"{field_path}.role is one of {', '.join(ROLES)}.")
        text = message.get("content")
        content_parts = [] if not text else [text_part(check_text(text, f"{field_path}.content"))]
        content_parts += read_images(message.get("images"), f"{field_path}.images")
        if role == "tool":
            self.transcript.add_result(
                self._find_call(message, field_path), content_parts, field_path
            )
            return
        calls = message.get("tool_calls") if role == "assistant" else None
        if content_parts or not calls:
            self.transcript.add_message(str(role), content_parts)
        if calls is not None:
            listed = check_list(calls, f"{field_path}.tool_calls")
            for index, call in enumerate(listed):
                self._add_call(call, f"{field_path}.tool_calls[{index}]")

    def _add_call(self, value: object, field_path: str) -> None:
        call = check_object(value, field_path)
        function = check_object(call.get("function"), f"{field_path}.function")
        name = check_name(function.get("name"), f"{field_path}.function.name")
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            check_object(arguments, f"{field_path}.function.arguments")
        self._calls += 1
        id = call.get("id")
        if not isinstance(id, str) or not id or id in self._waiting:
            id = f"call_{self._calls}"
        self._waiting[id] = name
        self.transcript.add_call(id, name, arguments or {})

    def _find_call(self, message: Mapping[str, Any], field_path: str) -> str:
        """The id of the call a result belongs to, which waits no more."""
        id = message.get("tool_call_id")
        if not isinstance(id, str) or id not in self._waiting:
            # Also for an unknown id: some clients make up ids that they send with results alone.
            tool = message.get("tool_name") or message.get("name")
            of_tool = (call_id for call_id, name in self._waiting.items() if name == tool)
            id = next(of_tool, next(iter(self._waiting), None))
        if id is None:
            raise ApiError(
                400, f"{field_path} is a tool's result, and no call before it waits for one."
            )
        del self._waiting[id]
        return id


def read_images(value: object, field_path: str) -> list[ContentPart]:
    """Read a list of pictures in base64."""
    if value is None:
        return []
    return [image_part(image_url(data)) for data in check_texts(value, field_path)]


def image_url(data: str) -> str:
    """A data URL for the base64 of a picture; its kind is told by its first bytes."""
    if data.startswith("data:"):
        return data
    kinds = (kind for start, kind in IMAGE_KINDS.items() if data.startswith(start))
    return f"data:image/{next(kinds, 'jpeg')};base64,{data}"
