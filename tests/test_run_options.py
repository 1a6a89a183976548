"""The limits, folders and words that `andy run` and `andy chat` are given, from a shell."""

import json
from pathlib import Path

import pytest

from tests.model_server import ModelServer, called, event, status, streamed
from tests.shell import Done, andy

LONG = [status(), event({"content": "So far. "}), {"op": "stall"}]


def run(server: ModelServer, home: Path, *arguments: str, cwd: Path, **env: str) -> Done:
    to = ("--base-url", server.url, "--model", "m")
    return andy("run", *to, *arguments, home=home, cwd=cwd, **env)


def prompt(server: ModelServer) -> str:
    return str(server.requests[0].body["messages"][0]["content"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def test_a_turn_ends_with_exit_4_after_so_many_replies(tmp_path: Path, folder: Path) -> None:
    calls = [called("list_directory", f'{{"path": ".", "max_depth": {n}}}') for n in range(1, 9)]
    with ModelServer(calls) as server:
        done = run(server, tmp_path, "--max-turns", "2", "-o", "json", "look", cwd=folder)
        assert len(server.requests) == 2
    ended = json.loads(done.out)
    assert (done.code, ended["exit_code"], ended["num_turns"]) == (4, 4, 2)
    assert ended["error"]["kind"] == "limit"


def test_another_mode_than_that_of_y_beside_it_is_refused(tmp_path: Path, folder: Path) -> None:
    for mode, code in (("plan", 2), ("ask", 2), ("auto", 0)):
        with ModelServer([streamed("Hello.")]) as server:
            done = run(server, tmp_path, "-y", "--permission-mode", mode, "hi", cwd=folder)
        assert done.code == code, done.err
    assert andy("chat", "-y", "--permission-mode", "plan", home=tmp_path).code == 2


def test_a_reply_is_asked_to_be_no_longer_than_that(tmp_path: Path, folder: Path) -> None:
    with ModelServer([streamed("Hello")]) as server:
        assert run(server, tmp_path, "--max-tokens", "77", "hi", cwd=folder).code == 0
        asked = server.requests[0].body
    assert 77 in (asked.get("max_tokens"), asked.get("max_completion_tokens"))


@pytest.mark.parametrize(("setting", "sent"), [("0.2", 0.2), ("0", 0), ("", None)])
def test_a_temperature_is_sent_where_one_is_set(
    setting: str, sent: float | None, tmp_path: Path, folder: Path
) -> None:
    with ModelServer([streamed("Hello")]) as server:
        assert run(server, tmp_path, "--set", f"temperature={setting}", "hi", cwd=folder).code == 0
        assert server.requests[0].body.get("temperature") == sent


@pytest.mark.slow
@pytest.mark.parametrize("format", ["text", "json"])
def test_what_was_said_is_kept_when_the_time_is_up(
    format: str, tmp_path: Path, folder: Path
) -> None:
    with ModelServer([LONG]) as server:
        done = run(server, tmp_path, "--timeout", "1.5", "-o", format, "hi", cwd=folder)
    assert done.code == 4
    assert "Stopped after 1.5 seconds." in done.err
    if format == "text":
        assert done.out == "So far. \n"
        return
    ended = json.loads(done.out)
    assert (ended["subtype"], ended["is_error"], ended["exit_code"]) == ("error_limit", True, 4)
    assert (ended["result"], ended["num_turns"]) == ("So far. ", 1)
    assert ended["error"]["kind"] == "limit"


@pytest.mark.slow
def test_a_call_that_the_time_cut_off_is_told_as_not_done(tmp_path: Path, folder: Path) -> None:
    with ModelServer([called("terminal_execute", '{"command": "sleep 60"}')]) as server:
        flags = ("-y", "--timeout", "2", "-o", "json")
        done = run(server, tmp_path, *flags, "wait", cwd=folder)
    ended = json.loads(done.out)
    assert done.code == 4
    assert ["sleep 60" in each["action"] for each in ended["not_done"]] == [True]


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        ["--max-turns", "few"],
        ["--max-tokens", "-1"],
        ["--timeout", "soon"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--cwd", "nowhere"],
        ["--add-dir", "nowhere"],
        ["--system", "@nowhere"],
        ["--mcp-config", "nowhere"],
        ["--mcp-config", "."],
    ],
)
def test_a_value_that_does_not_fit_names_its_flag(
    flags: list[str], tmp_path: Path, folder: Path
) -> None:
    with ModelServer([streamed("Hello")]) as server:
        done = run(server, tmp_path, *flags, "-o", "json", "hi", cwd=folder)
        assert not server.requests
    assert done.code == 2
    assert flags[0] in done.err or "nowhere" in done.err
    assert json.loads(done.out)["error"]["kind"] == "usage"


@pytest.mark.slow
def test_your_words_stand_in_place_of_the_rules_and_behind_them(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "rules.txt").write_text("You cost $5 and are a pirate.\n")
    with ModelServer([streamed("Arr")]) as server:
        flags = ("--system", "@rules.txt", "--append-system-prompt", "Say arr.")
        assert run(server, tmp_path, *flags, "hi", cwd=folder).code == 0
        assert prompt(server) == "You cost $5 and are a pirate.\n\nSay arr."
    with ModelServer([streamed("Arr")]) as server:
        taught = ("--append-system-prompt", "Say arr.", "--set", "dialect=hermes")
        assert run(server, tmp_path, *taught, "hi", cwd=folder).code == 0
        told = prompt(server)
    house, behind, lesson = told.partition("Say arr.")
    assert "You are a helpful assistant" in house
    assert behind
    assert "<tool_call>" in lesson


def test_work_is_done_in_the_folder_that_is_named(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.txt").write_text("the word is plum")
    (folder / "more.txt").write_text("Be brief.")
    with ModelServer([called("read_file", '{"path": "note.txt"}'), streamed("plum")]) as server:
        flags = ("--cwd", "../other", "--append-system-prompt", "@more.txt")
        done = run(server, tmp_path, *flags, "read note.txt", cwd=folder)
        assert "the word is plum" in server.requests[1].body["messages"][-1]["content"]
        assert str(other) in prompt(server)
        assert "Be brief." in prompt(server)
    assert done.code == 0


@pytest.mark.slow
def test_a_further_folder_is_read_and_in_mode_edits_written(tmp_path: Path, folder: Path) -> None:
    more, closed = tmp_path / "more", tmp_path / "closed"
    for each in (more, closed):
        each.mkdir()
        (each / "note.txt").write_text("the word is plum")

    def attempt(tool: str, place: Path, *flags: str) -> Done:
        text = ', "content": "new"' if tool == "write_file" else ""
        call = called(tool, f'{{"path": "{place}/note.txt"{text}}}')
        with ModelServer([call, streamed("Done.")]) as server:
            done = run(server, tmp_path, "--add-dir", "../more", *flags, "go on", cwd=folder)
            assert str(more) in prompt(server)
            return done

    edits = ("--permission-mode", "edits")
    assert attempt("read_file", more).code == 0
    assert attempt("read_file", closed).code == 3
    assert attempt("write_file", more).code == 3
    assert (more / "note.txt").read_text() == "the word is plum"
    assert attempt("write_file", more, *edits).code == 0
    assert (more / "note.txt").read_text() == "new"
    assert attempt("write_file", closed, *edits).code == 3
    (more / "way").symlink_to(closed)
    assert attempt("write_file", more / "way", *edits).code == 3
    assert (closed / "note.txt").read_text() == "the word is plum"
    assert attempt("write_file", more / ".git" / "hooks", *edits).code == 3


@pytest.mark.slow
def test_each_call_is_shown_with_its_arguments_where_that_is_asked_for(
    tmp_path: Path, folder: Path
) -> None:
    secret = "sk-proj-4Fh2kQ9xT7bLmZ0wYcRv8uNa"
    script = [
        called("list_directory", '{"path": "."}'),
        called("search_files", f'{{"pattern": "{secret}"}}'),
        streamed("Done."),
    ]
    with ModelServer(script) as server:
        done = run(server, tmp_path, "-v", "look", cwd=folder)
        plain = run(server, tmp_path, "look", cwd=folder)
        offered = server.requests[0].body["tools"]
    assert (done.code, done.out) == (0, "Done.\n")
    assert done.err.splitlines()[0].endswith(f", native, {len(offered)} tools")
    assert 'list_directory {"path": "."}' in done.err
    assert " s\n" in done.err
    assert secret not in done.err
    assert "list_directory" not in plain.err


def test_chat_takes_your_words_and_folder_too(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "words.txt").write_text("Be a pirate.")
    with ModelServer([streamed("Arr")]) as server:
        to = ("--base-url", server.url, "--model", "m")
        given = ("--cwd", "work", "--append-system-prompt", "@words.txt", "--add-dir", ".")
        done = andy("chat", *to, *given, home=tmp_path, cwd=tmp_path, stdin="hi\n")
        told = prompt(server)
    assert (done.code, "Arr" in done.out) == (0, True)
    assert f"working in the folder {folder}." in told
    assert f"by their whole paths: {tmp_path}\n\nBe a pirate." in told
