"""The first minute of a chat: who answers is said, and what is missing is got on the spot."""

import asyncio
import contextlib
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from andy_cli import __version__
from andy_cli.frontends.chat.model_choice import ModelChoice
from andy_cli.frontends.command_line.options import Options
from tests.model_server import ModelServer, streamed
from tests.terminal import Terminal, without_escapes
from tests.web_server import Received, WebServer, head, page, stalled

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path) -> None:
    pass


@contextlib.contextmanager
def chatting(
    *arguments: str, folder: Path, columns: int = 80
) -> Iterator[tuple[Terminal, ModelServer]]:
    with (
        ModelServer([streamed("Hello."), streamed("Again.")]) as server,
        Terminal(
            *("--base-url", server.url, "--model", "m", *arguments),
            columns=columns,
            folder=folder,
        ) as terminal,
    ):
        yield terminal, server


@pytest.mark.parametrize("plain", [(), ("--plain",)])
def test_one_line_says_which_model_and_why_where_and_how_much_it_may_do(
    home: Path, plain: tuple[str, ...]
) -> None:
    site = home / "site"
    site.mkdir()
    with chatting(*plain, folder=site) as (terminal, server):
        text = terminal.sees(" tools")
        assert f"andy {__version__} - m of openai (--base-url was given) - ~/site - ask - " in text
        assert without_escapes(terminal.raw).lstrip().startswith(">")
        assert not server.requests
        terminal.type("hi\r")
        terminal.sees("Hello.")
        assert terminal.prompts().count("m of openai") == 1


def test_the_greeting_is_one_line_also_where_there_is_little_room(home: Path) -> None:
    with chatting(folder=home, columns=40) as (terminal, _):
        terminal.sees("andy - m of openai")
        terminal.prompts()
        assert terminal.lines[0].startswith("andy - m of openai")
        assert terminal.lines[1] == ">"


def test_a_chat_that_is_greeted_and_left_leaves_no_session_and_no_error(home: Path) -> None:
    with chatting(folder=home) as (terminal, _):
        terminal.sees(" tools")
        terminal.type("\x04")
        assert terminal.leaves() == 0
        assert "andy:" not in terminal.text
    assert list(home.glob(".local/state/andy/sessions/*")) == []


def test_what_stands_in_the_way_of_an_answer_is_said_at_once(home: Path) -> None:
    with Terminal("--model", "groq:x", folder=home) as terminal:
        assert "groq needs a key: set GROQ_API_KEY." in terminal.sees("GROQ_API_KEY")


def test_a_session_that_is_gone_on_with_is_greeted_before_it_is_told_of(home: Path) -> None:
    with chatting(folder=home) as (terminal, _):
        terminal.sees(" tools")
        terminal.type("hi\r")
        terminal.sees("Hello.")
        terminal.prompts()
    with chatting("-c", folder=home) as (terminal, _):
        text = terminal.sees("Going on with")
        assert text.index("m of openai") < text.index("Going on with")
        assert text.count("m of openai") == 1


CHOICE = "1, 2, 3 or 4, or a URL (Esc: later)?"
NOBODY = "http://127.0.0.1:9"


@contextlib.contextmanager
def choosing(
    *arguments: str, folder: Path, columns: int = 80, **environment: str
) -> Iterator[Terminal]:
    """A chat that finds nothing: no key, no server, and no weights."""
    scan = () if "OLLAMA_HOST" in environment else ("--set", "network.scan=false")
    with Terminal(
        *scan,
        *arguments,
        columns=columns,
        rows=24,
        folder=folder,
        HTTPS_PROXY=NOBODY,
        **environment,
    ) as terminal:
        terminal.sees(CHOICE)
        yield terminal


def asks_again(terminal: Terminal, times: int) -> None:
    terminal.wait(lambda: terminal.text.count(CHOICE) == times, f"question number {times}")


def test_where_nothing_is_found_a_message_or_model_leads_back_to_the_choice(home: Path) -> None:
    with choosing(folder=home) as terminal:
        assert "  2  an API key of OpenAI" in terminal.text
        terminal.type("\x1b")
        terminal.sees("No model is chosen.\n  /model or a message asks again.")
        terminal.prompts()
        for times, line in enumerate(("hello", "/model"), 2):
            terminal.type(f"{line}\r")
            asks_again(terminal, times)
            terminal.type("\x1b")
            terminal.prompts()
        terminal.type("\x04")
        assert terminal.leaves() == 0


