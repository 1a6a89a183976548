"""The loop of one turn: native calls, limits, failures, cancellation, a switch of models."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.history import PIPED
from andy_cli.agent.model.model_session import ModelFacts, ModelServer
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.turn import turn
from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.detect import Template
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.errors import ModelError, TransientError
from andy_cli.events import Event
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest, Gate
from andy_cli.guard.rules import Rules, parse_rule
from andy_cli.messages import CallDelta, Chunk, Message, Request, Usage
from andy_cli.sessions import log
from andy_cli.settings import load
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import tool
from tests.cases import loop_over
from tests.fakes import ScriptedModel, native
from tests.scripted_conversation import MUSIC, conversation, events_of
from tests.scripted_tools import desk, play, speak


def test_native_calls_run_in_order_and_their_results_carry_their_ids() -> None:
    calls = native(("list_mp3s", '{"path": "a"}'), ("ping", ""))
    model = ScriptedModel([calls, "Two songs."], tools=True)
    chat = conversation(model)
    assert ended(happened(chat, "x")).result == "Two songs."
    told = [wire for wire in model.requests[1].messages if wire["role"] == "tool"]
    assert [each["tool_call_id"] for each in told] == ["call0", "call1"]
    assert [each["content"] for each in told] == ['["song1.mp3", "song2.mp3"]', "pong"]


def test_a_native_model_gets_the_schemas_and_another_gets_none() -> None:
    for tools in (True, False):
        model = ScriptedModel(["hi"], tools=tools)
        events_of(model, "x")
        assert bool(model.requests[0].tools) is tools


def test_a_native_call_that_was_cut_off_never_runs_and_is_asked_for_again_once() -> None:
    cut = [Chunk(call=CallDelta(0, "c", "ping", '{"a')), Chunk(finish="length")]
    model = ScriptedModel([cut, "Hello."], tools=True)
    seen = events_of(model, "x")
    assert not [each for each in seen if isinstance(each, events.ToolUsed)]
    assert any(isinstance(each, events.Compiled) and each.incomplete for each in seen)
    assert len(model.requests) == 2


def test_the_rest_of_a_call_that_was_cut_off_is_no_answer() -> None:
    call = '<tool_call>{"name": "ping", "arguments": {"a": "xx"}}</tool_call>'
    cut = [Chunk(text=call[:-16]), Chunk(finish="length")]
    model = ScriptedModel([cut, call[-16:], call, "pong came back."], tools=True)
    seen = events_of(model, "x")
    shown = "".join(each.content for each in seen if isinstance(each, events.Said))
    assert call[-16:] not in shown
    assert ended(seen).result == "pong came back."
    model = ScriptedModel([cut, call[-16:]], tools=True)
    assert ended(events_of(model, "x")).subtype == "error_unreadable"
    model = ScriptedModel([cut, "I cannot do it shorter."], tools=True)
    assert ended(events_of(model, "x")).result == "I cannot do it shorter."


def test_a_written_call_that_is_cut_off_again_and_again_is_asked_for_anew_once() -> None:
    cut = [Chunk(text='[ping(), note(file="a.txt", te'), Chunk(finish="length")]
    model = ScriptedModel([cut], tools=True)
    seen = events_of(model, "write a.txt")
    assert ended(seen).subtype == "error_cut_off"
    assert ended(seen).result == ""
    assert len(model.requests) == 2


def test_an_answer_cut_off_by_length_is_continued_once() -> None:
    half = [Chunk(text="one "), Chunk(finish="length")]
    model = ScriptedModel([half, "two"])
    assert ended(events_of(model, "x")).result == "one two"
    again = ScriptedModel([half])
    assert ended(events_of(again, "x")).result == "one one "
    assert len(again.requests) == 2


def test_equal_looks_of_one_reply_end_no_turn() -> None:
    look = ("list_mp3s", '{"path": "a"}')
    model = ScriptedModel([native(*[look] * 4), native(look), "Two songs."], tools=True)
    seen = events_of(model, "x")
    assert sum(isinstance(event, events.ToolAnswered) for event in seen) == 5
    assert (ended(seen).exit_code, ended(seen).not_done) == (0, ())


def test_what_goes_on_each_time_is_done_as_often_as_it_is_asked_for_in_one_reply() -> None:
    calls = native(*[("set_volume", '{"volume": 5}')] * 4)
    seen = events_of(ScriptedModel([calls, "Done, it is at 5."], tools=True), "x")
    assert sum(isinstance(event, events.ToolAnswered) for event in seen) == 4
    assert ended(seen).exit_code == 0


def test_the_reason_that_something_is_not_clear_is_given_where_it_is_missing_alone() -> None:
    for arguments, reason in (
        ("{}", "it was not clear with what"),
        ('{"volume": "loud"}', "what it was given does not fit"),
    ):
        model = ScriptedModel([native(("set_volume", arguments)), "That failed."], tools=True)
        assert [each["reason"] for each in ended(events_of(model, "x")).not_done] == [reason]


def test_arguments_that_do_not_fit_are_told_to_the_model_and_nothing_runs() -> None:
    model = ScriptedModel([native(("set_volume", '{"volume": 700}')), "sorry"], tools=True)
    seen = events_of(model, "x")
    answers = [each for each in seen if isinstance(each, events.ToolAnswered)]
    assert [each.status for each in answers] == ["failed"]
    assert "volume" in answers[0].error


def test_an_example_that_is_copied_into_the_arguments_is_no_value() -> None:
    for value, ran in (
        ("<path to the files>", False),
        ("<PATH>", False),
        ("<b>path</b>", True),
        ("<songs>", True),
    ):
        call = native(("list_mp3s", json.dumps({"path": value})))
        seen = events_of(ScriptedModel([call, "Sorry."], tools=True), "x")
        answer = next(each for each in seen if isinstance(each, events.ToolAnswered))
        assert ("stands for a value" not in answer.error) == ran
        assert (answer.status == "success") == ran


def test_a_tool_that_breaks_is_a_failed_result_and_the_turn_goes_on() -> None:
    seen = events_of(ScriptedModel([native(("broken", "{}")), "It broke."], tools=True), "x")
    answer = next(each for each in seen if isinstance(each, events.ToolAnswered))
    assert answer.status == "failed"
    assert "out of order" in answer.error
    assert ended(seen).result == "It broke."


def test_a_turn_stops_after_so_many_replies() -> None:
    calls = [native(("list_mp3s", f'{{"path": "{at}"}}')) for at in range(9)]
    seen = events_of(ScriptedModel(calls, tools=True), "x", "limits.rounds=4")
    assert (ended(seen).exit_code, ended(seen).subtype) == (4, "error_limit")
    assert ended(seen).num_turns == 4
    stopped = next(each for each in seen if isinstance(each, events.Failed))
    assert ended(seen).error == {
        "kind": "limit",
        "message": "Stopped after 4 replies without an answer.",
        "hint": stopped.hint,
    }
    assert "ontinue" in stopped.hint


def test_calls_that_a_limit_leaves_out_have_a_result_all_the_same() -> None:
    calls = [native(*[("list_mp3s", f'{{"path": "{at}"}}') for at in range(5)])]
    chat = conversation(ScriptedModel(calls, tools=True), "limits.calls=2")
    happened(chat, "x")
    asked = {call.id for each in chat.history.messages for call in each.calls}
    assert {each.call_id for each in chat.history.messages if each.role == "tool"} == asked


def test_what_must_be_asked_is_refused_where_nobody_can_be_asked() -> None:
    seen = events_of(ScriptedModel([native(("note", '{"file": "a"}')), "no"], tools=True), "x")
    consent = next(each for each in seen if isinstance(each, events.Consented))
    assert consent.decision == "denied"
    assert (ended(seen).exit_code, ended(seen).permission_denials) == (3, ("write a",))


def test_a_refusal_that_nobody_was_asked_about_is_told_with_its_reason() -> None:
    model = ScriptedModel([native(("ping", "{}"), ("note", '{"file": "a"}')), "no"], tools=True)
    forbidding = Gate(Path.cwd(), rules=Rules(deny=(parse_rule("note"),)))
    seen = happened(conversation(model, gate=forbidding), "x")
    consents = [event for event in seen if isinstance(event, events.Consented)]
    assert [(event.decision, event.reason) for event in consents] == [
        ("denied", "the rule note forbids it")
    ]


def test_the_tools_that_are_told_at_the_beginning_are_those_that_are_offered() -> None:
    def offered(dialect: str) -> set[str]:
        chat = desk(ScriptedModel(["Hello."], tools=True), f"dialect={dialect}")
        seen = speak(chat, "x")
        assert isinstance(seen[0], events.Init)
        return set(seen[0].tools)

    assert offered("envelope") - offered("native") == {"send_chat", "end_turn"}
    assert "gmail_read" in offered("native")


def test_what_was_asked_and_agreed_to_runs() -> None:
    asked: list[ApprovalRequest] = []

    async def yes(approval_request: ApprovalRequest) -> ApprovalAnswer:
        asked.append(approval_request)
        return ApprovalAnswer(yes=True)

    model = ScriptedModel([native(("note", '{"file": "a"}')), "ok"], tools=True)
    seen = happened(conversation(model, gate=Gate(Path.cwd(), ask=yes)), "x")
    assert [each.action for each in asked] == ["write a"]
    assert ended(seen).exit_code == 0


def test_a_failing_server_ends_the_turn_with_its_exit_code_and_keeps_the_question() -> None:
    chat = conversation(ScriptedModel([TransientError("no connection", "try again")]))
    seen = happened(chat, "hello")
    assert ended(seen).exit_code == 75
    assert [each.content for each in chat.history.messages] == ["hello"]
    assert any(isinstance(each, events.Failed) and each.hint == "try again" for each in seen)


class Breaking(ScriptedModel):
    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        yield Chunk(text="half an ans")
        raise TransientError("the connection was lost")


def test_what_was_said_before_a_failure_is_kept_as_partial() -> None:
    chat = conversation(Breaking([]))
    happened(chat, "x")
    assert chat.history.messages[-1] == Message("assistant", "half an ans", partial=True)


def test_a_cancelled_turn_leaves_no_call_without_a_result() -> None:
    async def cancelled() -> Conversation:
        gate = Gate(Path.cwd(), ask=never)
        chat = conversation(
            ScriptedModel([native(("note", '{"file": "a"}'))], tools=True), gate=gate
        )
        task = asyncio.create_task(drain(chat))
        while not (chat.history.messages and chat.history.messages[-1].calls):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return chat

    async def never(approval_request: ApprovalRequest) -> ApprovalAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    chat = asyncio.run(cancelled())
    assert [each.role for each in chat.history.messages] == ["user", "assistant", "tool"]


def test_a_model_switch_makes_a_new_compiler_and_renders_the_history_anew() -> None:
    first = ScriptedModel([native(("ping", "{}")), "pong"], tools=True)
    chat = conversation(first)
    happened(chat, "ping it")
    before = chat.model.profile.markers
    second = ScriptedModel(["DEAR ANDYBOT, PING", "again"])
    chat.switch_model(second)
    assert chat.model.profile.markers is not before
    assert chat.dialect.name == "andybot"
    assert ended(happened(chat, "once more")).result == "again"
    sent = [wire["content"] for wire in second.requests[0].messages]
    assert "DEAR ANDYBOT, PING" in sent
    assert "ANDYBOT RESPONDS: pong" in sent
    chat.switch_model(ScriptedModel(["ok"], tools=True))
    assert chat.dialect.name == "native"
    assert ended(happened(chat, "and back")).exit_code == 0


def test_a_native_model_that_writes_a_letter_is_understood() -> None:
    model = ScriptedModel(["DEAR ANDYBOT, LIST_MP3S", "~/mp3", "Two songs."], tools=True)
    used = [each for each in events_of(model, "x") if isinstance(each, events.ToolUsed)]
    assert [each.parameters for each in used] == [{"path": "~/mp3"}]


class Refusing(ScriptedModel):
    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        if self.tools:
            self.tools = False
            error = ModelError("It does not support tools.")
            error.kind = "no_tools"
            raise error
        async for chunk in super().reply(request):
            yield chunk


def test_a_server_that_takes_no_tools_is_asked_what_its_model_writes() -> None:
    async def facts() -> ModelFacts:
        text = "{% for call in calls %}<tool_call>\n{{ call }}\n</tool_call>{% endfor %}"
        return ModelFacts(Template(text))

    call = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    model = Refusing([call, "pong"], tools=True)
    chat = conversation(model)
    chat.switch_model(model, ModelServer(facts))
    seen = happened(chat, "ping it")
    assert (ended(seen).result, chat.dialect.name) == ("pong", "hermes")
    assert chat.model.profile.why == "its chat template writes <tool_call>"
    assert "<tool_call>" in str(model.requests[0].messages[0]["content"])
    assert not model.requests[0].tools


@pytest.mark.parametrize(
    ("facts", "guided", "described", "own"),
    [
        (ModelFacts(), False, "64,000 assumed", 0),
        (ModelFacts(), True, "64,000 assumed", 0),
        (ModelFacts(context=8192), True, "8,192", 0),
        (ModelFacts(context=4096, is_inside=True), False, "4,096", 0),
        (ModelFacts(context=4096, is_inside=True), True, "64,000", 4096),
    ],
)
def test_the_window_is_assumed_only_where_nothing_is_known_of_it(
    facts: ModelFacts, guided: bool, described: str, own: int
) -> None:
    async def ask() -> ModelFacts:
        return facts

    model = ScriptedModel([], guided=guided)
    chat = conversation(model)
    chat.switch_model(model, ModelServer(ask))
    assert asyncio.run(chat.budget.describe_window()) == described
    assert chat.budget.own_context == own


def test_usage_is_counted_for_the_turn() -> None:
    chat = conversation(ScriptedModel(["a"]))
    happened(chat, "x")
    assert ended(happened(chat, "y")).usage == {"input_tokens": 10, "output_tokens": 5}
    assert chat.model.usage == Usage(20, 10)


def test_every_message_is_on_disk_when_it_counts(tmp_path: Path) -> None:
    chat = Conversation(
        ScriptedModel([native(("ping", "{}")), "pong"], tools=True),
        MUSIC,
        Gate(tmp_path),
        conversation(ScriptedModel([])).settings,
        tmp_path,
        log.Log(tmp_path / "sessions", "s1"),
    )
    happened(chat, "x")
    path = tmp_path / "sessions" / "s1.jsonl"
    assert list(log.read(path)) == chat.history.messages
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open("a", encoding="utf-8") as file:
        file.write('{"seq": 9, "type": "mess')
    assert list(log.read(path)) == chat.history.messages


def happened(chat: Conversation, user: str, attached: str = "") -> list[Event]:
    async def collected() -> list[Event]:
        return [event async for event in turn(chat, user, attached)]

    return asyncio.run(collected())


async def drain(chat: Conversation) -> None:
    async for _ in turn(chat, "x"):
        pass


def ended(seen: list[Event]) -> events.Ended:
    assert isinstance(seen[-1], events.Ended)
    return seen[-1]


def test_arguments_that_a_schema_forces_are_corrected_and_run_once() -> None:
    model = ScriptedModel([native(("setVolume", '{"volume": "70"}')), "Done."], tools=True)
    seen = events_of(model, "x")
    corrected = next(each for each in seen if isinstance(each, events.Corrected))
    assert corrected.changes == ("setVolume -> set_volume", '"70" -> 70')
    used = [each for each in seen if isinstance(each, events.ToolUsed)]
    assert [(each.tool_name, each.parameters) for each in used] == [("set_volume", {"volume": 70})]
    assert ended(seen).result == "Done."


def test_what_does_not_fit_is_told_once_with_its_schema_then_the_user_is_asked() -> None:
    """C16, D15: one message to the model, one more try, then a question without plumbing."""
    wrong = native(("set_volume", '{"volume": "very loud"}'))
    model = ScriptedModel([wrong, wrong, "never said"], tools=True)
    chat = conversation(model)
    seen = happened(chat, "x")
    told = str(model.requests[1].messages[-1]["content"])
    assert '"volume":{"' in told
    assert len(model.requests) == 2
    asked = ended(seen)
    assert asked.result.startswith("To set the volume I need to know the volume")
    assert "set_volume" not in asked.result
    assert (asked.exit_code, asked.subtype) == (1, "error_unclear")
    assert chat.history.messages[-1] == Message("assistant", asked.result)
    assert "never said" in ended(happened(chat, "louder, 70 then")).result


def test_a_guessed_tool_with_an_effect_needs_a_yes() -> None:
    @tool(effect="act", action="publish {text}")
    def publish(text: str) -> str:
        """Publish a text"""
        return text

    model = ScriptedModel([native(("pubilsh", '{"text": "a"}')), "no"], tools=True)
    registry, settings = Registry([publish]), load((), environment={})
    seen = happened(Conversation(model, registry, Gate(Path.cwd()), settings, Path.cwd()), "x")
    consent = next(each for each in seen if isinstance(each, events.Consented))
    assert (consent.decision, ended(seen).exit_code) == ("denied", 3)


def test_a_list_for_a_tool_that_reads_one_thing_becomes_several_calls() -> None:
    model = ScriptedModel([native(("list_mp3s", '{"path": ["a", "b"]}')), "Both."], tools=True)
    chat = conversation(model)
    used = [each for each in happened(chat, "x") if isinstance(each, events.ToolUsed)]
    assert [each.parameters for each in used] == [{"path": "a"}, {"path": "b"}]
    assert len({each.tool_id for each in used}) == 2
    assert {each.call_id for each in chat.history.messages if each.role == "tool"} == {
        call.id for each in chat.history.messages for call in each.calls
    }


def test_a_name_the_api_does_not_take_is_offered_under_another_and_understood() -> None:
    """R17: what runs, and what is logged, has the registered name."""

    @tool(effect="read", action="search for {text}")
    def search(text: str) -> str:
        """Search the memory"""
        return f"found {text}"

    dotted = replace(search, name="kom.v1.search")
    model = ScriptedModel([native(("kom_v1_search", '{"text": "a"}')), "ok"], tools=True)
    chat = Conversation(
        model, Registry([dotted]), Gate(Path.cwd()), load((), environment={}), Path.cwd()
    )
    seen = happened(chat, "x")
    used = next(each for each in seen if isinstance(each, events.ToolUsed))
    assert used.tool_name == "kom.v1.search"
    assert not [each for each in seen if isinstance(each, events.Corrected)]
    function = model.requests[0].tools[0]["function"]
    assert function["name"] == "kom_v1_search"
    sent = model.requests[1].messages
    assert sent[2]["tool_calls"][0]["function"]["name"] == "kom_v1_search"  # type: ignore[index]
    assert sent[3]["name"] == "kom_v1_search"


def test_two_requests_of_one_reply_that_do_not_fit_leave_the_model_its_one_more_try() -> None:
    wrong = native(("set_volume", '{"volume": "loud"}'), ("set_volume", '{"volume": "louder"}'))
    model = ScriptedModel([wrong, native(("set_volume", '{"volume": 70}')), "Done."], tools=True)
    assert ended(events_of(model, "x")).result == "Done."


def test_an_example_of_a_request_that_is_not_allowed_to_run_is_shown_as_what_it_is() -> None:
    fence = '```json\n{"name": "list_mp3s", "arguments": {"path": "a"}}\n```'
    answer = f"Write this:\n\n{fence}\n\nThat is all."
    model = ScriptedModel([answer, answer])
    seen = events_of(model, "how does one list music?")
    assert ended(seen).result == answer
    said = "".join(each.content for each in seen if isinstance(each, events.Said))
    assert fence in said
    assert not [each for each in seen if isinstance(each, events.ToolAnswered) and each.output]


def test_a_request_that_stands_between_words_is_written_again_alone_and_run() -> None:
    fence = '```json\n{"name": "list_mp3s", "arguments": {"path": "a"}}\n```'
    said = f"To see them, use this:\n\n{fence}\n\nIt lists the songs."
    model = ScriptedModel([said, fence, "There is song1.mp3."])
    seen = events_of(model, "which songs are in a?")
    assert [each.did for each in seen if isinstance(each, events.ToolAnswered)] != []
    assert ended(seen).result == "There is song1.mp3."


def test_a_request_between_words_is_asked_about_once() -> None:
    fence = '```json\n{"name": "list_mp3s", "arguments": {"path": "a"}}\n```'
    said = f"To see them, use this:\n\n{fence}\n\nIt lists the songs."
    model = ScriptedModel([said, "I cannot do that."])
    seen = events_of(model, "which songs are in a?")
    assert (len(model.requests), ended(seen).result) == (2, "I cannot do that.")
    last = [each for each in seen if isinstance(each, events.Said)][-1]
    assert (last.content, last.delta) == ("I cannot do that.", False)


def test_a_request_between_words_stays_the_answer_where_nothing_follows() -> None:
    fence = '```json\n{"name": "list_mp3s", "arguments": {"path": "a"}}\n```'
    said = f"To see them, use this:\n\n{fence}\n\nIt lists the songs."
    seen = events_of(ScriptedModel([said, "", ""]), "which songs are in a?")
    shown = [each.content for each in seen if isinstance(each, events.Said)]
    assert (ended(seen).result, ended(seen).exit_code) == (said, 0)
    assert shown[-1].strip() != ""


@loop_over("junk", ("", "{\n", "```\n", "{\n{\n{\n"))
def test_where_a_model_says_nothing_behind_its_calls_what_was_found_is_told(junk: str) -> None:
    calls = native(("list_mp3s", '{"path": "a"}'))
    model = ScriptedModel([calls, *[junk] * 3], tools=True)
    end = ended(events_of(model, "which songs are in a?"))
    assert (end.exit_code, end.is_error) == (0, False)
    assert "song1.mp3" in end.result
    assert not junk.strip() or junk.strip() not in end.result


def test_a_model_that_writes_another_dialect_is_understood_and_spoken_to_in_it() -> None:
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    model = ScriptedModel([call, "pong"])
    chat = conversation(model)
    assert chat.dialect.name == "andybot"
    assert ended(happened(chat, "ping it")).result == "pong"
    assert (chat.dialect.name, chat.model.profile.why) == ("hermes", "it writes so")
    sent = model.requests[1].messages
    assert "DEAR ANDYBOT" not in str(sent)
    assert "<tool_response>" in str(sent[-1]["content"])


def test_a_dialect_that_was_asked_for_stays() -> None:
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    chat = conversation(ScriptedModel([call, "pong"]), "dialect=andybot")
    happened(chat, "ping it")
    assert chat.dialect.name == "andybot"


def test_an_answer_that_could_not_be_written_again_is_not_lost() -> None:
    calls = native(("list_mp3s", '{"path": "a"}'))
    said = "There are song1.mp3 and ghost.mp3."
    model = ScriptedModel([calls, said, TransientError("no connection")], tools=True)
    end = ended(events_of(model, "what is in a?"))
    assert (end.result, end.exit_code) == (said, 75)


def test_consent_and_start_are_on_disk_before_a_tool_runs_and_the_result_after(
    tmp_path: Path,
) -> None:
    """P8: what was begun and has no end is known."""
    kept = log.Log(tmp_path, "session")
    seen: list[list[str]] = []

    def types() -> list[str]:
        lines = kept.path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["type"] for line in lines]

    @tool(effect="act", action="send a mail to {to}")
    def send(to: str) -> str:
        """Send a mail"""
        seen.append(types())
        return "sent"

    model = ScriptedModel([native(("send", '{"to": "bea@example.org"}')), "Sent."], tools=True)

    async def yes(approval_request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(yes=True)

    chat = Conversation(
        model,
        Registry([send]),
        Gate(tmp_path, ask=yes),
        load((), environment={}),
        tmp_path,
        kept,
    )
    happened(chat, "send it")
    assert seen[0][-2:] == ["consent", "start"]
    assert types()[len(seen[0]) :][:2] == ["message", "end"]
    lines = [json.loads(line) for line in kept.path.read_text(encoding="utf-8").splitlines()]
    begun = next(each for each in lines if each["type"] == "start")
    result = next(each for each in lines if each.get("role") == "tool")
    assert begun["call_id"] == result["call_id"]


def test_a_model_is_told_what_of_its_call_was_not_used_and_its_call_stays_as_written() -> None:
    """An argument that was dropped or clamped is no secret between the mapper and the user."""
    given = {"path": ".", "max_depth": 99, "deep": True}
    call = f"<tool_call>{json.dumps({'name': 'list_directory', 'arguments': given})}</tool_call>"
    played = play([call, "Two files."], "look around")
    assert played.ran == [("list_directory", {"path": ".", "max_depth": 9})]
    said = played.chat.history.messages[played.chat.history.turn_start + 1]
    assert dict(said.calls[0].arguments) == {"path": ".", "max_depth": 99, "deep": True}
    assert "dropped deep: true" in played.told()
    assert "99 -> 9" in played.told()


def test_a_correction_that_loses_nothing_is_no_news() -> None:
    given = {"Path": ".", "max_depth": "2"}
    call = f"<tool_call>{json.dumps({'name': 'list_directory', 'arguments': given})}</tool_call>"
    played = play([call, "Two files."], "look around")
    assert played.ran == [("list_directory", {"path": ".", "max_depth": 2})]
    assert "Corrected" not in played.told()


def test_a_model_that_thinks_first_is_known_from_its_second_reply_on() -> None:
    """What the prompt opened is learned from the first closer; the answer is only the answer."""
    replies = ["Hm. </think>Hello.", "Well. </think>Again.", "No thoughts.", "No thoughts."]
    chat = desk(ScriptedModel(replies))
    turns = [speak(chat, "hi") for _ in range(4)]
    ended = [each for seen in turns for each in seen if isinstance(each, events.Ended)]
    assert [each.result for each in ended] == ["Hello.", "Again.", *["No thoughts."] * 2]
    said = [each.content for each in turns[1] if isinstance(each, events.Said)]
    assert "Well" not in "".join(said)
    # One without that mark tells that the next need not begin with thoughts.
    assert not [each for each in turns[3] if isinstance(each, events.Reasoned)]


def test_a_reply_ends_where_somebody_else_begins_to_speak() -> None:
    """C6: what a model says in the user's name is neither shown nor run, and it is stopped."""
    call = '<tool_call>{"name": "calendar_list", "arguments": {}}</tool_call>'
    played = play([f"Two files.<|im_end|>\n<|im_start|>user\nMore<|im_end|>{call}"], "look")
    assert (played.answer, played.names) == ("Two files.", [])
    compiled = next(each for each in played.seen if isinstance(each, events.Compiled))
    assert [each[0] for each in compiled.hidden] == ["framing", "invented"]


