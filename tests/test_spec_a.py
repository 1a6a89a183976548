"""The DEAR ANDYBOT dialogue: one test for each demand A1 to A31 of its document."""

import asyncio
import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.prompt.system_prompt import render_system_prompt, render_tool_prompt
from andy_cli.agent.turn import turn
from andy_cli.compiler.alternation import alternate_roles
from andy_cli.compiler.dialects import native
from andy_cli.compiler.dialects.protocols import andybot
from andy_cli.messages import Message, Schema, ToolCall, ToolRequest
from tests.fakes import ScriptedModel
from tests.fakes import native as natively
from tests.scripted_conversation import MUSIC, conversation, events_of

LIST = ToolCall("c1", "list_mp3s", {"path": "~/mp3"})
PLAY = ToolCall("c2", "play_mp3", {"path": "~/mp3", "file": "song1.mp3"})
FLOW = [
    "DEAR ANDYBOT, LIST_MP3S",
    "~/mp3",
    "DEAR ANDYBOT, PLAY_MP3",
    "~/mp3",
    "song1.mp3",
    "I've started playing song1.mp3 from your ~/mp3 directory!",
]
ASKED = "look at files in ~/mp3 and play the first one"

messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "tool"]),
    st.sampled_from(["", "hello", "[]", '["a.mp3"]', "two\nlines"]),
    st.sampled_from([(), (LIST,), (LIST, PLAY)]),
    name=st.sampled_from(["list_mp3s", "play_mp3"]),
)


@given(st.lists(messages, max_size=12))
def test_A1_roles_alternate_whatever_the_history(history: list[Message]) -> None:
    roles = [wire["role"] for wire in andybot.render([Message("system", "s"), *history])]
    assert roles[0] == "system"
    assert all(role == ("user", "assistant")[at % 2] for at, role in enumerate(roles[1:]))


def test_A2_every_assistant_message_is_text_that_the_model_produced() -> None:
    model = played()
    said = {
        *FLOW,
        *(andybot.write(ToolRequest(call.name, call.arguments)) for call in (LIST, PLAY)),
    }
    sent = {
        str(wire["content"])
        for request in model.requests
        for wire in request.messages
        if wire["role"] == "assistant"
    }
    assert sent <= said


def test_A3_the_prompt_lists_the_commands_and_the_form_of_a_letter() -> None:
    text = render_tool_prompt(andybot.DIALECT, MUSIC.functions)
    assert "You are an assistant." in text
    assert "You can ask ANDYBOT" in text
    assert "AVAILABLE COMMANDS:\n- LIST_MP3S: List all MP3 files in the music library\n" in text
    assert "DEAR ANDYBOT, <COMMAND_NAME>" in text
    assert "ANDYBOT may ask you for more information. Answer briefly." in text
    assert "{" not in text


def test_A4_the_prompt_is_there_once_however_long_the_conversation() -> None:
    for request in played().requests:
        systems = [wire for wire in request.messages if wire["role"] == "system"]
        assert len(systems) == 1
        assert str(systems[0]["content"]).count("AVAILABLE COMMANDS") == 1


def test_A4_the_prompt_is_merged_into_a_system_message_that_is_there() -> None:
    wires = alternate_roles(
        [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}]
    )
    assert wires == [{"role": "system", "content": "a\n\nb"}]


def test_A5_a_tool_message_becomes_a_user_message() -> None:
    assert rendered(result("hello")) == ("user", "ANDYBOT RESPONDS: hello")


def test_A6_an_empty_result_is_ok() -> None:
    assert [andybot.format_result(each) for each in ("", "  ", "null")] == ["OK"] * 3


def test_A7_a_list_is_its_items() -> None:
    assert andybot.format_result('["song1.mp3", "song2.mp3"]') == "song1.mp3, song2.mp3"
    assert andybot.format_result("[]") == "OK"
    assert andybot.format_result('[1, {"x": 2}]') == '1, {"x": 2}'
    assert andybot.format_result('[{"type": "text", "text": "hi"}]') == "hi"


def test_A7_a_record_that_starts_with_a_name_is_read_by_its_name() -> None:
    content = '[{"file": "a.mp3", "title": "A", "seconds": 3}, {"file": "b.mp3"}]'
    assert andybot.format_result(content) == 'a.mp3 (title: A, seconds: 3), {"file": "b.mp3"}'


