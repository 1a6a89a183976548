"""The values of one request and its answer; what carries them is in `wire.py`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from andy_cli.errors import ToolError, ToolTimeout

MAX_BYTES = 32 * 2**20
"""Bytes of an answer, unpacked."""

Query = Mapping[str, str | int | bool | Sequence[str]]


class ApiCall(NamedTuple):
    method: str
    url: str
    query: Query | None = None
    """Empty texts are left out."""
    content: bytes = b""
    kind: str = "application/json"
    """The media type of the content."""


class ApiReply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Names in lower case, or found by them."""
    refused: bytes = b""
    """The beginning of the body if the status is none of success; else the reader has it."""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class BrokenExchange(Exception):
    """There was no answer, or not all of it. The text is one sentence; `sent` tells whether any
    of the request had left by then, `late` that it took too long."""

    def __init__(self, reason: str, sent: bool, late: bool = False) -> None:
        super().__init__(reason)
        self.sent = sent
        self.late = late

    def as_tool_error(self, further_text: str = "", may_be_done: bool = False) -> ToolError:
        """Make the error of a tool, with one more sentence."""
        failure = ToolTimeout if self.late else ToolError
        return failure(f"{self} {further_text}".rstrip(), may_be_done=may_be_done)


class BodyReader(Protocol):
    def feed(self, data: bytes) -> bool:
        """Take a piece; whether more is wanted."""
        ...


Exchange = Callable[[ApiCall, str, BodyReader], Awaitable[ApiReply]]
"""Sends a request with a token, once; an answer of any status is an answer.

Raises BrokenExchange."""


class WholeAnswer:
    """Takes the whole of an answer. Of one that is too large nothing is left, and `over` is set."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._most = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def over(self) -> bool:
        return self._size > self._most

    @property
    def data(self) -> bytes:
        return b"".join(self._pieces)

    def feed(self, data: bytes) -> bool:
        self._size += len(data)
        if self.over:
            self._pieces = []
            return False
        self._pieces.append(data)
        return True
