"""A server that answers at once: the floor for everything that is measured over HTTP.

    python -m tests.benchmarks.server PORT TOKENS [tool] [pace=N]

Prints `ready` when it listens. The whole reply is written in one go, so its time is nearly all
the client's. With `tool` it asks for a listing first, then answers; with `pace=60` it writes 60
events a second.
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Mapping

from tests.http_server import HttpRequest, HttpServer

PART = (
    "## Part {number}\n\nThis paragraph carries **bold** and `code`, and it runs long enough to "
    "wrap on a usual terminal.\n\n- first point\n- second point\n\n```python\nreturn 1\n```\n\n"
)

END = "QZXQ"
"""What every answer ends with; no letter of it stands elsewhere, so it is drawn as a whole."""


def words(tokens: int) -> list[str]:
    """Pieces of four characters, as models write; the same again and again would be stopped."""
    parts = range(1, tokens * 4 // len(PART) + 2)
    text = "".join(PART.replace("{number}", f"{number:08}") for number in parts)
    return [text[at : at + 4] for at in range(0, tokens * 4, 4)]


def event(delta: Mapping[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def answer(tokens: int) -> bytes:
    events = [event({"content": word}) for word in [*words(tokens), f"\n\n{END}"]]
    return b"".join([*events, event({}, "stop"), b"data: [DONE]\n\n"])


def call(name: str, arguments: str) -> bytes:
    function = {"name": name, "arguments": arguments}
    delta = {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}
    return b"".join([event(delta), event({}, "tool_calls"), b"data: [DONE]\n\n"])


class FloorServer(HttpServer):
    def __init__(self, port: int, reply: bytes, call: bytes, pace: float) -> None:
        """`call`: what is answered before the result of a tool is there, if anything is.
        `pace`: events a second; 0 is all at once."""
        super().__init__(port)
        self._reply = reply
        self._call = call or reply
        self._pace = pace

    def answer_request(self, connection: socket.socket, request: HttpRequest) -> bool:
        if request.method == "GET":
            models = json.dumps({"data": [{"id": "m"}]}).encode()
            connection.sendall(head(200, "application/json", len(models)) + models)
            return True
        body = json.loads(request.body)
        if "messages" not in body:  # some other server's question about the model
            connection.sendall(head(404, "text/plain", 0))
            return True
        asked = any(message["role"] == "tool" for message in body["messages"])
        self._stream(connection, self._reply if asked else self._call)
        return True

    def _stream(self, connection: socket.socket, reply: bytes) -> None:
        begun = head(200, "text/event-stream", len(reply))
        if not self._pace:
            connection.sendall(begun + reply)  # in one packet, as servers for models do
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(begun)
        started = time.monotonic()
        for number, piece in enumerate(reply.split(b"\n\n")[:-1]):
            time.sleep(max(0.0, started + number / self._pace - time.monotonic()))
            connection.sendall(piece + b"\n\n")


def head(status: int, kind: str, length: int) -> bytes:
    lines = (f"HTTP/1.1 {status} Floor", f"content-type: {kind}", f"content-length: {length}")
    return "\r\n".join((*lines, "", "")).encode()


def main() -> None:
    port, tokens = int(sys.argv[1]), int(sys.argv[2])
    called = call("list_mp3s", '{"path": "tests/music"}') if "tool" in sys.argv else b""
    pace = float(next((word[5:] for word in sys.argv if word.startswith("pace=")), 0))
    with FloorServer(port, answer(tokens), called, pace) as server:
        print("ready", server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
