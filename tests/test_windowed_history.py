"""What the model is told of a history that grows, and of one that a server finds too long (C30)."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli import events
from andy_cli.agent.history.compression import LEFT_OUT_COUNT
from andy_cli.agent.history.history import MISSING, WindowedHistory, pair_results
from andy_cli.agent.turn import turn
from andy_cli.messages import Message, ToolCall
from andy_cli.models.token_count import estimate_message, reserve_for_reply
from tests.model_server import Answer, ModelServer, Received, refused, streamed
from tests.scripted_conversation import conversation
from tests.scripted_tools import client
from tests.test_compression import histories

TOO_LONG = "This model's maximum context length is {limit} tokens, you sent {sent}."


def shorten(told: WindowedHistory, window: int) -> None:
    if told.count_tokens() + reserve_for_reply(window) > window:
        told.shorten(window, fixed=0, failed=())


@given(histories, st.integers(400, 4000))
def test_what_is_told_fits_wherever_it_can(history: list[Message], window: int) -> None:
    """It cannot where the task, the last words and the last calls alone are too much."""
    grown = list[Message]()
    told = WindowedHistory(grown)
    for message in history:
        grown.append(message)
        shorten(told, window)
        messages = told.list_messages()
        assert told.count_tokens() == sum(map(estimate_message, messages))
        if told.count_tokens() + reserve_for_reply(window) > window:
            users = [each for each in messages if each.role == "user"]
            assert len(users) <= 3, "the task, the last words and the note of what is left out"


@given(histories, st.integers(200, 4000))
def test_what_is_told_has_every_call_with_its_result(history: list[Message], window: int) -> None:
    told = WindowedHistory(history)
    shorten(told, window)
    messages = told.list_messages()
    assert messages == pair_results(messages)
    assert all(each.content != MISSING for each in messages)


def test_the_note_says_how_many_messages_were_left_out_in_all() -> None:
    history = [Message("user", "the task")]
    told = WindowedHistory(history)
    for nth in range(200):
        history.append(Message("assistant", f"answer {nth}"))
        history.append(Message("user", f"question {nth}"))
        shorten(told, 1000)
    messages = told.list_messages()
    [note] = [found for each in messages if (found := LEFT_OUT_COUNT.fullmatch(each.content))]
    assert int(note["count"]) == len(history) - len(messages) + 1
    assert (messages[0], messages[-1]) == (history[0], history[-1])


def test_what_is_told_begins_with_the_same_words_for_many_turns() -> None:
    """So a server finds them in its cache."""
    history, beginnings = [Message("user", "the task")], set[Message]()
    told = WindowedHistory(history)
    for nth in range(300):
        history.append(Message("assistant", f"answer {nth}"))
        history.append(Message("user", f"question {nth}"))
        shorten(told, 2000)
        beginnings.add(told.list_messages()[1])
    assert len(beginnings) < 12


def test_a_history_with_messages_taken_back_is_told_from_the_start() -> None:
    history = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    told = WindowedHistory(history)
    assert told.count_tokens() == sum(map(estimate_message, history))
    del history[1:]
    assert told.list_messages() == history
    assert told.count_tokens() == estimate_message(history[0])


def server_with_window(limit: int, sizes: list[int]) -> ModelServer:
    """Refuses what is longer than `limit` characters, as a server with a small window does."""

    def answer(request: Received) -> Answer:
        sizes.append(sum(len(str(each["content"])) for each in request.body["messages"]))
        if sizes[-1] > limit:
            return refused(400, TOO_LONG.format(limit=limit, sent=sizes[-1]))
        return streamed(f"All is well. {'It is a long story. ' * 20}")

    return ModelServer(answer)


def ask_all(
    url: str, questions: Sequence[str], rules: str = "", history: Sequence[str] = ()
) -> list[events.Ended]:
    """How each turn of one chat ended; `history` was said and answered before."""

    async def asked() -> list[events.Ended]:
        chat, found = conversation(client(url, tools=False), instructions=rules), []
        for words in history:
            chat.history.add(Message("user", words))
            chat.history.add(Message("assistant", "Noted."))
        for question in questions:
            seen = [event async for event in turn(chat, question)]
            found += [each for each in seen if isinstance(each, events.Ended)]
        await chat.client.close()
        return found

    return asyncio.run(asked())


@pytest.mark.slow
def test_a_chat_that_outgrows_the_window_goes_on_whatever_the_server_says_of_it() -> None:
    sizes: list[int] = []
    with server_with_window(20_000, sizes) as server:
        ended = ask_all(server.url, [f"question {n}: {'and then? ' * 20}" for n in range(60)])
    assert [each.exit_code for each in ended] == [0] * 60
    refusals = sum(each > 20_000 for each in sizes)
    assert 0 < refusals < 6, "it is learned, not tried again and again"


def test_a_window_that_is_far_from_the_one_assumed_is_learned_from_the_first_refusal() -> None:
    """A session of a large model goes on with a small one, whose server tells sizes alone."""
    sizes: list[int] = []
    pastes = [f"paste {n} {'words of user ' * 700}" for n in range(8)]
    with server_with_window(24_000, sizes) as small:
        ended = ask_all(small.url, ["hello"], history=pastes)
    assert [each.exit_code for each in ended] == [0]
    assert len(sizes) == 2
    assert 12_000 < sizes[-1] <= 24_000


def test_a_question_that_is_too_long_alone_is_said_and_the_chat_goes_on() -> None:
    sizes: list[int] = []
    with server_with_window(20_000, sizes) as server:
        ended = ask_all(server.url, ["x" * 40_000, "hello"])
    assert [each.exit_code for each in ended] == [1, 0]
    assert len(sizes) < 5


def test_a_message_that_is_too_long_takes_no_other_with_it() -> None:
    history = [Message("user", "x y z words " * 6000)]
    told = WindowedHistory(history)
    history.append(Message("assistant", "(no answer)"))
    for words in ("my name is Bea", "I live in Ulm", "what is my name?"):
        history.append(Message("user", words))
        told.shorten(8192, fixed=1700, failed=())
        messages = told.list_messages()
        assert messages[1:] == history[1:]
        assert messages[0].content.startswith("x y z words x y z")
        assert len(messages[0].content) > 4000, "as much of it as there is room for"
        history.append(Message("assistant", f"{words}: noted"))


def test_of_a_text_that_does_not_fit_as_much_stays_as_there_is_room_for() -> None:
    history = [Message("user", "hello"), Message("user", "word " * 20_000), Message("user", "so?")]
    told = WindowedHistory(history)
    told.shorten(20_000, fixed=2000, failed=())
    told.list_messages()
    assert 8000 < told.count_tokens() < 10_000


def test_a_failure_that_is_too_long_is_cut_and_the_task_stays() -> None:
    call = ToolCall("c", "run_command", {"command": "make"})
    failed = json.dumps({"ok": False, "output": "error " * 20_000, "status": 2})
    history = [
        Message("user", "mend it"),
        Message("assistant", "Which?"),
        Message("user", "the parser"),
        Message("assistant", "", (call,)),
        Message("tool", failed, call_id="c", name="run_command"),
    ]
    told = WindowedHistory(history)
    told.shorten(8192, fixed=1700, failed=("c",))
    messages = told.list_messages()
    assert messages[:4] == history[:4]
    assert told.count_tokens() < 8192 - 1700
    assert json.loads(messages[4].content)["data"]["ok"] is False


def test_where_the_request_is_mostly_rules_the_task_is_not_left_out() -> None:
    """The server refuses and does not tell its window."""
    pastes = [f"paste {n} {'words of user ' * 400}" for n in range(8)]
    questions = ["The secret word is ALPHA.", *pastes, "what is the secret word?"]
    sent: list[list[str]] = []

    def answer(request: Received) -> Answer:
        sent.append([str(message["content"]) for message in request.body["messages"]])
        size = len(json.dumps(request.body)) // 4
        if size > 8192:
            return refused(400, TOO_LONG.format(limit=8192, sent=size))
        return streamed("Fine.")

    with ModelServer(answer) as server:
        ended = ask_all(server.url, questions, rules="Be polite. " * 1500)
    assert [each.exit_code for each in ended] == [0] * len(questions)
    assert sent[-1][1] == questions[0]
    assert [words for words in sent[-1] if words.startswith("paste")] != []
