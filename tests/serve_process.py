"""`andy serve` as a process of its own, before a model that plays music and knows no tools."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.model_server import (
    Answer,
    ModelServer,
    Operation,
    Received,
    answered,
    event,
    refused,
    status,
)
from tests.warm_start import serve_in_fork

TASK = "look at files in ~/mp3 and play the first one"
FILES = '["song1.mp3", "song2.mp3"]'
PLAYING = "playing song1.mp3"
ANSWER = "The first song is song1.mp3; it plays now."
CALLS = [("list_mp3s", {"path": "~/mp3"}), ("play_mp3", {"filename": "song1.mp3"})]
SCHEMAS = {
    "list_mp3s": ("List music files.", "path", "folder to look in"),
    "play_mp3": ("Play a music file.", "filename", "file to play"),
}


def schema(name: str) -> dict[str, object]:
    """Of a tool's parameters."""
    _, parameter, about = SCHEMAS[name]
    properties = {parameter: {"type": "string", "description": about}}
    return {"type": "object", "properties": properties, "required": [parameter]}


def result_of(name: str, arguments: dict[str, object]) -> str:
    """What the client's tools return."""
    if name == "list_mp3s":
        return FILES if arguments == {"path": "~/mp3"} else "[]"
    return f"playing {arguments['filename']}"


@contextlib.contextmanager
def serving(home: Path, *arguments: str) -> Iterator[str]:
    """Its address, `http://127.0.0.1:PORT`, once it answers."""
    known = {"PATH": os.environ["PATH"], "HOME": str(home)}
    with serve_in_fork("--port", "0", *arguments, cwd=Path.cwd(), environment=known) as (_, stderr):
        yield read_address(stderr)


@contextlib.contextmanager
def serving_after(code: str, home: Path, *arguments: str) -> Iterator[str]:
    """As `serving`, by a program that runs this code first, which may make a limit smaller."""
    begun = f"{code}\nfrom andy_cli.__main__ import door\ndoor()"
    command = [sys.executable, "-c", begun, "serve", "--port", "0", *arguments]
    known = {"PATH": os.environ["PATH"], "HOME": str(home)}
    with subprocess.Popen(command, env=known, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield read_address(process.stderr)
        finally:
            process.terminate()


def read_address(stderr: IO[str]) -> str:
    """Read where a server listens, and wait until it answers there."""
    said = stderr.readline()
    address = re.search(r"http://[\d.]+:\d+", said)
    assert address, said + stderr.read()
    await_health(address[0])
    return address[0]


def await_health(address: str) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/health") as answer:
            assert json.load(answer) == {"status": "ok"}
            return
        time.sleep(0.05)
    raise AssertionError(f"{address} does not answer")


def replied(*pieces: str) -> list[Operation]:
    """A streamed reply with its usage."""
    usage = {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5}}
    events = [event({"content": piece}) for piece in pieces]
    return [status(), *events, event({}, "stop"), {"op": "sse", "data": usage}]


def calls(name: str, **arguments: str) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def hermes(last: str) -> Sequence[str]:
    if PLAYING in last:
        return "The first song is ", "song1.mp3; ", "it plays now."
    if "song1.mp3" in last:
        return (calls("play_mp3", filename="song1.mp3"),)
    text = calls("list_mp3s", path="~/mp3")
    return "I will look.", "\n", text[:17], text[17:]


def andybot(last: str) -> Sequence[str]:
    if last.startswith("ANDYBOT ASKS"):
        return ("~/mp3",) if "folder" in last else ("song1.mp3",)
    if PLAYING in last:
        return hermes(last)
    return ("DEAR ANDYBOT, ", "PLAY_MP3" if "song1.mp3" in last else "LIST_MP3S")


def without_tools(script: Callable[[str], Sequence[str]]) -> Callable[[Received], Answer]:
    """A model that is never to see what it does not know."""

    def answer(received: Received) -> Answer:
        messages = received.body["messages"]
        foreign = {"tools", "tool_choice"} & set(received.body)
        if foreign or any({"tool_calls", "tool_call_id"} & set(each) for each in messages):
            return refused(400, "This model does not support tools.")
        return replied(*script(str(messages[-1]["content"])))

    return answer


def native(received: Received) -> Answer:
    """A model that has tools of its own, and wants each result to follow its call."""
    *before, last = received.body["messages"]
    if last["role"] == "tool":
        made = before[-1]["tool_calls"][0]
        assert last["tool_call_id"] == made["id"]
    if str(last["content"]) == PLAYING:
        return told(received, {"content": ANSWER}, "stop")
    name, arguments = CALLS[last["role"] == "tool"]
    assert name in [each["function"]["name"] for each in received.body["tools"]]
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"own_{name}", "type": "function", "function": function}
    return told(received, {"tool_calls": [call]}, "tool_calls")


def told(received: Received, delta: dict[str, object], finish: str) -> Answer:
    """Streamed or whole, as it is wanted."""
    if received.body.get("stream"):
        deltas = [({"role": "assistant", **delta}, None), ({}, finish)]
        return [status(), *(chunk(each, reason) for each, reason in deltas)]
    message = {"role": "assistant", "content": None, **delta}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"}
    return answered({**head, "choices": [choice], "usage": usage})


def chunk(delta: Mapping[str, object], finish: str | None) -> Operation:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {"op": "sse", "data": {**head, "choices": [choice]}}


@contextlib.contextmanager
def behind(home: Path, dialect: str) -> Iterator[str]:
    """`andy serve` before a model of this dialect."""
    scripts = {"hermes": without_tools(hermes), "andybot": without_tools(andybot)}
    with (
        ModelServer(scripts.get(dialect, native)) as server,
        serving(home, "--upstream", server.url, "--model", "m", "--dialect", dialect) as address,
    ):
        yield address
