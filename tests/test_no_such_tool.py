"""What has the form of a call is no answer, also where nothing of that name exists."""

import pytest

from andy_cli.compiler import compile_text
from andy_cli.compiler.bodies.wrappings import may_become_envelope
from andy_cli.compiler.dialects.native import AS_OBJECT
from andy_cli.messages import CallDelta, Chunk
from tests.fakes import native
from tests.scripted_tools import play

END = "There are two files."
FORMS = {
    "react": 'Thought: look.\nAction: list_dirs\nAction Input: {"path": "."}',
    "an object": '{"name": "list_dirs", "arguments": {"path": "."}}',
    "an object with a tool": '{"tool": "list_dirs", "args": {"path": "."}}',
    "a tag": '<tool_call>{"name": "list_dirs", "arguments": {"path": "."}}</tool_call>',
}


@pytest.mark.parametrize("reply", FORMS.values(), ids=FORMS)
def test_a_call_of_no_tool_is_told_to_the_model_and_shown_to_nobody(reply: str) -> None:
    played = play([reply, END], "what is here?")
    assert played.answer == END
    assert "list_dirs" in str(played.model.requests[-1].messages[-1])


@pytest.mark.parametrize(
    "reply",
    [
        "result = list_directory()",
        "{{list_directory()}}",
        "Using tool: list_directory {}",
        '<tool name="list_directory"></tool>',
    ],
)
def test_a_call_in_a_notation_of_its_own_is_no_answer(reply: str) -> None:
    played = play([reply, END], "what is here?")
    assert played.answer == END
    assert "No tool was used" in str(played.model.requests[-1].messages[-1])
    again = play([reply, reply], "what is here?")
    assert (again.ended.subtype, again.ended.exit_code) == ("error_unreadable", 1)


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [
        ("how is list_directory called?", "result = list_directory()"),
        ("what did you do?", "I would have used list_directory here, but it was not needed"),
        ("what did you do?", "I used list_directory."),
    ],
)
def test_what_is_said_of_a_tool_is_an_answer(request_text: str, reply: str) -> None:
    assert len(play([reply], request_text).model.requests) == 1


def test_such_an_object_is_an_answer_where_it_was_asked_for_or_stands_beside_words() -> None:
    written = FORMS["an object"]
    assert play([written], "write it as JSON").answer == written
    assert play([f"{written}\n\nSo it looks."], "how does it look?").answer.startswith(written)
    person = '{"name": "Bea", "arguments": 41}'
    assert play([person], "who is it?").answer == person


@pytest.mark.parametrize(
    "action", ["None", "None\nAction Input: None", "none needed\nAction Input:"]
)
def test_a_form_that_is_filled_in_with_nothing_ends_with_its_answer(action: str) -> None:
    reply = f"Thought: I know.\nAction: {action}\nFinal Answer: It is four."
    assert play([reply], "2 + 2?").answer == "It is four."


FORMS_WITH_ANSWERS = (
    "Action: Final Answer\nAction Input: It is four.",
    "Thought: hm.\nAction: final_answer\nAction Input: It is four.",
    "Thought: easy\n\nIt is four.",
    '{"action": "final_answer", "action_input": "It is four."}',
    '{"tool_calls": []}\nIt is four.',
    "Observation: Buy milk\nThought: I know now.\nFinal Answer: It is four.",
    "Question: 2 + 2?\nThought: I know.\nFinal Answer: It is four.",
    "Action: None\nAction Input: None\nIt is four.",
    "Thought: hm.\nAction: None\nObservation: nothing\nThought: I know\nFinal Answer: It is four.",
    "Thought: Do I need to use a tool? No\nAI: It is four.",
    "Final Answer: It is four.\n\nQuestion: 3 + 3?\nThought: I know.\nFinal Answer: It is six.",
    '{"answer": "It is four."}',
    '```json\n{"thought": "easy", "final_answer": "It is four."}\n```',
    '{"role": "assistant", "content": "It is four.", "tool_calls": []}',
    '{"tool": null, "response": "It is four."}',
)