def test_the_small_model_is_offered_with_its_size_or_with_the_command_that_installs_it(
    home: Path,
) -> None:
    with choosing(folder=home) as terminal:
        text = terminal.text
        if "once its part of andy is installed" in text:
            terminal.type("1\r")
            terminal.sees(f"{sys.executable} -m pip install 'andy-cli[local]'"[:70])
        else:
            assert "which is fetched once, 93 MB" in text


@pytest.mark.parametrize(("answer", "kept"), [("y", True), ("n", False)])
def test_a_key_is_taken_unseen_and_kept_only_after_a_yes(
    home: Path, answer: str, kept: bool
) -> None:
    secret = "gsk_0123456789abcdefghij"
    file = home / ".config" / "andy" / "secrets.toml"
    with choosing(folder=home) as terminal:
        terminal.type("2\r")
        terminal.sees("the key (it is not shown):")
        terminal.type(f"{secret}\r")
        terminal.sees("Keep the key of groq for the next time?")
        terminal.type("\x1b[A")  # what was answered before is not remembered
        terminal.settle(0.3)
        terminal.type(f"\x15{answer}\r")
        terminal.sees("of groq (you chose it)")
        terminal.type("\x04")
        assert terminal.leaves() == 0
        assert secret.encode() not in terminal.raw
    assert file.exists() == kept
    if kept:
        assert (file.stat().st_mode & 0o077, secret in file.read_text()) == (0, True)
        with Terminal("--set", "network.scan=false", folder=home) as terminal:
            terminal.sees("of groq (GROQ_API_KEY is kept)")


def test_a_key_is_taken_unseen_in_a_dumb_terminal_too(home: Path) -> None:
    secret = "gsk_0123456789abcdefghij"
    with Terminal("--set", "network.scan=false", folder=home, TERM="dumb") as terminal:
        terminal.sees(">")
        terminal.type("/model\r")
        terminal.sees(CHOICE)
        terminal.type("2\r")
        terminal.sees("the key (it is not shown):")
        terminal.settle(0.3)
        terminal.type(f"{secret}\r")
        terminal.sees("\nKeep the key of groq for the next time?")
    assert secret.encode() not in terminal.raw


def test_a_key_of_nobody_in_particular_is_asked_whose_it_is(home: Path) -> None:
    with choosing(folder=home) as terminal:
        terminal.type("2\r")
        terminal.sees("the key (it is not shown):")
        terminal.type("0123456789abcdef\r")
        terminal.sees("Whose key is it?")
        terminal.type("mistral\r")
        terminal.sees("Keep the key of mistral")
        terminal.type("\x1b")
        terminal.sees("of mistral (you chose it)")


@pytest.mark.parametrize(("columns", "plain"), [(80, ()), (40, ()), (80, ("--plain",))])
def test_a_server_is_given_by_its_address_and_answers_at_once(
    home: Path, columns: int, plain: tuple[str, ...]
) -> None:
    with (
        ModelServer([streamed("Hello.")], models=["alpha", "beta"]) as server,
        choosing(*plain, folder=home, columns=columns) as terminal,
    ):
        terminal.type("http://127.0.0.1:9/v1\r")
        asks_again(terminal, 2)
        terminal.type("3\r")
        terminal.sees("URL:")
        terminal.type(f"\x15{server.url}\r")
        terminal.sees("  2  beta")
        terminal.sees("Which model?")
        terminal.type("2\r")
        terminal.sees("Use it from now on?")
        terminal.type("n\r")
        terminal.sees("andy - beta of openai" if columns == 40 else "beta of openai (you chose it)")
        terminal.type("hi\r")
        terminal.sees("Hello.")
        terminal.prompts()
        assert server.requests[-1].body["model"] == "beta"
    assert not (home / ".config" / "andy" / "config.toml").exists()


@pytest.mark.parametrize("answer", ["hello", "5", "sk-proj-x", "localhost", "qwen2.5:7b"])
def test_what_is_no_way_to_a_model_is_answered_with_what_is_taken(answer: str, home: Path) -> None:
    told: list[str] = []
    answers = iter([answer])

    async def type_answer(text: str, begun: str = "", secret: bool = False) -> str:
        if (typed := next(answers, None)) is None:
            raise EOFError
        return typed

    choice = ModelChoice(Options(set=["network.scan=false"]), type_answer, told.append)
    with pytest.raises(EOFError):
        asyncio.run(choice.pick_model())
    assert told[1:] == ["A number from 1 to 4, or a URL such as http://127.0.0.1:8080/v1."]


