"""Who may ask `andy serve`, and what becomes of odd requests: real processes and sockets (P10)."""

import asyncio
import concurrent.futures
import contextlib
import gzip
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from andy_cli import __version__
from andy_cli.frontends.serve.call_records import CallRecord, CallRecords, SharedStats
from tests.cases import Row, loop_over, name, rows
from tests.model_server import (
    Answer,
    ModelServer,
    Operation,
    Received,
    answered,
    event,
    raw,
    refused,
    status,
    streamed,
)
from tests.serve_raw_http import CHAT, PATH, Served, events, read, read_from, served, written
from tests.serve_raw_http import Answer as Got
from tests.shell import andy

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
    if written == "@gzip_bomb":
        return gzip.compress(b" " * 40_000_000)
    packed = {"@chat": chat, "@chunked_chat": b"%x\r\n%s\r\n0\r\n\r\n" % (len(chat), chat)}
    return packed[written] if written in packed else str(filled(written, 0)).encode()


@loop_over("row", SHOWN, ids=name)
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
        error = answer.json["error"]
        assert set(error) == {"message", "type", "param", "code"}
        named = error["message"].split()[0]
        assert error["param"] == named or answer.status != 400 or named.istitle()
    assert TOKEN.encode() not in answer.body
    assert "access-control-allow-origin" not in answer.headers


def sent(server: Served, asked: Mapping[str, Any]) -> Got:
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
        return read(connection, asked["method"] == "HEAD")


def arrived(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(30)


def test_several_requests_on_one_connection_whatever_becomes_of_each(opened: Served) -> None:
    def request(body: bytes, **headers: str) -> bytes:
        kind = {"content-type": "application/json", **headers}
        return written("POST", PATH, opened.port, kind, body)

    fine, broken = request(json.dumps(CHAT).encode()), request(b"{")
    foreign = request(b" " * 100_000, origin="https://evil.example")
    health = written("GET", "/health", opened.port, {}, None)
    with opened.connect() as connection:
        stream = connection.makefile("rb")
        for each, expected in ((broken, 400), (fine, 200), (foreign, 403), (health, 200)):
            connection.sendall(each)
            assert read_from(stream).status == expected
        connection.sendall(fine + broken + health + fine)
        assert [read_from(stream).status for _ in range(4)] == [200, 400, 200, 200]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"GET /health HTTP/1.0\r\nhost: localhost\r\n\r\n", 200),
        (b"GET /health HTTP/1.0\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\n\r\n", 400),
        (b"GET /health\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
        (b"hello\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nhost: localhost\r\n folded: x\r\nhost : y\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: a\x00b\r\n\r\n", 400),
        (b"\x00" * 70_000, 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n"
         b"transfer-encoding: chunked\r\n\r\n5\r\n{\"a\"\r\nQQ\r\n", 400),
    ],
)  # fmt: skip
def test_bytes_that_are_hardly_http_get_an_answer(
    line: bytes, expected: int, opened: Served
) -> None:
    with opened.connect() as connection:
        connection.sendall(line)
        assert read(connection).status == expected


ASKED = json.dumps(CHAT).encode()
POST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
)
CHUNKS = b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(ASKED), ASKED)
WHOLE_BODY = b"content-length: %d\r\n\r\n%s" % (len(ASKED), ASKED)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (POST + CHUNKS + b"x-after: 1\r\nhost: evil.example\r\n\r\n", 200),
        (POST + CHUNKS + b"expect: 100-continue\r\norigin: https://evil.example\r\n\r\n", 200),
        (POST + b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\n" + WHOLE_BODY, 200),
        (POST + b"expect: 100-continue\r\n" + WHOLE_BODY, 200),
        (b"\r\n" + POST + WHOLE_BODY, 200),
        (POST + b"x: " + b"a" * 70_000, 431),
        (POST + b"x: a\r\n" * 20_000, 431),
        (POST + b"x: a\r\n" * 20_000 + WHOLE_BODY, 431),
        (POST + b"transfer-encoding: chunked\r\n" + WHOLE_BODY, 400),
        (POST + b"transfer-encoding: gzip, chunked, gzip\r\n\r\n", 400),
        (POST + b"content-length: +5\r\n\r\n12345", 400),
        (POST + b"content-length: 5\r\ncontent-length: 6\r\n\r\n12345", 400),
        (POST.replace(b"\r\n", b"\n") + WHOLE_BODY, 400),
    ],
)
def test_every_way_to_write_a_request_is_read_in_one_way(
    request_: bytes, expected: int, opened: Served
) -> None:
    with opened.connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request_)
        assert read(connection).status == expected
    assert opened.chat().status == 200


