"""Captures of real runs, replayed: the same bytes mean the same, and what is damaged is said."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from tests.model_server import Answer, ModelServer, called, event, raw, refused, status, streamed
from tests.shell import Done, andy

DIALOGUE = [
    streamed("DEAR AND", "YBOT, LIST_MP3S"),
    streamed("tests/music"),
    streamed("There are three songs."),
]
NATIVE = [called("list_mp3s", '{"path": "tests/music"}'), streamed("Three songs.")]
HERMES = [
    streamed(
        "Let me look.\n<tool_", 'call>\n{"name": "list_mp3s", "argu', 'ments": {"path": "."}}\n'
    ),
    streamed("None."),
]
TURNS, TASK = ("--turns",), "\n> look into tests/music\n"
CUT_OFF = [[status(), event({"content": '<tool_call>\n{"name": "list_mp3s", "arg'})]]


def captured(
    home: Path, script: Sequence[Answer], *arguments: str, task: str = "look into tests/music"
) -> Path:
    """The capture of one `andy run`."""
    folder = home / "captures"
    with ModelServer(script) as server:
        where = ("--base-url", server.url, "--model", "m", "--set", "network.tries=1")
        andy("run", *where, *arguments, task, home=home, ANDY_DEBUG_RAW=str(folder))
    (file,) = folder.glob("*.jsonl")
    return file


def replay(home: Path, *arguments: str | Path) -> Done:
    return andy("replay", *map(str, arguments), home=home)


def rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def without_outcomes(file: Path) -> None:
    kept = [json.dumps(row) for row in rows(file) if row["kind"] != "outcome"]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")


def test_the_dialogue_compiles_to_its_letters_and_answers(tmp_path: Path) -> None:
    file = captured(tmp_path, DIALOGUE, "--set", "dialect=andybot")
    done = replay(tmp_path, file)
    assert (done.code, done.err) == (0, "")
    assert "request 1: openai:m, " in done.out
    assert "  call       list_mp3s {}\n  dialect    andybot\n" in done.out
    assert "  content    There are three songs.\n" in done.out


@pytest.mark.slow
def test_native_calls_are_joined_again(tmp_path: Path) -> None:
    done = replay(tmp_path, captured(tmp_path, NATIVE))
    assert '  call       list_mp3s {"path": "tests/music"}\n  dialect    native\n' in done.out
    assert "ended with tool_calls" in done.out


@pytest.mark.slow
@pytest.mark.parametrize("script", [NATIVE, HERMES, CUT_OFF, DIALOGUE])
def test_the_same_bytes_mean_what_they_meant(script: Sequence[Answer], tmp_path: Path) -> None:
    done = replay(tmp_path, captured(tmp_path, script), "--diff")
    assert done.code == 0, done.out
    assert "nothing of " in done.out


@pytest.mark.slow
def test_the_answers_of_an_interview_are_read_as_they_were(tmp_path: Path) -> None:
    script = [streamed("DEAR ANDYBOT, LIST_MP3S"), streamed("DEAR ANDYBOT, STOP_MP3"), *DIALOGUE]
    file = captured(tmp_path, script, "--set", "dialect=andybot")
    assert replay(tmp_path, file, "--diff").code == 0


@pytest.mark.slow
def test_a_reply_that_was_cut_off_is_incomplete(tmp_path: Path) -> None:
    done = replay(tmp_path, captured(tmp_path, CUT_OFF))
    assert "incomplete: a call was cut off" in done.out
    assert "not ended" in done.out


@pytest.mark.slow
def test_a_refusal_is_told_with_its_reason(tmp_path: Path) -> None:
    done = replay(tmp_path, captured(tmp_path, [refused(401, "Incorrect API key provided")]))
    assert done.code == 0
    assert "  error      " in done.out


@pytest.mark.slow
def test_another_dialect_makes_a_difference_and_the_exit_code_says_so(tmp_path: Path) -> None:
    file = captured(tmp_path, HERMES)
    done = replay(tmp_path, file, "--diff", "--dialect", "andybot")
    assert done.code == 1
    assert '  - dialect "hermes"\n  + dialect ""\n' in done.out
    assert "1 of 2 came out differently" in done.out
    assert replay(tmp_path, file, "--diff", "--model-as", "Qwen/Qwen2.5-7B-Instruct").code == 0


def test_a_changed_outcome_is_a_difference(tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    text = file.read_text().replace('"content": "Three songs."', '"content": "Four songs."')
    file.write_text(text)
    done = replay(tmp_path, file, "--diff")
    assert done.code == 1
    assert '  - content "Four songs."\n  + content "Three songs."' in done.out


def test_the_outcomes_are_printed_as_json_where_that_is_asked_for(tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    text = file.read_text().replace('"content": "Three songs."', '"content": "Four songs."')
    file.write_text(text)
    done = replay(tmp_path, file, "--diff", "--json")
    assert done.code == 1
    first, second = map(json.loads, done.out.splitlines())
    assert first["request"] == 1
    assert first["model"] == "openai:m"
    assert first["calls"][0]["name"] == "list_mp3s"
    assert first["changes"] == []
    change = {"name": "content", "earlier": "Four songs.", "current": "Three songs."}
    assert second["changes"] == [change]
    assert second["content"] == "Three songs."


@pytest.mark.slow
def test_without_outcomes_the_dialects_are_compared(tmp_path: Path) -> None:
    file = captured(tmp_path, HERMES)
    without_outcomes(file)
    alone = replay(tmp_path, file, "--diff")
    assert alone.code == 2
    assert "nothing to compare" in alone.err
    assert replay(tmp_path, file, "--diff", "--dialect", "hermes").code == 0
    assert replay(tmp_path, file, "--diff", "--dialect", "react").code == 1


@pytest.mark.slow
def test_a_test_case_says_what_the_reply_means(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    file = captured(tmp_path, HERMES)
    for _ in range(2):
        assert replay(tmp_path, file, "--to-test", cases).code == 0
    case, last, *again = rows(cases)
    assert again == [case, last]
    assert (case["dialect"], case["content"]) == ("hermes", "Let me look.")
    assert case["calls"] == [{"name": "list_mp3s", "arguments": {"path": "."}}]
    assert isinstance(case["tools"], list)
    tools = tools_by_name(case["tools"])
    compiler = Compiler(Markers(discover(dialects, Dialect, "DIALECT"), tuple(tools)), tools)
    compiler.feed(str(case["text"]))
    _, reply = compiler.finish()
    assert reply.text == case["content"]


@pytest.mark.slow
def test_a_native_call_is_no_test_case_of_a_dialect(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    done = replay(tmp_path, captured(tmp_path, NATIVE), "--to-test", cases)
    assert "no test case" in done.out
    assert len(rows(cases)) == 1


@pytest.mark.slow
def test_a_folder_stands_for_its_newest_capture(tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    assert replay(tmp_path, file.parent).out == replay(tmp_path, file).out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"hello\n", "is no capture"),
        (b'{"a": 1}\n[1]\n', "is no capture"),
        (b"\xff\xfe\x00", "is no capture"),
        (b'{"kind": "end", "n": 1}\n', "is no capture"),
        (b"[" * 100_000, "is no capture"),
    ],
)
def test_what_is_no_capture_is_said_in_a_sentence(
    content: bytes, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(content)
    done = replay(tmp_path, file)
    assert (done.code, done.out) == (2, "")
    assert says in done.err.splitlines()[0]


@pytest.mark.slow
def test_a_file_or_dialect_that_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    assert "cannot be read" in replay(tmp_path, tmp_path / "none.jsonl").err
    assert "no capture in" in replay(tmp_path, tmp_path).err
    file = captured(tmp_path, NATIVE)
    assert "no dialect 'hermit'" in replay(tmp_path, file, "--dialect", "hermit").err
    assert "does not say which" in replay(tmp_path, file, "--model-as", "hermit").err
    assert "cannot be written" in replay(tmp_path, file, "--to-test", tmp_path).err
    assert "--turns goes with none of" in replay(tmp_path, file, "--turns", "--diff").err


@pytest.mark.slow
@pytest.mark.parametrize("keep", [0.55, 0.8, 0.95])
def test_a_torn_capture_is_replayed_as_far_as_it_goes(keep: float, tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * keep)])
    for flags, shown in (((), '  call       list_mp3s {"path": "tests/music"}'), (TURNS, TASK)):
        done = replay(tmp_path, file, *flags)
        assert done.code == 2
        assert "is damaged: " in done.err
        assert shown in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "chunk", "n": 99, "text": "x"}',
        '{"kind": "chunk", "n": 1, "b64": "%%%"}',
        '{"kind": "chunk", "text": "x"}',
        '{"kind": 7, "n": 1}',
        "nonsense",
        '"text"',
    ],
)
def test_a_bad_line_is_passed_over_and_named(line: str, tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    whole = replay(tmp_path, file).out
    first, _, rest = file.read_text().partition("\n")
    file.write_text(f"{first}\n{line}\n{rest}")
    done = replay(tmp_path, file)
    assert (done.code, done.out) == (2, whole)
    assert "line 2 " in done.err


@pytest.mark.slow
def test_records_of_a_later_andy_are_passed_over(tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    with file.open("a") as lines:
        lines.write('{"kind": "mood", "n": 1}\n')
    assert replay(tmp_path, file).code == 0


@pytest.mark.slow
def test_bytes_that_are_no_text_by_themselves_keep_their_borders(tmp_path: Path) -> None:
    words = "é🎵".encode()
    split = [{"op": "raw", "b64": _b64(words[at : at + 1])} for at in range(len(words))]
    before = raw('data: {"choices": [{"index": 0, "delta": {"content": "')
    after = raw('"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n')
    chunked = status(headers={"content-type": "text/event-stream", "transfer-encoding": "chunked"})
    done = replay(tmp_path, captured(tmp_path, [[chunked, before, *split, after]]))
    assert "  content    é🎵\n" in done.out


@pytest.mark.slow
def test_what_was_captured_cannot_drive_the_terminal(tmp_path: Path) -> None:
    done = replay(tmp_path, captured(tmp_path, [streamed("\x1b]0;owned\x07safe")]))
    assert "safe" in done.out
    assert "\x1b" not in done.out


@pytest.mark.slow
def test_a_secret_stays_hidden_in_the_outcome_and_makes_no_difference(tmp_path: Path) -> None:
    key = "sk-proj-EXAMPLE0EXAMPLE0EXAMPLE0T3BlbkFJ"
    file = captured(tmp_path, [streamed("Your key is ", key[:9], key[9:], ".")])
    assert key[8:20] not in file.read_text()
    assert replay(tmp_path, file, "--diff").code == 0


def test_the_local_model_is_captured_with_its_outcome_too(tmp_path: Path) -> None:
    file = tmp_path / "local.jsonl"
    chunk = {"text": "DEAR ANDYBOT, LIST_MP3S", "reasoning": "", "finish": ""}
    records = [
        {"kind": "request", "n": 1, "provider": "local", "model": "smollm2", "body": {}},
        {"kind": "chunk", "n": 1, "chunk": chunk},
        {"kind": "chunk", "n": 1, "chunk": {"text": "", "finish": "stop"}},
        {"kind": "end", "n": 1},
    ]
    file.write_text("\n".join(map(json.dumps, records)))
    done = replay(tmp_path, file)
    assert (done.code, done.err) == (0, "")
    assert "request 1: local:smollm2, 2 pieces, ended with stop" in done.out
    assert "  call       list_mp3s {}" in done.out


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


DENIED = [called("play_mp3", '{"file": "/etc/x.mp3"}'), streamed("I may not.")]
UNREADY = [called("gmail_list", "{}"), *NATIVE]
LEAKY = [called("list_mp3s", '{"folder": "tests/music"}'), streamed("There is ghost.mp3.")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "dialect"),
    [
        (NATIVE, "native"),
        (DIALOGUE, "andybot"),
        (HERMES, "hermes"),
        (DENIED, "native"),
        (LEAKY, ""),
        (UNREADY, "native"),
    ],
    ids=["native", "dialogue", "hermes", "denied", "not supported", "not ready"],
)
def test_a_turn_is_reproduced_from_its_capture_alone(
    tmp_path: Path, script: Sequence[Answer], dialect: str
) -> None:
    folder = tmp_path / "captures"
    chosen = ("--set", f"dialect={dialect}") if dialect else ()
    with ModelServer(script) as server:
        where = ("--base-url", server.url, "--model", "m", *chosen, "-o", "stream-json")
        then = andy("run", *where, "look into it", home=tmp_path, ANDY_DEBUG_RAW=str(folder))
    now = replay(tmp_path, folder, "--turns", "--json")
    assert happened(now.out) == happened(then.out)
    assert now.code == then.code


def happened(lines: str) -> list[dict[str, object]]:
    """The events, without what differs from run to run; text in one piece."""
    ids: dict[object, int] = {}
    found: list[dict[str, object]] = []
    for row in map(json.loads, lines.splitlines()):
        for name in ("timestamp", "seconds", "duration_ms", "session_id", "tools", "usage"):
            row.pop(name, None)
        if "tool_id" in row:
            row["tool_id"] = ids.setdefault(row["tool_id"], len(ids))
        if found and row.get("delta") and found[-1].get("delta"):
            found[-1]["content"] = f"{found[-1]['content']}{row['content']}"
        elif row["type"] != "init":
            found.append(row)
    return found


@pytest.mark.slow
def test_a_capture_without_turns_says_so(tmp_path: Path) -> None:
    file = captured(tmp_path, NATIVE)
    kept = [json.dumps(row) for row in rows(file) if row["kind"] not in ("turn", "result")]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    done = replay(tmp_path, file, "--turns")
    assert (done.code, "Leave --turns out" in done.err) == (2, True)