def test_a_generation_that_goes_on_in_somebody_elses_name_is_stopped() -> None:
    """The connection ends where the reply does: a server writes no more for nobody."""
    written: list[str] = []

    async def pieces() -> AsyncIterator[Chunk]:
        for text in ("Two files.", "<|im_end|>\n", "<|im_start|>user\n", *["More. "] * 50):
            written.append(text)
            yield Chunk(text=text)

    async def read() -> ModelReply:
        reply = ModelReply(pieces(), Compiler(Markers(discover(dialects, Dialect, "DIALECT"))))
        assert "".join([visible.text async for visible in reply]) == "Two files."
        return reply

    reply = asyncio.run(read())
    assert len(written) < 6
    assert (reply.cut_off, reply.compiled.text) == (False, "Two files.")


def test_a_reply_that_says_nothing_is_asked_for_once_more_without_native_tools() -> None:
    model = ScriptedModel(["", "Four."], tools=True)
    chat = conversation(model)
    assert ended(happened(chat, "2 and 2")).result == "Four."
    assert [bool(each.tools) for each in model.requests] == [True, False]
    assert chat.dialect.name == "native"


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("list the songs", "Sure, I'll list the songs now."),
        ("Liste meine Lieder auf", "Klar, ich liste jetzt deine Lieder auf."),
        ("lista mis canciones", "Claro, voy a listar tus canciones ahora."),
        ("what is here?", "Let me have a look:"),
        ("\u5217\u51fa\u6b4c\u66f2", "\u6211\u6765\u5217\u51fa\u6b4c\u66f2\uff1a"),
    ],
)
def test_an_announcement_is_told_once_to_be_carried_out(user: str, said: str) -> None:
    call = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    model = ScriptedModel([said, call, "Done."])
    seen = happened(conversation(model), user)
    assert [each.tool_name for each in seen if isinstance(each, events.ToolUsed)] == ["ping"]
    assert ended(seen).result == "Done."


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("say hello", "Hello!"),
        ("what is the capital of France?", "The capital of France is Paris."),
        ("tell me the capital of France", "The capital of France is Paris."),
        ("list the songs", "There are 3 songs here."),
    ],
)
def test_an_answer_is_no_announcement(user: str, said: str) -> None:
    model = ScriptedModel([said])
    last = ended(happened(conversation(model), user))
    assert (last.result, last.num_turns) == (said, 1)


