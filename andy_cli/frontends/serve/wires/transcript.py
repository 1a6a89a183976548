"""The messages of a request, put together for the chat API from the pieces other APIs have.

There, what an assistant says and the calls it makes are one message, and results follow it at once,
in messages of their own. Elsewhere they are items or blocks in an order that clients choose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from andy_cli.frontends.serve.wires.field_checks import refuse_field

ContentPart = Mapping[str, object]
"""A text, a picture or a file, in the chat API's form."""


@dataclass(slots=True)
class TranscriptEntry:
    role: str
    parts: list[ContentPart]
    calls: list[Mapping[str, object]] = field(default_factory=list)
    results: list[Mapping[str, object]] = field(default_factory=list)


class Transcript:
    def __init__(self) -> None:
        self._entries: list[TranscriptEntry] = []
        self._open: dict[str, TranscriptEntry] = {}
        """Id of a call -> the entry that made it."""
        self.waiting: dict[str, str] = {}
        """Id of a call without a result -> its tool, in the order of the calls."""
        self.call_count = 0

    def add_message(self, role: str, content_parts: Sequence[ContentPart]) -> None:
        """Add a message; what an assistant says in several pieces is one."""
        if role == "assistant" and self._entries:
            last_entry = self._entries[-1]
            if last_entry.role == role and not last_entry.results:
                last_entry.parts += content_parts
                return
        self._entries.append(TranscriptEntry(role, list(content_parts)))

    def add_call(self, id: str, name: str, arguments: object) -> None:
        self.add_message("assistant", ())
        function = {"name": name, "arguments": arguments}
        self._entries[-1].calls.append({"id": id, "type": "function", "function": function})
        self._open[id] = self._entries[-1]
        self.waiting[id] = name
        self.call_count += 1

    def add_result(self, id: str, content_parts: Sequence[ContentPart], field_path: str) -> None:
        """Raises ApiError where no call has this id, or it has its result already."""
        if self.waiting.pop(id, None) is None:
            raise refuse_field(
                field_path, f"is the result of {id!r}, and no call with this id waits for one."
            )
        result = {"role": "tool", "tool_call_id": id, "content": list(content_parts)}
        self._open[id].results.append(result)

    def list_messages(self) -> list[Mapping[str, object]]:
        messages: list[Mapping[str, object]] = []
        for entry in self._entries:
            message: dict[str, object] = {"role": entry.role, "content": entry.parts}
            if entry.calls:
                message["tool_calls"] = entry.calls
            messages += [message, *entry.results]
        return messages


def text_part(text: str) -> ContentPart:
    return {"type": "text", "text": text}


def image_part(url: str, detail: object = None) -> ContentPart:
    image = {"url": url, "detail": detail} if isinstance(detail, str) else {"url": url}
    return {"type": "image_url", "image_url": image}


def file_part(data: str, filename: str) -> ContentPart:
    """A file; `data` is a data URL."""
    return {"type": "file", "file": {"file_data": data, "filename": filename}}
