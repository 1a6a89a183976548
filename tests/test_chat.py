"""The chat, in a real terminal, against a real server."""

import asyncio
import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from andy_cli.agent.history.history import CUT_OFF_NOTE
from andy_cli.cli import app
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.command_line.options import SHARED_OPTIONS, Options, read_line
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest
from tests.model_server import (
    EVENTS,
    Answer,
    ModelServer,
    Operation,
    called,
    event,
    refused,
    status,
    streamed,
)
from tests.terminal import ESCAPE, Terminal, without_escapes

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
LEAVE_HINT = "Ctrl-C again or Ctrl-D leaves."
STALLED = [status(), event({"content": "The first half. "}), {"op": "stall"}]
SILENT: list[Operation] = [status(), {"op": "stall"}]
PROTOCOL = re.compile(r"ANDYBOT|tool_call|list_mp3s|LIST_MP3S|\{\"")


@contextmanager
def chatting(
    script: Sequence[Answer],
    *arguments: str,
    columns: int = 80,
    rows: int = 24,
    folder: Path = ROOT,
    **environment: str,
) -> Iterator[Terminal]:
    """A chat at its first prompt."""
    with (
        ModelServer(script) as server,
        Terminal(
            "chat",
            *to(server),
            *arguments,
            columns=columns,
            rows=rows,
            folder=folder,
            **environment,
        ) as terminal,
    ):
        terminal.prompts()
        yield terminal


def to(server: ModelServer) -> tuple[str, ...]:
    return "--base-url", server.url, "--model", "m", "--no-session"


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path) -> None:
    pass


def test_the_first_thing_on_the_screen_is_a_prompt() -> None:
    with Terminal(OPENAI_API_KEY="k") as terminal:
        text = terminal.sees("/help says what there is")
        assert text.startswith(">") or "gpt-5-mini of openai" in text
        assert without_escapes(terminal.raw).lstrip("\r\n").startswith(">")


def test_an_answer_is_shown_as_rendered_markdown() -> None:
    answer = streamed("# Songs\n\nThere are **th", "ree** of `them`:\n\n- one\n- two\n")
    with chatting([answer]) as terminal:
        terminal.type("what is there?\r")
        text = terminal.prompts()
    assert "Songs\n\nThere are three of them:\n\n • one\n • two\n\n>" in text


def test_an_image_stands_where_it_was_written_and_each_address_stands_there_once() -> None:
    answer = streamed(
        "See <https://e.org>, <a@b.c>, [here](https://t.org) and ![a plan](https://p.org/p.png), ",
        "[![built](https://i.org/b.svg)](https://ci.org) [https://good.org](https://evil.org).\n",
    )
    with chatting([answer], columns=90) as terminal:
        terminal.type("where?\r")
        text = " ".join(terminal.prompts().split())
    assert (
        "See https://e.org, a@b.c, here (https://t.org) and a plan (https://p.org/p.png), "
        "built (https://i.org/b.svg) (https://ci.org) https://good.org (https://evil.org). >"
    ) in text


def test_a_small_model_that_was_never_tried_out_is_said_to_be_one() -> None:
    with (
        ModelServer([streamed("Hello.")]) as server,
        Terminal("chat", "--base-url", server.url, "--model", "tiny:1b", columns=100) as terminal,
    ):
        hint = terminal.sees(f"andy models probe tiny:1b --base-url {server.url}")
        assert "tiny:1b is small and was never tried out." in hint
        terminal.type("hello\r")
        assert terminal.prompts().count("was never tried out") == 1


def test_a_native_call_is_shown_as_an_action_and_never_as_a_call() -> None:
    script = [called("list_mp3s", '{"path": "tests/music"}'), streamed("Three songs.")]
    with chatting(script) as terminal:
        terminal.type("look\r")
        text = terminal.prompts()
    assert "• listed 3 songs in tests/music, " in text
    assert text.index("• listed") < text.index("Three songs.")
    assert not PROTOCOL.search(text)


def test_run_in_a_terminal_keeps_the_words_before_a_step_on_a_line_of_their_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    call = '<tool_call>{"name": "read_file", "arguments": {"path": "notes.txt"}}</tool_call>'
    with (
        ModelServer([streamed(f"I will look.\n{call}"), streamed("Milk.")]) as server,
        Terminal("run", *to(server), "what is in notes.txt?", folder=tmp_path) as terminal,
    ):
        terminal.sees("Milk.")
        lines = [line for line in terminal.lines if line]
    assert (lines[0], lines[1][:16], lines[2]) == ("I will look.", "• read notes.txt", "Milk.")


