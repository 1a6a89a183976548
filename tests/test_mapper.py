"""Calls are corrected where their schema forces it, and never otherwise."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from andy_cli.compiler.bodies.json_text import parse_strict
from andy_cli.compiler.mapper.json_schema import (
    provider_names,
    render_provider_schema,
    schema_excerpt,
)
from andy_cli.compiler.mapper.mapper import Mapped, find_nearest_names, map_call
from andy_cli.compiler.mapper.prepared_schema import prepare_schema
from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.map import PART, is_harmless
from andy_cli.messages import Problem
from andy_cli.toolbox.tool import tool
from tests.cases import draw_cases, loop_over

FOLDER = Path(__file__).parent / "corpora" / "mapper"
TOOLS: dict[str, dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("aside", "names", "questions", "trades", "valid", "values")
    for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
ROUNDS = draw_cases(300, derandomize=True)


def run(case: Mapping[str, Any]) -> Mapped:
    tools = {name: TOOLS[name] for name in case["tools"]}
    call = case["call"]
    return map_call(call["name"], call["arguments"], tools, lambda name: is_harmless(tools[name]))


def told(value: object) -> str:
    """As JSON, where 3 and 3.0 differ."""
    return json.dumps(value, sort_keys=True)


@loop_over("case", CASES, ids=lambda case: case["id"])
def test_a_case_is_corrected_or_asked_about(case: dict[str, Any]) -> None:
    made = run(case)
    if case["expected"] is None:
        assert made.problems or made.guessed, f"a question was answered: {made}"
        return
    assert not made.problems
    expected = case["expected"]
    wanted = expected if isinstance(expected, list) else [expected]
    assert told([each._asdict() for each in made.calls]) == told(wanted)
    if "changes" in case:
        assert list(made.changes) == case["changes"]
    if case["class"] == "untouched":
        assert not made.changes


@loop_over("case", CASES, ids=lambda case: case["id"])
def test_mapping_twice_is_mapping_once(case: dict[str, Any]) -> None:
    for call in run(case).calls:
        again = run({**case, "call": call._asdict()})
        if not again.problems:
            assert told([each._asdict() for each in again.calls]) == told([call._asdict()])
            assert not again.changes


NAMES = st.sampled_from(["path", "filePath", "max_results", "limit", "query", "q", "a", "b", "x y"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5000)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(["", "3", "3.0", "1,000", "true", "yes", "red", "Red", "[1, 2]", '{"a": 1}'])
    | st.sampled_from(["null", "a,b", "2024-03-05", "March 5, 2024", "b@c.de", "10 km", "{'a': 1}"])
    | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def leaves() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries({}, optional={"default": SCALARS, "description": st.just("a, b")}),
        st.sampled_from(
            [
                {"type": "string", "enum": ["red", "green", "dark red"]},
                {"type": "string", "format": "date"},
                {"type": "string", "pattern": "^[A-Z]{2}$"},
                {"type": "string", "minLength": 2, "maxLength": 5},
                {"type": "integer", "minimum": 1, "maximum": 10},
                {"type": "integer", "x-unit": "s"},
                {"type": "number", "multipleOf": 0.5},
                {"type": ["integer", "null"]},
                {"enum": [1, 2, "three"]},
                {"const": "fixed"},
                {"type": "boolean"},
                {"type": "float"},
                {"type": "any"},
                {"$ref": "#/properties/a"},
            ]
        ),
    )


def containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["array", "list"])},
            optional={"items": inner, "maxItems": st.just(2), "uniqueItems": st.just(True)},
        ),
        st.fixed_dictionaries(
            {"type": st.just("array"), "prefixItems": st.lists(inner, max_size=2)}
        ),
        objects(inner),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
    )


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=4)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.just(False) | inner,
        },
    )


SCHEMAS = objects(st.recursive(leaves(), containers, max_leaves=5))
BROKEN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type properties required items anyOf $ref enum pattern minimum format default "
                "additionalProperties patternProperties const prefixItems allOf".split()
            ),
            inner | st.sampled_from(["object", "#", "#/properties", "[", "http://a.example/b"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


def one(schema: object, arguments: object, free: bool = True) -> Mapped:
    return map_call("do", arguments, {"do": {"name": "do", "parameters": schema}}, lambda _: free)


def standard(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator | None:
    """An independent judge; None for a schema that it refuses."""
    try:
        return jsonschema_rs.Draft202012Validator(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None


@ROUNDS
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=4), st.booleans())
def test_what_validates_is_untouched_and_what_comes_back_validates(
    schema: dict[str, Any], arguments: dict[str, Any], free: bool
) -> None:
    made = one(schema, arguments, free)
    judge = standard(schema)
    strict = all(word not in str(schema) for word in ("x-unit", "format"))
    if judge is not None and judge.is_valid(arguments) and strict:
        assert [call.arguments for call in made.calls] == [arguments]
        assert not made.changes
    if judge is not None and not made.problems:
        assert all(judge.is_valid(dict(call.arguments)) for call in made.calls)
    if made.problems:
        assert not made.changes
        assert [call.arguments for call in made.calls] == [arguments]


@ROUNDS
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=4), st.booleans())
def test_a_corrected_call_needs_no_correction(
    schema: dict[str, Any], arguments: dict[str, Any], free: bool
) -> None:
    made = one(schema, arguments, free)
    for call in made.calls if not made.problems else ():
        again = one(schema, call.arguments, free)
        assert told([each.arguments for each in again.calls]) == told([call.arguments])
        assert not again.changes
        assert not again.problems


@ROUNDS
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=4))
def test_nothing_is_invented_for_a_tool_that_acts(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    """What is freely corrected is corrected the same way, or asked about."""
    made = one(schema, arguments, free=False)
    assert len(made.calls) == 1
    assert not made.guessed


@ROUNDS
@given(BROKEN, VALUES | BROKEN)
def test_nothing_raises_whatever_the_schema_and_the_arguments_are(
    schema: object, arguments: object
) -> None:
    made = one(schema, arguments)
    assert made.calls
    schema_excerpt({"name": "do", "parameters": schema}, made.problems)
    render_provider_schema(
        {"name": "do", "parameters": schema}, references=False, alternatives=False
    )


def test_nothing_is_lost_that_the_judge_would_keep_apart() -> None:
    """Texts that look like something else stay texts where texts are wanted."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for text in ("True", "null", "3", "[1]", '{"a": 1}', "1e400", "a,b", "x: ',}'"):
        made = one(schema, {"a": text})
        assert made.calls[0].arguments == {"a": text}
        assert not made.changes


