"""The envelope: a test for each demand of its document that is no tool's: B1-B12, B30-B39."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli import events
from andy_cli.agent.calls.tool_calls import TOO_EARLY
from andy_cli.agent.prompt.system_prompt import render_tool_prompt
from andy_cli.agent.turn import turn
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.dialects.protocols import envelope
from andy_cli.frontends.session_factory import OpenConversation
from andy_cli.messages import CallDelta, Chunk
from andy_cli.settings import load
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.mcp.hub import Hub
from andy_cli.toolbox.registry import Registry
from tests.fakes import ScriptedModel, native
from tests.scripted_tools import DESK, SPOKEN, Played, desk, play

END = {"type": "end_turn", "id": "e", "operation": "end_turn", "parameters": {}}
FENCES = ("{}", "```json\n{}\n```", "```\n{}\n```", "```JSON\n{}\n```", "\ufeff{}", "  \r\n{}\r\n ")


def parse_envelope(text: str, tools: Tools | None = None) -> dict[str, Any]:
    """The valid items with all their keys, and why others are not."""
    read = envelope.read_envelope(text, tools)
    calls = [{**envelope.write_item(call), "priority": call.priority} for call in read.calls]
    return {"toolCalls": calls, "parseErrors": list(read.errors)}


def item(kind: str, **parameters: object) -> dict[str, object]:
    return {"type": kind, "id": f"{kind}{len(parameters)}", "operation": kind} | {
        "parameters": parameters
    }


def chat_of(content: str) -> dict[str, object]:
    return item("send_chat", content=content)


def enveloped(*items: Mapping[str, object]) -> str:
    return json.dumps({"toolCalls": items}, ensure_ascii=False)


ANSWER = enveloped(chat_of("Here you are."), END)


def enveloping(*replies: str, user: str = "show me my mail") -> Played:
    return play(replies, user, "dialect=envelope")


def test_B1_a_reply_is_one_object_with_a_list_of_calls() -> None:
    played = enveloping(enveloped(item("gmail_list", maxResults=2)), ANSWER)
    assert played.ran == [("gmail_list", {"maxResults": 2})]
    assert played.answer == "Here you are."


def test_B2_an_item_has_an_id_a_type_an_operation_parameters_and_a_priority() -> None:
    written = {**item("gmail_list", maxResults=3), "priority": 4}
    assert parse_envelope(enveloped(written))["toolCalls"] == [written]


def test_B2_what_is_left_out_is_filled_in() -> None:
    """R8: an id is made, the operation is the type, there are no parameters."""
    (parsed,) = parse_envelope('{"toolCalls": [{"type": "end_turn"}]}')["toolCalls"]
    assert parsed.pop("id")
    assert parsed == {"type": "end_turn", "operation": "end_turn", "parameters": {}, "priority": 0}


def test_B2_an_id_that_comes_twice_is_given_anew() -> None:
    items = [{**item("gmail_read", messageId=each), "id": "g"} for each in ("m1", "m2")]
    ids = [each["id"] for each in parse_envelope(enveloped(*items))["toolCalls"]]
    assert len(set(map(str, ids))) == 2
    played = enveloping(enveloped(*items), ANSWER)
    assert [each.parameters["messageId"] for each in played.used] == ["m1", "m2"]
    assert len({each.tool_id for each in played.used}) == 2


def test_B2_an_id_that_was_given_anew_is_noted() -> None:
    items = [{**item("gmail_read", messageId=each), "id": "g"} for each in ("m1", "m2")]
    played = enveloping(enveloped(*items), ANSWER)
    assert any("id" in note for event in played.seen for note in made(event))


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": 5},
        {"parameters": "maxResults=3"},
        {"parameters": [1]},
        {"priority": "high"},
        {"priority": True},
    ],
    ids=str,
)
def test_B2_an_item_of_other_types_is_an_error(wrong: dict[str, object]) -> None:
    parsed = parse_envelope(enveloped({**item("gmail_list"), **wrong}))
    assert parsed["toolCalls"] == []
    assert len(parsed["parseErrors"]) == 1


def test_B3_the_prompt_says_that_nothing_stands_before_the_object() -> None:
    taught = render_tool_prompt(envelope.DIALECT, DESK.functions)
    assert "exactly one JSON object with the key toolCalls, and nothing before it" in taught


@pytest.mark.parametrize("before", ["", "Sure, let me look:\n"])
def test_B3_an_object_behind_a_text_is_read_all_the_same(before: str) -> None:
    """R8: tolerant, and the text is not lost."""
    played = enveloping(before + enveloped(item("gmail_list")), ANSWER)
    assert played.names == ["gmail_list"]
    assert "".join(played.said).startswith(before.strip())


def test_B4_the_prompt_says_that_all_output_goes_through_tools() -> None:
    taught = render_tool_prompt(envelope.DIALECT, DESK.functions)
    for name in ("send_chat", "end_turn", "say"):
        assert f'"name": "{name}"' in taught
    assert "What the user is to read goes into send_chat" in taught


def test_B4_what_is_said_by_tools_is_all_that_is_said() -> None:
    played = enveloping(enveloped(item("say", utterance="hello"), chat_of("Hello!"), END))
    assert (played.answer, "".join(played.said)) == ("Hello!", "Hello!")
    assert played.names == ["say"]


@pytest.mark.parametrize("fence", FENCES, ids=repr)
def test_B5_a_fence_makes_no_difference(fence: str) -> None:
    text = enveloped(item("gmail_list", maxResults=2), chat_of("ü 🎵"))
    assert parse_envelope(fence.replace("{}", text)) == parse_envelope(text)
    played = enveloping(fence.replace("{}", text), ANSWER)
    assert played.ran == [("gmail_list", {"maxResults": 2})]


def test_B6_the_prompt_says_to_end_with_end_turn() -> None:
    assert "Only end_turn ends your turn." in render_tool_prompt(envelope.DIALECT, DESK.functions)


def test_B7_a_turn_may_have_several_rounds_of_doing_and_telling() -> None:
    played = enveloping(
        enveloped(chat_of("Looking."), item("gmail_list")),
        enveloped(chat_of("The first is about rent."), item("gmail_read", messageId="m1")),
        enveloped(chat_of("It is 850 EUR."), END),
    )
    assert played.names == ["gmail_list", "gmail_read"]
    assert played.answer == "Looking.\n\nThe first is about rent.\n\nIt is 850 EUR."
    assert len(played.model.requests) == 3


def test_B8_speech_never_holds_up_a_turn() -> None:
    """The scripted `say` speaks without end; the turn ends all the same, with what came after."""
    played = enveloping(enveloped(item("say", utterance="one moment"), item("gmail_list")), ANSWER)
    assert played.names == ["say", "gmail_list"]
    assert played.answer == "Here you are."


def test_B8_speech_alone_is_no_result_that_an_end_waits_for() -> None:
    played = enveloping(enveloped(item("say", utterance="bye"), chat_of("Bye."), END))
    assert (played.answer, len(played.model.requests)) == ("Bye.", 1)


def test_B8_speech_that_fails_is_noted_and_ends_nothing() -> None:
    played = enveloping(enveloped(item("say", utterance="fail"), item("gmail_list")), ANSWER)
    assert played.ended.exit_code == 0
    failed = [each for each in played.seen if isinstance(each, events.Failed)]
    warned = [each for each in failed if each.kind == "background"]
    assert [each.severity for each in warned] == ["warning"]
    assert "no sound card" in warned[0].message


def test_B8_speech_is_heard_to_its_end_when_andy_ends() -> None:
    """R12: fire and forget, joined at shutdown."""

    async def said_and_closed() -> None:
        model = ScriptedModel([enveloped(item("say", utterance="briefly"), END)])
        opened = OpenConversation(
            desk(model, "dialect=envelope"),
            "",
            Collection(load(), Path.cwd()),
            Hub([], Registry(), print),
        )
        async for _ in turn(opened.chat, "say it"):
            pass
        await opened.close()

    SPOKEN.clear()
    asyncio.run(said_and_closed())
    assert SPOKEN == ["briefly"]


def test_B9_every_text_is_shown_at_once_in_order_and_ends_nothing() -> None:
    played = enveloping(
        enveloped(chat_of("One."), chat_of("Two."), chat_of("Three."), item("gmail_list")), ANSWER
    )
    shown = [at for at, each in enumerate(played.seen) if said(each)]
    used = [at for at, each in enumerate(played.seen) if isinstance(each, events.ToolUsed)]
    assert [str(said(played.seen[at])).strip() for at in shown[:3]] == ["One.", "Two.", "Three."]
    assert shown[2] < used[0] < shown[3]
    saved = [each.content for each in played.chat.history.messages if each.role == "assistant"]
    assert saved == ["One.\n\nTwo.\n\nThree.", "Here you are."]


def test_B9_a_text_alone_does_not_end_the_turn() -> None:
    played = enveloping(enveloped(chat_of("Wait.")), enveloped(chat_of("Here."), END))
    assert played.answer == "Wait.\n\nHere."


def test_B10_only_end_turn_ends() -> None:
    played = enveloping(*[enveloped(chat_of(f"{at}.")) for at in range(3)], enveloped(END))
    assert played.answer == "0.\n\n1.\n\n2."
    assert len(played.model.requests) == 4


def test_B10_what_stands_behind_end_turn_is_not_done() -> None:
    played = enveloping(enveloped(chat_of("Bye."), END, item("gmail_list"), chat_of("More.")))
    assert (played.answer, played.used) == ("Bye.", [])


def test_B10_an_end_before_the_result_is_put_off_for_one_round() -> None:
    """R7: the document's own first example claims results that it has not seen."""
    first = enveloped(
        chat_of("Let me check..."), item("gmail_list"), chat_of("Here are your emails: ghost"), END
    )
    played = enveloping(first, ANSWER)
    assert played.answer == "Let me check...\n\nHere you are."
    assert "ghost" not in str(played.said)
    assert TOO_EARLY in played.told(1)


