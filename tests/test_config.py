"""`andy config` from a shell."""

import errno
import json
import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest

from andy_cli import settings
from andy_cli.errors import UsageError
from andy_cli.guard.gate import Mode
from andy_cli.settings import BY_KEY, load
from tests.model_server import ModelServer, streamed
from tests.shell import andy

SECRET = "sk-proj-4Fh2kQ9xT7bLmZ0wYcRv8uNa"


def own_file(home: Path, text: str = "") -> Path:
    path = home / ".config" / "andy" / "config.toml"
    if text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path


def test_every_setting_is_shown_with_where_it_comes_from(tmp_path: Path) -> None:
    path = own_file(tmp_path, 'model = "m"\n[custom.draw]\ncommand = "convert {file} o.png"\n')
    given = ("--json", "--set", "limits.rounds=3")
    done = andy("config", "show", *given, home=tmp_path, ANDY_MODE="plan")
    shown = {each["key"]: (each["value"], each["origin"]) for each in json.loads(done.out)}
    assert shown["model"] == ("m", str(path))
    assert shown["custom.draw.command"] == ("convert {file} o.png", str(path))
    assert shown["guard.mode"] == ("plan", "$ANDY_MODE")
    assert shown["limits.rounds"] == (3, "--set")
    assert shown["network.tries"] == (4, "default")
    lines = andy("config", "show", home=tmp_path).out.splitlines()
    assert ["model", "m", str(path)] in [line.split() for line in lines]


UNITS = {"calls", "kilobytes", "megabytes", "rounds", "seconds", "times", "tokens"}


def test_a_number_is_shown_with_its_unit(tmp_path: Path) -> None:
    units = {setting.unit for setting in BY_KEY.values()}
    assert units == {"", *UNITS}
    own_file(tmp_path, "[web]\nidle_timeout = 2.5\n")
    lines = andy("config", "show", home=tmp_path).out.splitlines()
    shown = {line.split()[0]: line.split()[1:-1] for line in lines}
    assert shown["network.connect_timeout"] == ["10", "seconds"]
    assert shown["web.idle_timeout"] == ["2.5", "seconds"]
    assert shown["web.largest_file"] == ["4000", "megabytes"]
    assert shown["ui.plain"] == ["false"]
    assert andy("config", "get", "web.largest_file", home=tmp_path).out == "4000\n"


def test_hosts_may_stand_in_a_list(home: Path) -> None:
    own_file(home, '[web]\ntrusted = ["a.example", "b.example:8080"]\n')
    assert load().text("web.trusted") == "a.example, b.example:8080"


@pytest.mark.slow
def test_no_secret_in_a_setting_is_shown(tmp_path: Path) -> None:
    own_file(
        tmp_path,
        f'base_url = "http://me:hunter22@h.example/v1"\n'
        f"[custom.send]\ncommand = \"curl -H 'Authorization: Bearer {SECRET}' h.example\"\n",
    )
    for arguments in (["show"], ["show", "--json"], ["get", "base_url"]):
        done = andy("config", *arguments, home=tmp_path)
        assert done.code == 0
        assert "h.example" in done.out
        assert "hunter22" not in done.out
        assert SECRET not in done.out


def test_a_value_that_is_set_is_in_the_file_and_in_force(tmp_path: Path) -> None:
    path = own_file(tmp_path, "# mine\n[limits]\ncalls = 7 # few\n")
    assert andy("config", "set", "limits.rounds", "5", home=tmp_path).out == f"Kept in {path}.\n"
    assert andy("config", "get", "limits.rounds", home=tmp_path).out == "5\n"
    assert "# mine" in path.read_text()
    assert "calls = 7 # few" in path.read_text()
    assert andy("config", "set", "guard.deny", "Bash(rm *):write_file", home=tmp_path).code == 0
    got = json.loads(andy("config", "get", "guard.deny", "--json", home=tmp_path).out)
    assert got == {"key": "guard.deny", "value": ["Bash(rm *)", "write_file"], "origin": str(path)}
    several = "Bash(touch a (b:c)),Bash(mkdir *) Edit"
    assert andy("config", "set", "guard.deny", several, home=tmp_path).code == 0
    got = json.loads(andy("config", "get", "guard.deny", "--json", home=tmp_path).out)
    assert got["value"] == ["Bash(touch a (b:c))", "Bash(mkdir *)", "Edit"]


def test_what_comes_before_a_value_that_is_set_is_named(tmp_path: Path) -> None:
    done = andy("config", "set", "model", "b", home=tmp_path, ANDY_MODEL="a")
    assert done.code == 0
    assert "$ANDY_MODEL comes before it" in done.err


