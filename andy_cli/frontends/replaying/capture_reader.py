"""Read a capture back; models/capture.py says what its lines are."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.messages import Chunk

Record = Mapping[str, object]
Piece = bytes | Chunk

KINDS = ("request", "chunk", "end", "error", "outcome")
HINT = "Captures are made with ANDY_DEBUG_RAW=1 and lie in the captures folder of the state folder."


@dataclass(slots=True)
class Recorded:
    """One request and what came back."""

    number: int
    request: Record
    pieces: list[Piece] = field(default_factory=list)
    ended: bool = False
    error: str = ""
    outcome: Record | None = None
    """What was made of the reply at the time."""

    @property
    def model(self) -> str:
        return ":".join(filter(None, [text(self.request, "provider"), text(self.request, "model")]))

    @property
    def address(self) -> str:
        """The address it was sent to: the base URL, but for Ollama's own API."""
        return text(self.request, "url")

    @property
    def body(self) -> Record:
        body = self.request.get("body")
        return body if isinstance(body, dict) else {}


class Recording(NamedTuple):
    requests: tuple[Recorded, ...]
    damage: tuple[str, ...]
    """What is wrong with the file, in words."""
    turns: tuple[Record, ...] = ()
    """What the user said, and how the model was spoken to then."""
    results: tuple[Record, ...] = ()
    """What tools returned, in order."""


class Damaged(Exception):
    """A line that cannot be used; the text says why."""


def read(path: Path) -> Recording:
    """All that can be read. Raises `UsageError` when nothing can."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", HINT) from error
    if not data.strip():
        raise UsageError(f"{path} is empty: nothing was captured.", HINT)
    requests: list[Recorded] = []
    damage: list[str] = []
    beside: dict[str, list[Record]] = {"turn": [], "result": []}
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip():
                record = _record(line)
                beside.get(text(record, "kind"), []).append(record)
                _add(requests, record)
        except Damaged as error:
            damage.append(f"line {number} {error}")
    if not requests:
        raise UsageError(f"{path} is no capture: it holds no request.", HINT)
    damage += [
        f"the reply to request {request.number} is missing its end"
        for request in requests
        if not request.ended
    ]
    return Recording(tuple(requests), tuple(damage), tuple(beside["turn"]), tuple(beside["result"]))


def _record(line: bytes) -> Record:
    try:
        record = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise Damaged("is damaged") from None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise Damaged("is none of a capture")
    return record


def _add(requests: list[Recorded], record: Record) -> None:
    kind, number = text(record, "kind"), record.get("n")
    if kind not in KINDS:
        return  # of a later andy
    if not isinstance(number, int):
        raise Damaged("does not say which request it belongs to")
    if kind == "request":
        requests.append(Recorded(number, record))
        return
    here = next((request for request in reversed(requests) if request.number == number), None)
    if here is None:
        raise Damaged(f"belongs to request {number}, which is not in the file")
    if kind == "chunk":
        here.pieces.append(_piece(record))
    elif kind == "outcome":
        here.outcome = record
    else:
        here.ended = True
        here.error = f"{text(record, 'error')}: {text(record, 'text')}" if kind == "error" else ""


def _piece(record: Record) -> Piece:
    chunk = record.get("chunk")
    if isinstance(chunk, dict):
        return Chunk(text(chunk, "text"), text(chunk, "reasoning"), finish=text(chunk, "finish"))
    if isinstance(record.get("text"), str):
        return text(record, "text").encode("utf-8", "replace")
    try:
        return base64.b64decode(text(record, "b64"), validate=True)
    except (binascii.Error, ValueError):
        raise Damaged("holds bytes that cannot be decoded") from None


def text(record: Record, key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""
