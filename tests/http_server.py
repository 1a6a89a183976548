"""The sockets of every scripted HTTP server: listen, accept, read a request, close.

What a server says is in its own file; a subclass answers a request, or serves a whole connection.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Self

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For `verify` of a client: nothing here is encrypted, and to read all the certificates that are
trusted, as a client else does for each request, takes twenty times as long as the request."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    target: str
    """As it stands in the first line, with its query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class HttpServer:
    """Serves every connection in a thread of its own, until the test is over."""

    def __init__(self, port: int = 0) -> None:
        """`port`: 0 is any free one."""
        self.connections = 0
        self.closing = threading.Event()
        """Set when the test is over: an answer may wait for it."""
        self._listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.closing.set()
        for connection in (self._listener, *self._open):
            close_socket(connection)
        for thread in self._threads:
            thread.join(5)

    def serve_connection(self, connection: socket.socket) -> None:
        """Answer one request after another, until `answer_request` says that it was the last."""
        with connection.makefile("rb") as stream:
            while (request := read_request(stream)) and self.answer_request(connection, request):
                pass

    def answer_request(self, connection: socket.socket, request: HttpRequest) -> bool:
        """Send the answer; false if the connection is to be closed after it."""
        raise NotImplementedError

    def keep_open(self, connection: socket.socket) -> None:
        """Close this one too when the test is over."""
        self._open.append(connection)

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self.keep_open(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # clients go away in the middle
            self.serve_connection(connection)
        close_socket(connection)


def read_request(stream: BinaryIO) -> HttpRequest | None:
    """None where the client has gone, perhaps in the middle of a request."""
    first = stream.readline()
    if not first:
        return None
    method, target, _ = first.decode().split(" ", 2)
    headers: dict[str, str] = {}
    while (line := stream.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    length = int(headers.get("content-length", 0))
    body = stream.read(length)
    if not line or len(body) < length:
        return None
    return HttpRequest(method, target, headers, body)


def begins_tls(connection: socket.socket) -> bool:
    """Look at the first byte that is sent, and leave it there."""
    return connection.recv(1, socket.MSG_PEEK) == b"\x16"


def close_socket(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it may be closed already
        connection.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        connection.close()