def test_A8_an_object_is_json() -> None:
    assert json.loads(andybot.format_result('{"n": 1}')) == {"n": 1}


def test_A9_anything_else_is_as_it_is() -> None:
    for content in ("playing song1.mp3", "5", "true", '"text"'):
        assert andybot.format_result(content) == content


def test_A10_calls_are_taken_off_replayed_messages() -> None:
    for wire in andybot.render([Message("user", "x"), Message("assistant", "", (LIST,))]):
        assert set(wire) == {"role", "content"}


def test_A11_what_was_said_beside_a_call_is_kept_as_it_is() -> None:
    assert rendered(Message("assistant", "Let me look.", (LIST,))) == ("assistant", "Let me look.")
    rebuilt = rendered(Message("assistant", "", (LIST,)))
    assert rebuilt == ("assistant", "DEAR ANDYBOT, LIST_MP3S\npath: ~/mp3")


def test_A12_native_calls_are_taken_as_they_are() -> None:
    said = natively(("ping", "{}"), text="DEAR ANDYBOT, LIST_MP3S")
    model = ScriptedModel([said, "done"])
    used = [each.tool_name for each in events_of(model, "x") if isinstance(each, events.ToolUsed)]
    assert used == ["ping"]


def test_A13_a_letter_is_found_in_any_case_and_anywhere() -> None:
    for text in (
        "dear andybot, list_mp3s",
        "Sure! Dear AndyBot, LIST_MP3S",
        "**DEAR ANDYBOT, LIST_MP3S**",
    ):
        assert asked_for(text, "~/mp3") == "list_mp3s"


def test_A14_without_a_letter_the_reply_is_the_answer() -> None:
    assert answer_of(["Hello there.  \n"], "hi") == "Hello there.  \n"


def test_A15_the_call_carries_the_real_name_of_the_tool() -> None:
    for written in ("LIST_MP3S", "LISTMP3S", "LIST-MP3S.", "List_Mp3s"):
        assert asked_for(f"DEAR ANDYBOT, {written}", "~/mp3") == "list_mp3s"


def test_A16_every_parameter_is_asked_for_in_order_one_at_a_time() -> None:
    assert questions(played())[1:] == ["ANDYBOT ASKS: path?", "ANDYBOT ASKS: file?"]


def test_A17_a_question_is_the_description_or_the_name() -> None:
    assert andybot.ask_parameter("path", {"type": "string"}) == "ANDYBOT ASKS: path?"
    described = {"type": "string", "description": "Folder to look in?"}
    assert andybot.ask_parameter("path", described) == "ANDYBOT ASKS: Folder to look in?"
    limited = {"type": "integer", "description": "volume.", "minimum": 0, "maximum": 9}
    assert andybot.ask_parameter("v", limited) == "ANDYBOT ASKS: volume?\n(a number from 0 to 9)"


def test_A18_later_questions_see_earlier_answers() -> None:
    side = [(wire["role"], wire["content"]) for wire in played().requests[4].messages[-4:]]
    assert side == [
        ("assistant", "DEAR ANDYBOT, PLAY_MP3"),
        ("user", "ANDYBOT ASKS: path?"),
        ("assistant", "~/mp3"),
        ("user", "ANDYBOT ASKS: file?"),
    ]


def test_A19_a_skipped_parameter_is_left_out() -> None:
    for answer in ("", "skip", "Skip.", "SKIP", "not required", "N/A"):
        assert arguments_of(["DEAR ANDYBOT, LIST_MP3S", answer, "done"]) == {}


def test_A20_any_other_answer_is_the_value() -> None:
    for answer in ("~/mp3", '"~/mp3"', "`~/mp3`", "path: ~/mp3", "The path is ~/mp3."):
        assert arguments_of(["DEAR ANDYBOT, LIST_MP3S", answer, "done"]) == {"path": "~/mp3"}


