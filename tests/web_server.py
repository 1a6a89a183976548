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

from tests.http_server import HttpServer, begins_tls, read_request


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    url: str
    """As it stands in the request; after CONNECT with the host that was asked for."""
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


class WebServer(HttpServer):
    def __init__(
        self, script: Script, context: ssl.SSLContext | None = None, port: int = 0
    ) -> None:
        """`context`: what it speaks TLS with, at once or after CONNECT."""
        super().__init__(port)
        self.requests: list[Received] = []
        self._script = script
        self._context = context
        self._names: dict[int, str] = {}
        if context is not None:
            context.sni_callback = self._told
        self.host = f"127.0.0.1:{self.port}"
        self.url = self.address

    def _told(self, secured: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        self._names[threading.get_ident()] = name or ""

    def serve_connection(self, connection: socket.socket) -> None:
        with contextlib.suppress(ValueError):  # TLS that ends in the middle
            self._serve_plain_or_secured(connection)

    def _serve_plain_or_secured(self, connection: socket.socket) -> None:
        before = ""
        if not begins_tls(connection):
            received = self._read(connection)
            if received is None:
                return
            if received.method != "CONNECT":
                self._say(connection, received)
                return
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            before = f"https://{received.url}"
        if self._context is None:
            return
        with self._context.wrap_socket(connection, server_side=True) as secured:
            self.keep_open(secured)
            if received := self._read(secured, before):
                self._say(secured, received)

    def _say(self, connection: socket.socket, received: Received) -> None:
        self.requests.append(received)
        for piece in self._script(received):
            if self.closing.is_set():
                return
            connection.sendall(piece)

    def _read(self, connection: socket.socket, before: str = "") -> Received | None:
        with connection.makefile("rb") as stream:
            request = read_request(stream)
        if request is None:
            return None
        name = self._names.get(threading.get_ident(), "")
        url = before + request.target
        return Received(request.method, url, request.headers, request.body, name, self.closing)
