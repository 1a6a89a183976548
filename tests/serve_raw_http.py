"""A real `andy serve` for tests, and raw HTTP with it."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.shell import ROOT, environment
from tests.warm_start import AndyProcess, fork_serve

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
PATH = "/v1/chat/completions"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401
        return json.loads(self.body)


@dataclass
class Served:
    port: int
    process: AndyProcess
    err: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, timeout: float = 30) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, object] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """One request on a connection of its own."""
        with self.connect() as connection:
            connection.sendall(written(method, path, self.port, headers or {}, body))
            return read(connection)

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers)

    def chat(self, body: object = CHAT, **headers: str) -> Answer:
        kind = {"content-type": "application/json"}
        return self.ask("POST", PATH, {**kind, **headers}, json.dumps(body).encode())

    def end(self, seconds: float = 15) -> int:
        """Its exit code, after SIGTERM."""
        self.process.terminate()
        return self.process.wait(seconds)


def written(
    method: str, path: str, port: int, headers: Mapping[str, object], body: bytes | None
) -> bytes:
    """A request; a header may have several values. Host and length are added where missing."""
    lines = [f"{method} {path} HTTP/1.1"]
    given = {name.lower(): value for name, value in headers.items()}
    given.setdefault("host", f"127.0.0.1:{port}")
    if body is not None and "transfer-encoding" not in given:
        given.setdefault("content-length", len(body))
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        lines += [f"{name}: {each}" for each in values]
    return "\r\n".join((*lines, "", "")).encode("utf-8", "surrogateescape") + (body or b"")


def read(connection: socket.socket, head: bool = False) -> Answer:
    """One answer, the only one to come. Raises EOFError where none came."""
    return read_from(connection.makefile("rb"), head)


def read_from(stream: Any, head: bool = False) -> Answer:  # noqa: ANN401
    """The next answer; what only says to go on is none."""
    first = stream.readline()
    if first.startswith(b"HTTP/1.1 100"):
        stream.readline()
        first = stream.readline()
    if not first:
        raise EOFError
    headers = {}
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    status = int(first.split()[1])
    if head or status in (204, 304):
        body = b""
    elif headers.get("transfer-encoding") == "chunked":
        body = b"".join(chunks(stream))
    else:
        body = stream.read(int(headers.get("content-length", -1)))
    return Answer(status, headers, body)


def chunks(stream: Any) -> Iterator[bytes]:  # noqa: ANN401
    while size := int(stream.readline() or b"0", 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()


@contextmanager
def served(
    home: Path,
    upstream: str,
    *more: str,
    env: Mapping[str, str] | None = None,
    ready: bool = True,
) -> Iterator[Served]:
    """`andy serve` at a free port, ready unless that is not waited for.

    What it wrote to stderr holds no traceback.
    """
    log = home / f"serve-{time.monotonic_ns()}.err"
    known = environment(home, **(env or {}))
    with log.open("w") as err:
        process = fork_serve(
            *("--upstream", upstream, "--port", "0", *more),
            cwd=ROOT,
            environment=known,
            stderr=err.fileno(),
        )
    try:
        server = Served(announced(process, log), process)
        if ready:
            wait_until_ready(server)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        said = log.read_text()
        assert "Traceback" not in said, said
    server.err += said.splitlines()


def announced(process: AndyProcess, log: Path) -> int:
    for _ in range(3000):
        said = log.read_text()
        if "/v1 (" in said:
            return int(said.partition("/v1 (")[0].rpartition(":")[2])
        assert process.poll() is None, said
        time.sleep(0.01)
    raise TimeoutError(log.read_text())


def wait_until_ready(server: Served) -> None:
    for _ in range(600):
        try:
            if server.get("/health").status == 200:
                return
        except (OSError, EOFError):
            pass
        time.sleep(0.05)
    raise TimeoutError("the server did not come up")


def events(body: bytes) -> Sequence[str]:
    """The data of a stream's events."""
    return [each[6:] for each in body.decode().split("\n\n") if each.startswith("data: ")]
