"""A call that is being written is read as far as it is sure, and goes on as soon as that."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler.lexing.open_calls import find_tail, read_open_call
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS
from andy_cli.messages import ToolRequest
from tests.cases import draw_cases, loop_over, quick_every
from tests.http_server import PLAIN
from tests.model_server import Answer, ModelServer, Received, event, raw, status
from tests.serve_client import Served, serving

PROPERTIES = {
    "path": {"type": "string"},
    "content": {"type": "string"},
    "level": {"type": "integer"},
    "loud": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
}
FUNCTION = {
    "name": "write_file",
    "description": "Write a file",
    "parameters": {"type": "object", "properties": PROPERTIES, "required": ["path"]},
}
TOOL = {"type": "function", "function": FUNCTION}
TOOLS = {"write_file": TOOL}
STREAMED = [
    name
    for name, dialect in DIALECTS.items()
    if (tail := find_tail(dialect))
    and tail[0] != "'"
    and name not in ("code", "named_tag", "minimax_labels")
]
"""Notations in which JSON or tags say where a value ends; Python and bare quotes are mended
too freely."""
texts = st.text(max_size=30) | st.sampled_from(
    ["a\n\nb\n", ' "quoted" ', "</parameter>", "x < y > z", "it's \\n", "{'a': [1]}", "\U0001f600"]
)
values = {
    "path": texts,
    "content": texts,
    "level": st.integers(0, 99),
    "loud": st.booleans(),
    "tags": st.lists(st.sampled_from(["a", "b c"]), max_size=2),
}
arguments = st.permutations(list(values)).flatmap(
    lambda names: st.integers(1, 5).flatmap(
        lambda size: st.fixed_dictionaries({name: values[name] for name in names[:size]})
    )
)


@pytest.mark.parametrize("name", quick_every(10, STREAMED))
@draw_cases(25)
@given(arguments)
def test_what_is_sure_of_a_call_is_the_beginning_of_what_it_says(
    name: str, said: dict[str, object]
) -> None:
    dialect = DIALECTS[name]
    written = dialect.write(ToolRequest("write_file", said, id="functions.write_file:0"))
    parsed = dialect.parse(written, TOOLS)
    if parsed is None or len(parsed.requests) != 1:
        return  # nothing that a model would have meant so
    whole = json.dumps(dict(parsed.requests[0].arguments or {}), ensure_ascii=False)
    before = ""
    for end in range(len(written)):
        if found := read_open_call(dialect, written[:end], TOOLS):
            assert found.name == "write_file"
            assert whole.startswith(found.arguments)
            assert found.arguments.startswith(before)
            before = found.arguments


@loop_over("name", STREAMED)
def test_a_long_text_is_read_while_it_is_written(name: str) -> None:
    dialect = DIALECTS[name]
    said = {"path": "notes.txt", "content": "Some words for a file. " * 20}
    written = dialect.write(ToolRequest("write_file", said, id="functions.write_file:0"))
    middle = written.index("Some words") + 200
    found = read_open_call(dialect, written[:middle], TOOLS)
    assert found is not None
    assert len(found.arguments) > 180


# Behind `andy serve`.

SHOWN = ("hermes", "qwen3_coder", "glm45", "mistral_v11", "kimi_k2", "deepseek_v31", "minimax_m2")
SAID = {"path": "notes.txt", "content": "One line of a long file.\n" * 12}
FIRST = 0.01


def write_slowly(received: Received) -> Answer:
    """A call in the notation that the user named, or of the server's own, piece by piece."""
    name = str(received.body["messages"][-1]["content"])
    pieces: list[dict[str, Any]] = []
    if name == "native":
        text = json.dumps(SAID)
        function = {"name": "write_file", "arguments": ""}
        pieces.append({"tool_calls": [{"index": 0, "id": "c1", "function": function}]})
        parts = [text[at : at + 8] for at in range(0, len(text), 8)]
        pieces += [
            {"tool_calls": [{"index": 0, "function": {"arguments": each}}]} for each in parts
        ]
    else:
        request = ToolRequest("write_file", SAID, id="functions.write_file:0")
        text = DIALECTS[name].write(request)
        pieces += [{"content": text[at : at + 8]} for at in range(0, len(text), 8)]
    events = [step for each in pieces for step in (event(each), {"op": "sleep", "s": FIRST})]
    finish = "tool_calls" if name == "native" else "stop"
    return [status(), *events, event({}, finish), raw("data: [DONE]\n\n")]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with (
        ModelServer(write_slowly, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path_factory.mktemp("home")) as found,
    ):
        yield found


