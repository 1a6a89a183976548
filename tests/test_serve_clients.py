import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import httpx2
import openai
import pytest

from tests.http_server import PLAIN
from tests.isolated_programs import PYTHON, there
from tests.model_server import ModelServer, event, status, streamed
from tests.node import installed
from tests.serve_client import joined
from tests.serve_process import (
    ANSWER,
    CALLS,
    FILES,
    SCHEMAS,
    TASK,
    behind,
    result_of,
    schema,
    serving,
)

pytest_plugins = "tests.small_weights"

pytestmark = pytest.mark.slow
Told = tuple[list[tuple[str, object]], str]
"""The calls a client was asked for, and the answer in the end."""
FUNCTIONS = [
    {"name": name, "description": about, "parameters": schema(name)}
    for name, (about, _, _) in SCHEMAS.items()
]


class At(NamedTuple):
    url: str
    answer: str
    """What the model's answer holds in the end."""

    def played(self, told: Told) -> bool:
        calls, answer = told
        return calls == CALLS and self.answer in answer


@pytest.fixture(scope="module", params=["hermes", "andybot", "native", "the small model"])
def at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[At]:
    if request.param == "the small model":
        yield At(request.getfixturevalue("small"), "song1.mp3")
    else:
        with behind(tmp_path_factory.mktemp("home"), request.param) as url:
            yield At(url, ANSWER)


@pytest.fixture(scope="module")
def small(weights_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    models = home / ".local" / "share" / "andy" / "models"
    models.parent.mkdir(parents=True)
    models.symlink_to(weights_file.parent)
    with serving(home, "--upstream", "local:smollm2") as url:
        yield url


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ("auto", "play_mp3"),
        ("required", "play_mp3"),
        ({"type": "function", "function": {"name": "list_mp3s"}}, "list_mp3s"),
        ("none", None),
    ],
)
def test_the_small_model_is_held_to_what_may_be_called(
    small: str, choice: object, name: str | None
) -> None:
    fields: dict[str, Any] = {
        "messages": [{"role": "user", "content": "play song1.mp3"}],
        "tools": [{"type": "function", "function": each} for each in FUNCTIONS],
        "tool_choice": choice,
    }
    with openai.OpenAI(base_url=f"{small}/v1", api_key="none", max_retries=0) as client:
        message = client.chat.completions.create(model="m", **fields).choices[0].message
    called = [each["function"]["name"] for each in message.model_dump()["tool_calls"] or []]
    assert called == ([name] if name else [])
    assert name or (message.content and "ANDYBOT" not in message.content)


MAIL = {
    "name": "send_mail",
    "description": "Send an email",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "body": {"type": "string"}},
        "required": ["to", "body"],
    },
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "send_mail"}}]
)
def test_values_of_the_small_model_are_the_users_and_never_words_of_andy(
    small: str, choice: object, stream: bool
) -> None:
    for text in ("hi", "hello there, how are you?", "write a poem about spring"):
        fields = {"messages": [{"role": "user", "content": text}], "tool_choice": choice}
        found = ask_small(small, MAIL, stream, **fields)
        values = [
            value for call in found["calls"] for value in json.loads(call["arguments"]).values()
        ]
        assert all(str(value) in text for value in values), found
        assert found["calls"] or found["text"], found


@pytest.mark.parametrize("stream", [False, True])
def test_the_small_model_tells_a_result_without_plumbing_where_no_tool_may_be_used(
    small: str, stream: bool
) -> None:
    call: dict[str, object] = {"id": "c1", "type": "function"}
    call |= {"function": {"name": "play_mp3", "arguments": '{"filename": "song1.mp3"}'}}
    messages = [
        {"role": "user", "content": "play song1.mp3"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "playing song1.mp3"},
    ]
    for tool in FUNCTIONS:
        found = ask_small(small, tool, stream, messages=messages, tool_choice="none")
        assert (found["text"], found["calls"]) == ("playing song1.mp3.", [])


