"""A real `andy serve` in front of a scripted model, and a client that speaks its wire."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.http_server import PLAIN
from tests.warm_start import AndyProcess, serve_in_fork

MP3S: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "list_mp3s",
            "description": "List all MP3 files in the music library",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "play_mp3",
            "description": "Play a specific MP3 file from the library",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "file": {"type": "string"}},
                "required": ["file"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "ping",
            "description": "See whether somebody is there",
            "parameters": {"type": "object", "properties": {}},
        },
    },
]
PATHS = ("v1/chat/completions", "v1/responses", "v1/messages", "api/chat")
"""Where answers are asked for, one of each wire."""
USER = {"role": "user", "content": "look at files in ~/mp3 and play the first one"}


@dataclass(frozen=True, slots=True)
class Served:
    url: str
    process: AndyProcess

    def post(self, body: Mapping[str, Any], **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx2.post(
            f"{self.url}/v1/chat/completions", json=body, headers=named, timeout=120, verify=PLAIN
        )

    def ask(self, *messages: Mapping[str, Any], **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        """The whole answer, which must be one."""
        body = {"model": "m", "messages": list(messages), "tools": MP3S, **fields}
        response = self.post(body)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def message(self, *messages: Mapping[str, Any], **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        found: dict[str, Any] = self.ask(*messages, **fields)["choices"][0]["message"]
        return found

    def stream(self, *messages: Mapping[str, Any], **fields: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """The events of a stream; it must end as it should."""
        body = {
            "model": "m",
            "messages": list(messages),
            "tools": MP3S,
            "stream": True,
            **fields,
        }
        response = self.post(body)
        assert response.status_code == 200, response.text
        lines = [line[6:] for line in response.text.split("\n") if line.startswith("data: ")]
        assert lines[-1] == "[DONE]"
        return [json.loads(line) for line in lines[:-1]]


@contextmanager
def serving(upstream: str, *words: str, home: Path, **environment: str) -> Iterator[Served]:
    """A process of its own on a free port."""
    arguments = ("--upstream", upstream, "--port", "0", *words)
    with serve_in_fork(*arguments, cwd=home, environment={**os.environ, **environment}) as (
        process,
        stderr,
    ):
        line = stderr.readline()
        assert "andy serves at" in line, line + (stderr.read() if process.poll() else "")
        url = line.split()[3].removesuffix("/v1")
        for _ in range(200):
            try:
                if httpx2.get(f"{url}/health", verify=PLAIN).status_code == 200:
                    break
            except httpx2.HTTPError:
                time.sleep(0.02)
        yield Served(url, process)


def calls_of(message: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (each["function"]["name"], json.loads(each["function"]["arguments"]))
        for each in message.get("tool_calls") or []
    ]


def joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a client makes of a stream: its text, its calls, why it ended."""
    text, finish = "", None
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        for choice in event["choices"]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            finish = choice["finish_reason"] or finish
            for each in delta.get("tool_calls") or []:
                call = calls.setdefault(each["index"], {"id": "", "name": "", "arguments": ""})
                call["id"] += each.get("id") or ""
                call["name"] += each["function"].get("name") or ""
                call["arguments"] += each["function"].get("arguments") or ""
    return {"text": text, "calls": [calls[at] for at in sorted(calls)], "finish": finish}


def request_on(
    path: str, text: str, given: Sequence[Mapping[str, Any]] = tuple(MP3S)
) -> dict[str, object]:
    """A user's words and the tools, on this wire."""
    functions = [tool["function"] for tool in given]
    messages = [{"role": "user", "content": text}]
    match path:
        case "v1/chat/completions" | "api/chat":
            return {"model": "m", "messages": messages, "tools": given}
        case "v1/responses":
            return {
                "model": "m",
                "input": text,
                "tools": [{"type": "function", **function} for function in functions],
            }
    tools = [
        {
            "name": function["name"],
            "description": function["description"],
            "input_schema": function["parameters"],
        }
        for function in functions
    ]
    return {"model": "m", "max_tokens": 99, "messages": messages, "tools": tools}


def join_arguments(deltas: Iterable[Mapping[str, Any]], index: int) -> str:
    """The arguments of the call in a block of Anthropic's wire."""
    pieces = [each["delta"].get("partial_json", "") for each in deltas if each["index"] == index]
    return "".join(pieces)


def calls_in(path: str, text: str, stream: bool) -> list[tuple[str, object]]:
    """(name, arguments) of each call of an answer."""
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: {")]
    sse = stream and path != "api/chat"
    events = [json.loads(line) for line in lines] if sse else [json.loads(text.partition("\n")[0])]
    match path, stream:
        case "v1/chat/completions", True:
            found = [(each["name"], each["arguments"]) for each in joined(events)["calls"]]
        case "v1/chat/completions", False:
            calls = events[0]["choices"][0]["message"]["tool_calls"]
            found = [(each["function"]["name"], each["function"]["arguments"]) for each in calls]
        case "api/chat", _:
            calls = [
                call
                for row in map(json.loads, text.splitlines())
                for call in row["message"].get("tool_calls", ())
            ]
            return [(each["function"]["name"], each["function"]["arguments"]) for each in calls]
        case "v1/responses", _:
            items = events[-1]["response"]["output"] if stream else events[0]["output"]
            calls = [each for each in items if each["type"] == "function_call"]
            found = [(each["name"], each["arguments"]) for each in calls]
        case _, True:
            deltas = [each for each in events if each["type"] == "content_block_delta"]
            found = [
                (each["content_block"]["name"], join_arguments(deltas, each["index"]))
                for each in events
                if each["type"] == "content_block_start" and each["content_block"].get("name")
            ]
        case _:
            calls = [each for each in events[0]["content"] if each["type"] == "tool_use"]
            found = [(each["name"], json.dumps(each["input"])) for each in calls]
    return [(name, json.loads(arguments)) for name, arguments in found]
