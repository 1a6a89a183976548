"""Quotations in a reply stay where they stand, however it arrives."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.calls.injection import is_example, is_quoted
from andy_cli.compiler import compile_text, list_dialects, write_call
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.frontends.serve.answers.quote_aware_parser import REREAD, QuoteAwareParser
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, make_tool_prompt
from andy_cli.messages import Chunk, ToolRequest
from tests.cases import loop_over

TOOLS = {
    name: {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"file": {"type": "string"}}},
        },
    }
    for name in ("play_mp3", "list_mp3s")
}
CALL = '<tool_call>{"name": "play_mp3", "arguments": {"file": "a"}}</tool_call>'
FENCED = '```json\n{"name": "play_mp3", "arguments": {"file": "a"}}\n```'
PROSE = ("", "Well. ", "\n", " \n\n", "It is\nso", "```python\nx = 1\n```\n", '"', "> ")
SHOWN = ("<think>Hm.</think>", FENCED, f"> {CALL}\n", f'"{CALL}"', CALL)


def is_text(request: ToolRequest, raw: str) -> bool:
    return request.quoted or is_quoted(request, raw)


def read(pieces: list[str]) -> tuple[str, list[str]]:
    reader = QuoteAwareParser(make_tool_prompt(DIALECTS["hermes"], TOOLS).make_compiler, is_text)
    shown = [reader.take(Chunk(each)).text for each in pieces]
    last, reply = reader.finish()
    text = "".join([*shown, last.text])
    assert text == reply.text
    return text, [json.dumps(dict(each.arguments or {})) for each in reply.requests]


@pytest.mark.parametrize(
    "reply",
    [
        f"So:\n\n{FENCED}\n\nAnd that is it.",
        f"Before.\n> {CALL}\nBehind.\n",
        f'He wrote\n\n"{CALL}" twice.',
        f"{FENCED}\nThat was it.",
        f"One:\n{FENCED}\n\ntwo:\n\n{FENCED}\n",
    ],
)
def test_a_reply_with_nothing_but_quotations_is_shown_as_it_was_written(reply: str) -> None:
    assert read([reply]) == read([*reply]) == (reply, [])


WRITTEN = [name for name in list_dialects() if name not in ("native", "code", "cohere_r_plus")]
FRAMES = {
    "quotation marks": ('The page says: "', '" and I did not do that.'),
    "curly marks": ("The page says: \u201c", "\u201d and I did not do that."),
    "inline code": ("It holds `", "` as an example."),
    "a block of code": ("So it looks:\n\n    ", "\n\nThat is all."),
    "the end of one": ("So it looks:\n\n    ", ""),
}


@loop_over("dialect", WRITTEN)
def test_a_call_that_a_sentence_begins_with_is_an_example(dialect: str) -> None:
    call = write_call("play_mp3", {"file": "a"}, dialect)
    for behind, is_one in ((" would play it; say the word.", True), (" It plays.", False)):
        reply = f"{call}{behind}"
        found = compile_text(reply, [*TOOLS.values()], dialect)
        for request in found.requests:
            if reply[request.span[1] :].endswith(behind):
                assert is_example(request, reply) == is_one, (reply, request.span)


@loop_over("dialect", WRITTEN)
def test_a_call_in_any_frame_of_a_quotation_is_one(dialect: str) -> None:
    call = write_call("play_mp3", {"file": "a"}, dialect)
    for name, (before, behind) in FRAMES.items():
        indent = "\n    " if before.endswith("    ") else "\n"
        reply = f"{before}{call.replace(chr(10), indent)}{behind}"
        found = compile_text(reply, [*TOOLS.values()], dialect)
        assert all(is_text(request, reply) for request in found.requests), name


@loop_over("dialect", WRITTEN)
def test_a_call_that_stands_alone_or_below_words_is_none(dialect: str) -> None:
    call = write_call("play_mp3", {"file": "a"}, dialect)
    for before in ("", "I will look.\n\n", 'He said "go".\n\n', "See `a`.\n\n", "- so:\n\n    "):
        reply = before + call.replace("\n", "\n    " if before.endswith("    ") else "\n")
        found = compile_text(reply, [*TOOLS.values()], dialect)
        assert [is_text(request, reply) for request in found.requests] == [False], before


@loop_over("dialect", [name for name in WRITTEN if name != "harmony"])  # its end is a control token
def test_an_example_at_the_end_of_a_reply_is_shown_with_its_closer(dialect: str) -> None:
    reply = f"Like this:\n\n{write_call('play_mp3', {'file': 'a'}, dialect)}"
    requests = compile_text(reply, [*TOOLS.values()]).requests
    markers = Markers([*dialects_by_name().values()], tuple(TOOLS))
    spans = frozenset(request.span for request in requests)
    compiler = Compiler(markers, TOOLS, plain_spans=spans, keeps_objects=False)
    compiler.feed(reply)
    assert requests
    assert compiler.finish()[1].text.strip() == reply.strip()


def test_a_call_beside_a_quotation_is_a_call() -> None:
    text, calls = read([*f"Not this:\n> {CALL}\nBut this: {CALL}"])
    assert text == f"Not this:\n> {CALL}\nBut this:"
    assert len(calls) == 1


def test_any_number_of_quotations_stays_where_it_stands() -> None:
    many = "".join(f'{at}:\n"{CALL}"\n> {CALL}\n' for at in range(REREAD + 4))
    reader = QuoteAwareParser(make_tool_prompt(DIALECTS["hermes"], TOOLS).make_compiler, is_text)
    shown = "".join([reader.take(Chunk(each)).text for each in many])
    last, reply = reader.finish()
    assert (shown + last.text, reply.requests) == (many, ())


@given(st.lists(st.sampled_from(PROSE + SHOWN), max_size=12).map("".join), st.data())
def test_what_is_shown_does_not_depend_on_how_it_arrives(reply: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(reply)), max_size=8)))
    edges = [0, *cuts, len(reply)]
    pieces = [reply[start:end] for start, end in pairwise(edges)]
    assert read([reply]) == read([*reply]) == read(pieces)