def ask_small(
    small: str, function: Mapping[str, object], stream: bool, **fields: object
) -> dict[str, Any]:
    """Text and calls of an answer, streamed or whole."""
    body = {"model": "m", "tools": [{"type": "function", "function": function}], **fields}
    url = f"{small}/v1/chat/completions"
    answer = httpx2.post(url, json={**body, "stream": stream}, timeout=60, verify=PLAIN)
    assert answer.status_code == 200, answer.text
    if stream:
        lines = answer.text.split("\n")
        return joined([json.loads(line[6:]) for line in lines if line.startswith("data: {")])
    message = answer.json()["choices"][0]["message"]
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return {"text": message["content"], "calls": calls}


def test_a_model_that_reads_text_alone_refuses_pictures_at_once(small: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [{"type": "text", "text": "What is it?"}, picture]
    asked: Any = [{"role": "user", "content": parts}]
    with (
        openai.OpenAI(base_url=f"{small}/v1", api_key="none", max_retries=0) as client,
        pytest.raises(openai.BadRequestError, match="reads text alone"),
    ):
        client.chat.completions.create(model="m", messages=asked)


def chat(address: str, ask: Callable[[Any, dict[str, Any]], Any]) -> Told:
    calls: list[tuple[str, object]] = []
    messages: list[Any] = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "function": each} for each in FUNCTIONS]
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        for _ in range(5):
            made = ask(client, {"model": "m", "messages": messages, "tools": tools})
            message = made.choices[0].message
            if made.choices[0].finish_reason != "tool_calls":
                return calls, message.content
            messages.append(message.model_dump(exclude_none=True))
            for each in message.tool_calls:
                arguments = json.loads(each.function.arguments)
                calls.append((each.function.name, arguments))
                result = result_of(each.function.name, arguments)
                messages.append({"role": "tool", "tool_call_id": each.id, "content": result})
    raise AssertionError(calls)


