"""Protocol that is no request is taken out where it stands, and a mention of it is left alone."""

import pytest

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler, Hidden, tools_by_name
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.framing import MAX_CHARACTERS
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from tests.cases import loop_over

TOOLS = tools_by_name([{"name": "ping"}, {"name": "play_mp3"}])
MARKERS = Markers(discover(dialects, Dialect, "DIALECT"), tuple(TOOLS))


def read(reply: str, size: int = 0, keeps_objects: bool = True) -> CompiledReply:
    compiler = Compiler(MARKERS, TOOLS, keeps_objects=keeps_objects)
    for at in range(0, len(reply), size or len(reply)):
        compiler.feed(reply[at : at + (size or len(reply))])
    return compiler.finish()[1]


@loop_over("size", [0, 1, 9])
@loop_over(
    ("reply", "shown"),
    [
        # A label with the name of a tool, or with an object after it.
        ("Hi. [tool result] ping and so", "Hi. and so"),
        ("I say [TOOL CALL] ping", "I say"),
        ("[TOOL CALL] ping\nDone.", "Done."),
        ("[TOOL CALL]\nDone.", "Done."),
        ('[tool_result]: {"a": 1}\nDone.', "Done."),
        ('[tool_result]: [{"a": 1}]\nDone.', "Done."),
        ('So [tool_result]: {"a": 1} Done.', "So Done."),
        ('[TOOL RESULT] play_mp3: {"ok": true}\nDone.', "Done."),
        ('So [TOOL RESULT] play_mp3: {"ok": true} Done.', "So Done."),
        ('So [TOOL RESULT] my_tool {"a": {\n}} Done.', "So Done."),
        # A word after it belongs to the answer.
        ("[TOOL RESULT] Hello there", "Hello there"),
        ('[TOOL RESULT] hello {"ok": true}\nDone.', 'hello {"ok": true}\nDone.'),
        # An element that holds a result, nothing, or what was to be a call.
        ("<function_result>a</function_result>Yes", "Yes"),
        ("So\n<tool_response>\n1 < 2\n</tool_response>\nYes", "So\nYes"),
        ("<tool_request></tool_request>Yes", "Yes"),
        ("A <tool_use> </tool_use> yes", "A yes"),
    ],
)
def test_protocol_is_taken_out_where_it_stands(reply: str, shown: str, size: int) -> None:
    found = read(reply, size)
    assert (found.text, found.requests) == (shown, ())


@loop_over("size", [0, 1, 9])
@loop_over(
    "reply",
    [
        "See [tool call] for more.",
        "A [tool result](http://example.org) is a link.",
        "[tool result](http://example.org) is a link.",
        'So [TOOL RESULT] words {"a": 1} Done.',
        "So [tool result] [1] says.",
        "The <function_result>, and then </function_result> are its two ends.",
        "The <tool_request> and </tool_request> around it.",
        "The <tool_call>: what does </tool_call> end?",
        "A <tool_use> holds words, as <b>bold</b> does.",
        '{"tool": "x", "args": {"a": 1}}\nis what you asked for.',
    ],
)
def test_a_mention_is_left_as_it_was_written(reply: str, size: int) -> None:
    assert read(reply, size) == CompiledReply(text=reply)


@pytest.mark.parametrize(
    ("members", "is_call"),
    [
        ("", True),
        (', "args": {"a": 1}', True),
        (', "args": [1]', True),
        (', "input": "x"', True),
        (', "args": {"a": 1}, "id": "1"', True),
        (', "call_id": "1", "thought": "hm"', True),
        (', "args": {"a": 1}, "input": {"b": 1}', False),
        (', "args": 1', False),
        (', "version": "1.0"', False),
    ],
)
def test_an_object_of_no_tool_is_a_call_only_if_nothing_else_stands_in_it(
    members: str, is_call: bool
) -> None:
    written = f'{{"tool": "x"{members}}}'
    found = read(f"{written}\nDone.", keeps_objects=False)
    assert found.text == ("Done." if is_call else f"{written}\nDone.")
    assert found.hidden == ((Hidden("framing", 0, len(written)),) if is_call else ())


@pytest.mark.parametrize("size", [0, 1000])
def test_an_element_without_its_end_is_text_when_it_takes_too_long(size: int) -> None:
    reply = f"<function_result>{'word ' * (MAX_CHARACTERS // 4)}"
    assert read(reply, size).text.startswith("<function_result>word")


@pytest.mark.parametrize("size", [0, 1, 9])
@pytest.mark.parametrize("info", ["tool_code", "Tool_Call", "tool-result"])
def test_a_fence_of_tildes_with_a_word_of_a_protocol_is_framing(info: str, size: int) -> None:
    assert read(f"So:\n~~~{info}\nx = 1\n~~~\nDone.", size).text == "So:\nDone."
    longer = f"~~~~{info}\n~~~\n~~~~\nDone."
    assert "Done." in read(longer, size).text


@pytest.mark.parametrize("info", ["", "python", "x" * 50])
def test_any_other_fence_of_tildes_is_text(info: str) -> None:
    reply = f"So:\n~~~{info}\nx = 1\n~~~\nDone."
    assert read(reply, 1) == CompiledReply(text=reply)
