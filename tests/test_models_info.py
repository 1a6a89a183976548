"""What servers tell about a model, and what `andy models info` makes of it."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from andy_cli.models.client import Endpoint
from andy_cli.models.inside.local_server import CONTEXT
from andy_cli.models.server.facts import ServerFacts, facts
from andy_cli.settings import load
from tests.model_server import ModelServer, called, refused, streamed
from tests.shell import Done, andy
from tests.terminal import Terminal
from tests.web_server import Received, WebServer, page, stalled

HERMES = '{{ .System }}<tool_call>{"name": "{{ .Name }}"}</tool_call>'
SHOW = {
    "capabilities": ["completion", "tools"],
    "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768},
    "template": HERMES,
    "parameters": 'stop    "<|im_end|>"\nnum_ctx    8192',
}
PROPS = {
    "default_generation_settings": {"n_ctx": 4096, "params": {}},
    "chat_template": HERMES,
    "chat_template_caps": {"supports_tool_calls": True},
}


@contextmanager
def serving(answers: Mapping[str, object]) -> Iterator[str]:
    """A server that answers a path with JSON, or with bytes as they are, or late; its address."""

    def answer_path(received: Received) -> Iterable[bytes]:
        answer = answers.get(received.url)
        if answer == "late":
            return stalled(received)
        body = answer if isinstance(answer, bytes) else json.dumps(answer)
        return page(body, status=404 if answer is None else 200)

    with WebServer(answer_path) as server:
        yield f"{server.url}/v1"


def told(answers: Mapping[str, object], provider: str = "openai", model: str = "m") -> ServerFacts:
    with serving(answers) as url:
        settings = load(environment={"ANDY_CONFIG_DIR": "/nonexistent"})
        return asyncio.run(facts(Endpoint(provider, model, url), settings))


def listed(**row: object) -> dict[str, object]:
    return {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", **row}]}


def info(home: Path, *arguments: str) -> Done:
    return andy("models", "info", *arguments, home=home, XDG_DATA_HOME=str(home))


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_ollama_tells_abilities_template_and_the_context_in_force(provider: str) -> None:
    known = ServerFacts(8192, ("completion", "tools"), HERMES, longest=32768)
    assert told({"/api/show": SHOW}, provider) == known


def test_without_a_setting_the_context_is_the_models_own() -> None:
    assert told({"/api/show": {**SHOW, "parameters": ""}}, "ollama").context == 32768


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["llamacpp", "openai"])
def test_llama_server_tells_its_context_and_template(provider: str) -> None:
    assert told({"/props": PROPS}, provider) == ServerFacts(4096, ("completion", "tools"), HERMES)


@pytest.mark.slow
def test_llama_server_tells_that_a_template_has_no_place_for_tools() -> None:
    without = {"supports_tools": False, "supports_tool_calls": False}
    assert told({"/props": {"chat_template_caps": without}}).capabilities == ("completion",)
    assert told({"/props": {"chat_template_caps": {}}}).capabilities == ()


def test_lm_studio_tells_what_its_models_can_do() -> None:
    rows = listed(max_context_length=131072, loaded_context_length=4096, capabilities=["tool_use"])
    assert told({"/api/v0/models": rows}, "lmstudio") == ServerFacts(4096, ("tools",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"max_model_len": 16384}, ServerFacts(16384)),
        ({"supported_parameters": ["tools"]}, ServerFacts(None, ("completion", "tools"))),
        ({"context_length": 200000}, ServerFacts(200000)),
        (
            {"max_context_length": 9, "capabilities": {"function_calling": True}},
            ServerFacts(9, ("tools",)),
        ),
        ({"supported_parameters": ["stop"]}, ServerFacts(None, ("completion",))),
        ({"meta": {"n_ctx_train": 2048}}, ServerFacts(2048)),
        ({}, ServerFacts()),
    ],
)
def test_a_list_of_models_may_tell_more_than_names(
    row: dict[str, object], expected: ServerFacts
) -> None:
    assert told({"/v1/models": listed(**row)}, "vllm") == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        b"<html>hello</html>",
        b"",
        b"[" * 100_000,
        [1, 2],
        {"data": [1, None, {"id": ["m"]}], "capabilities": 7, "model_info": [], "template": {}},
        {"data": [{"id": "m", "max_model_len": -1, "capabilities": "x", "meta": 3}]},
        {"model_info": {"a.context_length": True}, "parameters": "num_ctx much"},
        {"chat_template_caps": [], "default_generation_settings": {"n_ctx": 10**30}},
        b" " * (5 * 2**20),
    ],
)
def test_nonsense_tells_nothing_and_breaks_nothing(answer: object) -> None:
    paths = ("/api/show", "/props", "/api/v0/models", "/v1/models")
    assert told(dict.fromkeys(paths, answer)) == ServerFacts()


@pytest.mark.slow
def test_nobody_is_waited_for_long() -> None:
    assert told({"/api/show": "late", "/props": "late", "/v1/models": listed(max_model_len=7)}) == (
        ServerFacts(7)
    )


def test_where_nobody_listens_nothing_is_told() -> None:
    settings = load(environment={"ANDY_CONFIG_DIR": "/nonexistent"})
    assert (
        asyncio.run(facts(Endpoint("openai", "m", "http://127.0.0.1:9/v1"), settings))
        == ServerFacts()
    )


def test_a_model_inside_andy_has_the_context_that_andy_loads_it_with() -> None:
    settings = load(environment={"ANDY_CONFIG_DIR": "/nonexistent"})
    found = asyncio.run(facts(Endpoint("local", "smollm2"), settings))
    assert found == ServerFacts(context=CONTEXT)


@pytest.mark.slow
def test_a_model_with_native_tools_uses_them(tmp_path: Path) -> None:
    with serving({"/api/show": SHOW, "/v1/models": listed()}) as url:
        done = info(tmp_path, "ollama:m", "--base-url", url, "--json")
        words = info(tmp_path, "ollama:m", "--base-url", url)
    found = json.loads(done.out)
    assert (found["name"], found["endpoint"]) == ("ollama:m", url)
    assert (found["dialect"], found["without_native_tools"]) == ("native", "hermes")
    assert found["dialect_because"] == "its server says it takes tools"
    assert (found["native_tools"], found["context"], found["answers"]) == (True, 8192, True)
    assert "context               8192 tokens\n" in words.out
    assert "used because          --base-url was given\n" in words.out


@pytest.mark.slow
def test_a_model_without_native_tools_writes_what_its_template_shows(tmp_path: Path) -> None:
    show = {**SHOW, "capabilities": ["completion"]}
    with serving({"/api/show": show, "/v1/models": listed()}) as url:
        found = json.loads(info(tmp_path, "ollama:m", "--base-url", url, "--json").out)
    assert (found["dialect"], found["native_tools"]) == ("hermes", False)
    assert found["dialect_because"] == "its chat template writes <tool_call>"


def test_a_dialect_that_was_asked_for_is_used_and_says_who_asked(tmp_path: Path) -> None:
    nowhere = ("--base-url", "http://127.0.0.1:9/v1")
    found = json.loads(info(tmp_path, *nowhere, "m", "--json", "--set", "dialect=react").out)
    assert (found["dialect"], found["dialect_because"]) == ("react", "--set says so")
    assert found["answers"] is False


@pytest.mark.slow
def test_a_local_model_has_weights_and_is_led_by_questions(tmp_path: Path) -> None:
    file = tmp_path / "Tiny-1B-Q4_K_M.gguf"
    file.write_bytes(b"GGUF" + bytes(10**6))
    found = json.loads(info(tmp_path, f"local:{file}", "--json").out)
    assert (found["dialect"], found["native_tools"]) == ("andybot", False)
    assert (found["weights"], found["size"]) == (str(file), 10**6 + 4)
    assert found["context"] == CONTEXT
    assert "1 MB\n" in info(tmp_path, f"local:{file}").out
    missing = info(tmp_path, "local:smollm2").out
    place = tmp_path / "andy" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert f"not here yet: `andy models pull smollm2` fetches them to {place}" in missing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nonsense", 2),
        ("local:nope", 2),
        ("local:/x/y.gguf", 2),
        ("openai:x", 77),
        ("hf:x", 2),
        ("\x1b[31m:x", 2),
    ],
)
def test_a_bad_name_is_one_plain_sentence(name: str, code: int, tmp_path: Path) -> None:
    done = info(tmp_path, "--set", "network.scan=false", name)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("andy: ")
    assert len(done.err.splitlines()) <= 2
    assert "\x1b" not in done.err


@pytest.mark.slow
def test_a_name_that_the_server_does_not_list_is_refused(tmp_path: Path) -> None:
    with serving({"/v1/models": listed()}) as url:
        done = info(tmp_path, "--base-url", url, "another")
    assert done.code == 2
    assert "has no model 'another'" in done.err


def test_a_model_that_its_server_lists_and_refuses_is_not_its_own_correction(
    tmp_path: Path,
) -> None:
    missing = refused(404, "The model `fake` does not exist", type="not_found_error")
    with ModelServer([missing], models=("fake", "fake-2")) as server:
        done = andy("run", "--base-url", server.url, "--model", "fake", "hi", home=tmp_path)
    assert "has no model 'fake'" in done.err
    assert "Did you mean fake-2?" in done.err


def run(home: Path, server: ModelServer, model: str) -> str:
    """The dialect that a run's first event names."""
    where = ("--base-url", server.url, "--model", model, "-o", "stream-json")
    done = andy("run", *where, "hi", home=home)
    return str(json.loads(done.out.splitlines()[0])["dialect"])


