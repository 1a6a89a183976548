"""The conversation plan: one test for each demand C1 to C35 of its document."""

import asyncio
import io
import json
import stat
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import BaseModel
from rich.console import Console

from andy_cli import events
from andy_cli.agent.grounding.audit import find_unsupported_claims
from andy_cli.agent.grounding.evidence import Evidence
from andy_cli.agent.model.model_session import ModelProfile
from andy_cli.agent.prompt.system_prompt import render_system_prompt
from andy_cli.agent.sanitizer import Sanitizer, find_leaks
from andy_cli.agent.turn import turn
from andy_cli.compiler.dialects import native as native_dialect
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.turn_view import TurnView
from andy_cli.frontends.terminal import markdown
from andy_cli.messages import CallDelta, Chunk, Message, Request, ToolCall
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, ToolError, tool
from tests import spec_table
from tests.cases import loop_over
from tests.fakes import ScriptedModel, native
from tests.model_server import ModelServer, called, event, status, streamed
from tests.scripted_tools import DESK, Played, Replies, client, desk, play, speak
from tests.shell import andy
from tests.terminal import without_escapes

LISTING = '[{"fileName": "notes.md", "size": 120}, {"fileName": "plan.txt", "size": 64}]'
KEY = "0ELPMAXE0ELPMAXE0ELPMAXEzz"
ANSWER = "There are notes.md and plan.txt."
CALL = '{"name": "list_directory", "arguments": {"path": "."}}'
HERMES = f"<tool_call>\n{CALL}\n</tool_call>"
SESSIONS: dict[str, Replies] = {
    "native": [native(("list_directory", '{"path": "."}')), ANSWER],
    "hermes": [f"Let me see.\n{HERMES}", ANSWER],
    "andybot": ["DEAR ANDYBOT, LIST_DIRECTORY", ".", "1", ANSWER],
    "action": [
        '{"thought": "use list_directory", "action": {"tool": "list_directory", "args": {}}}',
        json.dumps({"final": {"content": ANSWER}}),
    ],
    "at_tool": ['@tool list_directory {"path": "."}', ANSWER],
    "envelope": [
        '{"toolCalls": [{"type": "list_directory", "id": "1", "parameters": {}}]}',
        json.dumps(
            {"toolCalls": [{"type": "send_chat", "parameters": {"content": ANSWER}}]}
        ).replace("}]}", '}, {"type": "end_turn"}]}'),
    ],
}
PLUMBING = (
    *(each.name for each in DESK),
    *("LIST_DIRECTORY", "tool_call", "toolCalls", "@tool", "ANDYBOT", '{"', "max_depth", "thought"),
)


def look(dialect: str = "native", *settings: str) -> Played:
    name = "" if dialect == "native" else f"dialect={dialect}"
    tools = dialect == "native"
    return play(SESSIONS[dialect], "what is here?", *filter(None, [name, *settings]), tools=tools)


@pytest.mark.parametrize("dialect", SESSIONS)
def test_C1_nothing_that_is_shown_mentions_a_tool(dialect: str) -> None:
    played = look(dialect)
    assert played.ran[0][0] == "list_directory"
    assert played.answer == ANSWER
    assert [each for each in PLUMBING if each in played.feed] == []


@pytest.mark.parametrize("dialect", SESSIONS)
def test_C2_what_no_result_supports_is_found_in_every_dialect(dialect: str) -> None:
    replies = [*SESSIONS[dialect]]
    replies[-1] = str(replies[-1]).replace("plan.txt", "ghost.txt")
    played = play(
        replies, "what is here?", *filter(None, [f"dialect={dialect}"] * (dialect != "native")),
        tools=dialect == "native",
    )  # fmt: skip
    assert played.ended.grounding["unsupported"] == ["ghost.txt"]
    assert "ghost.txt (not verified)" in played.answer