def test_a_valid_call_is_handed_back_itself() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    arguments = {"a": 2**70}
    assert one(schema, arguments).calls[0].arguments is arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "\ud800"},
        {"a": {1, 2}},
        {"a": object()},
        {(1, 2): 3},
        b"bytes",
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_is_a_problem_or_is_left_out(arguments: object) -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert one(closed, arguments, free=False).problems


def test_deep_arguments_end() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert one({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": deep}).problems


@pytest.mark.parametrize("pattern", ["^(a+)+$", r"^(a|a)*\1?$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_backtracks_does_not_hang(pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    made = one(schema, {"a": "a" * 40_000 + "!"})
    assert made.problems


def test_no_reference_is_ever_fetched() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    assert not one(schema, {"a": 3}).problems


def test_contradicting_rules_degrade_to_the_known_names() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}, "b": {}}}
    assert not one(schema, {"a": 1}).problems
    nonsense = {"type": {"a": 1}, "properties": [], "required": "all", "anyOf": {}, "enum": 3}
    assert not one(nonsense, {"a": 1}).problems


def test_an_empty_text_is_left_out_where_it_may_be_left_out_and_not_be_empty() -> None:
    def path(**schema: object) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {"path": {"type": "string", **schema}}}
        return {"look": {"name": "look", "parameters": parameters}}

    def mapped(tools: dict[str, Any], *, harmless: bool = True) -> object:
        return map_call("look", {"path": ""}, tools, lambda name: harmless).calls[0].arguments

    assert mapped(path(minLength=1)) == {}
    assert mapped(path(minLength=1), harmless=False) == {"path": ""}
    assert mapped(path()) == {"path": ""}


def test_problems_name_the_place_and_the_rule() -> None:
    case = {
        "tools": ["get_weather"],
        "call": {"name": "get_weather", "arguments": {"days": "many", "unit": "kelvin"}},
    }
    found = {(each.path, each.rule) for each in run(case).problems}
    assert found == {("city", "required"), ("days", "type"), ("unit", "enum")}


