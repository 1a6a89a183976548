"""The file of a session: no finished message is lost, doubled or torn (P5, P8, P12)."""

import errno
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.conversation import Conversation
from andy_cli.errors import UsageError
from andy_cli.events import Failed
from andy_cli.guard.gate import Gate
from andy_cli.messages import Message, ToolCall
from andy_cli.sessions.log import Log, intact_records, read, read_records
from andy_cli.sessions.store import list_sessions, resume_session
from andy_cli.settings import load
from tests.cases import rows
from tests.failing_disk import ALWAYS, Disk, failing
from tests.fakes import ScriptedModel, native
from tests.scripted_conversation import MUSIC
from tests.test_turn import ended, happened

HELLO, ANSWER = Message("user", "Hello"), Message("assistant", "Good morning")
KEY = "0ELPMAXE0ELPMAXE0ELPMAXEzz"


def written(folder: Path, *messages: Message, secrets: tuple[str, ...] = ()) -> Path:
    log = Log(folder, "s", secrets)
    for message in messages:
        log.message(message)
    log.close()
    return log.path


def numbers(path: Path) -> list[object]:
    return [record["seq"] for record in read_records(path)]


def as_line(record: object) -> bytes:
    """A record with its check value, whoever wrote it."""
    data = json.dumps(record).encode()
    return data[:-1] + b', "check": "%08x"}' % zlib.crc32(data)


@pytest.mark.parametrize(
    "text",
    ["a\u2028b", "a\u2029b\x85c", "\x1c\x1d\x1e\x0b\x0c", "\r\n\n", "\ud800 half", "\udce4", "\0"],
)
def test_a_message_survives_whatever_signs_it_holds(tmp_path: Path, text: str) -> None:
    said = [Message("user", text), ANSWER]
    assert list(read(written(tmp_path, *said))) == said


@given(st.text(alphabet=st.characters(codec=None)), st.text())
def test_what_is_written_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, a: str, b: str
) -> None:
    """Two halves of a surrogate pair become one sign."""
    path = written(tmp_path_factory.mktemp("s"), Message("user", a), Message("assistant", b), HELLO)
    whole = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in (a, b)]
    found = list(read(path))
    assert found[2:] == [HELLO]
    told = [
        each.content.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for each in found
    ]
    assert told[:2] == whole


def test_every_field_of_a_message_comes_back(tmp_path: Path) -> None:
    calls = (ToolCall("c1", "now", {"zone": "UTC"}), ToolCall("c2", "ping"))
    said = [
        Message("assistant", "Wait", calls, reasoning="because"),
        Message("tool", "noon", call_id="c1", name="now"),
        Message("assistant", "It is no", partial=True),
        Message("user", "Go on", note=True),
    ]
    assert list(read(written(tmp_path, *said))) == said


def test_a_file_that_is_gone_on_with_has_no_lines_without_a_record(tmp_path: Path) -> None:
    written(tmp_path, HELLO)
    path = written(tmp_path, ANSWER)
    assert path.read_bytes().count(b"\n") == 2
    assert path.read_bytes().startswith(b'{"seq": 1, ')


def test_a_line_begins_on_a_line_of_its_own_behind_a_torn_one(tmp_path: Path) -> None:
    path = written(tmp_path, HELLO)
    with path.open("ab") as file:
        file.write(b'{"seq": 2, "type": "mess')
    assert list(read(written(tmp_path, ANSWER))) == [HELLO, ANSWER]
    assert numbers(path) == [1, 2]


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_what_a_full_disk_did_not_take_is_written_when_there_is_room(
    tmp_path: Path, error: int, short: bool
) -> None:
    said = [HELLO, ANSWER, HELLO, ANSWER]
    for call in range(12):
        folder = tmp_path / f"{call}"
        with failing(Disk(folder, call, 1, error, short)):
            path = written(folder, *said)
        assert list(read(path)) == said
        assert numbers(path) == [1, 2, 3, 4]


