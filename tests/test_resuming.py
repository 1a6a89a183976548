"""Sessions that are gone on with: by real processes, after kills, with other models."""

import json
import os
import random
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from andy_cli.errors import UsageError
from andy_cli.frontends.session_choice import number_sessions, offer_sessions, pick_session
from andy_cli.messages import Message, ToolCall
from andy_cli.sessions.log import read, read_records
from andy_cli.sessions.store import BEGUN, NOT_BEGUN, SessionCard, list_sessions
from tests.marking_conversation import answer_request, install_mark_tool
from tests.model_server import Answer, ModelServer, Operation, called, event, status, streamed
from tests.shell import ANDY, Done, andy, environment, start_andy
from tests.terminal import Terminal
from tests.test_session_store import ANSWER, HELLO, write_session

STALLED: list[Operation] = [status(), event({"content": "I am thinking"}), {"op": "stall"}]
KEY = "sk-proj-Zx8QwB3nTb9Lk2VmZx8QwB3nTb9Lk2Vm"


@pytest.fixture
def here(home: Path) -> Path:
    folder = home / "here"
    folder.mkdir()
    return folder


def kept(home: Path) -> Path:
    return home / ".local" / "state" / "andy" / "sessions"


def ids(home: Path) -> list[str]:
    return [card.id for card in list_sessions(kept(home))]


def run(server: ModelServer, *arguments: str, home: Path, cwd: Path) -> Done:
    flags = ("--base-url", server.url, "--model", "m", "--no-stdin", "--no-wait")
    return andy("run", *flags, *arguments, home=home, cwd=cwd)


def texts(server: ModelServer, request: int = -1) -> list[str]:
    """What the model was sent, without the system prompt."""
    messages = server.requests[request].body["messages"]
    return [str(each["content"]) for each in messages if each["role"] != "system"]


def test_what_was_refused_then_was_not_done_in_the_next_process_either(
    home: Path, here: Path
) -> None:
    """A call of an earlier process is known with how it ended, and is proof of nothing else."""
    told = "Yes, a.txt was saved."
    for flags in (), ("-y",):
        call = called("write_file", '{"path": "a.txt", "content": "hello"}')
        with ModelServer([call, streamed("That was it."), *[streamed(told)] * 3]) as server:
            run(server, *flags, "write hello to a.txt", home=home, cwd=here)
            done = run(server, "-c", "did you save it?", home=home, cwd=here)
        assert ("(not verified)" in done.out) is (not flags)


@contextmanager
def chatting(
    script: Sequence[Answer], *arguments: str, folder: Path
) -> Iterator[tuple[Terminal, ModelServer]]:
    with (
        ModelServer(script) as server,
        Terminal(
            *arguments, "--base-url", server.url, "--model", "m", folder=folder, columns=100
        ) as terminal,
    ):
        yield terminal, server


def test_run_goes_on_with_the_newest_session_of_this_folder(home: Path, here: Path) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    with ModelServer([streamed("Noted."), streamed("Fine."), streamed("It is blue.")]) as server:
        run(server, "My colour is blue.", home=home, cwd=here)
        run(server, "Nothing of note.", home=home, cwd=elsewhere)
        done = run(server, "-c", "Which colour?", home=home, cwd=here)
        assert (done.code, done.out) == (0, "It is blue.\n")
        assert texts(server) == ["My colour is blue.", "Noted.", "Which colour?"]
    assert "> My colour is blue.\n  Noted.\n" in done.err
    assert "What you agreed to then is asked again." in done.err
    assert len(ids(home)) == 2
    (path,) = [card.path for card in list_sessions(kept(home), here)]
    assert [each.content for each in read(path)][-2:] == ["Which colour?", "It is blue."]
    numbers = [record["seq"] for record in read_records(path)]
    assert numbers == [*range(1, len(numbers) + 1)]


