"""Who may ask `andy serve`, and what becomes of odd requests: a real process, real sockets (P10)."""

import contextlib
import gzip
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.cases import Row, name, rows
from tests.model_server import (
    Answer,
    ModelServer,
    Received,
    answered,
    streamed,
)
from tests.served_raw import CHAT, Served, read, served, written

TOKEN = "sekrit-Token-4711-of-the-server"
UPSTREAM_KEY = "sk-upstream-0815-aaaabbbbccccdddd"
WHOLE = {
    "id": "c1",
    "object": "chat.completion",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    ],
}
ROWS = rows("serve/http_surface.jsonl", "serve/own_surface.jsonl")
SHOWN = [
    row
    for row in ROWS
    if isinstance(row["expect"], int | list) or row["expect"] == "no_acao_header"
]


def hello(received: Received) -> Answer:
    body = received.body or {}
    return streamed("Hello") if body.get("stream") else answered(WHOLE)


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    with ModelServer(hello) as server:
        yield server


@pytest.fixture(scope="module")
def opened(models: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("open"), models.url, "--dialect", "native") as server:
        yield server


@pytest.fixture(scope="module")
def guarded(models: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("guarded")
    keys = {"OPENAI_API_KEY": UPSTREAM_KEY}
    with served(home, models.url, "--token", TOKEN, env=keys) as server:
        yield server


def filled(value: Any, port: int) -> Any:  # noqa: ANN401
    """What stands for something in a row, as it is meant."""
    if isinstance(value, list):
        return [filled(each, port) for each in value]
    if not isinstance(value, str):
        return value
    if value.startswith("@repeat:"):
        _, count, text = value.split(":", 2)
        return text * int(count)
    if value.startswith("@many:"):
        _, count, text = value.split(":", 2)
        return [text * 50] * int(count)
    return value.replace("@port", str(port)).replace("@key", TOKEN)


def body_of(written: str | None) -> bytes | None:
    chat = json.dumps(CHAT).encode()
    if written is None:
        return None
    if written.startswith("@bytes:"):
        return bytes.fromhex(written.removeprefix("@bytes:"))
    packed = {
        "@chat": chat,
        "@gzip_bomb": gzip.compress(b" " * 40_000_000),
        "@chunked_chat": b"%x\r\n%s\r\n0\r\n\r\n" % (len(chat), chat),
    }
    return packed.get(written, filled(written, 0).encode())


@pytest.mark.parametrize("row", SHOWN, ids=name)
def test_a_request_gets_what_it_may(row: Row, opened: Served, guarded: Served) -> None:
    asked = row["request"]
    server = guarded if asked.get("auth") == "on" else opened
    answer = sent(server, asked)
    if row["expect"] == "no_acao_header":
        assert "access-control-allow-origin" not in answer.headers
        return
    expected = row["expect"] if isinstance(row["expect"], list) else [row["expect"]]
    assert answer.status in expected, (answer.status, answer.body[:300])
    if answer.status >= 400 and asked["method"] != "HEAD":
        assert set(answer.json["error"]) == {"message", "type", "param", "code"}
    assert TOKEN.encode() not in answer.body
    assert "access-control-allow-origin" not in answer.headers


def sent(server: Served, asked: Mapping[str, Any]) -> Any:  # noqa: ANN401
    headers = {key: filled(value, server.port) for key, value in asked["headers"].items()}
    path = filled(asked["path"], server.port)
    endless = asked["body"] == "@chunks"
    body = body_of(None if endless else asked["body"])
    with server.connect() as connection:
        request = written(asked["method"], path, server.port, headers, body)
        # A server that has refused may close before all was sent.
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
            while endless and not arrived(connection):
                connection.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
        return answer_of(connection, asked["method"] == "HEAD")


def answer_of(connection: socket.socket, head: bool = False) -> Any:  # noqa: ANN401
    """The answer; one that only says to go on is none."""
    stream = read(connection, head)
    return stream


def arrived(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(30)