def test_C3_a_task_is_clarified_planned_carried_out_and_concluded() -> None:
    model = ScriptedModel(
        [
            "Which folder do you mean, this one or your home?",
            native(("list_directory", "{}"), text="I will look at the files, then sum them up. "),
            f"{ANSWER} Shall I read one of them?",
        ],
        tools=True,
    )
    chat = desk(model)
    first = Played(speak(chat, "sort out my folder"), chat, model)
    assert first.answer == "Which folder do you mean, this one or your home?"
    assert first.used == []
    second = Played(speak(chat, "this one"), chat, model)
    assert second.said[0].startswith("I will look at the files, then sum them up.")
    assert second.names == ["list_directory"]
    assert second.answer.endswith("Shall I read one of them?")
    assert [each for each in PLUMBING if each in first.feed + second.feed] == []


def rules() -> str:
    return render_system_prompt(
        native_dialect.DIALECT, DESK.functions, Path("/x"), date(2026, 1, 2)
    )


def test_C4_the_rules_have_no_tool_results_and_no_talk_of_protocols() -> None:
    for word in ("[Tool", "Tool Results", "protocol", "JSON", "<tool", "ANDYBOT", "function", "@"):
        assert word not in rules()
    names = [each.name for each in DESK if "_" in each.name]
    assert [each for each in names if each in rules()] == []


@pytest.mark.parametrize(
    "rule",
    [
        ("never mention tools", "tool names", "carried out"),
        ("only", "files", "results"),
        ("ambiguous", "one or two", "questions", "what you will do"),
        ("plan", "act", "conclude", "brief"),
    ],
    ids=" ".join,
)
def test_C5_the_four_rules_are_there(rule: tuple[str, ...]) -> None:
    (paragraph,) = [
        line for line in rules().lower().splitlines() if all(each in line for each in rule)
    ]
    assert paragraph


LEAKY = (
    'There are two.\n[Tool Request] {"tool": "list_directory", "parameters": {}}\n',
    f"{CALL}\nThere are two.",
    "There are two.\n<tool_response>\n</tool_response>",
    "I'll call list_directory now. There are two.",
    "There are two.<|im_end|>",
)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("text", LEAKY)
def test_C6_no_event_holds_what_has_to_be_taken_out(text: str, size: int) -> None:
    """An answer of a native model; what is read as a call is done, and then there is an answer."""
    model = ScriptedModel([text, "There are two."], tools=True, size=size)
    chat = desk(model)
    played = Played(speak(chat, "count the files"), chat, model)
    shown = "".join(played.said)
    assert "There are two." in shown
    assert [each for each in ("list_directory", "[Tool", "<", "{") if each in shown] == []


def enveloped_answer(text: str) -> str:
    said = {"type": "send_chat", "parameters": {"content": text}}
    return json.dumps({"toolCalls": [said, {"type": "end_turn"}]})


@pytest.mark.parametrize("text", LEAKY)
def test_C6_what_is_said_by_a_call_is_looked_at_as_well(text: str) -> None:
    shown = play([enveloped_answer(text)], "count the files", "dialect=envelope").answer
    assert "There are two." in shown
    assert [each for each in ("list_directory", "[Tool", "<", "{") if each in shown] == []


def test_C8_who_asks_about_tools_is_answered_in_the_envelope_too() -> None:
    asked = "Gladly. I'll call list_directory for that. It lists files."
    played = play([enveloped_answer(asked)], "which tools do you use?", "dialect=envelope")
    assert played.answer == asked


@pytest.mark.parametrize(
    "plumbing",
    [
        '[Tool Request] {"tool": "list_directory", "parameters": {"path": "."}}',
        '[Tool Results]\n{"files": [\n"a"\n]}',
        "<tool_call>\n</tool_call>",
        "<function_calls></function_calls>",
    ],
)
def test_C7_markers_of_protocols_are_taken_out(plumbing: str) -> None:
    chat = desk(ScriptedModel(["-"], tools=True))
    sanitizer = Sanitizer(chat.model.profile.markers, chat.model.profile.tools)
    shown = sanitizer.feed(f"Before.\n\n{plumbing}\n\nAfter.") + sanitizer.finish()
    assert shown.split() == ["Before.", "After."]


