"""`andy run` from a shell, against a real HTTP server whose words are scripted."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from andy_cli.models.server.own_server import is_own_server
from tests.benchmarks.server import words
from tests.cases import quick_every
from tests.model_server import (
    Answer,
    ModelServer,
    Received,
    answered,
    called,
    event,
    raw,
    refused,
    status,
    streamed,
)
from tests.shell import ANDY, ROOT, Done, andy, environment, living, start_andy

MUSIC = ROOT / "tests" / "music"
HELLO = [streamed("Hel", "lo")]


def run(
    server: ModelServer,
    home: Path,
    *arguments: str,
    cwd: Path = ROOT,
    stdin: str | None = None,
    **env: str,
) -> Done:
    to = ("--base-url", server.url, "--model", "m")
    return andy("run", *to, *arguments, home=home, cwd=cwd, stdin=stdin, **env)


def test_the_answer_alone_is_on_stdout(tmp_path: Path) -> None:
    with ModelServer(HELLO) as server:
        assert run(server, tmp_path, "hi") == Done(0, "Hello\n", "")


def test_a_task_needs_no_quotes(tmp_path: Path) -> None:
    with ModelServer(HELLO) as server:
        assert run(server, tmp_path, "say", "hello", "to", "me").out == "Hello\n"
        assert server.requests[0].body["messages"][-1]["content"] == "say hello to me"


def test_a_tool_call_is_carried_out_and_told_in_human_words(tmp_path: Path) -> None:
    script = [called("list_mp3s", '{"path": "tests/music"}'), streamed("Three songs.")]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "what music is in tests/music?")
        told = server.requests[1].body["messages"][-1]
    assert (done.code, done.out) == (0, "Three songs.\n")
    assert "listed 3 songs in tests/music" in done.err
    assert "list_mp3s" not in done.out + done.err
    files = [each["file"] for each in json.loads(told["content"])]
    assert files == sorted(path.name for path in MUSIC.glob("*.mp3"))


def test_links_in_a_circle_are_told_as_what_they_are_and_not_as_forbidden(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    script = [called("read_file", '{"path": "one"}'), streamed("It leads nowhere.")]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "read one", cwd=tmp_path)
    assert (done.code, done.out) == (0, "It leads nowhere.\n")
    assert "could not read one: 'one' is not a usable path: its links form a circle." in done.err


@pytest.mark.parametrize(
    ("flags", "way_on"),
    [
        ([], 'Continue with `andy run -c "go on"`'),
        (["--no-session"], 'Leave out --no-session to continue with `andy run -c "go on"`'),
    ],
)
def test_who_is_stopped_by_a_limit_is_told_a_command_that_continues(
    tmp_path: Path, flags: list[str], way_on: str
) -> None:
    with ModelServer([called("list_mp3s", '{"path": "tests/music"}')]) as server:
        done = run(server, tmp_path, "--max-turns", "1", *flags, "what music is there?")
    assert done.code == 4
    assert f"Stopped after 1 reply without an answer.\n  {way_on}.\n" in done.err
    assert "Say" not in done.err


def test_an_answer_that_is_cut_off_is_told_with_a_command_that_continues(tmp_path: Path) -> None:
    with ModelServer([streamed("So", finish="length")]) as server:
        done = run(server, tmp_path, "hi")
    assert done.code == 1
    assert 'Continue with `andy run -c "go on"`, or set max_tokens.' in done.err


@pytest.mark.slow
def test_the_dialogue_plays_the_first_song_to_its_end(tmp_path: Path) -> None:
    replies = [
        "DEAR ANDYBOT, LIST_MP3S",
        "tests/music",
        "DEAR ANDYBOT, PLAY_MP3",
        "01 - Morning Light.mp3",
        "tests/music",
        "skip",
        "I am playing 01 - Morning Light.mp3.",
    ]
    with ModelServer([streamed(each) for each in replies]) as server:
        started = time.monotonic()
        task = "look at files in tests/music and play the first one"
        done = run(server, tmp_path, "--set", "dialect=andybot", task)
        assert time.monotonic() - started > 1.5
        told = server.requests[-1].body["messages"][-1]["content"]
        assert all("tools" not in each.body for each in server.requests)
    assert (done.code, done.out) == (0, "I am playing 01 - Morning Light.mp3.\n")
    assert "ANDYBOT" not in done.out + done.err
    assert told.startswith("ANDYBOT RESPONDS: playing 01 - Morning Light.mp3")


@pytest.mark.slow
def test_no_wait_returns_while_the_music_would_still_play(tmp_path: Path) -> None:
    folder = tmp_path / "music"
    folder.mkdir()
    one = (MUSIC / "01 - Morning Light.mp3").read_bytes()
    (folder / "long.mp3").write_bytes(one * 400)
    script = [called("play_mp3", '{"file": "long.mp3"}'), streamed("Playing.")]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "--no-wait", "play", cwd=folder)
    assert (done.code, done.out) == (0, "Playing.\n"), "it would play for ten minutes"


@pytest.mark.slow
def test_ctrl_c_stops_the_music_and_leaves_cleanly(tmp_path: Path) -> None:
    folder = tmp_path / "long"
    folder.mkdir()
    one = (MUSIC / "01 - Morning Light.mp3").read_bytes()
    (folder / "long.mp3").write_bytes(one * 40)
    script = [called("play_mp3", '{"file": "long.mp3"}'), streamed("Playing long.mp3.")]
    with ModelServer(script) as server:
        to = ("--base-url", server.url, "--model", "m")
        child = start_andy("run", *to, "play long.mp3", home=tmp_path, cwd=folder)
        assert child.stdout is not None
        assert child.stdout.readline() == "Playing long.mp3.\n"
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=5)
    assert child.returncode == 130
    assert "Traceback" not in err


def test_sigterm_ends_a_stalled_request_with_its_own_code(tmp_path: Path) -> None:
    with ModelServer([[status(), {"op": "stall"}]]) as server:
        to = ("--base-url", server.url, "--model", "m")
        child = start_andy("run", *to, "hi", home=tmp_path)
        while not server.requests:
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=5)
    assert child.returncode == 143
    assert "Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_said_before_a_signal_is_in_the_result(tmp_path: Path, number: int) -> None:
    begun = streamed("Half of it")[:-1]
    with ModelServer([[*begun, {"op": "stall"}]]) as server:
        to = ("--base-url", server.url, "--model", "m", "-o", "stream-json")
        child = start_andy("run", *to, "hi", home=tmp_path)
        assert child.stdout is not None
        while '"Half' not in child.stdout.readline():
            assert child.poll() is None
        child.send_signal(number)
        out, err = child.communicate(timeout=5)
    ended = json.loads(out.splitlines()[-1])
    assert (ended["type"], ended["subtype"]) == ("result", "error_cancelled")
    assert ended["result"] == "Half of it"
    assert ended["exit_code"] == child.returncode == 128 + number
    assert ended["duration_ms"] > 0
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_terminal_that_is_closed_takes_the_running_command_along(tmp_path: Path) -> None:
    command = '{"name": "terminal_execute", "arguments": {"command": "sleep 7302"}}'
    with ModelServer([streamed(f"<tool_call>{command}</tool_call>"), streamed("x")]) as server:
        to = ("--base-url", server.url, "--model", "m")
        child = start_andy("run", "-y", *to, "hi", home=tmp_path)
        while not living("sleep 7302"):
            time.sleep(0.02)
        child.send_signal(signal.SIGHUP)
        child.communicate(timeout=10)
    assert child.returncode == 143
    assert living("sleep 7302") == []


def test_json_is_one_object_with_the_answer_under_both_names(tmp_path: Path) -> None:
    with ModelServer(HELLO) as server:
        done = run(server, tmp_path, "-o", "json", "hi")
    result = json.loads(done.out)
    assert (result["type"], result["result"], result["response"]) == ("result", "Hello", "Hello")
    assert (result["is_error"], result["exit_code"], result["num_turns"]) == (False, 0, 1)


def test_stream_json_is_one_event_a_line(tmp_path: Path) -> None:
    script = [called("now_playing", "{}"), streamed("Nothing.")]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "-o", "stream-json", "what is playing?")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert all(list(each)[:2] == ["type", "timestamp"] for each in records)
    types = [each["type"] for each in records]
    assert types[:2] == ["init", "message"]
    assert types[-1] == "result"
    assert [each for each in types if each.startswith("tool")] == ["tool_use", "tool_result"]


def test_a_task_may_come_from_stdin_alone_or_with_text_behind_it(tmp_path: Path) -> None:
    with ModelServer(HELLO) as server:
        run(server, tmp_path, stdin="say hello\n")
        run(server, tmp_path, "-", stdin="say hello\n")
        run(server, tmp_path, "sum this up", stdin="a long text\n")
        said = [each.body["messages"][-1]["content"] for each in server.requests]
    assert said[:2] == ["say hello", "say hello"]
    assert said[2].startswith("sum this up\n")
    assert "```\na long text\n```" in said[2]


def test_no_task_is_a_usage_error(tmp_path: Path) -> None:
    done = andy("run", home=tmp_path)
    assert done.code == 2
    assert "There is no task" in done.err


def test_an_unknown_output_format_is_a_usage_error(tmp_path: Path) -> None:
    done = andy("run", "-o", "xml", "hi", home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "stream-json" in done.err


def test_nothing_is_kept_with_no_session(tmp_path: Path) -> None:
    with ModelServer(HELLO) as server:
        run(server, tmp_path, "--no-session", "hi")
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_the_session_is_kept_otherwise(tmp_path: Path) -> None:
    with ModelServer(HELLO) as server:
        run(server, tmp_path, "hi")
    (path,) = tmp_path.rglob("*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    roles = [record["role"] for record in records if record["type"] == "message"]
    assert roles == ["user", "assistant"]


def test_what_needs_a_yes_is_refused_and_the_exit_code_says_so(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    arguments = json.dumps({"path": str(outside)})
    with ModelServer([called("list_mp3s", arguments), streamed("I may not.")]) as server:
        done = run(server, tmp_path, "what music is there?", cwd=workspace)
    assert (done.code, done.out) == (3, "I may not.\n")
    assert "was not allowed to list" in done.err


def fenced(name: str, arguments: str) -> str:
    return f'I will see to it.\n\n```json\n{{"name": "{name}", "arguments": {arguments}}}\n```'


def test_a_fenced_look_at_what_the_user_named_is_done(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("buy milk")
    reply = streamed(fenced("read_file", '{"path": "notes.txt"}'))
    with ModelServer([reply, streamed("It says buy milk.")]) as server:
        done = run(server, tmp_path, "what is in notes.txt?", cwd=tmp_path)
    assert (done.code, done.out) == (0, "It says buy milk.\n")


def test_what_may_be_an_example_is_asked_for_once_more_where_nobody_can_agree(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("buy milk")
    arguments = '{"source": "notes.txt", "target": "b.txt"}'
    alone = f'<tool_call>{{"name": "move", "arguments": {arguments}}}</tool_call>'
    replies = [streamed(each) for each in (fenced("move", arguments), alone, "It is b.txt now.")]
    with ModelServer(replies) as server:
        done = run(server, tmp_path, "-y", "move notes.txt to b.txt", cwd=tmp_path)
    assert (done.code, done.out) == (0, "It is b.txt now.\n")
    assert (tmp_path / "b.txt").read_text() == "buy milk"
    assert "Not done" not in done.err
    (tmp_path / "b.txt").rename(tmp_path / "notes.txt")
    with ModelServer([replies[0], streamed("So you would write it.")]) as server:
        done = run(server, tmp_path, "-y", "how would you move notes.txt to b.txt?", cwd=tmp_path)
    assert "the model wrote it as an example" in done.err
    assert (tmp_path / "notes.txt").exists()


def test_an_example_that_is_written_again_is_the_answer_and_nothing_that_was_not_done(
    tmp_path: Path,
) -> None:
    read = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
    reply = f"You would write:\n\n    <tool_call>{read}</tool_call>\n\nThat is all."
    with ModelServer([streamed(reply), streamed(reply)]) as server:
        done = run(server, tmp_path, "show me how to call a tool", cwd=tmp_path)
    assert (done.code, done.out) == (0, f"{reply}\n")
    assert done.err.count("the model wrote it as an example") == 1
    assert "Not done" not in done.err
    with ModelServer([streamed(reply), streamed(reply)]) as server:
        done = run(server, tmp_path, "read a.txt", cwd=tmp_path)
    assert "Not done: read a.txt" in done.err, "the user named it"


WRITE = '{"name": "write_file", "arguments": {"path": "new.txt", "content": "x"}}'
EXAMPLES = (
    f"For example: {WRITE} would write a file.",
    f"I will not run {WRITE} because you did not ask for it.",
    f"A model would write <tool_call>{WRITE}</tool_call> to write a file.",
    f"Here is an example of a call:\n<tool_call>{WRITE}</tool_call>\nThe program would run it.",
    f"So it looks:\n\n    {WRITE}\n\nThat is all.",
    f"In a page: <code>{WRITE}</code>",
    f"As they wrote:\n<blockquote>{WRITE}</blockquote>",
    f"In a program: const call = {WRITE};",
)


@pytest.mark.parametrize("reply", quick_every(3, EXAMPLES))
def test_an_example_changes_nothing_and_is_shown_as_it_was_written(
    reply: str, tmp_path: Path
) -> None:
    with ModelServer([streamed(reply)]) as server:
        done = run(server, tmp_path, "-y", "what is a tool call?", cwd=tmp_path)
    assert (done.code, done.out) == (0, f"{reply}\n")
    assert not (tmp_path / "new.txt").exists()
    with ModelServer([streamed(reply), streamed("That was one.")]) as server:
        done = run(server, tmp_path, "-y", "what is a tool call?", cwd=tmp_path)
    assert done.out == f"{reply}\n\nThat was one.\n"


@pytest.mark.parametrize(
    "reply",
    [f"I will write it.\n\n<tool_call>{WRITE}</tool_call>\n\nIt is written.", f"Sure: {WRITE}"],
)
def test_words_above_and_below_a_call_make_no_example_of_it(reply: str, tmp_path: Path) -> None:
    with ModelServer([streamed(reply), streamed("It is there.")]) as server:
        done = run(server, tmp_path, "-y", "write new.txt", cwd=tmp_path)
    assert (done.code, done.out) == (0, "It is there.\n")
    assert (tmp_path / "new.txt").read_text() == "x"


def test_a_command_that_failed_is_no_proof_for_who_is_strict(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").touch()
    call = called("terminal_execute", '{"command": "rmdir full"}')
    lie = streamed("I have removed the folder full.")
    with ModelServer([call, lie, lie]) as server:
        done = run(server, tmp_path, "--strict", "-y", "remove the folder full", cwd=tmp_path)
    assert done.code == 1
    assert "I have removed the folder full (not verified)." in done.out


@pytest.mark.parametrize(
    ("tool", "arguments", "way"),
    [
        (
            "terminal_execute",
            {"command": "make all"},
            "To let this happen: --allow 'terminal_execute(make all)', or -y for",
        ),
        (
            "terminal_execute",
            {"command": "for i in 1 2; do touch x; done"},
            "No narrow rule covers this: --allow terminal_execute for all of the tool, -y for",
        ),
        (
            "open_url",
            {"url": "https://example.org/"},
            "No narrow rule covers this: --allow open_url for all of the tool, -y for",
        ),
        (
            "fetch_page",
            {"url": "http://127.0.0.1:8123/"},
            "was not allowed to read http://127.0.0.1:8123/: 127.0.0.1 is not on the public net. "
            "A server of one's own can be named: `andy config set web.trusted "
            "127.0.0.1:8123`",
        ),
    ],
)
def test_a_refusal_tells_what_would_let_it_happen(
    tool: str, arguments: dict[str, str], way: str, tmp_path: Path
) -> None:
    with ModelServer([called(tool, json.dumps(arguments)), streamed("I may not.")]) as server:
        done = run(server, tmp_path, "do it", cwd=tmp_path)
    assert done.code == 3
    assert way in done.err


def test_a_folder_named_in_the_request_may_be_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    arguments = json.dumps({"path": str(outside)})
    with ModelServer([called("list_mp3s", arguments), streamed("None.")]) as server:
        assert run(server, tmp_path, f"what is in {outside}?", cwd=workspace).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (refused(401, "Incorrect API key provided"), 77, "key"),
        (refused(404, "The model `m` does not exist"), 1, "m"),
        (refused(400, "maximum context length is 10 tokens"), 1, "context"),
        ([status(headers={"content-type": "text/html"}), raw("<html>hi</html>")], 1, "address"),
        (answered({"unexpected": True}), 1, ""),
    ],
)
def test_a_server_that_refuses_is_one_sentence_and_its_code(
    answer: list[dict[str, object]], code: int, says: str, tmp_path: Path
) -> None:
    with ModelServer([answer]) as server:
        done = run(server, tmp_path, "hi")
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("andy: ")
    assert len(done.err.splitlines()) <= 3
    assert says in done.err


def test_an_unreachable_server_is_a_transient_failure(tmp_path: Path) -> None:
    done = andy(
        "run", "--base-url", "http://127.0.0.1:9/v1", "--model", "m",
        "--set", "network.first_backoff=0.01", "hi", home=tmp_path,
    )  # fmt: skip
    assert (done.code, done.out) == (75, "")
    assert "127.0.0.1:9" in done.err


def test_a_reply_that_breaks_off_keeps_what_was_said(tmp_path: Path) -> None:
    begun = streamed("half an ans")[:2]
    with ModelServer([[*begun, {"op": "reset"}]]) as server:
        done = run(server, tmp_path, "hi")
    assert (done.code, done.out) == (75, "half an ans\n")
    (path,) = tmp_path.rglob("*.jsonl")
    last = json.loads(path.read_text().splitlines()[-1])
    assert (last["content"], last["partial"]) == ("half an ans", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: None, "no folder"),
        (lambda folder: folder.mkdir(), "no music"),
        (lambda folder: folder.write_text("x"), "not a folder"),
    ],
)
def test_a_folder_that_is_missing_empty_or_none_is_told_plainly(
    make: object, says: str, tmp_path: Path
) -> None:
    assert callable(make)
    make(tmp_path / "songs")
    with ModelServer([called("list_mp3s", '{"path": "songs"}'), streamed("ok")]) as server:
        done = run(server, tmp_path, "list", cwd=tmp_path)
    assert done.code == 0
    assert says in done.err


@pytest.mark.parametrize(
    "headers", [{"content-encoding": "gzip"}, {"no name": "x"}], ids=["not packed", "no header"]
)
def test_what_speaks_no_http_is_told_without_the_words_of_a_library(
    headers: dict[str, str], tmp_path: Path
) -> None:
    with ModelServer([[status(headers=headers), raw("no")]]) as server:
        done = run(server, tmp_path, "hi")
    assert (done.code, len(server.requests)) == (1, 1)
    assert "speaks no HTTP that can be read.\n  Check the address" in done.err


def test_a_file_that_is_no_music_is_not_played(tmp_path: Path) -> None:
    (tmp_path / "fake.mp3").write_text("not music at all")
    shutil.copy(MUSIC / "01 - Morning Light.mp3", tmp_path / "real.mp3")
    with ModelServer([called("play_mp3", '{"file": "fake.mp3"}'), streamed("no")]) as server:
        done = run(server, tmp_path, "play fake.mp3", cwd=tmp_path)
        told = server.requests[1].body["messages"][-1]["content"]
    assert "could not play fake.mp3" in done.err
    assert "damaged or not MP3" in told


def test_a_setting_that_does_not_exist_is_named_with_the_nearest(tmp_path: Path) -> None:
    done = andy("run", "--set", "network.idle_timout=3", "hi", home=tmp_path)
    assert done.code == 2
    assert "network.idle_timeout" in done.err


def test_a_damaged_settings_file_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / ".config" / "andy" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("model = ")
    done = andy("run", "hi", home=tmp_path)
    assert done.code == 2
    assert str(path) in done.err
    assert path.read_text() == "model = "


def test_a_capture_holds_requests_and_chunks_and_no_key(tmp_path: Path) -> None:
    key = "sk-test-0123456789abcdefghijklmnop"
    folder = tmp_path / "raw"
    with ModelServer(HELLO) as server:
        done = run(
            server, tmp_path, "--api-key-env", "MY_KEY", "hi",
            ANDY_DEBUG_RAW=str(folder), MY_KEY=key,
        )  # fmt: skip
    assert done == Done(0, "Hello\n", "")
    (path,) = folder.iterdir()
    text = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert '"hi"' in text.replace("\\", "")
    assert "Hel" in text
    assert key not in text


def test_a_server_that_takes_no_tools_is_led_through_the_dialogue(tmp_path: Path) -> None:
    script = [
        refused(400, "registry.example/m does not support tools"),
        streamed("DEAR ANDYBOT, LIST_MP3S"),
        streamed("tests/music"),
        streamed("Three songs."),
    ]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "what music is in tests/music?")
        bodies = [each.body for each in server.requests]
    assert (done.code, done.out) == (0, "Three songs.\n")
    assert "m does not support tools.\n  Going on without native tools.\n" in done.err
    assert "tools" in bodies[0]
    assert all("tools" not in each for each in bodies[1:])
    assert "AVAILABLE COMMANDS" in bodies[1]["messages"][0]["content"]


def test_an_answer_is_held_to_its_schema_by_a_server_that_can(tmp_path: Path) -> None:
    replies = ["DEAR ANDYBOT, PLAY_MP3", "1", "tests/music", "40", "Playing."]
    with ModelServer([streamed(each) for each in replies]) as server:
        dialogue = ("--model", "llamacpp:m", "--set", "dialect=andybot", "--no-wait")
        to = ("--base-url", server.url)
        done = andy("run", *to, *dialogue, "play the first song", home=tmp_path)
        schemas = [each.body.get("json_schema") for each in server.requests]
    volume = {"anyOf": [{"minimum": 0, "maximum": 100, "type": "integer"}, {"const": "skip"}]}
    assert done.out == "Playing.\n"
    assert schemas == [None, None, None, volume, None]


def test_a_call_left_in_the_text_by_a_mis_set_server_is_carried_out(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "now_playing", "arguments": {}}\n</tool_call>'
    with ModelServer([streamed("Let me see. ", call), streamed("Nothing.")]) as server:
        done = run(server, tmp_path, "what is playing?")
        told = server.requests[1].body["messages"]
    assert (done.code, done.out) == (0, "Nothing.\n")
    assert "tool_call" not in done.out + done.err
    assert told[-1]["role"] == "tool"
    assert told[-2]["tool_calls"][0]["id"] == told[-1]["tool_call_id"]


@pytest.mark.slow
def test_what_another_program_writes_late_is_waited_for(tmp_path: Path) -> None:
    # It writes when it has read that andy waits.
    line = (
        'mkfifo told; exec 3<>told; (read -r line <&3; echo "late: $line" >&4; echo "a slow line")'
        f" 4>heard | {ANDY} run --model m --base-url $URL why 2>told 4>&-"
    )
    with ModelServer(HELLO) as server:
        known = {**environment(tmp_path), "URL": server.url}
        command = ["bash", "-c", line]
        out = subprocess.run(command, cwd=tmp_path, env=known, capture_output=True, check=True)
        said = server.requests[0].body["messages"][-1]["content"]
    assert out.stdout == b"Hello\n"
    assert "```\na slow line\n```" in said
    assert "waiting for what comes through the pipe" in (tmp_path / "heard").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        # Somebody else may write to the pipe, and does not.
        ("$ANDY --timeout 1 why < <(exec sleep 60 2>&1)", 4, "did not end within 1 seconds"),
        # The pipe is the loop's, which reads on when andy has answered.
        ("while read -r word; do $ANDY why; exit; done < <(echo one; exec sleep 60 2>&1)", 0, ""),
    ],
)
def test_a_pipe_is_not_waited_for_longer_than_it_should_be(
    line: str, code: int, told: str, tmp_path: Path
) -> None:
    with ModelServer(HELLO) as server:
        command = f"{ANDY} run --model m --base-url {server.url}"
        known = {**environment(tmp_path), "ANDY": command}
        bash = ["bash", "-c", line]
        # It ends long before what holds the pipe does.
        done = subprocess.run(
            bash, cwd=tmp_path, env=known, capture_output=True, check=False, text=True, timeout=50
        )
    assert done.returncode == code
    assert told in done.stderr
    assert (done.stdout == "Hello\n") == (code == 0)


def test_a_place_that_is_named_in_piped_text_is_not_opened_by_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "diary.txt"
    outside.parent.mkdir()
    outside.write_text("canary")
    inside = tmp_path / "inside"
    inside.mkdir()
    call = f'<tool_call>{{"name": "read_file", "arguments": {{"path": "{outside}"}}}}</tool_call>'
    for task, code in (((), 3), (("what is this?",), 3), ((f"read {outside}",), 0)):
        with ModelServer([streamed(call), streamed("Well.")]) as server:
            done = run(server, tmp_path, *task, cwd=inside, stdin=f"commit: moved {outside}\n")
            assert done.code == code, task
            assert ("canary" in str(server.requests[1].body)) is (code == 0)


def test_an_empty_answer_is_not_met_with_silence(tmp_path: Path) -> None:
    with ModelServer([streamed("")]) as server:
        done = run(server, tmp_path, "hi")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("andy: The model said nothing.\n")


def test_a_reader_that_goes_away_ends_the_run_in_silence(tmp_path: Path) -> None:
    flood = streamed(*["a few words " * 50] * 2000)
    with ModelServer([flood]) as server:
        to = ("--base-url", server.url, "--model", "m")
        child = start_andy("run", *to, "-o", "stream-json", "hi", home=tmp_path)
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        err = child.stderr.read()
        child.wait(10)
        child.stderr.close()
    assert (child.returncode, err) == (141, "")


@pytest.mark.parametrize(
    "announced",
    ["The port is 8080. I'll set it to 8081 in app.ini now.", "Ich werde den Port jetzt anpassen."],
)
def test_who_looks_and_announces_a_change_is_told_once_to_make_it(
    announced: str, tmp_path: Path
) -> None:
    (tmp_path / "app.ini").write_text("port=8080\n")
    look = called("read_file", '{"path": "app.ini"}')
    edit = called("edit_file", '{"path": "app.ini", "old_text": "8080", "new_text": "8081"}')
    script = [look, streamed(announced), edit, streamed("The port is 8081.")]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "-y", "set the port in app.ini to 8081", cwd=tmp_path)
    assert (done.code, done.out) == (0, "The port is 8081.\n")
    assert (tmp_path / "app.ini").read_text() == "port=8081\n"


def test_a_list_of_files_is_no_look_at_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk and eggs\n")
    told = (
        "Your notes speak of a journey to Rome, of the tickets, the hotel and what to pack for it."
    )
    unread = "No tool was used: notes.txt was neither read nor changed."
    for first, is_read in (
        (called("list_directory", '{"path": "."}'), False),
        (called("search_files", '{"pattern": "milk"}'), True),
    ):
        with ModelServer(
            [first, streamed("There it is."), streamed(f"{told}\n\n{told}")]
        ) as server:
            run(server, tmp_path, "what is here?", cwd=tmp_path)
            done = run(server, tmp_path, "-c", "summarize notes.txt", cwd=tmp_path)
        assert (unread in done.err) is not is_read


def test_files_that_are_told_of_a_folder_and_are_not_there_were_never_looked_at(
    tmp_path: Path,
) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "beach.jpg").write_bytes(b"")
    unread = "No tool was used: photos was neither read nor changed."
    for told, is_invented in (
        ("| File | Size |\n|---|---|\n| harbour.jpg | 2 MB |\n| cat.png | 640 KB |", True),
        ("There are beach.jpg, dog.png and cat.png in it.\n\nThese are all.", True),
        ("There are beach.jpg and perhaps cat.png in it.\n\nI have not looked.", False),
        ("Folders like that mostly hold pictures, as photo.jpg.", False),
    ):
        with ModelServer([streamed(told)]) as server:
            done = run(server, tmp_path, "what is in the folder photos?", cwd=tmp_path)
        assert (unread in done.err) is is_invented
        assert done.out == f"{told}\n"


@pytest.mark.parametrize(
    ("told", "unread"),
    [
        ("In `todo.md` it says that the shop opens on 15 June.", True),
        ("`meeting.md` says that the shop opens on 15 June.", False),
        ("I have not looked into `todo.md`.", False),
        ("Shall I look into `todo.md`?", False),
    ],
)
def test_what_is_told_of_a_file_where_only_another_was_read_is_said_to_be_that(
    tmp_path: Path, told: str, unread: bool
) -> None:
    (tmp_path / "todo.md").write_text("- order 20 chains\n")
    (tmp_path / "meeting.md").write_text("The shop opens on 15 June.\n")
    look = called("read_file", '{"path": "meeting.md"}')
    with ModelServer([look, streamed(told)]) as server:
        done = run(server, tmp_path, "what does todo.md say", cwd=tmp_path)
    warning = "Only others were looked at: todo.md was neither read nor changed."
    assert (warning in done.err) is unread


def test_a_file_that_was_left_alone_beside_a_change_is_no_mistaken_one(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text("port = 8080\n")
    (tmp_path / "settings.toml").write_text("theme = 1\n")
    change = '{"path": "app.toml", "old_string": "8080", "new_string": "9000"}'
    calls = [called("read_file", '{"path": "app.toml"}'), called("edit_file", change)]
    told = "The port in app.toml is 9000 now. settings.toml stays as it was."
    with ModelServer([*calls, streamed(told)]) as server:
        wish = "set the port to 9000 in app.toml, leave settings.toml alone"
        done = run(server, tmp_path, "-y", wish, cwd=tmp_path)
    assert (done.code, done.out) == (0, f"{told}\n")
    assert "neither read nor changed" not in done.err


@pytest.mark.parametrize(
    ("wish", "told", "warning"),
    [
        (
            "what are all the parts worth?",
            "By what stands in parts.csv the parts are worth 1,894 euros.",
            "No tool was used: parts.csv was neither read nor changed.",
        ),
        ("how do I see the stock?", "Open parts.csv in any program for tables.", ""),
        ("how do I count?", "Run `head -n 20 parts.csv`, or 1 of 2 other ways.", ""),
        ("what is a part?", "Level 1 of a tree; many keep parts in `parts.csv`.", ""),
        (
            "how many are there?",
            "There are `33` in `parts.csv`.",
            "No tool was used: parts.csv was neither read nor changed.",
        ),
    ],
)
def test_figures_of_what_nothing_has_looked_at_are_said_to_be_that(
    tmp_path: Path, wish: str, told: str, warning: str
) -> None:
    (tmp_path / "parts.csv").write_text("bell,33\n")
    with ModelServer([streamed(told), streamed(told)]) as server:
        done = run(server, tmp_path, wish, cwd=tmp_path)
    assert ("No tool was used" in done.err) is bool(warning)
    assert warning in done.err


@pytest.mark.parametrize(
    ("calls", "told", "warned"),
    [
        (['{"path": "a.log"}'], "All requests were answered.", True),
        (['{"path": "a.log"}'], "Up to line 2.000 all were answered.", False),
        (['{"path": "a.log", "start_line": 8}'], "Up to about line 2.000 all were.", False),
        (['{"path": "a.log", "end_line": 9}'], "The first nine were answered.", False),
        (['{"path": "a.log"}', '{"path": "a.log", "start_line": 2001}'], "All were.", False),
        (['{"path": "a.log"}', '{"path": "./a.log", "start_line": 2001}'], "All were.", False),
        (['{"path": "./a.log"}', '{"path": "a.log", "start_line": 2001}'], "All were.", False),
        (['{"path": "a.log", "start_line": 2001}', '{"path": "a.log"}'], "All were.", False),
        (['{"path": "a.log"}', '{"path": "a.log"}'], "All were.", True),
    ],
)
def test_what_did_not_fit_into_a_result_is_said_to_be_unread(
    tmp_path: Path, calls: list[str], told: str, warned: bool
) -> None:
    (tmp_path / "a.log").write_text("GET / 200\n" * 2_500)
    script = [called("read_file", arguments) for arguments in calls]
    with ModelServer([*script, streamed(told)]) as server:
        done = run(server, tmp_path, "was everything answered?", cwd=tmp_path)
    assert ("Lines 2,001 to 2,500 of a.log were not read." in done.err) is warned


def test_an_offer_and_a_plan_behind_a_look_are_answers(tmp_path: Path) -> None:
    (tmp_path / "app.ini").write_text("port=8080\n; I will change it to 8081\n")
    look = called("read_file", '{"path": "app.ini"}')
    for offer in (
        "The port is 8080. I'll change it if you agree.",
        "8080. I'll be here.",
        'The note says "I will change it to 8081".',
        "The author writes that I will find the port there.",
    ):
        with ModelServer([look, streamed(offer)]) as server:
            done = run(server, tmp_path, "tell me the port in app.ini", cwd=tmp_path)
        assert (done.out, len(server.requests)) == (f"{offer}\n", 2)


def test_a_wrong_total_goes_back_once_and_is_marked_where_it_stays(tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("what,euro\nhotel,312.00\ntrain,89.50\nfood,143.20\n")
    call = called("read_file", '{"path": "costs.csv"}')
    wrong, right = streamed("The total is 554.70."), streamed("The total is 544.70.")
    with ModelServer([call, wrong, right]) as server:
        done = run(server, tmp_path, "total of costs.csv?", cwd=tmp_path)
        told = server.requests[2].body["messages"][-1]["content"]
    assert (done.code, done.out) == (0, "The total is 544.70.\n")
    assert "- 554.70" in told
    with ModelServer([call, wrong]) as server:
        done = run(server, tmp_path, "total of costs.csv?", cwd=tmp_path)
    assert (done.code, done.out) == (0, "The total is 554.70 (not verified).\n")
    assert "No result of a tool shows: 554.70." in done.err
    explained = streamed("On 3 of 12 days it is 554.7, I am sure.")
    with ModelServer([call, wrong, explained]) as server:
        done = run(server, tmp_path, "total of costs.csv?", cwd=tmp_path)
    assert done.out == "On 3 of 12 days it is 554.7, I am sure.\n"
    with ModelServer([call, wrong]) as server:
        done = run(server, tmp_path, "--strict", "total of costs.csv?", cwd=tmp_path)
    assert (done.code, done.out) == (1, "The total is 554.70 (not verified).\n")


def test_strict_fails_an_answer_that_nothing_supports(tmp_path: Path) -> None:
    script = [called("list_mp3s", '{"path": "tests/music"}'), streamed("There is ghost.mp3.")]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "--strict", "list tests/music")
    assert (done.code, done.out) == (1, "There is ghost.mp3 (not verified).\n")
    assert "ghost.mp3" in done.err


def test_without_any_model_the_first_run_page_says_what_to_do(tmp_path: Path) -> None:
    done = andy(
        "run", "--set", "network.scan=false", "--model", "openai:gpt-5-mini", "hi", home=tmp_path
    )
    assert done.code == 77
    assert "OPENAI_API_KEY" in done.err


HELD = '''
"""Wait."""

import time

from andy_cli.toolbox.tool import tool


@tool(effect="read", action="hold on")
def hold() -> str:
    """Wait for long"""
    time.sleep(60)
    return "waited"
'''


def test_a_tool_that_does_not_end_does_not_hold_up_the_end(tmp_path: Path) -> None:
    tools = tmp_path / "config" / "tools"
    tools.mkdir(parents=True)
    (tools / "hold.py").write_text(HELD)
    with ModelServer([called("hold", "{}")]) as server:
        words = ("run", "-o", "stream-json", "--base-url", server.url, "--model", "m", "hi")
        config = str(tmp_path / "config")
        child = start_andy(*words, home=tmp_path, ANDY_CONFIG_DIR=config)
        assert child.stdout is not None
        while '"tool_use"' not in child.stdout.readline():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=10)
    assert child.returncode == 130
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("content", "So I look once more. "),
        ("reasoning_content", "So I look once more. "),
        ("content", "\n" * 20),
    ],
)
def test_a_model_that_writes_the_same_for_ever_is_stopped(
    tmp_path: Path, field: str, text: str
) -> None:
    """Servers that shift their window let a model that is caught in a loop write without end."""
    pieces = [event({field: text}) for _ in range(2200)]
    endless = [status(), *pieces, {"op": "sleep", "s": 0.5}, pieces[0], {"op": "left"}]
    with ModelServer([endless, streamed("Fine.")]) as server:
        done = run(server, tmp_path, "look")
        assert done.code == 1
        assert "andy: The model writes the same again and again, and was stopped." in done.err
        assert "go on" not in done.err
        assert run(server, tmp_path, "-c", "and now?").out == "Fine.\n"
        asked = server.requests[-1].body["messages"]
    assert len(server.requests) == 2
    assert str(asked).count("once more") <= 1, "a model imitates what it is told that it said"


def test_a_hundred_equal_lines_are_an_answer(tmp_path: Path) -> None:
    lines = ["All work and no play makes Jack a dull boy.\n"] * 100
    with ModelServer([streamed(*lines)]) as server:
        assert run(server, tmp_path, "write it a hundred times") == Done(0, "".join(lines), "")


@pytest.mark.slow
def test_the_long_answer_of_the_benchmarks_is_read_to_its_end(tmp_path: Path) -> None:
    pieces = words(20_000)
    with ModelServer([streamed(*pieces)]) as server:
        done = run(server, tmp_path, "write a long text")
    assert (done.code, done.err) == (0, "")
    assert done.out.strip() == "".join(pieces).strip()


@pytest.mark.parametrize(
    "message",
    [
        "Failed to parse input at pos 12: <tool_call>{",
        "Value is not callable: null at row 62, column 114",
    ],
)
def test_a_server_of_ones_own_that_fails_over_tools_is_asked_without_them(
    tmp_path: Path, message: str
) -> None:
    """llama.cpp fails so where its template does, or where it cannot read its model's call."""

    def answer(received: Received) -> Answer:
        return refused(500, message) if received.body.get("tools") else streamed("Four.")

    with ModelServer(answer) as server:
        done = run(server, tmp_path, "--set", "network.first_backoff=0.01", "2 and 2")
        asked = [bool(each.body.get("tools")) for each in server.requests if each.body]
    assert (done.code, done.out) == (0, "Four.\n")
    assert f"{message}\n  Going on without native tools." in done.err
    assert asked == [True, True, True, True, False]


