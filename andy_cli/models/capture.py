"""Keep requests and raw replies on disk, for `andy replay` and for bug reports (C28).

One file for a process, one JSON object a line:

    {"kind": "request", "n": 1, "t": 0.0, "time": ..., "provider": ..., "url": ..., "body": {...}}
    {"kind": "chunk", "n": 1, "t": 0.21, "text": "data: {...}\\n\\n"}      or "b64", or "chunk"
    {"kind": "end", "n": 1, "t": 0.58}
    {"kind": "error", "n": 1, "t": 0.58, "error": "transient", "text": "..."}
    {"kind": "outcome", "n": 1, "calls": [...], "content": "...", "tools": [...], ...}

`n` counts requests, retries included; `t` is seconds since the request. A chunk is what one read
gave: its borders are those of the network. `b64` is for a chunk that is no UTF-8 by itself, `chunk`
for clients that have no bytes. The chunks of a reply are written when it ends, for a secret may be
cut over several of them and can be recognised only in the whole. An outcome is what the compiler
made of the reply, with the tools it knew; it knew no dialect either where `tools` is empty.
"""

import atexit
import base64
import contextlib
import json
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import cache
from pathlib import Path

from andy_cli.errors import AndyError
from andy_cli.guard.addresses import show_url
from andy_cli.guard.redactor import mask_secrets, redact_text, redact_value
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import Endpoint, ForwardingClient, ModelClient, closing_stream
from andy_cli.settings import Settings, state_folder

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
SAID = re.compile(
    r'"(?:content|reasoning_content|reasoning|thinking|text|arguments)"\s*:\s*"((?:[^"\\]|\\.)*)"',
    re.DOTALL,
)
"""A piece of what the model says, where it stands in the bytes of a reply."""


def capture_for(settings: Settings, secrets: Sequence[str] = ()) -> "Capture | None":
    """Return the capture that the settings ask for; None where they ask for none.

    `secrets` are the keys in use.
    """
    raw_setting = settings.text("debug.raw")
    if not raw_setting or raw_setting == "0":
        return None
    capture = _make_capture(
        state_folder() / "captures" if raw_setting == "1" else Path(raw_setting).expanduser()
    )
    capture.secrets += [secret for secret in secrets if secret]
    return capture


def keep_outcome(settings: Settings, outcome: Mapping[str, object]) -> None:
    """Keep what was made of the last reply; nothing where nothing is captured."""
    if capture := capture_for(settings):
        capture.outcome(outcome)


def note_event(settings: Settings, kind: str, record: Mapping[str, object]) -> None:
    """Keep what happened between replies: the user spoke, a tool returned."""
    if capture := capture_for(settings):
        capture.note(kind, record)


@cache
def _make_capture(folder: Path) -> "Capture":
    """Make the capture of this process: one file, however often the model is changed."""
    return Capture(folder)


MAX_WAITING = 2**24
"""Bytes that are kept back where they cannot be written; then the oldest are given up."""


class Capture:
    """The file of recordings. What cannot be written is said once on stderr, and written when there
    is room."""

    def __init__(self, folder: Path) -> None:
        time_stamp = time.strftime("%Y%m%d-%H%M%S")
        self.path = folder / f"{time_stamp}-{os.getpid()}-{time.time_ns() % 10**6:06}.jsonl"
        self.secrets: list[str] = []
        self._waiting: list[bytes] = []
        self._told = False
        self._torn = False
        """The file does not end with the end of a line."""
        self._count = 0

    def exchange(self, endpoint: Endpoint, body: Mapping[str, object]) -> "ExchangeCapture":
        """A request is about to be sent."""
        self._count += 1
        self.write(
            {
                "kind": "request",
                "n": self._count,
                "t": 0.0,
                "time": round(time.time(), 3),
                "provider": endpoint.provider,
                "model": endpoint.model,
                "url": show_url(endpoint.base_url) if endpoint.base_url else "",
                "body": redact_value(body, self.secrets),
            }
        )
        return ExchangeCapture(self, self._count)

    def outcome(self, outcome: Mapping[str, object]) -> None:
        """Keep what was made of the reply to the last request."""
        if self._count:
            record = {"kind": "outcome", "n": self._count, **outcome}
            self.write(_without_secrets(record, self.secrets))

    def note(self, kind: str, record: Mapping[str, object]) -> None:
        self.write(_without_secrets({"kind": kind, **record}, self.secrets))

    def write(self, *records: Mapping[str, object]) -> None:
        lines = [json.dumps(record, ensure_ascii=False, default=str) for record in records]
        self._waiting += [f"{line}\n".encode("utf-8", "replace") for line in lines]
        try:
            self._write_waiting()
            self._told = False
        except OSError as error:
            while sum(map(len, self._waiting)) > MAX_WAITING:
                del self._waiting[0]
            if not self._told:
                atexit.unregister(self.write_rest)
                atexit.register(self.write_rest)
                folder = self.path.parent
                sys.stderr.write(f"andy: nothing can be captured in {folder}: {error}.\n")
            self._told = True

    def write_rest(self) -> None:
        """Try once more to write what could not be written; silent if it cannot be."""
        with contextlib.suppress(OSError):
            self._write_waiting()

    def _write_waiting(self) -> None:
        self.path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self.path, flags, PRIVATE_FILE)
        try:
            while self._waiting:
                self._write_line(descriptor, self._waiting[0])
                del self._waiting[0]
        finally:
            os.close(descriptor)

    def _write_line(self, descriptor: int, line: bytes) -> None:
        """Write a line on a line of its own, after one that was written only in part too."""
        data = b"\n" + line if self._torn else line
        self._torn = True
        while data:
            data = data[os.write(descriptor, data) :]
        self._torn = False


