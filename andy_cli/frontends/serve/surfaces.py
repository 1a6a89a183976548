"""The wires on which clients speak: each makes an `Asked` of a request and an answer of pieces."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from andy_cli.frontends.serve.asked import Asked, asked
from andy_cli.frontends.serve.chat_wire import ChatWriter, error
from andy_cli.frontends.serve.pieces import Piece, Refused


class Writer(Protocol):
    """Writes one answer."""

    def event(self, piece: Piece) -> bytes:
        """What goes on the wire of a stream for a piece; the end of it with `Over`."""
        ...

    def whole(self, pieces: Sequence[Piece]) -> bytes:
        """The answer that is not streamed."""
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
    failed: Callable[[Refused], bytes]
    """What ends a stream that failed in the middle."""
    passes: bool = False
    """Whether it is the wire of the models' servers: then bytes can be passed on."""


CHAT = Surface(
    "chat", "/v1/chat/completions", asked, ChatWriter, error, ChatWriter.failed, passes=True
)
BY_PATH: Mapping[str, Surface] = {each.path: each for each in (CHAT,)}