@pytest.mark.parametrize("command", [["get", "modle"], ["set", "modle", "x"]])
def test_a_misspelt_key_is_met_with_the_one_that_was_meant(
    command: list[str], tmp_path: Path
) -> None:
    done = andy("config", *command, home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "There is no setting 'modle'. Did you mean model?" in done.err
    assert not own_file(tmp_path).exists()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("limits.roundz", "Did you mean limits.rounds?"),
        ("rounds", "Did you mean limits.rounds?"),
        ("foo", "Nearest: trust.folders, music.folders."),
        ("idle", "Nearest: dialect, guard.mode, network.idle_timeout."),
    ],
)
def test_a_key_that_is_none_is_met_with_a_few_and_with_how_to_list_all(key: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load([f"{key}=bar"])
    everything = "`andy config show` lists all settings."
    assert str(caught.value) == f"--set: there is no setting {key!r}. {said} {everything}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "value", [["limits.rounds", "many"], ["guard.sandbox", "maybe"], ["api_key_env", SECRET]]
)
def test_what_does_not_fit_is_not_kept(value: list[str], tmp_path: Path) -> None:
    done = andy("config", "set", *value, home=tmp_path)
    assert done.code == 2
    assert not own_file(tmp_path).exists()
    assert SECRET not in done.err


def test_a_key_beneath_what_is_no_table_is_refused(tmp_path: Path) -> None:
    path = own_file(tmp_path, "limits = 5\n")
    done = andy("config", "set", "limits.rounds", "3", home=tmp_path)
    assert done.code == 2
    assert "limits is no table there" in done.err
    assert path.read_text() == "limits = 5\n"


@pytest.mark.slow
def test_an_editor_opens_the_file_and_what_it_wrote_is_checked(tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho "$1" >> "$2"\n')
    editor.chmod(0o755)
    path = own_file(tmp_path)
    done = andy("config", "edit", home=tmp_path, EDITOR=f"'{editor}' 'modle = 1'")
    assert done.code == 2
    assert "Did you mean model?" in done.err
    # What does not load can still be mended.
    mend = tmp_path / "mend"
    mend.write_text('#!/bin/sh\necho \'model = "m"\' > "$1"\n')
    mend.chmod(0o755)
    assert andy("config", "edit", home=tmp_path, VISUAL=str(mend), EDITOR="false").code == 0
    assert andy("config", "get", "model", home=tmp_path).out == "m\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_editor_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = andy("config", "edit", home=tmp_path, VISUAL="/nonexistent")
    assert (done.code, "cannot be edited by /nonexistent: No such file" in done.err) == (2, True)
    assert "$VISUAL" in done.err


def test_a_file_with_a_byte_order_mark_is_read_and_written(tmp_path: Path) -> None:
    own_file(tmp_path, '\ufeffmodel = "m"\n')
    assert andy("config", "get", "model", home=tmp_path).out == "m\n"
    assert andy("config", "set", "max_tokens", "7", home=tmp_path).code == 0
    assert andy("config", "get", "model", home=tmp_path).out == "m\n"


@pytest.mark.parametrize(("key", "value"), [("search.engine", "bing"), ("client", "x")])
def test_a_value_that_is_none_of_a_few_is_not_kept(key: str, value: str, tmp_path: Path) -> None:
    done = andy("config", "set", key, value, home=tmp_path)
    assert (done.code, f"not {value!r}" in done.err) == (2, True)


def test_settings_that_several_processes_keep_at_once_are_all_there(tmp_path: Path) -> None:
    commands = [f"custom.number{number}.command" for number in range(6)]
    with ThreadPoolExecutor() as pool:
        done = [*pool.map(lambda key: andy("config", "set", key, "ls", home=tmp_path), commands)]
    assert [each.code for each in done] == [0] * 6
    with own_file(tmp_path).open("rb") as file:
        assert len(tomllib.load(file)["custom"]) == 6
    assert [*own_file(tmp_path).parent.iterdir()] == [own_file(tmp_path)]


def test_a_value_is_kept_and_said_to_be_beside_one_that_is_wrong(tmp_path: Path) -> None:
    path = own_file(tmp_path, "[network]\nidle_timout = 5\n")
    for key, value in (("model", "m"), ("guard.deny", "Bash(rm *)")):
        done = andy("config", "set", key, value, home=tmp_path)
        assert (done.code, done.out) == (0, f"Kept in {path}.\n")
        assert "there is no setting 'network.idle_timout'. Did you mean" in done.err
    assert 'model = "m"' in path.read_text()


def test_tools_of_a_project_are_not_switched_off_in_the_settings_of_the_user(
    home: Path,
) -> None:
    project = home / "project"
    (project / ".andy").mkdir(parents=True)
    (project / ".andy" / "config.toml").write_text('[tools]\ndisabled = ["say"]\n')
    path = own_file(home, f"[trust]\nfolders = ['{project}']\n")
    assert andy("tools", "disable", "open_url", home=home, cwd=project).code == 0
    assert "say" not in path.read_text()
    done = andy("tools", "enable", "say", home=home, cwd=project)
    assert (done.code, "say stays off, by" in done.err) == (2, True)
    assert str(project / ".andy" / "config.toml") in done.err


def test_a_value_that_is_removed_is_the_default_again_and_comments_stay(home: Path) -> None:
    file = own_file(home, "# mine\nmodel = 'openai:x'  # large\n[ui]\nplain = true\nplane = 1\n")
    wrong = andy("config", "unset", "ui.plane", home=home)
    assert (wrong.code, wrong.out) == (0, f"Removed from {file}.\n")
    unset = andy("config", "unset", "ui.plain", home=home)
    assert (unset.code, unset.out) == (0, f"Removed from {file}.\nIt is false now (default).\n")
    assert file.read_text() == "# mine\nmodel = 'openai:x'  # large\n[ui]\n"
    assert andy("config", "unset", "ui", home=home).code == 2, "a table holds many"
    again = andy("config", "unset", "ui.plain", home=home)
    assert (again.code, again.err) == (2, f"andy: ui.plain does not stand in {file}.\n")
    misspelt = andy("config", "unset", "ui.plin", home=home)
    assert misspelt.code == 2
    assert "ui.plain" in misspelt.err


def test_where_the_file_is_needs_no_file(tmp_path: Path) -> None:
    assert andy("config", "path", home=tmp_path).out == f"{own_file(tmp_path)}\n"
    own_file(tmp_path, "modle = 1\n")
    told = json.loads(andy("config", "path", "--json", home=tmp_path).out)
    assert told == {"path": str(own_file(tmp_path)), "exists": True}


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("guard.mode", "wild", "guard.mode is ask, plan, edits or auto, not 'wild'."),
        ("guard.allow", "Foo(", "'Foo(' is no rule."),
        ("guard.deny", "Bash(ls *)", ""),
    ],
)
def test_what_nobody_could_follow_is_not_kept(key: str, value: str, told: str, home: Path) -> None:
    done = andy("config", "set", key, value, home=home)
    assert (done.code, told in done.err) == (2 if told else 0, True)
    kept = andy("config", "get", key, home=home).out.strip()
    assert (kept == value) == (not told)


