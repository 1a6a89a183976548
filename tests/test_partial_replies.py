"""What is known of a reply while it arrives is what it says in the end."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler.compiler import NOTHING_VISIBLE, Compiler, WhitespaceJoiner
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.messages import CallDelta, Chunk
from tests.cases import sample_every
from tests.test_dialects import CASES, DIALECTS, TOOLS
from tests.test_dialects import MARKERS as UNTAUGHT

HERMES = Markers(DIALECTS, tuple(TOOLS), "hermes")
PLAY = '<tool_call>{"name": "play", "arguments": {"track": "Blue in Green"}}</tool_call>'
STOP = '<tool_call>{"name": "stop"}</tool_call>'
BARE = '{"name": "play", "arguments": {"track": "Blue in Green"}}'


def reading(text: str, markers: Markers = HERMES, runs: bool = True) -> Compiler:
    compiler = Compiler(markers, TOOLS, runs_requests=runs)
    for character in text:
        compiler.feed(character)
    return compiler


def test_what_is_settled_stays_and_what_is_followed_is_settled() -> None:
    for case in sample_every(5, CASES):
        if case.tools is None:
            compiler = Compiler(UNTAUGHT, TOOLS)
            seen = []
            for character in case.text:
                compiler.feed(character)
                seen.append((compiler.settled, compiler.followed))
            requests = compiler.finish()[1].requests
            for settled, followed in seen:
                assert settled == requests[: len(settled)]
                assert followed == settled[: len(followed)]


def test_a_call_is_settled_as_soon_as_its_end_is_there() -> None:
    assert [each.name for each in reading(PLAY).settled] == ["play"]
    assert [each.name for each in reading(PLAY + STOP).settled] == ["play", "stop"]
    assert [each.name for each in reading(PLAY + STOP[:-15]).settled] == ["play"]
    assert reading(PLAY[:-15]).settled == reading("Hello").settled == ()


def test_a_call_that_only_the_end_of_the_reply_ended_is_not_settled() -> None:
    compiler = reading(f"{PLAY}\n{STOP.removesuffix('</tool_call>')}")
    reply = compiler.finish()[1]
    assert [each.name for each in reply.requests] == ["play", "stop"]
    assert [each.name for each in compiler.settled] == ["play"]


def test_a_call_is_followed_once_words_stand_behind_it() -> None:
    assert reading(f"So: {PLAY}").followed == ()
    assert reading(f"{PLAY} \n").followed == ()
    assert [each.name for each in reading(f"{PLAY}\nSo it is.").followed] == ["play"]
    assert [each.name for each in reading(f"{PLAY}\nSo.\n{STOP}").followed] == ["play"]


def test_the_first_call_is_known_while_it_is_written() -> None:
    opener = "<tool_call>"
    for end in range(len(opener) + 1, PLAY.index("</")):
        compiler = reading(f"So:\n{PLAY[:end]}")
        assert compiler.open_text == PLAY[:end]
        assert compiler.open_size == end
    compiler = reading(f"So:\n{PLAY[: PLAY.index(' in')]}")
    found = compiler.read_open_call()
    assert found is not None
    assert (found.name, found.arguments) == ("play", '{"track": "Blue')


@pytest.mark.parametrize("before", ["", "Hello", PLAY, f"{PLAY}\n", f"```json\n{BARE}\n```\n"])
def test_nothing_is_open_where_no_first_call_is_being_written(before: str) -> None:
    compilers = [reading(before), reading(before + PLAY[:-20], runs=False)]
    if before not in ("", "Hello"):
        compilers.append(reading(before + PLAY[:-20]))
    for compiler in compilers:
        assert compiler.open_text == ""
        assert compiler.open_size == 0
        assert compiler.read_open_call() is None


@pytest.mark.parametrize("before", ["So ", '"', "> ", "`", "```json\n"])
def test_a_call_in_a_sentence_a_quotation_or_code_is_not_read_before_its_end(before: str) -> None:
    assert reading(before + PLAY[:-20]).read_open_call() is None


def test_a_bare_object_is_read_before_its_end_only_where_it_is_the_protocol() -> None:
    bare = "json_bare"
    started = BARE[:-8]
    assert reading(started, UNTAUGHT).read_open_call() is None
    taught = Markers(DIALECTS, tuple(TOOLS), bare)
    found = reading(started, taught).read_open_call()
    assert (found is not None) == (taught.protocol == bare)


def test_only_a_notation_of_ours_that_was_taught_makes_a_reply_its_protocol() -> None:
    for each in DIALECTS:
        ours = each.calls_only or each.format_violation is not None
        assert Markers(DIALECTS, (), each.name).protocol == (each.name if ours else "")
    assert UNTAUGHT.protocol == ""


def test_the_size_of_an_open_call_is_the_size_of_its_text() -> None:
    for case in sample_every(5, CASES):
        compiler = Compiler(UNTAUGHT, TOOLS)
        for character in case.text[:400]:
            compiler.feed(character)
            assert compiler.open_size == len(compiler.open_text)


def test_a_call_of_the_server_is_known_as_it_came() -> None:
    compiler = Compiler(HERMES, TOOLS)
    compiler.take(Chunk(call=CallDelta(0, "c1", "play", '{"track": "Bl')))
    found = compiler.read_open_call()
    assert found is not None
    assert (found.name, found.arguments) == ("play", '{"track": "Bl')
    assert compiler.open_size == len('{"track": "Bl')
    compiler.take(Chunk(call=CallDelta(1, "c2", "stop")))
    assert (compiler.read_open_call(), compiler.open_size) == (None, 0)


def test_a_call_of_the_server_is_unknown_before_it_has_a_name() -> None:
    compiler = Compiler(HERMES, TOOLS)
    compiler.take(Chunk(call=CallDelta(0, "c1", "", '{"track": "Bl')))
    assert compiler.read_open_call() is None


def test_white_space_that_waits_is_what_would_still_be_shown() -> None:
    for case in sample_every(4, CASES[::3]):
        compiler, shown = Compiler(UNTAUGHT, TOOLS), ""
        for end, character in enumerate(case.text[:300], 1):
            shown += compiler.feed(character).text
            if compiler.blank is not None and not compiler.relabelled:
                assert not compiler.blank.strip()
                if end % 7 == 0:
                    again = Compiler(UNTAUGHT, TOOLS)
                    again.feed(case.text[:end])
                    assert again.finish()[1].text == shown + compiler.blank


def test_white_space_at_the_end_of_text_waits_and_nothing_else_does() -> None:
    assert reading("So it is.").blank == ""
    assert reading("So it is. \n\n").blank == " \n\n"
    assert reading(f"So\n{PLAY}\n").blank is None
    assert reading(f"So\n{PLAY[:-3]}").blank is None
    assert reading(f"So\n```json\n{BARE}\n```\n").blank is None
    assert reading("<think>Hm").blank is None


def test_only_the_closer_of_reasoning_that_nobody_opened_takes_text_back() -> None:
    compiler = Compiler(UNTAUGHT, TOOLS)
    seen = [compiler.feed(each) for each in ("Let me", " see.", "</think>", "Yes", "!")]
    assert [each.retracted for each in seen] == [False, False, False, True, False]
    assert NOTHING_VISIBLE == ("", "", False, False)
    assert Compiler(UNTAUGHT, TOOLS).take(Chunk(reasoning="hm")).retracted is False


def test_what_is_run_is_not_listed_as_hidden_and_what_cannot_be_read_is() -> None:
    for case in sample_every(5, CASES):
        if case.tools is None:
            reply = reading(case.text, UNTAUGHT).finish()[1]
            run = {place for each in reply.requests for place in range(*(each.span or (0, 0)))}
            hidden = {place for _, start, end in reply.hidden for place in range(start, end)}
            assert not run & hidden, case.id
            assert reply.requests or not reply.spans or hidden or reply.text or reply.reasoning


def test_a_call_to_do_nothing_is_taken_out_and_listed() -> None:
    reply = reading('<tool_call>{"name": "none", "arguments": {}}</tool_call>').finish()[1]
    assert (reply.text, reply.requests, reply.fault) == ("", (), "")
    assert reply.hidden[0] == ("call", *reply.spans[0])


@given(st.lists(st.sampled_from(["a", "B.", " ", "\n", "\n\n", "  ", ",", None]), max_size=8))
def test_no_white_space_is_invented_where_something_was_taken_out(
    pieces: list[str | None],
) -> None:
    joiner, shown = WhitespaceJoiner(), ""
    for piece in pieces:
        if piece is None:
            joiner.take_out()
        else:
            joiner.show(piece)
        blank = joiner.blank
        shown += joiner.pass_on()
        assert joiner.empty == (not shown.strip())
        assert blank is None or blank == "" or blank.isspace()
    shown += joiner.finish()
    words = "".join(each for each in pieces if each)
    assert shown.split() == words.split() or None in pieces
    assert "".join(shown.split()) == "".join(words.split())
    assert None in pieces or shown == words
    assert shown.count("\n") <= words.count("\n")


@pytest.mark.parametrize(
    ("before", "behind", "joined"),
    [
        ("So", "it", "Soit"),
        ("So ", " it", "So it"),
        ("So", " it", "So it"),
        ("So ", "it", "So it"),
        ("So", ", it", "So, it"),
        ("So ", ", it", "So, it"),
        ("So ", " , it", "So , it"),
        ("So\n", ", it", "So\n, it"),
        ("So.", "It", "So. It"),
        ("So.", "it", "So.it"),
        ("So", "It", "SoIt"),
        ("So. ", "It", "So. It"),
        ("So\n", "\nit", "So\nit"),
        ("So\n\n", "\n\nit", "So\n\nit"),
        ("So\n", "\n\nit", "So\n\nit"),
        ("So\n\n", "\nit", "So\n\nit"),
        ("So", "\n\nit", "So\n\nit"),
        ("So\n\n", "it", "So\n\nit"),
        ("So\n", "\n  it", "So\n  it"),
        ("So \n  ", "\n    it", "So \n    it"),
        ("", "\n\nit", "it"),
        ("", "\n  it", "  it"),
        ("  ", "it", "it"),
        ("So \n", "", "So"),
        ("So", " \n", "So"),
    ],
)
def test_where_something_was_taken_out_one_gap_is_left(
    before: str, behind: str, joined: str
) -> None:
    for size in (1, 99):
        joiner, shown = WhitespaceJoiner(), []
        for part in (before, None, behind):
            if part is None:
                joiner.take_out()
                assert joiner.blank is None
                continue
            for at in range(0, len(part), size):
                joiner.show(part[at : at + size])
                shown.append(joiner.pass_on())
        assert "".join([*shown, joiner.finish()]) == joined


def test_arguments_are_read_with_brackets_and_quotation_marks_in_their_texts() -> None:
    for text in ("}{", '"}', "[[", '\\"', "]", "\\", '{"a": 1}'):
        tracks = [{"track": text}, {"track": f"{text}2"}]
        for size in (1, 2, 3):
            compiler = Compiler(HERMES, TOOLS)
            for track in tracks:  # one position, one id: the second begins where the first ended
                written = json.dumps(track)
                for at in range(0, len(written), size):
                    name = "play" if not at else ""
                    delta = CallDelta(0, "c1" if not at else "", name, written[at : at + size])
                    compiler.take(Chunk(call=delta))
            reply = compiler.finish()[1]
            said = [each.arguments for each in reply.requests]
            assert (said, reply.incomplete) == (tracks, False)


PROSE = """Well, that is all there was: 3 plus 4. You and I
went home, all of us; they say so!