ONLY_WRONG: list[tuple[str, dict[str, object], set[tuple[str, str]]]] = [
    ("set_light", {"Room": "hall", "brightness": "9", "on": "perhaps"}, {("on", "type")}),
    ("copy_file", {"src": "a", "to": ["b", "c"]}, {("destination", "type")}),
    ("write_file", {"input": {"path": "a", "data": "x", "append": "b"}}, {("append", "type")}),
    ("send_email", {"TO": ["a"], "body": "x", "subject": "y"}, {("to/0", "format")}),
    ("delete_file", {"filename": "a", "force": "soon"}, {("force", "type")}),
    ("copy_file", {"src": "a"}, {("destination", "required")}),
    ("set_light", {"Room": "hall", "brightness": "900"}, {("brightness", "maximum")}),
    (
        "create_invoice",
        {
            "customerId": "7f8a2c1e-4b6d-4e0f-9a3b-1c2d3e4f5a6b",
            "lines": [{"description": "Oil", "quantity": "2", "unitPrice": "dear"}],
        },
        {("lines/0/unit_price", "type")},
    ),
    (
        "notify",
        {"target": {"kind": "email", "address": "bob"}, "message": "Hi"},
        {("target/address", "format")},
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "problems"), ONLY_WRONG)
def test_only_what_cannot_be_put_right_is_told_as_wrong(
    tool: str, arguments: dict[str, object], problems: set[tuple[str, str]]
) -> None:
    """Who reads that a path is missing, which was given by another name, asks for it again."""
    made = run({"tools": [tool], "call": {"name": tool, "arguments": arguments}})
    assert {(each.path, each.rule) for each in made.problems} == problems
    assert made.calls[0].arguments == arguments


def test_the_snippet_is_what_failed_and_nothing_of_ours() -> None:
    tool = TOOLS["read_file"]
    case = {"tools": ["read_file"], "call": {"name": "read_file", "arguments": {"max_lines": "x"}}}
    shown = json.loads(schema_excerpt(tool, run(case).problems))
    assert set(shown["properties"]) >= {"file_path", "max_lines"}
    assert "x-aliases" not in str(shown)
    assert len(schema_excerpt(tool, ())) < 1600


POINT = {"type": "object", "properties": {"x": {"$ref": "#/$defs/Length"}}, "required": ["x"]}
DEFINED = {
    "$defs": {"Point": POINT, "Length": {"type": "number"}, "Other": {"type": "string"}},
    "properties": {"at": {"$ref": "#/$defs/Point"}},
    "required": ["at"],
}
PATTERNED = {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False}
EITHER = {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}]}


@pytest.mark.parametrize(
    ("schema", "arguments", "shown"),
    [
        (DEFINED, {"at": [1, 2]}, {"$defs": {"Point": POINT, "Length": {"type": "number"}}}),
        (PATTERNED, {"y": "1"}, PATTERNED),
        (EITHER, {"b": 1}, EITHER),
    ],
    ids=["definitions", "patterns", "alternatives"],
)
def test_the_snippet_has_what_it_refers_to_and_what_holds_of_other_names(
    schema: dict[str, Any], arguments: dict[str, object], shown: dict[str, object]
) -> None:
    tools = {"do": {"type": "function", "function": {"name": "do", "parameters": schema}}}
    made = map_call("do", arguments, tools, lambda _: False)
    assert made.problems
    snippet = json.loads(schema_excerpt(tools["do"], made.problems))
    assert {key: snippet[key] for key in snippet if key not in ("properties", "required")} == shown


