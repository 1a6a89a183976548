"""Ollama's wire: its requests, its answers, and what it tells of models."""

import asyncio
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ollama
import pytest

from andy_cli.frontends.serve.upstream.model_list import OllamaModels
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, make_tool_prompt
from andy_cli.frontends.serve.upstream.upstreams import Upstream, Upstreams
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.ollama import (
    OllamaChatWriter,
    OllamaGenerateWriter,
    answer_chat_load,
    answer_generate_load,
    read_ollama_chat,
    read_ollama_generate,
)
from andy_cli.messages import Chunk, Request, ToolRequest
from andy_cli.models.client import Endpoint
from andy_cli.models.server.facts import ServerFacts
from tests.cases import quick_every
from tests.model_server import Answer, ModelServer, Received, event, refused, status, streamed
from tests.serve_process import (
    ANSWER,
    CALLS,
    SCHEMAS,
    TASK,
    behind,
    replied,
    result_of,
    schema,
    serving,
)
from tests.wrong_requests import broken, deep

CHAT, GENERATE = "/api/chat", "/api/generate"
PICTURE = "iVBORw0KGgo="
SAID = [{"role": "user", "content": "Hello"}]
TOOLS = [
    {"type": "function", "function": {"name": n, "description": about, "parameters": schema(n)}}
    for n, (about, _, _) in SCHEMAS.items()
]
LIST = {"function": {"name": "list_mp3s", "arguments": {"path": "~/mp3"}}}
PLAY = {"function": {"name": "play_mp3", "arguments": {"filename": "a.mp3"}}}
FULL: Mapping[str, Any] = {
    "model": "m:latest",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Play this.", "images": [PICTURE]},
        {"role": "assistant", "thinking": "Hm", "content": "I look.", "tool_calls": [LIST, PLAY]},
        {"role": "tool", "tool_name": "play_mp3", "content": "playing"},
        {"role": "tool", "content": "a.mp3"},
    ],
    "tools": TOOLS,
    "format": {"type": "object"},
    "think": "high",
    "keep_alive": "5m",
    "options": {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "seed": 7,
        "num_predict": 100,
        "stop": ["END"],
        "num_ctx": 32768,
        "mirostat": 2,
    },
}
FULL_GENERATE: Mapping[str, Any] = {
    "model": "m",
    "system": "Be brief.",
    "prompt": "What is this?",
    "images": [PICTURE],
    "context": [1, 2],
    "raw": True,
    "template": "{{ .Prompt }}",
    "format": "json",
    "stream": False,
    "options": {"stop": "END", "num_predict": -1},
}
PIECES: tuple[AnswerPart, ...] = (
    ReasoningDelta("Hm"),
    ReasoningDelta("m."),
    TextDelta("I "),
    TextDelta("look."),
    CompletedCall(0, "call_1", "list_mp3s", '{"path": "~/mp3"}'),
    CompletedCall(1, "call_2", "now", "{}"),
    Finish("tool_calls", 20, 5),
)


def test_a_chat_is_understood() -> None:
    asked = read_ollama_chat(FULL)
    assert (asked.model, asked.stream, [*asked.tools]) == ("m", True, ["list_mp3s", "play_mp3"])
    assert asked.body is FULL
    _, user, said, *results = asked.history
    assert list(asked.parts.values()) == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    ]
    assert [*asked.parts] == [user.content.split("\n")[1]]
    assert [(call.name, call.arguments) for call in said.calls] == [
        ("list_mp3s", {"path": "~/mp3"}),
        ("play_mp3", {"filename": "a.mp3"}),
    ]
    assert {result.call_id: result.content for result in results} == {
        said.calls[0].id: "a.mp3",
        said.calls[1].id: "playing",
    }
    assert asked.fields == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "seed": 7,
        "max_tokens": 100,
        "stop": ["END"],
        "num_ctx": 32768,
        "keep_alive": "5m",
        "reasoning_effort": "high",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}},
        },
    }


def test_a_prompt_is_understood() -> None:
    asked = read_ollama_generate(FULL_GENERATE)
    assert (asked.model, asked.stream, asked.tools, asked.choice.how) == ("m", False, {}, "none")
    assert [message.role for message in asked.history] == ["system", "user"]
    assert asked.history[1].content.startswith("What is this?\n")
    form = {"type": "json_object"}
    assert asked.fields == {"stop": ["END"], "max_tokens": -1, "response_format": form}


