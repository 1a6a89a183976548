"""A server that answers at once: the floor for everything that is measured over HTTP.

    python -m tests.benchmarks.server PORT TOKENS [tool] [pace=N]

Prints `ready` when it listens. The whole reply is written in one go, so its time is nearly all
the client's. With `tool` it asks for a listing first, then answers; with `pace=60` it writes 60
events a second.
"""

import json
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

PART = (
    "## Part\n\nThis paragraph carries **bold** and `code`, and it runs long enough to wrap on a "
    "usual terminal.\n\n- first point\n- second point\n\n```python\nreturn 1\n```\n\n"
)

END = "QZXQ"
"""What every answer ends with; no letter of it stands elsewhere, so it is drawn as a whole."""


def words(tokens: int) -> list[str]:
    """Pieces of four characters, as models write."""
    text = PART * (tokens * 4 // len(PART) + 1)
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


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet, as servers for models do
    disable_nagle_algorithm = True
    reply: ClassVar[bytes] = b""
    call: ClassVar[bytes] = b""
    pace: ClassVar[float] = 0.0
    """Events a second; 0 is all at once."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "messages" not in body:  # some other server's question about the model
            self.send_error(404)
            return
        asked = any(each["role"] == "tool" for each in body["messages"])
        self.send(self.reply if asked or not self.call else self.call, "text/event-stream")

    def do_GET(self) -> None:
        self.send(json.dumps({"data": [{"id": "m"}]}).encode(), "application/json")

    def send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not self.pace or kind == "application/json":
            self.wfile.write(body)
            return
        started = time.monotonic()
        for number, piece in enumerate(body.split(b"\n\n")[:-1]):
            time.sleep(max(0.0, started + number / self.pace - time.monotonic()))
            self.wfile.write(piece + b"\n\n")
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever stops a turn closes the connection."""


def main() -> None:
    port, tokens = int(sys.argv[1]), int(sys.argv[2])
    Handler.reply = answer(tokens)
    Handler.call = call("list_mp3s", '{"path": "tests/music"}') if "tool" in sys.argv else b""
    Handler.pace = float(next((each[5:] for each in sys.argv if each.startswith("pace=")), 0))
    server = Server(("127.0.0.1", port), Handler)
    print("ready", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
