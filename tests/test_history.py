"""The history never poisons: whatever was said, the next request is one that every server takes."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.history import (
    ACKNOWLEDGED,
    CUT_OFF_NOTE,
    GO_ON,
    MISSING,
    NO_OUTPUT,
    UNANSWERED,
    normalize_arguments,
    render_history,
)
from andy_cli.agent.turn import turn
from andy_cli.compiler import dialects
from andy_cli.compiler.dialect import Dialect, IdForm
from andy_cli.compiler.ids import nine_letters
from andy_cli.discover import discover
from andy_cli.errors import ModelError
from andy_cli.messages import CallDelta, Chunk, Message, ToolCall, Wire
from andy_cli.sessions.log import Log, read
from tests import history_rules
from tests.cases import loop_over, quick_every
from tests.fakes import ScriptedModel, native
from tests.history_rules import FAMILIES, broken_rules
from tests.model_server import ModelServer, called, event, status, streamed
from tests.scripted_tools import client, desk, speak

DIALECTS = {each.name: each for each in discover(dialects, Dialect, "DIALECT")}
EVERY_FAMILY = [family for family in FAMILIES if family != "mistral ids"]
MODELS = [
    "mistral:mistral-small-latest",
    "mistral:codestral-latest",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-2.5-pro",
]
TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}


def tool_with(*parameters: str) -> Mapping[str, Any]:
    properties = {name: {"type": "string"} for name in parameters}
    function = {"name": "read", "parameters": {"type": "object", "properties": properties}}
    return {"type": "function", "function": function}


def rendered(
    *history: Message, dialect: str = "native", id_form: IdForm | None = None
) -> list[Wire]:
    """What is sent, which is good for every family."""
    told = [Message("system", "You help."), *history]
    wires = render_history(told, DIALECTS[dialect], {"read": TOOL}, {"read": "read"}, id_form)
    assert broken_rules(wires, *EVERY_FAMILY) == []
    return wires[1:]


def roles_and_texts(wires: Sequence[Wire]) -> list[tuple[object, object]]:
    return [(wire["role"], wire["content"]) for wire in wires]


def calling(*ids: str, text: str = "") -> Message:
    return Message("assistant", text, tuple(ToolCall(id, "read", {"a": 1}) for id in ids))


def result(id: str, text: str = "found") -> Message:
    return Message("tool", text, call_id=id, name="read")


USER, ANSWER = Message("user", "hello"), Message("assistant", "Hello.")


# What a model may reply, and two turns after it.

BLANK_REPLIES: Mapping[str, Sequence[Chunk]] = {
    "nothing": [Chunk(finish="stop")],
    "white space": [Chunk(text=" \n\n"), Chunk(finish="stop")],
    "only reasoning": [Chunk(reasoning="The user says hello."), Chunk(finish="stop")],
    "reasoning in tags": [Chunk(text="<think>A greeting.</think>\n"), Chunk(finish="stop")],
    "cut off in its reasoning": [Chunk(reasoning="The user"), Chunk(finish="length")],
}
REPLIES: Mapping[str, Sequence[Chunk]] = {
    **BLANK_REPLIES,
    "cut off": [Chunk(text="Half an ans"), Chunk(finish="length")],
    "a filtered answer": [Chunk(finish="content_filter")],
    "arguments that are a text": native(("gmail_read", '"m1"')),
    "arguments that are a list": native(("gmail_read", '["m1"]')),
    "arguments that are null": native(("gmail_read", "null")),
    "an object in a text": native(("gmail_read", '"{\\"messageId\\": \\"m1\\"}"')),
    "arguments with NaN": native(("gmail_list", '{"maxResults": NaN}')),
    "arguments with a set": native(("gmail_read", "{'messageId': {1, 2}}")),
    "arguments with half a character": native(("gmail_read", '{"messageId": "\\ud83d"}')),
    "a call that is cut off": [
        Chunk(call=CallDelta(0, "c1", "gmail_read", '{"messageId": "m')),
        Chunk(finish="length"),
    ],
    "a tool that there is not": native(("read my mail!", "{}")),
    "the name of a tool is too long": native(("read" * 30, "{}")),
    "ids of another server": [
        Chunk(call=CallDelta(0, f"functions.gmail_list:0{'x' * 40}", "gmail_list", "{}")),
        Chunk(finish="tool_calls"),
    ],
    "one id for two calls": [
        Chunk(call=CallDelta(0, "c1", "gmail_list", "{}")),
        Chunk(call=CallDelta(1, "c1", "gmail_read", '{"messageId": "m1"}')),
        Chunk(finish="tool_calls"),
    ],
    "calls in text": [Chunk(text='<tool_call>{"name": "gmail_list"}</tool_call>')],
}


@pytest.mark.parametrize("tools", [True, False], ids=["native", "text"])
@pytest.mark.parametrize("said", quick_every(12, REPLIES))
def test_two_turns_and_a_switch_after_any_reply(said: str, tools: bool) -> None:
    first = ScriptedModel([REPLIES[said], "Hello."], name="x:first", tools=tools)
    chat = desk(first)
    speak(chat, "one of three")
    sent = [*first.requests]
    for name in MODELS:
        # The rules of its own family are checked by the model.
        model = ScriptedModel(["Hello again."], name=name, tools=tools)
        chat.switch_model(model)
        speak(chat, f"now to {name}")
        speak(chat, f"and again to {name}")
        sent += model.requests
    for request in sent:
        assert broken_rules(request.messages, *EVERY_FAMILY) == []
    told = [str(wire["content"]) for wire in sent[-1].messages]
    assert [sum(words in text for text in told) for words in ("one of three", MODELS[-1])] == [1, 2]


@pytest.mark.parametrize("said", BLANK_REPLIES)
def test_a_blank_reply_is_kept_as_it_was_and_not_sent(said: str) -> None:
    # It is asked for once more.
    model = ScriptedModel([BLANK_REPLIES[said], BLANK_REPLIES[said], "Hello."], tools=True)
    chat = desk(model)
    speak(chat, "one")
    speak(chat, "two")
    assert Message("assistant", "") in [
        message._replace(content=message.content.strip(), reasoning="", partial=False)
        for message in chat.history.messages
    ]
    assert all(
        str(wire["content"]).strip() for request in model.requests for wire in request.messages
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_step_that_was_interrupted_and_the_users_next_words(name: str) -> None:
    async def interrupted(chat: Conversation) -> None:
        events: Any = turn(chat, "speak")
        async for seen in events:
            if seen.type == "tool_use":
                break
        await events.aclose()

    calls = native(("gmail_list", "{}"), ("gmail_read", '{"messageId": "m1"}'))
    model = ScriptedModel([calls, "Hello."], name=name, tools=True)
    chat = desk(model)
    asyncio.run(interrupted(chat))
    speak(chat, "do something else")
    assert broken_rules(model.requests[-1].messages, *EVERY_FAMILY) == []
    assert roles_and_texts(model.requests[-1].messages)[-2:] == [
        ("assistant", UNANSWERED),
        ("user", "do something else"),
    ]


def test_a_request_that_was_stopped_and_the_next_one_are_two() -> None:
    model = ScriptedModel([ModelError("The line was cut."), "Hello."], tools=True)
    chat = desk(model)
    speak(chat, "play a song")
    speak(chat, "what time is it")
    assert roles_and_texts(model.requests[-1].messages)[-3:] == [
        ("user", "play a song"),
        ("assistant", UNANSWERED),
        ("user", "what time is it"),
    ]


def test_half_an_answer_is_told_to_be_one_when_the_user_speaks_next() -> None:
    model = ScriptedModel(["Hello.", "And the second."], tools=True)
    chat = desk(model)
    speak(chat, "hi")
    chat.history.add(Message("assistant", "The first half", partial=True))
    speak(chat, "go on")
    last_message = model.requests[-1].messages[-1]
    assert last_message["content"] == f"{CUT_OFF_NOTE}\n\ngo on"
    assert chat.history.user_request == "go on"


# What is sent of a history.


def test_a_history_that_is_right_is_sent_as_it_is() -> None:
    history = [USER, calling("c1", text="I look."), result("c1"), ANSWER, USER]
    wires = rendered(*history)
    assert roles_and_texts(wires) == [(each.role, each.content) for each in history]
    assert wires[1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a": 1}'}}
    ]


def test_what_was_left_unanswered_is_joined_with_the_users_next_words() -> None:
    blank = Message("assistant", " \n", reasoning="Hm.")
    wires = rendered(USER, blank, Message("user", ""), Message("user", "there?"))
    assert roles_and_texts(wires) == [("user", "hello\n\nthere?")]


def test_answers_in_a_row_are_one() -> None:
    wires = rendered(USER, ANSWER, Message("user", " "), calling("c1", text="I look."))
    assert roles_and_texts(wires) == [
        ("user", "hello"),
        ("assistant", "Hello.\n\nI look."),
        ("tool", MISSING),
    ]


def test_the_user_begins_and_ends() -> None:
    assert roles_and_texts(rendered(ANSWER)) == [
        ("user", GO_ON),
        ("assistant", "Hello."),
        ("user", GO_ON),
    ]


def test_results_stand_behind_their_calls_in_the_order_of_the_calls() -> None:
    history = [USER, calling("c1", "c2", "c3"), result("c3", "three"), ANSWER, USER]
    history += [result("c1", "one"), result("c1", "once more"), result("c4", "of nobody")]
    assert roles_and_texts(rendered(*history))[2:5] == [
        ("tool", "one"),
        ("tool", MISSING),
        ("tool", "three"),
    ]


def test_calls_that_share_an_id_get_their_own_results() -> None:
    history = [USER, calling("c1", ""), result("c1", "one"), result("", "two")]
    history += [calling("c1", "c1"), result("c1", "three"), result("c1", "four")]
    wires = rendered(*history)
    told = {wire["tool_call_id"]: wire["content"] for wire in wires if wire["role"] == "tool"}
    assert list(told.values()) == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("c1", "c1"),
        ("functions.now:0", "functions_now_0_0"),
        ("chatcmpl-tool-0123456789abcdef0123456789abcdef", "chatcmpl-tool-0123456789abcdef01_0"),
    ],
)
def test_an_id_is_one_that_every_server_takes(written: str, sent: str) -> None:
    _, call, told = rendered(USER, calling(written), result(written))
    calls: Any = call["tool_calls"]
    assert (calls[0]["id"], told["tool_call_id"]) == (sent, sent)


def test_a_family_with_ids_of_its_own_gets_them() -> None:
    wires = rendered(USER, calling("c1", "call.2"), result("c1"), id_form=nine_letters)
    assert broken_rules(wires, "mistral ids") == []


def test_the_users_words_behind_a_result_stay_the_users() -> None:
    wires = rendered(USER, calling("c1"), result("c1"), USER)
    assert roles_and_texts(wires)[2:] == [
        ("tool", "found"),
        ("assistant", ACKNOWLEDGED),
        ("user", "hello"),
    ]


def test_a_note_behind_a_result_goes_with_it() -> None:
    note = Message("user", "You did this before.", note=True)
    wires = rendered(USER, calling("c1"), result("c1"), note)
    assert roles_and_texts(wires)[2:] == [("tool", "found\n\nYou did this before.")]
    assert roles_and_texts(rendered(USER, note)) == [("user", "hello\n\nYou did this before.")]
    hermes = rendered(USER, calling("c1"), result("c1"), note, dialect="hermes")
    assert str(hermes[-1]["content"]).endswith("</tool_response>\n\nYou did this before.")


def test_a_blank_result_says_so_and_calls_without_words_have_none() -> None:
    _, call, told = rendered(USER, calling("c1", text="\n"), result("c1", " "))
    assert call["content"] is None
    assert told["content"] == NO_OUTPUT


def test_half_a_character_is_replaced() -> None:
    history = [Message("user", "b\udce4r.mp3"), calling("c1"), result("c1", "\ud83d\ude00 \ud83d")]
    assert roles_and_texts(rendered(*history))[::2] == [
        ("user", "b\ufffdr.mp3"),
        ("tool", "\U0001f600 \ufffd"),
    ]


@pytest.mark.parametrize(
    ("written", "parameters", "sent"),
    [
        ({"path": "a"}, ("path",), {"path": "a"}),
        ('{"path": "a"}', (), {"path": "a"}),
        ("a.txt", ("path",), {"path": "a.txt"}),
        ('["a", "b"]', ("paths",), {"paths": ["a", "b"]}),
        (["a", "b"], ("paths",), {"paths": ["a", "b"]}),
        (5, ("count",), {"count": 5}),
        (["a", "b"], ("from", "to"), {}),
        ("a.txt", (), {}),
        (None, ("path",), {}),
        ("null", ("path",), {}),
        (" ", ("path",), {}),
        ({"n": float("nan")}, (), {"n": "nan"}),
        ({1: {2}, "b": b"x", "t": (1, None)}, (), {"1": [2], "b": "b'x'", "t": [1, None]}),
    ],
)
def test_arguments_are_an_object(
    written: Any,  # noqa: ANN401  # a session may hold anything
    parameters: Sequence[str],
    sent: Mapping[str, object],
) -> None:
    assert normalize_arguments(ToolCall("c1", "read", written), tool_with(*parameters)) == sent


def test_arguments_without_an_end_have_one() -> None:
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    _, call, _ = rendered(USER, Message("assistant", "", (ToolCall("c1", "read", {"a": deep}),)))
    assert len(str(call)) < 1000


def test_an_answer_of_an_interview_that_is_blank_is_left_out() -> None:
    side = [
        {"role": "assistant", "content": "DEAR ANDYBOT, READ"},
        {"role": "user", "content": "Which file?"},
        {"role": "assistant", "content": "\n"},
        {"role": "user", "content": "Which line?"},
    ]
    wires = render_history([USER], DIALECTS["andybot"], {}, {}, None, side)
    assert broken_rules(wires, *EVERY_FAMILY) == []
    assert roles_and_texts(wires)[-1] == ("user", "Which file?\n\nWhich line?")


def test_a_note_is_one_in_the_session_too(tmp_path: Path) -> None:
    log = Log(tmp_path, "s1")
    told = [Message("user", "Go on.", note=True), USER]
    for message in told:
        log.message(message)
    log.close()
    assert list(read(log.path)) == told


def test_a_long_history_costs_no_more_a_message_than_a_short_one() -> None:
    turns = [
        [USER, calling(f"c{at}"), result(f"c{at}", "[1, 2, 3]" * 100), ANSWER] for at in range(50)
    ]
    history = [message for messages in turns for message in messages]
    shorter, longer = calls_to_render(history), calls_to_render(history * 2)
    assert longer < 2.2 * shorter
    assert longer < 60 * len(history * 2)


def calls_to_render(history: list[Message]) -> int:
    """How many functions are called: what it costs, whatever else the machine does."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    render_history(history, DIALECTS["native"], {"read": TOOL}, {"read": "read"}, None)
    sys.setprofile(None)
    return calls


