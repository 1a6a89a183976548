"""What `andy` does with a command line: a chat, a task, a command, a suggestion."""

import ast
import inspect
import json
import signal
import time
from importlib import import_module
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from andy_cli import cli
from andy_cli.cli import app, commands
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_controller import is_command
from andy_cli.frontends.command_line.command_routing import route_command
from tests.cases import loop_over
from tests.model_server import ModelServer, refused, status, streamed
from tests.shell import andy, start_andy
from tests.terminal import Terminal

HERE = ("-m", "m", "--base-url", "http://127.0.0.1:1/v1")
"""Nobody listens there."""


def test_all_commands_are_known_with_their_own() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    names = {
        name: set(each.commands) if isinstance(each, TyperGroup) else set()
        for name, each in group.commands.items()
    }
    assert {name: set(own) for name, own in commands().items()} == names


def test_every_command_leads_to_a_function_that_takes_its_values() -> None:
    targets = 0
    for node in ast.parse(Path(cli.__file__).read_text(encoding="utf-8")).body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "command":
                assert isinstance(node, ast.FunctionDef)
                module, _, name = ast.literal_eval(decorator.args[2]).rpartition(".")
                target = getattr(import_module(f"andy_cli.frontends.{module}"), name)
                values = [parameter.arg for parameter in node.args.args]
                inspect.signature(target).bind(**dict.fromkeys(values))
                targets += 1
    assert targets > 30


@loop_over(
    ("line", "typed", "piped"),
    [
        ([], ["chat"], ["run"]),
        (["say hi"], ["chat", "--", "say hi"], ["run", "--", "say hi"]),
        (["hello"], ["chat", "--", "hello"], ["run", "--", "hello"]),
        (["tell", "me", "a", "joke"], ["chat", "--", "tell me a joke"], None),
        (["-m", "x"], ["chat", "-m", "x"], ["run", "-m", "x"]),
        (["--base-url=u", "hi there"], ["chat", "--base-url=u", "--", "hi there"], None),
        (["hi there", "-y", "--plain"], ["chat", "-y", "--plain", "--", "hi there"], None),
        (["-p", "hi"], ["run", "--", "hi"], ["run", "--", "hi"]),
        (["-p", "run"], ["run", "--", "run"], None),
        (["-p", "models"], ["run", "--", "models"], None),
        (["models", "-p"], ["models", "-p"], None),
        (["hi", "--print", "-o", "json"], ["run", "-o", "json", "--", "hi"], None),
        (["-p", "-o", "json", "hi"], ["run", "-o", "json", "--", "hi"], None),
        (["-p"], ["run"], ["run"]),
        (["--prompt", "hi"], ["run", "--prompt", "hi"], None),
        (["-o", "json", "what is this?"], ["run", "-o", "json", "--", "what is this?"], None),
        (["-"], ["chat", "--", "-"], ["run", "--", "-"]),
        (["-m", "x", "run", "do it"], ["run", "-m", "x", "do it"], None),
        (["-m", "x", "models", "list"], ["models", "list", "-m", "x"], None),
        (["tools", "list", "--json"], ["tools", "list", "--json"], None),
        (["tools"], ["tools"], None),
        (["--", "models"], ["chat", "--", "models"], None),
        (["chat", "modles"], ["chat", "modles"], None),
        (["help"], ["--help"], None),
        (["help", "models", "list"], ["models", "list", "--help"], None),
        (["help", "me", "write"], ["chat", "--", "help me write"], None),
        (["-m", "x", "--help"], ["--help"], None),
        (["hi", "--version"], ["--version"], None),
        (["--nope", "hi"], ["chat", "--nope", "hi"], None),
        (["run", "tests", "please"], ["run", "tests", "please"], None),
        (["show", "tools"], ["chat", "--", "show tools"], None),
        (["tolls are high", "here"], ["chat", "--", "tolls are high here"], None),
        (["más"], ["chat", "--", "más"], None),
    ],
    ids=str,
)
def test_a_line_is_taken_as_its_writer_means_it(
    line: list[str], typed: list[str], piped: list[str] | None
) -> None:
    assert route_command(line, commands(), typed=True) == typed
    if piped is not None:
        assert route_command(line, commands(), typed=False) == piped


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["modles"], "andy models"),
        (["Models"], "andy models"),
        (["tool"], "andy tools"),
        (["rnu"], "andy run"),
        (["cht"], "andy chat"),
        (["replya"], "andy replay"),
        (["server"], "andy serve"),
        (["modles", "list"], "andy models list"),
        (["rnu", "hi"], "andy run"),
        (["modles", "lst", "--json"], "andy models list"),
        (["tool", "--json"], "andy tools"),
        (["rnu", "list my music"], "andy run"),
        (["-m", "x", "rnu"], "andy run"),
    ],
    ids=str,
)
def test_a_misspelt_command_is_suggested_and_starts_nothing(line: list[str], meant: str) -> None:
    with pytest.raises(UsageError) as raised:
        route_command(line, commands(), typed=True)
    assert f"Did you mean `{meant}`?" in raised.value.hint