def test_the_snippet_of_a_schema_with_very_many_definitions_is_short() -> None:
    names = [f"Length{number}" for number in range(2000)]
    sizes = {"properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    schema = {"properties": {"size": sizes}, "$defs": {name: {"type": "number"} for name in names}}
    tool = {"type": "function", "function": {"name": "do", "parameters": schema}}
    assert len(schema_excerpt(tool, [Problem("size", "type", "")])) < 1600


@pytest.mark.parametrize(
    ("schema", "written", "given"),
    [
        ({"type": "string", "enum": ["2.5", "5"]}, "2.50", "2.5"),
        ({"type": "string", "maxLength": 3}, "2.50", "2.5"),
        ({"type": "array", "items": {"const": "1000"}}, "[1e3]", ["1000"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "3.10", "3.10"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "3.10", 3.1),
    ],
)
def test_a_number_is_the_text_that_was_written_only_where_that_fits(
    schema: dict[str, Any], written: str, given: object
) -> None:
    parameters = {"type": "object", "properties": {"size": schema}}
    tools = {"do": {"type": "function", "function": {"name": "do", "parameters": parameters}}}
    made = map_call("do", parse_strict(f'{{"size": {written}}}'), tools, lambda _: False)
    assert not made.problems
    assert made.calls[0].arguments == {"size": given}


def test_the_nearest_names_are_for_people() -> None:
    tools = {name: TOOLS[name] for name in ("get_weather", "get_time", "delete_file")}
    assert find_nearest_names("wether", tools)[:1] == ["get_weather"]
    assert find_nearest_names("zzzz", tools) == []


def test_names_are_offered_reversibly() -> None:
    names = ["a.b", "a_b", "a-b", "9lives", "x" * 90, "x" * 91, "grüße", ""]
    offers = provider_names(names)
    assert len(set(offers.values())) == len(names)
    assert offers["a_b"] == "a_b"
    assert all(0 < len(each) <= 64 and each.isascii() for each in offers.values())
    tools = {name: {"name": name, "parameters": {}} for name in names}
    for name, offer in offers.items():
        assert map_call(offer, {}, tools, lambda _: True).calls[0].name == name


@ROUNDS
@given(st.lists(st.text(alphabet="aB9_.- é/", max_size=80), unique=True, max_size=12))
def test_no_two_names_are_offered_as_one(names: list[str]) -> None:
    offers = provider_names(names)
    assert len(set(offers.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", each) for each in offers.values())


def test_a_tool_of_ours_declares_its_aliases_beside_the_parameter() -> None:
    Place = Annotated[str, Field(json_schema_extra={"x-aliases": ["where"]})]

    @tool(effect="read", action="look at {spot}")
    def look(spot: Place) -> str:
        """Look at something."""
        return spot

    tools = {"look": look.function}
    made = map_call("look", {"where": "here"}, tools, lambda _: False)
    assert made.calls[0].arguments == {"spot": "here"}
    assert made.changes == ("where -> spot",)
    assert not look.check(made.calls[0].arguments)
    assert "x-aliases" not in json.dumps(render_provider_schema(tools["look"]))


def test_an_offered_tool_keeps_our_words_to_ourselves() -> None:
    for each in TOOLS.values():
        assert "x-aliases" not in json.dumps(render_provider_schema(each))
        plain = json.dumps(render_provider_schema(each, references=False, alternatives=False))
        assert "$ref" not in plain
        assert "anyOf" not in plain
        assert "oneOf" not in plain


def test_what_is_offered_plainly_validates_by_the_original() -> None:
    """The lowered schema never asks for what the original refuses."""
    lowered = render_provider_schema(TOOLS["tree_size"], references=False)["function"]["parameters"]
    arguments = {"root": {"value": 1, "children": [{"value": 2}]}}
    judge = jsonschema_rs.Draft202012Validator(lowered)
    assert judge.is_valid(arguments)
    assert prepare_schema(TOOLS["tree_size"]).node.fits(arguments)


def test_a_guessed_name_needs_a_yes_where_something_would_happen() -> None:
    tools = {"delete_file": TOOLS["delete_file"]}
    made = map_call("file_deletes", {"path": "a"}, tools, lambda _: False)
    assert made.guessed or made.problems
    assert not map_call("deleteFile", {"path": "a"}, tools, lambda _: False).guessed


def test_a_tool_that_acts_is_never_called_for_each_of_a_list() -> None:
    tools = {"delete_file": TOOLS["delete_file"]}
    made = map_call("delete_file", {"path": ["a", "b"]}, tools, lambda _: False)
    assert made.problems == (Problem("path", "type", '["a","b"] is not of type "string"'),)


def test_debug_map_answers_as_its_contract_says() -> None:
    record = {
        "tools": [TOOLS["get_weather"], TOOLS["delete_file"]],
        "calls": [
            {"name": "getWeather", "arguments": {"city": "Oslo", "days": "3"}},
            {"name": "delete_file", "arguments": {"path": 3, "sure": True}},
        ],
    }
    out = PART.answer(record, ChunkCut())
    assert out["calls"] == [
        {"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}},
        {"name": "delete_file", "arguments": {"path": 3, "sure": True}},
    ]
    assert out["changes"] == ["getWeather -> get_weather", '"3" -> 3']
    assert out["valid"] is False
    errors = out["errors"]
    assert isinstance(errors, list)
    assert {"path", "rule", "message"} == set(errors[0])


@pytest.mark.parametrize("beside", [True, False])
def test_debug_map_believes_annotations_beside_a_function_and_in_it(beside: bool) -> None:
    function = {"name": "get_tea", "parameters": {"properties": {"grams": {"type": "number"}}}}
    annotations = {"annotations": {"readOnlyHint": False}}
    tool = {"function": function, **annotations} if beside else {"function": function | annotations}
    call = {"name": "get_tea", "arguments": {"grams": "1,500"}}
    assert not PART.answer({"tools": [tool], "calls": [call]}, ChunkCut())["valid"]
    assert PART.answer({"tools": [{"function": function}], "calls": [call]}, ChunkCut())["valid"]


def test_debug_map_leaves_a_guess_that_needs_a_yes_as_it_was() -> None:
    call = {"name": "files_delete_now", "arguments": {"path": "a"}}
    out = PART.answer({"tools": [TOOLS["delete_file"]], "calls": [call]}, ChunkCut())
    assert out["calls"] == [call]
    assert out["valid"] is False
    assert out["errors"]
    assert out["changes"] == []


@pytest.mark.parametrize(
    ("tool", "free"),
    [
        ({"name": "get_user"}, True),
        ({"name": "send_mail"}, False),
        ({"name": "files.remove"}, False),
        ({"name": "getAndDelete"}, False),
        ({"name": "calculate_charge"}, True),
        ({"name": "send_mail", "annotations": {"readOnlyHint": True}}, True),
        ({"name": "look", "annotations": {"destructiveHint": True}}, False),
        ({"name": "look", "effect": "write"}, False),
        ({"type": "function", "function": {"name": "run_it"}, "effect": "read"}, True),
    ],
)
def test_what_a_stranger_may_be_asked_freely(tool: dict[str, object], free: bool) -> None:
    assert is_harmless(tool) is free


TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def fit(
    properties: Mapping[str, object], arguments: Mapping[str, object], *required: str
) -> tuple[object, tuple[str, ...]]:
    """What becomes of arguments by one schema, and what was changed."""
    schema = {"type": "object", "properties": properties, "required": [*required]}
    tools = {"t": {"type": "function", "function": {"name": "t", "parameters": schema}}}
    made = map_call("t", arguments, tools, lambda name: False)
    assert not made.problems
    return made.calls[0].arguments, made.changes


@pytest.mark.parametrize(
    ("properties", "required", "arguments", "expected"),
    [
        # Older notations for what may be left out or null.
        ({"a": {"type": "integer", "nullable": True}}, "a", {"a": None}, {"a": None}),
        ({"a": {"type": ["integer"], "nullable": True}}, "a", {"a": None}, {"a": None}),
        ({"a": {"type": ["integer", "boolean"], "nullable": True}}, "a", {"a": None}, {"a": None}),
        ({"a": {"enum": ["x"], "nullable": True}}, "a", {"a": None}, {"a": None}),
        ({"a": {"type": "string", "optional": True}}, "a", {}, {}),
        ({"a": {"type": "string", "required": False}}, "a", {}, {}),
        # What need not be given is dropped where it is null and may not be.
        ({"a": {"type": "integer"}, "b": {"type": "integer"}}, "b", {"a": None, "b": 1}, {"b": 1}),
        # A switch that is a word.
        ({"m": {"enum": ["enabled", "disabled"]}}, "m", {"m": False}, {"m": "disabled"}),
        ({"m": {"enum": ["enabled", "disabled"]}}, "m", {"m": True}, {"m": "enabled"}),
        ({"m": {"enum": ["yes", "no"]}}, "m", {"m": False}, {"m": "no"}),
        # A list whose first items are declared one by one, and the others together.
        (
            {"a": {"type": "array", "items": [TEXT], "additionalItems": WHOLE}},
            "a",
            {"a": ["3", "3"]},
            {"a": ["3", 3]},
        ),
        # A list that stands in an object: by number, in a wrapper, one list for each property.
        ({"a": {"type": "array", "items": TEXT}}, "a", {"a": {"items": ["x"]}}, {"a": ["x"]}),
        (
            {"a": {"type": "array", "items": TEXT}},
            "a",
            {"a": {"10": "y", "9": "x"}},
            {"a": ["x", "y"]},
        ),
        (
            {"a": {"type": "array", "items": {"type": "object", "properties": {"x": WHOLE}}}},
            "a",
            {"a": {"x": [1, 2], "y": [3, 4]}},
            {"a": [{"x": 1, "y": 3}, {"x": 2, "y": 4}]},
        ),
        # One of a few numbers.
        ({"a": {"enum": [1, 2]}}, "a", {"a": "2"}, {"a": 2}),
        # Given twice, and the same.
        ({"a_b": TEXT}, "a_b", {"aB": "x", "AB": "x", "a-b": "x"}, {"a_b": "x"}),
        # By the order in which they are declared.
        ({"a": WHOLE, "b": WHOLE}, "a", {"args": [1, 2]}, {"a": 1, "b": 2}),
        ({"a": WHOLE, "b": WHOLE}, "a", {"positional": [1, 2]}, {"a": 1, "b": 2}),
        ({"a": WHOLE, "b": WHOLE}, "a", {"arg1": 1, "arg2": 2}, {"a": 1, "b": 2}),
        ({"a": WHOLE, "b": WHOLE}, "a", {"arguments": [{"a": 1}]}, {"a": 1}),
        # One of several.
        (
            {"a": {"properties": {"n": WHOLE}, "anyOf": [TEXT, {"required": ["n"]}]}},
            "a",
            {"a": {"n": "7"}},
            {"a": {"n": 7}},
        ),
        ({"a": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}}, "a", {"a": "7"}, {"a": 7}),
        ({"a": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}}, "a", {"a": "7"}, {"a": 7}),
    ],
)
def test_less_common_schemas_mean_what_they_say(
    properties: Mapping[str, object],
    required: str,
    arguments: Mapping[str, object],
    expected: Mapping[str, object],
) -> None:
    assert fit(properties, arguments, required)[0] == expected


def test_what_is_missing_where_the_property_itself_demands_it_is_a_problem() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "required": True}}}
    tools = {"t": {"type": "function", "function": {"name": "t", "parameters": schema}}}
    assert map_call("t", {}, tools, lambda name: False).problems