# Whatever a history holds.


class Piece(NamedTuple):
    """Messages that belong together, results that come late, and the texts that must be sent."""

    messages: tuple[Message, ...]
    late: tuple[Message, ...] = ()
    texts: tuple[str, ...] = ()


LATE = "late-"
"""How the ids of calls begin whose results come late."""
words = st.integers(0, 10**6).map("word{}.".format)
endings = st.sampled_from(["", "", "\n\n", "\udce4", " \ud83d\ude00"])
texts = st.tuples(words, endings).map("".join)
blanks = st.sampled_from(["", " ", "\n\t\n"])
ids = st.sampled_from(["", "c1", "c2", "functions.now:0", "aB3dE6gH9", "x" * 50, "\u00e9"])
names = st.sampled_from(["read", "kom.memory.v1.search", "no tool!", "", "\u00fc", "n" * 90, "1st"])
arguments = st.sampled_from(
    [{}, {"a": 1}, '{"a": 1}', "a", ["a"], None, 5, {"a": float("inf")}, {"a": {1, 2}}, {(1, 2): 3}]
)


def spoken(role: Any) -> st.SearchStrategy[Piece]:  # noqa: ANN401
    """A message of text, perhaps a note or cut off."""

    def piece(text: str, flag: bool) -> Piece:
        message = Message(role, text, reasoning="Hm." * flag, partial=flag, note=flag)
        return Piece((message,), (), (text,))

    return st.builds(piece, texts | blanks, st.booleans())


