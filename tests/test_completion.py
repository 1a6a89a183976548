"""What the shells offer at Tab, in the shells themselves."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.command_line.shell_completion import split_line
from andy_cli.messages import Message
from andy_cli.sessions.log import Log
from tests.cases import loop_over
from tests.shell import ANDY, ROOT, Done, andy, environment
from tests.terminal import Terminal

SHELLS = {
    "bash": ("--norc", "--noprofile", "-i"),
    "zsh": ("-f", "-i"),
    "fish": ("--private", "-i"),
}
START = {
    "bash": "PS1='$ '; . ~/.bashrc; bind 'set enable-bracketed-paste off'; echo be''gun\r",
    "zsh": "PS1='$ '; . ~/.zshrc; echo be''gun\r",
    "fish": "function fish_prompt; echo '$ '; end; function fish_right_prompt; end; echo be''gun\r",
}
TAKE_BACK = "\x15"
"""Ctrl+U: the line is empty again."""


@contextmanager
def typing(shell: str, home: Path) -> Iterator[Terminal]:
    """The shell in a home where completion is installed, in a folder with two files."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    done = andy("--install-completion", shell, home=home)
    assert (done.code, done.err) == (0, "")
    folder = home / "here"
    folder.mkdir(exist_ok=True)
    (folder / "songs of mine.txt").touch()
    # Without it a first fish reads all manual pages for a minute, beside the tests that follow.
    (home / ".local/share/fish/generated_completions").mkdir(parents=True, exist_ok=True)
    with Terminal(
        *SHELLS[shell],
        command=shell,
        folder=folder,
        columns=100,
        HOME=str(home),
        PATH=f"{ANDY.parent}:/usr/bin:/bin",
        ANDY_MODEL="ollama:qwen3:8b",
    ) as terminal:
        terminal.type(START[shell])
        terminal.sees("begun\n")
        yield terminal


def line(terminal: Terminal) -> str:
    """The command line as it stands."""
    return next((line for line in reversed(terminal.lines) if "andy" in line), "")


@pytest.fixture(params=SHELLS)
def terminal(request: pytest.FixtureRequest, home: Path) -> Iterator[Terminal]:
    """One shell for many lines, each of which is taken back."""
    assert andy("mcp", "add", "music", "--", "true", home=home).code == 0
    with typing(request.param, home) as terminal:
        yield terminal


@pytest.mark.slow
@loop_over(
    ("typed", "completed"),
    [
        ("andy mo", "andy models "),
        ("andy models pr", "andy models probe "),
        ("andy run --no-se", "andy run --no-session "),
        ("andy --permission-mode pl", "andy --permission-mode plan "),
        ("andy tools info list_mp", "andy tools info list_mp3s "),
        ("andy -m oll", "andy -m ollama:qwen3:8b "),
        ("andy run -m ollama:qw", "andy run -m ollama:qwen3:8b "),
        ("andy run --model=ollama:q", "andy run --model=ollama:qwen3:8b "),
        ("andy run --set limits.rou", "andy run --set limits.rounds="),
        ("andy docs add son", r"andy docs add songs\ of\ mine.txt"),
        ("andy chat --mcp-config son", r"andy chat --mcp-config songs\ of\ mine.txt"),
        ("andy mcp remove mus", "andy mcp remove music "),
    ],
)
def test_tab_completes_the_word(terminal: Terminal, typed: str, completed: str) -> None:
    terminal.type(f"{TAKE_BACK}{typed}\t")
    terminal.wait(lambda: completed.rstrip() in line(terminal), completed)
    terminal.type("_")
    terminal.wait(lambda: completed + "_" in line(terminal).replace("txt _", "txt_"), "rest")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_what_is_offered_is_explained(shell: str, home: Path) -> None:
    with typing(shell, home) as terminal:
        terminal.type("andy tools \t")
        terminal.sees("One tool: its parameters")
        for name in ("add", "disable", "enable", "info", "list", "test"):
            terminal.sees(name)


def test_bash_lists_what_is_offered(home: Path) -> None:
    with typing("bash", home) as terminal:
        terminal.type("andy tools \t\t")
        for name in ("add", "disable", "enable", "info", "list", "test"):
            terminal.sees(name)


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_with_a_colon_is_completed_within_a_quote(shell: str, home: Path) -> None:
    with typing(shell, home) as terminal:
        terminal.type('andy -m "ollama:qw\t')
        terminal.wait(lambda: 'andy -m "ollama:qwen3:8b' in line(terminal), "model")
        assert line(terminal).count("ollama") == 1


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_file_is_completed_within_a_quoted_task(shell: str, home: Path) -> None:
    with typing(shell, home) as terminal:
        terminal.type('andy run "so\t')
        terminal.wait(lambda: "mine.txt" in line(terminal), "file")