def test_C8_a_tool_is_told_of_by_its_title_in_any_language() -> None:
    told = "Laut list_directory sind es zwei.\n[tool: list_directory]\n(list_directory)"
    answer = play([told], "count", tools=True).answer
    assert answer == "Laut list directory sind es zwei.\n(List directory)"


def test_C8_a_line_that_only_looks_so_stays() -> None:
    """R10: it must name a tool, stand outside code, and nobody may have asked."""
    kept = "A hammer is a tool. read_file.py calls a function.\n`list_directory` is its name."
    assert play([kept], "explain", tools=True).answer == kept
    asked = "Gladly. I'll call list_directory for that. It lists files."
    titled = "Gladly. I'll call list directory for that. It lists files."
    assert play([asked], "count", tools=True).answer == titled
    assert play([asked], "which tools do you use?", tools=True).answer == asked


NORMAL = """Here:

```json
{"name": "list_directory", "arguments": {"path": "."}}
```

    indented { code

| a | b |
|---|---|
| 1 | `{"tool": "x"}` |

> quoted <tool_call>

Output: 42, You\u200b, {"name": "Bea", "age": 41}"""


def test_C9_code_and_normal_content_come_out_byte_for_byte() -> None:
    chat = desk(ScriptedModel(["-"], tools=True))
    for size in (1, 7, 10_000):
        sanitizer = Sanitizer(chat.model.profile.markers, chat.model.profile.tools)
        parts = [sanitizer.feed(NORMAL[at : at + size]) for at in range(0, len(NORMAL), size)]
        assert "".join(parts) + sanitizer.finish() == NORMAL


class Card(BaseModel):
    owner_name: str


@dataclass(frozen=True)
class Point:
    left_edge: int


class Pair(NamedTuple):
    first_one: int


def result_of(returned: object) -> str:
    """What a native model is told of what a tool returned."""

    def found() -> object:
        """Find"""
        if isinstance(returned, Exception):
            raise returned
        return returned

    made = tool(effect="read", action="find")(found)
    model = ScriptedModel([native(("found", "{}")), "Done."], tools=True)
    speak(desk(model, registry=Registry([made])), "find")
    return str(model.requests[1].messages[-1]["content"])


def test_C10_data_comes_first_as_camel_case_json() -> None:
    nested = {"first_item": [{"file_name": "a_b.txt", "is_big": True}], "n": 1.5, "é": None}
    told = {"firstItem": [{"fileName": "a_b.txt", "isBig": True}], "n": 1.5, "é": None}
    assert json.loads(result_of(Outcome(nested, "found it"))) == told
    assert "é" in result_of(nested)


def test_C10_then_the_output_as_it_is_then_the_error() -> None:
    assert result_of("  plain\noutput ") == "  plain\noutput "
    assert result_of(ToolError("There is no such thing.")) == "There is no such thing."
    assert "out of order" in result_of(RuntimeError("out of order"))


def test_C10_without_data_the_message_is_told() -> None:
    assert result_of(Outcome(None, "paused the music")) == "paused the music"


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (Card(owner_name="Bea"), {"ownerName": "Bea"}),
        (Point(left_edge=3), {"leftEdge": 3}),
        (Pair(first_one=1), {"firstOne": 1}),
    ],
    ids=str,
)
def test_C10_records_of_every_kind_are_json(record: object, told: object) -> None:
    assert json.loads(result_of([record])) == [told]


@pytest.mark.parametrize("key", ["song_one.mp3", "/home/bea/my_notes", "_id", "two_words here"])
def test_C10_keys_that_are_data_stay_as_they_are(key: str) -> None:
    assert json.loads(result_of({key: 1})) == {key: 1}


