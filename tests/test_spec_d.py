"""The action protocol and its lines: one test for each demand of the document (D1 to D16)."""

import json

import pytest

from andy_cli import events
from andy_cli.agent.prompt.system_prompt import render_tool_prompt
from andy_cli.agent.turn_state import MAX_RESENDS, ONE_LINE_INSTEAD
from andy_cli.compiler.dialects.protocols import action
from andy_cli.compiler.dialects.protocols.action import THOUGHT
from tests.scripted_tools import DESK, MEMORY, Played, Replies, play, speak

ANSWER = '{"final": {"content": "Here you are."}}'
FENCED = "```json\n{}\n```"


def act(tool: str, thought: object = "needed", **args: object) -> str:
    return json.dumps({"thought": thought, "action": {"tool": tool, "args": args}})


def acting(*replies: str, strict: bool = False) -> Played:
    told: Replies = replies
    flag = f"dialect_strict={str(strict).lower()}"
    return play(told, "show me my mail", "dialect=action", flag)


def resent(played: Played) -> list[str]:
    """What the model was told of replies that break the protocol."""
    last = [str(each.messages[-1]["content"]) for each in played.model.requests[1:]]
    return [each for each in last if "Send exactly one JSON object" in each]


def test_D1_an_object_with_a_thought_and_an_action_is_carried_out() -> None:
    played = acting(act("gmail_list", maxResults=2), ANSWER)
    assert played.ran == [("gmail_list", {"maxResults": 2})]
    assert (played.answer, resent(played)) == ("Here you are.", [])


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("Here you are.", "Here you are."),
        ({"status": "ok", "n": 1}, '{\n  "status": "ok",\n  "n": 1\n}'),
        (["a", "b"], '[\n  "a",\n  "b"\n]'),
        (5, "5"),
    ],
    ids=str,
)
def test_D2_a_final_object_ends_the_turn_with_its_content(content: object, shown: str) -> None:
    """R13: a text as it is, anything else as readable JSON."""
    played = acting(json.dumps({"final": {"content": content}}))
    assert (played.answer, len(played.model.requests)) == (shown, 1)


def test_D3_the_result_comes_back_as_the_next_message() -> None:
    """R11: the history has role tool and the id; the dialect renders it for its model."""
    played = acting(act("gmail_list", maxResults=1), ANSWER)
    kept = played.chat.history.messages[2]
    assert (kept.role, kept.name, kept.call_id) == ("tool", "gmail_list", played.used[0].tool_id)
    assert json.loads(kept.content)[0]["subject"] == "Your rent"
    assert kept.content in played.told(1)


def test_D4_then_comes_another_action_or_the_end() -> None:
    played = acting(act("gmail_list"), act("gmail_read", messageId="m1"), ANSWER)
    assert played.names == ["gmail_list", "gmail_read"]
    assert played.answer == "Here you are."


BROKEN = (
    "Sure! " + act("gmail_list"),
    act("gmail_list") + " That should do.",
    act("gmail_list") + "\n" + act("gmail_list"),
    "Two mails.",
    '{"answer": "Two mails."}',
    '{"thought": "x"}',
    '{"action": {"tool": "gmail_list"}, "final": {"content": "x"}}',
    '{"action": {"args": {}}}',
    "[1, 2]",
    "",
)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("broken", BROKEN)
def test_D5_anything_else_is_rejected_and_neither_run_nor_shown(broken: str, strict: bool) -> None:
    played = acting(broken, ANSWER, strict=strict)
    assert played.used == []
    assert len(resent(played)) == 1
    assert (played.answer, "".join(played.said)) == ("Here you are.", "Here you are.")


TOLERATED = (
    FENCED.replace("{}", act("gmail_list")),
    '<think>Which one? {"a": 1}</think>\n' + act("gmail_list"),
    "\ufeff\r\n" + act("gmail_list") + "\r\n",
    json.dumps(json.loads(act("gmail_list")), indent=4),
)


@pytest.mark.parametrize("reply", TOLERATED)
def test_D5_what_stands_around_it_by_habit_is_let_through(reply: str) -> None:
    played = acting(reply, ANSWER)
    assert played.names == ["gmail_list"]
    assert resent(played) == []


@pytest.mark.parametrize("reply", TOLERATED[:2])
def test_D5_but_not_by_the_letter(reply: str) -> None:
    played = acting(reply, ANSWER, strict=True)
    assert (played.used, len(resent(played))) == ([], 1)


def test_D6_a_thought_is_cut_and_never_shown() -> None:
    long = "I wonder. " * 500
    played = acting(act("gmail_list", long), ANSWER)
    thought = "".join(each.content for each in played.seen if isinstance(each, events.Reasoned))
    assert 0 < len(thought) <= THOUGHT == 200
    assert all(len(each.reasoning) <= THOUGHT for each in played.chat.history.messages)
    assert "wonder" not in played.feed
    assert played.names == ["gmail_list"]


