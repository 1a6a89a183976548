"""The first minute of a chat: who answers is said, and what is missing is got on the spot."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model_server import ModelServer, streamed
from tests.terminal import Terminal, without_escapes

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
        assert "andy 0.1.0 - m of openai (--base-url was given) - ~/site - ask - " in text
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
