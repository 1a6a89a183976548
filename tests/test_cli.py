"""The other commands, from a shell."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.model_server import ModelServer
from tests.shell import andy

TOOL = {
    "type": "function",
    "function": {
        "name": "play",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


def test_the_version_answers(tmp_path: Path) -> None:
    assert andy("--version", home=tmp_path).out == "andy 0.2.0\n"


def test_help_names_the_commands_and_the_exit_codes(tmp_path: Path) -> None:
    text = andy("--help", home=tmp_path).out
    for word in ("chat", "run", "tools", "models", "debug", "Exit codes", "130"):
        assert word in text


@pytest.mark.parametrize("command", [["modles"], ["--nope"], ["run", "--nope"], ["tools", "info"]])
def test_a_command_line_that_does_not_fit_is_a_usage_error(
    command: list[str], tmp_path: Path
) -> None:
    done = andy(*command, home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            ("serve", "--upstream", "local:smollm2", "--host", ""),
            "--host is empty. Give",
        ),
        (("mcp", "test", "nosuch"), "There is no server 'nosuch'. There are none."),
        (("replay", "."), "There is no capture in '.'. They are made with ANDY_DEBUG_RAW."),
    ],
)
def test_what_is_empty_is_said_to_be(command: Sequence[str], told: str, tmp_path: Path) -> None:
    done = andy(*command, home=tmp_path, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert told in " ".join(done.err.split())


def test_tools_are_listed_for_people_and_for_programs(tmp_path: Path) -> None:
    records = json.loads(andy("tools", "list", "--json", home=tmp_path).out)
    assert {"list_mp3s", "play_mp3", "stop_mp3"} <= {each["name"] for each in records}
    assert all(set(each) == {"name", "description", "parameters", "effect"} for each in records)
    assert "list_mp3s" in andy("tools", "list", home=tmp_path).out


def test_the_list_of_tools_begins_with_the_users_own_and_says_once_what_the_rest_needs(
    tmp_path: Path,
) -> None:
    file = tmp_path / "tally.py"
    file.write_text(
        "from andy_cli.toolbox.tool import tool\n\n\n"
        '@tool(effect="read", action="tally")\n'
        'def tally() -> int:\n    """Tally."""\n    return 1\n'
    )
    assert andy("tools", "add", str(file), home=tmp_path).code == 0
    listed = andy("tools", "list", home=tmp_path).out
    assert listed.splitlines()[1].startswith("tally ")
    assert (listed.count("Google is not connected"), "end_turn" in listed) == (1, False)
    assert "gmail_send" in listed


def test_a_tool_shows_its_parameters(tmp_path: Path) -> None:
    text = andy("tools", "info", "play_mp3", home=tmp_path).out
    assert "file" in text
    assert "required" in text
    assert andy("tools", "info", "nope", home=tmp_path).code == 2
    other_name = andy("tools", "info", "Bash", home=tmp_path)
    assert (other_name.code, other_name.out) == (2, "")
    assert "Did you mean terminal_execute?" in other_name.err


def test_models_are_listed_with_what_is_used_and_why(tmp_path: Path) -> None:
    listed = andy("models", "list", "--json", home=tmp_path, OPENAI_API_KEY="x")
    used = [each for each in json.loads(listed.out) if each["used"]]
    assert [each["name"].partition(":")[0] for each in used] == ["openai"]
    assert "OPENAI_API_KEY" in used[0]["why"]


def test_models_without_a_command_are_listed(tmp_path: Path) -> None:
    listed = andy("models", "list", home=tmp_path, OPENAI_API_KEY="x")
    alone = andy("models", home=tmp_path, OPENAI_API_KEY="x")
    assert (alone.code, alone.out) == (0, listed.out)
    assert "* is used" in alone.out


def test_why_a_model_that_is_named_cannot_be_used_is_said_below_the_list(tmp_path: Path) -> None:
    for words in (("-m", "fake", "models", "list"), ("models", "list", "-m", "fake")):
        listed = andy(*words, home=tmp_path)
        assert (listed.code, "local:smollm2" in listed.out) == (0, True)
        assert "There is no provider for the model 'fake' here" in listed.out


def test_the_default_model_is_kept_and_shown(tmp_path: Path) -> None:
    assert andy("models", "default", "ollama:qwen3:8b", home=tmp_path).code == 0
    shown = andy("models", "default", home=tmp_path).out
    assert "ollama:qwen3:8b" in shown
    assert "config.toml" in shown


def test_a_default_that_cannot_be_used_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    assert andy("models", "default", "ollama:qwen3:8b", home=tmp_path).code == 0
    for name, problem in (
        ("nosuch:xx", "no provider for the model 'nosuch:xx' here: no server"),
        ("local:/nonexistent.gguf", "There is no file /nonexistent.gguf."),
        ("anthropic:claude-x", "anthropic needs a key"),
    ):
        refused = andy("models", "default", name, home=tmp_path)
        assert (refused.code, refused.out) == (2, ""), refused.out
        assert problem in " ".join(refused.err.split())
        assert "ollama:qwen3:8b" in andy("models", "default", home=tmp_path).out


def test_saving_a_default_keeps_the_comments_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "andy" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n[network]\nidle_timeout = 5 # short\n")
    assert andy("models", "default", "vllm:m", home=tmp_path).code == 0
    assert "# mine" in path.read_text()
    assert "# short" in path.read_text()


def test_a_default_of_another_provider_takes_the_address_out(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "andy" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('base_url = "http://127.0.0.1:9/v1"\napi_key_env = "MINE"\nmodel = "vllm:m"\n')
    assert "taken out" not in andy("models", "default", "vllm:n", home=tmp_path).out
    told = andy("models", "default", "anthropic:claude-x", home=tmp_path, ANTHROPIC_API_KEY="x").out
    assert "base_url was that of another provider, and is taken out there." in told
    assert 'base_url = ""' in path.read_text()
    assert 'api_key_env = ""' in path.read_text()
    assert "anthropic needs a key" in andy("run", "hi", home=tmp_path).err


def test_compile_reads_lines_and_survives_a_bad_one(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": 1, "text": "Sure.\nDEAR ANDYBOT, PLAY\npath: a", "tools": [TOOL]}),
        "nonsense",
        json.dumps({"id": 2, "chunks": ["Hel", "lo"]}),
    ]
    done = andy("debug", "compile", home=tmp_path, stdin="\ufeff" + "\r\n".join(lines))
    first, bad, last = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 1
    assert first["calls"] == [{"name": "play", "arguments": {"path": "a"}}]
    assert (first["content"], first["dialect"], first["incomplete"]) == ("Sure.", "andybot", False)
    assert bad["id"] is None
    assert bad["error"]
    assert (last["id"], last["content"], last["calls"]) == (2, "Hello", [])


@pytest.mark.parametrize("cut", [["--chunk", "1"], ["--chunk", "3"], ["--chunk-seed", "7"]])
def test_compile_does_not_depend_on_the_cuts(cut: list[str], tmp_path: Path) -> None:
    line = json.dumps({"id": 1, "text": "A `b`\nDEAR ANDYBOT, PLAY", "tools": [TOOL]})
    whole = andy("debug", "compile", home=tmp_path, stdin=line)
    assert andy("debug", "compile", *cut, home=tmp_path, stdin=line) == whole


def list_models(home: Path, *arguments: str) -> str:
    done = andy("models", "list", "--set", "network.scan=false", *arguments, home=home)
    assert done.code == 0
    return done.out


def test_the_models_of_the_server_that_is_set_are_listed_beside_those_of_another_provider(
    tmp_path: Path,
) -> None:
    with ModelServer([], models=("fake",)) as server:
        assert andy("config", "set", "base_url", server.url, home=tmp_path).code == 0
        listed = list_models(tmp_path, "--model", "local:smollm2")
        assert f"openai:fake    {server.url}\n" in listed
    assert "*  local:smollm2" in listed
    assert "cannot be used" not in listed


def test_the_models_of_the_server_that_is_set_are_listed(tmp_path: Path) -> None:
    with ModelServer([], models=("fake", "gpt-4o")) as server:
        at_server = ("--base-url", server.url, "--model")
        listed = list_models(tmp_path, *at_server, "fake")
        assert f"*  openai:fake    {server.url}\n" in listed
        assert f"   openai:gpt-4o  {server.url}\n" in listed
        listed = list_models(tmp_path, *at_server, "nosuch")
        assert f"   openai:fake    {server.url}\n" in listed
        assert "*" not in listed
        assert f"openai:nosuch cannot be used: {server.url} does not have it.\n" in listed
        as_json = andy("models", "list", *at_server, "nosuch", "--json", home=tmp_path)
    rows = json.loads(as_json.out)
    assert "andy: openai:nosuch cannot be used: " in as_json.err
    assert [row["name"] for row in rows if row["used"]] == []
    assert {"openai:fake", "openai:gpt-4o"} <= {row["name"] for row in rows}


@pytest.mark.parametrize(
    ("model", "subject"), [(("--model", "fake"), "openai:fake"), ((), "What is set")]
)
def test_a_model_of_a_server_that_is_not_there_is_not_listed(
    tmp_path: Path, model: tuple[str, ...], subject: str
) -> None:
    address = "http://127.0.0.1:9/v1"
    listed = list_models(tmp_path, "--base-url", address, *model)
    assert "*" not in listed
    assert f"{subject} cannot be used: cannot reach {address}: connection refused.\n" in listed
