"""The wires on which clients speak: each makes an `Asked` of a request and an answer of pieces."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from andy_cli.frontends.serve.asked import Asked, asked
from andy_cli.frontends.serve.chat_wire import ChatWriter, error
from andy_cli.frontends.serve.messages_wire import asked_messages, counted
from andy_cli.frontends.serve.messages_writer import MessagesWriter
from andy_cli.frontends.serve.messages_writer import error as messages_error
from andy_cli.frontends.serve.pieces import Piece, Refused
from andy_cli.frontends.serve.pulse import COMMENT
from andy_cli.frontends.serve.responses_wire import asked_responses
from andy_cli.frontends.serve.responses_writer import ResponsesWriter


class Writer(Protocol):
    """Writes one answer."""

    def event(self, piece: Piece) -> bytes:
        """What goes on the wire of a stream for a piece; the end of it with `Over`."""
        ...

    def whole(self, pieces: Sequence[Piece]) -> bytes:
        """The answer that is not streamed."""
        ...

    def failed(self, refused: Refused) -> bytes:
        """What ends a stream that failed in the middle."""
        ...


class Surface(NamedTuple):
    name: str
    path: str
    asked: Callable[[object], Asked]
    """The parsed body of a request -> what is asked for. Raises Refused."""
    writer: Callable[[Asked, str], Writer]
    """(what is asked for, the model's name) -> who writes the answer."""
    error: Callable[[Refused], Mapping[str, object]]
    """The body of an error."""
    failed: Callable[[Refused], bytes] = ChatWriter.failed
    """What ends a stream that was passed on and failed in the middle."""
    comment: bytes = COMMENT
    """What keeps a stream alive; empty where the wire has nothing for that."""
    passes: bool = False
    """Whether it is the wire of the models' servers: then bytes can be passed on."""
    counted: Callable[[object], bytes] | None = None
    """The parsed body -> the answer, where no model is asked. Raises Refused."""


CHAT = Surface("chat", "/v1/chat/completions", asked, ChatWriter, error, passes=True)
RESPONSES = Surface("responses", "/v1/responses", asked_responses, ResponsesWriter, error)
MESSAGES = Surface(
    "messages",
    "/v1/messages",
    asked_messages,
    MessagesWriter,
    messages_error,
)
COUNT = MESSAGES._replace(path="/v1/messages/count_tokens", counted=counted)
BY_PATH: Mapping[str, Surface] = {each.path: each for each in (CHAT, RESPONSES, MESSAGES, COUNT)}