def request_on(wire: str, text: str) -> tuple[str, dict[str, Any]]:
    """The path and the body of a streamed request."""
    said = [{"role": "user", "content": text}]
    schema = FUNCTION["parameters"]
    named = {"name": "write_file", "description": "Write a file"}
    if wire == "messages":
        tools: list[Any] = [{**named, "input_schema": schema}]
        body = {"messages": said, "max_tokens": 900, "tools": tools}
        return "v1/messages", {"model": "m", "stream": True, **body}
    if wire == "responses":
        tools = [{"type": "function", **named, "parameters": schema}]
        return "v1/responses", {"model": "m", "stream": True, "input": said, "tools": tools}
    return "v1/chat/completions", {"model": "m", "stream": True, "messages": said, "tools": [TOOL]}


def arguments_in(data: dict[str, Any]) -> str:
    """The piece of a call's arguments that an event carries."""
    if data.get("type") == "response.function_call_arguments.delta":
        return str(data["delta"])
    if data.get("type") == "content_block_delta":
        return str(data["delta"].get("partial_json", ""))
    found = ""
    for choice in data.get("choices", []):
        for call in choice["delta"].get("tool_calls", []):
            found += call["function"].get("arguments") or ""
    return found


@pytest.mark.parametrize("wire", quick_every(3, ["chat", "responses", "messages"]))
@pytest.mark.parametrize("name", quick_every(8, [*SHOWN, "native"]))
def test_arguments_go_on_while_the_model_writes_them(served: Served, wire: str, name: str) -> None:
    path, body = request_on(wire, name)
    pieces: list[str] = []
    with httpx2.stream(
        "POST", f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN
    ) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: {") and (piece := arguments_in(json.loads(line[6:]))):
                pieces.append(piece)
    assert json.loads("".join(pieces)) == {**SAID, "content": SAID["content"].rstrip("\n")} or (
        json.loads("".join(pieces)) == SAID
    )
    assert len(pieces) > 2
    longest = max(map(len, pieces))
    assert longest < len("".join(pieces)) / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hermes", "native"])
def test_a_call_whose_reply_breaks_off_behind_it_is_never_whole(tmp_path: Path, name: str) -> None:
    def break_off(received: Received) -> Answer:
        return [*write_slowly(received)][:-2]

    with (
        ModelServer(break_off, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for wire in ("responses", "messages"):
            path, body = request_on(wire, name)
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            lines = [json.loads(each[6:]) for each in text.split("\n") if each[:7] == "data: {"]
            said = "".join(map(arguments_in, lines))
            assert said.startswith('{"path"')
            with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
                json.loads(said)
            assert "error" in text


@pytest.mark.slow
def test_a_call_that_is_cut_off_is_never_whole(tmp_path: Path) -> None:
    def cut(received: Received) -> Answer:
        answer = [*write_slowly(received)]
        return [*answer[:40], event({}, "length"), raw("data: [DONE]\n\n")]

    with (
        ModelServer(cut, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for wire in ("chat", "responses", "messages"):
            path, body = request_on(wire, "hermes")
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            lines = [json.loads(each[6:]) for each in text.split("\n") if each[:7] == "data: {"]
            said = "".join(map(arguments_in, lines))
            assert said.startswith('{"path": "notes.txt", "content": "One')
            with pytest.raises(ValueError, match="Unterminated"):
                json.loads(said)
            assert any(word in text for word in ('"length"', "max_tokens", "max_output_tokens"))