@pytest.mark.parametrize("reply", FORMS_WITH_ANSWERS)
def test_of_a_form_in_whatever_part_the_answer_alone_is_shown(reply: str) -> None:
    assert play([reply], "2 + 2?").answer == "It is four."


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [
        ("2 + 2? As JSON.", '{"answer": "It is four."}'),
        ('fill in {"answer": ""}', '{"answer": "It is four."}'),
        ("which settings?", '{"answer": "It is four.", "size": 3}'),
        ("which settings?", '{"content": "It is four."}'),
        ("which settings?", '{"answer": 4}'),
        ("show both", '{"answer": "It is four."}\n{"answer": "It is five."}'),
        ("show it", 'Here it is:\n\n{"answer": "It is four."}'),
    ],
)
def test_an_object_that_is_more_than_an_answer_or_was_asked_for_is_shown(
    request_text: str, reply: str
) -> None:
    assert play([reply], request_text).answer == reply


def test_an_object_that_is_no_answer_is_shown_while_it_arrives() -> None:
    assert may_become_envelope("```js")
    assert may_become_envelope('{"ans')
    assert may_become_envelope('```json\n{\n  "answer": "It is')
    assert not may_become_envelope("```javascript\n{")
    assert not may_become_envelope('{"port": ')
    assert not may_become_envelope("It is {")


@pytest.mark.parametrize("word", ["Question", "Observation"])
def test_an_answer_may_begin_with_a_word_of_the_form(word: str) -> None:
    answer = f"{word}: what is blue?\n\nThe sky is."
    assert play([answer], "tell me").answer == answer


@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "```\n{}\n```\n"])
def test_a_final_answer_as_an_object_is_one(frame: str) -> None:
    written = '{"action": "Final Answer", "action_input": "It is four."}'
    assert play([frame.replace("{}", written)], "2 + 2?").answer == "It is four."


@pytest.mark.parametrize(
    "line",
    [
        "DEAR ANDYBOT, <CALENDAR_LIST>",
        "DEAR ANDYBOT, [CALENDAR_LIST]",
        "Dear Andybot, please CALENDAR_LIST",
        "DEAR ANDYBOT, I would like you to CALENDAR_LIST.",
    ],
)
def test_a_letter_may_be_polite_or_in_brackets(line: str) -> None:
    assert play([line, END], "what is on?", "dialect=andybot").names == ["calendar_list"]


PROGRAMS = ('print("hi")', "import os\nprint(os.listdir('.'))", "x = 2\nprint(x)")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_for_an_interpreter_that_is_not_there_is_told_to_the_model(program: str) -> None:
    played = play([f"<|python_tag|>{program}<|eom_id|>", END], "what is here?")
    assert played.answer == END
    assert "No program can be run here" in str(played.model.requests[-1].messages[-1])


def test_a_mention_of_the_mark_for_programs_is_text() -> None:
    text = "The token <|python_tag|> marks code."
    assert compile_text(text).text == text


def test_a_call_in_python_may_end_with_a_control_token() -> None:
    reply = '<|python_tag|>list_directory.call(path=".")<|eom_id|>'
    assert play([reply, END], "what is here?").ran == [("list_directory", {"path": "."})]


@pytest.mark.parametrize("arguments", ['{"path": "."', "[1]", '"."', "."])
def test_arguments_that_cannot_be_read_are_no_reply_that_was_cut_off(arguments: str) -> None:
    calls = native(("list_directory", arguments))
    played = play([calls, END], "what is here?", tools=True)
    assert played.answer == END
    assert AS_OBJECT in str(played.model.requests[-1].messages[-1])
    ended = play([calls] * 9, "what is here?", tools=True).ended
    assert ended.subtype == "error_unreadable"
    assert ended.error == {
        "kind": "unreadable",
        "message": "The model's request to list the files cannot be read.",
        "hint": "Say it again, or use another model.",
    }


def test_arguments_that_break_off_are_still_cut_off() -> None:
    delta = Chunk(call=CallDelta(0, "c1", "list_directory", '{"path": "'))
    ended = play([[delta, Chunk(finish="length")]] * 9, "what is here?", tools=True).ended
    assert ended.subtype == "error_cut_off"