@pytest.mark.parametrize("command", ["chat", "run"])
@pytest.mark.parametrize("second", ["call", "words"])
def test_a_deed_that_was_told_before_it_was_done_does_not_stay_on_the_screen_as_it_is(
    command: str, second: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    trash = called("trash", '{"paths": ["notes.txt"]}')
    replies = {"call": [trash, streamed("It is in the trash.")], "words": [streamed("I cannot.")]}
    task = ["-y", "delete notes.txt"] if command == "run" else []
    with (
        ModelServer([streamed("I deleted notes.txt."), *replies[second]]) as server,
        Terminal(command, *to(server), *task, folder=tmp_path, rows=30) as terminal,
    ):
        if not task:
            terminal.prompts()
            terminal.type("delete notes.txt\r")
        terminal.sees("I cannot." if second == "words" else "put notes.txt into the trash")
        lines = [line for line in terminal.lines if line]
    beneath = lines[lines.index("I deleted notes.txt.") + 1]
    assert beneath.startswith("The answer above was sent back")


@pytest.mark.parametrize("command", ["chat", "run"])
def test_a_terminal_shows_that_a_file_was_not_looked_at(command: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    told = "It is about the budget of next year, of which three parts are still open."
    task = ["summarise notes.txt"] * (command == "run")
    with (
        ModelServer([streamed(f"{told}\n\n{told}")]) as server,
        Terminal(command, *to(server), *task, folder=tmp_path, columns=100) as terminal,
    ):
        if not task:
            terminal.prompts()
            terminal.type("summarise notes.txt\r")
        terminal.sees("No tool was used: notes.txt was neither read nor changed.")


def test_the_dialogue_with_a_model_without_tools_is_folded_into_actions() -> None:
    script = [
        streamed("DEAR ANDYBOT, ", "LIST_MP3S"),
        streamed("tests/music"),
        streamed("There are three songs."),
    ]
    with chatting(script, "--set", "dialect=andybot") as terminal:
        terminal.type("look into tests/music\r")
        text = terminal.prompts()
        assert "• listed 3 songs in tests/music" in text
        assert "There are three songs." in text
        assert not PROTOCOL.search(ESCAPE.sub(b"", terminal.raw).decode())


def test_ctrl_c_in_a_stalled_answer_keeps_what_was_said_and_the_chat_goes_on() -> None:
    with chatting([STALLED, streamed("Here again.")]) as terminal:
        terminal.type("hello\r")
        terminal.sees("The first half")
        terminal.type("\x03")
        text = terminal.prompts(seconds=1)
        assert "The first half.\n" in text
        assert "stopped" in text
        terminal.type("still there?\r")
        terminal.sees("Here again.")


@pytest.mark.parametrize("way", ["the key", "Esc", "a signal"])
def test_a_model_that_says_nothing_at_all_can_be_stopped(way: str) -> None:
    with chatting([SILENT]) as terminal:
        terminal.type("hello\r")
        terminal.sees("openai:m is working, 1 s (Ctrl-C stops it)")
        if way == "a signal":
            terminal.type("")
            os.kill(terminal.pid, signal.SIGINT)
        else:
            terminal.type("\x03" if way == "the key" else "\x1b")
        text = terminal.prompts(seconds=1)
    assert "stopped" in text
    assert "is working" not in text


def test_a_long_silence_in_the_middle_of_an_answer_is_explained() -> None:
    with chatting([STALLED]) as terminal:
        terminal.type("hello\r")
        text = terminal.sees("openai:m is working, 1 s")
    assert "The first half" in text


def test_ctrl_c_clears_the_line_and_up_brings_it_back() -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type("half a thought")
        terminal.sees("> half a thought")
        terminal.type("\x03")
        terminal.prompts()
        terminal.type("\x1b[A")
        terminal.wait(
            lambda: terminal.lines[terminal.screen.cursor.y] == "> half a thought", "the line"
        )


@pytest.mark.parametrize("way", ["\x04", "/exit\r", "/quit\r", "exit\r", "quit\r", ":q\r"])
def test_whoever_leaves_leaves_with_0(way: str) -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type(way)
        assert terminal.leaves() == 0


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_leaves_an_empty_line_the_second_time_however_late(term: str) -> None:
    with chatting([streamed("x")], TERM=term) as terminal:
        terminal.settle(0.3)
        terminal.type("\x03")
        terminal.sees(LEAVE_HINT)
        time.sleep(1.2)  # longer than the hint takes to be read
        terminal.type("\x03")
        assert terminal.leaves() == 0


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_ctrl_c_warns_again_when_another_key_was_pressed(term: str) -> None:
    with chatting([streamed("x")], TERM=term) as terminal:
        terminal.settle(0.3)
        terminal.type("\x03")
        terminal.sees(LEAVE_HINT)
        terminal.settle(0.3)
        terminal.type("a\x7f\x03")
        terminal.wait(lambda: terminal.text.count(LEAVE_HINT) == 2, "the second warning")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_chat_with_143_and_the_terminal_as_it_was(number: int) -> None:
    with chatting([streamed("x")]) as terminal:
        os.kill(terminal.pid, number)
        assert terminal.leaves() == 143
        assert terminal.raw.endswith(b"\x1b[?2004l")


def test_help_names_every_command_and_the_keys() -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type("/help\r")
        text = terminal.prompts()
    for name in ("/help", "/model", "/tools", "/clear", "/exit", "Ctrl-C", "Alt-Enter"):
        assert name in text


def test_a_command_that_does_not_exist_is_answered_and_not_sent() -> None:
    with ModelServer([streamed("x")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.type("/nonsense\r")
            assert "There is no /nonsense. /help lists what there is." in terminal.prompts()
        assert not server.requests


def test_tab_completes_the_name_of_a_command() -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type("/he\t")
        terminal.sees("> /help")


def test_tools_are_listed_with_what_they_do() -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type("/tools\r")
        text = terminal.prompts()
    assert re.search(r"^play_mp3 +play +Play an MP3 file\.$", text, re.MULTILINE)


def test_another_model_goes_on_with_the_same_conversation() -> None:
    script = [streamed("Noted."), streamed("It was 42.")]
    with ModelServer(script, models=("m", "n")) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.type("remember 42\r")
            terminal.prompts()
            terminal.type("/model\r")
            assert "openai:m: " in terminal.prompts()
            terminal.type("/model n\r")
            assert "openai:n: " in terminal.prompts()
            terminal.type("what was it?\r")
            assert "It was 42." in terminal.prompts()
            terminal.sees("openai:n - native")
        second = server.requests[1].body
    assert second["model"] == "n"
    said = [each["content"] for each in second["messages"] if each["role"] != "system"]
    assert said == ["remember 42", "Noted.", "what was it?"]


def test_a_model_of_another_server_goes_on_with_the_same_conversation() -> None:
    with (
        ModelServer([streamed("Noted.")]) as first,
        ModelServer([streamed("It was 42."), streamed("Nothing.")], models=("n",)) as second,
        Terminal("chat", *to(first), OLLAMA_HOST=second.url.removesuffix("/v1")) as terminal,
    ):
        terminal.prompts()
        terminal.type("remember 42\r")
        terminal.prompts()
        terminal.type("/model ollama:n\r")
        assert "ollama:n: " in terminal.prompts()
        terminal.type("what was it?\r")
        assert "It was 42." in terminal.prompts()
        terminal.type("/clear\r")
        terminal.prompts()
        terminal.type("what was it?\r")
        assert "Nothing." in terminal.prompts()
        assert len(first.requests) == 1
        assert "remember 42" in str(second.requests[0].body)
        assert "remember 42" not in str(second.requests[1].body)


def test_models_are_listed_with_numbers_that_choose_one() -> None:
    with (
        ModelServer([streamed("Hello.")], models=("m", "n")) as server,
        Terminal("chat", *to(server), columns=120) as terminal,
    ):
        terminal.prompts()
        terminal.type("/model\r")
        text = terminal.prompts()
        assert re.search(r"^ +1  openai:m +native +http", text, re.MULTILINE)
        assert re.search(r"^ +2  openai:n +native +http", text, re.MULTILINE)
        terminal.type("/model 2\r")
        assert "openai:n: " in terminal.prompts()
        terminal.type("/model openai:m\r")
        assert "openai:m: " in terminal.prompts()
        terminal.type("/model 99\r")
        assert "There is no model number 99." in terminal.prompts()


def test_the_server_of_the_start_is_gone_back_to_and_named() -> None:
    with (
        ModelServer([streamed("Noted."), streamed("It was 42.")]) as first,
        ModelServer([streamed("No.")], models=("n",)) as second,
        Terminal("chat", *to(first), columns=120, OPENAI_API_KEY="sk-x") as terminal,
    ):
        terminal.prompts()
        terminal.type("remember 42\r")
        terminal.prompts()
        terminal.type(f"/model {second.url}\r")
        assert f"openai:n: you chose it; its server is {second.url}; it" in terminal.prompts()
        terminal.type("/model\r")
        assert re.search(rf"^ +1  openai:m +native +{first.url}", terminal.prompts(), re.MULTILINE)
        terminal.type("/model 1\r")
        assert f"openai:m: you chose it; its server is {first.url}; it" in terminal.prompts()
        terminal.type("what was it?\r")
        assert "It was 42." in terminal.prompts()
        assert not second.requests


def test_models_of_a_server_that_the_settings_name_are_listed() -> None:
    with (
        ModelServer([streamed("Hello.")], models=("m", "n")) as server,
        Terminal("chat", "--no-session", columns=120, ANDY_BASE_URL=server.url) as terminal,
    ):
        terminal.prompts()
        terminal.type("/model\r")
        assert re.search(r"^ +2  openai:n +native +http", terminal.prompts(), re.MULTILINE)


def test_an_unknown_model_is_refused_with_the_nearest() -> None:
    with (
        ModelServer([streamed("Hello.")], models=("qwen3:8b", "llama3")) as server,
        Terminal("chat", *to(server)[:2], "--model", "llama3", "--no-session") as terminal,
    ):
        terminal.prompts()
        terminal.type("/model qwen3:4b\r")
        text = terminal.prompts()
        assert "has no model 'qwen3:4b'" in text
        assert "Did you mean qwen3:8b?" in text
        terminal.type("hi\r")
        assert "Hello." in terminal.prompts()


def test_a_url_is_a_model_too() -> None:
    with (
        ModelServer([streamed("One.")]) as first,
        ModelServer([streamed("Two.")], models=("n",)) as second,
        Terminal("chat", *to(first)) as terminal,
    ):
        terminal.prompts()
        terminal.type(f"/model {second.url}\r")
        assert "openai:n: " in terminal.prompts()
        terminal.type("hi\r")
        assert "Two." in terminal.prompts()
        terminal.type("/model http://127.0.0.1:1/v1\r")
        assert "http://127.0.0.1:1/v1: " in terminal.prompts()
        terminal.type("hi\r")
        assert "Two." in terminal.prompts()


def test_copy_gives_the_answer_or_a_code_block_to_the_terminals_clipboard() -> None:
    answer = "Try this:\n\n```sh\nls -l\n```\n\nIt lists."
    with chatting([streamed(answer)]) as terminal:
        terminal.type("/copy\r")
        assert "There is no answer yet." in terminal.prompts()
        terminal.type("how?\r")
        terminal.prompts()
        terminal.type("/copy 1\r")
        assert "Code block 1 was sent to the terminal" in terminal.prompts()
        assert b"\x1b]52;c;" + base64.b64encode(b"ls -l\n") in terminal.raw
        terminal.type("/copy\r")
        terminal.prompts()
        assert b"\x1b]52;c;" + base64.b64encode(answer.encode()) in terminal.raw
        terminal.type("/copy 2\r")
        assert "There is no code block '2' in the answer: it has 1." in terminal.prompts()


def test_music_plays_and_stops_without_a_model() -> None:
    song = sorted((ROOT / "tests" / "music").glob("*.mp3"))[0]
    with Terminal("chat", "--no-session", folder=ROOT, columns=120, OPENAI_API_KEY="k") as terminal:
        terminal.prompts()
        terminal.type(f"/play {song}\r")
        assert f"started {song.name}" in terminal.prompts()
        terminal.type("/stop\r")
        assert re.search(r"^(stopped|nothing was playing)", terminal.prompts(), re.MULTILINE)
        terminal.type("/play nothing-of-this-name\r")
        assert "andy: " in terminal.prompts()


def test_context_tells_what_fills_the_window() -> None:
    with chatting([streamed("Hello.")]) as terminal:
        terminal.type("hi\r")
        terminal.prompts()
        terminal.sees("% of 64,000 assumed")
        terminal.type("/context\r")
        text = terminal.sees("in all")
    assert re.search(r"^\d+ tools +about +[\d,]+ tokens$", text, re.MULTILINE)
    assert re.search(r"^2 messages +about +\d+ tokens$", text, re.MULTILINE)
    assert re.search(r"^in all +about +[\d,]+ of 64,000 assumed, \d+%$", text, re.MULTILINE)


def test_a_window_that_is_set_is_not_said_to_be_assumed() -> None:
    with chatting([streamed("Hello.")], "--set", "limits.context=32000") as terminal:
        terminal.type("hi\r")
        terminal.sees(" - context ")
        terminal.type("/context\r")
        text = terminal.sees("in all")
    assert re.search(r"^in all +about +[\d,]+ of 32,000, \d+%$", text, re.MULTILINE)
    assert "assumed" not in text


def test_the_mode_is_shown_and_stays_through_clear() -> None:
    with chatting([streamed("Hello.")]) as terminal:
        terminal.type("hi\r")
        terminal.prompts()
        terminal.type("/mode auto\r")
        terminal.prompts()
        terminal.sees("AUTO")
        terminal.type("/clear\r")
        terminal.prompts()
        terminal.type("hi\r")
        terminal.prompts()
        terminal.sees("AUTO")


def test_a_model_that_is_not_there_leaves_the_one_that_is() -> None:
    with chatting([streamed("Here.")]) as terminal:
        terminal.type("/model nobody:here\r")
        terminal.prompts()
        terminal.type("/model m\r")
        terminal.prompts()
        terminal.type("hello\r")
        assert "Here." in terminal.prompts()


def test_clear_begins_a_new_conversation() -> None:
    with ModelServer([streamed("Noted.")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.type("remember 42\r")
            terminal.prompts()
            terminal.type("/clear\r")
            terminal.prompts()
            terminal.type("what was it?\r")
            terminal.prompts()
        users = [each["content"] for each in server.requests[1].body["messages"]][1:]
    assert users == ["what was it?"]


def test_the_status_line_names_the_model_after_clear() -> None:
    with chatting([streamed("Noted.")]) as terminal:
        terminal.type("remember 42\r")
        terminal.sees("context")
        terminal.type("/clear\r")
        terminal.sees("A new conversation.")
        terminal.wait(lambda: "openai:m - native - ask" in terminal.lines, "name of the model")


async def refuse(approval_request: ApprovalRequest) -> ApprovalAnswer:
    return ApprovalAnswer(False)


def test_a_model_is_named_also_where_its_server_is_not_asked_again() -> None:
    async def open_and_close() -> str:
        session = ChatSession(Options(model="m", base_url=server.url), print, refuse)
        await session.open_conversation()
        await session.close()
        return session.describe_status("")

    with ModelServer([]) as server:
        assert asyncio.run(open_and_close()) == "openai:m - ask"


def test_a_server_that_is_not_there_is_one_line_and_the_chat_goes_on() -> None:
    options = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--no-session")
    with Terminal("chat", *options, "--set", "network.tries=1") as terminal:
        terminal.prompts()
        terminal.type("hello\r")
        text = terminal.prompts()
        assert "andy: " in text
        assert "127.0.0.1:9" in text
        assert "Choose another with /model." in text
        assert "Traceback" not in text
        terminal.type("/exit\r")
        assert terminal.leaves() == 0


def test_a_wrong_key_is_one_line_and_the_chat_goes_on() -> None:
    refusal = refused(401, "Incorrect API key provided: sk-123")
    with chatting([refusal, streamed("Welcome.")], OPENAI_API_KEY="sk-123") as terminal:
        terminal.type("hello\r")
        text = terminal.prompts()
        assert "andy: " in text
        assert "key" in text
        assert "Traceback" not in text
        terminal.type("hello\r")
        assert "Welcome." in terminal.prompts()


@pytest.mark.parametrize("key", ["\n", "\x1b\r"], ids=["Ctrl-J", "Alt-Enter"])
def test_a_message_may_have_several_lines(key: str) -> None:
    with ModelServer([streamed("Two lines.")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.type(f"first{key}second\r")
            text = terminal.prompts()
        assert "> first\n  second\n" in text
        assert server.requests[0].body["messages"][-1]["content"] == "first\nsecond"


def test_what_is_pasted_is_not_sent_line_by_line() -> None:
    with ModelServer([streamed("Read.")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.paste("\r    one\r    two\rthree\r")
            terminal.sees("three")
            terminal.type("\r")
            terminal.prompts()
        assert [each.body["messages"][-1]["content"] for each in server.requests] == [
            "    one\n    two\nthree"  # the first line keeps its indentation
        ]


def test_escapes_in_what_is_pasted_are_sent_and_never_carried_out() -> None:
    pasted = (
        "a log:\n\t\x1b[31merror\x1b[0m\x1b]0;another title\x07 \x1b[2J\x9b2J👨\u200d👩\u200d👧 end"
    )
    with ModelServer([streamed("Read.")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.paste(pasted)
            terminal.sees("^[[31merror^[[0m^[]0;another title^G")
            terminal.type("\r")
            text = terminal.prompts()
        assert server.requests[0].body["messages"][-1]["content"] == pasted
    assert "> a log:\n" in text  # the screen was not cleared
    assert b"\x1b]0;another" not in terminal.raw
    assert b"\x1b[31merror" not in terminal.raw
    assert "error 👨\u200d👩\u200d👧 end\r\n".encode() in terminal.raw


def test_wide_characters_keep_their_columns() -> None:
    answer = streamed("曲は三つ", "あります 🎵\n\n| 曲 | 秒 |\n|---|---|\n| 朝の光 | 2 |\n")
    with chatting([answer], columns=40) as terminal:
        terminal.type("音楽を見せて 🎧")
        terminal.sees("> 音楽を見せて 🎧")
        assert terminal.screen.cursor.x == len("> ") + 6 * 2 + 1 + 2
        terminal.type("\r")
        text = terminal.prompts()
    assert "曲は三つあります 🎵" in text
    assert re.search(r"朝の光 +2$", text, re.MULTILINE)


def test_a_narrow_terminal_shows_everything_without_ragged_lines() -> None:
    words = " ".join(f"word{number}" for number in range(60))
    script = [called("list_mp3s", '{"path": "tests/music"}'), streamed(words[:90], words[90:])]
    with chatting(script, columns=40, rows=15) as terminal:
        terminal.type("look\r")
        text = terminal.prompts()
    said = text[text.index("word0") : text.rindex(">")].split()
    assert said == words.split()
    assert max(map(len, text.splitlines())) <= 40


def test_a_resize_in_the_middle_of_an_answer_leaves_no_garbage() -> None:
    parts = [f"part {number} of the answer is here\n\n" for number in range(12)]
    script = [[*streamed(*parts)[:-2], {"op": "sleep", "s": 0.6}, *streamed("- the end\n")[1:]]]
    with chatting(script) as terminal:
        terminal.type("hello\r")
        terminal.sees("part 11")
        terminal.resize(60, 24)
        os.kill(terminal.pid, signal.SIGWINCH)
        text = terminal.prompts()
    for number in range(12):
        assert text.count(f"part {number} of") == 1
    assert text.count("the end") == 1


COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def test_no_color_means_no_colour() -> None:
    script = [called("list_mp3s", '{"path": "tests/music"}'), streamed("`a`\n\n```python\n1\n```")]
    with chatting(script, NO_COLOR="1") as terminal:
        terminal.type("look\r")
        terminal.prompts()
        assert not COLOUR.search(terminal.raw)
    with chatting(script) as terminal:
        terminal.type("look\r")
        terminal.prompts()
        assert COLOUR.search(terminal.raw)


@pytest.mark.parametrize("way", ["--plain", "ui.plain", "a dumb terminal"])
def test_plain_output_is_only_ever_added_to(way: str) -> None:
    arguments = {"--plain": ["--plain"], "ui.plain": ["--set", "ui.plain=true"]}.get(way, [])
    term = "dumb" if way == "a dumb terminal" else "xterm-256color"
    script = [
        called("list_mp3s", '{"path": "tests/music"}'),
        [*streamed("Three *so")[:-2], {"op": "sleep", "s": 0.3}, *streamed("ngs*.")[1:]],
    ]
    with (
        ModelServer(script) as server,
        Terminal("chat", *to(server), *arguments, TERM=term, folder=ROOT) as terminal,
    ):
        terminal.sees(">")
        terminal.settle(0.3)
        terminal.type("look\r")
        terminal.sees("*songs*.\n")
    turn = terminal.raw[terminal.raw.index("• listed".encode()) :]
    assert re.match(
        r"• listed 3 songs in tests/music, [\d.]+ s\r\n\r\nThree \*songs\*\.\r\n", turn.decode()
    )


HOSTILE = "\x1b[2J\x1b]0;pwned\x07\x1b]52;c;aGk=\x07a\u202eb\x9b31m\x1b[?1049h\rrewritten"


def test_what_the_model_writes_never_drives_the_terminal() -> None:
    pieces = [HOSTILE[at : at + 3] for at in range(0, len(HOSTILE), 3)]
    with chatting([streamed(*pieces)], "--plain") as terminal:
        before = len(terminal.raw)
        terminal.type("hello\r")
        text = terminal.prompts()
        written = terminal.raw[before:]
    assert "rewritten" in text
    for forbidden in (b"\x1b[2J", b"\x1b]", b"\xc2\x9b", "\u202e".encode(), b"\x1b[?1049h"):
        assert forbidden not in written


def test_what_a_tool_reports_never_drives_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b]0;pwned\x07b"
    folder.mkdir()
    path = str(folder).replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
    script = [called("list_mp3s", f'{{"path": "{path}"}}'), streamed("None.")]
    with chatting(script, folder=tmp_path) as terminal:
        terminal.type("look\r")
        terminal.prompts()
        assert b"\x1b]0;" not in terminal.raw


def test_music_goes_on_while_one_types_and_ends_with_the_chat() -> None:
    script = [
        called("play_mp3", '{"file": "03 - Last Tram Home.mp3", "path": "tests/music"}'),
        streamed("Enjoy."),
    ]
    with chatting(script) as terminal:
        terminal.type("play the last one\r")
        terminal.prompts()
        terminal.sees("playing 03 - Last Tram Home.mp3 0 s / ")
        terminal.type("typing meanwhile")
        terminal.sees("> typing meanwhile")
        terminal.sees("playing 03 - Last Tram Home.mp3 1 s / ")
        terminal.type("\x15/exit\r")
        assert terminal.leaves(2) == 0


SLOW = [*streamed("Slow ")[:-2], {"op": "sleep", "s": 1}, *streamed("but sure.")[1:]]


def test_what_is_typed_during_an_answer_is_shown_and_stays_in_the_prompt() -> None:
    with chatting([SLOW]) as terminal:
        terminal.type("hello\r")
        terminal.sees("Slow")
        terminal.type("and then")
        assert "sure" not in terminal.sees("> and then")
        text = terminal.sees("Slow but sure.\n")
        # Bytes come as they may: the line below may be drawn, and the cursor not be back yet.
        terminal.wait(
            lambda: terminal.lines[terminal.screen.cursor.y] == "> and then", "the line typed"
        )
    assert text.count("> and then") == 1


def test_enter_during_an_answer_queues_a_line_that_is_sent_after_it() -> None:
    with ModelServer([SLOW, streamed("The second.")]) as server:
        with Terminal("chat", *to(server), folder=ROOT) as terminal:
            terminal.prompts()
            terminal.type("hello\r")
            terminal.sees("Slow")
            terminal.type("and then?\r")
            assert "sure" not in terminal.sees("queued: and then?")
            text = terminal.sees("The second.")
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert "> hello\nSlow but sure.\n\n> and then?\nThe second.\n" in text
    assert "queued:" not in text
    assert asked == ["hello", "and then?"]


def test_up_takes_back_what_is_queued() -> None:
    with ModelServer([SLOW]) as server:
        with Terminal("chat", *to(server), folder=ROOT) as terminal:
            terminal.prompts()
            terminal.type("hello\r")
            terminal.sees("Slow")
            terminal.type("and then?\r")
            terminal.sees("queued: and then?")
            terminal.type("\x1b[A")
            terminal.sees("> and then?")
            text = terminal.sees("Slow but sure.\n")
            assert "queued" not in text
        assert len(server.requests) == 1


def test_ctrl_c_gives_back_what_was_queued_instead_of_sending_it() -> None:
    with ModelServer([STALLED]) as server:
        with Terminal("chat", *to(server), folder=ROOT) as terminal:
            terminal.prompts()
            terminal.type("hello\r")
            terminal.sees("The first half")
            terminal.type("and then?\r")
            terminal.sees("queued: and then?")
            terminal.type("\x03")
            terminal.sees("stopped\n> and then?")
        assert len(server.requests) == 1


def test_an_answer_that_breaks_off_is_said_to_be_cut_off_and_nothing_queued_is_sent() -> None:
    breaks_off = [
        status(headers={**EVENTS, "transfer-encoding": "chunked"}),
        event({"content": "The first half. "}),
        {"op": "sleep", "s": 1.5},
        {"op": "close"},
    ]
    with ModelServer([breaks_off, streamed("And the second.")]) as server:
        with Terminal("chat", *to(server), folder=ROOT) as terminal:
            terminal.prompts()
            terminal.type("hello\r")
            terminal.sees("The first half")
            terminal.type("thank you\r")
            terminal.sees("queued: thank you")
            terminal.sees("The answer is cut off. Say `go on` to continue.")
            terminal.sees("> thank you")
            terminal.type("\x03")
            terminal.wait(lambda: "> thank" not in terminal.text, "an empty prompt")
            terminal.type("go on\r")
            terminal.sees("And the second.")
        told = [each["content"] for each in server.requests[-1].body["messages"]][1:]
    assert told == ["hello", "The first half. ", f"{CUT_OFF_NOTE}\n\ngo on"]


def test_queued_lines_that_come_back_are_sent_one_by_one_and_never_joined() -> None:
    with ModelServer([STALLED, streamed("A folder is made.")]) as server:
        with Terminal("chat", *to(server), folder=ROOT) as terminal:
            terminal.prompts()
            terminal.type("hello\r")
            terminal.sees("The first half")
            for line in ("!echo one", "mkdir is what I mean", "/cost", "last"):
                terminal.type(f"{line}\r")
            terminal.sees("and 2 more")
            terminal.type("\x1b")
            rest = "not sent: /cost\nnot sent: last"
            terminal.sees(f"not sent: mkdir is what I mean\n{rest}\n> !echo")
            terminal.type("\r")
            terminal.sees(f"one\n[andy knows this output]\n{rest}\n> mkdir")
            terminal.type("\r")
            terminal.sees("A folder is made.\n\nnot sent: last\n> /cost")
            terminal.type("\x03")
            terminal.sees("> last")
            text = terminal.text
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert "not sent" not in text
    assert len(asked) == 2
    assert asked[1].startswith(f"{CUT_OFF_NOTE}\n\nmkdir is what I mean\n")


def test_up_brings_back_what_is_held_into_an_emptied_prompt() -> None:
    with ModelServer([STALLED]) as server, Terminal("chat", *to(server), folder=ROOT) as terminal:
        terminal.prompts()
        terminal.type("hello\r")
        terminal.sees("The first half")
        terminal.type("one\rtwo\r")
        terminal.sees("queued: two")
        terminal.type("\x1b")
        terminal.sees("not sent: two\n> one")
        terminal.type("\x15")
        terminal.wait(lambda: "> one" not in terminal.text, "an empty prompt")
        terminal.type("\x1b[A")
        assert "not sent" not in terminal.sees("> two")


def test_the_status_line_stays_during_an_answer() -> None:
    with chatting([STALLED]) as terminal:
        terminal.type("hello\r")
        terminal.sees("The first half")
        assert terminal.lines[terminal.screen.cursor.y + 1] == "openai:m - native - ask"


def test_what_the_editor_wrote_comes_back_to_the_prompt(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "\nline two" >> "$1"\n')
    editor.chmod(0o755)
    with ModelServer([streamed("Hello.")]) as server:
        with Terminal("chat", *to(server), folder=ROOT, VISUAL=str(editor)) as terminal:
            for keys in ("\x07", "\x18\x05"):
                terminal.prompts()
                terminal.type(f"line one{keys}")
                terminal.sees("> line one\n  line two")
                terminal.type("\x03")
        assert not server.requests


def test_ctrl_o_sends_nothing() -> None:
    with ModelServer([streamed("Hello.")]) as server:
        with Terminal("chat", *to(server), folder=ROOT) as terminal:
            terminal.prompts()
            terminal.type("some words\x0f and more")
            terminal.sees("> some words and more")
        assert not server.requests


def test_a_model_that_answers_with_nothing_is_said_to_have() -> None:
    with chatting([streamed("")]) as terminal:
        terminal.type("hello\r")
        assert "The model said nothing." in terminal.prompts()


def test_where_no_key_shows_all_none_is_named(tmp_path: Path) -> None:
    write = {"path": "n.txt", "content": "line\n" * 100}
    script = [called("write_file", json.dumps(write)), streamed("Written.")]
    mode = ("--permission-mode", "edits")
    with chatting(script, *mode, folder=tmp_path, TERM="dumb") as terminal:
        terminal.type("write it\r")
        text = terminal.sees("Written.")
    assert "... 85 more rows\n" in text


def test_what_was_typed_before_a_question_never_answers_it_in_a_dumb_terminal(
    tmp_path: Path,
) -> None:
    write = called("write_file", json.dumps({"path": "n.txt", "content": "new\n"}))
    script: list[Answer] = [
        [{"op": "sleep", "s": 1.0}, *write],
        streamed("Not written."),
        streamed("Four."),
    ]
    with chatting(script, folder=tmp_path, TERM="dumb") as terminal:
        terminal.type("write it\r")
        terminal.type("1\rand two\ry")
        terminal.sees("4 no (say why)")
        assert terminal.settle(0.5).rstrip().endswith("4 no (say why)")
        assert not (tmp_path / "n.txt").exists()
        terminal.type("n\r")
        terminal.sees("> 1")
        terminal.type("+3?\r")
        text = terminal.sees("> and two")
    assert "> 1+3?\n" in text
    assert "Four." in text


def test_a_long_answer_is_whole_and_in_order() -> None:
    parts = [f"## Part {number}\n\nSome *text* here.\n\n" for number in range(800)]
    with chatting([streamed(*parts)]) as terminal:
        terminal.type("tell me\r")
        text = terminal.prompts()
    assert re.findall(r"^Part (\d+)$", text, re.MULTILINE) == [str(each) for each in range(800)]
    assert text.count("Some text here.") == 800


def elsewhere(path: Path) -> list[Answer]:
    """A model that looks where it was not told to look, and says what came of it."""
    return [called("list_mp3s", f'{{"path": "{path}"}}'), streamed("That is all.")]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


QUESTION = "4 no (say why)"


@pytest.mark.parametrize("answer", ["y", "yes", "YES", "1"])
def test_what_lies_outside_is_done_after_a_yes(inside: Path, outside: Path, answer: str) -> None:
    with chatting(elsewhere(outside), folder=inside, columns=160) as terminal:
        terminal.type("look\r")
        text = terminal.sees(QUESTION)
        assert f"andy wants to list the music in {outside}\n" in text
        assert "• " not in text
        terminal.type(f"{answer}\r")
        text = terminal.prompts()
    assert "• found no music in " in text
    assert "That is all." in text


@pytest.mark.parametrize("answer", ["n", "no", "4 not there", "no, not there", "\x04", "\x1b"])
def test_what_lies_outside_is_not_done_after_a_no(inside: Path, outside: Path, answer: str) -> None:
    with chatting(elsewhere(outside), folder=inside, columns=160) as terminal:
        terminal.type("look\r")
        terminal.sees(QUESTION)
        terminal.type(answer if answer in ("\x04", "\x1b") else f"{answer}\r")
        text = terminal.prompts()
    assert f"• was not allowed to list the music in {outside}" in text
    assert "That is all." in text


def test_four_asks_why_and_the_model_is_told(inside: Path, outside: Path) -> None:
    with ModelServer(elsewhere(outside)) as server:
        with Terminal("chat", *to(server), folder=inside, columns=160) as terminal:
            terminal.prompts()
            terminal.type("look\r")
            terminal.sees(QUESTION)
            terminal.type("4\r")
            terminal.sees("\nbecause:")
            terminal.type("that is private\r")
            terminal.prompts()
        assert "that is private" in str(server.requests[1].body["messages"][-1])


def test_what_is_neither_yes_nor_no_is_asked_again(inside: Path, outside: Path) -> None:
    with chatting(elsewhere(outside), folder=inside) as terminal:
        terminal.type("look\r")
        terminal.sees(QUESTION)
        terminal.type("perhaps\r")
        terminal.wait(lambda: terminal.text.count(QUESTION) == 2, "second question")
        terminal.sees("'perhaps' is no answer: type 1 (y), 2 (s), 3 (a), 4 (n), or Esc for no.")
        terminal.type("\r")
        terminal.wait(lambda: terminal.text.count(QUESTION) == 3, "third question")


@pytest.mark.parametrize(
    "answer",
    ["a better way is ls", "1 moment", "always ask me first", "2 songs only", "y, but b", "."],
)
def test_a_sentence_that_begins_like_a_yes_allows_nothing(
    inside: Path, outside: Path, answer: str, home: Path
) -> None:
    with chatting(elsewhere(outside), folder=inside) as terminal:
        terminal.type("look\r")
        terminal.sees(QUESTION)
        terminal.type(f"{answer}\r")
        terminal.sees(f"'{answer}' is no answer: type 1 (y), 2 (s), ")
        terminal.wait(lambda: terminal.text.count(QUESTION) == 2, "second question")
        terminal.type("No, not there\r")
        assert "• was not allowed to list the music" in terminal.prompts()
    assert not (home / ".config" / "andy" / "config.toml").exists()


@pytest.mark.parametrize("answer", ["Yes.", "1 once", "y"])
def test_a_yes_may_be_written_in_several_ways(inside: Path, outside: Path, answer: str) -> None:
    with chatting(elsewhere(outside), folder=inside) as terminal:
        terminal.type("look\r")
        terminal.sees(QUESTION)
        terminal.type(f"{answer}\r")
        assert "• found no music" in terminal.prompts()


def test_session_is_asked_once(inside: Path, outside: Path) -> None:
    again = called("list_mp3s", f'{{"path": "{outside}"}}')
    script = [again, streamed("One."), again, streamed("Two.")]
    with chatting(script, folder=inside) as terminal:
        terminal.type("look\r")
        terminal.sees(QUESTION)
        terminal.type("s\r")
        terminal.prompts()
        terminal.type("again\r")
        text = terminal.prompts()
    assert text.count(QUESTION) == 1
    assert text.count("• found no music") == 2


def test_ctrl_c_at_a_question_is_a_no_and_stops_the_turn(inside: Path, outside: Path) -> None:
    with chatting(elsewhere(outside), folder=inside) as terminal:
        terminal.type("look\r")
        terminal.sees(QUESTION)
        terminal.type("\x03")
        text = terminal.prompts(seconds=1)
        assert "stopped" in text
        assert "• found" not in text
        terminal.type("go on\r")
        assert "That is all." in terminal.prompts()


def test_keys_typed_before_the_question_do_not_answer_it(inside: Path, outside: Path) -> None:
    slow = elsewhere(outside)[0]
    script = [[slow[0], {"op": "sleep", "s": 0.6}, *slow[1:]], streamed("That is all.")]
    with (
        ModelServer(script) as server,
        Terminal("chat", *to(server), folder=inside) as terminal,
    ):
        terminal.prompts()
        terminal.type("look\r")
        terminal.sees("Enter queues")
        terminal.type("y\r")
        terminal.sees("queued: y")
        terminal.sees(QUESTION)
        assert "• found" not in terminal.settle(0.3)
        terminal.type("n\r")
        text = terminal.sees("• was not allowed to")
        # What was typed ahead stays to be sent, or not.
        terminal.sees("> y\n")
        assert "That is all." in terminal.settle(0.3)
    assert "• found" not in text
    assert len(server.requests) == 2


def test_a_folder_of_the_users_own_words_needs_no_question(inside: Path, outside: Path) -> None:
    with chatting(elsewhere(outside), folder=inside) as terminal:
        terminal.type(f"look into {outside}, please\r")
        text = terminal.prompts()
    assert "wants to" not in text
    assert "• found no music" in text


def test_music_folders_need_no_question(inside: Path, outside: Path) -> None:
    folders = f"music.folders={outside}"
    with chatting(elsewhere(outside), "--set", folders, folder=inside) as terminal:
        terminal.type("look\r")
        text = terminal.prompts()
    assert "wants to" not in text
    assert "• found no music" in text


def test_lines_from_a_pipe_are_answered_one_by_one(home: Path) -> None:
    with ModelServer([streamed("First."), streamed("Second.")]) as server:
        done = subprocess.run(
            [sys.executable, "-m", "andy_cli", "chat", *to(server)],
            input="one\ntwo\n/exit\nthree\n",
            capture_output=True,
            text=True,
            timeout=20,
            cwd=ROOT,
        )
        asked = [each.body["messages"][-1]["content"] for each in server.requests]
    assert (done.returncode, asked) == (0, ["one", "two"])
    assert done.stdout == "First.\n\nSecond.\n\n"
    assert done.stderr == ""


LOADED = """
import sys
from pathlib import Path
import andy_cli.__main__ as door
from andy_cli.frontends.chat import repl

file = Path(sys.argv.pop())
repl.load_remaining_modules = lambda: file.write_text(" ".join(sys.modules))
sys.exit(door.main())
"""


def test_what_is_loaded_at_the_first_prompt(tmp_path: Path) -> None:
    written = tmp_path / "loaded"
    with Terminal("-c", LOADED, str(written), command=sys.executable, folder=ROOT) as terminal:
        terminal.prompts()
        terminal.type("\x04")
        assert terminal.leaves() == 0
    loaded = written.read_text().split()
    assert "prompt_toolkit" in loaded
    heavy = "openai mcp aiohttp jsonschema rich pydantic typer httpx2 xllamacpp miniaudio"
    assert not set(heavy.split()) & set(loaded)
    assert "andy_cli.agent.turn" not in loaded


LINES = [
    [],
    ["chat"],
    ["chat", "--plain"],
    ["chat", "--no-session", "--plain"],
    ["chat", "--model", "m"],
    ["chat", "-m", "m"],
    ["chat", "--model=m", "--base-url=http://h/v1"],
    ["chat", "--base-url", "http://h/v1", "--api-key-env", "KEY"],
    ["chat", "-m", "a:b c", "--plain", "--no-session", "--base-url", "u"],
    ["chat", "--model", "x", "--model", "y"],
    ["chat", "hello", "--set", "ui.plain=true", "--set", "max_tokens=5"],
    ["chat", "--allow", "read", "--deny=run", "-y", "--", "--plain"],
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_the_short_way_into_the_chat_reads_flags_as_typer_does(line: list[str]) -> None:
    short = read_line(line[1:], SHARED_OPTIONS)
    assert not short.unread
    parsed = typer_reads(line[1:])
    assert parsed == {
        "prompt": "".join(short.words),
        **{each.field: short.given.get(each.field, EMPTY[each.kind]) for each in SHARED_OPTIONS},
    }


EMPTY: dict[type, object] = {str: "", bool: False, list: ()}


@pytest.mark.parametrize(
    ("line", "unread"),
    [
        (["hello", "--nope"], "--nope"),
        (["--help"], "--help"),
        (["--model"], "--model"),
        (["--model", "--plain"], "--model"),
        (["--plain=yes"], "--plain=yes"),
        (["-mfoo"], "-mfoo"),
    ],
    ids=str,
)
def test_what_the_short_way_does_not_know_is_left_to_typer(line: list[str], unread: str) -> None:
    assert read_line(line, SHARED_OPTIONS).unread == unread


def typer_reads(arguments: list[str]) -> dict[str, object]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return dict(group.commands["chat"].make_context("chat", list(arguments)).params)


def test_both_ways_open_the_same_chat() -> None:
    for way in ([], ["chat", "--set", "network.scan=false"]):
        with Terminal(*way, OPENAI_API_KEY="k") as terminal:
            terminal.prompts()
            terminal.type("/exit\r")
            assert terminal.leaves() == 0


def test_a_first_message_may_stand_on_the_command_line() -> None:
    with (
        ModelServer([streamed("Hello.")]) as server,
        Terminal("chat", "hi", "--base-url", server.url, "--model", "m") as terminal,
    ):
        assert "Hello." in terminal.prompts()


def test_the_chat_costs_nothing_while_it_waits() -> None:
    with chatting([streamed("x")]) as terminal:
        terminal.type("hello\r")
        terminal.prompts()
        terminal.sees("openai:m - native")
        before = terminal.raw
        terminal.settle(1.5)
        assert terminal.raw == before
