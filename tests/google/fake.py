"""Docs, Sheets and Tasks as far as our tools go. Every request and every answer is held against
Google's own documents (`discovery.py`); what does not fit is in `faults` and answered with 500.

    with Fake() as fake:
        ... fake.url ... fake.state ... fake.asked
"""

import json
import socket
import traceback
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from tests.google import discovery
from tests.google.accounts import TOKEN
from tests.google.documents import Documents
from tests.google.emulator import Asked
from tests.google.spreadsheets import Spreadsheets
from tests.google.todo import Todo
from tests.http_server import HttpRequest, HttpServer

JSON = "application/json; charset=UTF-8"
STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 500: "INTERNAL"}


Answer = dict[str, Any] | None


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class State:
    def __init__(self) -> None:
        self.docs = Documents()
        self.sheets = Spreadsheets()
        self.tasks = Todo()


class Fake(HttpServer):
    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        self.url = self.address

    def answer_request(self, connection: socket.socket, request: HttpRequest) -> bool:
        token = request.headers.get("authorization", "")
        code, answer = self.answer(Asked.from_request(request), token)
        body = b"" if answer is None else json.dumps(answer).encode()
        status = HTTPStatus.NO_CONTENT if answer is None else HTTPStatus(code)
        lines = [f"HTTP/1.1 {status} {status.phrase}", f"content-type: {JSON}"]
        if answer is not None:
            lines.append(f"content-length: {len(body)}")
        connection.sendall("\r\n".join((*lines, "", "")).encode() + body)
        return True

    def answer(self, asked: Asked, token: str) -> tuple[int, Answer]:
        self.asked.append(asked)
        try:
            if token != f"Bearer {TOKEN}":
                raise Refused(401, "Request had invalid authentication credentials.")
            method = discovery.called(asked)
            answer = self._carried_out(method, asked)
            discovery.fits(method, answer)
        except Refused as refused:
            return refused.code, _error(refused.code, str(refused))
        except LookupError:
            return 404, _error(404, "Requested entity was not found.")
        except ValueError as error:
            return 400, _error(400, str(error))
        except AssertionError:
            self.faults.append(traceback.format_exc())
            return 500, _error(500, "The request or the answer is none of Google's.")
        return 200, answer

    def _carried_out(self, method: discovery.Method, asked: Asked) -> Answer:
        """The answer of the method that is named as the discovery document names it."""
        room = method.id.partition(".")[0]
        holder = getattr(self.state, room)
        carry: Callable[..., Answer] = getattr(
            holder, _underscored(method.id.removeprefix(f"{room}."))
        )
        query = {each: values[0] for each, values in parse_qs(asked.query).items()}
        body = json.loads(asked.body) if asked.body else {}
        return carry(discovery.parts(asked.path), query, body)


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": STATUS[code]}}


def _underscored(name: str) -> str:
    """`spreadsheets.values.batchUpdate` as the name of a function."""
    return name.replace(".", "_")