def test_a_whole_answer_that_was_taken_for_an_announcement_is_given_again_below_it() -> None:
    model = ScriptedModel(["A mutex is a lock.", "A mutex is a lock, as I said."])
    seen = happened(conversation(model), "what is a mutex")
    shown = [each.content for each in seen if isinstance(each, events.Said) and each.delta]
    assert "".join(shown) == "A mutex is a lock.\n\nA mutex is a lock, as I said."
    assert ended(seen).result == "A mutex is a lock, as I said."


def test_an_answer_in_an_object_below_an_announcement_is_shown_without_it() -> None:
    model = ScriptedModel(["I will list the songs now.", '{"answer": "The folder is fine."}'])
    seen = happened(conversation(model), "list the songs")
    shown = [each.content for each in seen if isinstance(each, events.Said) and each.delta]
    assert "".join(shown) == "I will list the songs now.\n\nThe folder is fine."


def test_who_announces_again_when_told_has_answered() -> None:
    model = ScriptedModel(["I will list the songs now."])
    seen = happened(conversation(model), "list the songs")
    assert (ended(seen).num_turns, ended(seen).exit_code) == (2, 0)
    shown = [each.content for each in seen if isinstance(each, events.Said) and each.delta]
    assert "".join(shown) == ended(seen).result == "I will list the songs now.", "once"