def test_B10_plain_prose_is_shown_and_ends_the_turn() -> None:
    played = enveloping("Nothing to do here.")
    assert (played.answer, len(played.model.requests)) == ("Nothing to do here.", 1)


def test_B10_without_an_end_the_turn_stops_with_a_notice() -> None:
    played = enveloping(*[enveloped(chat_of(f"{at}.")) for at in range(30)])
    assert (played.ended.num_turns, played.ended.exit_code) == (20, 4)
    assert any(isinstance(each, events.Failed) and "20" in each.message for each in played.seen)


def test_R7_no_more_than_20_calls_of_a_reply_are_made() -> None:
    assert len(many().used) == 20


def test_R7_that_calls_were_left_out_is_said() -> None:
    played = many()
    failed = [each for each in played.seen if isinstance(each, events.Failed)]
    assert any(each.kind == "limit" for each in failed)
    assert "20" in played.told(1)


def many() -> Played:
    calls = [{**item("gmail_read", messageId=f"m{at}"), "id": f"g{at}"} for at in range(25)]
    return enveloping(enveloped(*calls), ANSWER)


def test_R6_a_later_name_for_saying_something_is_understood() -> None:
    assert enveloping(enveloped({"type": "write", "parameters": {"content": "Hi."}}, END)).answer