def test_C11_a_result_has_the_role_tool_and_the_id_of_its_call() -> None:
    calls = [
        Chunk(call=CallDelta(0, "idA", "list_directory", "{}")),
        Chunk(call=CallDelta(1, "idB", "gmail_list", "{}")),
        Chunk(finish="tool_calls"),
    ]
    played = play([calls, "Done."], tools=True)
    told = [each for each in played.sent(1) if each["role"] == "tool"]
    assert [each["tool_call_id"] for each in told] == ["idA", "idB"]
    assert [each.call_id for each in played.chat.history.messages if each.role == "tool"] == [
        "idA",
        "idB",
    ]


def test_C12_what_is_shown_of_a_step_is_not_what_the_model_is_told() -> None:
    played = look()
    assert [each.did for each in played.results] == ["listed 2 files in ."]
    assert played.told(1) == LISTING
    assert "listed 2 files" not in str(played.model.requests)
    assert "fileName" not in played.feed


def test_C13_every_request_has_the_functions_of_the_registry() -> None:
    played = look()
    for request in played.model.requests:
        offered = {each["function"]["name"]: each["function"] for each in request.tools}
        expected = [each for each in DESK if each.effect != "protocol"]
        assert len(offered) == len(expected)
        for each in expected:
            function = offered[each.name.replace(".", "_")]
            assert function["description"] == each.description
            assert function["parameters"]["required"] == each.schema["required"]


def test_C14_one_step_is_over_before_the_next_begins() -> None:
    running: list[str] = []
    overlaps: list[str] = []

    @tool(effect="read", action="step {name}")
    def step(name: str) -> str:
        """Do a step"""
        overlaps.extend(running)
        running.append(name)
        for _ in range(20_000):
            pass
        running.remove(name)
        return name

    calls = native(*[("step", f'{{"name": "{each}"}}') for each in "abcd"])
    model = ScriptedModel([calls, "Done."], tools=True)
    chat = desk(model, registry=Registry([step]))
    seen = speak(chat, "go")
    kinds = [type(each) for each in seen if isinstance(each, events.ToolUsed | events.ToolAnswered)]
    assert kinds == [events.ToolUsed, events.ToolAnswered] * 4
    assert [each.output for each in seen if isinstance(each, events.ToolAnswered)] == [*"abcd"]
    assert overlaps == []
    assert len(model.requests) == 2


def test_C15_wrong_names_and_values_are_corrected_and_the_call_is_made_once() -> None:
    wrong = native(("listDirectory", '{"directory": ".", "maxDepth": "2"}'))
    played = play([wrong, ANSWER], tools=True)
    assert played.ran == [("list_directory", {"path": ".", "max_depth": 2})]
    assert len(played.model.requests) == 2
    assert any(isinstance(each, events.Corrected) for each in played.seen)


def test_C16_what_fails_twice_is_asked_of_the_user_without_plumbing() -> None:
    wrong = native(("gmail_send", '{"to": "bea@example.org", "subject": "Hi"}'))
    played = play([wrong, wrong, "never said"], "write to Bea", tools=True)
    assert played.ran == []
    assert len(played.model.requests) == 2
    assert '"body"' in played.told(1)
    assert played.answer.endswith("?")
    assert len(played.answer) < 200
    assert [each for each in PLUMBING if each in played.feed] == []
    assert played.ended.exit_code == 1


UNFIT = {
    "hermes": '<tool_call>{"name": "gmail_send", "arguments": {"to": "bea"}}</tool_call>',
    "action": '{"action": {"tool": "gmail_send", "args": {"to": "bea"}}}',
    "at_tool": '@tool gmail_send {"to": "bea"}',
    "envelope": '{"toolCalls": [{"type": "gmail_send", "parameters": {"to": "bea"}}]}',
}


@pytest.mark.parametrize("dialect", UNFIT)
def test_C16_it_is_the_same_in_every_dialect(dialect: str) -> None:
    played = play([UNFIT[dialect]] * 3, "write to Bea", f"dialect={dialect}")
    assert (played.ran, len(played.model.requests)) == ([], 2)
    assert "subject" in played.told(1)
    assert played.answer.endswith("?")
    assert [each for each in (*PLUMBING, "gmail_send") if each in played.feed] == []


