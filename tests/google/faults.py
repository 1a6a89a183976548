"""A server that has something wrong with it: it answers what a test tells it to, and counts.

    with Faults(lambda asked: refused(429, "slow")) as server:
        ... server.url ... server.asked

The operations of an answer are those of `tests/model_server.py`.
"""

import json
import socket
import threading
from collections.abc import Callable, Mapping

from tests.google.emulator import Asked
from tests.http_server import HttpRequest, HttpServer
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


class Faults(HttpServer):
    def __init__(self, script: Script) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self.stalled = threading.Event()
        """A request is here that gets no answer."""
        self.left = threading.Event()
        """Whoever asked has gone, before the answer was whole."""
        self._script = script
        self.url = self.address

    @property
    def changes(self) -> list[Asked]:
        """What would have changed something."""
        return [
            each for each in self.asked if each.method != "GET" and each.path != "/oauth2/token"
        ]

    def answer_request(self, connection: socket.socket, request: HttpRequest) -> bool:
        asked = Asked.from_request(request)
        self.asked.append(asked)
        answer = self._script(asked)
        if {"op": "stall"} in answer:
            self.stalled.set()
            # Until whoever asked goes away.
            while not self.closing.is_set() and connection.recv(1):
                pass
            self.left.set()
            return False
        try:
            Answering(connection, self.closing).run(answer)
        except OSError:
            self.left.set()
        return False


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
