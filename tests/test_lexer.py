"""No character of a reply is lost: it is shown, run, or listed as hidden."""

import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.control_tokens import CLOSERS, LITERAL, REASONING
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.lexing.lexer import Lexer, Segment
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from tests.cases import CORPORA, loop_over, quick_every, rows, sample_every
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
        *(
            opener
            for each in DIALECTS
            for opener in (*each.start_markers, *each.line_start_markers)
        ),
        *(closer for each in DIALECTS for closer in each.end_markers),
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


@pytest.mark.parametrize("size", quick_every(3, [5, 0, 1]))
def test_the_segments_joined_are_the_reply(size: int) -> None:
    for text, markers, tools in sample_every(5, TEXTS):
        pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
        for runs in (True, False):
            found = segments(pieces, markers, tools, runs_requests=runs)
            assert "".join(each.text for each in found) == text
            assert [each.start for each in found] == starts(found)


def starts(found: Sequence[Segment]) -> list[int]:
    at, places = 0, []
    for each in found:
        places.append(at)
        at += len(each.text)
    return places


def test_every_character_is_shown_run_or_listed() -> None:
    for text, markers, tools in sample_every(3, TEXTS):
        check_all_accounted_for(text, markers, tools)


@given(soup, st.data())
def test_any_reply_in_any_pieces_is_its_segments(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(each.text for each in segments(pieces, MARKERS, TOOLS)) == text


@given(soup)
def test_no_character_of_any_reply_is_lost(text: str) -> None:
    check_all_accounted_for(text, MARKERS, TOOLS)


KINDS = {
    "p": "prose",
    "c": "code",
    "q": "quote",
    "t": "row",
    "r": "reasoning",
    "f": "framing",
    "i": "invented",
    "x": "closer",
}
PLAIN_REPLIES = (
    # Lines of quotations and tables, and code, in which neither counts.
    "p:a\n|q:> b\n|p:c",
    "p:a\n |q:> b\n> c\n|p:d > e",
    "q:> a |c:`b|q:\n|p:c|c:` d",
    "c:```\n> a\n```|p:\n|q:> c",
    "c:`a`|p: b |c:``c`d``|p: e",
    "p:a |c:`b|p:\nc|c:` d",
    "p:a |c:`</tool_call> <think>`|p: b",
    # What stands around an answer is framing only where the reply begins with it.
    "f:<answer>|p:Yes|f:</answer>",
    "f:<final_answer>|p:Yes|f:</final_answer>",
    "f:<response>|p:Yes</answer>|f:</response>",
    "p:So <answer>Yes</answer>",
    "f:<s>|p:Yes|f:</s>",
    "p:a <s>b</s> c",
    "p:Yes|f:</s>",
    "p:Yes</s> no",
    # Whose turn it is.
    "f:assistant\n|p:Yes",
    "f:Assistant:|p: Yes",
    "p:So\nassistant: yes",
    "f:[INST]|p: Yes",
    "p:Yes |i:[INST] no",
    "p:Yes\n|i:### User: no",
    "p:### User: no",
    "p:User: yes",
    "p:Yes\nUser: no",
    "p:Yes\n|f:User: ",
    "p:Yes\n|f:User: no\nAssistant: oh dear\nUser: bye",
    "p:Yes\n\n|f:Human: and\nthis?\n\nAI: that",
    "p:This is one:\n\nUser: hi\nAssistant: ho",
    "p:User: hi\nAssistant: ho",
    "p:User: hi\nAssistant: ho\nUser: rum?\nAssistant: aye",
    "p:This is one:\n\nUser: hi\nAssistant: ho\nUser: rum?\nAssistant: aye",
    "p:Log in.\nUser: admin\nPassword: x",
    "p:Yes|i:<|endoftext|>Human: no",
    "p:Hello|f:<|endoftext|>|p: there",
    # A closer without its opener.
    "p:Words </tool_call> go on",
    "p:Words.|f:</tool_call>",
    "p:Words\n|f:</tool_call>|p:\nmore",
    # Thoughts.
    "p:a|x:</think>|p:b|f:</think>|p:c",
    "p:The <think> is</think>b",
    "p:x<think>c</think>",
    "p:I see.\n<think> begins it, </think> ends it.",
    "f:<think>|r:a|f:</think>|p:b|f:<think>|r:c|f:</think>|p:d",
    "f:<think>|r:a|f:</think>|p:b.\n<think>c</think>d",
)
THOUGHT_REPLIES = (
    "r:so|f:</think>|p:Yes",
    "f:<think>|r:so|f:</think>|p:Yes",
    "f:\n<think>|r:\nso|f:</think>|p:Yes",
    "f:[THINK]|r:so|f:[/THINK]|p:Yes",
    "r:<thin",
    "r:<thinx> so|f:</thinking>|p:Yes",
    "r:so <think>a|f:</think>|p:Yes",
)
"""After a prompt that has opened the reasoning."""


def marked(text: str) -> list[tuple[str, str]]:
    return [(KINDS[each[0]], each[2:]) for each in re.split(r"\|(?=[a-z]:)", text)]


def in_one(found: Sequence[Segment]) -> list[tuple[str, str]]:
    """Pieces of one kind that stand side by side as one."""
    groups = groupby(found, key=lambda each: each.kind)
    return [(kind, "".join(each.text for each in group)) for kind, group in groups]


@loop_over("size", [1, 4, 999])
@loop_over(
    ("reply", "thinks"),
    [*((each, False) for each in PLAIN_REPLIES), *((each, True) for each in THOUGHT_REPLIES)],
)
def test_each_part_of_a_reply_is_of_its_kind(reply: str, thinks: bool, size: int) -> None:
    parts = marked(reply)
    text = "".join(part for _, part in parts)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert in_one(segments(pieces, MARKERS, TOOLS, reasoning_open=thinks)) == parts


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 100, 5000])
def test_a_marker_is_found_wherever_in_a_long_text_it_stands(step: int) -> None:
    for marker, kind in (("<|im_end|>", "framing"), ("\nstop()", "call"), ("</think>", "closer")):
        for size in range(0, 40 * step, step + 13):
            before = ("word " * (size // 5 + 1))[: size + 1]
            found = in_one(segments([f"{before}{marker}"], MARKERS, TOOLS))
            assert found[-1][0] == kind
            assert "".join(part for _, part in found) == f"{before}{marker}"