def chat_whole(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401
    return client.chat.completions.create(**request)


def chat_streamed(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401
    with client.chat.completions.stream(**request) as stream:
        return stream.get_final_completion()


def responses(address: str, ask: Callable[[Any, dict[str, Any]], Any]) -> Told:
    calls: list[tuple[str, object]] = []
    input: list[Any] = [{"role": "user", "content": TASK}]
    tools = [{"type": "function", "strict": False, **each} for each in FUNCTIONS]
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        for _ in range(5):
            made = ask(client, {"model": "m", "input": input, "tools": tools})
            assert made.status == "completed"
            wanted = [each for each in made.output if each.type == "function_call"]
            if not wanted:
                return calls, made.output_text
            input += [each.model_dump(exclude_none=True) for each in made.output]
            for each in wanted:
                arguments = json.loads(each.arguments)
                calls.append((each.name, arguments))
                output = result_of(each.name, arguments)
                answer = {"call_id": each.call_id, "output": output}
                input.append({"type": "function_call_output", **answer})
    raise AssertionError(calls)


def responses_whole(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401
    return client.responses.create(**request)


def responses_streamed(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401
    with client.responses.stream(**request) as stream:
        numbers = [each.sequence_number for each in stream]
        assert numbers == [*range(len(numbers))]
        return stream.get_final_response()


def messages(address: str, ask: Callable[[Any, dict[str, Any]], Any]) -> Told:
    calls: list[tuple[str, object]] = []
    said: list[Any] = [{"role": "user", "content": TASK}]
    tools = [
        {
            "name": each["name"],
            "description": each["description"],
            "input_schema": each["parameters"],
        }
        for each in FUNCTIONS
    ]
    with anthropic.Anthropic(base_url=address, api_key="none", max_retries=0) as client:
        for _ in range(5):
            made = ask(client, {"model": "m", "max_tokens": 500, "messages": said, "tools": tools})
            if made.stop_reason != "tool_use":
                assert made.stop_reason == "end_turn"
                return calls, "".join(each.text for each in made.content)
            said.append({"role": "assistant", "content": made.content})
            wanted = [each for each in made.content if each.type == "tool_use"]
            calls += [(each.name, each.input) for each in wanted]
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": each.id,
                    "content": result_of(each.name, each.input),
                }
                for each in wanted
            ]
            said.append({"role": "user", "content": results})
    raise AssertionError(calls)


def messages_whole(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401
    return client.messages.create(**request)


def messages_streamed(client: Any, request: dict[str, Any]) -> Any:  # noqa: ANN401
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize(
    ("converse", "ask"),
    [
        (chat, chat_whole),
        (chat, chat_streamed),
        (responses, responses_whole),
        (responses, responses_streamed),
        (messages, messages_whole),
        (messages, messages_streamed),
    ],
)
def test_a_python_client_lists_and_plays(
    at: At, converse: Callable[..., Told], ask: Callable[..., Any]
) -> None:
    assert at.played(converse(at.url, ask))


@pytest.mark.parametrize("stream", [False, True])
def test_the_tool_runner_of_anthropic_lists_and_plays(at: At, stream: bool) -> None:
    calls: list[tuple[str, object]] = []

    def use(name: str, parameter: str, value: str) -> str:
        calls.append((name, {parameter: value}))
        return result_of(name, {parameter: value})

    @anthropic.beta_tool(description=SCHEMAS["list_mp3s"][0], input_schema=schema("list_mp3s"))
    def list_mp3s(path: str) -> str:
        return use("list_mp3s", "path", path)

    @anthropic.beta_tool(description=SCHEMAS["play_mp3"][0], input_schema=schema("play_mp3"))
    def play_mp3(filename: str) -> str:
        return use("play_mp3", "filename", filename)

    request: Any = {"model": "m", "max_tokens": 500, "tools": [list_mp3s, play_mp3]}
    request["messages"] = [{"role": "user", "content": TASK}]
    with anthropic.Anthropic(base_url=at.url, api_key="none", max_retries=0) as client:
        last = client.beta.messages.tool_runner(**request, stream=stream).until_done()
    assert at.played((calls, "".join(block.text for block in last.content if block.type == "text")))


AI_SDK = ("ai@6.0.326", "zod@4.6.7", "@ai-sdk/openai@3.0.141", "@ai-sdk/anthropic@3.0.140")
AI_SDK_WIRES = ("compatible", "chat", "responses", "messages")
HOW = ("whole", "streamed")
PACKAGES = {
    "openai_clients.mjs": ("openai@7.57.0",),
    "ai_sdk_clients.mjs": (*AI_SDK, "@ai-sdk/openai-compatible@2.0.92"),
}


@pytest.mark.parametrize(
    ("program", "wire", "how"),
    [
        *(("openai_clients.mjs", wire, how) for wire in ("chat", "responses") for how in HOW),
        *(("ai_sdk_clients.mjs", wire, "streamed") for wire in AI_SDK_WIRES),
        ("ai_sdk_clients.mjs", "compatible", "whole"),
    ],
)
def test_a_javascript_client_lists_and_plays(
    at: At, program: str, wire: str, how: str, tmp_path: Path
) -> None:
    modules = installed(*PACKAGES[program])
    script = shutil.copy(Path(__file__).parent / program, tmp_path)
    (tmp_path / "node_modules").symlink_to(modules)
    scene = json.dumps({"task": TASK, "files": FILES, "tools": FUNCTIONS})
    done = subprocess.run(
        ["node", script, at.url, wire, how],
        env={"PATH": os.environ["PATH"], "SCENE": scene},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert at.played(([tuple(each) for each in told["calls"]], told["answer"]))


REQUEST: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
THINKS: Any = {**REQUEST, "thinking": {"type": "enabled", "budget_tokens": 1024}}
CHUNKED = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
THOUGHTS = [event({"reasoning_content": "Hm"}), event({"reasoning_content": "m."})]


def test_a_client_sees_what_the_model_thought(tmp_path: Path) -> None:
    reply = [status(), *THOUGHTS, event({"content": "Hello."}), event({}, "stop")]
    with (
        ModelServer([reply]) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m") as at,
        anthropic.Anthropic(base_url=at, api_key="none") as messages,
        openai.OpenAI(base_url=f"{at}/v1", api_key="none") as responses,
    ):
        for ask in (messages_whole, messages_streamed):
            thinking, text = ask(messages, THINKS).content
            assert (thinking.thinking, text.text) == ("Hmm.", "Hello.")
        for ask in (responses_whole, responses_streamed):
            made = ask(responses, {"model": "m", "input": "Hi"})
            assert made.output[0].content[0].text == "Hmm."
            assert made.output_text == "Hello."


def test_a_client_is_told_that_a_stream_broke_off(tmp_path: Path) -> None:
    reply = [status(headers=CHUNKED), event({"content": "Hello. " * 20}), {"op": "close"}]
    with (
        ModelServer([reply]) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m") as at,
        anthropic.Anthropic(base_url=at, api_key="none", max_retries=0) as messages,
        openai.OpenAI(base_url=f"{at}/v1", api_key="none", max_retries=0) as responses,
    ):
        with pytest.raises(anthropic.APIError, match="broke off"):
            messages_streamed(messages, REQUEST)
        with pytest.raises(openai.APIError, match="broke off"):
            responses_streamed(responses, {"model": "m", "input": "Hi"})


def test_clients_send_the_token_as_their_key(tmp_path: Path) -> None:
    with (
        ModelServer([streamed("Hello.")]) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m", "--token", "secret") as at,
        anthropic.Anthropic(base_url=at, api_key="secret") as known,
        anthropic.Anthropic(base_url=at, api_key="other", max_retries=0) as unknown,
        openai.OpenAI(base_url=f"{at}/v1", api_key="secret") as responses,
    ):
        assert messages_whole(known, REQUEST).content[0].text == "Hello."
        assert known.messages.count_tokens(model="m", messages=REQUEST["messages"]).input_tokens
        with pytest.raises(anthropic.AuthenticationError, match="token"):
            messages_whole(unknown, REQUEST)
        assert responses_whole(responses, {"model": "m", "input": "Hi"}).output_text == "Hello."
    assert "secret" not in str(server.requests)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("how", ["whole", "streamed"])
def test_litellm_lists_and_plays(at: At, wire: str, how: str, tmp_path: Path) -> None:
    there("litellm")
    script = Path(__file__).parent / "litellm_client.py"
    scene = json.dumps({"task": TASK, "files": FILES, "tools": FUNCTIONS})
    known = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SCENE": scene}
    done = subprocess.run(
        [PYTHON, script, at.url, wire, how],
        env={**known, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])  # it prints advice before
    assert at.played(([tuple(each) for each in told["calls"]], told["answer"]))


TOOLS_OF_LLM = f"""
def list_mp3s(path: str) -> str:
    "List music files."
    return {FILES!r}

def play_mp3(filename: str) -> str:
    "Play a music file."
    return "playing " + filename
"""


@pytest.mark.parametrize("how", ["--no-stream", "--tools-debug"])
def test_llm_lists_and_plays(at: At, how: str, tmp_path: Path) -> None:
    there("llm")
    model = f"- {{model_id: m, model_name: m, api_base: '{at.url}/v1', supports_tools: true}}\n"
    (tmp_path / "extra-openai-models.yaml").write_text(model)
    known = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LLM_USER_PATH": str(tmp_path)}
    done = subprocess.run(
        [PYTHON, "-m", "llm", "prompt", "-m", "m", "--functions", TOOLS_OF_LLM, how, TASK],
        env=known,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert at.answer in done.stdout
