"""Slash commands: found, completed and carried out in a real terminal."""

import re
from pathlib import Path

import pytest

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.slash import find_command, find_offers, list_commands
from tests.model_server import ModelServer, streamed
from tests.terminal import Terminal
from tests.test_chat import ROOT, chatting, to
from tests.test_resuming import kept
from tests.test_session_store import HELLO, write_session

slow = pytest.mark.slow


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path) -> None:
    pass


def offered(typed: str) -> dict[str, str]:
    """What Tab offers before there is a conversation, each with what it means."""
    return {value: about for _, value, about in find_offers(typed, None)}


def test_no_two_commands_share_a_name_or_an_alias() -> None:
    names = [name for each in list_commands() for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hel", "Did you mean /help? "),
        ("hlep", "Did you mean /help? "),
        ("resum", "Did you mean /resume? "),
        ("qiut", "Did you mean /quit? "),
        ("xyzzy", ""),
    ],
)
def test_an_unknown_name_is_met_with_the_nearest(typed: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_command(typed)
    assert str(caught.value) == f"There is no /{typed}. {meant}/help lists what there is."


def test_a_name_is_offered_with_what_it_does_and_an_alias_once_it_is_begun() -> None:
    assert offered("/mod")["/model"] == "show or change the model"
    assert {"/help", "/exit"} <= set(offered("/"))
    assert "/quit" not in offered("/")
    assert offered("/qui") == {"/quit": offered("/exit")["/exit"]}
    assert offered("/etc/ho") == {}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("/mode p", "plan"),
        ("/model smol", "local:smollm2"),
        ("/models local:", "local:smollm2"),
        ("/tools play_", "play_mp3"),
        ("/help und", "undo"),
    ],
)
def test_an_argument_is_completed(typed: str, value: str) -> None:
    assert value in offered(typed)


def test_what_stands_in_the_middle_is_found_where_nothing_begins_so() -> None:
    assert set(offered("/tools _mp3s")) == {"list_mp3s"}


def test_songs_are_offered_by_name_and_no_more_than_somebody_reads(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "Music").mkdir()
    for number in range(300):
        (home / "Music" / f"Song {number}.mp3").touch()
    (home / "Music" / "odd\x1b[2J.mp3").touch()
    monkeypatch.chdir(home)
    assert len(offered("/play ")) == 200
    assert "Song 7.mp3" in offered("/play song 7")
    assert offered("/play odd") == {}


def test_sessions_of_this_folder_are_offered_with_their_first_words(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = home / "here", home / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir()
        write_session(kept(home), folder.name, HELLO, card={"folder": str(folder)})
    monkeypatch.chdir(here)
    assert offered("/resume ") == {"here": HELLO.content}
    assert offered("/sessions he") == offered("/resume he")


def test_a_settings_file_that_cannot_be_read_offers_nothing(home: Path) -> None:
    config = home / ".config" / "andy"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[[[")
    assert offered("/model ") == {}
    assert "/model" in offered("/mod")


@slow
def test_tab_completes_names_and_arguments_before_anything_was_said() -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type("/mod\t")
        screen = terminal.sees("show or change the model")
        assert "what needs a yes" in screen
        terminal.type(" \t")
        terminal.sees("nothing is changed")
        terminal.type("pl\t")
        terminal.sees("> /mode plan")
        terminal.type("\r")
        terminal.sees("plan: nothing is changed.")


@slow
def test_a_name_that_is_nearly_right_is_not_run_and_not_sent() -> None:
    with ModelServer([streamed("x")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.type("/exi\r")
            terminal.sees("There is no /exi. Did you mean /exit? /help lists what there is.")
        assert not server.requests


@slow
def test_tools_are_listed_and_explained_without_a_model() -> None:
    with Terminal("chat", "--no-session", folder=ROOT, columns=120) as terminal:
        terminal.prompts()
        terminal.type("/tools\r")
        text = terminal.sees("> \n".strip())
        terminal.wait(
            lambda: bool(re.search(r"^play_mp3 +play ", terminal.text, re.MULTILINE)), "tool"
        )
        terminal.type("/tools play_mp3\r")
        terminal.sees("which song (file name, title or number)")
        terminal.type("/tools play_mp4\r")
        text = terminal.sees("Did you mean play_mp3?")
    assert "models" not in text