def test_tools_are_native_until_the_server_refuses_them_then_the_name_counts(
    tmp_path: Path,
) -> None:
    script = [
        refused(400, "this model does not support tools"),
        streamed('<tool_call>\n{"name": "now_playing", "arguments": {}}\n</tool_call>'),
        streamed("Nothing."),
    ]
    with ModelServer(script) as server:
        assert run(tmp_path, server, "qwen2.5:7b") == "native"
        lesson = server.requests[1].body["messages"][0]["content"]
        assert "<tool_call>" in lesson
        assert server.requests[2].body["messages"][-1]["content"].startswith("<tool_response>")


@pytest.mark.slow
def test_raw_shows_the_last_exchange_as_it_was(home: Path) -> None:
    script = [
        streamed("DEAR ANDYBOT, ", "LIST_MP3S"),
        streamed("tests/music"),
        streamed("There are \x1b]0;owned\x07three."),
    ]
    with (
        ModelServer(script) as server,
        Terminal(
            *("chat", "--base-url", server.url, "--model", "m", "--no-session"),
            *("--set", "dialect=andybot"),
            columns=100,
            rows=60,
        ) as terminal,
    ):
        terminal.prompts()
        terminal.type("/raw\r")
        terminal.sees("Nothing has been said yet.")
        terminal.prompts()
        terminal.type("look into tests/music\r")
        terminal.prompts()
        before = len(terminal.raw)
        terminal.type("/raw\r")
        text = terminal.prompts()
        assert "--- user\nANDYBOT RESPONDS: 01 - Morning Light.mp3" in text
        assert "--- the model\nThere are \\x1b]0;owned\\x07three." in text
        assert "--- read as plain text" in text
        assert "Requests are read as andybot: --set says so." in text
        assert b"\x1b]0;owned" not in terminal.raw[before:]
        terminal.type("/raw 3\r")
        text = terminal.prompts()
        assert "--- the model\nDEAR ANDYBOT, LIST_MP3S\n--- read as andybot, characters 0-" in text
        assert "ANDYBOT ASKS:" in text
        terminal.type("/raw x\r")
        terminal.sees("takes how many exchanges")


@pytest.mark.slow
def test_raw_shows_native_calls_too(home: Path) -> None:
    with (
        ModelServer([called("now_playing", "{}")]) as server,
        Terminal(
            *("chat", "--base-url", server.url, "--model", "m", "--no-session"),
            columns=100,
            rows=60,
        ) as terminal,
    ):
        terminal.prompts()
        terminal.type("what is playing?\r")
        terminal.prompts()
        terminal.type("/raw\r")
        assert "--- read as native\nnow_playing {}" in terminal.prompts()