@pytest.mark.parametrize(
    ("results", "order"),
    [
        ([{}, {}, {}], ["x1", "x2", "x3"]),
        ([{"tool_call_id": "made up"}] * 3, ["x1", "x2", "x3"]),
        ([{"tool_name": "b"}, {"tool_name": "a"}, {"tool_name": "a"}], ["x2", "x1", "x3"]),
        ([{"name": "a"}, {"name": "b"}, {}], ["x1", "x2", "x3"]),
        ([{"tool_call_id": "x3"}, {}, {"tool_name": "b"}], ["x3", "x1", "x2"]),
    ],
)
def test_results_belong_to_calls_by_id_then_tool_then_place(
    results: list[dict[str, object]], order: list[str]
) -> None:
    calls = [{"id": f"x{at}", "function": {"name": name}} for at, name in enumerate("aba", 1)]
    told = [{"role": "tool", "content": str(at), **each} for at, each in enumerate(results)]
    made = {"role": "assistant", "content": "", "tool_calls": calls}
    history = read_ollama_chat({"model": "m", "messages": [*SAID, made, *told]}).history
    found = {message.call_id: message.content for message in history if message.role == "tool"}
    assert found == {id: str(at) for at, id in enumerate(order)}


BAD: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "no model": (CHAT, {"model": None}),
    "a model of a wrong type": (CHAT, {"model": 5}),
    "a model that is a path": (CHAT, {"model": "../../etc/passwd"}),
    "messages of a wrong type": (CHAT, {"messages": "Hello"}),
    "a message that is none": (CHAT, {"messages": [5]}),
    "an unknown role": (CHAT, {"messages": [{"role": "robot", "content": "Hello"}]}),
    "content of a wrong type": (CHAT, {"messages": [{"role": "user", "content": 5}]}),
    "images of a wrong type": (CHAT, {"messages": [{"role": "user", "images": PICTURE}]}),
    "calls of a wrong type": (CHAT, {"messages": [{"role": "assistant", "tool_calls": 5}]}),
    "a call that is none": (CHAT, {"messages": [{"role": "assistant", "tool_calls": [{}]}]}),
    "arguments that are a list": (
        CHAT,
        {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "x", "arguments": ["y"]}}],
                }
            ]
        },
    ),
    "a result without a call": (CHAT, {"messages": [*SAID, {"role": "tool", "content": "x"}]}),
    "tools of a wrong type": (CHAT, {"tools": {"name": "x"}}),
    "a tool without a name": (CHAT, {"tools": [{"type": "function", "function": {}}]}),
    "options of a wrong type": (CHAT, {"options": "hot"}),
    "a temperature of a wrong type": (CHAT, {"options": {"temperature": "hot"}}),
    "a seed beyond all": (CHAT, {"options": {"seed": 10**400}}),
    "half a seed": (CHAT, {"options": {"seed": 1.5}}),
    "stops of a wrong type": (CHAT, {"options": {"stop": [5]}}),
    "stream of a wrong type": (CHAT, {"stream": "yes"}),
    "an unknown format": (CHAT, {"format": "xml"}),
    "an unknown effort": (CHAT, {"think": "hard"}),
    "too deep": (CHAT, {"messages": deep(200)}),
    "a suffix": (GENERATE, {"suffix": "}"}),
    "a prompt of a wrong type": (GENERATE, {"prompt": 5}),
    "a system of a wrong type": (GENERATE, {"system": 5}),
    "pictures of a wrong type": (GENERATE, {"images": [5]}),
}


@pytest.fixture
def client(address: str) -> Iterator[ollama.Client]:
    with ollama.Client(address) as client:
        yield client


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with behind(tmp_path_factory.mktemp("home"), "hermes") as found:
        yield found


