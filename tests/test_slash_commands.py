"""Slash commands: found, completed and carried out in a real terminal."""

import asyncio
import json
import re
import socket
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from andy_cli.agent.conversation import AnswerProvenance
from andy_cli.agent.grounding.evidence import ActionRecord, Evidence
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_controller import ChatController
from andy_cli.frontends.chat.chat_session import MODES, ChatSession
from andy_cli.frontends.chat.command_lookup import (
    find_command,
    find_offers,
    list_added,
    list_commands,
)
from andy_cli.frontends.chat.commands.conversation.why import OWN_WORDS, explain_lines
from andy_cli.frontends.chat.commands.sessions.export import read_argument
from andy_cli.frontends.chat.commands.setup.model import find_named_options
from andy_cli.frontends.chat.markdown_commands import fill_in
from andy_cli.frontends.chat.slash_command import check_argument
from andy_cli.frontends.command_line.options import Options
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest
from andy_cli.messages import Effect, Status
from andy_cli.settings import save
from tests.model_server import ModelServer, called, event, raw, status, streamed
from tests.shell import andy
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


def enter(terminal: Terminal, line: str, wanted: str) -> str:
    """Type a line and wait for what it says, then for the next prompt."""
    terminal.type(f"{line}\r")
    terminal.sees(wanted)
    return terminal.prompts()


def test_no_two_commands_share_a_name_or_an_alias() -> None:
    names = [name for each in list_commands() for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))


def test_the_page_of_commands_names_each_with_what_it_takes_and_its_aliases() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").replace("\\|", "|")
    for command in list_commands():
        words = [command.usage, *(f"/{alias}" for alias in command.aliases)]
        assert [word for word in words if f"`{word}`" not in page] == []


