"""Models of Ollama are spoken to by its own API: what is sent and said, and how much is read."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from andy_cli.errors import BadRequestError, ModelError, TransientError
from andy_cli.messages import CallDelta, Chunk, Request, Usage
from andy_cli.models.client import Endpoint, ModelClient
from andy_cli.models.http.ollama_wire import OllamaReader, chat_address, write_request
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.ollama_chat import ContextSize
from andy_cli.models.select import Chosen, connect_client, provider_at
from andy_cli.models.server.facts import ServerFacts
from andy_cli.settings import load
from tests.model_server import (
    Answer,
    ModelServer,
    ollama_end,
    ollama_event,
    ollama_reply,
    raw,
    status,
    streamed,
)
from tests.serve_process import serving
from tests.shell import andy

SHOW = {"model_info": {"qwen3.context_length": 40960}, "capabilities": ["completion", "tools"]}
FACTS = {"/api/show": SHOW}
HELLO = Request(({"role": "user", "content": "Hello"},))
FINE = ollama_reply(ollama_event("Fi"), ollama_event("ne."), ollama_end())
LIST = {"function": {"name": "list_mp3s", "arguments": {"path": "tests/music"}}}
TOO_LONG = [
    status(400, {"content-type": "application/json"}),
    raw('{"error": "the input length exceeds the context length"}'),
]


@contextmanager
def ollama(script: Sequence[Answer], show: object = SHOW) -> Iterator[ModelServer]:
    with ModelServer(script, facts={"/api/show": show}, ollama=True) as server:
        yield server


def client(server: ModelServer, *overrides: str) -> ModelClient:
    settings = load(("network.tries=1", *overrides), environment={"ANDY_CONFIG_DIR": "/none"})
    endpoint = Endpoint("ollama", "m", server.url)
    return connect_client(
        Chosen(endpoint, providers_by_name()["ollama"], "said"), settings, forget=True
    )


def chunks(client: ModelClient, *requests: Request) -> list[Chunk]:
    async def read() -> list[Chunk]:
        try:
            return [chunk for each in requests or (HELLO,) async for chunk in client.reply(each)]
        finally:
            await client.close()

    return asyncio.run(read())


def sizes(server: ModelServer) -> list[int]:
    return [each.body["options"]["num_ctx"] for each in server.requests]


def words(count: int) -> Request:
    return Request(({"role": "user", "content": "word " * count},))


# What it is sent.

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_a_request_is_written_in_ollamas_words() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    asked: dict[str, object] = {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "What is it?"}, PICTURE]},
            {"role": "assistant", "reasoning_content": "Hm", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        ],
        "tools": tools,
        "temperature": 0.5,
        "seed": 7,
        "stop": "END",
        "max_tokens": 100,
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}},
        "reasoning_effort": "low",
    }
    written = {"name": "look", "arguments": {"at": 1}}
    assert write_request(asked) == {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is it?", "images": ["iVBORw0KGgo="]},
            {
                "role": "assistant",
                "content": "",
                "thinking": "Hm",
                "tool_calls": [{"id": "c1", "function": written}],
            },
            {"role": "tool", "content": "a cat", "tool_name": "look", "tool_call_id": "c1"},
        ],
        "tools": tools,
        "options": {"temperature": 0.5, "seed": 7, "stop": ["END"], "num_predict": 100},
        "format": schema,
        "think": "low",
        "truncate": False,
        "shift": False,
    }


def test_arguments_that_are_no_object_are_told_as_they_were_written() -> None:
    for arguments, told in (("[1]", [1]), ("{bad", "{bad")):
        call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
        message = {"role": "assistant", "content": "", "tool_calls": [call]}
        made: Any = write_request({"model": "m", "messages": [message]})["messages"]
        assert made[0]["tool_calls"][0]["function"]["arguments"] == {"arguments": told}


@pytest.mark.parametrize("kind", ["input_audio", "file"])
def test_what_ollama_cannot_read_is_refused(kind: str) -> None:
    far = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    for part in (far, {"type": kind}):
        with pytest.raises(BadRequestError):
            write_request({"messages": [{"role": "user", "content": [part]}]})


# What it says.

REPLY = b"".join(
    json.dumps(event, ensure_ascii=False).encode() + b"\n"
    for event in (
        ollama_event(thinking="Hm "),
        ollama_event(thinking="ä"),
        ollama_event("I lööK"),
        ollama_event(tool_calls=[LIST]),
        ollama_event(tool_calls=[LIST]),
        ollama_end(),
    )
)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("ended", [True, False])
def test_a_reply_means_the_same_however_it_is_cut(size: int, ended: bool) -> None:
    data = REPLY if ended else REPLY.rstrip(b"\n")  # whole replies have no line end
    reader = OllamaReader()
    read = [c for at in range(0, len(data), size) for c in reader.feed(data[at : at + size])]
    read += reader.finish()
    arguments = '{"path": "tests/music"}'
    assert "".join(chunk.reasoning for chunk in read) == "Hm ä"
    assert "".join(chunk.text for chunk in read) == "I lööK"
    assert [chunk.call for chunk in read if chunk.call] == [
        CallDelta(0, "", "list_mp3s", arguments),
        CallDelta(1, "", "list_mp3s", arguments),
    ]
    assert [chunk.finish for chunk in read if chunk.finish] == ["tool_calls"]
    assert [chunk.usage for chunk in read if chunk.usage] == [Usage(20, 5)]
    assert (reader.done, reader.failure) == (True, None)


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_why_a_reply_ended_is_told(reason: str) -> None:
    with ollama([ollama_reply(ollama_event("a"), ollama_end(reason))]) as server:
        assert [each.finish for each in chunks(client(server)) if each.finish] == [reason]


def test_a_reply_that_breaks_off_or_is_damaged_has_no_end() -> None:
    call = ollama_event(tool_calls=[LIST])
    cut = ollama_reply(call)
    damaged = [*ollama_reply(call), raw("\x00{\n"), raw(json.dumps(ollama_end()) + "\n")]
    for script in (cut, damaged):
        with ollama([script]) as server:
            read = chunks(client(server))
        assert [each.call.name for each in read if each.call] == ["list_mp3s"]
        assert not [each for each in read if each.finish]


@pytest.mark.parametrize("begun", [(), (ollama_event("He"),)])
def test_an_error_in_the_middle_is_one(begun: tuple[dict[str, object], ...]) -> None:
    script = ollama_reply(*begun, {"error": "model runner has unexpectedly stopped"})
    with ollama([script]) as server, pytest.raises(TransientError, match="unexpectedly stopped"):
        chunks(client(server))


def test_a_page_is_no_reply_and_half_a_line_is_a_broken_one() -> None:
    for text, kind in (("<html>Sign in</html>", "not_json"), ('{"model": "m", "mess', "protocol")):
        with ollama([[status(), raw(text)]]) as server, pytest.raises(ModelError) as caught:
            chunks(client(server))
        assert caught.value.kind == kind


# How much it reads.


def test_the_context_is_what_is_needed_in_powers_of_two_and_never_shrinks() -> None:
    with ollama([FINE]) as server:
        chunks(client(server), HELLO, words(6000), HELLO, words(14_000), words(60_000), HELLO)
    assert sizes(server) == [8192, 16384, 16384, 32768, 40960, 40960]
    asked = [each for each in server.others if each.path == "/api/show"]
    assert [each.body for each in asked] == [{"model": "m"}]


def test_a_long_conversation_fits_in_the_context_it_is_sent_with() -> None:
    """A token a word, as tokenizers count these."""
    history: tuple[dict[str, object], ...] = ()
    with ollama([FINE], {"model_info": {"a.context_length": 131072}}) as server:
        chat = client(server)
        for _ in range(12):
            history = (*history, {"role": "user", "content": "word " * 5000})
            history = (*history, {"role": "assistant", "content": "Fine."})
            chunks(chat, Request(history[:-1]))
    for number, size in enumerate(sizes(server), 1):
        assert size >= number * 5000 + 4096
    assert len(set(sizes(server))) <= 5
    assert all(len(each.body["messages"]) == 2 * at + 1 for at, each in enumerate(server.requests))


def test_the_openai_package_is_no_reason_to_be_cut() -> None:
    with ollama([FINE]) as server:
        read = chunks(client(server, "client=openai"), words(6000))
    assert "".join(each.text for each in read) == "Fine."
    assert sizes(server) == [16384]


def test_a_context_that_was_set_is_sent_as_it_is() -> None:
    with ollama([FINE]) as server:
        chunks(client(server, "limits.context=12000"), HELLO, words(20_000))
    assert sizes(server) == [12000, 12000]
    with ollama([FINE], {**SHOW, "parameters": "num_ctx   20000\nstop x"}) as server:
        chunks(client(server), HELLO, words(20_000))
    assert sizes(server) == [20000, 32768]


def test_more_tokens_to_write_and_pictures_need_room_too() -> None:
    long = HELLO._replace(max_tokens=100_000)
    seen = Request(({"role": "user", "content": [PICTURE] * 4},))
    with ollama([FINE]) as server:
        chunks(client(server), long)
        chunks(client(server), seen)
    assert sizes(server) == [16384, 16384]
    assert server.requests[0].body["options"]["num_predict"] == 100_000


def test_where_the_server_says_that_it_was_too_little_it_is_given_more() -> None:
    with ollama([TOO_LONG, FINE]) as server:
        read = chunks(client(server))
    assert "".join(each.text for each in read) == "Fine."
    assert sizes(server) == [8192, 16384]
    with ollama([TOO_LONG], {}) as server, pytest.raises(ModelError) as caught:
        chunks(client(server))
    assert caught.value.kind == "context"
    assert sizes(server) == [8192, 16384, 32768, 65536, 131072]


def test_a_model_is_not_loaded_again_to_read_less() -> None:
    for loaded, size in ((32768, 32768), (4096, 8192), (10**6, 40960)):
        other = {"name": "n", "context_length": 1}
        rows = [other, {"name": "m:latest", "context_length": loaded}]
        facts = {"/api/show": SHOW, "/api/ps": {"models": rows}}
        with ModelServer([FINE], facts=facts, ollama=True) as server:
            chunks(client(server))
        assert sizes(server) == [size]


def test_a_model_that_reads_little_is_given_no_more() -> None:
    size = ContextSize(ServerFacts(2048, longest=2048))
    assert (size.fit(1), size.fit(9000), size.double()) == (2048, 2048, False)
    size = ContextSize(ServerFacts(131072))  # as a list of models has it
    assert (size.fit(1), size.fit(10**6)) == (8192, 131072)


# What is no Ollama, and what it does not have.


def test_a_server_that_is_no_ollama_is_spoken_to_as_any_other() -> None:
    with ModelServer([streamed("Fine.")], facts=FACTS) as server:
        read = chunks(client(server), HELLO, HELLO)
    assert "".join(each.text for each in read) == "Fine.Fine."
    assert [each.path for each in server.others if "chat" in each.path] == ["/api/chat"]
    assert "options" not in server.requests[0].body


def test_a_model_that_is_not_there_is_said_and_not_asked_for_otherwise() -> None:
    missing = [
        status(404, {"content-type": "application/json"}),
        raw('{"error": "model \'m\' not found"}'),
    ]
    with ollama([missing]) as server, pytest.raises(ModelError) as caught:
        chunks(client(server))
    assert caught.value.kind == "no_model"
    assert not [each for each in server.others if each.path.endswith("completions")]


def test_a_model_that_takes_no_tools_is_taught_a_notation(tmp_path: Path) -> None:
    body = '{"error": "registry.ollama.ai/library/m:latest does not support tools"}'
    taken = [status(400, {"content-type": "application/json"}), raw(body)]
    call = '<tool_call>\n{"name": "list_mp3s", "arguments": {"path": "tests/music"}}\n</tool_call>'
    with ollama([taken, ollama_reply(ollama_event(call), ollama_end()), TURN[1]], {}) as server:
        assert run(server, tmp_path, TASK).endswith("three songs.\n")
    first, second, third = (each.body for each in server.requests)
    assert "tools" in first
    assert "tools" not in second
    assert ".mp3" in str(third["messages"][-1])


def test_who_is_at_ollamas_port_is_an_ollama() -> None:
    assert provider_at("http://127.0.0.1:11434/v1") == "ollama"
    assert provider_at("http://10.0.0.5:11434") == "ollama"
    assert provider_at("http://10.0.0.5:8000/v1") == "openai"
    for base in ("http://h:1/v1", "http://h:1/v1/", "http://h:1"):
        assert chat_address(base) == "http://h:1/api/chat"


# All together.


def run(server: ModelServer, home: Path, *words: str, captures: str = "0") -> str:
    host = server.url.removesuffix("/v1")
    options = ("--model", "ollama:m", *words)
    done = andy("run", *options, home=home, OLLAMA_HOST=host, ANDY_DEBUG_RAW=captures)
    assert done.code == 0, done.err
    return done.out


TASK = "look into tests/music"
TURN = [
    ollama_reply(ollama_event(thinking="Hm"), ollama_event(tool_calls=[LIST]), ollama_end()),
    ollama_reply(ollama_event("There are "), ollama_event("three songs."), ollama_end()),
]


def test_a_turn_is_spoken_in_ollamas_words_from_end_to_end(tmp_path: Path) -> None:
    with ollama(TURN) as server:
        assert run(server, tmp_path, TASK) == "There are three songs.\n"
    first, second = (each.body for each in server.requests)
    assert "list_mp3s" in [each["function"]["name"] for each in first["tools"]]
    assert first["options"]["num_ctx"] >= 8192
    *_, called, result = second["messages"]
    assert called["tool_calls"][0]["function"]["arguments"] == {"path": "tests/music"}
    assert (result["role"], result["tool_name"]) == ("tool", "list_mp3s")


def test_a_call_in_a_reply_that_broke_off_is_not_run(tmp_path: Path) -> None:
    with ollama([ollama_reply(ollama_event(tool_calls=[LIST]))]) as server:
        host = server.url.removesuffix("/v1")
        words = ("run", "--model", "ollama:m", "--set", "network.tries=1", TASK)
        done = andy(*words, home=tmp_path, OLLAMA_HOST=host)
    assert done.code == 1
    assert not [
        each for body in server.requests for each in body.body["messages"] if each["role"] == "tool"
    ]


@pytest.mark.slow
def test_a_capture_of_it_means_what_it_meant(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    with ollama(TURN) as server:
        run(server, tmp_path, TASK, captures=str(folder))
    (file,) = folder.glob("*.jsonl")
    sent = json.loads(file.read_text().splitlines()[1])
    assert sent["kind"] in ("request", "turn")
    assert '/api/chat"' in file.read_text()
    assert '"num_ctx"' in file.read_text()
    done = andy("replay", str(file), "--diff", home=tmp_path)
    assert done.code == 0, done.out
    assert "nothing of " in done.out
    again = andy("replay", str(file), "--turns", home=tmp_path)
    assert "There are three songs." in again.out


@pytest.mark.slow
def test_andy_before_andy_serve_before_a_model_loses_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("first line: begonia\n" + "word " * 9000 + "\nlast line: dahlia\n")
    script = [streamed("begonia and dahlia")]
    with (
        ModelServer(script) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m") as address,
    ):
        done = andy(
            "run", "--model", "ollama:m", "-", home=tmp_path, stdin=notes.read_text(),
            OLLAMA_HOST=address,
        )  # fmt: skip
    assert (done.code, done.out) == (0, "begonia and dahlia\n"), done.err
    said = str(server.requests[-1].body["messages"])
    assert "begonia" in said
    assert "dahlia" in said
