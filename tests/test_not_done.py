"""What of a turn is told as not done, by the calls alone."""

import json

import pytest

from andy_cli.agent.calls.tool_runner import find_not_done
from andy_cli.agent.grounding.evidence import ActionRecord
from andy_cli.messages import Effect, Status
from tests.fakes import ScriptedModel, native
from tests.scripted_conversation import events_of
from tests.test_turn import ended

EFFECTS = {
    "read": Effect.READ,
    "fetch": Effect.NETWORK,
    "play": Effect.PLAY,
    "trash": Effect.WRITE,
    "write": Effect.WRITE,
    "edit": Effect.WRITE,
    "copy": Effect.WRITE,
    "run": Effect.RUN,
    "create": Effect.ACT,
}


def record(action: str, *, failed: bool = False, **arguments: object) -> ActionRecord:
    """A call whose tool is the first word of what it does."""
    tool = action.partition(" ")[0]
    status = Status.FAILED if failed else Status.SUCCESS
    return ActionRecord(
        tool, EFFECTS[tool], action, status=status, arguments=json.dumps(arguments), problem="no"
    )._replace(problem="no" if failed else "")


@pytest.mark.parametrize(
    ("failed", "later"),
    [
        (
            record("trash COPYING", failed=True, paths=["COPYING"]),
            record("trash Makefile", paths=["Makefile"]),
        ),
        (
            record("trash a.txt and b.txt", failed=True, paths=["a.txt", "b.txt"]),
            record("trash a.txt", paths=["a.txt"]),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="butter", new="margarine"),
            record("edit n.txt", path="n.txt", old="milk", new="oat milk"),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="buter", new="oat milk"),
            record("write n.txt", path="n.txt", content="flour\n"),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="buter", new="oat milk"),
            record("write a.txt", path="a.txt", content="oat milk"),
        ),
        (
            record("trash a.txt", failed=True, paths=["a.txt"]),
            record("write a.txt", path="a.txt", content="see a.txt"),
        ),
        (
            record("copy a.txt to /opt/a.txt", failed=True, source="a.txt", to="/opt/a.txt"),
            record("copy a.txt to c.txt", source="a.txt", to="c.txt"),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="buter", new="oil"),
            record("run touch n.txt", command="touch n.txt"),
        ),
        (
            record("copy ald.txt to a.txt", failed=True, source="ald.txt", to="a.txt"),
            record("run cp old.txt b.txt", command="cp old.txt b.txt"),
        ),
        (
            record("trash a.txt", failed=True, paths=["a.txt"]),
            record("run touch a.txt", command="touch a.txt"),
        ),
        (
            record("run rm a.txt", failed=True, command="rm a.txt"),
            record('run echo "rm a.txt"', command='echo "rm a.txt"'),
        ),
        (
            record("read old.txt", failed=True, path="old.txt"),
            record("read a.txt", path="a.txt"),
        ),
        (
            record("create Dentist", failed=True, title="Dentist", start="9:00"),
            record("create Lunch", title="Lunch", start="12:00"),
        ),
    ],
)
def test_another_act_of_the_same_tool_makes_up_for_none(
    failed: ActionRecord, later: ActionRecord
) -> None:
    request = "do it with old.txt and a.txt"
    assert [*map(str, find_not_done([failed, later], request))] == [
        f"Not done: {failed.action} (no)"
    ]


@pytest.mark.parametrize(
    ("failed", "later"),
    [
        (
            record("edit n.txt", failed=True, path="n.txt", old="buter", new="oil"),
            record("edit n.txt", path="n.txt", old="butter", new="oil"),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="  x = 1", new="  x = 2"),
            record("edit n.txt", path="n.txt", old="def f():\n  x = 1", new="def f():\n  x = 2"),
        ),
        (
            record("write n.txt", failed=True, path="n.txt", content="{"),
            record("write n.txt", path="n.txt", content="eggs and flour"),
        ),
        (
            record("play blue", failed=True, file="blue"),
            record("play blue.mp3", file="songs/blue.mp3"),
        ),
        (record("run make", failed=True, command="make"), record("run make", command="make")),
        (
            record("create Dentist", failed=True, title="Dentist", start="nine"),
            record("create Dentist", title="Dentist", start="2026-12-01T09:00"),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="buter", new="oat milk"),
            record("write n.txt", path="n.txt", content="flour\noat milk\n"),
        ),
        (
            record("edit n.txt", failed=True, path="n.txt", old="buter", new="oil"),
            record("run sed -i s/butter/oil/ n.txt", command="sed -i s/butter/oil/ n.txt"),
        ),
        (
            record("copy ald.txt to a.txt", failed=True, source="ald.txt", to="a.txt"),
            record("run cp old.txt a.txt", command="cp old.txt a.txt"),
        ),
        (
            record("copy ald.txt to a.txt", failed=True, source="ald.txt", to="a.txt"),
            record("copy old.txt to a.txt", source="old.txt", to="a.txt"),
        ),
        (
            record("read conf.py", failed=True, path="conf.py"),
            record("read src/settings.py", path="src/settings.py"),
        ),
        (
            record("read old.txt", failed=True, path="old.txt"),
            record("read archive/old.txt", path="archive/old.txt"),
        ),
        (
            record("fetch https://a.example/old.txt", failed=True, url="https://a.example/old.txt"),
            record("read old.txt", path="old.txt"),
        ),
    ],
)
def test_the_same_act_tried_anew_makes_up_for_one_that_failed(
    failed: ActionRecord, later: ActionRecord
) -> None:
    request = "do it with old.txt, into a.txt"
    assert find_not_done([failed, later], request) == ()
    assert find_not_done([later, failed], request), "what comes before does not"


def test_a_command_that_failed_makes_up_for_no_edit() -> None:
    edit = record("edit n.txt", failed=True, path="n.txt", old="buter", new="oil")
    command = record("run sed s/butter/oil/ n.txt", command="sed s/butter/oil/ n.txt")
    assert find_not_done([edit, command]) == ()
    assert len(find_not_done([edit, command._replace(exit_code=1)])) == 2


def test_a_change_that_was_made_already_is_not_told_as_not_done() -> None:
    made = record("edit n.txt", path="n.txt", old="butter", new="margarine")
    again = made._replace(status=Status.FAILED, problem="That text is not in n.txt.")
    assert find_not_done([made, again]) == ()
    assert len(find_not_done([again])) == 1
    reads = [record("read a.txt", path="a.txt"), record("read a.txt", failed=True, path="a.txt")]
    assert len(find_not_done(reads)) == 1


def test_requests_beyond_the_limit_of_one_reply_are_told_as_not_done() -> None:
    calls = native(*[("list_mp3s", f'{{"path": "{at}"}}') for at in range(4)])
    model = ScriptedModel([calls, "I have looked through all four."], tools=True)
    seen = events_of(model, "look through 0, 1, 2 and 3", "limits.calls_per_reply=3")
    assert [each["reason"] for each in ended(seen).not_done] == [
        "only 3 steps of one reply are done"
    ]
