"""No character of a reply is lost: it is shown, run, or listed as hidden."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.control_tokens import CLOSERS, LITERAL, REASONING
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.lexer import Lexer, Segment
from andy_cli.compiler.markers import Markers
from andy_cli.discover import discover
from tests.cases import CORPORA, rows
from tests.test_dialects import CASES, TOOLS

DIALECTS = discover(dialects, Dialect, "DIALECT")
MARKERS = Markers(DIALECTS, tuple(TOOLS))
NAMED = tuple(json.loads((CORPORA / "sanitizer" / "tools.json").read_text(encoding="utf-8")))
SONGS = tools_by_name([{"function": {"name": each}} for each in NAMED])
SONG_MARKERS = Markers(DIALECTS, NAMED)
TEXTS: list[tuple[str, Markers, Tools]] = [
    *((case.text, MARKERS, TOOLS) for case in CASES),
    *(
        (str(row["text"]), SONG_MARKERS, SONGS)
        for row in rows("sanitizer/strip.jsonl", "sanitizer/keep.jsonl")
    ),
    *(
        (str(row["text"]), MARKERS, TOOLS)
        for row in rows("replies/first.jsonl", "replies/second.jsonl")
    ),
]
fragments = st.sampled_from(
    [
        *(opener for each in DIALECTS for opener in (*each.openers, *each.line_openers)),
        *(closer for each in DIALECTS for closer in each.closers),
        *(*REASONING, *CLOSERS, *LITERAL),
        *(
            "<|im_start|>user\n",
            "<|im_end|>",
            "<|user|>",
            "<tool_response>",
            "\nUser: ",
            "> ",
            "| ",
        ),
        *('{"name": "stop", "arguments": {}}', "stop()", "```json\n", "```", "`", "\n", " ", "x"),
    ]
)
soup = st.lists(fragments | st.text(max_size=4), max_size=10).map("".join)


def segments(
    pieces: Sequence[str],
    markers: Markers,
    tools: Tools,
    **how: Any,  # noqa: ANN401
) -> list[Segment]:
    lexer = Lexer(markers, tools, **how)
    return [*(each for piece in pieces for each in lexer.feed(piece)), *lexer.finish()]


def squeezed(text: str) -> str:
    return "".join(text.split())


def check_all_accounted_for(text: str, markers: Markers, tools: Tools) -> None:
    """Every segment is shown, thought, run, or listed, as far as it is not white space."""
    compiler = Compiler(markers, tools)
    compiler.feed(text)
    _, reply = compiler.finish()
    listed = {place for start, end in reply.spans for place in range(start, end)}
    listed |= {place for _, start, end in reply.hidden for place in range(start, end)}
    left = "".join(character for place, character in enumerate(text) if place not in listed)
    own = "".join(each.text for each in parsed(text, markers, tools))
    shown = squeezed(reply.text + reply.reasoning + own)
    pool = list(shown)
    for character in squeezed(left):
        assert character in pool, f"{character!r} is neither shown nor listed"
        pool.remove(character)


def parsed(text: str, markers: Markers, tools: Tools) -> list[Any]:
    return [each.parsed for each in segments([text], markers, tools)]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_the_segments_joined_are_the_reply(size: int) -> None:
    for text, markers, tools in TEXTS:
        pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
        for runs in (True, False):
            found = segments(pieces, markers, tools, runs=runs)
            assert "".join(each.text for each in found) == text
            assert [each.start for each in found] == starts(found)


def starts(found: Sequence[Segment]) -> list[int]:
    at, places = 0, []
    for each in found:
        places.append(at)
        at += len(each.text)
    return places


def test_every_character_is_shown_run_or_listed() -> None:
    for text, markers, tools in TEXTS:
        check_all_accounted_for(text, markers, tools)


@given(soup, st.data())
def test_any_reply_in_any_pieces_is_its_segments(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(each.text for each in segments(pieces, MARKERS, TOOLS)) == text


@given(soup)
def test_no_character_of_any_reply_is_lost(text: str) -> None:
    check_all_accounted_for(text, MARKERS, TOOLS)
