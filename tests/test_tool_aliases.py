"""Tools are called by the names of other agents' tools, too; no model is told these."""

from itertools import chain

import pytest

from andy_cli.compiler import compile_text
from andy_cli.compiler.mapper.json_schema import list_aliases, render_provider_schema
from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.toolbox.collection import load_tool_files

REGISTRY = load_tool_files()
TOOLS = REGISTRY.functions
ASKED = {"path": "a.txt", "content": "hello"}
FORMS = (
    '{"name": "create_file", "arguments": {"path": "a.txt", "content": "hello"}}',
    '```json\n{"name": "create_file", "arguments": {"path": "a.txt", "content": "hello"}}\n```',
    '[create_file(path="a.txt", content="hello")]',
    "<create_file><path>a.txt</path><content>hello</content></create_file>",
    'Action: create_file\nAction Input: {"path": "a.txt", "content": "hello"}',
    '```tool_code\ncreate_file(path="a.txt", content="hello")\n```',
)


@pytest.mark.parametrize("reply", FORMS)
def test_a_tool_is_asked_for_by_an_alias_in_every_form(reply: str) -> None:
    (request,) = compile_text(reply, [*TOOLS.values()]).requests
    mapped = map_call(request.name, request.arguments, TOOLS, REGISTRY.only_reads)
    assert not mapped.problems
    assert not mapped.guessed
    assert [(call.name, call.arguments) for call in mapped.calls] == [("write_file", ASKED)]


@pytest.mark.parametrize("name", ["writeFile", "WriteFile"])
@pytest.mark.parametrize("reply", FORMS)
def test_a_tool_is_asked_for_with_capitals_in_place_of_its_underscore(
    reply: str, name: str
) -> None:
    written = reply.replace("create_file", name)
    (request,) = compile_text(written, [*TOOLS.values()]).requests
    mapped = map_call(request.name, request.arguments, TOOLS, REGISTRY.only_reads)
    assert [(call.name, call.arguments) for call in mapped.calls] == [("write_file", ASKED)]


def test_an_alias_of_one_word_counts_where_something_is_called_and_is_a_word_elsewhere() -> None:
    called = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
    (request,) = compile_text(called, [*TOOLS.values()]).requests
    mapped = map_call(request.name, request.arguments, TOOLS, REGISTRY.only_reads)
    assert [call.name for call in mapped.calls] == ["terminal_execute"]
    for text in ("bash: ls: not found", "cat(1) concatenates files.", "mv(a, b) moves a."):
        reply = compile_text(text, [*TOOLS.values()])
        assert (reply.requests, reply.text) == ((), text)


def test_what_a_tool_is_not_told_to_do_is_not_left_out_for_an_alias() -> None:
    mapped = map_call("bash", {"command": "ls", "cwd": "/tmp"}, TOOLS, REGISTRY.only_reads)
    assert mapped.problems


def test_a_tool_of_that_very_name_goes_before() -> None:
    tools = {**TOOLS, "shell__bash": {"type": "function", "function": {"name": "shell__bash"}}}
    (call,) = map_call("bash", {}, tools, REGISTRY.only_reads).calls
    assert call.name == "shell__bash"


def test_no_alias_is_that_of_two_tools_or_a_name_and_no_model_is_told_one() -> None:
    aliases = [*chain.from_iterable(map(list_aliases, TOOLS.values()))]
    assert len(aliases) == len({*aliases, *TOOLS}) - len(TOOLS) >= 40
    assert "x-aliases" not in str([render_provider_schema(tool) for tool in TOOLS.values()])