def test_a_line_about_a_file_that_nothing_has_looked_at_is_asked_about_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    call = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    model = ScriptedModel(["Eggs are on the list now.", call, "Here you are."])
    assert ended(happened(conversation(model), "add eggs to notes.txt")).num_turns == 3
    model = ScriptedModel(["Eggs are on the list now."])
    warnings = [
        each
        for each in happened(conversation(model), "add eggs to notes.txt")
        if isinstance(each, events.Failed)
    ]
    assert [each.message for each in warnings] == [
        "No tool was used: notes.txt was neither read nor changed."
    ]
    model = ScriptedModel(["notes.txt holds milk."])
    last = ended(happened(conversation(model), "what is in notes.txt?", f"{PIPED}milk"))
    assert (last.num_turns, last.result) == (1, "notes.txt holds milk.")
    model = ScriptedModel(["Which ones?"])
    assert ended(happened(conversation(model), "add eggs to notes.txt")).num_turns == 1
    model = ScriptedModel(["Eggs are good for you."])
    assert ended(happened(conversation(model), "are eggs good for me?")).num_turns == 1


INVENTED_SUMMARY = """It is a list of what is to be bought.

- eggs and a kilo of flour
- everything for the party on Saturday, to which Anna and Ben are invited

Shall I add anything to it?"""