class ExchangeCapture:
    """One request and what came back."""

    def __init__(self, capture: Capture, number: int) -> None:
        self._capture = capture
        self._number = number
        self._start = time.monotonic()
        self._pieces: list[tuple[float, bytes]] = []
        self._chunks: list[tuple[float, Chunk]] = []

    def chunk(self, data: bytes) -> None:
        self._pieces.append((self._elapsed_seconds(), data))

    def say(self, chunk: Chunk) -> None:
        """The chunk of a client that has no bytes."""
        self._chunks.append((self._elapsed_seconds(), chunk))

    def end(self, error: BaseException | None = None) -> None:
        last_record: dict[str, object] = {
            "kind": "end",
            "n": self._number,
            "t": self._elapsed_seconds(),
        }
        if error:
            last_record["kind"] = "error"
            last_record["error"] = (
                error.kind if isinstance(error, AndyError) else type(error).__name__
            )
            last_record["text"] = redact_text(str(error), self._capture.secrets)
        self._capture.write(*self._capture_records(), last_record)

    def _capture_records(self) -> list[dict[str, object]]:
        secrets = self._capture.secrets
        data = mask_bytes(b"".join(received for _, received in self._pieces), secrets)
        records, position = [], 0
        for seconds, received in self._pieces:
            records.append(
                self._capture_record(seconds, _as_text(data[position : position + len(received)]))
            )
            position += len(received)
        spoken_text = mask_secrets("".join(chunk.text for _, chunk in self._chunks), secrets)
        position = 0
        for seconds, chunk in self._chunks:
            text = spoken_text[position : position + len(chunk.text)]
            position += len(chunk.text)
            shown_chunk = {"text": text, "reasoning": chunk.reasoning, "finish": chunk.finish}
            records.append(
                self._capture_record(seconds, {"chunk": redact_value(shown_chunk, secrets)})
            )
        return records

    def _capture_record(self, seconds: float, content: Mapping[str, object]) -> dict[str, object]:
        return {"kind": "chunk", "n": self._number, "t": seconds, **content}

    def _elapsed_seconds(self) -> float:
        return round(time.monotonic() - self._start, 6)


def _as_text(data: bytes) -> dict[str, object]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def _without_secrets(record: Mapping[str, object], secrets: Sequence[str]) -> Mapping[str, object]:
    """With stars, as in the bytes of the reply: what is made of those must be the same."""
    text = mask_secrets(json.dumps(record, ensure_ascii=False, default=str), secrets)
    try:
        masked = json.loads(text)
    except ValueError:  # the secret went over the end of a text
        masked = redact_value(record, secrets)
    return masked if isinstance(masked, dict) else {}


def mask_bytes(data: bytes, secrets: Sequence[str] = ()) -> bytes:
    """The bytes of a reply with a star for each byte of a secret, so that nothing moves.

    A model says a key in pieces, each in an event of its own: so what it says is also looked at
    with everything between the pieces taken away.
    """
    text = data.decode("latin-1")  # one character for one byte
    known_secrets = [secret.encode().decode("latin-1") for secret in secrets]
    text = mask_secrets(text, known_secrets)
    text_spans = [match.span(1) for match in SAID.finditer(text)]
    spoken_text = mask_secrets("".join(text[start:end] for start, end in text_spans), known_secrets)
    masked_texts, position, used_length = [], 0, 0
    for start, end in text_spans:
        masked_texts += [text[position:start], spoken_text[used_length : used_length + end - start]]
        position, used_length = end, used_length + end - start
    return ("".join(masked_texts) + text[position:]).encode("latin-1")


class CapturingClient(ForwardingClient):
    """A client around a client that has no bytes to tap: its chunks are kept as they are."""

    def __init__(self, client: ModelClient, endpoint: Endpoint, capture: Capture) -> None:
        super().__init__(client)
        self._endpoint = endpoint
        self._capture = capture

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        body = {"messages": list(request.messages), "tools": list(request.tools)}
        exchange = self._capture.exchange(self._endpoint, body)
        failure: BaseException | None = None
        try:
            async with closing_stream(self._client.reply(request)) as chunks:
                async for chunk in chunks:
                    exchange.say(chunk)
                    yield chunk
        except BaseException as error:
            failure = error
            raise
        finally:
            exchange.end(failure)