STARTS = {
    "head": "POST /v1/chat/completions HTTP/1.1\r\nx: ",
    "body": "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n",
    "the next head": "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /health HTTP/1.1\r\nx: ",
    "nothing": "",
}


@pytest.mark.slow
def test_x032_a_client_that_is_slow_holds_no_place_for_ever(opened: Served) -> None:
    """All at once: the server's patience is half a minute."""
    with concurrent.futures.ThreadPoolExecutor(len(STARTS)) as pool:
        answers = pool.map(lambda start: trickle(start, opened), STARTS.values())
        for name, answer in zip(STARTS, answers, strict=True):
            assert b" 408 " in answer, name
    assert opened.get("/health").status == 200


def trickle(start: str, server: Served) -> bytes:
    """Send a letter a second after the start, or nothing at all, until the server hangs up."""
    with server.connect() as connection:
        connection.sendall(start.encode())
        received, began = b"", time.monotonic()
        connection.settimeout(1)
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 60:
                with contextlib.suppress(TimeoutError):
                    if not (data := connection.recv(4096)):
                        break
                    received += data
                if start:
                    connection.sendall(b"a")
    return received


@pytest.mark.slow
def test_x018_beyond_this_machine_a_token_is_needed(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        upstream = ("--upstream", "http://127.0.0.1:1/v1")
        done = andy("serve", *upstream, "--host", host, "--port", "0", home=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "a token is needed" in done.err


def test_beyond_this_machine_any_address_is_a_name_and_others_must_be_said(
    models: ModelServer, tmp_path: Path
) -> None:
    more = ("--host", "0.0.0.0", "--token", TOKEN, "--allow-host", "andy.example")
    with served(tmp_path, models.url, *more) as server:
        assert server.get("/health", host="192.0.2.7:8787").status == 200
        assert server.get("/health", host="andy.example").status == 200
        assert server.get("/health", host="Andy.Example:443").status == 200
        assert server.get("/health", host="evil.example").status == 403
        page = {"host": "andy.example", "authorization": f"Bearer {TOKEN}"}
        assert server.chat(**page, origin="https://andy.example").status == 200
        assert server.chat(**page, origin="https://evil.example").status == 403


@pytest.mark.parametrize(
    ("given", "page"),
    [
        ("https://app.example", "https://app.example"),
        ("https://App.example/", "https://app.example"),
        ("safari-web-extension://1A-2B", "safari-web-extension://1A-2B"),
    ],
)
def test_a_page_that_was_allowed_may_ask_and_read(
    given: str, page: str, models: ModelServer, tmp_path: Path
) -> None:
    with served(tmp_path, models.url, "--allow-origin", given) as server:
        asks = {"origin": page, "access-control-request-method": "POST"}
        before = server.ask("OPTIONS", PATH, asks)
        assert (before.status, before.headers["access-control-allow-origin"]) == (204, page)
        assert "authorization" in before.headers["access-control-allow-headers"]
        answer = server.chat(origin=page, **{"sec-fetch-site": "cross-site"})
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, page)
        assert server.chat(origin="https://evil.example").status == 403


def test_x033_a_port_that_is_taken_is_said_in_a_sentence(opened: Served, tmp_path: Path) -> None:
    upstream = ("--upstream", "http://127.0.0.1:1/v1")
    done = andy("serve", *upstream, "--port", str(opened.port), home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"Port {opened.port} at 127.0.0.1 cannot be used" in done.err
    assert opened.get("/health").status == 200


def test_x034_pages_and_errors_tell_nothing_of_the_machine(guarded: Served) -> None:
    telling = (TOKEN, UPSTREAM_KEY, str(Path.home()), "andy_cli", "python", "uvicorn", __version__)
    for path in ("/", "/nothing", "/metrics", "/v1/models", "/health"):
        answer = guarded.get(path)
        said = f"{answer.headers} {answer.body.decode()}".lower()
        assert not [each for each in telling if each.lower() in said]


def test_x019_the_key_of_a_client_stays_here(
    models: ModelServer, opened: Served, guarded: Served
) -> None:
    opened.chat(authorization="Bearer client-key", cookie="a=client-key", **{"x-api-key": "c-key"})
    first = models.requests[-1].headers
    assert not [value for value in first.values() if "key" in value]
    assert "authorization" not in first
    guarded.chat(authorization=f"Bearer {TOKEN}")
    assert models.requests[-1].headers["authorization"] == f"Bearer {UPSTREAM_KEY}"
    assert TOKEN not in str(models.requests[-1])


def test_no_key_is_in_an_error_or_in_what_is_shown(tmp_path: Path) -> None:
    quoting = refused(401, f"Incorrect API key provided: {UPSTREAM_KEY}.")
    with ModelServer([quoting]) as models:
        keys = {"OPENAI_API_KEY": UPSTREAM_KEY, "ANDY_SERVE_TOKEN": TOKEN}
        with served(tmp_path, models.url, env=keys) as server:
            key = {"authorization": f"Bearer {TOKEN}"}
            answer = server.chat(**key)
            shown = [server.get(path, **key) for path in ("/", "/metrics", "/calls.json")]
        assert (answer.status, answer.json["error"]["type"]) == (502, "upstream_error")
        said = b"".join([answer.body, *(each.body for each in shown)]).decode()
        for key_of in (TOKEN, UPSTREAM_KEY):
            assert key_of not in said
            assert key_of not in "".join(server.err)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("dialect", ["native", "hermes"])
def test_a_client_that_goes_ends_the_request_to_the_model(
    stream: bool, dialect: str, tmp_path: Path
) -> None:
    waiting: Operation = {"op": "left"}
    tools = [{"type": "function", "function": {"name": "play", "parameters": {}}}]
    body = json.dumps({**CHAT, "stream": stream, "tools": tools}).encode()
    with ModelServer([[status(), event({"content": "Hel"}), waiting]]) as models:
        with served(tmp_path, models.url, "--dialect", dialect) as server:
            with server.connect() as connection:
                kind = {"content-type": "application/json"}
                connection.sendall(written("POST", PATH, server.port, kind, body))
                while not models.requests:
                    time.sleep(0.01)
            assert models.left.wait(10)
            assert server.get("/health").status == 200
        assert len(server.err) == 1


def held(released: Path) -> Any:  # noqa: ANN401
    """Answers that go on once a file is there."""

    def script(received: Received) -> Iterator[Operation]:
        yield status()
        yield event({"content": "Hel"})
        while not released.exists():
            yield {"op": "sleep", "s": 0.05}
        yield event({"content": "lo"}, "stop")
        yield raw("data: [DONE]\n\n")

    return script


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "dialect"), [("1", "native"), ("2", "hermes")])
@pytest.mark.parametrize("ends", [True, False], ids=["the rest", "an error"])
def test_x035_streams_that_are_open_at_the_end_are_told(
    ends: bool, workers: str, dialect: str, tmp_path: Path
) -> None:
    released = tmp_path / "released"
    tools = [{"type": "function", "function": {"name": "play", "parameters": {}}}]
    body = json.dumps({**CHAT, "stream": True, "tools": tools}).encode()
    with ModelServer(held(released)) as models:
        more = ("--dialect", dialect, "--workers", workers)
        with served(tmp_path, models.url, *more) as server, contextlib.ExitStack() as stack:
            open_ones = [stack.enter_context(server.connect()) for _ in range(10)]
            kind = {"content-type": "application/json"}
            for each in open_ones:
                each.sendall(written("POST", PATH, server.port, kind, body))
            while len(models.requests) < 10:
                time.sleep(0.01)
            server.process.terminate()
            if ends:
                released.touch()
            for each in open_ones:
                got = events(read(each).body)
                assert got[-1] == "[DONE]"
                assert ends != ("error" in json.loads(got[-2]))
            assert server.process.wait(30) == 0
            released.touch()


