"""A server that has something wrong with it: it answers what a test tells it to, and counts.

    with Faults(lambda asked: refused(429, "slow")) as server:
        ... server.url ... server.asked

The operations of an answer are those of `tests/model_server.py`.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import BinaryIO

from tests.google.emulator import Asked
from tests.model_server import Answer, Answering, status

JSON = {"content-type": "application/json; charset=UTF-8"}
Script = Callable[[Asked], Answer]


def answered(body: object) -> Answer:
    return [status(headers=JSON), {"op": "json", "body": body}]


def refused(code: int, reason: str = "", message: str = "No.", **headers: str) -> Answer:
    """As Google refuses."""
    errors = [{"reason": reason, "message": message, "domain": "global"}]
    body = {"error": {"code": code, "message": message, "errors": errors}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return [status(code, {**JSON, **named}), {"op": "json", "body": body}]


class Faults:
    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        self.stalled = threading.Event()
        """A request is here that gets no answer."""
        self.left = threading.Event()
        """Whoever asked has gone, before the answer was whole."""
        self._script = script
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Faults":
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        for each in (self._listener, *self._open):
            _shut(each)
        for thread in self._threads:
            thread.join(5)

    @property
    def changes(self) -> list[Asked]:
        """What would have changed something."""
        return [
            each for each in self.asked if each.method != "GET" and each.path != "/oauth2/token"
        ]

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self._closing.is_set():
                connection, _ = self._listener.accept()
                self._open.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection.makefile("rb") as stream:
            asked = _read(stream)
            if asked is not None:
                self.asked.append(asked)
                self._answer(connection, asked)
        _shut(connection)

    def _answer(self, connection: socket.socket, asked: Asked) -> None:
        answer = self._script(asked)
        if {"op": "stall"} in answer:
            self.stalled.set()
            # Until whoever asked goes away.
            while not self._closing.is_set() and connection.recv(1):
                pass
            self.left.set()
            return
        try:
            Answering(connection, self._closing).run(answer)
        except OSError:
            self.left.set()


def _read(stream: BinaryIO) -> Asked | None:
    first = stream.readline().decode()
    if not first:
        return None
    method, target, _ = first.split(" ", 2)
    headers: dict[str, str] = {}
    while line := stream.readline().strip().decode():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    path, _, query = target.partition("?")
    body = stream.read(int(headers.get("content-length", 0)))
    return Asked(method, path, query, headers.get("content-type", ""), body)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def given(asked: Asked) -> Mapping[str, object]:
    """An answer to whatever is asked that holds what tools look for."""
    if asked.path == "/oauth2/token":
        return {"access_token": "ya29.kanarienvogel-renewed", "expires_in": 3600}
    found = json.loads(
        """{"id": "x", "name": "n", "title": "t", "mimeType": "text/plain", "documentId": "x",
        "spreadsheetId": "x", "updatedRange": "A1", "clearedRange": "A1", "messages": [{"id": "x"}],
        "updates": {"updatedRange": "A1"}, "replies": [{"replaceAllText":
        {"occurrencesChanged": 1}}]}"""
    )
    assert isinstance(found, dict)
    return found
