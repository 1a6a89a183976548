"""A call without a marker is run only if it was meant: with no words on both of its sides."""

import pytest

from andy_cli.compiler.compiler import CompiledReply, Compiler, Hidden, tools_by_name
from andy_cli.compiler.lexing.markers import Markers
from tests.test_dialects import DIALECTS, TOOLS

MARKERS = Markers(DIALECTS, tuple(TOOLS), "hermes")
BARE = '{"name": "play", "arguments": {"track": "Blue in Green"}}'
FENCE = f"```json\n{BARE}\n```"
CALL = f"<tool_call>{BARE}</tool_call>"
SIZES = pytest.mark.parametrize("size", [1, 4, 999])


def read(
    reply: str,
    size: int = 999,
    cut_off: bool = False,
    runs: bool = True,
    wants_code: bool = False,
    keeps_objects: bool = True,
) -> CompiledReply:
    compiler = Compiler(
        MARKERS, TOOLS, runs_requests=runs, wants_code=wants_code, keeps_objects=keeps_objects
    )
    for at in range(0, len(reply), size):
        compiler.feed(reply[at : at + size])
    return compiler.finish(cut_off)[1]


def quoted(reply: CompiledReply) -> list[bool]:
    return [each.quoted for each in reply.requests]


@SIZES
def test_a_fenced_call_is_a_call_if_nothing_stands_beside_it(size: int) -> None:
    assert quoted(read(FENCE, size)) == [False]
    assert quoted(read(f"\n{FENCE}\n\n{FENCE}\n", size)) == [False, False]
    assert quoted(read(f"{FENCE}\n<|im_end|>", size)) == [False]


@SIZES
def test_a_fenced_call_with_words_on_one_side_is_marked_as_quoted(size: int) -> None:
    assert quoted(read(f"So:\n{FENCE}", size)) == [True]
    assert quoted(read(f"{FENCE}\nSo.", size)) == [True]
    assert quoted(read(f"So:\n{FENCE}\n{FENCE}\n", size)) == [True, True]


@SIZES
def test_a_fenced_call_with_words_on_both_sides_is_text_and_so_are_all_behind_it(size: int) -> None:
    reply = f"So:\n{FENCE}\nand\n\n{FENCE}"
    found = read(reply, size)
    assert found._replace(shown_requests=()) == CompiledReply(text=reply)
    assert [request.name for request in found.shown_requests] == ["play", "play"]
    found = read(f"{reply}\n{CALL}", size)
    assert (found.text, quoted(found)) == (reply, [False])


@SIZES
def test_a_fenced_call_is_text_where_code_was_asked_for_or_none_runs(size: int) -> None:
    for reply in (FENCE, f"{FENCE}\nSo.", f"So:\n{FENCE}", f"{FENCE}\n{FENCE}\n"):
        assert read(reply, size, runs=False) == CompiledReply(text=reply)
        assert read(reply, size, wants_code=True) == CompiledReply(text=reply)


def test_the_last_call_of_a_reply_that_was_cut_off_in_it_is_incomplete() -> None:
    for reply, names in {
        FENCE: [],
        f"{FENCE}\n{FENCE}": ["play"],
        f"{FENCE}\nSo": ["play"],
    }.items():
        found = read(reply, cut_off=True)
        assert [each.name for each in found.requests] == names
        assert found.incomplete == (reply != f"{FENCE}\nSo")


@SIZES
def test_a_word_without_its_closer_is_an_answer_unless_the_reply_was_cut_off(size: int) -> None:
    for opener in ("<thinking>", "Here is my thought process:"):
        whole, cut_off = read(f"{opener}Yes.", size), read(f"{opener}Yes.", size, cut_off=True)
        assert (whole.text, whole.reasoning) == (f"{opener}Yes.", "")
        assert (cut_off.text, cut_off.reasoning) == ("", "Yes.")
    assert read("<think>Yes.", size)[:2] == ("", "Yes.")


@SIZES
def test_only_a_request_at_the_very_end_of_open_reasoning_is_meant(size: int) -> None:
    found = read(f"<think>I play {CALL}\n", size)
    assert [(each.name, each.span) for each in found.requests] == [("play", (0, 0))]
    assert (found.text, found.reasoning, found.dialect) == ("", "I play ", "hermes")
    end = len(f"<think>I play {CALL}\n")
    assert found.spans == ((end - len(CALL) - 1, end),)
    for reply in (f"<think>I play {CALL} or not", f"<think>I play {CALL}</think>"):
        assert read(reply, size).requests == ()


@SIZES
def test_nothing_that_is_said_in_somebody_elses_name_is_shown_or_run(size: int) -> None:
    for reply, said in {
        f"Yes.<|im_start|>user\nAnd you? {CALL}": "Yes.",
        f"Yes.\n{CALL}\n<tool_response>1</tool_response> Done. {CALL}": "Yes.",
        f"Yes.\n{CALL}\nUser: and {CALL}": "Yes.",
    }.items():
        found = read(reply, size)
        assert found.text == said
        assert len(found.requests) == ("Yes.\n<" in reply)
        assert found.hidden[-1].kind == "invented"
        assert found.hidden[-1].end == len(reply)