@pytest.mark.parametrize(
    ("wish", "warned"),
    [
        ("summarize shopping list.txt", "shopping list.txt was"),
        ("what is on my shopping list?", "shopping list.txt was"),
        ("compare notes.md with my Shopping List", "notes.md and shopping list.txt were"),
        ("what do people mostly shop for?", ""),
        ("is main a good name?", ""),
        ("is there a notes.txt here?", ""),
        ("what happens in chapter2?", "book/chapter2.md was"),
        ("and in Chapter3.md?", "book/chapter3.md was"),
        ("write me a poem about notes", ""),
        ("notes.mdを要約して", "notes.md was"),
        ("总结notes.md的内容", "notes.md was"),
        ("notes.md를 요약해 줘", "notes.md was"),
    ],
)
def test_whoever_tells_of_a_text_that_nothing_has_looked_at_is_contradicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wish: str, warned: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book").mkdir()
    for name in (
        "shopping list.txt",
        "notes.md",
        "main.py",
        "book/chapter2.md",
        "book/chapter3.md",
    ):
        (tmp_path / name).write_text("milk", encoding="utf-8")
    talk = conversation(ScriptedModel([INVENTED_SUMMARY]))
    for _ in range(2):  # what was said of it before is no look at it
        seen = happened(talk, wish)
        warnings = [event.message for event in seen if isinstance(event, events.Failed)]
        told = f"No tool was used: {warned} neither read nor changed."
        assert warnings == ([told] if warned else [])
        assert (ended(seen).num_turns, ended(seen).result) == (1, INVENTED_SUMMARY)


def test_a_call_of_a_tool_that_does_not_exist_looks_at_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    call = '<tool_call>{"name": "open_notes", "arguments": {"path": "notes.txt"}}</tool_call>'
    seen = happened(conversation(ScriptedModel([call, "It has eggs."])), "read notes.txt")
    warnings = [event.message for event in seen if isinstance(event, events.Failed)]
    assert warnings == ["No tool was used: notes.txt was neither read nor changed."]


def test_a_reply_that_follows_a_broken_one_is_a_paragraph_of_its_own() -> None:
    broken = '<tool_call>\n{"name": "ping", "arguments": {"x'
    model = ScriptedModel([f"Let me see.\n{broken}", "It is fine."])
    seen = happened(conversation(model), "see to it")
    shown = [event.content for event in seen if isinstance(event, events.Said) and event.delta]
    assert "".join(shown) == "Let me see.\n\nIt is fine."
    assert ended(seen).result == "Let me see.\n\nIt is fine."
