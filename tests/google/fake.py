"""Docs, Sheets and Tasks as far as our tools go. Every request and every answer is held against
Google's own documents (`discovery.py`); what does not fit is in `faults` and answered with 500.

    with Fake() as fake:
        ... fake.url ... fake.state ... fake.asked
"""

import json
import threading
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs

from tests.google import discovery
from tests.google.accounts import TOKEN
from tests.google.documents import Documents
from tests.google.emulator import Asked
from tests.google.spreadsheets import Spreadsheets
from tests.google.todo import Todo

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


class Fake:
    def __init__(self) -> None:
        self.state = State()
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> "Fake":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

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

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def respond(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                path, _, query = self.path.partition("?")
                kind = self.headers.get("content-type") or ""
                asked = Asked(self.command, path, query, kind, self.rfile.read(size))
                code, answer = fake.answer(asked, self.headers.get("authorization") or "")
                body = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(204 if answer is None else code)
                self.send_header("content-type", "application/json; charset=UTF-8")
                if answer is not None:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        return Handler


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": STATUS[code]}}


def _underscored(name: str) -> str:
    """`spreadsheets.values.batchUpdate` as the name of a function."""
    return name.replace(".", "_")
