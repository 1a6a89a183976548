"""What the user sees: no plumbing, and nothing else taken away (C6 to C9, C29, R10, R15)."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.sanitizer import (
    Sanitizer,
    ToolTitles,
    asks_about_tools,
    find_leaks,
    make_titles,
    sanitize,
)
from andy_cli.compiler import dialects
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.frontends.debug.debug_part import answer_lines
from tests.cases import loop_over, sample_every

CORPUS = Path(__file__).parent / "corpora" / "sanitizer"
TOOLS = {
    name: {"type": "function", "function": {"name": name}}
    for name in json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
}
DIALECTS = discover(dialects, Dialect, "DIALECT")
MARKERS = Markers(DIALECTS, tuple(TOOLS))


def cases(name: str) -> list[dict[str, Any]]:
    lines = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


STRIP, KEEP = cases("strip"), cases("keep")
fragments = st.sampled_from(
    [
        *(
            opener
            for each in DIALECTS
            for opener in (*each.start_markers, *each.line_start_markers)
        ),
        *(closer for each in DIALECTS for closer in each.end_markers),
        *('{"name": "list_mp3s", "arguments": {"path": "~"}}', '{"tool": "x"}', '{"a": 1}'),
        *("```", "```tool_call\n", "```json\n", "`", "~~~\n", "> ", "| ", "# ", "- "),
        *("[Tool Request] ", "[Tool Results]\n", "<|im_", "<|im_start|>", "assistant\n", "</s>"),
        *("I'll call list_mp3s now. ", "Let me ", "use the ", "search tool. ", "It is nine. "),
        *("\n", "\n\n", " ", '"', "{", "}", "[", "]", "I ", "<think>", "</think>", "list_mp3s"),
    ]
)
soup = st.lists(fragments | st.text(max_size=4), max_size=10).map("".join)
prose = st.lists(
    st.sampled_from(
        "The moss grows on stones. |It was 42.|\n|\n\n|  |\u200b|Call me.|a tool and a function|"
        "read_file.py|- item |1. one |`code`|> quoted |no_such_tool|(b)|{ |} |, |\u00e9|\t".split(
            "|"
        )
    ),
    max_size=15,
).map("".join)


def clean(case: dict[str, Any]) -> str:
    user = case.get("user", "")
    titles = None if asks_about_tools(user) else ToolTitles(make_titles(TOOLS), user)
    return sanitize(case["text"], MARKERS, TOOLS, titles)


def streamed(pieces: Sequence[str]) -> str:
    sanitizer = Sanitizer(MARKERS, TOOLS, ToolTitles(make_titles(TOOLS)))
    return "".join([*map(sanitizer.feed, pieces), sanitizer.finish()])


@loop_over("case", STRIP, ids=lambda case: case["why"])
def test_plumbing_is_taken_out_without_a_trace(case: dict[str, Any]) -> None:
    assert clean(case) == case["expected"]


@loop_over("case", sample_every(4, STRIP), ids=lambda case: case["why"])
def test_where_plumbing_is_cut_never_matters(case: dict[str, Any]) -> None:
    text = case["text"]
    for at in sample_every(14, range(1, len(text))):
        assert streamed([text[:at], text[at:]]) == case["expected"], at
    assert streamed(text) == case["expected"]


@loop_over("case", [*STRIP, *KEEP], ids=lambda case: case["why"])
def test_what_is_clean_stays_so(case: dict[str, Any]) -> None:
    once = clean(case)
    assert clean({**case, "text": once}) == once


@loop_over("case", KEEP, ids=lambda case: case["why"])
def test_what_is_no_plumbing_comes_out_byte_for_byte(case: dict[str, Any]) -> None:
    assert clean(case) == case["text"]


@loop_over("case", KEEP, ids=lambda case: case["why"])
def test_what_is_no_plumbing_leaks_nothing(case: dict[str, Any]) -> None:
    assert find_leaks(case["text"], MARKERS, TOOLS) == ()


LEAKS = cases("leaks")
"""How models talk of their tools in 13 languages, and honest texts that look like it."""


@loop_over("case", LEAKS, ids=lambda case: case["id"])
def test_no_name_of_a_tool_is_shown_and_no_honest_text_is_damaged(case: dict[str, Any]) -> None:
    tools = {name: {"type": "function", "function": {"name": name}} for name in case["tools"]}
    asked = asks_about_tools(case["user"])
    titles = None if asked else ToolTitles(make_titles(tools), case["user"])
    shown = sanitize(case["text"], Markers(DIALECTS, tuple(tools)), tools, titles)
    if case["kind"] == "honest":
        assert shown == case["text"]
    elif case["id"] != HYPHEN:
        assert [each for each in case["gone"] if each in shown] == []
        assert [each for each in case["kept"] if each not in shown] == []


HYPHEN = "l016"
"""`list-directory` for `list_directory`: `web-search` is an ordinary word."""


@given(soup, st.data())
def test_cuts_never_matter(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert streamed(pieces) == streamed([text])


@given(prose)
def test_prose_is_never_touched(text: str) -> None:
    assert streamed([text]) == text
    assert streamed(text) == text


@given(soup)
def test_nothing_is_invented(text: str) -> None:
    left = iter("".join(text.lower().split()))
    shown = "".join(streamed([text]).lower().split())
    assert all(character in left for character in shown)


def test_prose_is_shown_while_it_arrives() -> None:
    sanitizer = Sanitizer(MARKERS, TOOLS, ToolTitles({"list_mp3s": "list of songs"}))
    told = "The elk lay in the bath and the"
    shown = sanitizer.feed(told)
    assert told.startswith(shown)
    assert len(told) - len(shown) < len(" and the")
    assert (shown + sanitizer.feed(" owl sang. I'll call ")).endswith("I'll call")
    assert sanitizer.feed("list_mp3") == ""
    assert sanitizer.feed("s. It is") == " list of songs. It"


def test_a_leak_is_found_and_taken_out() -> None:
    text = 'There are two.\n{"name": "list_mp3s", "arguments": {}}\n<|im_end|>'
    assert find_leaks(text, MARKERS, TOOLS) == (
        '{"name": "list_mp3s", "arguments": {}}',
        "<|im_end|>",
    )
    assert find_leaks(sanitize(text, MARKERS, TOOLS), MARKERS, TOOLS) == ()


def test_code_that_was_rendered_without_its_fence_is_no_leak() -> None:
    source = 'So:\n\n```json\n{"name": "list_mp3s", "arguments": {}}\n```\n'
    rendered = 'So:\n\n  {"name": "list_mp3s", "arguments": {}}\n'
    assert find_leaks(rendered, MARKERS, TOOLS)
    assert find_leaks(rendered, MARKERS, TOOLS, source) == ()


@pytest.mark.parametrize(
    ("user", "asked"),
    [
        ("which tools do you have?", True),
        ("Welche Werkzeuge hast du?", True),
        ("\u4f60\u6709\u54ea\u4e9b\u5de5\u5177\uff1f", True),
        ("what functions did you call?", True),
        ("play the second song", False),
        ("search my mail for the bill", False),
        ("", False),
    ],
)
def test_whether_the_user_asks_about_tools(user: str, asked: bool) -> None:
    assert asks_about_tools(user) is asked


def test_the_shell_reaches_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"id": 1, "chunks": ["It is nine.<|im", "_end|>"], "tools": ["list_mp3s"]},
        {"id": 2, "text": "I'll call list_mp3s. Two songs.", "tools": ["list_mp3s"]},
        {
            "id": 3,
            "text": "I use list_mp3s.",
            "user": "which tools?",
            "tools": [*TOOLS.values()],
        },
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, lines))))
    assert answer_lines("sanitize", 2, -1) == 0
    told = [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()]
    assert told == ["It is nine.", "I'll call list mp3s. Two songs.", "I use list_mp3s."]
