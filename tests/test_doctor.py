"""`andy doctor` from a shell, against real servers of models and of tools."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from tests.model_server import ModelServer, refused, streamed
from tests.shell import ROOT, Done, andy
from tests.web_server import WebServer, page

SECRET = "sk-proj-4Fh2kQ9xT7bLmZ0wYcRv8uNa"
QUIET = ("--set", "network.scan=false")


def findings(done: Done) -> dict[str, list[dict[str, str]]]:
    """What was found, by what it is about."""
    told = json.loads(done.out)
    assert (done.code == 0) is told["ok"]
    found: dict[str, list[dict[str, str]]] = {}
    for each in told["findings"]:
        found.setdefault(each["subject"], []).append(each)
    return found


def examine(home: Path, *arguments: str, **env: str) -> dict[str, list[dict[str, str]]]:
    return findings(andy("doctor", "--json", *QUIET, *arguments, home=home, cwd=home, **env))


def settings_file(home: Path, text: str) -> None:
    path = home / ".config" / "andy" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


def listing(context: int | None) -> dict[str, object]:
    """What a server tells of its one model."""
    row: dict[str, object] = {"id": "m"}
    if context:
        row["max_model_len"] = context
    return {"/v1/models": {"data": [row]}}


# No test asks the provider itself.
NOBODY = {"HTTPS_PROXY": "http://127.0.0.1:9"}


def test_all_is_well_where_a_server_answers(tmp_path: Path) -> None:
    with ModelServer([streamed("unused")], facts=listing(32_000)) as server:
        to = ("--base-url", server.url, "--model", "m")
        keyed = {"OPENAI_API_KEY": SECRET, **NOBODY}
        done = andy("doctor", *QUIET, *to, home=tmp_path, cwd=tmp_path, **keyed)
        assert not server.requests, "no model is asked to say anything"
    assert done.code == 0
    assert SECRET not in done.out + done.err
    assert "$OPENAI_API_KEY" in done.out
    assert "not set up: `andy google login` connects mail, " in done.out
    lines = done.out.splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "warn", "fix:"}
    (model,) = [line for line in lines if f"m at {server.url}" in line]
    assert model.startswith("ok")
    assert "ms, 1 model, dialect native, native tools tried when needed" in model


def test_a_window_that_our_prompt_does_not_fit_fails(tmp_path: Path) -> None:
    for context, grade in ((1500, "fail"), (200_000, "ok")):
        with ModelServer([streamed("unused")], facts=listing(context)) as server:
            to = ("--base-url", server.url, "--model", "m")
            (found,) = examine(tmp_path, *to)["model openai"]
        assert (found["grade"], f"context window {context}" in found["message"]) == (grade, True)


def test_every_unknown_setting_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    settings_file(
        tmp_path, 'modle = "m"\n[limits]\nroundz = 3\ncalls = 9\n[guard]\nmode = "plan"\n'
    )
    done = andy("doctor", "--json", *QUIET, "-m", "x", home=tmp_path, cwd=tmp_path)
    found = findings(done)
    assert done.code == 1
    first, second = (each["message"] for each in found["settings"])
    assert "Did you mean model?" in first
    assert "Did you mean limits.rounds?" in second
    assert {each["fix"] for each in found["settings"]} == {"andy config edit"}
    # What is right in the file holds.
    assert "mode plan" in found["rules"][0]["message"]


def test_a_dialect_that_is_none_leaves_the_rest_to_be_looked_at(tmp_path: Path) -> None:
    assert andy("config", "set", "dialect", "hermse", home=tmp_path).code == 2
    with ModelServer([streamed("unused")], facts=listing(32_000)) as server:
        to = ("--base-url", server.url, "-m", "m")
        found = examine(tmp_path, *to, **NOBODY, ANDY_DIALECT="hermse")
        settings_file(tmp_path, 'dialect = "hermse"\n')
        found_in_file = examine(tmp_path, *to, **NOBODY)
    (finding,), (finding_in_file,) = found["settings"], found_in_file["settings"]
    assert finding["message"].startswith("$ANDY_DIALECT: there is no dialect 'hermse'.")
    assert (finding["grade"], finding["fix"]) == ("fail", "unset ANDY_DIALECT")
    assert "config.toml: there is no dialect" in finding_in_file["message"]
    assert finding_in_file["fix"] == "andy config edit"
    assert found["model openai"][0]["grade"] == "ok"


@pytest.mark.parametrize(
    ("name", "told_name"),
    [("GROQ_API_KEY", "$GROQ_API_KEY"), ("MY_KEY", "none in the environment")],
)
def test_kept_keys_that_others_may_read_are_warned_of(
    tmp_path: Path, name: str, told_name: str
) -> None:
    file = tmp_path / ".config" / "andy" / "secrets.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'{name} = "gsk_x"\n')
    for mode, told, fix in ((0o644, "warn", f"chmod 600 {file}"), (0o600, "ok", "")):
        file.chmod(mode)
        found = examine(tmp_path, "-m", "groq:x", **NOBODY)
        (finding,) = found["keys"]
        assert (finding["grade"], finding["fix"]) == (told, fix)
        assert finding["message"].partition(";")[0] == told_name


def test_kept_keys_that_cannot_be_read_leave_the_rest_to_be_looked_at(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "andy" / "secrets.toml"
    path.parent.mkdir(parents=True)
    path.write_text("OPENAI_API_KEY = sk-x\n")
    found = examine(tmp_path, "-m", "x")
    (finding,) = found["keys"]
    assert (finding["grade"], "(at line 1" in finding["message"]) == ("fail", True)
    assert finding["fix"] == f"${{EDITOR:-vi}} {path}"
    assert found["state"][0]["grade"] == "ok"


def test_settings_that_are_no_toml_leave_the_rest_to_be_looked_at(tmp_path: Path) -> None:
    settings_file(tmp_path, "model = [")
    with ModelServer([streamed("unused")], facts=listing(32_000)) as server:
        found = examine(tmp_path, "--base-url", server.url, "-m", "m", **NOBODY)
    assert found["settings"][0]["grade"] == "fail"
    assert "m at http" in found["model openai"][0]["message"], "flags count all the same"
    assert found["model openai"][0]["grade"] == "ok"
    assert found["state"][0]["grade"] == "ok"


@pytest.mark.parametrize(
    ("text", "subject"),
    [('mode = "nope"', "settings"), ('deny = "Bash(git *"', "rules")],
)
def test_a_fault_in_a_file_of_the_project_names_it(text: str, subject: str, tmp_path: Path) -> None:
    file = tmp_path / ".andy" / "config.toml"
    file.parent.mkdir()
    file.write_text(f"[guard]\n{text}\n")
    assert andy("trust", home=tmp_path, cwd=tmp_path).code == 0
    (finding,) = examine(tmp_path, "-m", "x")[subject]
    assert finding["message"].startswith(f"{file}: guard.")
    assert (finding["grade"], finding["fix"]) == ("fail", f"${{EDITOR:-vi}} {file}")
    done = andy(
        "run", "hi", "-m", "x", "--base-url", "http://127.0.0.1:9/v1", home=tmp_path, cwd=tmp_path
    )
    assert (done.code, f"{file}: guard." in done.err) == (2, True)


def test_rules_that_never_match_are_named(tmp_path: Path) -> None:
    settings_file(tmp_path, '[guard]\nallow = ["writ_file"]\n')
    (found,) = examine(tmp_path, "-m", "x")["rules"]
    assert (found["grade"], found["fix"]) == ("warn", "andy config edit")
    assert "writ_file" in found["message"]


def test_a_server_that_is_not_there_fails_with_how_to_start_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    to = ("--base-url", f"http://127.0.0.1:{port}/v1", "--model", "ollama:m")
    (found,) = examine(tmp_path, *to)["model ollama"]
    assert (found["grade"], found["fix"]) == ("fail", "ollama serve")


def test_a_model_that_a_server_does_not_have_fails(tmp_path: Path) -> None:
    with ModelServer([streamed("unused")]) as server:
        to = ("--base-url", server.url, "--model", "ollama:other")
        (found,) = examine(tmp_path, *to)["model ollama"]
    assert (found["grade"], found["fix"]) == ("fail", "ollama pull other")


@pytest.mark.slow
@pytest.mark.parametrize("tools", [True, False])
def test_what_was_learned_of_native_tools_is_told(tools: bool, tmp_path: Path) -> None:
    no = refused(400, "m does not support tools")
    with ModelServer(
        lambda request: no if "tools" in request.body and not tools else streamed("Hello")
    ) as server:
        to = ("--base-url", server.url, "--model", "m")
        assert andy("run", *to, "hi", home=tmp_path, cwd=tmp_path).code == 0
        (found,) = examine(tmp_path, *to)["model openai"]
    refusal = "refuses native tools" in found["message"]
    assert refusal is not tools


@pytest.mark.slow
def test_a_server_that_never_answers_is_given_five_seconds(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        to = ("--base-url", f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "--model", "m")
        (found,) = examine(tmp_path, *to)["model openai"]
    assert found["grade"] == "fail"


@pytest.mark.slow
def test_mcp_servers_are_tried_one_by_one(tmp_path: Path) -> None:
    ours = {"command": sys.executable, "args": ["-m", "tests.memory_server"]}
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    entries = {
        "good": {**ours, "env": env},
        "late": {**ours, "env": {**env, "SLOW": "60"}},
        "gone": {"command": "no-such-program"},
    }
    path = tmp_path / ".config" / "andy" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"mcpServers": entries}))
    found = examine(tmp_path, "-m", "x")
    grades = {name: found[f"mcp {name}"][0]["grade"] for name in entries}
    assert grades == {"good": "ok", "late": "fail", "gone": "fail"}
    assert "tools, " in found["mcp good"][0]["message"]
    assert found["mcp gone"][0]["fix"] == f"${{EDITOR:-vi}} {path}"


def test_a_state_folder_that_cannot_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = examine(tmp_path, "-m", "x", XDG_STATE_HOME=str(tmp_path / "file"))
    assert found["state"][0]["grade"] == "fail"
    assert found["data"][0]["grade"] == "ok"


@pytest.mark.slow
def test_a_provider_that_cannot_be_reached_fails_only_where_it_is_used(tmp_path: Path) -> None:
    (used,) = examine(tmp_path, OPENAI_API_KEY=SECRET, **NOBODY)["model openai"]
    assert (used["grade"], "curl -i https://api.openai.com/v1/models") == ("fail", used["fix"])
    with ModelServer([streamed("unused")]) as server:
        to = ("--base-url", server.url, "--model", "m")
        found = examine(tmp_path, *to, GROQ_API_KEY=SECRET, **NOBODY)
    assert found["model openai"][0]["grade"] == "ok"
    assert found["model groq"][0]["grade"] == "warn"


def test_a_key_that_is_refused_names_its_variable(tmp_path: Path) -> None:
    with WebServer(lambda _: page("", status=401)) as server:
        to = ("--base-url", f"{server.url}/v1", "--model", "m")
        (found,) = examine(tmp_path, *to, "--api-key-env", "MY_KEY", MY_KEY=SECRET)["model openai"]
    assert (found["grade"], found["fix"]) == ("fail", "export MY_KEY=...")


def test_what_a_project_says_and_may_not_say_yet_is_told(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    (tmp_path / ".andy").mkdir()
    (tmp_path / ".andy" / "config.toml").write_text('model = "theirs"\n')
    found = examine(tmp_path, "-m", "x")
    for subject in ("settings", "instructions"):
        assert [(each["grade"], each["fix"]) for each in found[subject]] == [("warn", "andy trust")]
    assert andy("trust", home=tmp_path, cwd=tmp_path).code == 0
    found = examine(tmp_path, "-m", "x")
    assert [(each["grade"], each["message"]) for each in found["instructions"]] == [
        ("ok", "AGENTS.md")
    ]
    (told,) = found["settings"]
    assert (told["grade"], told["fix"]) == ("warn", "")
    assert "may not set model" in told["message"]