@pytest.mark.slow
@pytest.mark.parametrize(("drain", "ends"), [(1, False), (30, True)])
def test_open_answers_have_as_long_as_the_command_line_says(
    drain: int, ends: bool, tmp_path: Path
) -> None:
    released = tmp_path / "released"
    body = json.dumps({**CHAT, "stream": True}).encode()
    with (
        ModelServer(held(released)) as models,
        served(tmp_path, models.url, "--drain", str(drain)) as server,
        server.connect() as open_one,
    ):
        open_one.sendall(
            written("POST", PATH, server.port, {"content-type": "application/json"}, body)
        )
        while not models.requests:
            time.sleep(0.01)
        began = time.monotonic()
        server.process.terminate()
        if ends:
            time.sleep(9)  # longer than it has where nothing is said
            released.touch()
            with pytest.raises(ConnectionRefusedError):
                server.get("/health")
        got = events(read(open_one).body)
        assert (got[-1], "error" in json.loads(got[-2])) == ("[DONE]", not ends)
        assert server.process.wait(30) == 0
        assert ends or time.monotonic() - began >= drain
        released.touch()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_without_requests_a_signal_ends_it_at_once(
    number: signal.Signals, workers: str, models: ModelServer, tmp_path: Path
) -> None:
    with served(tmp_path, models.url, "--workers", workers) as server, server.connect() as idle:
        server.process.send_signal(number)
        assert server.process.wait(5) == (130 if number == signal.SIGINT else 0)
        assert idle.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            server.connect()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "3"])