def offered(words: str, home: Path) -> Done:
    return andy(
        home=home,
        OPENAI_API_KEY="x",
        ANDY_MODEL="mine",
        _ANDY_COMPLETE="offer",
        _ANDY_COMPLETE_LINE=words,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "some"),
    [
        ("andy ", ["run", "models", "tools"]),
        ("andy -", ["--model", "-m", "-p", "--base-url", "--help"]),
        ("andy -m x run -", ["--model", "--output-format", "--strict"]),
        ("andy run -o ", ["text", "json", "stream-json"]),
        ("andy run --output-format=", ["--output-format=json"]),
        ("andy run --allow ", ["read", "read_file", "terminal_execute"]),
        ("andy -m ", ["openai:gpt-", "local:smollm2", "mine"]),
        ("andy --api-key-env ", ["OPENAI_API_KEY"]),
        ("andy --base-url ", ["http://127.0.0.1:11434"]),
        ("andy debug ", ["compile", "neutralize"]),
        ("andy serve --dialect ", ["auto", "hermes", "native"]),
        ("andy models pull ", ["smollm2"]),
    ],
)
def test_what_is_known_without_a_network_is_offered(
    words: str, some: list[str], home: Path
) -> None:
    done = offered(words, home)
    values = [row.partition("\t")[0] for row in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert [each for each in some if not any(value.startswith(each) for value in values)] == []


@pytest.mark.slow
@pytest.mark.parametrize("words", ["andy run ", "andy docs add ", "andy 'what is in ", "andy a b "])
def test_where_a_file_may_stand_the_shell_is_asked_for_files(words: str, home: Path) -> None:
    assert offered(words, home) == Done(3, "", "")


@pytest.mark.parametrize(
    "words", ["andy serve --port ", "andy tools info zz", "andy models list ", "andy mcp li x"]
)
def test_where_nothing_fits_nothing_is_offered(words: str, home: Path) -> None:
    assert offered(words, home) == Done(0, "", "")


def test_damaged_settings_disturb_no_command_line(home: Path) -> None:
    file = home / ".config" / "andy" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("model = [")
    assert offered("andy tools in", home).out.startswith("info\t")
    assert offered("andy -m ", home).err == ""


def test_sessions_are_offered_with_their_first_words_the_newest_first(home: Path) -> None:
    folder = home / ".local" / "state" / "andy" / "sessions"
    for number, words in enumerate(["older", "play the\nfirst \x1b[31msong " + "la " * 50]):
        log = Log(folder, f"2026112{number}-120000-abcd")
        log.message(Message("user", words))
        log.message(Message("assistant", "done"))
        log.close()
    newest, oldest = VALUES["sessions"]()
    assert oldest == ("20261120-120000-abcd", "older")
    assert newest[0] == "20261121-120000-abcd"
    assert newest[1].startswith("play the first ")
    assert len(newest[1]) < 80
    assert "\x1b" not in newest[1]


@pytest.mark.parametrize(
    ("words", "whole", "last"),
    [
        ("andy", [], "andy"),
        ("andy ", [], ""),
        ("andy run 'a b' ", ["run", "a b"], ""),
        ("andy run 'a b", ["run"], "a b"),
        ("andy run \"it's", ["run"], "it's"),
        (r"andy docs add a\ ", ["docs", "add"], "a "),
    ],
)
def test_a_line_is_split_as_the_shell_splits_it(words: str, whole: list[str], last: str) -> None:
    assert split_line(words) == (whole, last)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "code", "out"),
    [
        (
            {"_ANDY_COMPLETE": "complete_bash", "COMP_WORDS": "andy mo", "COMP_CWORD": "1"},
            0,
            "models",
        ),
        ({"_ANDY_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": "andy mo "}, 0, ""),
        ({"_ANDY_COMPLETE": "nonsense"}, 1, ""),
        ({"_ANDY_COMPLETE": ""}, 1, ""),
    ],
)
def test_a_shell_that_asks_otherwise_never_starts_a_chat(
    variables: dict[str, str], code: int, out: str, home: Path
) -> None:
    done = subprocess.run(
        [str(ANDY)],
        env=environment(home, **variables),
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (code, out)
    assert "Traceback" not in done.stderr


def test_completion_is_installed_once_and_leaves_the_rest_alone(home: Path) -> None:
    start = home / ".bashrc"
    start.write_text("alias l=ls")
    for _ in range(2):
        assert andy("--install-completion", "bash", home=home).code == 0
    script = home / ".bash_completions" / "andy.sh"
    assert start.read_text() == f"alias l=ls\n. {script}\n"
    assert andy("--show-completion", "bash", home=home).out == script.read_text()


def test_a_shell_that_is_none_is_named_with_those_there_are(home: Path) -> None:
    done = andy("--show-completion", "tcsh", home=home)
    assert (done.code, done.out) == (2, "")
    assert "bash|zsh|fish" in done.err


LOADED = """
import os, sys
os.environ.update(_ANDY_COMPLETE="offer", _ANDY_COMPLETE_LINE=sys.argv.pop())
import andy_cli.__main__ as door
code = door.main()
print(code, *sys.modules, file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["andy mo", "andy -m ", "andy tools info ", "andy run --set ", "andy mcp remove "]
)
def test_nothing_heavy_is_loaded_at_tab(words: str, home: Path) -> None:
    assert andy("mcp", "add", "music", "--", "true", home=home).code == 0
    done = subprocess.run(
        [sys.executable, "-c", LOADED, words],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    code, *loaded = done.stderr.split()
    assert code == "0"
    assert done.stdout
    heavy = "openai mcp aiohttp rich pydantic prompt_toolkit httpx2 xllamacpp asyncio"
    assert not set(heavy.split()) & set(loaded)
