"""How turns end: one table, for the exit code, the JSON and the documents."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from andy_cli import events
from andy_cli.agent.turn_state import TURN_OUTCOMES
from andy_cli.errors import CHAT_WAYS, SHELL_WAYS, ModelError, UserWays
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest
from andy_cli.messages import Chunk
from tests.fakes import ScriptedModel
from tests.scripted_tools import desk, speak

DOCUMENT = Path(__file__).parent.parent / "docs" / "truth.md"
NATIVE_LIST = '<tool_call>{"name": "list_directory", "arguments": {"path": "/nowhere"}}</tool_call>'


def ended(replies: Sequence[str | Sequence[Chunk]], *, strict: bool = False) -> events.Ended:
    chat = desk(ScriptedModel([*replies]))
    chat.strict = strict
    last = list(speak(chat, "look around"))[-1]
    assert isinstance(last, events.Ended)
    return last


def test_the_document_has_the_table_as_it_is() -> None:
    rows = re.findall(
        r"^\|[^|]*\| `(\w+)` \| (true|false) \| (\d+) \| ?(.*?) ?\|$",
        DOCUMENT.read_text(encoding="utf-8"),
        re.M,
    )
    assert [row[0] for row in rows] == list(TURN_OUTCOMES)
    for subtype, is_error, code, sentence in rows:
        outcome = TURN_OUTCOMES[subtype]
        assert (is_error == "true", int(code)) == (outcome.is_error, outcome.exit_code), subtype
        assert sentence == outcome.sentence, subtype


def test_every_subtype_has_its_row() -> None:
    assert set(TURN_OUTCOMES) == set(get_args(events.Subtype))


@pytest.mark.parametrize(
    ("replies", "subtype"),
    [
        (["Hello."], "success"),
        ([""], "error_empty"),
        (["  \n"], "error_empty"),
        (["<think>Hm.</think>"], "error_empty"),
        (['<tool_call>{"name": "list_mp3s", "arguments": {}}</tool_call>', "", ""], "error_empty"),
        ([[Chunk(text="Well, "), Chunk(finish="content_filter")]], "error_filtered"),
        ([[Chunk(text="So"), Chunk(finish="length")]] * 2, "error_cut_off"),
        (["<tool_call>{'name': }</tool_call>"] * 5, "error_unreadable"),
    ],
)
def test_what_is_no_answer_is_no_success(
    replies: Sequence[str | Sequence[Chunk]], subtype: events.Subtype
) -> None:
    last = ended(replies)
    assert (last.subtype, last.exit_code) == (subtype, TURN_OUTCOMES[subtype].exit_code)
    assert last.is_error == TURN_OUTCOMES[subtype].is_error
    assert (last.error is not None) == last.is_error
    if last.error is not None and "<think>" not in replies[0]:
        assert last.error["message"] == TURN_OUTCOMES[subtype].sentence


@pytest.mark.parametrize(
    ("ways", "hint"),
    [
        (CHAT_WAYS, "Choose another with /model, or {odd}."),
        (SHELL_WAYS, "Choose another with --base-url or --model, or {odd}."),
    ],
)
def test_a_hint_is_told_in_the_words_of_the_front_end(ways: UserWays, hint: str) -> None:
    error = ModelError("It is not there.", "Choose another with {server}, or {odd}.")
    chat = desk(ScriptedModel([error]))
    chat.ways = ways
    last = list(speak(chat, "look around"))[-1]
    assert isinstance(last, events.Ended)
    assert last.error is not None
    assert last.error["hint"] == hint


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ([], "use another model"),
        (["dialect=hermes"], "leave out the dialect that --set sets"),
    ],
)
def test_no_dialect_is_advised_that_is_already_set(settings: list[str], advice: str) -> None:
    chat = desk(ScriptedModel(["<tool_call>{'name': }</tool_call>"] * 5), *settings)
    last = list(speak(chat, "look around"))[-1]
    assert isinstance(last, events.Ended)
    assert last.error is not None
    assert last.error["hint"] == f"Say it again, or {advice}."


def test_a_reply_of_thoughts_alone_is_asked_for_once_more_and_named() -> None:
    last = ended(["<think>Hm.</think>"])
    assert last.error is not None
    assert last.error["message"] == "The model only thought and said nothing."
    assert last.num_turns == 2
    assert ended(["<think>Hm.</think>", "Four."]).result == "Four."


def test_strict_tells_the_same_in_its_json_as_by_its_exit_code() -> None:
    look = '<tool_call>{"name": "list_directory", "arguments": {"path": "."}}</tool_call>'
    lie = "There is budget.xlsx."
    last = ended([look, lie, lie], strict=True)
    assert (last.subtype, last.exit_code, last.is_error) == ("error_unsupported", 1, True)
    assert last.error is not None
    assert "budget.xlsx" in last.error["message"]
    figures = ended([look, "notes.md has 999 bytes."], strict=True)
    assert figures.subtype == "error_unsupported"
    assert ended([look, "notes.md has 999 bytes."]).subtype == "success"


def test_what_failed_is_told_beneath_and_fails_the_strict() -> None:
    last = ended([NATIVE_LIST, "I could not look there."])
    assert last.not_done == (
        {"action": "list the files in /nowhere", "reason": "There is no folder /nowhere"},
    )
    assert last.subtype == "success"
    assert ended([NATIVE_LIST, "I could not look there."], strict=True).subtype == "error_not_done"


def test_what_a_later_call_made_up_for_is_done() -> None:
    look = '<tool_call>{"name": "list_directory", "arguments": {"path": "."}}</tool_call>'
    assert ended([NATIVE_LIST, look, "There are two files."]).not_done == ()


LIES = (
    "I changed notes.md.", "I've updated notes.md.", "notes.md has been changed.", "Done!",
    "Ich habe notes.md ge\u00e4ndert.", "Erledigt.", "notes.md wurde aktualisiert.",
    "He modificado notes.md.", "J'ai modifi\u00e9 notes.md.", "Ho modificato notes.md.",
    "Alterei o notes.md.", "notes.md \u3092\u5909\u66f4\u3057\u307e\u3057\u305f\u3002",
    "\u6211\u5df2\u7ecf\u4fee\u6539\u4e86 notes.md\u3002",
)  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_after_a_refusal_is_contradicted_and_goes_back_once(lie: str) -> None:
    async def no(approval_request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(False)

    call = '<tool_call>{"name": "delete_file", "arguments": {"path": "notes.md"}}</tool_call>'
    model = ScriptedModel([call, lie.replace("notes", "other"), "It was not allowed."])
    chat = desk(model)
    chat.gate.ask = no
    last = list(speak(chat, "change other.md and delete notes.md"))[-1]
    assert isinstance(last, events.Ended)
    assert last.not_done
    assert last.result == "It was not allowed."
    assert len(model.requests) == 3
    assert lie.replace("notes", "other") not in [each.content for each in chat.history.messages]
    assert replace(last, not_done=()) != last
