"""Data never drives the terminal, however it is cut, and ordinary text stays."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.neutralize import PART
from andy_cli.guard.terminal_sanitizer import (
    CONTROL,
    MAX_ACCENTS,
    Neutralizer,
    neutralize_text,
    one_line,
    spell_out,
)
from tests.cases import Row, loop_over, name, rows

ROWS = rows("guard/terminal.jsonl", "guard/own_terminal.jsonl")
HOSTILE = st.text(
    alphabet="ab1 \n\t\x1b[]P\\;mK0\x07\x08\x9b\x9c\x9d\u200d\ufe0f\u200c\u05d0\u0301"
    "\U0001f1e6\u202e\U000e0041\xe9\U0001f469\r\u200b\ud800",
    max_size=60,
)


def whole(row: Row) -> bytes:
    return b"".join(base64.b64decode(each) for each in row["chunks_b64"])


def shown(row: Row, size: int) -> str:
    data = whole(row)
    cuts = [data[at : at + size] for at in range(0, len(data), size)]
    chunks = [base64.b64encode(each).decode() for each in cuts]
    return str(PART.answer({"chunks_b64": chunks, "where": row["where"]}, ChunkCut())["shown"])


@loop_over("row", ROWS, ids=name)
def test_what_is_kept_is_shown_and_nothing_drives_the_terminal(row: Row) -> None:
    said = str(PART.answer(row, ChunkCut())["shown"])
    assert not CONTROL.search(said)
    assert [each for each in row["keep"] if each not in said] == []


@loop_over("row", [row for row in ROWS if len(whole(row)) < 2000], ids=name)
@loop_over("size", [1, 2, 3, 7])
def test_cuts_change_nothing(row: Row, size: int) -> None:
    assert shown(row, size) == shown(row, 10**6)


@given(st.lists(HOSTILE, max_size=6))
def test_pieces_are_shown_as_the_whole_is(pieces: list[str]) -> None:
    neutralizer = Neutralizer()
    said = "".join(map(neutralizer.feed, pieces)) + neutralizer.finish()
    assert said == neutralize_text("".join(pieces))


@given(HOSTILE | st.text())
def test_nothing_that_acts_is_left_and_a_second_time_changes_nothing(text: str) -> None:
    once = neutralize_text(text)
    assert not CONTROL.search(once)
    assert neutralize_text(once) == once


@given(HOSTILE | st.text())
def test_what_is_spelled_can_be_seen(text: str) -> None:
    assert spell_out(text).isprintable()
    assert spell_out(spell_out(text)) == spell_out(text)


@given(HOSTILE | st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "kept\n\tas it is: é 音楽 👩‍🎤",
        "שלום עולם, مرحبا بالعالم",
        "می‌خواهم and क्‍ष",
        "1️⃣ ❤️‍🔥 🇩🇪🇫🇷 👍🏽",
        "a[31m and ]0; are text without an escape",
        "⠓⠑⠇⠇⠕ ⠺⠕⠗⠇⠙",
        "e\u0301 \u1ec7 \u0915\u094d\u0937",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert neutralize_text(text) == text


def test_a_whole_sequence_goes_and_a_broken_one_loses_what_makes_it_one() -> None:
    assert neutralize_text("a\x1b[31mb\x1b]52;c;x\x07c\x9b2Jd\u202ee\r\x00f") == "abcdef"
    assert neutralize_text("a\x1b]0;never ended\nb") == "a]0;never ended\nb"


def test_accents_have_an_end() -> None:
    assert neutralize_text("a" + "\u0301" * 1000) == "a" + "\u0301" * MAX_ACCENTS
    assert len(neutralize_text("\U0001f1e6" * 1000)) == 32


def test_joiners_join_letters_of_other_scripts_only() -> None:
    assert neutralize_text("r\u200dm \u200c-\ufe0frf é\u200d\u200d\u200dé") == "rm -rf é\u200dé"


def test_what_is_invisible_is_spelled_out() -> None:
    assert spell_out("rm\u200b\u3164\u2800\t-rf\n~\x1b[K") == (
        r"rm\u200b\u3164\u2800\t-rf\n~\x1b[K"
    )
    assert spell_out("a" + "\u0301" * 12).endswith(r"\u0301\u0301\u0301\u0301")


@pytest.mark.parametrize(
    "text", ["\x1b", "\x1b]", "\x1b[1", "\x90", "\x1bP\x1b", "\u200d", "\u0301é"]
)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    neutralizer = Neutralizer()
    for _ in range(200):
        neutralizer.feed(text * 500)
    assert len(neutralizer.finish()) <= 5000
    assert len(neutralize_text(text * 100_000)) <= 100_000 * len(text)


def test_debug_neutralize_reads_text_too() -> None:
    assert PART.answer({"text": "a\x1b[1mb"}, ChunkCut(1)) == {"shown": "ab"}