@pytest.mark.parametrize("key", ["text", "message", "Content"])
def test_B9_a_text_under_another_name_is_not_lost(key: str) -> None:
    """What the schema of send_chat itself names as other names of its parameter."""
    played = enveloping(enveloped(item("send_chat", **{key: "Hi."}), END))
    assert played.answer == "Hi."


def test_B39_a_text_that_is_missing_is_told_to_the_model() -> None:
    played = enveloping(enveloped(item("send_chat")), ANSWER)
    assert "content" in played.told(1)


def test_B11_results_go_back_and_the_turn_goes_on() -> None:
    played = enveloping(enveloped(item("gmail_list", maxResults=1)), ANSWER)
    assert "Your rent" in played.told(1)
    assert played.sent(1)[-1]["role"] == "user"
    assert [each.role for each in played.chat.history.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_B12_higher_priority_runs_first_and_equal_as_written() -> None:
    order = [(0, "m0"), (5, "m5a"), (5, "m5b"), (1, "m1"), (-2, "low")]
    items = [{**item("gmail_read", messageId=id), "priority": at} for at, id in order]
    played = enveloping(enveloped(*items, {**END, "priority": 99}), ANSWER)
    ids = [each.parameters["messageId"] for each in played.used]
    assert ids == ["m5a", "m5b", "m1", "m0", "low"]
    assert isinstance(played.seen[-1], events.Ended)


pieces = st.sampled_from(
    [
        *('{"toolCalls": [', '{"type": "gmail_list"', '"parameters": {}', '"id": ', "```json"),
        *("}", "]", ",", "null", "\\", '"', "\n", "5", "prose", "[1", "{", "1e400"),
        *("\ufeff", "\ud800", "\0"),
    ]
)


@given(st.lists(pieces, max_size=14).map("".join) | st.text())
def test_B30_the_parser_returns_calls_and_errors_and_never_throws(text: str) -> None:
    parsed = parse_envelope(text)
    assert set(parsed) == {"toolCalls", "parseErrors"}
    assert all(isinstance(each["type"], str) for each in parsed["toolCalls"])
    assert all(each for each in parsed["parseErrors"])


@pytest.mark.parametrize("horror", ["[" * 50_000, '{"toolCalls": [' * 9_000, '{"a":' * 50_000])
def test_B30_depth_is_no_reason_to_throw(horror: str) -> None:
    assert parse_envelope(horror)["toolCalls"] == []


def test_B31_white_space_and_fences_are_taken_off() -> None:
    text = enveloped(item("gmail_list"))
    for around in ("\n\n {} \n", " ```json{}```", "```\n\n{}\n\n```\n", "```json\r\n{}\r\n```"):
        parsed = parse_envelope(around.replace("{}", text))
        assert [each["type"] for each in parsed["toolCalls"]] == ["gmail_list"]
        assert parsed["parseErrors"] == []


def test_B32_each_item_is_judged_alone() -> None:
    items: list[object] = [
        item("gmail_list", maxResults=2),
        {"type": "gmail_read", "parameters": {"messageId": "m1"}},
        item("gmail_teleport"),
        {**item("gmail_read"), "parameters": "m1"},
        "end_turn",
    ]
    text = json.dumps({"toolCalls": items})
    parsed = parse_envelope(text, DESK.functions)
    assert [each["type"] for each in parsed["toolCalls"]] == ["gmail_list", "gmail_read"]
    assert ["gmail_teleport" in parsed["parseErrors"][0], len(parsed["parseErrors"])] == [True, 3]
    played = enveloping(text, ANSWER)
    assert played.names == ["gmail_list", "gmail_read"]
    assert "gmail_teleport" in played.told(1)
    assert "toolCalls[3]" in played.told(1)


@pytest.mark.parametrize("text", ["", "hello", "[1, 2]", "null", "5", '"toolCalls"'])
def test_B33_what_is_no_object_is_one_error(text: str) -> None:
    parsed = parse_envelope(text)
    assert parsed["toolCalls"] == []
    assert len(parsed["parseErrors"]) == 1
    assert parsed["parseErrors"][0].startswith("failed to parse JSON")


@pytest.mark.parametrize(
    "text", ["{}", '{"tool": "x"}', '{"toolCalls": {}}', '{"toolCalls": null}']
)
def test_B34_an_object_without_the_list_has_no_calls(text: str) -> None:
    assert parse_envelope(text)["toolCalls"] == []


@pytest.mark.parametrize("text", ['{"toolCalls": {"type": "gmail_list"}}', '{"answer": 42}'])
def test_B34_an_object_that_is_nothing_else_either_is_an_error(text: str) -> None:
    """R8: as written there is none; an object that no dialect reads has to say so."""
    assert len(parse_envelope(text)["parseErrors"]) == 1


def test_B34_an_object_of_another_dialect_is_handed_on() -> None:
    other = json.dumps({"action": {"tool": "gmail_list", "args": {"maxResults": 2}}})
    assert enveloping(other, ANSWER).ran == [("gmail_list", {"maxResults": 2})]


def test_B35_the_priority_that_is_left_out_is_0() -> None:
    (parsed,) = parse_envelope(enveloped(item("gmail_list")))["toolCalls"]
    assert parsed["priority"] == 0


def test_B36_native_calls_go_the_same_way() -> None:
    calls = native(
        ("send_chat", '{"content": "Looking."}'), ("gmail_list", "{}"), ("end_turn", "{}")
    )
    ended = native(("send_chat", '{"content": "Here you are."}'), ("end_turn", "{}"))
    played = play([calls, ended], "show me my mail", "dialect=envelope")
    assert played.names == ["gmail_list"]
    assert played.answer == "Looking.\n\nHere you are."


def test_B36_nothing_of_a_native_call_runs_before_it_is_whole() -> None:
    cut = [Chunk(call=CallDelta(0, "c", "gmail_list", '{"maxRes')), Chunk(finish="length")]
    played = play([cut, ANSWER], "show me my mail", "dialect=envelope")
    assert played.used == []


def test_B37_texts_are_shown_then_the_end_is_looked_for_then_results_go_back() -> None:
    ending = enveloping(enveloped(END, chat_of("too late")))
    assert (ending.answer, len(ending.model.requests)) == ("", 1)
    going = enveloping(enveloped(item("gmail_list"), chat_of("early")), ANSWER)
    assert (going.answer, len(going.model.requests)) == ("Here you are.", 2)
    assert "Choir on Friday" in going.told(1)


def test_B39_what_does_not_fit_is_noted_and_not_run() -> None:
    wrong = enveloped(item("gmail_send", to="bea@example.org", subject="Hi"))
    played = enveloping(wrong, ANSWER)
    assert played.ran == []
    assert [each.status for each in played.results] == ["failed"]
    assert "body" in played.results[0].error
    assert "body" in played.told(1)


def made(event: object) -> tuple[str, ...]:
    """What had to be mended in a reply."""
    return event.repairs if isinstance(event, events.Compiled) else ()


def said(event: object) -> str:
    return event.content if isinstance(event, events.Said) and event.role == "assistant" else ""