def test_an_answer_that_was_taken_back_does_not_return_with_the_session(
    home: Path, here: Path
) -> None:
    replies = ["I have deleted the file old.log.", "Nothing was done yet.", "Well."]
    with ModelServer([streamed(reply) for reply in replies]) as server:
        run(server, "Is old.log still there?", home=home, cwd=here)
        assert len(server.requests) == 2, "it was asked for anew"
        run(server, "-c", "How are you?", home=home, cwd=here)
        told = ["Is old.log still there?", "Nothing was done yet.", "How are you?"]
        assert texts(server) == told
    (card,) = list_sessions(kept(home))
    assert [message.content for message in read(card.path)] == [*told, "Well."]


@pytest.mark.slow
def test_what_the_model_is_sent_less_of_is_told_once_a_turn(home: Path, here: Path) -> None:
    small = ("-c", "--set", "limits.context=8192")
    with ModelServer([streamed("Noted.")] * 4) as server:
        run(server, "a long story " * 5000, home=home, cwd=here)
        run(server, "another one " * 5000, home=home, cwd=here)
        done = run(server, *small, "and now?", home=home, cwd=here)
        assert done.err.count("has no room for the whole conversation") == 1, done.err
        assert "Earlier messages are shortened in what the model is sent" in done.err
        quiet = run(server, *small, "-q", "and now?", home=home, cwd=here)
    assert (done.out, quiet.out) == ("Noted.\n", "Noted.\n")
    assert "no room" not in quiet.err


@pytest.mark.slow
def test_lines_of_a_session_that_cannot_be_read_are_told(home: Path, here: Path) -> None:
    with ModelServer([streamed("Hello Bea.")] * 3) as server:
        run(server, "my name is Bea", home=home, cwd=here)
        (path,) = kept(home).glob("*.jsonl")
        assert "cannot be read" not in run(server, "-c", "hi", home=home, cwd=here).err
        path.write_bytes(path.read_bytes().replace(b"name is Bea", b"name is Eva", 1) + b'{"torn')
        done = run(server, "-c", "who am I?", home=home, cwd=here)
    assert done.code == 0
    told = "1 line of its file cannot be read: what stood there is left out."
    assert told in done.err
    for command in (("show", path.stem), ("export", path.stem, "json")):
        # The line that was torn has an end since, and cannot be read either.
        done = andy("sessions", *command, home=home)
        assert (done.code, done.err) == (0, f"andy: {told.replace('1 line', '2 lines')}\n")
        assert "Hello Bea." in done.out


def test_a_session_of_a_newer_andy_is_not_written_by_giving_it_a_name(home: Path) -> None:
    """It would be one of this andy's after that, and gone on with in the wrong form."""
    path = write_session(kept(home), "newer", HELLO, card={"folder": "/here", "version": 99})
    before = path.read_bytes()
    done = andy("sessions", "rename", "newer", "mine", home=home)
    assert (done.code, "was written by a newer andy" in done.err) == (2, True)
    assert path.read_bytes() == before


def test_a_session_is_gone_on_with_by_the_beginning_of_its_id(home: Path, here: Path) -> None:
    with ModelServer([streamed("One."), streamed("Two."), streamed("Yes.")]) as server:
        run(server, "First", home=home, cwd=here)
        (first,) = ids(home)
        time.sleep(1.1)  # an id begins with the second
        run(server, "Second", home=home, cwd=here)
        done = run(server, "-r", first[:-3], "Still there?", home=home, cwd=here)
        assert done.code == 0, done.err
        assert texts(server) == ["First", "One.", "Still there?"]