def test_D7_a_tool_that_is_not_there_is_refused() -> None:
    played = acting(act("gmail_burn", messageId="m1"), ANSWER)
    assert played.ran == []
    assert [each.status for each in played.results] == ["failed"]


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ('@tool {name} {"query": {"text": "embedding model"}}', {"text": "embedding model"}),
        ('@tool {name} {"query": {"text": "a } brace", "k": 2}}', {"text": "a } brace", "k": 2}),
        ('@tool {name} {"query":\n  {"text": "two lines"}}', {"text": "two lines"}),
    ],
)
@pytest.mark.parametrize("dialect", ["at_tool", "action", "hermes"])
def test_D8_a_line_with_a_dotted_name_is_a_call(
    line: str, arguments: dict[str, object], dialect: str
) -> None:
    text = line.replace("{name}", MEMORY + "search_memory")
    replies = [text, text, text, ANSWER if dialect == "action" else "Here you are."]
    played = play(replies, "search", f"dialect={dialect}")
    name, given = played.ran[0]
    assert (name, given) == (MEMORY + "search_memory", {"query": arguments})
    assert "@tool" not in played.feed


def test_D8_a_line_that_is_quoted_is_no_call() -> None:
    text = 'Write it so:\n\n```\n@tool gmail_list {"maxResults": 2}\n```\n'
    assert play([text], "how?", "dialect=at_tool").used == []
    assert play([text], "how?", "dialect=at_tool").answer == text


def test_D9_the_prompt_is_the_template_of_the_document() -> None:
    taught = render_tool_prompt(action.DIALECT, DESK.functions)
    for said in (
        "every reply is exactly one JSON object",
        "no Markdown",
        "nothing before or behind",
        '"action": {"tool"',
        '{"final": {"content": ',
        "To do something, reply with an action",
        "When you are done",
        "Never invent the name of a tool or of an argument",
    ):
        assert said in taught


@pytest.mark.parametrize("neither", ['{"thought": "hm"}', "{}", '{"tool": 5}'])
def test_D10_an_object_that_is_neither_is_told_to_be_no_protocol(neither: str) -> None:
    played = acting(neither, ANSWER)
    assert len(resent(played)) == 1
    assert played.answer == "Here you are."


def test_D10_the_loop_looks_up_calls_and_appends_until_it_is_final() -> None:
    played = acting(act("gmail_list", maxResults=1), act("gmail_read", messageId="m1"), ANSWER)
    kept = [(each.role, each.name) for each in played.chat.history.messages]
    assert kept == [
        ("user", ""),
        ("assistant", ""),
        ("tool", "gmail_list"),
        ("assistant", ""),
        ("tool", "gmail_read"),
        ("assistant", ""),
    ]


def test_D12_every_schema_is_in_the_system_message_and_takes_nothing_else() -> None:
    system = str(acting(ANSWER).sent(0)[0]["content"])
    taught = [json.loads(line) for line in system.splitlines() if line.startswith('{"type"')]
    schemas = {each["function"]["name"]: each["function"]["parameters"] for each in taught}
    expected = [each for each in DESK if each.effect != "protocol"]
    assert list(schemas) == [each.name for each in expected]
    for each in expected:
        assert schemas[each.name]["additionalProperties"] is False
        assert schemas[each.name]["properties"].keys() == each.schema["properties"].keys()


def test_D13_it_is_asked_for_again_twice_then_a_line_is_offered_then_it_is_text() -> None:
    played = acting("One.", "Two.", "Three.")
    assert len(resent(played)) == MAX_RESENDS == 2
    assert ONE_LINE_INSTEAD in resent(played)[-1]
    assert (played.answer, len(played.model.requests)) == ("Three.", 3)


def test_D13_by_the_letter_it_is_never_text() -> None:
    played = acting("One.", "Two.", "Three.", strict=True)
    assert played.ended.exit_code != 0
    assert played.answer == ""


def test_D14_an_unknown_tool_is_rejected_with_those_that_are_near() -> None:
    for name in ("gmail_burn", "gmail_delete", "gmail_forward"):
        played = acting(act(name, id="m1"), ANSWER)
        assert played.ran == []
        assert name in played.told(1)
        assert "gmail_read" in played.told(1)
        assert played.answer == "Here you are."


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"to": "bea@example.org", "subject": "Hi"}, "body"),
        ({"to": "bea@example.org", "subject": "Hi", "body": "x", "colour": 5}, "colour"),
        ({"to": {"a": 1}, "subject": "Hi", "body": "x"}, "to"),
    ],
    ids=str,
)
def test_D15_what_does_not_fit_is_shown_with_its_part_of_the_schema(
    args: dict[str, object], field: str
) -> None:
    right = act("gmail_send", to="bea@example.org", subject="Hi", body="x")
    played = acting(act("gmail_send", **args), right, ANSWER)
    assert field in played.told(1)
    assert '"type":"' in played.told(1).replace(" ", "")
    assert [name for name, _ in played.ran] == ["gmail_send"]
    assert len(played.results) == 2


def test_D16_the_result_is_there_in_the_next_turn() -> None:
    played = acting(act("gmail_list"), ANSWER)
    assert "Choir on Friday" in str(played.sent(1))
    speak(played.chat, "and who sent it?")
    last = [str(each["content"]) for each in played.sent(-1)]
    assert any("tom@example.org" in each for each in last)
    assert last[-1] == "and who sent it?"
