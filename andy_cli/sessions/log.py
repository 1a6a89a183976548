"""The session on disk: one JSON object a line, written, flushed and synced before it counts.

    {"seq": 1, "type": "message", "role": "user", "content": "...", "check": "9a3f51c2"}

`check` is the CRC-32 of the line without it: a torn last line is known as such and passed over.
"""

import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from andy_cli.errors import UsageError
from andy_cli.messages import Message, ToolCall


class Log:
    """One session, appended to: a 0600 file in a 0700 folder. Raises UsageError if unwritable."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self.path = folder / f"{session_id}.jsonl"
        self._seq = 0
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._descriptor = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise UsageError(
                f"The session cannot be saved in {folder}: {error.strerror}.",
                "Make room or give --no-session.",
            ) from error

    def message(self, message: Message) -> None:
        """Keep a message of the conversation; it is on disk when this returns."""
        self.append("message", **as_record(message))

    def append(self, type: str, **fields: object) -> None:
        self._seq += 1
        record = {"seq": self._seq, "type": type, "time": round(time.time(), 3), **fields}
        line = json.dumps(record, ensure_ascii=False, default=str)
        line = json.dumps({**record, "check": check(line)}, ensure_ascii=False, default=str)
        data = (line + "\n").encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise UsageError(
                f"The session cannot be saved in {self.path}: {error.strerror}.",
                "Make room or give --no-session.",
            ) from error

    def close(self) -> None:
        os.close(self._descriptor)


def check(line: str) -> str:
    return f"{zlib.crc32(line.encode('utf-8', 'replace')):08x}"


def as_record(message: Message) -> dict[str, object]:
    record: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        record["calls"] = [
            {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            for call in message.calls
        ]
    for name in ("call_id", "name", "reasoning", "partial", "note"):
        if value := getattr(message, name):
            record[name] = value
    return record


def read(path: Path) -> Iterator[Message]:
    """The messages of a session, in order; damaged lines are passed over."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
            found = record.pop("check")
            intact = found == check(json.dumps(record, ensure_ascii=False, default=str))
        except (ValueError, KeyError, AttributeError):
            continue
        if intact and record["type"] == "message":
            yield as_message(record)


def as_message(record: Mapping[str, Any]) -> Message:
    """The message a checked record holds; the check value vouches for its shape."""
    calls = [
        ToolCall(each["id"], each["name"], each["arguments"]) for each in record.get("calls", ())
    ]
    return Message(
        role=record["role"],
        content=record["content"],
        calls=tuple(calls),
        call_id=record.get("call_id", ""),
        name=record.get("name", ""),
        reasoning=record.get("reasoning", ""),
        partial=record.get("partial", False),
        note=record.get("note", False),
    )