def test_C17_a_switch_of_models_makes_everything_that_reads_it_anew() -> None:
    chat = desk(ScriptedModel(["hi"], tools=True))
    before: ModelProfile = chat.model.profile
    chat.switch_model(ScriptedModel(["hi"], name="cerebras:qwen-2.5-32b"))
    assert chat.model.profile is not before
    assert chat.model.profile.markers is not before.markers
    assert chat.model.profile.make_compiler(False, False) is not before.make_compiler(False, False)
    assert chat.model.profile.client.name == "cerebras:qwen-2.5-32b"


@loop_over("provider", ["cerebras", "openrouter", "ollama", "vllm", "x", ""])
@loop_over(
    ("model", "dialect"),
    [
        ("qwen-2.5-32b", "hermes"),
        ("Qwen/Qwen2.5-7B-Instruct-AWQ", "hermes"),
        ("qwen2.5:7b-instruct-q4_K_M", "hermes"),
        ("qwen3-32b", "hermes"),
        ("qwen/qwen3-coder", "qwen3_coder"),
        ("QWEN3_Coder-480B-A35B-Instruct", "qwen3_coder"),
    ],
)
def test_C18_qwen_is_read_as_qwen_whoever_serves_it(
    provider: str, model: str, dialect: str
) -> None:
    chat = desk(ScriptedModel([HERMES, ANSWER], name=f"{provider}:{model}"))
    assert chat.dialect.name == dialect
    assert ("list_directory", {"path": "."}) in Played(
        speak(chat, "look"), chat, ScriptedModel([])
    ).ran


def test_C19_a_question_and_a_plan_reach_the_user_as_they_are() -> None:
    asked = "Do you mean the inbox or all mail? I would list it first, then read the newest."
    played = play([asked, "never said"], "sort my mail", tools=True)
    assert (played.answer, played.used, len(played.model.requests)) == (asked, [], 1)
    assert "one or two short questions first" in rules()


def test_C20_what_was_found_is_said_and_the_next_step_is_offered() -> None:
    found = f"{ANSWER} Would you like me to open plan.txt next?"
    played = play([*SESSIONS["native"][:1], found], "what is here?", tools=True)
    assert played.answer == found
    assert played.ended.grounding["status"] == "ok"
    assert "offer the next step" in rules()


def test_C21_a_call_that_worked_leaves_no_id_and_no_marker_in_the_feed() -> None:
    for dialect in SESSIONS:
        played = look(dialect)
        ids = [each.tool_id for each in played.used]
        assert len(ids) == 1
        assert [each for each in (*PLUMBING, *ids) if len(each) > 1 and each in played.feed] == []


def test_C22_content_with_lines_of_protocol_is_shown_without_them() -> None:
    text = f'One.\n[Tool Results]\n{{"files": []}}\n\nTwo.\n\n```py\nx = {{}}\n```\n{HERMES}'
    played = play([text, "Three."], tools=True)
    shown = "".join(played.said)
    assert "One." in shown
    assert "Two." in shown
    assert "```py\nx = {}\n```" in shown
    assert "Tool Results" not in shown
    assert "tool_call" not in shown


def test_C23_a_listing_is_told_with_the_files_that_are_in_it_and_no_others() -> None:
    assert look().ended.grounding["status"] == "ok"
    more = "There are notes.md, plan.txt and budget.xlsx."
    played = play([*SESSIONS["native"][:1], more], "what is here?", tools=True)
    assert played.ended.grounding["unsupported"] == ["budget.xlsx"]
    asked_again = played.told(2)
    assert "budget.xlsx" in asked_again
    assert "notes.md" not in asked_again


def test_C24_the_tool_message_is_raw_json_and_no_prose() -> None:
    told = [each for each in look().sent(1) if each["role"] == "tool"]
    assert [each["content"] for each in told] == [LISTING]


def test_C25_a_depth_of_0_is_corrected_once_and_the_answer_is_grounded() -> None:
    calls = native(("list_directory", '{"path": ".", "max_depth": 0}'))
    played = play([calls, ANSWER], "what is here?", tools=True)
    assert played.ran == [("list_directory", {"path": ".", "max_depth": 1})]
    assert [type(each) for each in played.seen].count(events.Corrected) == 1
    assert played.answer == ANSWER
    assert played.ended.grounding["status"] == "ok"