@pytest.mark.slow
def test_the_folder_is_known_again_where_a_shell_tells_it_too(home: Path, here: Path) -> None:
    with ModelServer([streamed("One."), streamed("Two."), streamed("Three.")]) as server:
        flags = ("--base-url", server.url, "--model", "m", "--no-stdin")
        for more in ((), ("-c",), ("-c",)):
            done = andy("run", *flags, *more, "hi", home=home, cwd=here, PWD=str(here))
            assert done.code == 0, done.err
    assert len(ids(home)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("-c", "hello"), "No session was held in "),
        (("-r", "nonsense", "hello"), "There is no session 'nonsense'."),
        (("-r", "../../../etc/passwd", "hello"), "There is no session '../../../etc/passwd'."),
        (("-r", "2", "hello"), "2 sessions begin with '2': 20260101-a, 20260102-b."),
        (("-r", "hello there"), "-r needs the id of a session"),
        (("-c", "-r", "2026", "hello"), "-c is the newest session and -r names one."),
        (("-c", "--no-session", "hello"), "--no-session keeps nothing on disk"),
        (("-r", "foreign", "hello"), "Nothing was said in "),
        (("-r", "newer", "hello"), "The session newer was written by a newer andy."),
    ],
)
def test_what_cannot_be_gone_on_with_is_one_sentence_and_exit_code_2(
    home: Path, here: Path, flags: tuple[str, ...], said: str
) -> None:
    for id in ("20260101-a", "20260102-b"):
        write_session(kept(home), id, HELLO, ANSWER, card={"folder": "/elsewhere"})
    write_session(kept(home), "newer", HELLO, card={"folder": "/elsewhere", "version": 99})
    foreign = kept(home) / "foreign.jsonl"
    foreign.write_bytes(b"\x89PNG\r\n not a session")
    with ModelServer([]) as server:
        done = run(server, *flags, home=home, cwd=here)
    assert done.code == 2
    assert f"andy: {said}" in done.err
    assert foreign.read_bytes() == b"\x89PNG\r\n not a session"


