"""What is printed, in any encoding, to whoever reads it or has gone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from andy_cli.frontends.terminal.standard_streams import transliterate
from tests.model_server import ModelServer, streamed
from tests.shell import ANDY, ROOT, environment
from tests.terminal import Terminal, without_escapes

ANSWER = "Grün – “fünf” … ┌─┐ ✓ 中 😀"
IN_ASCII = 'Grun - "funf" ... +-+ v ? ?'


def shell(line: str, home: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash, with `andy` in reach."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=ROOT,
        env=environment(home, **{"PATH": f"{ANDY.parent}:/usr/bin:/bin", **env}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )


def to(server: ModelServer) -> str:
    return f"--base-url {server.url} --model m"


def sessions(home: Path) -> list[str]:
    folder = home / ".local" / "state" / "andy" / "sessions"
    return [file.read_text(encoding="utf-8") for file in folder.glob("*.jsonl")]


def test_what_is_said_while_a_sound_device_is_opened_arrives(home: Path) -> None:
    program = """
import os, sys
from andy_cli.frontends.terminal.standard_streams import prepare_streams
from andy_cli.toolbox.music.sound import silence_stderr
prepare_streams()
with silence_stderr():
    print("said", file=sys.stderr)
    os.write(2, b"of a library")
print("later", file=sys.stderr)
os.write(2, b"of another")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(home), capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"said\nlater\nof another")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "encoding", "printed"),
    [
        ({"LC_ALL": "C"}, "utf-8", ANSWER),
        ({"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "utf-8", ANSWER),
        ({"PYTHONIOENCODING": "ascii"}, "ascii", IN_ASCII),
        (
            {"PYTHONIOENCODING": "latin-1"},
            "latin-1",
            'Grün - "fünf" ... +-+ v ? ?',
        ),
        ({"PYTHONIOENCODING": "ascii:backslashreplace"}, "ascii", None),
    ],
)
@pytest.mark.parametrize("command", ["run", "chat --plain"])
def test_an_answer_gets_through_a_pipe_of_any_locale(
    command: str, variables: dict[str, str], encoding: str, printed: str | None, home: Path
) -> None:
    with ModelServer([streamed(ANSWER)]) as server:
        done = shell(f"echo hi | andy {command} {to(server)}", home, **variables)
    assert (done.returncode, done.stderr) == (0, b"")
    if printed is None:
        printed = ANSWER.encode("ascii", "backslashreplace").decode()
    assert done.stdout.decode(encoding).rstrip("\n") == printed


@pytest.mark.slow
def test_an_answer_gets_through_a_pipe_of_a_locale_of_latin_1(home: Path) -> None:
    name = "en_US.ISO-8859-1"
    made = shutil.which("localedef") and shell(
        f"localedef -i en_US -f ISO-8859-1 {home}/{name}", home
    )
    if not made or made.returncode:
        pytest.skip("needs localedef and its sources (the package locales)")
    with ModelServer([streamed(ANSWER)]) as server:
        done = shell(f"andy run {to(server)} hi", home, LC_ALL=name, LOCPATH=str(home))
    assert (done.returncode, done.stderr, done.stdout.decode()) == (0, b"", f"{ANSWER}\n")


@pytest.mark.slow
def test_piped_text_is_utf_8_whatever_the_locale(home: Path) -> None:
    with ModelServer([streamed("ok")] * 2) as server:
        for command in ("run", "chat --plain"):
            line = f"printf 'gr\\303\\266\\337er\\n' | andy {command} {to(server)}"
            done = shell(line, home, LC_ALL="POSIX", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
            assert (done.returncode, done.stderr) == (0, b"")
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert asked == ["grö\ufffder"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("way", [("chat",), ("run", "--no-stdin")])
def test_a_terminal_without_a_sign_shows_one_of_ascii(way: tuple[str, ...], home: Path) -> None:
    said = f"{ANSWER}\n\n- one\n\n---\n\n> two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    with (
        ModelServer([streamed(said)]) as server,
        Terminal(
            *way,
            *to(server).split(),
            "hello there",
            HOME=str(home),
            PYTHONIOENCODING="ascii",
        ) as terminal,
    ):
        text = terminal.sees("1")
        if way == ("chat",):
            terminal.prompts()
            terminal.type("/exit\r")
        assert terminal.leaves() == 0
        assert IN_ASCII in text
        assert without_escapes(terminal.raw).isascii()


def test_every_sign_has_one_of_ascii() -> None:
    for sign in map(chr, [*range(0x20, 0xD800), *range(0xE000, 0x11000), 0xDC80, 0x1F600]):
        assert transliterate(sign).isascii()
    assert [transliterate(sign) for sign in "─│┌╬╌║•✓…é中"] == [*"-|++-|*v", "...", "e", "?"]


COMMANDS = {
    "run": "run --base-url {url} -m m hello",
    "json": "run --base-url {url} -m m -o stream-json hello",
    "tools": "tools list",
    "schemas": "tools list --json",
    "models": "models list --json --set network.scan=false",
    "debug": "debug compile < tests/corpora/compile.jsonl",
    "help": "--help",
    "version": "--version",
    "script": "--show-completion bash",
}
CLOSED = "andy: The output cannot be written: Bad file descriptor.\n"
FULL = "andy: The output cannot be written: No space left on device.\n"
HINT = "  Give it a place where there is room, or read what it prints.\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("to_where", "code", "told"),
    [(">&-", 1, CLOSED + HINT), ("> /dev/full", 1, FULL + HINT), ("| gone", 141, "")],
)
def test_output_that_cannot_be_written_is_one_sentence_and_a_code(
    command: str, to_where: str, code: int, told: str, home: Path
) -> None:
    (home / "lines").write_text('{"id": 1, "text": "x"}\n' * 5)
    line = COMMANDS[command].replace("tests/corpora/compile.jsonl", str(home / "lines"))
    with ModelServer([streamed("Hello", " you.")]) as server:
        written = f"andy {line.format(url=server.url)}"
        if to_where == "| gone":
            # A reader that has gone before the first word is written.
            written = f"exec 3> >(exec true); wait $!; {written} >&3"
        else:
            written = f"{written} {to_where}"
        done = shell(written, home)
    assert (done.returncode, done.stderr.decode()) == (code, told)
    if command in ("run", "json"):
        (kept,) = sessions(home)
        assert "hello" in kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("to_where", "code", "told"),
    [(">&-", 1, CLOSED + HINT), ("> /dev/full", 1, FULL + HINT), ("| gone", 141, "")],
)
def test_a_chat_nobody_can_read_ends_and_is_kept(
    to_where: str, code: int, told: str, home: Path
) -> None:
    with ModelServer([streamed("Hello", " you.")]) as server:
        written = f"printf 'hello\\nagain\\n' | andy chat {to(server)}"
        if to_where == "| gone":
            written = f"exec 3> >(exec true); wait $!; {written} >&3"
        else:
            written = f"{written} {to_where}"
        done = shell(written, home)
    assert (done.returncode, done.stderr.decode()) == (code, told)
    (kept,) = sessions(home)
    assert "hello" in kept
    assert "Hello you." in kept


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["2>&-", "2> /dev/full"])
def test_an_answer_needs_no_standard_error(lost: str, home: Path) -> None:
    with ModelServer([streamed("Hello.")]) as server:
        done = shell(f"andy run {to(server)} --set nope=1 hello {lost}; echo $?", home)
        assert done.stdout == b"2\n"
        done = shell(f"andy run {to(server)} hello {lost}", home)
    assert (done.returncode, done.stdout) == (0, b"Hello.\n")


def test_nothing_of_ours_gets_the_number_of_a_closed_stream(home: Path) -> None:
    with ModelServer([streamed("Hello.")]) as server:
        done = shell(f"andy run {to(server)} hello <&- >&- 2>&-", home)
    assert done.returncode == 1
    (kept,) = sessions(home)
    assert all(line.startswith('{"seq": ') for line in kept.splitlines())


@pytest.mark.slow
def test_a_chat_typed_into_a_pipe_ends_when_its_reader_has_gone(home: Path) -> None:
    # The reader is gone before the rest comes.
    answer = [*streamed("Hello.\n\n")[:-2], {"op": "sleep", "s": 1}, *streamed("And more.\n")[1:]]
    with ModelServer([answer]) as server:
        line = f'andy chat {to(server)} | head -c 1; echo "${{PIPESTATUS[0]}}."'
        with Terminal("-c", line, command="bash", HOME=str(home), PATH=path()) as terminal:
            terminal.settle(1)
            terminal.type("hello\r")
            text = terminal.sees("141.")
            terminal.leaves()
    assert "Traceback" not in text
    assert "nhandled" not in text


def path() -> str:
    return f"{ANDY.parent}:/usr/bin:/bin"