@st.composite
def steps(draw: Callable[..., Any]) -> Piece:
    """Calls with their results: all, some or none of them, here or later, in any order."""
    text = draw(texts | blanks)
    calls: list[ToolCall] = []
    here: list[Message] = []
    late: list[Message] = []
    for at in range(draw(st.integers(1, 3))):
        comes = draw(st.sampled_from(["never", "here", "late"]))
        id = f"{LATE}{at}" if comes == "late" else draw(ids)
        calls.append(ToolCall(id, draw(names), draw(arguments)))
        found = Message("tool", draw(texts | blanks), call_id=id, name=calls[-1].name)
        if comes != "never":
            (late if comes == "late" else here).append(found)
    seen = tuple(draw(st.permutations(here)))
    expected = (text, *(each.content for each in (*here, *late)))
    return Piece((Message("assistant", text, tuple(calls)), *seen), tuple(late), expected)


def stray_result(id: str, text: str) -> Piece:
    """A result of no call: it is left out."""
    return Piece((Message("tool", text, call_id=f"stray-{id}"),))


pieces = (
    spoken("user")
    | spoken("assistant")
    | spoken("system")
    | steps()
    | st.builds(stray_result, ids, texts)
)


def history_of(parts: Sequence[Piece]) -> list[Message]:
    """The pieces one after the other, late results after the next piece."""
    history: list[Message] = [Message("system", "You help.")]
    waiting: tuple[Message, ...] = ()
    for at, part in enumerate(parts):
        history += [*(with_own_ids(each, at) for each in part.messages), *waiting]
        waiting = tuple(with_own_ids(each, at) for each in part.late)
    return [*history, *waiting]


