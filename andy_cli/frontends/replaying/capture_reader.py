"""Read a capture back; models/capture.py says what its lines are."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.foreign_values import as_record, text_of
from andy_cli.messages import Chunk
from andy_cli.models.http.ollama_wire import reader_at

Record = Mapping[str, object]
Piece = bytes | Chunk

KINDS = ("request", "chunk", "end", "error", "outcome")
CAPTURE_HINT = (
    "Captures are made with ANDY_DEBUG_RAW=1 and lie in the captures folder of the state folder."
)


@dataclass(slots=True)
class RecordedRequest:
    """One request and what came back."""

    number: int
    request: Record
    pieces: list[Piece] = field(default_factory=list)
    ended: bool = False
    error: str = ""
    outcome: Record | None = None
    """The meaning that the reply was given at the time."""

    @property
    def model(self) -> str:
        return ":".join(
            filter(None, [text_of(self.request, "provider"), text_of(self.request, "model")])
        )

    @property
    def body(self) -> Record:
        return as_record(self.request.get("body"))

    def read_chunks(self) -> Iterator[Chunk]:
        """Read what the client would have yielded for these bytes. Raises ModelError at the end."""
        # It was sent to the base URL, but for Ollama's own API.
        reader = reader_at(text_of(self.request, "url"))
        for piece in self.pieces:
            yield from [piece] if isinstance(piece, Chunk) else reader.feed(piece)
        yield from reader.finish()
        if reader.failure:
            raise reader.failure


class RecordedCapture(NamedTuple):
    requests: tuple[RecordedRequest, ...]
    damage: tuple[str, ...]
    """The fault of the file, in words."""
    turns: tuple[Record, ...] = ()
    """The user's words, and how the model was spoken to then."""
    results: tuple[Record, ...] = ()
    """The results of tools, in order."""


class DamagedLineError(Exception):
    """A line that cannot be used; the text says why."""


def read_capture(path: Path) -> RecordedCapture:
    """All that can be read. Raises `UsageError` when nothing can."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", CAPTURE_HINT) from error
    if not data.strip():
        raise UsageError(f"{path} is empty: nothing was captured.", CAPTURE_HINT)
    requests: list[RecordedRequest] = []
    damage: list[str] = []
    other_records: dict[str, list[Record]] = {"turn": [], "result": []}
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line.strip():
                record = _parse_line(line)
                other_records.get(text_of(record, "kind"), []).append(record)
                _add_record(requests, record)
        except DamagedLineError as error:
            damage.append(f"line {number} {error}")
    if not requests:
        raise UsageError(f"{path} is no capture: it holds no request.", CAPTURE_HINT)
    damage += [
        f"the reply to request {request.number} is missing its end"
        for request in requests
        if not request.ended
    ]
    return RecordedCapture(
        tuple(requests), tuple(damage), tuple(other_records["turn"]), tuple(other_records["result"])
    )


def _parse_line(line: bytes) -> Record:
    try:
        record = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise DamagedLineError("is damaged") from None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise DamagedLineError("is none of a capture")
    return record


def _add_record(requests: list[RecordedRequest], record: Record) -> None:
    kind, number = text_of(record, "kind"), record.get("n")
    if kind not in KINDS:
        return  # of a later andy
    if not isinstance(number, int):
        raise DamagedLineError("does not say which request it belongs to")
    if kind == "request":
        requests.append(RecordedRequest(number, record))
        return
    request_found = next(
        (request for request in reversed(requests) if request.number == number), None
    )
    if request_found is None:
        raise DamagedLineError(f"belongs to request {number}, which is not in the file")
    if kind == "chunk":
        request_found.pieces.append(_decode_piece(record))
    elif kind == "outcome":
        request_found.outcome = record
    else:
        request_found.ended = True
        request_found.error = (
            f"{text_of(record, 'error')}: {text_of(record, 'text')}" if kind == "error" else ""
        )


def _decode_piece(record: Record) -> Piece:
    chunk = record.get("chunk")
    if isinstance(chunk, dict):
        return Chunk(
            text_of(chunk, "text"), text_of(chunk, "reasoning"), finish=text_of(chunk, "finish")
        )
    if isinstance(record.get("text"), str):
        return text_of(record, "text").encode("utf-8", "replace")
    try:
        return base64.b64decode(text_of(record, "b64"), validate=True)
    except (binascii.Error, ValueError):
        raise DamagedLineError("holds bytes that cannot be decoded") from None