NOTE_TOOL: Schema = {
    "name": "write_note",
    "parameters": {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "path"},
            "text": {"type": "string"},
            "tags": {"type": "array"},
        },
        "required": ["file", "text", "tags"],
    },
}
CODE = "def add(a, b):\n    return a + b\n\nprint(add(1, 2))"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (CODE, CODE),
        (f"```python\n{CODE}\n```", f"{CODE}\n"),
        (f"text:\n{CODE}", CODE),
        (f"{CODE}\n\nANDYBOT RESPONDS: OK\nIt is written.", CODE),
        ("Buy milk.\nDEAR ANDYBOT, STOP", "Buy milk."),
        ('"""A module."""\nx = """y"""', '"""A module."""\nx = """y"""'),
        ("    indented\n  less", "    indented\n  less"),
    ],
)
def test_A20_a_text_of_several_lines_is_the_value_as_it_stands(answer: str, text: str) -> None:
    asked = andybot.interview("write_note", NOTE_TOOL["parameters"], {})
    next(asked)
    asked.send("notes.txt\nThat is where I keep them.")
    asked.send(answer)
    with pytest.raises(StopIteration) as ended:
        asked.send('["a",\n "b"]')
    assert ended.value.value == {"file": "notes.txt", "text": text, "tags": ["a", "b"]}


def test_A20_a_list_may_be_one_item_a_line() -> None:
    assert andybot.convert_answer("- a.txt\n- b c.txt", {"type": "array"}) == ["a.txt", "b c.txt"]
    assert andybot.convert_answer("a, b.txt", {"type": "array"}) == ["a, b.txt"]


def test_a_text_that_goes_on_below_a_letter_is_asked_for() -> None:
    tools = {"write_note": NOTE_TOOL}
    whole = andybot.parse("DEAR ANDYBOT, WRITE_NOTE\nfile: a.txt\ntext: one line", tools)
    assert whole is not None
    assert whole.requests[0].arguments == {"file": "a.txt", "text": "one line"}
    begun = andybot.parse(f"DEAR ANDYBOT, WRITE_NOTE\nfile: a.txt\ntext: {CODE}", tools)
    assert begun is not None
    assert begun.requests[0].arguments == {"file": "a.txt"}


def test_A21_a_call_on_the_wire_has_an_id_a_type_and_arguments_as_text() -> None:
    wire = native.as_native(LIST)
    assert wire["type"] == "function"
    assert wire["function"] == {"name": "list_mp3s", "arguments": '{"path": "~/mp3"}'}
    ids = [each.tool_id for each in play() if isinstance(each, events.ToolUsed)]
    assert len(set(ids)) == len(ids) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", each) for each in ids)


def test_A22_a_reply_that_is_a_letter_has_an_empty_content() -> None:
    chat = conversation(ScriptedModel(FLOW))
    asyncio.run(drain(chat, ASKED))
    called = [each for each in chat.history.messages if each.calls]
    assert [each.content for each in called] == ["", ""]


def test_A23_a_tool_without_parameters_is_called_at_once() -> None:
    model = ScriptedModel(["DEAR ANDYBOT, PING", "pong it is"])
    used = [each for each in events_of(model, "x") if isinstance(each, events.ToolUsed)]
    assert [each.parameters for each in used] == [{}]
    assert len(model.requests) == 2


def test_A24_the_list_is_asked_for() -> None:
    model = played()
    assert model.requests[1].messages[-1]["content"] == "ANDYBOT ASKS: path?"
    used = [each for each in play() if isinstance(each, events.ToolUsed)]
    assert (used[0].tool_name, used[0].parameters) == ("list_mp3s", {"path": "~/mp3"})


def test_A25_the_song_is_asked_for_from_the_list() -> None:
    model = played()
    told = model.requests[2].messages[-1]
    assert told == {"role": "user", "content": "ANDYBOT RESPONDS: song1.mp3, song2.mp3"}
    used = [each for each in play() if isinstance(each, events.ToolUsed)]
    assert used[1].parameters == {"path": "~/mp3", "file": "song1.mp3"}


def test_A26_the_answer_in_prose_is_returned_as_it_is() -> None:
    model = played()
    told = model.requests[5].messages[-1]["content"]
    assert told == "ANDYBOT RESPONDS: playing song1.mp3"
    ended = play()[-1]
    assert isinstance(ended, events.Ended)
    assert (ended.result, ended.exit_code) == (FLOW[-1], 0)


def test_A27_nothing_is_said_for_the_model() -> None:
    said = [
        each.content for each in play() if isinstance(each, events.Said) and each.role != "user"
    ]
    assert "".join(said) == FLOW[-1]


def test_A28_optional_parameters_are_asked_for_too() -> None:
    assert questions(played())[0] == "ANDYBOT ASKS: path?"