def send(
    url: str, body: object = None, method: str = "POST", **headers: str
) -> tuple[int, str, str]:
    """The status of the answer, its media type and its text."""
    data = None if body is None else json.dumps(body).encode()
    named = {"content-type": "application/json", **headers}
    request = urllib.request.Request(url, data, named, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["content-type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["content-type"], error.read().decode()


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_request_is_said(address: str, name: str) -> None:
    path, wrong = BAD[name]
    usual = {"messages": SAID} if path == CHAT else {"prompt": "Hello"}
    code, _, answer = send(address + path, {"model": "m", **usual, **wrong})
    assert code == 400, answer
    error = json.loads(answer)
    assert set(error) == {"error"}
    assert len(error["error"]) > 10


@pytest.mark.slow
@pytest.mark.parametrize("full", [FULL, FULL_GENERATE])
def test_any_request_is_understood_or_refused(full: Mapping[str, Any]) -> None:
    chat = full is FULL
    read = read_ollama_chat if chat else read_ollama_generate
    answer_alone = answer_chat_load if chat else answer_generate_load
    understood = 0
    for body in broken(full):
        try:
            answer_alone(body)
            asked = read(body)
        except ApiError:
            continue
        understood += 1
        OllamaChatWriter(asked, "m").write_answer(PIECES)
        for dialect in ("hermes", "native"):
            make_tool_prompt(DIALECTS[dialect], asked.tools).render_messages(
                asked.history, asked.parts
            )
    assert understood > 100


def written(writer: OllamaChatWriter) -> list[dict[str, Any]]:
    lines = b"".join(map(writer.write_event, PIECES)).decode().split("\n")
    assert lines.pop() == ""
    return [json.loads(line) for line in lines]


def asked_for(**more: object) -> ChatRequest:
    return read_ollama_chat({"model": "m:latest", "messages": SAID, **more})


def test_a_stream_is_a_line_for_each_piece() -> None:
    *lines, last = written(OllamaChatWriter(asked_for(), "m"))
    assert all(line["model"] == "m:latest" and line["done"] is False for line in lines)
    assert all(line["created_at"].endswith("Z") for line in lines)
    empty = {"role": "assistant", "content": ""}
    calls = [
        {"id": "call_1", "function": {"index": 0, "name": "list_mp3s", "arguments": LIST_PATH}},
        {"id": "call_2", "function": {"index": 1, "name": "now", "arguments": {}}},
    ]
    assert [line["message"] for line in lines] == [
        {**empty, "thinking": "Hm"},
        {**empty, "thinking": "m."},
        {**empty, "content": "I "},
        {**empty, "content": "look."},
        *({**empty, "tool_calls": [call]} for call in calls),
    ]
    assert (last["message"], last["done"], last["done_reason"]) == (empty, True, "stop")
    assert (last["prompt_eval_count"], last["eval_count"]) == (20, 5)
    times = last["prompt_eval_duration"] + last["eval_duration"]
    assert 0 < last["prompt_eval_duration"] < times == last["total_duration"]


LIST_PATH = {"path": "~/mp3"}


def test_a_whole_answer_is_one_object() -> None:
    made = json.loads(OllamaChatWriter(asked_for(), "m").write_answer(PIECES))
    message = made["message"]
    assert (message["content"], message["thinking"]) == ("I look.", "Hmm.")
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [LIST_PATH, {}]
    assert made["done"]
    assert made["eval_duration"] == made["total_duration"] > 0


def test_thoughts_are_kept_back_where_they_are_not_wanted() -> None:
    lines = written(OllamaChatWriter(asked_for(think=False), "m"))
    assert not any("thinking" in line["message"] for line in lines)
    made = json.loads(OllamaChatWriter(asked_for(think=False), "m").write_answer(PIECES))
    assert "thinking" not in made["message"]


def test_a_prompt_is_answered_with_a_text() -> None:
    asked = read_ollama_generate({"model": "m", "prompt": "Hi"})
    lines = written(OllamaGenerateWriter(asked, "m"))
    assert "".join(line["response"] for line in lines) == "I look."
    assert "".join(line.get("thinking", "") for line in lines) == "Hmm."
    assert not any("message" in line for line in lines)
    assert (
        json.loads(OllamaGenerateWriter(asked, "m").write_answer(PIECES))["response"] == "I look."
    )


def test_an_answer_that_was_cut_off_says_so() -> None:
    made = json.loads(
        OllamaChatWriter(asked_for(), "m").write_answer([TextDelta("I"), Finish("length", 1, 1)])
    )
    assert made["done_reason"] == "length"


@pytest.mark.parametrize(
    ("keep", "reason"),
    [
        (None, "load"),
        ("5m", "load"),
        (-1, "load"),
        (0, "unload"),
        ("0s", "unload"),
        ("0", "unload"),
    ],
)
def test_a_request_without_words_loads_the_model(address: str, keep: object, reason: str) -> None:
    for path, body in ((CHAT, {"messages": []}), (CHAT, {}), (GENERATE, {"prompt": ""})):
        code, kind, answer = send(address + path, {"model": "m", **body, "keep_alive": keep})
        assert (code, kind) == (200, "application/json")
        assert (json.loads(answer)["done"], json.loads(answer)["done_reason"]) == (True, reason)


def test_a_stream_has_the_media_type_of_lines(address: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": TASK}], "tools": TOOLS}
    code, kind, answer = send(address + CHAT, body)
    assert (code, kind) == (200, "application/x-ndjson")
    lines = [json.loads(line) for line in answer.splitlines()]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    code, kind, answer = send(address + CHAT, {**body, "stream": False})
    assert (code, kind) == (200, "application/json")
    assert json.loads(answer)["message"]["tool_calls"][0]["function"]["name"] == "list_mp3s"


def converse(client: ollama.Client, stream: bool, model: str = "m") -> tuple[list[Any], str]:
    """The calls the client was asked for, and the answer in the end."""
    calls: list[tuple[str, object]] = []
    messages: list[Any] = [{"role": "user", "content": TASK}]
    for _ in range(5):
        message = ask(client, stream, model, messages)
        if not message.tool_calls:
            return calls, str(message.content)
        messages.append(message)
        for call in message.tool_calls:
            name, arguments = call.function.name, dict(call.function.arguments)
            calls.append((name, arguments))
            result = result_of(name, arguments)
            messages.append({"role": "tool", "tool_name": name, "content": result})
    raise AssertionError(calls)


def ask(client: ollama.Client, stream: bool, model: str, messages: list[Any]) -> ollama.Message:
    """The message of an answer, put together where it is streamed."""
    if not stream:
        return client.chat(model, messages, tools=TOOLS).message
    parts = [*client.chat(model, messages, tools=TOOLS, stream=True)]
    assert [bool(part.done) for part in parts] == [False] * (len(parts) - 1) + [True]
    return ollama.Message(
        role="assistant",
        content="".join(part.message.content or "" for part in parts),
        tool_calls=[call for part in parts for call in part.message.tool_calls or ()],
    )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["hermes", "andybot", "native"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_python_client_lists_and_plays(dialect: str, stream: bool, tmp_path: Path) -> None:
    with behind(tmp_path, dialect) as url, ollama.Client(url) as client:
        assert converse(client, stream) == (CALLS, ANSWER)


def write_call(received: Received) -> Answer:
    """The model's name is the notation it calls in."""
    dialect = DIALECTS[received.body["model"]]
    text = dialect.write(ToolRequest("list_mp3s", {"path": "~/mp3"}))
    return replied(text[:7], text[7:])


WRITTEN = sorted(set(DIALECTS) - {"native", "andybot"})
"""Notations in which a call and its arguments are written at once."""


@pytest.fixture(scope="module")
def writing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        ModelServer(write_call, checked=False) as server,
        serving(tmp_path_factory.mktemp("home"), "--upstream", server.url) as url,
    ):
        yield url


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", quick_every(8, WRITTEN))
def test_every_notation_becomes_a_call(dialect: str, stream: bool, writing: str) -> None:
    with ollama.Client(writing, headers={"x-andy-dialect": dialect}) as client:
        message = ask(client, stream, f"{dialect}:latest", [{"role": "user", "content": TASK}])
    assert [call.function.name for call in message.tool_calls or ()] == ["list_mp3s"]
    assert message.tool_calls
    assert message.tool_calls[0].function.arguments == LIST_PATH


def test_the_client_generates_shows_and_lists(client: ollama.Client) -> None:
    assert "list_mp3s" in client.generate("m", TASK)["response"]  # no tools: it is text
    parts = [*client.generate("m", TASK, stream=True)]
    assert "list_mp3s" in "".join(str(part.response) for part in parts)
    shown = client.show("m")
    assert shown.capabilities == ["completion", "tools"]
    assert ".Tools" in str(shown.template)
    assert [model.model for model in client.list().models] == ["m:latest"]
    assert [model.name for model in client.ps().models] == ["m:latest"]
    assert client.pull("m").status == "success"
    assert [part.status for part in client.pull("m:latest", stream=True)] == ["success"]
    assert client.chat("m").done_reason == "load"


def test_what_is_not_offered_is_refused_in_a_sentence(client: ollama.Client, address: str) -> None:
    for code, words, attempt in (
        (501, "Embeddings", lambda: client.embed("m", "x")),
        (501, "copied", lambda: client.copy("m", "n")),
        (501, "not removed", lambda: client.delete("m")),
        (404, "no model 'n'", lambda: client.pull("n")),
        (400, "suffix", lambda: client.generate("m", "x", "y")),
    ):
        with pytest.raises(ollama.ResponseError, match=words) as caught:
            attempt()
        assert caught.value.status_code == code
    code, _, answer = send(f"{address}/api/nothing", {})
    assert (code, set(json.loads(answer))) == (404, {"error"})


def test_the_server_can_be_looked_for(address: str) -> None:
    """As Ollama's own program does (HEAD /), and those that ask for the version."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    connection.request("HEAD", "/")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    connection.close()
    code, _, text = send(f"{address}/api/version", method="GET")
    version = tuple(map(int, json.loads(text)["version"].split(".")))
    assert (code, version >= (0, 13, 4)) == (200, True)


def test_several_models_are_told_apart_with_and_without_a_tag(tmp_path: Path) -> None:
    with (
        ModelServer([streamed("Hello.")]) as small,
        ModelServer([streamed("Bye.")]) as big,
        serving(
            *(tmp_path, "--upstream", f"small={small.url}", "--upstream", f"big={big.url}")
        ) as url,
        ollama.Client(url, timeout=30) as client,
    ):
        assert [model.model for model in client.list().models] == ["small:latest", "big:latest"]
        for name, words in (
            ("small", "Hello."),
            ("small:latest", "Hello."),
            ("big:latest", "Bye."),
        ):
            assert client.chat(name, SAID).message.content == words
            assert client.show(name).capabilities
        for attempt in (client.show, client.chat, lambda name: client.chat(name, SAID)):
            with pytest.raises(ollama.ResponseError, match="no model 'x'") as caught:
                attempt("x")
            assert caught.value.status_code == 404
    assert {each.body["model"] for each in small.requests} == {"small"}


class Silent(NamedTuple):
    """A source that is never asked."""

    endpoint: Endpoint
    guided: bool = False

    def reply(self, request: Request, fields: Mapping[str, object]) -> AsyncIterator[Chunk]:
        raise AssertionError(request)


def test_what_the_models_server_tells_is_shown() -> None:
    async def get_facts(endpoint: Endpoint, only_safe_requests: bool = False) -> ServerFacts:
        return ServerFacts(
            32768, ("completion", "vision", "insert"), f"{{{{ .Tools }}}} {endpoint.model}"
        )

    upstream = Upstream("big", Silent(Endpoint("openai", "m")), "auto", get_facts)
    shown = asyncio.run(OllamaModels(Upstreams([upstream])).show({"name": "big:latest"}))
    assert shown["model_info"] == {"general.architecture": "andy", "andy.context_length": 32768}
    assert shown["capabilities"] == ["completion", "tools", "vision"]
    assert (shown["template"], shown["parameters"]) == ("{{ .Tools }} m", "num_ctx 32768")


def test_errors_have_ollamas_shape(tmp_path: Path) -> None:
    chunked = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    broken_off = [status(headers=chunked), event({"content": "Hello. " * 20}), {"op": "close"}]
    with (
        ModelServer([refused(429, "Too many."), broken_off]) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m") as url,
        ollama.Client(url, timeout=30) as client,
    ):
        with pytest.raises(ollama.ResponseError, match="Too many") as caught:
            client.chat("m", SAID)
        assert caught.value.status_code == 429
        with pytest.raises(ollama.ResponseError, match="broke off"):
            [*client.chat("m", SAID, stream=True)]


@pytest.mark.slow
def test_a_stream_is_kept_alive_by_lines_that_say_nothing(tmp_path: Path) -> None:
    call = DIALECTS["hermes"].write(ToolRequest("list_mp3s", LIST_PATH))
    pieces = [event({"content": piece}) for piece in (call[:30], call[30:])]
    reply = [status(), pieces[0], {"op": "sleep", "s": 2.5}, pieces[1], event({}, "stop")]
    with (
        ModelServer([reply]) as server,
        serving(tmp_path, "--upstream", server.url, "--dialect", "hermes") as url,
        ollama.Client(url, timeout=30) as client,
    ):
        parts = [*client.chat("m", SAID, tools=TOOLS, stream=True)]
    assert len([part for part in parts if part.message == EMPTY and not part.done]) == 2
    assert [bool(part.message.tool_calls) for part in parts[-2:]] == [True, False]
    assert int(parts[-1].prompt_eval_duration or 0) > 2_000_000_000  # no line said anything before


EMPTY = ollama.Message(role="assistant", content="")


def test_the_token_is_sent_as_a_bearers(tmp_path: Path) -> None:
    with (
        ModelServer([streamed("Hello.")]) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m", "--token", "secret") as url,
        ollama.Client(url, headers={"authorization": "Bearer secret"}) as known,
        ollama.Client(url) as unknown,
    ):
        assert known.chat("m", SAID).message.content == "Hello."
        for attempt in (unknown.list, lambda: unknown.chat("m", SAID)):
            with pytest.raises(ollama.ResponseError, match="token") as caught:
                attempt()
            assert caught.value.status_code == 401
