"""A web server on loopback that says what a test tells it to; a proxy too, and under TLS.

    with WebServer(lambda received: page("<p>Hello")) as server:
        ... server.url ... server.requests

An answer is the bytes that are sent, in pieces; after the last one the connection is closed. As a
proxy it answers for every host by itself: `Received.url` says for which.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    url: str
    """As it stands in the request; behind CONNECT with the host that was asked for."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    name: str
    """The name told under TLS."""
    closing: threading.Event
    """Set when the test is over: an answer may wait for it."""


Script = Callable[[Received], Iterable[bytes]]


def head(status: int = 200, kind: str = "text/html", **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {kind}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode("utf-8")


def page(
    body: bytes | str, kind: str = "text/html; charset=utf-8", status: int = 200, **headers: object
) -> list[bytes]:
    data = body.encode() if isinstance(body, str) else body
    return [head(status, kind, content_length=len(data), **headers), data]


def sent_on(target: str, status: int = 302) -> list[bytes]:
    return [head(status, location=target, content_length=0)]


def stalled(received: Received, *before: bytes) -> Iterator[bytes]:
    """Say this much and then nothing."""
    yield from before
    received.closing.wait(30)


def endless(piece: bytes, **headers: object) -> Iterator[bytes]:
    yield head(200, "text/html", **headers)
    while True:
        yield piece


class WebServer:
    def __init__(self, script: Script, context: ssl.SSLContext | None = None) -> None:
        """`context`: what it speaks TLS with, at once or behind CONNECT."""
        self.requests: list[Received] = []
        self.connections = 0
        self._script = script
        self._context = context
        self._names: dict[int, str] = {}
        if context is not None:
            context.sni_callback = self._told
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    def __enter__(self) -> "WebServer":
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        for each in [self._listener, *self._open]:
            _shut(each)
        for thread in self._threads:
            thread.join(5)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _told(self, secured: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        self._names[threading.get_ident()] = name or ""

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):  # clients go away in the middle
            self._answer(connection)
        _shut(connection)

    def _answer(self, connection: socket.socket) -> None:
        before = ""
        if connection.recv(1, socket.MSG_PEEK) != b"\x16":
            received = self._read(connection)
            if received.method != "CONNECT":
                self._say(connection, received)
                return
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            before = f"https://{received.url}"
        if self._context is None:
            return
        with self._context.wrap_socket(connection, server_side=True) as secured:
            self._open.append(secured)
            self._say(secured, self._read(secured, before))

    def _say(self, connection: socket.socket, received: Received) -> None:
        self.requests.append(received)
        for piece in self._script(received):
            if self._closing.is_set():
                return
            connection.sendall(piece)

    def _read(self, connection: socket.socket, before: str = "") -> Received:
        with connection.makefile("rb") as stream:
            method, target, _ = stream.readline().decode().split(" ", 2)
            headers: dict[str, str] = {}
            while (line := stream.readline().strip()) != b"":
                name, _, value = line.decode("latin-1").partition(":")
                headers[name.lower()] = value.strip()
            body = _body(stream, headers)
        name = self._names.get(threading.get_ident(), "")
        return Received(method, before + target, headers, body, name, self._closing)


def _body(stream: Any, headers: Mapping[str, str]) -> bytes:  # noqa: ANN401
    data: bytes = stream.read(int(headers.get("content-length", 0)))
    return data


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it may be closed already
        connection.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        connection.close()
