"""What is kept of requests and replies: everything but secrets, for nobody else to read."""

import asyncio
import base64
import json
import stat
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.errors import ModelError
from andy_cli.messages import Chunk, Request
from andy_cli.models.capture import Capture, CapturingClient, capture_for, mask_bytes
from andy_cli.models.client import Endpoint, Provider
from andy_cli.models.select import Chosen, connect_client
from andy_cli.settings import load
from tests.model_server import Answer, ModelServer, event, raw, refused, status, streamed

KEY = "0ELPMAXE0ELPMAXE0ELPMAXEzz"
OTHER = "sk-proj-EXAMPLE0EXAMPLE0EXAMPLE0T3BlbkFJ"
REQUEST = Request(messages=({"role": "user", "content": f"my key is {OTHER}"},))


def captured(folder: Path, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The records of one request, sent with `KEY`."""
    settings = load([f"debug.raw={folder}", "network.tries=1"], environment={})

    async def run(url: str) -> None:
        chosen = Chosen(Endpoint("openai", "m", url, KEY, "K"), Provider("openai"), "")
        client = connect_client(chosen, settings)
        try:
            [chunk async for chunk in client.reply(REQUEST)]
        except ModelError:
            pass
        finally:
            await client.close()

    with ModelServer(answers) as server:
        asyncio.run(run(server.url))
    return records(folder)


def records(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def raw_bytes(rows: Sequence[dict[str, Any]]) -> bytes:
    chunks = [row for row in rows if row["kind"] == "chunk"]
    return b"".join(
        row["text"].encode() if "text" in row else base64.b64decode(row["b64"]) for row in chunks
    )


def test_a_request_and_its_raw_reply_are_kept(tmp_path: Path) -> None:
    rows = captured(tmp_path / "captures", [streamed("Hel", "lo")])
    assert [row["kind"] for row in rows if row["kind"] != "chunk"] == ["request", "end"]
    assert rows[0]["body"]["model"] == "m"
    assert rows[0]["url"].endswith("/v1")
    assert b'{"content": "Hel"}' in raw_bytes(rows)
    assert raw_bytes(rows).endswith(b"data: [DONE]\n\n")
    assert {row["n"] for row in rows} == {1}
    times = [row["t"] for row in rows]
    assert times == sorted(times)


def test_only_their_owner_can_read_captures(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    captured(folder, [streamed("Hello")])
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_secret_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    captured(folder, [refused(401, f"Incorrect key {KEY}, {OTHER}")])
    (file,) = folder.iterdir()
    text = file.read_text()
    assert KEY[:8] not in text
    assert OTHER[8:16] not in text
    assert "uthorization" not in text


def test_a_secret_that_the_model_says_in_pieces_is_not_kept(tmp_path: Path) -> None:
    pieces = [event({"content": OTHER[at : at + 3]}) for at in range(0, len(OTHER), 3)]
    rows = captured(tmp_path / "captures", [[status(), *pieces, raw("data: [DONE]\n\n")]])
    lines = raw_bytes(rows).decode().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    said = "".join(each["choices"][0]["delta"]["content"] for each in events)
    assert said == "*" * len(OTHER)


def test_an_error_is_kept_with_its_kind(tmp_path: Path) -> None:
    rows = captured(tmp_path / "captures", [[status(), event({"content": "a"}), {"op": "reset"}]])
    assert rows[-1]["kind"] == "error"
    assert rows[-1]["error"] == "protocol"


def test_a_chunk_that_is_no_text_by_itself_is_kept_too(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "captures")
    exchange = capture.exchange(Endpoint("openai", "m"), {})
    data = "é🎵".encode()
    for at in range(len(data)):
        exchange.chunk(data[at : at + 1])
    exchange.end()
    assert raw_bytes(records(tmp_path / "captures")) == data


def test_a_client_without_bytes_is_captured_by_its_chunks(tmp_path: Path) -> None:
    class Local:
        name, tools, guided = "local:m", False, True

        async def reply(self, request: Request) -> AsyncIterator[Chunk]:
            yield Chunk("Hel")
            yield Chunk("lo", finish="stop")

        async def close(self) -> None:
            assert self.guided

    async def run() -> str:
        client = CapturingClient(Local(), Endpoint("local", "m"), Capture(tmp_path / "captures"))
        text = "".join([chunk.text async for chunk in client.reply(REQUEST)])
        await client.close()
        return f"{client.name} {client.tools} {client.guided} {text}"

    assert asyncio.run(run()) == "local:m False True Hello"
    rows = records(tmp_path / "captures")
    assert [row["kind"] for row in rows] == ["request", "chunk", "chunk", "end"]
    assert [row["chunk"]["text"] for row in rows[1:3]] == ["Hel", "lo"]


def test_a_folder_that_cannot_be_written_is_said_once_and_the_turn_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    capture = Capture(tmp_path / "file" / "captures")
    for _ in range(3):
        exchange = capture.exchange(Endpoint("openai", "m"), {})
        exchange.chunk(b"a")
        exchange.end()
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_nothing_is_captured_unless_asked(tmp_path: Path) -> None:
    assert capture_for(load(environment={})) is None
    wanted = load(environment={"ANDY_DEBUG_RAW": str(tmp_path)})
    assert capture_for(wanted, [KEY]) is capture_for(wanted)


@given(st.binary(), st.binary())
def test_hiding_moves_nothing(before: bytes, after: bytes) -> None:
    data = before + b" " + OTHER.encode() + after
    assert len(mask_bytes(data)) == len(data)
    assert OTHER.encode() not in mask_bytes(data)


def test_what_holds_no_secret_stays_as_it_is() -> None:
    data = b'data: {"choices": [{"delta": {"content": "the password is secret"}}]}\n\n\xff'
    assert mask_bytes(data, [KEY]) == data
