"""Every notation as models write it: the cases of tests/corpora/dialects, whole and in pieces."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler, tools_by_name
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.messages import Schema, ToolRequest
from tests.cases import draw_cases, loop_over, quick_every, sample_every

DIALECTS = discover(dialects, Dialect, "DIALECT")
LOSSLESS = [each for each in DIALECTS if each.name not in ("native", "andybot")]
CORPORA = Path(__file__).parent / "corpora" / "dialects"


def tool(name: str, required: str = "", **properties: str | Schema) -> Schema:
    """A function tool; a type stands for the schema of it."""
    schemas = {
        key: {"type": each} if isinstance(each, str) else each for key, each in properties.items()
    }
    parameters = {"type": "object", "properties": schemas, "required": required.split()}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = tools_by_name(
    [
        tool("play", "track", track="string", loop="boolean", volume="integer"),
        tool("stop"),
        tool("seek", "seconds", seconds="number"),
        tool("write_file", "path text", path="string", text="string"),
        tool("tag", tags={"type": "array", "items": {"type": "string"}}, meta="object"),
        tool("python", "code", code="string"),
    ]
)
MARKERS = Markers(DIALECTS, list(TOOLS))


class Case(NamedTuple):
    """A reply, and what it means."""

    id: str
    text: str
    calls: list[dict[str, object]]
    content: str = ""
    reasoning: str = ""
    incomplete: bool = False
    dialect: str = ""
    tools: list[Schema] | None = None
    why: str = ""


def cases() -> Iterator[Case]:
    for path in sorted(CORPORA.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Case(**json.loads(line))


CASES = list(cases())


@loop_over("case", CASES, ids=lambda case: str(case.id))
def test_a_reply_means_what_its_case_says(case: Case) -> None:
    reply = compiled(case, [case.text])
    # As JSON too: in Python True is 1.
    assert as_json(said(reply)[0]) == as_json(case.calls)
    assert said(reply) == (
        case.calls,
        case.content.strip(),
        case.reasoning.strip(),
        case.incomplete,
    )
    if case.dialect:
        assert reply.dialect == case.dialect


@loop_over("case", sample_every(12, CASES), ids=lambda case: str(case.id))
def test_pieces_of_any_size_mean_the_same(case: Case) -> None:
    whole = compiled(case, [case.text])
    sizes = random.Random(case.id)
    assert compiled(case, case.text) == whole
    assert compiled(case, pieces(case.text, lambda: 4)) == whole
    for _ in range(3):
        assert compiled(case, pieces(case.text, lambda: sizes.randint(1, 12))) == whole


@loop_over("expected", sample_every(4, DIALECTS), ids=lambda dialect: str(dialect.name))
def test_an_expectation_changes_no_reading(expected: Dialect) -> None:
    """The text overrules the name (and whatever else made one dialect the likeliest)."""
    markers = Markers(DIALECTS, list(TOOLS), expected.name)
    # A fifth of the cases for each, and another fifth for the next one.
    own_cases = CASES[DIALECTS.index(expected) % 5 :: 5]
    for case in sample_every(10, own_cases):
        if case.tools is None:
            assert (case.id, said(read(case.text, markers=markers))[0]) == (case.id, case.calls)


def compiled(case: Case, chunks: Iterable[str]) -> CompiledReply:
    tools = TOOLS if case.tools is None else tools_by_name(case.tools)
    markers = MARKERS if case.tools is None else Markers(DIALECTS, list(tools))
    return read(*chunks, markers=markers, tools=tools)


def read(*chunks: str, markers: Markers = MARKERS, tools: Tools = TOOLS) -> CompiledReply:
    compiler = Compiler(markers, tools)
    for chunk in chunks:
        compiler.feed(chunk)
    return compiler.finish()[1]


def pieces(text: str, size: Callable[[], int]) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = at + size()
        yield text[at:end]
        at = end


def as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def said(reply: CompiledReply) -> tuple[list[dict[str, object]], str, str, bool]:
    calls: list[dict[str, object]] = [
        {"name": each.name, "arguments": dict(each.arguments or {})} for each in reply.requests
    ]
    return calls, reply.text.strip(), reply.reasoning.strip(), reply.incomplete


NASTY = (
    "</tool_call>",
    "<tool_call>",
    "</parameter>",
    "</function>",
    "</invoke>",
    "</arg_value>",
    "<parameter=path>",
    '<parameter name="text">',
    "<|tool_call_end|>",
    "<|close|>argument<|sep|>",
    "<|im_end|>",
    "</think>",
    "```",
    '"',
    "'",
    "\\",
    "{",
    "}]",
    "\n",
    "\n\n",
    "\t",
    "é\U0001f3b5",
    "true",
    "12",
    "null",
    "DEAR ANDYBOT",
)
PLAIN = st.characters(codec="utf-8", exclude_categories=["C", "Z"])
words = st.lists(st.sampled_from(NASTY) | st.text(PLAIN, max_size=6), max_size=6)
# Two markers side by side, the closers of a call for one, are beyond raw notations: words between.
# A closer with the opener of another argument after it is a call that was torn.
texts = words.map(" x ".join).filter(lambda text: "<parameter" not in text.partition("</")[2])
flat = st.dictionaries(st.sampled_from(["path", "text"]), texts, min_size=1)


@pytest.mark.parametrize("dialect", quick_every(8, LOSSLESS), ids=lambda dialect: str(dialect.name))
@draw_cases(60)
@given(arguments=flat)
@example(arguments={"path": "A:\u00a1"})  # begins like a path of Windows
@example(arguments={"path": "C:\\new\\table"})
def test_what_a_dialect_writes_it_reads(dialect: Dialect, arguments: dict[str, str]) -> None:
    written = dialect.write(ToolRequest("write_file", arguments))
    reply = read(written)
    assert [(each.name, each.arguments) for each in reply.requests] == [("write_file", arguments)]
    assert reply.text == ""


@pytest.mark.parametrize("dialect", quick_every(8, LOSSLESS), ids=lambda dialect: str(dialect.name))
@given(values=st.fixed_dictionaries({"loop": st.booleans(), "volume": st.integers()}))
def test_types_survive_writing_and_reading(dialect: Dialect, values: dict[str, object]) -> None:
    reply = read(dialect.write(ToolRequest("play", {"track": "7", **values})))
    assert [each.arguments for each in reply.requests] == [{"track": "7", **values}]


def horrors(length: int) -> tuple[str, ...]:
    deep = ("[" * length, '{"a":' * (length // 2), "<" * (length // 2))
    return ("\ud800", "\0", *deep, "\\" * 999, '"' * 999)


@pytest.mark.parametrize("length", [1_000, pytest.param(3_000, marks=pytest.mark.slow)])
@loop_over("dialect", sample_every(5, LOSSLESS), ids=lambda dialect: str(dialect.name))
def test_nothing_that_a_model_writes_raises(dialect: Dialect, length: int) -> None:
    written = dialect.write(ToolRequest("play", {"track": "Blue"}))
    at = written.index("Blue")
    for horror in horrors(length):
        for text in (written[:at] + horror, written[:at] + horror + written[at:], horror + written):
            read(text)
        for opener in dialect.start_markers:
            read(opener + horror)


@loop_over("dialect", sample_every(4, LOSSLESS), ids=lambda dialect: str(dialect.name))
def test_a_call_that_is_cut_off_anywhere_raises_nothing(dialect: Dialect) -> None:
    written = dialect.write(ToolRequest("play", {"track": "Blue"}))
    for cut in range(len(written)):
        read(written[:cut])


BARE_QUOTES = (
    '{"a": {"b": "c"}}',
    'f("a", {b: "c"});',
    'd = {"a": 1, "b": "c"}\\nprint(d["a"])\\n',
)


@pytest.mark.parametrize("name", ["hermes", "llama3_json", "mistral_v11", "deepseek_v31"])
@pytest.mark.parametrize("code", BARE_QUOTES)
def test_code_with_bare_quotes_that_is_cut_off_anywhere_calls_nothing(code: str, name: str) -> None:
    dialect = next(each for each in DIALECTS if each.name == name)
    arguments = {"path": "a", "text": "CODE"}
    written = dialect.write(ToolRequest("write_file", arguments)).replace("CODE", code)
    expected = {"path": "a", "text": code.replace("\\n", "\n")}
    assert [each.arguments for each in read(written).requests] == [expected]
    for cut in range(written.index(code), written.index(code) + len(code)):
        assert read(written[:cut]).requests == ()


ODD_KEYS = ("a/b", "$k", "Size (MB)", "don't", 'say "hi"', "a: b", "}", "\u266b", "k" * 150)


@pytest.mark.parametrize("key", ODD_KEYS)
def test_keys_of_any_characters_change_neither_the_call_nor_the_next(key: str) -> None:
    write = next(each for each in DIALECTS if each.name == "hermes").write
    for value in (1, {"c": "d"}):
        asked = [ToolRequest("tag", {"meta": {"a": "x", key: value}}), ToolRequest("stop", {})]
        reply = read("\n".join(map(write, asked)))
        assert [(each.name, each.arguments) for each in reply.requests] == [
            (each.name, each.arguments) for each in asked
        ]


def test_a_call_that_cannot_be_read_between_others_is_told() -> None:
    broken = '{"name": "play", "arguments": {{{}}'
    calls = ('{"name": "stop"}', broken, '{"name": "play", "arguments": {"track": "Blue"}}')
    reply = read("<tool_calls>\n" + "\n".join(calls) + "\n</tool_calls>")
    assert [each.name for each in reply.requests] == ["stop", "play"]
    assert broken in reply.fault