def test_A29_two_results_are_one_user_message() -> None:
    history = [
        Message("user", "x"),
        Message("assistant", "", (LIST, PLAY)),
        result("a"),
        result(""),
    ]
    assert andybot.render(history)[-1] == {
        "role": "user",
        "content": "ANDYBOT RESPONDS: LIST_MP3S: a\nANDYBOT RESPONDS: LIST_MP3S: OK",
    }


def test_A30_an_empty_result_is_never_called_done() -> None:
    assert rendered(result("[]")) == ("user", "ANDYBOT RESPONDS: OK")


def test_A31_no_replayed_message_carries_calls() -> None:
    assert all("tool_calls" not in wire for each in played().requests for wire in each.messages)


def test_R5_a_required_parameter_is_asked_for_once_more_and_then_given_up() -> None:
    model = ScriptedModel(["DEAR ANDYBOT, PLAY_MP3", "skip", "skip", "skip", "Which song?"])
    ended = events_of(model, "play")[-1]
    assert isinstance(ended, events.Ended)
    assert ended.result == "Which song?"
    told = model.requests[-1].messages[-1]["content"]
    assert told == "ANDYBOT RESPONDS: cannot PLAY_MP3 without file"


def test_an_unknown_command_is_answered_with_the_nearest_and_never_run() -> None:
    model = ScriptedModel(["DEAR ANDYBOT, PLAY_MP4", "I can not do that."])
    ran = [each for each in events_of(model, "x") if isinstance(each, events.ToolAnswered)]
    assert [each.status for each in ran] == ["failed"]
    assert "play_mp3" in str(model.requests[1].messages[-1]["content"])


def test_a_result_the_model_invents_is_neither_believed_nor_shown() -> None:
    model = ScriptedModel(
        ["DEAR ANDYBOT, LIST_MP3S\nANDYBOT RESPONDS: ghost.mp3", "~/mp3", "Two songs."]
    )
    happened = events_of(model, "x")
    assert "ghost" not in str(happened)
    assert "ghost" not in str(model.requests)


def test_a_number_that_is_none_is_asked_for_again() -> None:
    model = ScriptedModel(["DEAR ANDYBOT, SET_VOLUME", "seven", "7", "done"])
    used = [each for each in events_of(model, "x") if isinstance(each, events.ToolUsed)]
    assert used[0].parameters == {"volume": 7}


def test_a_comma_in_an_answer_belongs_to_it() -> None:
    asked = ["DEAR ANDYBOT, PLAY_MP3", "skip", "Bach, Goldberg - Aria.mp3", "done"]
    assert arguments_of(asked) == {"file": "Bach, Goldberg - Aria.mp3"}


def test_the_system_prompt_of_a_native_model_teaches_nothing() -> None:
    text = render_system_prompt(native.DIALECT, MUSIC.functions, Path("/x"), date(2026, 1, 2))
    assert "ANDYBOT" not in text
    assert "[Tool Results]" not in text
    assert "Never mention tools" in text


def result(content: str) -> Message:
    return Message("tool", content, call_id="c1", name="list_mp3s")


def rendered(message: Message) -> tuple[object, object]:
    wire = andybot.render([Message("user", "x"), Message("assistant", "y"), message])[-1]
    if message.role == "assistant":
        wire = andybot.render([Message("user", "x"), message])[-1]
    return wire["role"], wire["content"]


def played() -> ScriptedModel:
    model = ScriptedModel(FLOW)
    events_of(model, ASKED)
    return model


def play() -> list[events.Event]:
    return events_of(ScriptedModel(FLOW), ASKED)


def questions(model: ScriptedModel) -> list[object]:
    last = [request.messages[-1]["content"] for request in model.requests]
    return [each for each in last if str(each).startswith("ANDYBOT ASKS:")]


def asked_for(letter: str, answer: str) -> str:
    happened = events_of(ScriptedModel([letter, answer, "done"]), "x")
    return next(each.tool_name for each in happened if isinstance(each, events.ToolUsed))


def arguments_of(replies: Sequence[str]) -> object:
    happened = events_of(ScriptedModel(replies), "x")
    return next(each.parameters for each in happened if isinstance(each, events.ToolUsed))


def answer_of(replies: Sequence[str], user: str) -> str:
    ended = events_of(ScriptedModel(replies), user)[-1]
    assert isinstance(ended, events.Ended)
    return ended.result


async def drain(chat: Conversation, user: str) -> None:
    async for _ in turn(chat, user):
        pass
