"""Which model is found, in what order, and what is said about it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from andy_cli.errors import AuthError, TransientError, UsageError
from andy_cli.models.client import Provider
from andy_cli.models.discovery import (
    FoundServer,
    ollama_address,
    parse_answer,
    scan_servers,
    usual_ports,
)
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.select import (
    Chosen,
    ask_addressed_server,
    choose_model,
    models_at,
    parse_name,
    preferred_model,
)
from andy_cli.settings import Settings, load
from tests.model_server import ModelServer
from tests.web_server import WebServer, stalled

NOBODY: Mapping[str, int] = {}


def settings(*overrides: str, **environment: str) -> Settings:
    return load(overrides, environment={"ANDY_CONFIG_DIR": "/nonexistent", **environment})


def chosen(
    *overrides: str, ports: Mapping[str, int] = NOBODY, **environment: str
) -> tuple[str, str]:
    """`provider:model` and why."""
    found = choice(*overrides, ports=ports, **environment)
    return f"{found.endpoint.provider}:{found.endpoint.model}", found.why


def choice(*overrides: str, ports: Mapping[str, int] = NOBODY, **environment: str) -> Chosen:
    return asyncio.run(choose_model(settings(*overrides, **environment), environment, ports))


def answer(body: str, code: int = 200) -> bytes:
    return f"HTTP/1.0 {code} OK\r\ncontent-type: application/json\r\n\r\n{body}".encode()


def listening(reply: bytes = b"") -> WebServer:
    """A port on which something says `reply` to everybody, or nothing at all."""
    return WebServer(lambda received: [reply] if reply else stalled(received))


TAGS = answer('{"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen2.5:7b"}]}')
VLLM = answer('{"data": [{"id": "Qwen/Qwen3-8B", "owned_by": "vllm"}]}')


def test_servers_on_this_machine_are_found_with_their_models() -> None:
    with listening(TAGS) as ollama, listening(VLLM) as other:
        found = asyncio.run(
            scan_servers(settings(), {"ollama": ollama.port, "llamacpp": other.port})
        )
    models = ("nomic-embed-text:latest", "qwen2.5:7b")
    assert found == [
        FoundServer("ollama", f"http://127.0.0.1:{ollama.port}/v1", models),
        FoundServer("vllm", f"http://127.0.0.1:{other.port}/v1", ("Qwen/Qwen3-8B",)),
    ]


@pytest.mark.parametrize(
    "reply",
    [
        answer("<h1>hello</h1>"),
        answer("[" * 100_000),
        answer('{"data": "x"}'),
        answer('{"data": [1]}'),
        answer('{"data": []}', 404),
        b"SSH-2.0\r\n",
        b"\xff\xff",
    ],
)
def test_what_is_no_model_server_is_not_found(reply: bytes) -> None:
    with listening(reply) as server:
        assert asyncio.run(scan_servers(settings(), {"vllm": server.port})) == []


def test_a_silent_server_is_given_up_and_hides_no_other() -> None:
    with listening() as silent, listening(VLLM) as other:
        found = asyncio.run(scan_servers(settings(), {"lmstudio": silent.port, "vllm": other.port}))
    assert [each.provider for each in found] == ["vllm"]


def test_nothing_is_looked_for_when_it_is_not_wanted() -> None:
    with listening(VLLM) as server:
        assert (
            asyncio.run(scan_servers(settings("network.scan=false"), {"vllm": server.port})) == []
        )


def test_the_usual_ports_are_those_of_the_providers() -> None:
    assert usual_ports({}) == {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
    assert usual_ports({"OLLAMA_HOST": ":9"})["ollama"] == 9
    assert "ollama" not in usual_ports({"OLLAMA_HOST": "example.org"})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:9", "http://127.0.0.1:9/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        (":9", "http://127.0.0.1:9/v1"),
        ("box.lan", "http://box.lan:11434/v1"),
        ("https://box.lan/", "https://box.lan:443/v1"),
        ("http://box.lan:9/v1", "http://box.lan:9/v1"),
        ("[::1]:9", "http://[::1]:9/v1"),
    ],
)
def test_ollamas_address_is_read_in_every_spelling(host: str, url: str) -> None:
    assert ollama_address(host) == url


def test_a_server_without_models_is_a_server() -> None:
    assert parse_answer("vllm", "u", answer('{"data": []}')) == FoundServer("vllm", "u", ())


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("", ("", "")),
        ("gpt-5-mini", ("", "gpt-5-mini")),
        ("qwen2.5:7b", ("", "qwen2.5:7b")),
        ("ollama:qwen2.5:7b", ("ollama", "qwen2.5:7b")),
        ("local:/path/model.gguf", ("local", "/path/model.gguf")),
        ("anthropic", ("anthropic", "")),
    ],
)
def test_only_a_providers_name_before_a_colon_is_a_provider(
    text: str, parsed: tuple[str, str]
) -> None:
    assert parse_name(text) == parsed


def test_a_provider_that_was_named_is_taken() -> None:
    assert chosen("model=groq:x", GROQ_API_KEY="k", OPENAI_API_KEY="k") == (
        "groq:x",
        "--set was given",
    )


def test_why_names_the_variable_of_a_setting() -> None:
    assert chosen(ANDY_MODEL="groq:x", GROQ_API_KEY="k")[1] == "ANDY_MODEL is set"


def test_a_provider_without_its_key_says_which() -> None:
    with pytest.raises(AuthError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        chosen("model=gemini:x")


def test_keys_are_taken_in_the_order_of_the_presets() -> None:
    assert chosen(DEEPSEEK_API_KEY="k", GROQ_API_KEY="k")[1] == "GROQ_API_KEY is set"
    assert chosen(OPENAI_API_KEY="k", GROQ_API_KEY="k")[1] == "OPENAI_API_KEY is set"


def test_a_model_goes_to_whoever_makes_it() -> None:
    for model, provider in {"claude-opus-9": "anthropic", "something": "openai"}.items():
        found, _ = chosen(f"model={model}", OPENAI_API_KEY="k", ANTHROPIC_API_KEY="k")
        assert found == f"{provider}:{model}"


def test_a_key_comes_before_a_server_on_this_machine() -> None:
    with listening(TAGS) as server:
        assert chosen(ports={"ollama": server.port}, GROQ_API_KEY="k")[1] == "GROQ_API_KEY is set"
        found, why = chosen(ports={"ollama": server.port})
    assert (found, why) == ("ollama:qwen2.5:7b", "it runs here")


def test_a_model_that_a_server_here_has_is_taken_from_it() -> None:
    with listening(TAGS) as server:
        found = chosen("model=qwen2.5:7b", ports={"ollama": server.port}, OPENAI_API_KEY="k")
    assert found[0] == "ollama:qwen2.5:7b"


def test_an_address_that_was_given_comes_first() -> None:
    with ModelServer([], ["text-embedding-3", "big"]) as server:
        found = choice(f"base_url={server.url}/", OPENAI_API_KEY="k", GROQ_API_KEY="g")
    assert found.endpoint.base_url == server.url
    assert found.endpoint.model == "big"
    assert found.endpoint.key == "k"


def test_an_address_of_a_preset_is_that_preset() -> None:
    found = choice("base_url=https://api.groq.com/openai/v1", "model=x", GROQ_API_KEY="g")
    assert (found.endpoint.provider, found.endpoint.key) == ("groq", "g")
    found = choice("base_url=http://localhost:8080/v1", "model=x", OPENAI_API_KEY="k")
    assert (found.endpoint.provider, found.endpoint.key) == ("llamacpp", "")


def test_openais_address_may_be_in_the_environment() -> None:
    address = "http://127.0.0.1:9/v1"
    found = choice("model=x", OPENAI_BASE_URL=f"{address}/")
    assert (found.endpoint.base_url, found.why) == (address, "OPENAI_BASE_URL is set")
    found = choice("model=x", OPENAI_API_BASE=address)
    assert (found.endpoint.base_url, found.why) == (address, "OPENAI_API_BASE is set")


def test_another_variable_may_hold_the_key() -> None:
    found = choice("api_key_env=MINE", "model=openai:x", MINE="k", OPENAI_API_KEY="no")
    assert (found.endpoint.key, found.endpoint.key_from) == ("k", "MINE")
    with pytest.raises(AuthError, match="MINE holds no key"):
        choice("api_key_env=MINE", "model=openai:x")


def test_ollama_is_used_where_its_variable_says_if_it_answers() -> None:
    with ModelServer([], ["embed", "mine:1b"]) as server:
        host = f"127.0.0.1:{server.port}"
        assert chosen(OLLAMA_HOST=host) == ("ollama:mine:1b", "OLLAMA_HOST is set")
    assert chosen(OLLAMA_HOST=host, GROQ_API_KEY="k")[1] == "GROQ_API_KEY is set"


def test_a_server_that_must_name_its_model_and_does_not_is_an_error() -> None:
    with ModelServer([]) as server:
        url = server.url
    with pytest.raises(TransientError, match="does not say which models"):
        choice("model=vllm", f"base_url={url}")


def test_an_unknown_model_without_any_provider_is_said() -> None:
    with pytest.raises(UsageError, match="no provider for the model 'gpt-9'"):
        choice("model=gpt-9")


def test_a_file_runs_in_this_process() -> None:
    pytest.importorskip("xllamacpp")
    assert chosen("model=/path/x.gguf") == ("local:/path/x.gguf", "it runs inside andy")
    assert chosen()[1] == "nothing else was found"


def test_every_preset_can_be_used_as_it_is() -> None:
    for provider in providers_by_name().values():
        assert provider.connect or provider.base_url.startswith("http")
        assert provider.default_model or provider.local_port


def test_the_presets_own_model_is_preferred_to_the_first() -> None:
    known_provider = Provider("p", default_model="b")
    assert preferred_model(["a", "b"], known_provider) == "b"
    assert preferred_model(["embed-x", "a"], known_provider) == "a"
    assert preferred_model([], known_provider) == "b"


def test_listing_asks_the_server(tmp_path: Path) -> None:
    with ModelServer([], ["a"]) as server:
        found = choice(f"base_url={server.url}")
        assert asyncio.run(models_at(found.endpoint, settings())) == ["a"]


def write_settings(folder: Path, *lines: str) -> dict[str, str]:
    (folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    return {"ANDY_CONFIG_DIR": str(folder)}


def choose_with(environment: dict[str, str], model: str) -> Chosen:
    settings = load((), {"model": model}, environment)
    return asyncio.run(choose_model(settings, environment, NOBODY))


def test_the_address_of_the_settings_is_not_that_of_another_provider(tmp_path: Path) -> None:
    here = 'base_url = "http://127.0.0.1:9/v1"'
    keys = {**write_settings(tmp_path, here, 'model = "m"'), "ANTHROPIC_API_KEY": "a"}
    other = choose_with(keys, "anthropic:claude-x").endpoint
    assert (other.base_url, other.key) == (providers_by_name()["anthropic"].base_url, "a")
    assert choose_with(keys, "local:smollm2").endpoint.base_url == ""
    for name in ("n", "openai:n"):  # whoever speaks its chat API
        assert choose_with(keys, name).endpoint.base_url == "http://127.0.0.1:9/v1"


def test_the_address_of_the_settings_is_that_of_the_provider_beside_it(tmp_path: Path) -> None:
    there = write_settings(tmp_path, 'base_url = "http://127.0.0.1:9/v1"', 'model = "vllm:m"')
    assert choose_with(there, "vllm:n").endpoint.base_url == "http://127.0.0.1:9/v1"
    both = load((), {"model": "groq:n", "base_url": "http://127.0.0.1:9/v1"}, there)
    chosen = asyncio.run(choose_model(both, there, NOBODY))
    assert chosen.endpoint.base_url == "http://127.0.0.1:9/v1"  # whoever says both means both


def test_a_key_that_the_settings_name_stays_with_their_address(tmp_path: Path) -> None:
    mine = ('base_url = "http://127.0.0.1:9/v1"', 'api_key_env = "MINE"', 'model = "openai:m"')
    there = {**write_settings(tmp_path, *mine), "ANTHROPIC_API_KEY": "a", "MINE": "secret"}
    assert choose_with(there, "openai:n").endpoint.key == "secret"
    assert choose_with(there, "anthropic:x").endpoint.key == "a"
    assert choose_with({**there, "MINE": ""}, "local:smollm2").endpoint.base_url == ""
    elsewhere = load((), {"base_url": "http://127.0.0.1:8/v1"}, there)
    assert asyncio.run(choose_model(elsewhere, there, NOBODY)).endpoint.key == ""
    named = load((), {"model": "groq:x", "api_key_env": "MINE"}, there)
    assert asyncio.run(choose_model(named, there, NOBODY)).endpoint.key == "secret"


def test_a_key_of_a_provider_is_not_for_an_address_that_is_named_later(tmp_path: Path) -> None:
    keys = {**write_settings(tmp_path, 'model = "groq:x"'), "GROQ_API_KEY": "g"}
    flags = load((), {"base_url": "http://127.0.0.1:9/v1"}, keys)
    endpoint = asyncio.run(choose_model(flags, keys, NOBODY)).endpoint
    assert (endpoint.provider, endpoint.model, endpoint.key) == ("openai", "x", "")


def test_the_server_of_an_address_that_is_not_used_gets_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "o")
    with ModelServer([]) as server:
        there = write_settings(tmp_path, f'base_url = "{server.url}"', 'model = "vllm:m"')
        flags = load((), {"model": "anthropic:x"}, there)
        found = asyncio.run(ask_addressed_server(flags))
        assert found is not None
        assert found.listing.models == ["m"]
        assert "authorization" not in server.others[-1].headers