@pytest.mark.parametrize(
    "rule",
    [
        {"dependentRequired": {"a": ["b"]}},
        {"dependencies": {"a": ["b"]}},
        {"dependencies": {"a": {"required": ["b"]}}},
    ],
)
def test_what_one_argument_demands_of_another_is_demanded(rule: Mapping[str, object]) -> None:
    schema = {"properties": {"a": WHOLE, "b": WHOLE}, **rule}
    tools = {"t": {"type": "function", "function": {"name": "t", "parameters": schema}}}
    assert map_call("t", {"a": 1}, tools, lambda name: False).problems
    assert not map_call("t", {"a": 1, "b": 2}, tools, lambda name: False).problems
    assert not map_call("t", {"b": 2}, tools, lambda name: False).problems


def only(**properties: Mapping[str, object]) -> dict[str, object]:
    """An object with these properties and no others."""
    closed = {"type": "object", "additionalProperties": False}
    return {**closed, "properties": properties, "required": [*properties][:1]}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("nearer", "farther", "arguments", "expected"),
    [
        # A name in another style is nearer than another name that is declared for it ...
        (
            only(file_path=TEXT),
            only(target={**TEXT, "x-aliases": ["filePath"]}),
            {"filePath": "x"},
            {"file_path": "x"},
        ),
        # ... as is leaving out what says nothing; and a declared name is nearer than a place.
        (
            only(x=WHOLE, y=WHOLE),
            only(x=WHOLE, z={"type": ["null", "integer"], "x-aliases": ["y"]}),
            {"x": 1, "y": None},
            {"x": 1},
        ),
        (only(n={**WHOLE, "x-aliases": ["arg0"]}), only(m=WHOLE), {"arg0": 5}, {"n": 5}),
    ],
)
def test_of_two_ways_to_take_an_argument_the_nearer_one_wins(
    nearer: Mapping[str, object],
    farther: Mapping[str, object],
    arguments: Mapping[str, object],
    expected: Mapping[str, object],
    turned: bool,
) -> None:
    branches = [farther, nearer] if turned else [nearer, farther]
    assert fit({"a": {"anyOf": branches}}, {"a": arguments}, "a")[0] == {"a": expected}


