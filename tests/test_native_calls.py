"""Pieces of native tool calls, as servers really send them, and what they mean."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler.dialects.native import NativeCalls
from andy_cli.messages import CallDelta

LISTING = '{"path":"music"}'
A, B = '{"file":"a.mp3"}', '{"file":"b.mp3"}'


def joined(*deltas: CallDelta, complete: bool = True) -> tuple[list[tuple[str, object]], bool]:
    calls = NativeCalls()
    for delta in deltas:
        calls.add(delta)
    requests, incomplete, *_ = calls.read(complete)
    return [(request.name, request.arguments) for request in requests], incomplete


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([CallDelta(0, "c1", "list", LISTING)], id="at once"),
        pytest.param(
            [CallDelta(0, "c1", "list"), CallDelta(0, "", "", LISTING[:5]),
             CallDelta(0, "", "", LISTING[5:])], id="in pieces"),
        pytest.param([CallDelta(0, "c1", "li"), CallDelta(0, "", "st", LISTING)], id="name in two"),
        pytest.param([CallDelta(0, "c1", "li"), CallDelta(0, "", "list", LISTING)], id="grows"),
        pytest.param([CallDelta(0, "c1", "list"), CallDelta(0, "zz", "", LISTING)], id="new id"),
        pytest.param(
            [CallDelta(0, "c1", "list", LISTING[:4]), CallDelta(0, "c1", "list", LISTING[4:])],
            id="name and id repeated"),
        pytest.param([CallDelta(-1, "c1", "list", LISTING)], id="position -1"),
        pytest.param([CallDelta(None, "c1", "list"), CallDelta(None, "c1", "", LISTING)],
                     id="id only"),
        pytest.param([CallDelta(None, "", "list"), CallDelta(None, "", "", LISTING)],
                     id="order only"),
        pytest.param([CallDelta(0, "c1", "list", f"```json\n{LISTING}\n```")], id="fenced"),
        pytest.param([CallDelta(0, "c1", "list", json.dumps(LISTING))], id="encoded twice"),
        pytest.param([CallDelta(0, "c1", "list", "{'path': 'music',}")], id="Python dictionary"),
        pytest.param([CallDelta(0, "c1", "list", LISTING), CallDelta(0, "c2")], id="empty piece"),
        pytest.param([CallDelta(0, "c1", "list", LISTING[:size]) for size in (0, 1, 4, 9, 99)],
                     id="arguments grow"),
        pytest.param([CallDelta(0, "c1", "list", f"[{LISTING}]")], id="in a list"),
        pytest.param([CallDelta(0, "c1", "list", f"{LISTING}}}")], id="a bracket too many"),
        pytest.param([CallDelta(0, "c1", "list", f"{LISTING}\n</tool_call>")], id="closer"),
        pytest.param([CallDelta(0, "c1", "list", "{}"), CallDelta(0, "", "", LISTING[:5]),
                      CallDelta(0, "", "", LISTING[5:])], id="empty object first"),
        pytest.param([CallDelta(0, "c1", "list", LISTING), CallDelta(0, "", "", "{}")],
                     id="empty object last"),
        pytest.param([CallDelta(0, "c1", "list", "null"), CallDelta(0, "", "", LISTING)],
                     id="null first"),
    ],
)  # fmt: skip
def test_one_call_is_one_call_however_it_is_cut(deltas: list[CallDelta]) -> None:
    assert joined(*deltas) == ([("list", {"path": "music"})], False)


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([CallDelta(0, "c1", "play", A), CallDelta(1, "c2", "play", B)], id="plain"),
        pytest.param([CallDelta(1, "c2", "play", B), CallDelta(0, "c1", "play", A)], id="swapped"),
        pytest.param([CallDelta(0, "c1", "play", A), CallDelta(0, "c2", "play", B)],
                     id="one position, two ids"),
        pytest.param([CallDelta(0, "c1", "play", A), CallDelta(0, "c1", "play", B)],
                     id="one position, one id"),
        pytest.param([CallDelta(0, "c1", "play", A + B)], id="glued"),
        pytest.param([CallDelta(0, "c1", "play", A), CallDelta(0, "", "", B)], id="glued later"),
        pytest.param([CallDelta(None, "c1", "play", A), CallDelta(None, "c2", "play", B)],
                     id="no position"),
        pytest.param([CallDelta(None, "", "play", A), CallDelta(None, "", "play", B)],
                     id="no position, no id"),
        pytest.param(
            [CallDelta(0, "c1", "play", A[:7]), CallDelta(1, "c2", "play", B[:7]),
             CallDelta(0, "", "", A[7:]), CallDelta(1, "", "", B[7:])], id="interleaved"),
    ],
)  # fmt: skip
def test_two_calls_are_two_calls_however_they_are_mixed(deltas: list[CallDelta]) -> None:
    assert joined(*deltas) == ([("play", {"file": "a.mp3"}), ("play", {"file": "b.mp3"})], False)


def test_glued_calls_get_ids_of_their_own() -> None:
    calls = NativeCalls()
    calls.add(CallDelta(0, "c1", "play", A + B))
    assert [request.id for request in calls.read(True).requests] == ["c1", "c1_2"]


def test_arguments_that_are_sent_again_are_one_call() -> None:
    assert joined(CallDelta(0, "c1", "play", A), CallDelta(0, "", "", A)) == (
        [("play", json.loads(A))],
        False,
    )


def test_a_whole_call_that_is_sent_again_under_its_id_is_one_call() -> None:
    in_pieces = [CallDelta(0, "c1", "play", A[:7]), CallDelta(0, "", "", A[7:])]
    for place in (0, None):
        sent_again = CallDelta(place, "c1", "play", A)
        assert joined(*in_pieces, sent_again) == ([("play", json.loads(A))], False)
    other = CallDelta(0, "c1", "stop", A)
    assert [name for name, _ in joined(*in_pieces, other)[0]] == ["play", "stop"]


def test_arguments_that_only_python_takes_for_the_same_are_two_calls() -> None:
    written = CallDelta(0, "c1", "switch", '{"on": 1}{"on": true}')
    assert joined(written)[0] == [("switch", {"on": 1}), ("switch", {"on": True})]


def test_two_calls_at_one_position_keep_the_ids_that_they_came_with() -> None:
    calls = NativeCalls()
    calls.add(CallDelta(0, "c1", "play", A))
    calls.add(CallDelta(0, "c2", "play", B))
    assert [request.id for request in calls.read(True).requests] == ["c1", "c2"]


@pytest.mark.parametrize("text", ["}", "]", "{", '"}', "\\", '\\"}'])
def test_a_bracket_in_a_text_ends_no_call(text: str) -> None:
    written = json.dumps({"file": text})
    for cut in range(1, len(written)):
        deltas = CallDelta(0, "c1", "play", written[:cut]), CallDelta(0, "zz", "", written[cut:])
        assert joined(*deltas) == ([("play", {"file": text})], False)


def test_another_name_and_id_begin_another_call_after_one_without_arguments() -> None:
    assert joined(CallDelta(0, "c1", "ping"), CallDelta(0, "c2", "list", LISTING)) == (
        [("ping", {}), ("list", {"path": "music"})],
        False,
    )


@pytest.mark.parametrize("arguments", ["", "{}", "null", " "])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    assert joined(CallDelta(0, "c1", "ping", arguments)) == ([("ping", {})], False)


@pytest.mark.parametrize("arguments", [LISTING[:-1], LISTING[:-2], "1", "[1,2]", "prose", '"{"'])
def test_arguments_that_are_no_object_are_never_guessed_at(arguments: str) -> None:
    assert joined(CallDelta(0, "c1", "list", arguments)) == ([], True)


def test_a_line_break_within_a_text_may_stand_as_it_is() -> None:
    written = '{"path": "a.txt", "content": "one\n\ttwo"}'
    assert joined(CallDelta(0, "c1", "write", written)) == (
        [("write", {"path": "a.txt", "content": "one\n\ttwo"})],
        False,
    )


def test_nothing_of_a_reply_that_was_cut_off_may_run() -> None:
    assert joined(CallDelta(0, "c1", "delete", '{"path":"a"}'), complete=False) == ([], True)


def test_a_reply_without_calls_is_not_incomplete() -> None:
    assert joined(complete=False) == ([], False)


def test_arguments_without_a_name_are_incomplete() -> None:
    assert joined(CallDelta(0, "c1", "", LISTING)) == ([], True)


def test_a_character_that_was_cut_in_two_is_joined() -> None:
    first, second = '{"file":"\ud83c', '\udfb5"}'
    deltas = CallDelta(0, "c1", "play", first), CallDelta(0, "", "", second)
    assert joined(*deltas) == ([("play", {"file": "\N{MUSICAL NOTE}"})], False)


def test_deep_nesting_is_incomplete_rather_than_a_crash() -> None:
    assert joined(CallDelta(0, "c1", "play", '{"a":' + "[" * 100_000)) == ([], True)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=3), st.data())
def test_cuts_never_change_the_calls(written: list[dict[str, object]], data: st.DataObject) -> None:
    calls = NativeCalls()
    for position, arguments in enumerate(written):
        text = json.dumps(arguments)
        cut = data.draw(st.integers(0, len(text)))
        calls.add(CallDelta(position, f"c{position}", "play", text[:cut]))
        calls.add(CallDelta(position, "", "", text[cut:]))
    requests, incomplete, *_ = calls.read(True)
    assert [request.arguments for request in requests] == written
    assert not incomplete