FAILED = {"error": {"message": "internal failure", "type": "server_error", "code": 500}}


def test_a_server_of_ones_own_that_fails_in_the_midst_of_an_answer_is_not_asked_again(
    tmp_path: Path,
) -> None:
    failed = [status(), event({"content": "It is for"}), {"op": "sse", "data": FAILED}]
    with ModelServer([failed, streamed("It is forty-two.")]) as server:
        done = run(server, tmp_path, "6 times 7?")
        assert len(server.requests) == 1
    assert done.out == "It is for\n"
    assert done.code != 0
    assert "The answer is cut off." in done.err


def test_a_server_of_ones_own_that_fails_over_everything_is_an_error(tmp_path: Path) -> None:
    with ModelServer([refused(500, "Compute error.")]) as server:
        done = run(server, tmp_path, "--set", "network.first_backoff=0.01", "2 and 2")
    assert (done.code, done.out) == (75, "")
    assert "failed (500): Compute error." in done.err.splitlines()[-2]
    assert "a smaller model or a shorter context window helps" in done.err.splitlines()[-1]


def test_a_model_that_is_still_loading_is_waited_for(tmp_path: Path) -> None:
    loading = refused(503, "Loading model", type="unavailable_error")
    with ModelServer([*[loading] * 6, streamed("Four.")]) as server:
        done = run(server, tmp_path, "--set", "network.first_backoff=0.01", "2 and 2")
    assert (done.code, done.out) == (0, "Four.\n")
    assert "is not ready yet (503): Loading model. Trying again" in done.err


