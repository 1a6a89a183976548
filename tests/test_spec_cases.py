"""The cases of the specification: what a model writes, and what becomes of it in a whole turn."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from andy_cli import events
from andy_cli.agent.turn import turn
from andy_cli.messages import CallDelta, Chunk
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import tool
from tests.cases import loop_over, sample_every
from tests.fakes import ScriptedModel, native
from tests.scripted_tools import Played, desk, play, speak

CORPUS = Path(__file__).parent / "corpora" / "spec" / "replies.jsonl"
LINES = CORPUS.read_text(encoding="utf-8").split("\n")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LINES if line]
SEND = "Send exactly one JSON object"


def row_of(row: dict[str, Any], size: int = 3) -> Played:
    """`agree`: whether the user says yes to what is asked; else nobody is there."""
    model = ScriptedModel(row["replies"], name="x:model", size=size)
    strict = f"dialect_strict={str(row.get('strict', False)).lower()}"
    chat = desk(model, f"dialect={row['dialect']}", strict)
    if not row.get("agree", True):
        chat.gate.ask = None
    return Played(speak(chat, row.get("user", "go")), chat, model)


def marked(row: dict[str, Any]) -> ParameterSet:
    """A row that says why it `fails` is expected to."""
    fails = [pytest.mark.xfail(strict=True, reason=row.get("fails", ""))] * ("fails" in row)
    return pytest.param(row, marks=fails, id=f"{row['id']} {row['why']}")


@pytest.mark.parametrize("row", [marked(row) for row in ROWS])
def test_what_a_reply_does(row: dict[str, Any]) -> None:
    """Every key of a row but those that describe it is an expectation."""
    played = row_of(row)
    assert played.ran == [(name, given) for name, given in row["ran"]]
    if "answer" in row:
        assert played.answer == row["answer"]
    assert played.answer.endswith(row.get("ends", ""))
    told = "\n".join(str(each.messages[-1]["content"]) for each in played.model.requests[1:])
    assert [each for each in row.get("told", []) if each not in told] == []
    assert [each for each in row.get("never", []) if each in played.feed] == []
    assert row.get("shown", "") in "".join(played.said)
    assert row.get("code", 0) in (None, played.ended.exit_code)
    assert row.get("notice", "") in played.feed
    if "resent" in row:
        assert told.count(SEND) == row["resent"]
    if "rounds" in row:
        assert played.ended.num_turns == row["rounds"]
    if "saved" in row:
        kept = [each.content for each in played.chat.history.messages if each.role == "assistant"]
        assert kept == row["saved"]


@loop_over("row", sample_every(10, ROWS), ids=lambda row: f"{row['id']} {row['why']}")
def test_case_16_how_a_reply_is_cut_makes_no_difference(row: dict[str, Any]) -> None:
    whole = row_of(row)
    for size in (1, 10_000):
        again = row_of(row, size)
        assert (again.ran, again.answer) == (whole.ran, whole.answer)


@tool(effect="read", action="list {path}")
def listing(path: str) -> list[dict[str, object]]:
    """List very much"""
    return [{"name": f"{path}/file {at}.txt", "bytes": at * 1000} for at in range(1500)]


def test_case_42_a_long_listing_is_valid_json_that_says_how_to_get_the_rest() -> None:
    model = ScriptedModel([native(("listing", '{"path": "a"}')), "Very many."], tools=True)
    chat = desk(model, "limits.context=8000", registry=Registry([listing]))
    seen = speak(chat, "what is in a?")
    whole = next(each for each in seen if isinstance(each, events.ToolAnswered)).output
    assert len(whole) > 60_000
    told = str(model.requests[1].messages[-1]["content"])
    assert len(told) < len(whole) / 3
    assert "listing" in json.dumps(json.loads(told))
    assert "1500" in told or "1,500" in told


def test_case_43_the_same_step_with_the_same_result_is_refused_the_third_time() -> None:
    same = native(("list_directory", '{"path": "."}'))
    other = [native(("list_directory", f'{{"max_depth": {at}}}')) for at in range(1, 5)]
    played = play([same] * 9, tools=True)
    assert (len(played.used), played.ended.exit_code) == (3, 4)
    assert "did this before" in played.told(2)
    assert played.answer.count("notes.md, plan.txt") == 1  # what it found is told
    assert played.ended.error is not None
    assert played.ended.error["hint"] == "Say it otherwise, or use another model."
    assert play([*other, "Done."], tools=True).answer == "Done."


def test_case_44_what_was_cut_off_goes_on_once_and_then_is_kept_as_partial() -> None:
    half = [Chunk("One two "), Chunk(finish="length")]
    played = play([half, half, "never asked"])
    assert (played.answer, len(played.model.requests)) == ("One two One two ", 2)
    assert [each.partial for each in played.chat.history.messages if each.role == "assistant"][-1]


def test_case_44_what_stays_cut_off_ends_in_a_way_of_its_own() -> None:
    half = [Chunk("One two "), Chunk(finish="length")]
    whole = play(["One two "])
    played = play([half, half])
    warned = [each for each in played.seen if isinstance(each, events.Failed)]
    assert played.ended.subtype != whole.ended.subtype or warned


def test_case_44_a_step_that_is_cancelled_says_so_and_the_conversation_goes_on() -> None:
    started = asyncio.Event()

    async def waits(arguments: object) -> str:
        started.set()
        await asyncio.Event().wait()
        return "never"

    @tool(effect="read", action="wait")
    def waiting() -> str:
        """Wait"""
        return ""

    calls = [
        Chunk(call=CallDelta(0, "one", "waiting", "{}")),
        Chunk(call=CallDelta(1, "two", "waiting", "{}")),
        Chunk(finish="tool_calls"),
    ]
    model = ScriptedModel([calls, "Here I am."], tools=True)
    chat = desk(model, registry=Registry([replace(waiting, run=waits)]))

    async def cancelled() -> None:
        task = asyncio.create_task(drained())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def drained() -> None:
        async for _ in turn(chat, "wait"):
            pass

    asyncio.run(cancelled())
    results = [each for each in chat.history.messages if each.role == "tool"]
    assert [each.call_id for each in results] == ["one", "two"]
    assert all("interrupted" in each.content for each in results)
    ended = speak(chat, "are you there?")[-1]
    assert isinstance(ended, events.Ended)
    assert ended.result == "Here I am."
