"""Promises of the compiler, for every dialect there is."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.bodies import end_detectors
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.bodies.markup.tagged import make_tagged_dialect
from andy_cli.compiler.compiler import CompiledReply, Compiler
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.messages import Arguments, Chunk, ToolRequest
from tests.cases import quick_every

DIALECTS = discover(dialects, Dialect, "DIALECT")
WRITTEN = [each for each in DIALECTS if each.start_markers]
MARKERS = Markers(DIALECTS)
TOOLS = {
    name: {"type": "function", "function": {"name": name, "parameters": parameters}}
    for name, parameters in {
        "list_mp3s": {"type": "object", "properties": {"path": {"type": "string"}}},
        "play_mp3": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "file": {"type": "string"}},
        },
        "ping": {},
    }.items()
}

fragments = st.sampled_from(
    [
        *(opener for each in DIALECTS for opener in each.start_markers),
        *(opener.upper() for each in DIALECTS for opener in each.start_markers),
        "DEAR ANDYBOT, LIST_MP3S",
        "DEAR AND",
        ", PLAY_MP3\npath: ~/mp3",
        "ANDYBOT RESPONDS: ghost.mp3",
        "<think>",
        "</think>",
        "<|im_end|>",
        "<|im_",
        "end|>",
        "`",
        "```",
        "\n",
        " ",
        "é",
        "K",
        "hello",
    ]
)
replies = st.lists(fragments | st.text(max_size=4), max_size=12).map("".join)


@given(replies, st.data())
def test_chunks_never_change_the_meaning(reply: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(reply)))))
    chunks = [reply[a:b] for a, b in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    assert compiled(chunks) == compiled([reply])


@given(replies)
def test_what_is_shown_while_streaming_is_the_text_in_the_end(reply: str) -> None:
    compiler = Compiler(MARKERS, TOOLS)
    seen = [compiler.feed(character) for character in reply]
    last, whole = compiler.finish()
    shown = "".join(each.text for each in [*seen, last])
    assert shown == whole.text or compiler.relabelled


plain_replies = replies.filter(lambda reply: "<" not in reply and "|" not in reply)


@given(plain_replies)
def test_exactly_the_spans_that_were_consumed_are_missing(reply: str) -> None:
    result = compiled([reply])
    assert result.text.split() == without_hidden(reply, result).split()


@given(replies.filter(lambda reply: "`" not in reply))
def test_an_opener_with_a_request_behind_it_is_never_shown(reply: str) -> None:
    shown = Compiler(MARKERS, TOOLS).feed(reply + "\nDEAR ANDYBOT, PING").text
    assert "DEAR ANDYBOT, PING" not in shown.rpartition("\n")[2]


@given(replies)
def test_reading_a_reply_never_fails_and_loses_no_letter_that_is_not_listed_as_hidden(
    reply: str,
) -> None:
    result = compiled([reply])
    if not (result.spans or result.hidden) and "<" not in reply:
        assert result.text == reply
    letters = Counter("".join(without_hidden(reply, result).split()))
    assert not letters - Counter(result.text + result.reasoning)


@given(st.text(alphabet="abc `*,\n.:DEARdear", max_size=80))
def test_text_that_is_no_request_comes_out_byte_for_byte(reply: str) -> None:
    assert compiled([reply]).text == reply


names = st.sampled_from(sorted(TOOLS))
values = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])).map(
    lambda text: text.strip("\"'`*_") or "x"
)


@pytest.mark.parametrize("dialect", quick_every(6, WRITTEN), ids=lambda dialect: str(dialect.name))
@given(name=names, path=values)
@example(name="list_mp3s", path="<![CDATA[")
def test_what_is_written_can_be_read(dialect: Dialect, name: str, path: str) -> None:
    has_path = "path" in str(TOOLS[name])
    request = ToolRequest(name=name, arguments={"path": path} if has_path else None)
    parsed = compiled([dialect.write(request)])
    assert [said(each) for each in parsed.requests] == [said(request)]
    assert parsed.text == ""


def test_a_false_alarm_hides_neither_text_nor_a_request() -> None:
    result = compiled(["DEAR ANDYBOT... I mean DEAR ANDYBOT, PING"])
    assert result.text == "DEAR ANDYBOT... I mean"
    assert [each.name for each in result.requests] == ["ping"]


def test_a_letter_in_a_fence_or_in_inline_code_is_no_request() -> None:
    text = "Write `DEAR ANDYBOT, PING`, or\n```\nDEAR ANDYBOT, PING\n```\nthat is all.\n"
    assert compiled([text]) == CompiledReply(text=text)


@pytest.mark.parametrize(
    "letter",
    [
        "Dear Andybot,\n\nthank you for the songs.\n\nYours, Bea",
        "Dear Andybot,\n\nping is what I never want to hear.\n",
        "Dear Andybot,\nHello\n",
    ],
)
def test_a_letter_to_somebody_is_text_in_pieces_and_whole(letter: str) -> None:
    assert compiled([letter]) == compiled([*letter]) == CompiledReply(text=letter)


@pytest.mark.parametrize("letter", ["DEAR ANDYBOT,\nPING", "Dear Andybot,\n\nplease PING now"])
def test_a_letter_may_name_its_tool_in_the_line_below(letter: str) -> None:
    assert [each.name for each in compiled([letter]).requests] == ["ping"]


@pytest.mark.parametrize("fence", ["", "```python\n", "```tool_code\n"])
def test_a_list_of_python_calls_that_is_cut_off_within_a_later_one_is_incomplete(
    fence: str,
) -> None:
    first, second = '[play_mp3(file="a"), ', 'play_mp3(path="b", file="c"'
    for end in range(1, len(second) + 1):
        result = compiled([fence + first + second[:end]])
        assert (result.incomplete, result.text, result.requests) == (True, "", ()), second[:end]


@pytest.mark.parametrize(
    "content", ["[DEFAULT]\na = 1", "[INFO] begun\n[INFO] ended", "[T]\nb = 2"]
)
def test_a_fence_that_begins_with_a_section_in_brackets_is_shown_as_it_comes(content: str) -> None:
    assert Compiler(MARKERS, TOOLS).feed(f"```\n{content}\n").text == f"```\n{content}"


def test_a_stray_backtick_does_not_hide_what_follows_on_the_next_line() -> None:
    result = compiled(["It`s done.\nDEAR ANDYBOT, PING"])
    assert [each.name for each in result.requests] == ["ping"]


def test_reasoning_is_kept_apart_and_its_blank_lines_are_framing() -> None:
    result = compiled(["<think>Let me see.</think>\n\nHello"])
    assert (result.text, result.reasoning) == ("Hello", "Let me see.")


@pytest.mark.parametrize("size", [1, 5, 99])
def test_reasoning_on_a_line_of_its_own_is_reasoning_and_in_a_line_a_mention(size: int) -> None:
    for reply, meant in {
        "I see.\n<think>\nHm.</think>\nYes.": ("I see.\nYes.", "\nHm."),
        "I see.\n<think> begins a thought.": ("I see.\n<think> begins a thought.", ""),
        "Here <think>\nbegins a thought.": ("Here <think>\nbegins a thought.", ""),
        "I see.\n<think>": ("I see.", ""),
    }.items():
        pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
        assert compiled(pieces)[:2] == meant


@pytest.mark.parametrize("size", [1, 5, 99])
@pytest.mark.parametrize("run", ["`", "``", "```", "````"])
def test_code_ends_at_a_run_of_as_many_backticks_as_began_it(run: str, size: int) -> None:
    other = "`" * (len(run) % 2 + 1) if len(run) < 3 else "`"
    call = '<tool_call>{"name": "ping"}</tool_call>'
    line = "\n" if len(run) > 2 else ""
    code = f"Say {line}{run}{line}a {other} {call}{line}{run}"
    reply = f"{code}{line} and {call}"
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    found = compiled(pieces)
    assert [each.name for each in found.requests] == ["ping"]
    assert found.text == f"{code}{line} and"


@pytest.mark.parametrize("size", [1, 5, 99])
@pytest.mark.parametrize("inside", ["{}", "for example\n{}\nor so", "``` {} "])
def test_what_is_commented_out_of_a_page_is_no_request(inside: str, size: int) -> None:
    call = '<tool_call>{"name": "ping"}</tool_call>'
    comment = f"a --> b\n<!-- {inside.format(call)} -->"
    reply = f"{comment} and {call}"
    found = compiled([reply[at : at + size] for at in range(0, len(reply), size)])
    assert [each.name for each in found.requests] == ["ping"]
    assert found.text == f"{comment} and"


def test_a_request_in_closed_reasoning_is_a_rehearsal() -> None:
    result = compiled(["<think>DEAR ANDYBOT, PING</think>No."])
    assert (result.text, result.requests) == ("No.", ())


def test_a_request_in_reasoning_that_never_ends_is_meant() -> None:
    result = compiled(["<think>I should ping. DEAR ANDYBOT, PING"])
    assert [each.name for each in result.requests] == ["ping"]
    assert result.repairs


def test_reasoning_that_the_prompt_opened_ends_at_its_closer() -> None:
    compiler = Compiler(MARKERS, TOOLS, reasoning_open="known")
    assert compiler.feed("so</think>Yes").reasoning == "so"
    assert compiler.finish()[1].text == "Yes"


def test_a_closer_without_an_opener_makes_what_stood_before_it_reasoning() -> None:
    result = compiled(["Let me see.\n</think>\n\nHello"])
    assert (result.text, result.reasoning.strip()) == ("Hello", "Let me see.")


@pytest.mark.parametrize("opener", ["<think>", "<tool_call>", "[TOOL_CALLS]{", "```\n{", "{"])
def test_a_reply_of_nothing_but_openers_is_read_to_its_end(opener: str) -> None:
    result = compiled([opener * 4000 + "x"])
    assert not result.requests


def test_brackets_in_brackets_do_not_crash() -> None:
    deep = "[" * 10_000 + "]" * 10_000
    assert compiled([deep]).text == deep
    assert not compiled(
        [f'<tool_call>{{"name": "ping", "arguments": {deep}}}</tool_call>']
    ).requests


def test_template_markers_are_never_shown() -> None:
    assert compiled(["Hello<|im_end|>"]).text == "Hello"


def test_a_letter_whose_name_was_cut_off_by_length_is_incomplete() -> None:
    compiler = Compiler(MARKERS, TOOLS)
    compiler.feed("DEAR ANDYBOT, PIN")
    _, reply = compiler.finish(cut_off=True)
    assert (reply.requests, reply.incomplete) == ((), True)


def test_a_letter_that_was_complete_before_the_cut_is_a_request() -> None:
    compiler = Compiler(MARKERS, TOOLS)
    compiler.feed("DEAR ANDYBOT, PING\nand then I will go on about")
    assert [each.name for each in compiler.finish(cut_off=True)[1].requests] == ["ping"]


def test_reasoning_of_the_server_goes_where_reasoning_goes() -> None:
    compiler = Compiler(MARKERS, TOOLS)
    assert compiler.take(Chunk(reasoning="hm")).reasoning == "hm"
    assert compiler.finish()[1].reasoning == "hm"


def compiled(chunks: Sequence[str]) -> CompiledReply:
    compiler = Compiler(MARKERS, TOOLS)
    for chunk in chunks:
        compiler.feed(chunk)
    return compiler.finish()[1]


def without_hidden(reply: str, result: CompiledReply) -> str:
    """The reply with blanks where a request or what is hidden stood."""
    left = list(reply)
    for start, end in [*result.spans, *(each[1:] for each in result.hidden)]:
        left[start:end] = " " * (end - start)
    return "".join(left)


def said(request: ToolRequest) -> tuple[str, Arguments]:
    return request.name, dict(request.arguments or {})


def opened(text: str) -> CompiledReply:
    compiler = Compiler(MARKERS, TOOLS, reasoning_open="likely")
    for character in text:
        compiler.feed(character)
    return compiler.finish()[1]


def test_where_reasoning_is_only_likely_a_reply_without_its_closer_is_an_answer() -> None:
    assert opened("so</think>Yes")[:2] == ("Yes", "so")
    assert opened("Yes")[:2] == ("Yes", "")
    asked = opened("I look.\nDEAR ANDYBOT, PING")
    assert (asked.text, [each.name for each in asked.requests]) == ("I look.", ["ping"])


def test_thoughts_that_the_server_keeps_apart_close_what_only_was_likely() -> None:
    compiler = Compiler(MARKERS, TOOLS, reasoning_open="likely")
    compiler.take(Chunk(reasoning="hm"))
    assert compiler.feed("Yes").text == "Yes"


def compiled_within(limit: int, monkeypatch: pytest.MonkeyPatch, reply: str) -> CompiledReply:
    """A reply that comes in small pieces, where a request may have so many characters."""
    monkeypatch.setattr(end_detectors, "MAX_CHARACTERS", limit)
    return compiled([reply[at : at + 10] for at in range(0, len(reply), 10)])


LONG = "la " * 90


@pytest.mark.parametrize(
    "reply",
    [
        f'<|channel|>commentary to=functions.play_mp3<|message|>{{"path": "{LONG}"}}<|call|>',
        f'[TOOL_CALLS]play_mp3[ARGS]{{"path": "{LONG}"}}',
        f'{{"name": "play_mp3", "arguments": {{"path": "{LONG}"}}}}',
        f'[play_mp3(path="{LONG}")]',
    ],
    ids=["harmony", "mistral", "bare", "python"],
)
def test_a_call_that_ends_with_its_value_may_have_any_size(
    reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = compiled_within(100, monkeypatch, reply)
    assert [said(each) for each in result.requests] == [("play_mp3", {"path": LONG})]
    assert result.text == ""


@pytest.mark.parametrize("size", [1, 3, 999])
@pytest.mark.parametrize(
    "reply",
    [
        '{{"name": "play_mp3", "arguments": {"path": "{{a}}"}}}',
        '{{"name": "play_mp3", "arguments": {{"path": "{{a}}"}}}}',
        '{\n{"name": "play_mp3", "arguments": {"path": "{{a}}"}}\n}',
        '```json\n{{"name": "play_mp3", "arguments": {"path": "{{a}}"}}}\n```',
        '<tool_call>\n{{"name": "play_mp3", "arguments": {"path": "{{a}}"}}}\n</tool_call>',
    ],
)
def test_a_call_in_the_doubled_braces_of_a_template_is_one(reply: str, size: int) -> None:
    """Qwen 2.5 Coder is taught the form of a call in doubled braces, and writes them."""
    result = compiled([reply[at : at + size] for at in range(0, len(reply), size)])
    [request] = result.requests
    assert (request.name, result.text) == ("play_mp3", "")
    assert request.arguments in ({"path": "{{a}}"}, {"path": "{a}"})


def read_strictly(reply: str, size: int) -> CompiledReply:
    """Read as in a turn, where an object in the form of a call is no answer."""
    compiler = Compiler(MARKERS, TOOLS, keeps_objects=False)
    for at in range(0, len(reply), size):
        compiler.feed(reply[at : at + size])
    return compiler.finish()[1]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", ["", "\n```", "```\n", "\n```\n\n", "\n}\n"])
def test_the_end_of_a_fence_behind_a_call_of_no_tool_is_no_answer(end: str, size: int) -> None:
    result = read_strictly(f'{{"name": "start", "arguments": {{}}}}{end}', size)
    assert ([each.name for each in result.requests], result.text) == (["start"], "")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_an_object_with_words_behind_a_fence_stays_text(size: int) -> None:
    reply = '{"name": "start", "arguments": {}}\n```\nThat is how it is written.'
    result = read_strictly(reply, size)
    assert (result.requests, result.text) == ((), reply)


def test_a_template_with_doubled_braces_is_text() -> None:
    for text in (
        "{{ name }} is here.",
        "{{name}}",
        "Write {{name: x}} there.",
        "{{#if a}}b{{/if}}",
    ):
        assert compiled([text]).text == text


@pytest.mark.parametrize(
    "reply",
    [
        f'<tool_call>{{"name": "play_mp3", "arguments": {{"path": "{LONG}"}}}}</tool_call>',
        "<tool_call>\n<function=play_mp3>\n<parameter=path>\n"
        f"{LONG}\n</parameter>\n</function>\n</tool_call>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.play_mp3:0"
        f'<|tool_call_argument_begin|>{{"path": "{LONG}"}}<|tool_call_end|>',
    ],
    ids=["element", "tags", "section"],
)
def test_a_call_that_a_marker_ends_is_cut_off_at_the_limit(
    reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [each.name for each in compiled([reply]).requests] == ["play_mp3"]
    result = compiled_within(100, monkeypatch, reply)
    assert not result.requests
    assert result.fault or result.incomplete


def test_a_dialect_of_elements_says_how_its_calls_are_written() -> None:
    with pytest.raises(ValueError, match="needs call_forms"):
        make_tagged_dialect("mute", ("<call>",), ("</call>",), INVOKE)