def test_a_folder_of_the_xdg_variables_that_is_relative_counts_as_not_set(home: Path) -> None:
    """As their standard wants it: the sessions would lie in whatever folder one works in."""
    own_file(home, 'model = "nosuch"\n')
    assert andy("config", "get", "model", home=home, XDG_CONFIG_HOME=".").out == "nosuch\n"
    with ModelServer([streamed("Hello.")]) as server:
        flags = ("--base-url", server.url, "--model", "m", "--no-stdin")
        done = andy("run", *flags, "hi", home=home, cwd=home, XDG_STATE_HOME="state")
    assert done.out == "Hello.\n"
    assert len([*(home / ".local" / "state" / "andy" / "sessions").iterdir()]) == 1
    assert not (home / "state").exists()


def test_the_modes_that_may_be_set_are_those_of_the_gate() -> None:
    assert BY_KEY["guard.mode"].choices == get_args(Mode)


def test_a_chat_behind_a_pipe_ends_with_the_code_of_its_last_line(home: Path) -> None:
    done = andy("chat", "--model", "nosuch", home=home, stdin="hello\n")
    assert (done.code, "There is no provider for the model" in done.out + done.err) == (2, True)
    assert andy("chat", "--model", "nosuch", home=home, stdin="hello\n/mode\n").code == 0


def test_a_file_that_cannot_be_read_is_told_to_be_so_wherever_it_is_needed(home: Path) -> None:
    path = own_file(home, "model = 'm'\n\n[guard\n")
    for arguments in (("config", "set", "model", "fake"), ("chat",)):
        done = andy(*arguments, home=home, stdin="")
        assert done.code == 2
        assert f"{path} cannot be read: " in done.err
    assert path.read_text() == "model = 'm'\n\n[guard\n"


def test_what_cannot_be_written_is_told_without_the_name_of_a_draft(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own_file(home, "model = 'm'\n")
    monkeypatch.setattr(settings, "replace_file", refuse_to_write)
    with pytest.raises(UsageError) as caught:
        settings.save("model", "n")
    assert str(caught.value) == f"{path} cannot be written: Read-only file system."


def refuse_to_write(path: Path, text: str) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), f"{path}.new")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("guard.mode", "foo", "andy: guard.mode is ask, plan, edits or auto, not 'foo'."),
        ("limits.rounds", "0", "andy: limits.rounds is a whole number from 1 up, not '0'."),
    ],
)
def test_a_value_that_does_not_fit_is_refused_without_a_place(
    key: str, value: str, told: str, home: Path
) -> None:
    refused = andy("config", "set", key, value, home=home)
    assert (refused.code, refused.err.strip()) == (2, told)


def test_a_setting_that_is_nothing_by_default_is_empty_once_it_is_removed(home: Path) -> None:
    assert andy("config", "set", "search.url", "http://127.0.0.1:9", home=home).code == 0
    assert "It is empty now (default)." in andy("config", "unset", "search.url", home=home).out


def test_a_turn_of_no_rounds_is_refused_before_it_begins(home: Path) -> None:
    refused = andy("run", "hi", "--max-turns", "0", home=home)
    assert (
        refused.code,
        "--max-turns: limits.rounds is a whole number from 1 up" in refused.err,
    ) == (
        2,
        True,
    )