def test_a_misspelt_command_is_two_lines_on_stderr(home: Path) -> None:
    done = andy("modles", home=home)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "andy: There is no command 'modles'.\n"
        "  Did you mean `andy models`? To say it to a model: andy chat modles\n"
    )


def test_piped_text_without_a_command_is_a_task(home: Path) -> None:
    with ModelServer([streamed("Hello.")] * 3) as server:
        to = ("--base-url", server.url, "-m", "m")
        assert andy(*to, home=home, stdin="hi\n").out == "Hello.\n"
        assert andy(*to, "sum up", home=home, stdin="text\n").out == "Hello.\n"
        done = andy("-p", *to, "-o", "json", "models", home=home, stdin="")
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert asked[0] == "hi"
    assert asked[1].startswith("sum up\n")
    assert asked[2] == "models"
    assert json.loads(done.out)["result"] == "Hello."


def test_nothing_piped_and_nobody_typing_is_told_what_to_do(home: Path) -> None:
    done = andy(home=home)
    assert (done.code, done.out) == (2, "")
    assert "There is no task." in done.err
    assert "andy run" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("words", [["say hi"], ["hello"], ["say", "hi", "now"], ["--", "models"]])
def test_a_prompt_begins_the_chat(words: list[str], home: Path) -> None:
    with (
        ModelServer([streamed("Hello."), streamed("Again.")]) as server,
        Terminal("--base-url", server.url, "-m", "m", *words, HOME=str(home)) as terminal,
    ):
        assert "Hello." in terminal.prompts()
        terminal.type("more\r")
        assert "Again." in terminal.prompts()
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert asked == [" ".join(words).removeprefix("-- "), "more"]


@pytest.mark.slow
@pytest.mark.parametrize("way", [["-p", "say hi"], ["say hi", "--print"], ["--prompt", "say hi"]])
def test_print_is_one_task_on_a_terminal_too(way: list[str], home: Path) -> None:
    with (
        ModelServer([streamed("Hello.")]) as server,
        Terminal("--base-url", server.url, "-m", "m", *way, HOME=str(home)) as terminal,
    ):
        assert terminal.leaves() == 0
        assert terminal.text == "Hello."


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/help", True),
        ("/model x/y", True),
        ("/export ~/a.md", True),
        ("/nope", True),
        ("/", True),
        ("/etc/hosts is odd, why?", False),
        ("/etc/hosts", False),
        ("/usr/bin/env\nwhat is it?", False),
        ("//host/share is slow", False),
        ("look at /etc/hosts", False),
    ],
)
def test_only_a_name_behind_the_slash_is_a_command(line: str, command: bool) -> None:
    assert is_command(line) is command