def with_own_ids(message: Message, at: int) -> Message:
    """An id that comes again before a late result would make the result another call's."""
    calls = tuple(each._replace(id=each.id.replace(LATE, f"{LATE}{at}-")) for each in message.calls)
    return message._replace(calls=calls, call_id=message.call_id.replace(LATE, f"{LATE}{at}-"))


def sent_texts(wires: Sequence[Wire]) -> Iterator[str]:
    for wire in wires:
        yield str(wire["content"] or "")


@pytest.mark.parametrize(
    ("name", "id_form"),
    [
        ("native", None),
        ("native", nine_letters),
        *(
            pytest.param(name, dialect.id_form, marks=pytest.mark.slow if at % 20 else ())
            for at, (name, dialect) in enumerate(DIALECTS.items())
            if name != "native"
        ),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@given(parts=st.lists(pieces, max_size=8))
def test_any_history_is_good_for_every_family_and_no_text_is_lost(
    name: str, id_form: IdForm | None, parts: list[Piece]
) -> None:
    history = history_of(parts)
    before = repr(history)
    tools = {"read": tool_with("path")}
    wires = render_history(history, DIALECTS[name], tools, {"read": "read"}, id_form)
    own = ["mistral ids"] if id_form is nine_letters else []
    assert broken_rules(wires, *EVERY_FAMILY, *own) == []
    whole = "\n".join(sent_texts(wires))
    for part in parts:
        for text in part.texts:
            assert text.partition(".")[0].strip() in whole
    assert repr(history) == before


# Over the wire.


def thinking(text: str) -> list[Mapping[str, Any]]:
    return [status(), event({"reasoning_content": text}), event({}, "stop")]


@pytest.mark.parametrize("model", ["mistral-small-latest", "claude-sonnet-4-5", "gemini-2.5", "m"])
@pytest.mark.parametrize("blank", [streamed(""), thinking("Hm.")], ids=["empty", "reasoning"])
def test_a_chat_goes_on_after_an_empty_reply(
    model: str, blank: Sequence[Mapping[str, Any]]
) -> None:
    calls = called("gmail_list", "{}")
    script = [streamed("Hello."), blank, blank, calls, streamed("Hello again.")]
    with ModelServer(script) as server:
        chat = desk(client(server.url, model))
        speak(chat, "one")
        speak(chat, "two")  # nothing is said to it, also when it is asked again
        for words in ("three", "four"):
            ended: Any = speak(chat, words)[-1]
            assert ended.exit_code == 0
        bodies = [received.body for received in server.requests]
    for body in bodies:
        assert broken_rules(body["messages"], *EVERY_FAMILY) == []
    assert json.dumps(bodies[-1]).count('"Hello."') == 1
    said = [each["content"] for each in bodies[3]["messages"][1:]]
    assert said == ["one", "Hello.", "two\n\nthree"]


def test_a_file_name_that_is_no_text_does_not_end_the_chat() -> None:
    with ModelServer([streamed("Hello.")]) as server:
        chat = desk(client(server.url))
        for words in ("play b\udce4r.mp3", "and now?"):
            ended: Any = speak(chat, words)[-1]
            assert ended.exit_code == 0
        assert server.requests[-1].body["messages"][1]["content"] == "play b\ufffdr.mp3"


# The rules themselves.

SYSTEM = {"role": "system", "content": "You help."}
ASKED = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": "Hello."}


def call_wire(id: str = "c1", name: str = "now", arguments: object = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    call = {"id": id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def tool_wire(id: str = "c1", content: str = "12:00") -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": id, "name": "now"}


WRONG: Mapping[str, tuple[Sequence[Mapping[str, Any]], str]] = {
    "no message": ([SYSTEM], "openai"),
    "an unknown role": ([ASKED, {"role": "function", "content": "x"}], "openai"),
    "an empty answer": ([ASKED, {"role": "assistant", "content": " "}, ASKED], "openai"),
    "an empty question": ([{"role": "user", "content": ""}], "openai"),
    "no calls in a list": ([ASKED, {**SAID, "tool_calls": []}, ASKED], "openai"),
    "arguments that are an object": ([ASKED, call_wire(arguments={}), tool_wire()], "openai"),
    "arguments that are a list": ([ASKED, call_wire(arguments="[1]"), tool_wire()], "openai"),
    "arguments with NaN": ([ASKED, call_wire(arguments='{"a": NaN}'), tool_wire()], "openai"),
    "a name with a blank": ([ASKED, call_wire(name="a b"), tool_wire()], "openai"),
    "a long id": ([ASKED, call_wire("c" * 41), tool_wire("c" * 41)], "openai"),
    "no result": ([ASKED, call_wire(), ASKED], "openai"),
    "no result at the end": ([ASKED, call_wire()], "openai"),
    "a result of nobody": ([ASKED, tool_wire()], "openai"),
    "a result twice": ([ASKED, call_wire(), tool_wire(), tool_wire()], "openai"),
    "an id twice": ([ASKED, call_wire(), tool_wire(), call_wire(), tool_wire()], "openai"),
    "half a character": ([{"role": "user", "content": "\ud800"}], "openai"),
    "the user behind a result": ([ASKED, call_wire(), tool_wire(), ASKED], "mistral"),
    "two questions": ([ASKED, ASKED], "mistral"),
    "the assistant last": ([ASKED, SAID], "mistral"),
    "calls behind an answer": ([ASKED, SAID, call_wire(), tool_wire()], "mistral"),
    "the system later": ([ASKED, SAID, SYSTEM, ASKED], "mistral"),
    "an id of two letters": ([ASKED, call_wire(), tool_wire()], "mistral ids"),
    "a blank beside calls": ([ASKED, {**call_wire(), "content": ""}, tool_wire()], "anthropic"),
    "an id with a dot": ([ASKED, call_wire("c.1"), tool_wire("c.1")], "anthropic"),
    "the assistant first": ([SAID, ASKED], "anthropic"),
    "two turns of the user": ([ASKED, call_wire(), tool_wire(), ASKED], "anthropic"),
    "a blank at the end": ([ASKED, {"role": "assistant", "content": "It is "}], "anthropic"),
    "a call behind an answer": ([ASKED, SAID, call_wire(), tool_wire()], "gemini"),
    "a response of another": (
        [ASKED, call_wire(), {**tool_wire(), "name": "then"}],
        "gemini",
    ),
    "a model's turn at the end": ([ASKED, SAID], "gemini"),
    "two in a row": ([ASKED, ASKED], "template"),
    "tools do not part two in a row": ([ASKED, call_wire(), tool_wire(), ASKED], "template"),
}


@loop_over("fault", WRONG)
def test_a_rule_finds_what_it_is_for(fault: str) -> None:
    messages, family = WRONG[fault]
    assert broken_rules(messages, family)


def test_what_is_right_breaks_no_rule() -> None:
    talk = [SYSTEM, ASKED, call_wire(), tool_wire(), SAID, ASKED]
    assert broken_rules(talk, *EVERY_FAMILY) == []


def test_the_rules_are_those_of_the_model() -> None:
    assert "mistral ids" in history_rules.rules_for("mistral:devstral-2")
    assert "gemini" in history_rules.rules_for("models/gemini-2.5-pro")
    assert history_rules.rules_for("m") == ("openai", "template")


def test_a_scripted_model_looks_at_what_it_is_sent() -> None:
    wrong = [ASKED, ASKED]
    history_rules.watch(wrong, "claude-opus", 3)
    found, history_rules.FOUND[:] = [*history_rules.FOUND], []
    assert found[0].startswith("request 3 to 'claude-opus': template: message 1 (user): ")
    assert len(found) == 2