def test_C25_nothing_is_guessed_for_a_tool_with_an_effect() -> None:
    """R18: a value for a tool that changes something is never guessed."""
    for wrong in ('{"path": ["a", "b"]}', '{"path": 5, "depth": 1}', "{}"):
        played = play([native(("delete_file", wrong)), "Which file?"], tools=True)
        assert played.ran == []


def test_C26_after_a_switch_of_providers_calls_are_still_found() -> None:
    first = ScriptedModel(SESSIONS["native"], name="openai:gpt", tools=True)
    chat = desk(first)
    speak(chat, "what is here?")
    second = ScriptedModel([HERMES, "The same."], name="cerebras:qwen-2.5-32b")
    before = chat.model.profile.markers
    chat.switch_model(second)
    played = Played(speak(chat, "and now?"), chat, second)
    assert chat.model.profile.markers is not before
    assert played.ran == [("list_directory", {"path": "."})]
    assert "<tool_call>" in str(second.requests[0].messages[0]["content"])


@pytest.mark.parametrize("tools", [True, False])
def test_case_45_what_an_interrupted_session_left_open_is_repaired(tools: bool) -> None:
    model = ScriptedModel(["Here I am."], name="x:qwen2.5", tools=tools)
    chat = desk(model)
    orphan = ToolCall("lost", "gmail_list", {})
    chat.history.messages += [
        Message("user", "what is new?"),
        Message("tool", "nobody asked for this", call_id="stray", name="gmail_list"),
        Message("assistant", "", (orphan, ToolCall("kept", "gmail_list", {}))),
        Message("tool", "[]", call_id="kept", name="gmail_list"),
    ]
    speak(chat, "are you there?")
    sent = model.requests[0].messages
    assert "nobody asked for this" not in str(sent)
    assert str(sent).count("interrupted") == 1
    results = [each["tool_call_id"] for each in sent if each["role"] == "tool"]
    assert sorted(map(str, results)) == (["kept", "lost"] if tools else [])


def test_C27_a_streamed_call_is_acted_on_when_the_stream_is_complete() -> None:
    """The server goes on talking after the call: nothing has run before its last byte is read."""
    ran: list[int] = []
    streamed_so_far = [0]

    @tool(effect="read", action="look")
    def look_up() -> list[str]:
        """Look"""
        ran.append(streamed_so_far[0])
        return ["notes.md"]

    class Slow(ScriptedModel):
        async def reply(self, request: Request) -> AsyncIterator[Chunk]:
            async for chunk in super().reply(request):
                yield chunk
                streamed_so_far[0] += 1
                await asyncio.sleep(0)

    hermes = '<tool_call>{"name": "look_up", "arguments": {}}</tool_call>'
    for said in (
        native(("look_up", "{}")),
        [Chunk(hermes), *[Chunk(" ")] * 9, Chunk(finish="stop")],
    ):
        ran.clear()
        streamed_so_far[0] = 0
        model = Slow([said, "There is notes.md."], tools=True)
        seen = speak(desk(model, registry=Registry([look_up])), "look")
        assert ran == [len(said)]
        ended = seen[-1]
        assert isinstance(ended, events.Ended)
        assert (ended.result, ended.grounding["status"]) == ("There is notes.md.", "ok")


def test_C27_a_stream_that_breaks_in_a_call_runs_nothing() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "list_directory", "arguments": '{"pa'}}
    with ModelServer([[status(), event({"tool_calls": [call]}), {"op": "reset"}]]) as server:
        seen = asyncio.run(over_http(server.url, "look"))
    assert not [each for each in seen if isinstance(each, events.ToolUsed)]
    assert isinstance(seen[-1], events.Ended)
    assert seen[-1].exit_code != 0