@pytest.mark.parametrize("typed", ["exit", "quit"])
def test_a_command_that_takes_nothing_is_not_run_with_something_behind_it(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def nobody(text: str, begun: str = "", secret: bool = False) -> str:
        raise AssertionError(f"asked {text}")

    controller = ChatController(Options(), nobody)
    asyncio.run(controller.answer_line(f"/{typed} banana"))
    said = " ".join(capsys.readouterr().out.split())
    assert f"/{typed} takes nothing, not 'banana': nothing is done. Type /{typed} alone." in said
    assert not controller.is_over
    asyncio.run(controller.answer_line(f"/{typed} "))
    assert controller.is_over


def test_a_change_that_cannot_be_taken_back_is_one_line_and_the_chat_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def change_and_undo(controller: ChatController) -> None:
        await controller.answer_line("write a note")
        Path("notes.txt").unlink()
        for line in ("/undo", "/clear", "/undo earlier", "/undo skip", "/undo earlier"):
            await controller.answer_line(line)
            exit_codes.append(controller.exit_code)
        await controller.close()

    async def nobody(text: str, begun: str = "", secret: bool = False) -> str:
        raise AssertionError(f"asked {text}")

    (folder := tmp_path / "folder").mkdir()
    monkeypatch.chdir(folder)
    exit_codes: list[int] = []
    writes = called("write_file", json.dumps({"path": "notes.txt", "content": "milk"}))
    with ModelServer([writes, streamed("Done.")]) as server:
        options = Options(base_url=server.url, model="m", mode="edits")
        asyncio.run(change_and_undo(ChatController(options, nobody)))
    said = " ".join(capsys.readouterr().out.split())
    reason = "notes.txt is not there any more. Nothing was changed."
    assert said.count(f"andy: Not taken back: made notes.txt. {reason}") == 2
    assert "`/undo skip` leaves it so" in said
    assert said.endswith("Left as it is: made notes.txt. There is nothing to take back.")
    assert exit_codes == [1, 0, 1, 0, 0]


def test_the_help_of_model_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    async def nobody(text: str, begun: str = "", secret: bool = False) -> str:
        raise AssertionError(f"asked {text}")

    asyncio.run(ChatController(Options(), nobody).answer_line("/help model"))
    assert " ".join(capsys.readouterr().out.split()) == (
        "/model [NAME] show or change the model /model lists the models, each with its number; "
        "/model NUMBER, NAME, PROVIDER:NAME or a URL changes it. also: /models"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("undo", ["/undo earlier takes back", "/undo skip leaves"]),
        ("mode", [f"{name}: {meaning}" for name, meaning in MODES.items()]),
        ("why", [OWN_WORDS]),
    ],
)
def test_the_help_of_a_command_says_more_than_its_line_in_the_list(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    async def nobody(text: str, begun: str = "", secret: bool = False) -> str:
        raise AssertionError(f"asked {text}")

    asyncio.run(ChatController(Options(), nobody).answer_line(f"/help {name}"))
    said = " ".join(capsys.readouterr().out.split())
    assert [each for each in words if each not in said] == []


@pytest.mark.parametrize(
    ("name", "leads_back"),
    [("m", True), ("openai:m", True), ("groq:m", False), ("ollama:m", False), ("openai", True)],
)
def test_the_server_of_the_start_is_asked_again_for_its_models(name: str, leads_back: bool) -> None:
    async def refuse(request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(False)

    address = "http://127.0.0.1:9/v1"
    session = ChatSession(Options(model="m", base_url=address), print, refuse)
    session.options = find_named_options(session, "local:smollm2")
    assert session.options.base_url == ""
    assert find_named_options(session, name).base_url == (address if leads_back else "")


def test_a_mode_that_was_set_in_the_chat_names_the_command_and_no_flag(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def set_and_look() -> None:
        for line in ("/config get guard.mode", "/mode edits", "/config get guard.mode"):
            await controller.answer_line(line)

    async def nobody(text: str, begun: str = "", secret: bool = False) -> str:
        raise AssertionError(f"asked {text}")

    controller = ChatController(Options(mode="plan"), nobody)
    asyncio.run(set_and_look())
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("plan  (--permission-mode)", "edits  (/mode)")


def test_only_a_command_whose_usage_is_its_name_refuses_what_is_typed_behind_it(
    home: Path,
) -> None:
    refusing = []
    for command in list_commands():
        try:
            check_argument(command, command.name, "banana")
        except UsageError:
            refusing.append(command.name)
    expected = "clear context cost doctor exit permissions stop why"
    assert refusing == expected.split()
    add_command(home / ".config" / "andy" / "commands", "plain", "Say something.")
    check_argument(find_command("plain", None), "plain", "banana")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hel", "Did you mean /help? "),
        ("hlep", "Did you mean /help? "),
        ("resum", "Did you mean /resume? "),
        ("qiut", "Did you mean /quit? "),
        ("DCOTOR", "Did you mean /doctor? "),
        ("xyzzy", ""),
    ],
)
def test_an_unknown_name_is_met_with_the_nearest(typed: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_command(typed, None)
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
        ("/export j", "jsonl"),
        ("/config g", "get"),
        ("/config set ui.pl", "set ui.plain"),
        ("/settings get network.id", "get network.idle_timeout"),
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
        assert "when andy asks before it acts" in screen
        terminal.type(" \t")
        terminal.sees("changes nothing")
        terminal.type("pl\t")
        terminal.sees("> /mode plan")
        enter(terminal, "", "plan: andy looks and plans, and changes nothing.")


@slow
def test_a_name_that_is_nearly_right_is_not_run_and_not_sent() -> None:
    with ModelServer([streamed("x")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            enter(
                terminal, "/exi", "There is no /exi. Did you mean /exit? /help lists what there is."
            )
        assert not server.requests


@slow
def test_tools_are_listed_and_explained_without_a_model() -> None:
    with Terminal("chat", "--no-session", folder=ROOT, columns=120, OPENAI_API_KEY="k") as terminal:
        terminal.prompts()
        terminal.type("/tools\r")
        text = terminal.sees("> \n".strip())
        terminal.wait(
            lambda: bool(re.search(r"^play_mp3 +play ", terminal.text, re.MULTILINE)), "tool"
        )
        enter(terminal, "/tools play_mp3", "which song (file name, title or number)")
        text = enter(terminal, "/tools play_mp4", "Did you mean play_mp3?")
    assert "models" not in text


def test_why_knows_lines_that_are_quoted_and_what_was_done() -> None:
    rows = "item,amount\nTea,3.50\nThe rest is free.\n"
    read = ActionRecord("read_file", Effect.READ, "read a.csv", "read a.csv, 3 lines")
    denied = ActionRecord("x", Effect.WRITE, "empty b.csv", "empty b.csv", Status.DENIED)
    answer = (
        "Read a.csv, 3 lines:\n\n| Tea | 3.50 |\n|---|---|\n\nitem,amount\nThe rest is free.\n\n"
        "So be it with b.csv."
    )
    evidence = Evidence((rows, "not allowed"), actions=(read, denied))
    assert [*explain_lines(AnswerProvenance(answer, evidence))] == [
        "Read a.csv, 3 lines:",
        "    read a.csv, 3 lines",
        "| Tea | 3.50 |",
        "    read a.csv, 3 lines: Tea,3.50",
        "item,amount",
        "    read a.csv, 3 lines: item,amount",
        "The rest is free.",
        "    read a.csv, 3 lines: The rest is free.",
        "So be it with b.csv.",
        f"    {OWN_WORDS}",
    ]


@slow
def test_mcp_servers_are_told_with_why_they_fail_and_what_to_type_next(home: Path) -> None:
    script = {"command": sys.executable, "args": ["-m", "tests.memory_server"], "cwd": str(ROOT)}
    add_servers(home, memory=script, broken={"command": "no-such-program"})
    with chatting([streamed("Hello.")], columns=220) as terminal:
        enter(terminal, "hi, memory and broken", "Hello.")
        for _ in range(2):  # why it failed stays to be seen
            text = enter(terminal, "/mcp", "then /mcp restart broken")
            file = home / ".config" / "andy" / "mcp.json"
            assert f"fix: `${{EDITOR:-vi}} {file}`" in " ".join(text.split())
            assert "broken  failed: there is no program 'no-such-program'" in text
            assert re.search(r"^memory +ready, \d+ tools", text, re.MULTILINE)
            enter(terminal, "/context", "in all")
        enter(terminal, "/mcp memory", "-m tests.memory_server")
        enter(terminal, "/mcp memry", "There is no server 'memry'.")
        enter(terminal, "/mcp restart memry", "There is no server 'memry'.")
        add_servers(home, memory=script, broken=script)
        enter(terminal, "/mcp restart broken", "broken  ready, 7 tools")
        enter(terminal, "/tools", "broken.search_memory")
        add_servers(home, memory=script, broken={"command": "no-such-program"})
        enter(terminal, "/mcp restart broken", "broken  failed: there is no program")
        enter(terminal, "/tools broken.search_memory", "There is no tool 'broken.search_memory'.")


def add_servers(home: Path, **entries: Mapping[str, object]) -> None:
    config = home / ".config" / "andy"
    config.mkdir(parents=True, exist_ok=True)
    (config / "mcp.json").write_text(json.dumps({"mcpServers": entries}))


@slow
def test_settings_are_shown_read_and_kept_in_the_chat(home: Path) -> None:
    with chatting([streamed("x")], "--set", "ui.plain=false", columns=120) as terminal:
        enter(terminal, "/config", "network.idle_timeout")
        enter(terminal, "/config get ui.plain", "false  (--set)")
        enter(
            terminal,
            "/config set network.idle_timeout 77",
            "/clear begins one.",
        )
        enter(terminal, "/config get network.idle_timeout", "77.0  (")
        enter(terminal, "/config set network.idle_timeot 7", "andy: ")
        enter(terminal, "/config get", "/config takes nothing, get KEY or set KEY VALUE")
    assert "idle_timeout = 77" in (home / ".config" / "andy" / "config.toml").read_text()


@slow
def test_the_doctor_looks_around_in_the_chat() -> None:
    with chatting([streamed("x")], columns=120, rows=60) as terminal:
        text = enter(terminal, "/doctor", "\nok    data ")
    assert re.search(r"^ok +python +andy ", text, re.MULTILINE)
    assert re.search(r"model openai", text)


@slow
def test_ctrl_c_ends_the_doctors_look() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as nobody,
        Terminal(
            "chat", "--base-url", f"http://127.0.0.1:{nobody.getsockname()[1]}/v1", "--model", "m"
        ) as terminal,
    ):
        terminal.prompts()
        terminal.type("/doctor\r")
        terminal.sees("Looking, for five seconds at most")
        terminal.type("\x03")
        terminal.sees("stopped")
        terminal.prompts()
        enter(terminal, "/cost", "Nothing has been sent yet.")


@slow
def test_this_session_is_exported_and_nothing_is_overwritten(home: Path) -> None:
    with (
        ModelServer([streamed("It is blue.")]) as server,
        Terminal("chat", *to(server)[:4], folder=home, columns=120) as terminal,
    ):
        terminal.prompts()
        enter(terminal, "/export", "Nothing has been said yet.")
        enter(terminal, "Which colour?", "It is blue.")
        enter(terminal, "/export", "Written to andy-")
        enter(terminal, "/export", "is there already.")
        enter(terminal, "/export talk.jsonl", "Written to talk.jsonl.")
        enter(terminal, "/export json other talk", "Written to other talk.")
    (markdown,) = home.glob("andy-*.md")
    assert "## You\n\nWhich colour?\n\n## andy\n\nIt is blue.\n" in markdown.read_text()
    assert markdown.stat().st_mode & 0o077 == 0
    lines = (home / "talk.jsonl").read_text().splitlines()
    assert [json.loads(line)["content"] for line in lines] == ["Which colour?", "It is blue."]
    assert json.loads((home / "other talk").read_text())["messages"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", ("md", "")),
        ("jsonl", ("jsonl", "")),
        ("json other talk", ("json", "other talk")),
        ("md talk.txt", ("md", "talk.txt")),
        ("other talk json", ("json", "other talk")),
        ("my talk.jsonl", ("jsonl", "my talk.jsonl")),
    ],
)
def test_the_format_of_an_export_stands_first_or_last_or_is_the_ending(
    typed: str, meant: tuple[str, str]
) -> None:
    assert read_argument(typed) == meant


@pytest.mark.parametrize("typed", ["docx", "docx foo", "talk.docx", "talk"])
def test_an_export_to_no_known_format_is_refused_with_those_there_are(typed: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_argument(typed)
    assert str(caught.value).startswith(f"{typed!r} names no format")
    assert "(md, json, jsonl)" in str(caught.value)
    assert caught.value.hint == "Name one before the file, as `/export md talk.txt`."


@slow
def test_cost_tells_the_tokens_and_that_no_price_is_known() -> None:
    usage = {"prompt_tokens": 1200, "completion_tokens": 34}
    counted = [*streamed("Hello.")[:-1], {"op": "sse", "data": {"choices": [], "usage": usage}}]
    with chatting([[*counted, raw("data: [DONE]\n\n")]]) as terminal:
        enter(terminal, "hi", "Hello.")
        enter(terminal, "/cost", "1,200 tokens in, 34 out")
        terminal.sees("cost: unknown")


def test_the_answer_of_a_session_that_is_gone_on_with_can_be_copied(home: Path) -> None:
    with ModelServer([streamed("Forty-two.")]) as server:
        with Terminal("chat", *to(server)[:4], folder=home, columns=100) as terminal:
            terminal.prompts()
            enter(terminal, "how many?", "Forty-two.")
        with Terminal("-c", *to(server)[:4], folder=home, columns=100) as terminal:
            terminal.prompts()
            enter(terminal, "/copy", "The answer was sent to the terminal")
            enter(terminal, "/why", "The last answer was given before this chat")


STORY = "It was a long story. " * 100


@slow
def test_compact_tells_what_was_folded_and_the_next_session_goes_on_from_it(home: Path) -> None:
    script = [streamed(STORY), streamed(STORY), streamed("Yes."), streamed("A king died.")]
    with ModelServer([*script, streamed("Of old age.")]) as server:
        with Terminal("chat", *to(server)[:4], folder=home, columns=100) as terminal:
            terminal.prompts()
            enter(terminal, "/compact", "There is nothing to fold")
            for words in ("tell me", "go on", "the end?"):
                terminal.type(f"{words}\r")
                terminal.prompts()
            text = enter(terminal, "/compact the king matters", "folded 3 messages: ")
            assert re.search(r"^folded 3 messages: 1,0\d\d -> \d\d tokens$", text, re.MULTILINE)
            terminal.type("/exit\r")
            assert terminal.leaves() == 0
        assert "the king matters" in str(server.requests[3].body)
        with Terminal("-c", *to(server)[:4], folder=home, columns=100) as terminal:
            terminal.prompts()
            terminal.sees("It was compacted: the model is told the summary")
            enter(terminal, "how?", "Of old age.")
            enter(terminal, "/export jsonl all.jsonl", "Written to all.jsonl.")
        told = str(server.requests[4].body)
    assert "A king died." in told
    assert STORY.strip() not in told
    assert (home / "all.jsonl").read_text().count(STORY.strip()) == 2


@slow
def test_ctrl_c_while_the_summary_is_written_leaves_everything_as_it_was() -> None:
    stalled = [status(), event({"content": "A king"}), {"op": "stall"}]
    script = [streamed(STORY), streamed(STORY), stalled, streamed("Here.")]
    with ModelServer(script) as server, Terminal("chat", *to(server)) as terminal:
        terminal.prompts()
        for words in ("tell me", "go on"):
            terminal.type(f"{words}\r")
            terminal.prompts()
        terminal.type("/compact\r")
        terminal.sees("openai:m writes a summary")
        terminal.wait(lambda: len(server.requests) == 3, "request for a summary")
        terminal.type("\x03")
        terminal.sees("stopped")
        terminal.prompts()
        enter(terminal, "still there?", "Here.")
        assert str(server.requests[3].body).count(STORY.strip()) == 2


REVIEW = """---
description: say what a change does
argument-hint: FILE [LANGUAGE]
allowed-tools: Bash(*)
model: opus
---
Read $1 and say in $2 what changed, for $100. All: $ARGUMENTS. Status: !`touch PWNED`
"""


def add_command(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("argument", "filled"),
    [
        ("a.py German", "a.py, German, a.py German, $100"),
        ("\"my file\" 'x'", "my file, x, \"my file\" 'x', $100"),
        ("don't", "don't, , don't, $100"),
        ("$2 $ARGUMENTS", "$2, $ARGUMENTS, $2 $ARGUMENTS, $100"),
    ],
)
def test_what_was_typed_fills_the_slots_once(argument: str, filled: str) -> None:
    assert fill_in("$1, $2, $ARGUMENTS, $100", argument) == filled


def test_what_was_typed_stands_behind_a_body_without_slots() -> None:
    assert fill_in("Sum up.\n", "in German") == "Sum up.\n\nin German"
    assert fill_in("Sum up.\n", "") == "Sum up.\n"


def test_commands_in_files_are_offered_beneath_those_of_andy(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDY_CONFIG_DIR", str(home / "elsewhere"))
    own = home / "elsewhere" / "commands"
    add_command(own, "review", REVIEW)
    add_command(own, "git/commit", "# Commit what is staged\n\nLook at the diff first.")
    add_command(own, "help", "I am the help now.")
    add_command(own, "quit", "I stay.")
    add_command(own, "two words", "x")
    added = list_added(None)
    told = {command.usage: command.about for command in added.commands}
    assert told == {
        "/review FILE [LANGUAGE]": "say what a change does",
        "/git:commit": "Commit what is staged",
    }
    assert offered("/git") == {"/git:commit": "Commit what is staged"}
    assert find_command("GIT:commit", None).name == "git:commit"
    reasons = "\n".join(added.notes)
    assert "there is a /help already" in reasons
    assert "there is a /quit already" in reasons
    assert "two words.md, whose name is none for a command" in reasons
    with pytest.raises(UsageError, match=r"Did you mean /review\?"):
        find_command("reveiw", None)


def test_commands_of_a_project_are_offered_once_it_is_trusted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home / "project"
    add_command(project / ".andy" / "commands", "deploy", "Deploy it.")
    (home / "notes.md").write_text("private")
    (project / ".andy" / "commands" / "leak.md").symlink_to(home / "notes.md")
    monkeypatch.chdir(project)
    assert list_added(None).commands == ()
    assert "`andy trust` lets this folder bring them." in list_added(None).notes[0]
    save("trust.folders", [str(project)])
    assert [command.name for command in list_added(None).commands] == ["deploy"]
    assert "leak.md, which leads out of the project" in list_added(None).notes[0]
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert [command.name for command in list_added(None).commands] == ["deploy"]


@slow
def test_a_command_in_a_file_is_sent_as_the_users_words_and_permits_nothing(home: Path) -> None:
    (home / "private").mkdir()
    (home / "private" / "notes.txt").write_text("the plan")
    (home / "here").mkdir()
    path = home / "private" / "notes.txt"
    commands = home / ".config" / "andy" / "commands"
    add_command(commands, "review", REVIEW)
    add_command(commands, "plan", f"Read {path}")
    reads = called("read_file", json.dumps({"path": str(path)}))
    script = [streamed("Reviewed."), reads, streamed("I may not.")]
    with ModelServer(script) as server:
        with Terminal("chat", *to(server), folder=home / "here", columns=120) as terminal:
            terminal.prompts()
            enter(terminal, "/help", "/review FILE [LANGUAGE]  say what a change does")
            text = enter(terminal, "/review a.py German", "Reviewed.")
            assert "/review: allowed-tools, model is passed over" in text
            terminal.type("/plan\r")
            terminal.sees("once")  # a question, as the file alone named the place
            terminal.type("n\r")
            terminal.sees("I may not.")
        said = server.requests[0].body["messages"][-1]["content"]
        assert "the plan" not in str(server.requests[2].body)
    assert said == (
        "Read a.py and say in German what changed, for $100. All: a.py German."
        " Status: !`touch PWNED`"
    )
    assert not [*home.rglob("PWNED")]


@slow
def test_a_place_that_is_typed_behind_a_command_counts_as_named(home: Path) -> None:
    (home / "private").mkdir()
    path = home / "private" / "notes.txt"
    path.write_text("the plan")
    (home / "here").mkdir()
    add_command(home / ".config" / "andy" / "commands", "sum", "Sum up $ARGUMENTS")
    reads = called("read_file", json.dumps({"path": str(path)}))
    with ModelServer([reads, streamed("A plan.")]) as server:
        with Terminal("chat", *to(server), folder=home / "here", columns=120) as terminal:
            terminal.prompts()
            enter(terminal, f"/sum {path}", "A plan.")
        assert "the plan" in str(server.requests[1].body)


def test_files_named_with_an_at_are_attached_to_a_command_of_ones_own(home: Path) -> None:
    here = home / "here"
    here.mkdir()
    (here / "notes.txt").write_text("the plan")
    (here / "a b.txt").write_text("the rest")
    (home / "outside.txt").write_text("the secret")
    commands = home / ".config" / "andy" / "commands"
    add_command(commands, "sum", "Sum up $1")
    add_command(commands, "all", "Sum up @notes.txt")
    add_command(commands, "out", f"Sum up @{home}/outside.txt")
    lines = ("/sum @notes.txt", '/sum @"a b.txt"', "/sum @none.txt", "/all", "/out")
    with ModelServer([streamed("Well.")] * len(lines)) as server:
        done = andy("chat", *to(server), home=home, cwd=here, stdin="\n".join(lines))
    said = [request.body["messages"][-1]["content"] for request in server.requests]
    held = [any(f"the {word}" in text for word in ("plan", "rest")) for text in said]
    assert held == [True, True, False, True], done.out + done.err
    assert "There is no file none.txt; the nearest is notes.txt." in done.out + done.err
    assert "No tool was used" not in done.out + done.err
    assert "is not attached: you said no." in done.out + done.err


@slow
def test_each_permission_is_told_with_where_it_was_said(home: Path) -> None:
    file = save("guard.allow", ["Bash(make *)"])
    with chatting([streamed("x")], "--allow", "Bash(npm test)", columns=120) as terminal:
        text = enter(terminal, "/permissions", "Rules are kept in")
    assert f"allow Bash(make *)  ({file})" in text
    assert "allow Bash(npm test)  (--allow)" in text
    assert "no rules" not in text


@slow
def test_where_there_are_no_rules_permissions_says_so(home: Path) -> None:
    with chatting([streamed("x")], columns=120) as terminal:
        assert "There are no rules.\n" in enter(terminal, "/permissions", "Rules are kept in")


@slow
def test_what_was_agreed_to_for_the_session_is_a_permission_until_clear(home: Path) -> None:
    writes = called("write_file", json.dumps({"path": "notes.txt", "content": "milk"}))
    with chatting([writes, streamed("Done.")], folder=home, columns=120) as terminal:
        terminal.type("write a note\r")
        terminal.sees("2 this session")
        terminal.type("2\r")
        terminal.sees("Done.")
        text = enter(terminal, "/permissions", "Rules are kept in")
        assert "allow write_file(notes.txt)  (for this session)" in text
        enter(terminal, "/clear", "A new conversation.")
        terminal.type("/permissions\r")
        terminal.wait(lambda: terminal.text.count("Rules are kept in") == 2, "second list")
        assert terminal.text.count("(for this session)") == 1


@slow
def test_a_slash_alone_is_the_page_of_help_and_no_line_of_it_is_ragged() -> None:
    with chatting([streamed("x")], rows=60) as terminal:
        text = enter(terminal, "/", "Ctrl-O shows")
    said = text[text.index("Enter sends") :].splitlines()
    for line, after in pairwise(said):
        ended = line.endswith(".") or line.startswith((">", "m "))
        assert ended or len(f"{line} {after.split()[0]}") > 79