def test_a_signal_that_comes_before_it_answers_ends_it_in_good_order(
    number: signal.Signals, workers: str, models: ModelServer, tmp_path: Path
) -> None:
    with served(tmp_path, models.url, "--workers", workers, ready=False) as server:
        server.process.send_signal(number)
        assert server.process.wait(10) == (130 if number == signal.SIGINT else 0)
        with pytest.raises(ConnectionRefusedError):
            server.connect()
    assert len(server.err) == 1


@pytest.mark.slow
def test_workers_end_with_the_first_even_if_that_is_killed(
    models: ModelServer, tmp_path: Path
) -> None:
    with served(tmp_path, models.url, "--workers", "3") as server:
        assert [server.chat().status for _ in range(12)] == [200] * 12
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(5)
        for _ in range(100):
            try:
                server.connect().close()
            except ConnectionRefusedError:
                break
            time.sleep(0.05)
        else:
            pytest.fail("somebody is still at the port")


def list_workers(server: Served) -> list[int]:
    """The numbers of its processes, dead ones that nobody waited for included."""
    pid = server.process.pid
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed in /proc")
def test_a_worker_that_is_killed_is_replaced(models: ModelServer, tmp_path: Path) -> None:
    with served(tmp_path, models.url, "--workers", "2") as server:
        assert [server.chat().status for _ in range(6)] == [200] * 6
        workers = list_workers(server)
        assert len(workers) == 2
        for killed in workers:  # the first of them, too
            os.kill(killed, signal.SIGKILL)
        for _ in range(100):
            time.sleep(0.05)
            if len(now := list_workers(server)) == 2 and not {*now} & {*workers}:
                break
        else:
            pytest.fail(f"{workers} are now {list_workers(server)}")
        assert [server.chat().status for _ in range(6)] == [200] * 6
        assert server.end() == 0
    assert len(server.err) == 1


@pytest.mark.slow
def test_without_a_model_and_with_a_wrong_one_it_does_not_start(tmp_path: Path) -> None:
    for words in ([], ["--upstream", "nonsense"], ["--upstream", "ftp://x/"], ["--workers", "2"]):
        done = andy("serve", "--port", "0", *words, home=tmp_path)
        assert done.code == 2
        assert done.err


def test_x026_a_schema_elsewhere_is_never_fetched(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "x", "arguments": {"p": 5, "q": "a"}}\n</tool_call>'
    with ModelServer([streamed(call)]) as models, ModelServer([answered({})]) as elsewhere:
        reference = {"$ref": f"{elsewhere.url}/s.json"}
        for parameters in (reference, {"type": "object", "properties": {"p": reference}}):
            tool = {"type": "function", "function": {"name": "x", "parameters": parameters}}
            with served(tmp_path, models.url, "--dialect", "hermes") as server:
                assert server.chat({**CHAT, "tools": [tool]}).status in (200, 400)
        assert elsewhere.connections == 0


def test_x027_a_pattern_that_blows_up_holds_nobody_up(tmp_path: Path) -> None:
    value = "a" * 60 + "!"
    call = f'<tool_call>\n{{"name": "x", "arguments": {{"p": "{value}"}}}}\n</tool_call>'
    text = {"type": "string", "pattern": "(a+)+$"}
    parameters = {"type": "object", "properties": {"p": text}}
    tool = {"type": "function", "function": {"name": "x", "parameters": parameters}}
    with (
        ModelServer([streamed(call)]) as models,
        served(tmp_path, models.url, "--dialect", "hermes") as server,
    ):
        assert server.chat({**CHAT, "tools": [tool]}).status == 200


