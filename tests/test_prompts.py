"""What models are taught is what andy reads: every example in every prompt is a call that fits."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.prompt.system_prompt import (
    make_example_arguments,
    render_example_call,
    render_system_prompt,
    render_tool_prompt,
)
from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.dialects.protocols import action, andybot
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.mapper.json_schema import ROOT, render_provider_schema, standardize_schema
from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.discover import discover
from andy_cli.messages import ToolRequest
from andy_cli.models.token_count import estimate_tokens
from andy_cli.toolbox import collection
from andy_cli.toolbox.registry import Registry
from tests.cases import loop_over, sample_every
from tests.scripted_tools import DESK

CORPORA = Path(__file__).parent / "corpora"
DIALECTS = discover(dialects, Dialect, "DIALECT")
TAUGHT = [each for each in DIALECTS if each.prompt_template]
WRITTEN = [each for each in TAUGHT if not each.interview]
BY_NAME = {each.name: each for each in DIALECTS}


def listed(name: str) -> list[dict[str, Any]]:
    value = json.loads((CORPORA / name).read_text(encoding="utf-8"))
    tools = value.values() if isinstance(value, dict) else value
    return [each if "type" in each else {"type": "function", "function": each} for each in tools]


SHIPPED = [tool.function for tool in collection.load_tool_files()]
TRICKY = listed("spec/tricky_tools.json")
TOOLS: list[Mapping[str, Any]] = [
    *SHIPPED,
    *(tool.function for tool in DESK),
    *listed("requests/house_tools.json"),
    *listed("requests/desk_tools.json"),
    *listed("mapper/tools.json"),
    *TRICKY,
]


def catalogue(*tools: Mapping[str, Any]) -> Tools:
    """As the turn offers them."""
    return {each["function"]["name"]: render_provider_schema(each) for each in tools}


@cache
def registries() -> list[Tools]:
    """Registries of several tools, and some tools each as a registry of its own."""
    alone = [catalogue(each) for each in [*TRICKY, *TOOLS[::12]]]
    return [catalogue(*SHIPPED), catalogue(*(tool.function for tool in DESK)), *alone]


def fits(arguments: object, tool: Mapping[str, Any]) -> bool:
    text = json.dumps(standardize_schema(tool["function"].get("parameters") or {}))
    schema = json.loads(text.replace(f"{ROOT}#", "#"))
    return bool(jsonschema_rs.Draft202012Validator(schema).is_valid(arguments))


@cache
def markers(expected: str) -> Markers:
    return Markers(DIALECTS, tuple(catalogue(*TOOLS)), expected)


def read(text: str, dialect: Dialect, tools: Tools) -> Sequence[ToolRequest]:
    compiler = Compiler(markers(dialect.name), tools)
    compiler.feed(text)
    return compiler.finish()[1].requests


@loop_over("dialect", sample_every(8, WRITTEN), ids=lambda each: str(each.name))
def test_case_46_the_example_in_a_prompt_is_a_call_that_fits(dialect: Dialect) -> None:
    for tools in registries():
        shown = render_example_call(dialect, tools)
        assert shown in render_tool_prompt(dialect, tools)
        (request,) = read(shown, dialect, tools)
        assert request.name in tools
        (call,) = map_call(request.name, request.arguments or {}, tools, lambda name: False).calls
        assert (call.name, fits(call.arguments, tools[call.name])) == (request.name, True), shown


@loop_over("tool", TOOLS, ids=lambda each: str(each["function"]["name"]))
def test_case_46_stand_ins_fit_their_schema(tool: Mapping[str, Any]) -> None:
    parameters = tool["function"].get("parameters") or {}
    arguments = make_example_arguments(parameters)
    # Not every pattern has a stand-in: then another tool stands in the example.
    has_pattern = '"pattern"' in json.dumps(parameters)
    assert has_pattern or arguments is not None
    assert arguments is None or fits(arguments, tool)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[a-f]{11}q$"},
        {"not": {"type": "string"}},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "object", "minProperties": 2},
    ],
    ids=str,
)
def test_what_is_not_sure_to_fit_is_left_to_another_tool(schema: Mapping[str, Any]) -> None:
    wanted = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    hard = {"type": "function", "function": {"name": "hard", "parameters": wanted}}
    assert make_example_arguments(wanted) is None
    assert '"ping"' in render_example_call(BY_NAME["hermes"], catalogue(hard, PING))


PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}
numbers = st.integers(-30, 30) | st.floats(-30, 30, allow_nan=False).map(
    lambda each: round(each, 2)
)
plain = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number", "string", "boolean"])},
    optional={
        "minimum": numbers,
        "maximum": numbers,
        "exclusiveMinimum": numbers,
        "exclusiveMaximum": numbers,
        "multipleOf": st.sampled_from([1, 2, 5, 0.5, 0.25]),
        "minLength": st.integers(0, 30),
        "maxLength": st.integers(0, 30),
        "pattern": st.sampled_from(["^a", "^[a-z]{2}$", r"^\d+$", "x", r"^\d{4}-\d\d-\d\d$"]),
        "default": st.sampled_from(["a", 5, None]),
    },
)
nested = (
    st.fixed_dictionaries(
        {"type": st.just("array"), "items": plain},
        optional={"minItems": st.integers(0, 3), "maxItems": st.integers(0, 3)},
    )
    | st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from([None, "a", 1, True]), min_size=1, unique_by=repr)}
    )
    | st.fixed_dictionaries({"anyOf": st.lists(plain, min_size=1, max_size=2)})
)


@given(st.dictionaries(st.sampled_from(["path", "count", "when"]), plain | nested, min_size=1))
def test_stand_ins_fit_or_are_not_made(properties: dict[str, object]) -> None:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    arguments = make_example_arguments(schema)
    if arguments is not None:
        assert fits(arguments, {"function": {"parameters": schema}}), arguments


def test_case_46_the_objects_of_the_action_prompt_keep_to_its_letter() -> None:
    lines = render_tool_prompt(action.DIALECT, catalogue(*SHIPPED)).splitlines()
    shown = [line for line in lines if line.startswith(('{"thought"', '{"final"'))]
    assert len(shown) == 2
    assert [action.find_format_violation(line, True) for line in shown] == ["", ""]


def test_case_46_every_command_of_the_andybot_prompt_is_understood() -> None:
    tools = catalogue(*TOOLS)
    taught = render_tool_prompt(andybot.DIALECT, tools)
    assert "DEAR ANDYBOT, <COMMAND_NAME>" in taught
    names = [line[2:].partition(":")[0] for line in taught.splitlines() if line.startswith("- ")]
    assert len(names) == len(tools)
    for name in names:
        (request,) = read(f"DEAR ANDYBOT, {name}", andybot.DIALECT, tools)
        assert request.name in tools
        assert request.name.upper() == name


@loop_over("dialect", TAUGHT, ids=lambda each: str(each.name))
def test_every_tool_is_named_in_the_prompt(dialect: Dialect) -> None:
    tools = catalogue(*SHIPPED)
    taught = render_tool_prompt(dialect, tools).lower()
    assert [name for name in tools if name.lower() not in taught] == []


@pytest.mark.parametrize("first", [0, 5, 10, 20])
def test_the_andybot_prompt_for_15_tools_is_under_600_tokens(first: int) -> None:
    """By the estimate of models/token_count.py: the lesson takes about 400, with the rules 530."""
    tools = [*SHIPPED, *listed("requests/house_tools.json"), *listed("requests/desk_tools.json")]
    spoken = [each for each in tools if each["function"]["name"] not in ("send_chat", "end_turn")]
    fifteen = catalogue(*spoken[first : first + 15])
    assert len(fifteen) == 15
    folder = Path("/home/somebody/projects/music")
    assert estimate_tokens(render_tool_prompt(andybot.DIALECT, fifteen)) < 450
    prompt = render_system_prompt(andybot.DIALECT, fifteen, folder, date(2026, 12, 31))
    assert estimate_tokens(prompt) < 600


def test_a_prompt_without_tools_teaches_nothing() -> None:
    for dialect in DIALECTS:
        assert render_tool_prompt(dialect, Registry().functions) == ""