async def over_http(url: str, user: str) -> list[Event]:
    model = client(url)
    try:
        return [each async for each in turn(desk(model), user)]
    finally:
        await model.close()


def test_C28_requests_and_replies_are_on_disk_and_never_shown(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    script = [called("list_mp3s", '{"path": "tests/music"}'), streamed("Three ", "songs.")]
    with ModelServer(script) as server:
        where = ("--base-url", server.url, "--model", "m")
        task = "what is in tests/music?"
        done = andy(
            *("run", *where, task), home=tmp_path, ANDY_DEBUG_RAW=str(folder), OPENAI_API_KEY=KEY
        )
    assert done.out == "Three songs.\n"
    (file,) = folder.glob("*.jsonl")
    text = file.read_text(encoding="utf-8")
    kinds = [json.loads(line)["kind"] for line in text.splitlines()]
    assert kinds.count("request") == 2
    assert kinds.count("end") == 2
    assert '\\"list_mp3s\\"' in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY not in text
    for line in ("chat/completions", "role", "data:", str(file.name)):
        assert line not in done.out + done.err


def test_C29_a_leak_in_the_finished_text_is_found() -> None:
    chat = desk(ScriptedModel(["-"], tools=True))
    text = f"There are two.\n{CALL}"
    assert find_leaks(text, chat.model.profile.markers, chat.model.profile.tools) == (CALL,)
    assert find_leaks(NORMAL, chat.model.profile.markers, chat.model.profile.tools) == ()


ASSEMBLED = (
    f"There are two.\n\n&lt;tool_call&gt;{CALL}&lt;/tool_call&gt;",
    f"There are two.\n\n\\<tool_call\\>{CALL}\\</tool_call\\>",
    "There are two.&lt;|im_end|&gt;",
)
"""What becomes plumbing only when it is rendered."""


@pytest.mark.parametrize("text", ASSEMBLED)
def test_C29_what_rendering_makes_of_an_answer_is_looked_at_once_more(text: str) -> None:
    played = play([text], "count", tools=True)
    file = io.StringIO()
    console = Console(file=file, width=200, theme=markdown.THEME, force_terminal=True)
    view = TurnView(console)
    view.audit = played.chat.sanitizer.clean
    for each in played.seen:
        view.show_event(each)
    view.close()
    rendered = without_escapes(file.getvalue().encode())
    assert "There are two." in rendered
    assert (
        find_leaks(rendered, played.chat.model.profile.markers, played.chat.model.profile.tools)
        == ()
    )


def test_C30_the_last_call_and_its_result_are_whole_however_long_the_conversation() -> None:
    rounds = 8

    @tool(effect="read", action="read part {at}")
    def part(at: int) -> list[dict[str, object]]:
        """Read a part"""
        return [{"name": f"part {at}, line {line}", "words": "x" * 40} for line in range(60)]

    calls = [native(("part", f'{{"at": {at}}}')) for at in range(rounds)]
    ids = [
        [Chunk(call=each.call._replace(id=f"c{at}")) if each.call else each for each in call]
        for at, call in enumerate(calls)
    ]
    model = ScriptedModel([*ids, "Done."], tools=True)
    chat = desk(model, "limits.context=3400", registry=Registry([part]))
    seen = speak(chat, "read all parts")
    assert any(isinstance(each, events.Compressed) for each in seen)
    for at, request in enumerate(model.requests[1:]):
        results = [each for each in request.messages if each["role"] == "tool"]
        asked = [call["id"] for each in request.messages for call in calls_of(each)]
        assert [each["tool_call_id"] for each in results] == asked
        last = json.loads(str(results[-1]["content"]))
        assert [each["name"] for each in last] == [f"part {at}, line {line}" for line in range(60)]
        assert [json.loads(str(each["content"])) for each in results]
        assert request.messages[1]["content"] == "read all parts"
    assert "shortened" in str(model.requests[-1].messages[3]["content"])


def calls_of(wire: object) -> Sequence[dict[str, str]]:
    assert isinstance(wire, dict)
    found: Sequence[dict[str, str]] = wire.get("tool_calls", [])
    return found


def test_C31_no_tool_is_mentioned_even_when_things_go_wrong() -> None:
    wrong = {
        "unknown": native(("list_dir_of_moon", "{}")),
        "broken": native(("list_directory", '{"path": "/nowhere"}')),
        "misfit": native(("gmail_send", "{}")),
        "never": native(("delete_file", '{"path": "a"}')),
    }
    for said in wrong.values():
        feed = play([said, "That did not work."], tools=True).feed
        assert [each for each in (*PLUMBING, "list_dir_of_moon") if each in feed] == []


def test_C31_a_tool_that_breaks_is_not_named() -> None:
    @tool(effect="read", action="look it up")
    def look_up_thing() -> str:
        """Look it up"""
        raise RuntimeError("out of order")

    model = ScriptedModel([native(("look_up_thing", "{}")), "It did not work."], tools=True)
    chat = desk(model, registry=Registry([look_up_thing]))
    played = Played(speak(chat, "look it up"), chat, model)
    assert "look it up" in played.feed
    assert "look_up_thing" not in played.feed


def test_C32_nothing_invented_is_left_unmarked() -> None:
    asked = "which mails are there?"
    calls = native(("gmail_list", "{}"))
    invented = "There are 'Your rent' and 'Bill from the dentist', both from bea@example.com."
    played = play([calls, invented], asked, tools=True)
    unsupported = str(played.ended.grounding["unsupported"])
    assert "bea@example.com" in unsupported
    assert "(not verified)" in played.answer
    right = "There are 'Your rent' and 'Choir on Friday'."
    assert play([calls, invented, right], asked, tools=True).answer == right


def test_C32_an_answer_that_is_written_again_is_shown_once_in_the_envelope_too() -> None:
    replies = [*SESSIONS["envelope"]]
    replies[-1] = str(replies[-1]).replace("plan.txt", "ghost.txt")
    played = play(replies, "what is here?", "dialect=envelope")
    assert [each.count("ghost.txt") for each in played.said] == [1, 1]


@pytest.mark.parametrize("month", ["May", "March", "June"])
def test_C32_an_honest_list_is_not_marked(month: str) -> None:
    result = json.dumps([{"subject": f"Rent for {month}"}, {"subject": "Choir on Friday"}])
    answer = f"Here they are:\n\n1. Rent for {month}\n2. Choir on Friday"
    assert find_unsupported_claims(answer, Evidence((result,), "what is in my mail?")) == ()


def test_C33_a_correction_is_made_once_and_never_after_a_tool_has_run() -> None:
    ran: list[str] = []

    @tool(effect="read", action="look")
    def look_up(name: str) -> str:
        """Look"""
        ran.append(name)
        raise ToolError("There is no such name.")

    calls = native(("look_up", '{"Name": "a"}'))
    model = ScriptedModel([calls, "It is not there."], tools=True)
    seen = speak(desk(model, registry=Registry([look_up])), "look")
    assert ran == ["a"]
    assert [type(each) for each in seen].count(events.Corrected) == 1


def test_C34_over_http_schemas_go_with_each_request_and_results_come_back_raw() -> None:
    script = [called("list_directory", '{"path": "."}'), streamed(ANSWER)]
    with ModelServer(script) as server:
        seen = asyncio.run(over_http(server.url, "what is here?"))
        bodies = [each.body for each in server.requests]
    assert len({json.dumps(each["tools"]) for each in bodies}) == 1
    assert len(bodies[0]["tools"]) == len(DESK) - 2
    assert bodies[1]["messages"][-1]["content"] == LISTING
    assert bodies[1]["messages"][-1]["role"] == "tool"
    assert isinstance(seen[-1], events.Ended)
    assert seen[-1].result == ANSWER


def test_C35_the_tests_the_document_names_are_there_and_expected_to_pass() -> None:
    named = [f"C{at}" for at in range(21, 28)]
    tests = {each.number: each for each in spec_table.proofs() if not each.expected_to_fail}
    assert [each for each in named if each not in tests] == []