def test_a_host_with_its_port_is_taken_for_a_url(home: Path) -> None:
    with (
        ModelServer([], models=["alpha"]) as server,
        choosing(folder=home) as terminal,
    ):
        terminal.type(f"{server.url.removeprefix('http://')}\r")
        terminal.sees("Use it from now on?")
        terminal.type("hello\r")
        terminal.sees("'hello' is no answer: y or n, or Esc for no.")
        terminal.type("n\r")
        terminal.sees("alpha of openai (you chose it)")


def test_enter_looks_again_for_a_server_that_was_started_meanwhile(home: Path) -> None:
    with ModelServer([], models=["a"]) as gone:
        port = gone.port
    with choosing(folder=home, OLLAMA_HOST=f"127.0.0.1:{port}") as terminal:
        terminal.type("4\r")
        terminal.sees("No model is served on this machine.")
        asks_again(terminal, 2)
        with WebServer(list_one_model, port=port):
            terminal.type("\r")
            terminal.sees("qwen3:4b of ollama (you chose it)")


def list_one_model(received: Received) -> list[bytes]:
    """Answer as an Ollama that has one model."""
    return page('{"models": [{"name": "qwen3:4b"}]}')


WEIGHTS = b"GGUF" + bytes(8_000_000)


def send_slowly(received: Received) -> Iterator[bytes]:
    """Answer as a hub that takes its time over weights, and goes on where it stopped."""
    asked = received.headers.get("range", "")
    start = int(asked[6:-1]) if asked else 0
    yield head(
        206 if start else 200,
        content_length=len(WEIGHTS) - start,
        x_linked_etag=hashlib.sha256(WEIGHTS).hexdigest(),
    )
    for at in range(start, len(WEIGHTS), 200_000):
        yield WEIGHTS[at : at + 200_000]
        received.closing.wait(0.05)


@pytest.mark.parametrize(("columns", "plain"), [(80, ()), (40, ()), (80, ("--plain",))])
def test_a_download_is_one_bar_above_the_prompt_and_goes_on_where_ctrl_c_stopped_it(
    home: Path, columns: int, plain: tuple[str, ...]
) -> None:
    with (
        WebServer(send_slowly) as hub,
        Terminal(
            *("chat", "--model", "local:hf:o/r/slow.gguf", *plain),
            columns=columns,
            folder=home,
            HF_ENDPOINT=hub.url,
        ) as terminal,
    ):
        terminal.prompts()
        terminal.settle(0.5)
        assert not hub.requests  # nothing is fetched before something is said
        for _ in range(2):
            terminal.type("hi\r")
            if plain:
                terminal.sees("fetching hf:o/r/slow.gguf ...")
                terminal.settle(0.5)
            else:
                terminal.sees(" of 8 MB")
                terminal.settle(0.3)
                assert sum("fetching" in line for line in terminal.lines) == 1
                terminal.sees("  [#")
            terminal.type("\x03")
            terminal.sees("stopped")
            terminal.prompts()
        if not plain:
            assert "fetching" not in terminal.text
        terminal.type("again\r")
        text = terminal.sees("fetched hf:o/r/slow.gguf, 8 MB")
        assert "of 8 MB" not in text
    first, *others = [received.headers.get("range", "") for received in hub.requests]
    assert first == ""
    assert all(asked.startswith("bytes=") for asked in others)


def test_a_model_whose_weights_are_here_is_chosen_and_nothing_is_said_to_be_fetched(
    home: Path,
) -> None:
    weights_file = home / "tiny.gguf"
    weights_file.write_bytes(b"GGUF" + bytes(100))
    with chatting(folder=home, columns=120) as (terminal, _):
        terminal.prompts()
        terminal.type(f"/model local:{weights_file}\r")
        terminal.sees("you chose it")
        assert "fetch" not in terminal.prompts()


def test_who_stops_the_download_of_the_small_model_may_choose_another_way(home: Path) -> None:
    pytest.importorskip("xllamacpp", reason="needs the extra [local]")
    with (
        WebServer(stalled) as index,
        choosing(
            folder=home, PIP_INDEX_URL=f"{index.url}/simple", PIP_CONFIG_FILE="/dev/null"
        ) as terminal,
    ):
        terminal.type("1\r")
        terminal.sees(" of 93 MB")
        terminal.type("\x03")
        terminal.sees("stopped")
        assert " of 93 MB" not in terminal.prompts(seconds=2)
        terminal.type("hello\r")
        asks_again(terminal, 2)