def test_metrics_count_what_happened_in_the_format_of_prometheus(tmp_path: Path) -> None:
    with (
        ModelServer([answered(WHOLE), refused(500, "no")]) as models,
        served(tmp_path, models.url, "--dialect", "native") as server,
    ):
        server.chat()
        server.chat()
        server.chat({"messages": 5})
        answer = server.get("/metrics")
    lines = answer.body.decode().splitlines()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'andy_requests_total{surface="chat",way="passed",status="200"} 1' in lines
    assert 'andy_requests_total{surface="chat",way="passed",status="500"} 1' in lines
    assert "andy_requests_open 0" in lines
    for line in lines:
        assert line.startswith("# TYPE ") or float(line.rpartition(" ")[2]) >= 0


def test_any_process_of_a_server_tells_of_all(tmp_path: Path) -> None:
    """Whether several answer is the system's choice; that none of the calls is lost is ours."""
    with (
        ModelServer([answered(WHOLE)]) as models,
        served(tmp_path, models.url, "--dialect", "native", "--workers", "4") as server,
    ):
        with ThreadPoolExecutor(16) as clients:
            assert {each.status for each in clients.map(lambda _: server.chat(), range(40))} == {
                200
            }
        count = 'andy_requests_total{surface="chat",way="passed",status="200"} 40'
        open_ones = "andy_requests_open 0"
        for _ in range(100):
            said = [server.get("/metrics").body.decode().splitlines() for _ in range(5)]
            if all(count in lines and open_ones in lines for lines in said):
                break
            time.sleep(0.05)
        else:
            pytest.fail(str(said))
        shown = server.get("/calls.json").json
        assert len(shown["calls"]) == 40
        assert shown["models"] == [{"model": "m", "answers": 40, "with_calls": 0, "failed": 0}]


@pytest.mark.slow
def test_models_may_be_called_anything_and_only_so_many_names_are_kept(tmp_path: Path) -> None:
    with (
        ModelServer([answered(WHOLE)]) as models,
        served(tmp_path, models.url, "--dialect", "native") as server,
    ):
        for number in range(230):
            assert server.chat({**CHAT, "model": f"model-{number}"}).status == 200
        shown = server.get("/calls.json").json
    answers = {each["model"]: each["answers"] for each in shown["models"]}
    assert (len(shown["calls"]), len(answers), answers["(others)"]) == (50, 201, 30)


@pytest.mark.slow
def test_a_process_shows_the_others_as_many_calls_as_there_is_room_for() -> None:
    board = SharedStats(2)
    mine, others = CallRecords(board, 0), CallRecords(board, 1)

    async def work() -> None:
        for number in range(50):
            record = mine.begin(CallRecord("chat", "m", asked=f"{number}", raw="\ud7ff" * 30_000))
            record.compiled = record.raw
            mine.end(record, 200)
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.5)

    asyncio.run(work())
    assert others.sum_figures()["answers", "m"] == 50
    shown = [each["asked"] for each in others.list_last()]
    assert 10 <= len(shown) < 50
    assert shown == [f"{each}" for each in range(49, 49 - len(shown), -1)]
    assert len(mine.list_last()) == 50
    assert board.write(0, b"x" * 2**20) is False
    assert board.read(0)


@pytest.mark.slow
def test_health_asks_nobody_and_models_are_those_of_the_server_or_those_named(
    tmp_path: Path,
) -> None:
    with ModelServer([streamed("x")], models=("one", "two")) as models:
        with served(tmp_path, models.url) as server:
            assert server.get("/health").json == {"status": "ok"}
            assert not models.others
            listed = server.get("/v1/models").json
            assert [each["id"] for each in listed["data"]] == ["one", "two"]
        more = ("--upstream", f"small={models.url}")
        with served(tmp_path, f"big={models.url}", *more) as server:
            listed = server.get("/v1/models").json
            assert [each["id"] for each in listed["data"]] == ["big", "small"]
            assert {each["object"] for each in listed["data"]} == {"model"}
            assert server.chat({**CHAT, "model": "none"}).status == 404
    with served(tmp_path, "http://127.0.0.1:1/v1") as server:
        assert server.get("/v1/models").json == {"object": "list", "data": []}