def test_a_session_that_cannot_be_kept_is_told_once_and_the_chat_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    chat = Conversation(
        ScriptedModel([native(("ping", "{}")), "pong"], tools=True),
        MUSIC,
        Gate(tmp_path),
        load((), environment={}),
        tmp_path,
        Log(folder, "s"),
    )
    with failing(Disk(folder, 0, ALWAYS)):
        first, second = happened(chat, "x"), happened(chat, "y")
    told = [event for event in first + second if isinstance(event, Failed)]
    assert [event.kind for event in told] == ["session"]
    assert told[0].hint == "The conversation goes on. Make room, or give --no-session."
    assert told[0].message.endswith(".jsonl: No space left on device.")
    assert ended(first).result == ended(second).result == "pong"
    happened(chat, "z")
    assert list(read(folder / "s.jsonl")) == chat.history.messages


def test_a_folder_that_cannot_be_made_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    log = Log(tmp_path / "file" / "sessions", "s")
    log.message(HELLO)
    assert "is not kept" in log.take_problem()
    assert log.advice == "The conversation goes on."
    assert not log.take_problem()
    log.close()


def test_a_session_has_one_writer(tmp_path: Path) -> None:
    first, second = Log(tmp_path, "s"), Log(tmp_path, "s")
    first.message(HELLO)
    second.message(ANSWER)
    assert second.take_problem().endswith("another andy is writing it.")
    first.message(HELLO)
    first.close()
    second.message(ANSWER)
    second.close()
    assert list(read(first.path)) == [HELLO, HELLO, ANSWER, ANSWER]
    assert numbers(first.path) == [1, 2, 3, 4]


def test_a_clock_that_goes_back_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([2_000_000_000.0, 1_000_000_000.0, -5.0])
    monkeypatch.setattr("time.time", lambda: next(times))
    assert list(read(written(tmp_path, HELLO, ANSWER, HELLO))) == [HELLO, ANSWER, HELLO]


def test_a_call_that_began_and_has_no_end_is_known(tmp_path: Path) -> None:
    log = Log(tmp_path, "s")
    calls = tuple(ToolCall(call_id, "send", {"to": "bea"}) for call_id in ("c1", "c2"))
    log.message(Message("assistant", "", calls))
    for call in calls:
        log.append("start", call_id=call.id, name=call.name, arguments=dict(call.arguments))
    log.message(Message("tool", "sent", call_id="c1", name="send"))
    log.close()
    [session] = list_sessions(tmp_path)
    assert resume_session(session).interrupted == [calls[1]]


def test_no_secret_is_kept(tmp_path: Path) -> None:
    call = ToolCall("c1", "login", {"password": "tr0ub4dor", "text": f"it is {KEY}"})
    said = Message("assistant", "OPENAI_API_KEY=Zx8QwB3nTb9Lk2Vm", (call,))
    path = written(tmp_path, said, Message("user", KEY), secrets=(KEY,))
    text = path.read_text(encoding="utf-8")
    assert not [secret for secret in (KEY[:8], "tr0ub4dor", "Zx8QwB3n") if secret in text]


def test_what_is_no_secret_is_kept_as_it_is(tmp_path: Path) -> None:
    kept = [row["text"] for row in rows("secrets.jsonl") if row["expect"] == "keep"]
    said = [Message("tool", text, call_id="c1", name="read_file") for text in kept]
    assert list(read(written(tmp_path, *said, secrets=(KEY,)))) == said


def test_arguments_that_are_nested_without_end_lose_no_message(tmp_path: Path) -> None:
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    said = Message("assistant", "a", (ToolCall("c1", "read", {"a": deep}),))
    assert [each.content for each in read(written(tmp_path, said, ANSWER))] == ["a", "Good morning"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
KEYS = ("type", "role", "content", "calls", "call_id", "seq", "partial", "id", "name", "arguments")
foreign = st.dictionaries(
    st.sampled_from(KEYS), values | st.sampled_from(["message", "tool", "start"])
)


@given(st.lists(st.binary() | foreign.map(as_line)))
def test_foreign_bytes_lose_no_intact_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = written(tmp_path_factory.mktemp("s"), HELLO)
    own = path.read_bytes().rstrip(b"\n")
    path.write_bytes(b"\n".join([*lines, own, *lines]))
    assert HELLO in read(path)
    log = Log(path.parent, "s")
    log.message(ANSWER)
    log.close()
    assert list(read(path))[-1] == ANSWER


@given(st.binary())
def test_arbitrary_bytes_are_no_records(data: bytes) -> None:
    assert list(intact_records(data)) == []


def test_a_session_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        list(read(tmp_path / "s.jsonl"))