@pytest.mark.parametrize(
    ("provider", "advice"),
    [
        ("llamacpp", "start llama-server with a longer window (`-c`)."),
        ("vllm", "start vLLM with a longer window (`--max-model-len`)."),
        ("lmstudio", "load the model with a longer context length in LM Studio."),
        ("openai", "start its server with a longer context window."),
    ],
)
def test_the_owner_of_a_server_is_told_how_it_gets_a_longer_window(
    tmp_path: Path, provider: str, advice: str
) -> None:
    too_long = refused(400, "the request exceeds the available context size", n_ctx=4096)
    with ModelServer([too_long]) as server:
        done = run(server, tmp_path, "--model", f"{provider}:m", "2 and 2")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == f"  Ask for less at a time, or {advice}"


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("http://localhost:8080/v1", True),
        ("http://192.168.1.7:8080/v1", True),
        ("http://[fd00::7]:8080/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8:8080/v1", False),
    ],
)
def test_a_server_is_ones_own_at_home(address: str, is_own: bool) -> None:
    assert is_own_server(address) is is_own


@pytest.mark.parametrize("delta", [{"reasoning_content": "Hmm. "}, {"content": "<think>Hmm. "}])
def test_thoughts_that_fill_the_reply_are_told_with_what_gives_more_room(
    tmp_path: Path, delta: dict[str, str]
) -> None:
    with ModelServer(
        [[status(), event(delta), event({}, "length"), raw("data: [DONE]\n\n")]]
    ) as server:
        done = run(server, tmp_path, "2 and 2")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "andy: The model only thought until its reply was cut off, and said nothing.",
        "  Set max_tokens higher, or give its server a longer context window.",
    ]