@pytest.mark.slow
def test_another_dialect_renders_the_calls_of_a_session_anew(home: Path, here: Path) -> None:
    calls = (ToolCall("c1", "current_time", {"zone": "UTC"}),)
    said = [
        Message("user", "What time is it?"),
        Message("assistant", "", calls),
        Message("tool", "noon", call_id="c1", name="current_time"),
        Message("assistant", "It is noon."),
    ]
    write_session(kept(home), "s", *said, card={"folder": str(here)})
    for dialect, role in (("native", "tool"), ("hermes", "user"), ("andybot", "user")):
        with ModelServer([streamed("Noon.")]) as server:
            done = run(server, "-c", "--set", f"dialect={dialect}", "And?", home=home, cwd=here)
            assert done.code == 0, done.err
            messages = server.requests[0].body["messages"]
            (told,) = [each for each in messages if "noon" in str(each["content"])][:1]
            assert told["role"] == role
            assert ("tool_calls" in json.dumps(messages)) == (dialect == "native")


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(8))
def test_after_kill_9_in_the_middle_nothing_runs_again_and_the_session_goes_on(
    home: Path, here: Path, moment: int
) -> None:
    """The mark tool notes each time it really runs."""
    config = home / "config"
    install_mark_tool(config)
    marks = home / "marks"
    marks.touch()
    more = {"ANDY_CONFIG_DIR": str(config), "MARKS": str(marks)}
    step = random.Random(moment).randint(8, 40)
    dying = {"PYTHONPATH": str(Path(__file__).parent / "dying"), "DIES_AT": f"{step}:0.5"}
    with ModelServer(answer_request) as server:
        flags = ("-y", "--no-wait", "--no-stdin", "--base-url", server.url, "--model", "m")
        killed = subprocess.run(
            [str(ANDY), "run", *flags, "Mark 6 times."],
            cwd=here,
            env=environment(home, **more, **dying),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert killed.returncode == -signal.SIGKILL
        before = marks.read_text().split()
        done = andy("run", *flags, "-c", "Mark 1 times from 700", home=home, cwd=here, **more)
        assert done.code == 0, done.err
        sent = server.requests[-1].body["messages"]
    assert marks.read_text().split() == [*before, "700"]
    asked = [call["id"] for each in sent for call in each.get("tool_calls", ())]
    assert [each["tool_call_id"] for each in sent if each["role"] == "tool"] == asked
    (path,) = [card.path for card in list_sessions(kept(home))]
    messages = [*read(path)]
    interrupted = [each.content for each in messages if each.content in (BEGUN, NOT_BEGUN)]
    assert len(interrupted) <= 1
    assert ("It does not run again by itself." in done.err) == (BEGUN in interrupted)


SLOW_TOOL = '''
"""Do something that takes its time."""

import os
import time

from andy_cli.toolbox.tool import tool


@tool(effect="write", action="build {what}")
def build(what: str) -> str:
    """Build something"""
    with open(os.environ["MARKS"], "a") as marks:
        marks.write(f"{what}\\n")
    time.sleep(60)
    return "built"
'''


@pytest.mark.slow
def test_a_tool_that_ran_when_andy_was_killed_is_told_of_and_does_not_run_again(
    home: Path, here: Path
) -> None:
    config, marks = home / "config", home / "marks"
    (config / "tools").mkdir(parents=True)
    (config / "tools" / "build.py").write_text(SLOW_TOOL)
    more = {"ANDY_CONFIG_DIR": str(config), "MARKS": str(marks)}
    script = [called("build", '{"what": "the house"}'), streamed("Let me see first.")]
    with ModelServer(script) as server:
        flags = ("--base-url", server.url, "--model", "m", "--no-stdin")
        words = ("run", "-y", *flags, "Build the house")
        killed = start_andy(*words, home=home, cwd=here, typed=False, **more)
        give_up = time.monotonic() + 30
        while not (marks.exists() and marks.read_text()):
            assert time.monotonic() < give_up
            time.sleep(0.02)
        killed.kill()
        killed.communicate()
        done = andy("run", *flags, "-c", "Is it done?", home=home, cwd=here, **more)
        told = [each for each in server.requests[-1].body["messages"] if each["role"] == "tool"]
    assert done.out == "Let me see first.\n"
    assert "andy was ended in the middle of: build the house. Whether it had its" in done.err
    assert [each["content"] for each in told] == [BEGUN]
    assert marks.read_text() == "the house\n"


@pytest.mark.slow
def test_what_was_sent_when_andy_was_killed_is_not_sent_again_without_a_yes(
    home: Path, here: Path
) -> None:
    config, marks = home / "config", home / "marks"
    (config / "tools").mkdir(parents=True)
    (config / "tools" / "build.py").write_text(SLOW_TOOL.replace('"write"', '"act"'))
    more = {"ANDY_CONFIG_DIR": str(config), "MARKS": str(marks)}
    build = called("build", '{"what": "the house"}')
    with ModelServer([build, build, streamed("I leave it.")]) as server:
        flags = ("-y", "--base-url", server.url, "--model", "m", "--no-stdin")
        killed = start_andy("run", *flags, "Build it", home=home, cwd=here, typed=False, **more)
        give_up = time.monotonic() + 30
        while not (marks.exists() and marks.read_text()):
            assert time.monotonic() < give_up
            time.sleep(0.02)
        killed.kill()
        killed.communicate()
        done = andy("run", *flags, "-c", "Go on", home=home, cwd=here, **more)
    assert "Not done: build the house (not allowed)" in done.err
    assert marks.read_text() == "the house\n"


def as_first_written(records: Sequence[dict[str, object]]) -> bytes:
    """As the first version did: no cards, no notes, half surrogates as question marks."""
    lines = []
    for record in records:
        line = json.dumps(record, ensure_ascii=False)
        check = f"{zlib.crc32(line.encode('utf-8', 'replace')):08x}"
        lines.append(json.dumps({**record, "check": check}, ensure_ascii=False))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


@pytest.mark.slow
def test_a_session_of_the_first_version_is_listed_and_gone_on_with(home: Path, here: Path) -> None:
    records: list[dict[str, object]] = [
        {"seq": 1, "type": "message", "time": 1.5, "role": "user", "content": f"Use {KEY} \ud800"},
        {"seq": 2, "type": "message", "time": 2.5, "role": "assistant", "content": "Ja, gërne."},
    ]
    kept(home).mkdir(parents=True)
    path = kept(home) / "20250101-000000-abcd.jsonl"
    path.write_bytes(as_first_written(records))
    assert "andy: No session was held in " in andy("sessions", "list", home=home, cwd=here).err
    listed = andy("sessions", "list", "--all", home=home, cwd=here).out
    assert listed.startswith("20250101-000000-abcd  now  ?  Use ")
    assert KEY[8:] not in listed + andy("sessions", "show", "2025", home=home, cwd=here).out
    with ModelServer([streamed("Still here.")]) as server:
        done = run(server, "-r", "2025", "Are you?", home=home, cwd=here)
        assert texts(server)[1:] == ["Ja, gërne.", "Are you?"]
    assert done.code == 0
    assert KEY[8:] not in done.err
    assert path.read_bytes().startswith(as_first_written(records))
    assert "20250101" in andy("sessions", "list", home=home, cwd=here).out


@pytest.mark.slow
def test_a_session_whose_folder_is_gone_goes_on_where_the_user_is(home: Path, here: Path) -> None:
    write_session(kept(home), "s", HELLO, ANSWER, card={"folder": str(home / "gone")})
    with ModelServer([streamed("Yes.")]) as server:
        done = run(server, "-r", "s", "Are you there?", home=home, cwd=here)
    assert done.code == 0
    assert f"It was held in {home / 'gone'}, which is gone; tools work in {here} now." in done.err


def test_a_folder_that_was_removed_under_andy_is_one_sentence(home: Path, here: Path) -> None:
    for command in ("run -c hi", "sessions list", "run hi"):
        here.mkdir(exist_ok=True)
        done = subprocess.run(
            ["sh", "-c", f'rmdir "{here}" && exec "{ANDY}" {command}'],
            cwd=here,
            env=environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("andy: The current folder is gone.\n  Go to another: cd ~.")


@pytest.mark.slow
def test_a_chat_that_cannot_go_on_ends_at_once_and_says_why(home: Path, here: Path) -> None:
    for flags, said in (
        (("-c",), "No session was held in"),
        (("-r",), "No session was held in"),
        (("-r", "nonsense"), "There is no session 'nonsense'."),
    ):
        with Terminal(*flags, folder=here, columns=200) as terminal:
            terminal.sees(f"andy: {said}")
            assert terminal.leaves() == 2


@pytest.mark.slow
def test_a_session_has_one_writer_and_the_second_is_told_who_it_is(home: Path, here: Path) -> None:
    with chatting([streamed("Hi."), STALLED], "chat", folder=here) as (terminal, server):
        terminal.prompts()
        terminal.type("hello\r")
        terminal.sees("Hi.")
        done = run(server, "-c", "me too", home=home, cwd=here)
        assert done.code == 2
        assert f"process {terminal.pid} writes to it.\n  Leave it there (Ctrl-D), then" in done.err
        (id,) = ids(home)
        for command in (("rm", id), ("rename", id, "x")):
            refused = andy("sessions", *command, home=home, cwd=here)
            assert (refused.code, f"process {terminal.pid} writes" in refused.err) == (2, True)
        terminal.prompts()
        terminal.type("and now?\r")
        terminal.sees("I am")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.leaves()
    with ModelServer([streamed("Again.")]) as server:
        done = run(server, "-c", "me too", home=home, cwd=here)
        assert (done.code, done.out) == (0, "Again.\n")
        assert texts(server) == ["hello", "Hi.", "and now?", "(no answer)", "me too"]


@pytest.mark.slow
def test_chat_says_how_to_resume_and_shows_what_was_said_last(home: Path, here: Path) -> None:
    with chatting([streamed("Blue it is.")], folder=here) as (terminal, _):
        terminal.prompts()
        terminal.type("My colour is blue.\r")
        terminal.sees("Blue it is.")
        terminal.prompts()
        terminal.type("\x04")
        assert terminal.leaves() == 0
        assert "resume with `andy -c`" in terminal.text
    with chatting([streamed("Blue, as you said.")], "-c", folder=here) as (terminal, server):
        text = terminal.prompts()
        assert "> My colour is blue.\n  Blue it is.\n" in text
        terminal.type("Which?\r")
        terminal.sees("Blue, as you said.")
        assert texts(server)[:2] == ["My colour is blue.", "Blue it is."]
    assert len(ids(home)) == 1


@pytest.mark.slow
def test_a_chat_in_which_nothing_was_said_leaves_no_session_and_no_advice(
    home: Path, here: Path
) -> None:
    with Terminal(folder=here, OPENAI_API_KEY="k") as terminal:
        terminal.sees("gpt-5-mini of openai (OPENAI_API_KEY is set)")
        terminal.prompts()
        terminal.type("\x04")
        assert terminal.leaves() == 0
        assert "resume" not in terminal.text
    assert ids(home) == []


@pytest.mark.slow
def test_a_session_is_chosen_from_a_list_by_its_number(home: Path, here: Path) -> None:
    for at, id in enumerate(("old", "new")):
        said = Message("user", f"About the {id} house")
        path = write_session(kept(home), id, said, ANSWER, card={"folder": str(here)})
        os.utime(path, (1e9 + at, 1e9 + at))
    with chatting([streamed("Yes.")], "-r", folder=here) as (terminal, server):
        text = terminal.sees("Which one?")
        assert text.index("1  new") < text.index("2  old")
        terminal.type("7\r")
        terminal.sees("There is no number 7 in the list.")
        # An answer counts that was typed after the question was shown.
        terminal.wait(lambda: terminal.text.count("Which one?") == 2, "second question")
        terminal.type("2\r")
        terminal.sees("Going on with old.")
        terminal.prompts()
        terminal.type("Still?\r")
        terminal.sees("Yes.")
        assert texts(server)[0] == "About the old house"
    with Terminal("chat", "-r", folder=here) as terminal:
        terminal.sees("Which one?")
        terminal.type("\x04")
        assert terminal.leaves() == 0


def test_a_list_of_sessions_that_is_cut_says_how_many_more_there_are() -> None:
    cards = [SessionCard(Path(f"s{number:02}.jsonl"), 0.0, 1) for number in range(1, 34)]
    lines = number_sessions(cards).split("\n")
    assert len(lines) == 16
    assert lines[14].startswith(" 15  s15  ")
    assert lines[15] == "18 more: `andy sessions list` shows all."
    assert pick_session("15", cards) is cards[14]
    with pytest.raises(UsageError, match="There is no number 16 in the list"):
        pick_session("16", cards)
    assert len(number_sessions(cards[:15]).split("\n")) == 15


def test_all_sessions_of_the_folder_are_counted(
    home: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    for number in range(17):
        write_session(kept(home), f"202601{number:02}-a", HELLO, card={"folder": str(here)})
    offered = offer_sessions(without="20260103-a")
    assert number_sessions(offered).endswith("\n1 more: `andy sessions list` shows all.")


@pytest.mark.slow
def test_slash_commands_list_and_go_on_with_sessions(home: Path, here: Path) -> None:
    write_session(kept(home), "20260101-aaaa", HELLO, ANSWER, card={"folder": str(here)})
    script = [streamed("One."), streamed("Two.")]
    with chatting(script, "chat", folder=here) as (terminal, server):
        terminal.prompts()
        terminal.type("first\r")
        terminal.sees("One.")
        terminal.prompts()
        terminal.type("/sessions\r")
        text = terminal.prompts()
        assert "  1  20260101-aaaa" in text
        assert "  2  " not in text, "the conversation itself is none to go on with"
        terminal.type("/resume nonsense\r")
        terminal.sees("There is no session 'nonsense'.")
        terminal.prompts()
        terminal.type("/resume 1\r")
        terminal.sees("Going on with 20260101-aaaa.")
        terminal.prompts()
        terminal.type("second\r")
        terminal.sees("Two.")
        assert texts(server) == ["Hello", "Good morning", "second"]
    assert [*read(kept(home) / "20260101-aaaa.jsonl")][-1].content == "Two."


@pytest.mark.slow
def test_consents_are_asked_again_after_a_session_is_resumed(home: Path, here: Path) -> None:
    (home / "secret").mkdir()
    (home / "secret" / "plan.txt").write_text("the plan")
    named = Message("user", f"Read {home}/secret/plan.txt")
    write_session(kept(home), "s", named, ANSWER, card={"folder": str(here)})
    path = json.dumps({"path": f"{home}/secret/plan.txt"})
    with ModelServer([called("read_file", path), streamed("No.")]) as server:
        done = run(server, "-c", "Do it now", home=home, cwd=here)
    assert done.code == 3
    assert "the plan" not in (kept(home) / "s.jsonl").read_text()


@pytest.mark.slow
def test_sessions_are_listed_named_found_shown_exported_and_removed(home: Path, here: Path) -> None:
    def sessions(*arguments: str) -> Done:
        return andy("sessions", *arguments, home=home, cwd=here)

    assert sessions("list", "--json").out == "[]\n"
    said = [
        Message("user", f"Where is the Blue house? {KEY}"),
        Message("assistant", "I look.", (ToolCall("c1", "search_files", {"text": "blue"}),)),
        Message("tool", "street 5", call_id="c1", name="search_files"),
        Message("assistant", "In street 5."),
        Message("user", "(Your last message was cut off.)", note=True),
    ]
    write_session(kept(home), "20260101-aaaa", *said, card={"folder": str(here), "model": "m"})
    write_session(kept(home), "20260101-bbbb", HELLO, card={"folder": "/elsewhere"})
    (listed,) = json.loads(sessions("list", "--json").out)
    assert listed["id"] == "20260101-aaaa"
    assert (listed["model"], listed["folder"]) == ("m", str(here))
    assert len(json.loads(sessions("list", "--all", "--json").out)) == 2
    assert sessions("rename", "20260101-a", "the house").code == 0
    assert sessions("list").out.endswith("  the house\n")
    assert sessions("search", "STREET 5").out.count("20260101-aaaa") == 2
    assert sessions("search", "good morning").code == 1
    assert sessions("search", "cut off").code == 1  # which nobody said
    assert json.loads(sessions("search", "blue", "--json").out)[0]["role"] == "user"
    shown = sessions("show", "20260101-a").out
    assert "# the house" in shown
    assert "## andy\n\nIn street 5.\n" in shown
    exported = here / "out.md"
    assert sessions("export", "20260101-a", "md", str(exported)).code == 0
    assert exported.read_text() == shown
    assert exported.stat().st_mode & 0o777 == 0o600
    again = sessions("export", "20260101-a", "md", str(exported))
    assert (again.code, "is there already" in again.err) == (2, True)
    assert sessions("export", "20260101-a", "pdf").code == 2
    assert "Missing argument 'md|json|jsonl'" in sessions("export", "20260101-a").err
    whole = json.loads(sessions("export", "20260101-a", "json").out)
    lines = [
        json.loads(line) for line in sessions("export", "20260101-a", "jsonl").out.splitlines()
    ]
    assert whole["messages"] == lines
    roles = [each["role"] for each in lines]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert KEY[8:] not in shown + json.dumps(whole)
    assert sessions("rm", "20260101-a").code == 0
    assert ids(home) == ["20260101-bbbb"]
    assert sessions("show", "20260101-a").code == 2


def test_tab_offers_the_ids_behind_resume(home: Path, here: Path) -> None:
    write_session(kept(home), "20260101-aaaa", HELLO, card={"folder": str(here)})
    for line in ("andy -r 2026", "andy run --resume 2026", "andy sessions show 2026"):
        offered = andy(home=home, cwd=here, _ANDY_COMPLETE="offer", _ANDY_COMPLETE_LINE=line)
        assert offered.out == "20260101-aaaa\tHello\n"
