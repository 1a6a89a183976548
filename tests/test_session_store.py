"""The files of sessions: known by their ends, gone on with from wherever they were cut."""

import random
from pathlib import Path

import pytest

from andy_cli.errors import UsageError
from andy_cli.frontends.management.session_text import render_messages
from andy_cli.messages import Message, ToolCall
from andy_cli.sessions.log import CARD_EVERY, Log, intact_records, make_record, read, read_records
from andy_cli.sessions.store import (
    BEGUN,
    NOT_BEGUN,
    find_session,
    list_sessions,
    replay_records,
    resume_session,
)

HELLO, ANSWER = Message("user", "Hello"), Message("assistant", "Good morning")


def write_session(
    folder: Path, id: str, *messages: Message, card: dict[str, object] | None = None
) -> Path:
    log = Log(folder, id, card_fields=card)
    for message in messages:
        log.message(message)
    log.close()
    return log.path


def test_a_call_that_began_has_another_result_than_one_that_did_not(tmp_path: Path) -> None:
    log = Log(tmp_path, "s")
    log.message(HELLO)
    log.message(Message("assistant", "", (ToolCall("c1", "send"), ToolCall("c2", "send"))))
    log.append("start", call_id="c1", name="send", arguments={})
    log.close()
    for _ in range(2):  # what was said of it is kept: the second time nothing is interrupted
        resumed = resume_session(find_session(tmp_path, "s"))
        resumed.log.close()
        assert [each.content for each in resumed.messages[2:]] == [BEGUN, NOT_BEGUN]
        assert list(read(log.path)) == resumed.messages
    assert resumed.interrupted == []


def test_a_hundred_torn_files_are_gone_on_with(tmp_path: Path) -> None:
    """Cut anywhere, and some with foreign bytes in the middle."""
    said = [HELLO, ANSWER]
    for number in range(12):
        call = ToolCall(f"c{number}", "look", {"at": "ü" * 30})
        said += [
            Message("user", f"Question {number}"),
            Message("assistant", "", (call,)),
            Message("tool", "seen\n" * 20, call_id=call.id, name="look"),
            Message("assistant", f"Answer {number}"),
        ]
    whole = write_session(tmp_path, "whole", *said, card={"folder": "/f"}).read_bytes()
    first = whole.index(b"Good morning")
    for number in range(100):
        chance = random.Random(number)
        data = whole[: chance.randint(first, len(whole))]
        if number % 3 == 0:
            at = chance.randint(0, len(data))
            data = data[:at] + chance.randbytes(20) + data[at:]
        folder = tmp_path / f"{number}"
        folder.mkdir()
        path = folder / "s.jsonl"
        path.write_bytes(data)
        intact = [*read(path)]
        resumed = resume_session(find_session(folder, "s"))
        resumed.log.message(Message("user", "I am back."))
        resumed.log.close()
        assert resumed.messages[: len(intact)] == intact
        added = [each.content for each in resumed.messages[len(intact) :]]
        assert set(added) <= {NOT_BEGUN}
        assert [*read(path)] == [*resumed.messages, Message("user", "I am back.")]
        numbers = [int(str(record["seq"])) for record in read_records(path)]
        assert numbers == sorted(set(numbers))


def test_a_list_reads_the_ends_of_files_alone(tmp_path: Path) -> None:
    log = Log(tmp_path, "s", card_fields={"folder": "/f"})
    log.message(Message("user", "Where is the house?"))
    log.update_card(name="houses")
    for number in range(400):
        log.message(Message("tool", f"{number} " * 200, call_id="c", name="look"))
    log.close()
    size = log.path.stat().st_size
    assert size > 20 * CARD_EVERY
    with log.path.open("r+b") as file:  # nobody looks at the middle
        file.seek(10_000)
        file.write(b"\0" * (size - 10_000 - 3 * CARD_EVERY))
    (card,) = list_sessions(tmp_path)
    assert (card.folder, card.name, card.title) == ("/f", "houses", "Where is the house?")


@pytest.mark.slow
def test_a_long_session_is_resumed_from_its_end_and_loses_nothing(tmp_path: Path) -> None:
    path = write_session(tmp_path, "s", HELLO, ANSWER, card={"folder": "/f"})
    with path.open("ab") as file:
        log = Log(tmp_path, "other")
        for number in range(60):
            log.message(Message("user", f"Question {number} " + "x" * 100_000))
            log.message(Message("assistant", f"Answer {number}"))
        log.close()
        file.write(log.path.read_bytes())
    log.path.unlink()
    before = path.read_bytes()
    resumed = resume_session(find_session(tmp_path, "s"))
    resumed.log.message(Message("user", "On."))
    resumed.log.close()
    assert not resumed.whole
    assert resumed.messages[0].content.startswith("Question ")
    assert resumed.messages[-1].content == "Answer 59"
    assert path.read_bytes().startswith(before)
    assert [record["seq"] for record in intact_records(path.read_bytes()[len(before) :])] == [
        121,
        122,
    ]


def test_a_file_that_holds_no_message_is_no_session(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"role": "user", "content": "not checked"}\n')
    with pytest.raises(UsageError, match="is no session"):
        resume_session(find_session(tmp_path, "s"))


def test_a_summary_stands_for_the_messages_that_were_not_taken_back(tmp_path: Path) -> None:
    log = Log(tmp_path, "s")
    log.message(Message("user", "is it done?"))
    log.message(Message("assistant", "I did it."))
    log.message(Message("user", "Nothing did it.", note=True))
    log.message(Message("assistant", "No."))
    log.retraction(1)
    log.compaction([Message("user", "is it done?"), Message("assistant", "No.")])
    log.message(Message("user", "go on"))
    log.close()
    records = [*intact_records(log.path.read_bytes())]
    _, compaction = replay_records(records)
    assert compaction is not None
    assert compaction.stands_for == 2
    assert [message.content for message in read(log.path)] == ["is it done?", "No.", "go on"]


def test_nothing_else_is_taken_back_where_lines_are_missing(tmp_path: Path) -> None:
    log = Log(tmp_path, "s")
    log.message(Message("user", "hello"))
    log.message(Message("assistant", "Hello."))
    log.message(Message("user", "go on"))
    for count in (-3, 0, 1, 2, 3, 50):
        log.retraction(count)
    log.close()
    assert [message.content for message in read(log.path)] == ["hello", "Hello.", "go on"]


def test_what_of_an_answer_nothing_supports_is_told_with_it_later_too(tmp_path: Path) -> None:
    log = Log(tmp_path, "s")
    log.message(Message("user", "tidy up"))
    log.audit(["nobody said this"])
    log.message(Message("assistant", "I deleted old.txt."))
    log.audit(["I deleted old.txt"])
    log.close()
    user, answer = map(make_record, read(log.path))
    assert "unverified" not in user
    assert answer["unverified"] == ("I deleted old.txt",)
    shown = "".join(render_messages([user, answer]))
    assert shown.endswith("I deleted old.txt.\n\n(not verified: I deleted old.txt)\n")