@pytest.mark.parametrize(
    ("properties", "arguments"),
    [
        # One end of a thing is not the thing.
        *[
            ({"file": TEXT}, {f"{end}_file": "x"})
            for end in ("from", "to", "sender", "recipient", "output")
        ],
        # What is given already is not given again.
        ({"place": only(city=TEXT)}, {"place": {"city": "x"}, "place.city": "y"}),
        ({"a_b": TEXT}, {"aB": "x", "AB": "y"}),
        # Lists of other lengths are no table.
        (
            {"a": {"type": "array", "items": {"type": "object", "properties": {"x": WHOLE}}}},
            {"a": {"x": [1, 2], "y": [3]}},
        ),
        # A number in a unit that is not the one that the name, or the description, asks for.
        ({"weight_pound": NUMBER}, {"weight_pound": {"value": 5, "unit": "kg"}}),
        (
            {"weight": {**NUMBER, "description": "in pounds"}},
            {"weight": {"value": 5, "unit": "kg"}},
        ),
        # More than the list may hold.
        ({"a": {"type": "array", "items": [TEXT], "additionalItems": False}}, {"a": ["x", "y"]}),
    ],
)
def test_what_is_too_far_away_is_a_question(
    properties: Mapping[str, object], arguments: Mapping[str, object]
) -> None:
    schema = {
        **only(**{name: dict[str, object]() for name in properties}),
        "properties": properties,
    }
    tools = {"t": {"type": "function", "function": {"name": "t", "parameters": schema}}}
    made = map_call("t", arguments, tools, lambda name: False)
    assert made.problems
    assert not made.changes