Still, 12 < 13 and a | b, `x` too. Wrong tools were there, so write a file, stop it.
- One
- two (or three) [1], {2} and <b>bold</b>
* Andy <think> and <tool_cold> </s

> said he, "the function, or what"

| a | b |
| - | - |
"""


@pytest.mark.parametrize("markers", [HERMES, UNTAUGHT], ids=["taught", "untaught"])
@pytest.mark.parametrize("before", ["", f"{STOP}\n", "<think>Hm.</think>\n"])
def test_of_prose_no_more_is_held_back_than_what_may_begin_a_marker(
    before: str, markers: Markers
) -> None:
    compiler, shown, late = reading(before, markers), "", 0
    for end, character in enumerate(PROSE, 1):
        shown += compiler.feed(character).text
        held = len(PROSE[:end].strip()) - len(shown.strip())
        assert held <= len("<tool_call>"), PROSE[:end]
        late += held > 0
    assert late < len(PROSE) / 2


def test_code_that_no_call_can_be_in_is_shown_as_it_is_written() -> None:
    code = (
        "For example:\n\n```python\nx = [1, {2: '<b>'}]\nif x < 3 and `ls`:\n    stop()\n```\nSo."
    )
    compiler, shown = Compiler(UNTAUGHT, TOOLS), ""
    for end, character in enumerate(code, 1):
        shown += compiler.feed(character).text
        held = len(code[:end].strip()) - len(shown.strip())
        assert held <= len("```python"), code[:end]