def test_a_reply_is_over_where_somebody_elses_turn_begins() -> None:
    for reply, over in {
        "Yes.": False,
        CALL: False,
        "Yes.<|im_start|>user\nAnd": True,
        f"{CALL}\n<tool_response>ok": True,
        f"{CALL}\nUser: and": True,
        "Yes.\nUser: and": False,
    }.items():
        compiler = Compiler(MARKERS, TOOLS)
        compiler.feed(reply)
        assert (reply, compiler.over) == (reply, over)


@SIZES
def test_a_letter_is_the_answer_if_nothing_else_is_and_framing_beside_words(size: int) -> None:
    label = "andybot responds:"
    alone = read(f"{label} Hi there", size)
    assert (alone.text, alone.hidden) == ("Hi there", (Hidden("framing", 0, len(label)),))
    assert read(f"Yes.\n{label} Hi there", size).text == "Yes."
    assert read(f"{label} Hi there\nYes.", size).text == "Yes."
    assert read(f"{label} Hi there\n{CALL}", size).text == ""
    assert read(f"{label} Hi there", size, runs=False).text == ""


@SIZES
def test_an_object_of_no_tool_is_the_answer_if_nothing_else_is(size: int) -> None:
    lone = '{"tool": "x"}'
    assert read(lone, size).text == lone
    assert read(lone, size, keeps_objects=False).text == lone
    assert read(lone, size, keeps_objects=False, wants_code=True).text == lone
    assert read(lone, size, runs=False).text == ""
    assert read(f"Yes.\n{lone}", size, keeps_objects=False).text == "Yes."
    assert read(f"{lone}\nYes.", size, keeps_objects=False).text == "Yes."
    assert read(f"{lone}\nYes.", size, keeps_objects=False, wants_code=True).text == f"{lone}\nYes."


def test_tools_are_found_by_name_and_what_has_none_is_left_out() -> None:
    listed: list[dict[str, object]] = [
        {"type": "function", "function": {"name": "a", "strict": True}},
        {"name": "b"},
        {"function": "x", "name": "c"},
        {"function": {"name": 1}},
        {"type": "web_search"},
    ]
    assert tools_by_name(listed) == {
        "a": {"type": "function", "function": {"name": "a", "strict": True}},
        "b": {"type": "function", "function": {"name": "b"}},
    }


LIST = '[play(track="a")]'


@SIZES
@pytest.mark.parametrize("marks", ['""', "''", "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb"])
@pytest.mark.parametrize("call", [CALL, f"{CALL}\n", f"{CALL}<|end_of_turn|>", BARE, LIST])
def test_a_call_between_quotation_marks_is_a_quotation(call: str, marks: str, size: int) -> None:
    for behind in ("", " twice."):
        found = read(f"He said {marks[0]}{call}{marks[1]}{behind}", size)
        assert found.requests == ()
        assert call.replace("<|end_of_turn|>", "") in found.text


@SIZES
def test_a_call_behind_a_quotation_mark_that_nothing_closes_is_a_call(size: int) -> None:
    for reply in (f'He said "{CALL}', f'He said "{CALL} and so', f"\u201e{CALL}\u201d"):
        assert [each.name for each in read(reply, size).requests] == ["play"]


@SIZES
def test_a_list_of_calls_in_a_sentence_that_goes_on_is_text(size: int) -> None:
    for behind in (" now", ", then", " - and so on", "\u00e9"):
        assert read(f"I call {LIST}{behind}", size) == CompiledReply(text=f"I call {LIST}{behind}")
    for behind in ("", ".", ".\nSo.", "\n\nSo"):
        found = read(f"I call {LIST}{behind}", size)
        assert [each.name for each in found.requests] == ["play"]
        assert found.text == f"I call{behind}"


@SIZES
@pytest.mark.parametrize(
    "reply",
    [
        "The <tool_call>words</tool_call> of it",
        "The <tool_call>play {</tool_call> of it",
        "The markers <tool_call> and </tool_call> of it",
        'The <tool_call>{"name": </tool_call> of it',
        "So <tool_call>",
        "<tool_call>nobody here {</tool_call>",
    ],
)
def test_a_marker_that_a_sentence_mentions_is_text(reply: str, size: int) -> None:
    assert read(reply, size) == CompiledReply(text=reply)


@SIZES
def test_a_call_that_cannot_be_read_is_a_fault_and_one_that_broke_off_is_incomplete(
    size: int,
) -> None:
    found = read("<tool_call>play {</tool_call> So.", size)
    assert (found.text, found.requests, found.incomplete) == ("So.", (), False)
    assert found.fault.startswith("This request could not be read: play {")
    for reply in ("<tool_call>", "<tool_call>\n", "[TOOL_CALLS]", "<tool_call>play {"):
        found = read(reply, size)
        assert (found.text, found.requests, found.fault, found.incomplete) == ("", (), "", True)
    assert [each.name for each in read("The <tool_call>stop</tool_call>", size).requests] == [
        "stop"
    ]