def test_a_message_that_begins_with_a_path_is_said_to_the_model(home: Path) -> None:
    with ModelServer([streamed("Odd indeed.")]) as server:
        to = ("--base-url", server.url, "-m", "m", "--plain")
        lines = "/etc/hosts is odd, why?\n/nope/\n/nope\n"
        done = andy("chat", *to, home=home, stdin=lines)
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert asked == ["/etc/hosts is odd, why?", "/nope/"]
    assert "There is no /nope." in done.out


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "stream-json"])
@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "kind", "subtype"),
    [
        (["hi", "--set", "nope=1"], None, 2, "usage", "error_usage"),
        ([], "", 2, "usage", "error_usage"),
        ([*HERE, "hi", "--permission-mode", "nope"], None, 2, "usage", "error_usage"),
        (["hi", "--model", "openai:x"], None, 77, "auth", "error_provider"),
        ([*HERE, "hi"], None, 75, "", "error_provider"),
    ],
)
def test_a_failure_in_json_says_its_kind_and_what_to_do(
    format: str,
    arguments: list[str],
    stdin: str | None,
    code: int,
    kind: str,
    subtype: str,
    home: Path,
) -> None:
    quick = ("--set", "network.tries=1")
    done = andy("run", "-o", format, *quick, *arguments, home=home, stdin=stdin)
    result = json.loads(done.out.splitlines()[-1])
    assert (done.code, result["exit_code"], result["subtype"]) == (code, code, subtype)
    assert result["is_error"] is True
    assert set(result["error"]) == {"kind", "message", "hint"}
    assert result["error"]["message"]
    assert result["error"]["message"] in done.err
    assert result["error"]["kind"] == kind or not kind


def test_a_refusal_of_the_server_is_in_the_json_too(home: Path) -> None:
    with ModelServer([refused(401, "no such key")]) as server:
        done = andy("run", "-o", "json", "--base-url", server.url, "-m", "m", "hi", home=home)
    result = json.loads(done.out)
    assert (done.code, result["error"]["kind"]) == (77, "auth")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_says_so_in_json(
    number: signal.Signals, code: int, home: Path
) -> None:
    with ModelServer([[status(), {"op": "stall"}]]) as server:
        words = ("run", "-o", "json", "--base-url", server.url, "--model", "m", "hi")
        child = start_andy(*words, home=home)
        while not server.requests:
            time.sleep(0.01)
        child.send_signal(number)
        out, err = child.communicate(timeout=10)
    result = json.loads(out)
    assert (child.returncode, result["exit_code"], result["subtype"]) == (
        code,
        code,
        "error_cancelled",
    )
    assert result["error"]["kind"] == "cancelled"
    assert result["session_id"]
    assert "Traceback" not in err


def every_command() -> list[list[str]]:
    return [
        [],
        *([name] for name in commands()),
        *([n, o] for n, own in commands().items() for o in own),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 132])
def test_help_is_whole_in_any_width(columns: int) -> None:
    for words in every_command():
        done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": str(columns)})
        assert done.exit_code == 0
        assert max(map(len, done.output.splitlines())) <= columns, words
        flat = "".join(done.output.split())
        for description in descriptions(words):
            assert "".join(description.split()) in flat, words


def test_help_on_a_narrow_terminal_cuts_no_word(home: Path) -> None:
    told = andy("serve", "--help", home=home, COLUMNS="40").out
    assert {"Anthropic", "URL|PROVIDER:MODEL|local:MODEL", "$ANDY_SERVE_TOKEN)"} <= set(
        told.split()
    )


def descriptions(words: list[str]) -> list[str]:
    """Everything that the command, its parameters and its own commands say of themselves."""
    command = typer.main.get_command(app)
    for word in words:
        assert isinstance(command, TyperGroup)
        command = command.commands[word]
    assert isinstance(command, TyperGroup | TyperCommand)
    told = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
    if isinstance(command, TyperGroup):
        told += [each.help or "" for each in command.commands.values()]
    return told