ODD: tuple[Any, ...] = (
    None,
    5,
    -1,
    1.5,
    True,
    "x",
    "",
    [],
    {},
    [None],
    [[]],
    {"a": 1},
    "\ud800",
    "@" * 300,
    "\0",
)
PART = {"type": "image_url", "image_url": {"url": "data:x"}}
PLAY = {
    "name": "play",
    "description": "d",
    "parameters": {
        "type": "object",
        "properties": {"file": {"type": "string", "description": "f", "enum": ["a"]}},
        "required": ["file"],
    },
}
FULL: Row = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, PART]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "play", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {"role": "user", "content": "go"},
    ],
    "tools": [{"type": "function", "function": PLAY}],
    "tool_choice": "auto",
    "stop": ["x"],
    "stream": False,
    "response_format": {"type": "json_object"},
}


def changed(value: Any) -> Iterator[Any]:  # noqa: ANN401
    """The value with each part of it replaced by each odd one, in turn."""
    yield from ODD
    places: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        places = list(value.items())
    elif isinstance(value, list):
        places = list(enumerate(value))
    for place, part in places:
        for other in changed(part):
            copy = value.copy()
            copy[place] = other
            yield copy


@pytest.mark.slow
def test_no_part_of_a_request_can_be_so_odd_that_the_server_fails(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "play", "arguments": {"File": 5}}\n</tool_call>'

    def answer(received: Received) -> Answer:
        """A call, or words once there is no such tool."""
        told = str(received.body["messages"][-1]["content"])
        return streamed("I cannot." if "There is no tool" in told else call)

    with (
        ModelServer(answer, checked=False) as models,
        served(tmp_path, models.url, "--dialect", "hermes") as server,
    ):
        for body in changed(FULL):
            assert server.chat(body).status in (200, 400), body
    assert len(server.err) == 1


@pytest.mark.slow
def test_an_answer_without_end_is_an_error(tmp_path: Path) -> None:
    answer = [status(headers={"content-type": "application/json"})]
    answer += [{"op": "repeat_raw", "text": " " * 2**20, "n": 64}]
    with (
        ModelServer([answer]) as models,
        served(tmp_path, models.url, "--dialect", "native") as server,
    ):
        assert server.chat().status == 502


VERSION = {"anthropic-version": "2023-06-01"}


@pytest.mark.slow
def test_one_model_is_told_of_and_an_unknown_one_is_not_there(tmp_path: Path) -> None:
    with (
        ModelServer([streamed("x")], models=("one", "org/two")) as models,
        served(tmp_path, models.url) as server,
    ):
        found = server.get("/v1/models/org/two").json
        assert (found["id"], found["object"]) == ("org/two", "model")
        assert server.get("/v1/models/org%2Ftwo").json == found
        missing = server.get("/v1/models/three")
        assert (missing.status, missing.json["error"]["code"]) == (404, "model_not_found")
        assert missing.json["error"]["type"] == "invalid_request_error"
        missing = server.get("/v1/models/three", **VERSION)
        assert missing.json["error"]["type"] == "not_found_error"
    with served(tmp_path, "http://127.0.0.1:1/v1") as server:
        assert server.get("/v1/models/any").json["id"] == "any"


@pytest.mark.slow
def test_clients_of_anthropic_get_its_list_of_models(tmp_path: Path) -> None:
    import anthropic  # takes seconds

    with (
        ModelServer([streamed("x")], models=("one", "two")) as models,
        served(tmp_path, models.url) as server,
    ):
        listed = server.get("/v1/models", **VERSION).json
        assert [row["id"] for row in listed["data"]] == ["one", "two"]
        assert set(listed["data"][0]) == {"type", "id", "display_name", "created_at"}
        assert listed["data"][0]["type"] == "model"
        ends = (listed["first_id"], listed["last_id"], listed["has_more"])
        assert ends == ("one", "two", False)
        with anthropic.Anthropic(base_url=f"http://127.0.0.1:{server.port}", api_key="k") as api:
            assert [model.id for model in api.models.list()] == ["one", "two"]
            assert api.models.retrieve("two").display_name == "two"
            with pytest.raises(anthropic.NotFoundError):
                api.models.retrieve("three")
    with served(tmp_path, "http://127.0.0.1:1/v1") as server:
        nothing = {"data": [], "has_more": False, "first_id": None, "last_id": None}
        assert server.get("/v1/models", **VERSION).json == nothing