@pytest.mark.parametrize(
    ("written", "declared", "meant"),
    [
        ("open_tiket", "open_ticket", True),  # a letter left out, doubled, swapped with the next
        ("open_tickket", "open_ticket", True),
        ("open_ticekt", "open_ticket", True),
        ("list_ticket", "list_tickets", True),  # the last word lacks its plural
        ("list_tickets", "list_ticket", False),
        ("open_tikcte", "open_ticket", False),  # two slips
        ("open_tickat", "open_ticket", False),  # another letter, or one at an end
        ("open_icket", "open_ticket", False),
        ("open_ticke", "open_ticket", False),
        ("opn_tiket", "open_ticket", False),  # in two words
        ("prse_ticket", "parse_ticket", False),  # a word so short that another is near
        ("read_massage", "read_message", False),  # another word
        ("read_trails", "read_trial", False),
    ],
)
def test_one_slip_in_one_long_word_is_a_guess_and_more_is_an_unknown_name(
    written: str, declared: str, meant: bool
) -> None:
    schema = {"type": "object", "properties": {"id": WHOLE}, "required": ["id"]}
    tools = {declared: {"type": "function", "function": {"name": declared, "parameters": schema}}}
    made = map_call(written, {"id": 1}, tools, lambda name: True)
    assert [call.name for call in made.calls] == [declared if meant else written]


def test_a_list_whose_entries_are_lists_like_itself_is_no_endless_one() -> None:
    for entry in (
        {"prefixItems": [{"$ref": "#/properties/a"}]},
        {"items": {"$ref": "#/properties/a"}},
    ):
        parameters = {"type": "object", "properties": {"a": {"type": "array", **entry}}}
        tools = {"t": {"type": "function", "function": {"name": "t", "parameters": parameters}}}
        made = map_call("t", {"a": [[[]]]}, tools, lambda name: True)
        assert not made.problems
        assert made.calls[0].arguments == {"a": [[[]]]}
