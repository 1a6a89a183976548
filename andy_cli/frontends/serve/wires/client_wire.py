"""The APIs clients speak: each reads a `ChatRequest` from a body and writes an answer of parts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from andy_cli.frontends.serve.wires.answer_parts import AnswerPart, ApiError
from andy_cli.frontends.serve.wires.chat_request import (
    ChatRequest,
    is_legacy,
    read_chat_request,
    read_legacy_request,
)
from andy_cli.frontends.serve.wires.chat_writer import (
    AnswerPosition,
    ChatWriter,
    LegacyWriter,
    write_error,
)
from andy_cli.frontends.serve.wires.messages import (
    MessagesWriter,
    answer_token_count,
    read_messages_request,
    write_messages_error,
)
from andy_cli.frontends.serve.wires.ollama import (
    LINES,
    OllamaChatWriter,
    OllamaGenerateWriter,
    answer_chat_load,
    answer_generate_load,
    read_ollama_chat,
    read_ollama_generate,
    render_error,
)
from andy_cli.frontends.serve.wires.responses_request import read_responses_request
from andy_cli.frontends.serve.wires.responses_writer import ResponsesWriter

EVENTS = "text/event-stream; charset=utf-8"
COMMENT = b": still writing\n\n"
"""A comment, which readers of event streams pass over."""


class AnswerWriter(Protocol):
    """Writes one answer."""

    def streams_call(self, name: str) -> bool:
        """Tell whether the arguments of a call of this tool can go on in pieces."""
        ...

    def write_event(self, answer_part: AnswerPart) -> bytes:
        """Write a part of a streamed answer; `Finish` ends the stream."""
        ...

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes: ...

    def write_failure(self, api_error: ApiError) -> bytes: ...


class ClientWire(NamedTuple):
    name: str
    path: str
    read_request: Callable[[object], ChatRequest]
    """The parsed body of a request -> what is asked for. Raises ApiError."""
    writer: Callable[[ChatRequest, str], AnswerWriter]
    """(what is asked for, the model's name) -> who writes the answer."""
    error: Callable[[ApiError], Mapping[str, object]]
    comment: bytes = COMMENT
    """Keeps a stream alive; empty where the wire has nothing for that but an empty text."""
    passes: bool = False
    """True if it is the wire of the models' servers: then bytes can be passed on."""
    placed: Callable[[ChatRequest, str, AnswerPosition], ChatWriter] | None = None
    """The writer of one of several answers, where a client may ask for several."""
    answer_alone: Callable[[object], tuple[str, bytes] | None] | None = None
    """The parsed body -> the model that has to be there (empty: any) and the answer, or None where
    a model has to be asked. Raises ApiError."""
    streamed_as: str = EVENTS


CHAT = ClientWire(
    "chat",
    "/v1/chat/completions",
    read_chat_request,
    ChatWriter,
    write_error,
    passes=True,
    placed=ChatWriter,
)
LEGACY = CHAT._replace(
    read_request=read_legacy_request, writer=LegacyWriter, passes=False, placed=LegacyWriter
)
"""The chat completions API for clients that know functions and no tools."""
RESPONSES = ClientWire(
    "responses", "/v1/responses", read_responses_request, ResponsesWriter, write_error
)
MESSAGES = ClientWire(
    "messages", "/v1/messages", read_messages_request, MessagesWriter, write_messages_error
)
COUNT = MESSAGES._replace(
    path="/v1/messages/count_tokens", answer_alone=lambda value: ("", answer_token_count(value))
)
OLLAMA_CHAT = ClientWire(
    "ollama_chat",
    "/api/chat",
    read_ollama_chat,
    OllamaChatWriter,
    render_error,
    comment=b"",
    answer_alone=answer_chat_load,
    streamed_as=LINES,
)
OLLAMA_GENERATE = OLLAMA_CHAT._replace(
    name="ollama_generate",
    path="/api/generate",
    read_request=read_ollama_generate,
    writer=OllamaGenerateWriter,
    answer_alone=answer_generate_load,
)
WIRES = (CHAT, RESPONSES, MESSAGES, COUNT, OLLAMA_CHAT, OLLAMA_GENERATE)
BY_PATH: Mapping[str, ClientWire] = {wire.path: wire for wire in WIRES}
WITHOUT_VERSION = (*(wire.path for wire in (CHAT, RESPONSES, MESSAGES, COUNT)), "/v1/models")
"""Paths that are the same without `/v1`: clients differ in what they take for the address."""


def fit_wire(answer_wire: ClientWire, body: object) -> ClientWire:
    """The wire that a request is written for: one path may have two."""
    return LEGACY if answer_wire is CHAT and is_legacy(body) else answer_wire


def complete_path(path: str) -> str:
    """The path with `/v1` where a client leaves it out."""
    versioned_path = f"/v1{path}"
    is_shortened = versioned_path in WITHOUT_VERSION or path.startswith("/models/")
    return versioned_path if is_shortened else path


def find_wire(path: str, headers: Iterable[tuple[bytes, bytes]]) -> ClientWire:
    """The wire whose errors a client understands, whatever it asks for."""
    if path in BY_PATH:
        return BY_PATH[path]
    if path.startswith("/api/"):
        return OLLAMA_CHAT
    anthropic = any(name == b"anthropic-version" for name, _ in headers)
    return MESSAGES if anthropic else CHAT