def test_a_list_of_models_may_be_at_another_address(tmp_path: Path) -> None:
    with ModelServer([streamed("x")], models=("one", "two")) as models:

        class Redirecting(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(302)
                self.send_header("location", f"{models.url}/models")
                self.send_header("content-length", "0")
                self.end_headers()

        with ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as redirecting:
            thread = Thread(target=redirecting.serve_forever)
            thread.start()
            with served(tmp_path, f"http://127.0.0.1:{redirecting.server_port}/v1") as server:
                listed = server.get("/v1/models").json["data"]
            redirecting.shutdown()
            thread.join()
    assert [row["id"] for row in listed] == ["one", "two"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]:65535", 200),
        ("localhost:65536", 403),
        ("localhost:0", 403),
        ("localhost:08080", 403),
        ("localhost:\u0668", 403),
        ("evil.example:8080", 403),
    ],
)
def test_a_port_may_be_mapped_to_that_of_the_server(host: str, status: int, opened: Served) -> None:
    assert opened.get("/health", host=host).status == status


def test_paths_without_a_version_are_the_same(opened: Served) -> None:
    asked = {"content-type": "application/json"}
    for path in ("/chat/completions", "/responses", "/messages", "/messages/count_tokens"):
        for body in (b"{}", b'{"model": "m", "max_tokens": 9, "input": "x", "messages": [5]}'):
            short, whole = (opened.ask("POST", f"{way}{path}", asked, body) for way in ("", "/v1"))
            assert (short.status, short.json.get("error")) == (
                whole.status,
                whole.json.get("error"),
            )
    chat = opened.ask("POST", "/chat/completions", asked, json.dumps(CHAT).encode())
    assert chat.json == WHOLE
    assert opened.get("/models").json == opened.get("/v1/models").json
    assert opened.get("/models/m").status == opened.get("/v1/models/m").status
    assert opened.get("/nothing").status == 404


STAINLESS = "arch lang os package-version retry-count runtime runtime-version timeout helper-method"


def test_a_page_may_send_the_headers_of_the_sdks(models: ModelServer, tmp_path: Path) -> None:
    page = "https://app.example"
    wanted = [f"x-stainless-{name}" for name in STAINLESS.split()]
    wanted += ["authorization", "x-api-key", "content-type", "anthropic-version", "anthropic-beta"]
    wanted += ["anthropic-dangerous-direct-browser-access", "openai-organization", "openai-beta"]
    asks = {
        "origin": page,
        "access-control-request-method": "POST",
        "access-control-request-headers": ", ".join([*wanted, "x-evil", "x-stainless-*"]),
    }
    with served(tmp_path, models.url, "--allow-origin", page) as server:
        answer = server.ask("OPTIONS", "/v1/messages", asks)
        allowed = answer.headers["access-control-allow-headers"].split(", ")
        assert set(wanted) <= set(allowed)
        assert not {"x-evil", "x-stainless-*", "*"} & set(allowed)
        stranger = server.ask("OPTIONS", "/v1/messages", {**asks, "origin": "https://evil.example"})
        assert "access-control-allow-headers" not in stranger.headers


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", PATH, "POST, OPTIONS"),
        ("PUT", PATH, "POST, OPTIONS"),
        ("DELETE", "/health", "GET, HEAD, OPTIONS"),
        ("POST", "/api/delete", "DELETE, OPTIONS"),
        ("JUMP", "/", "GET, HEAD, POST, OPTIONS"),
    ],
)
def test_a_405_names_the_methods_of_its_path(
    method: str, path: str, allowed: str, opened: Served
) -> None:
    answer = opened.ask(method, path, {})
    assert (answer.status, answer.headers["allow"]) == (405, allowed)


def test_a_closed_path_says_why_by_the_method_that_clients_use(opened: Served) -> None:
    answer = opened.ask("DELETE", "/api/delete", {"content-type": "application/json"}, b"{}")
    assert (answer.status, answer.json["error"]) == (501, "Models are not removed here.")
    assert opened.ask("DELETE", "/nothing", {}).status == 404


def test_a_refused_key_is_said_to_be_that_of_this_server(tmp_path: Path) -> None:
    script = [refused(401, "Invalid API key.")]
    with ModelServer(script) as models, served(tmp_path, models.url) as server:
        answer = server.chat()
    assert answer.status == 502
    said = answer.json["error"]["message"]
    assert said == "The model's server does not take the key of this server: Invalid API key."
