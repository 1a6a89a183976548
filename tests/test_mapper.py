"""Calls are corrected where their schema forces it, and never otherwise."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andy_cli.compiler.mapper.mapper import Mapped, mapped, snippet
from andy_cli.compiler.mapper.offered import offered
from andy_cli.frontends.debug.parts.map import harmless

FOLDER = Path(__file__).parent / "corpora" / "mapper"
TOOLS: dict[str, dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text(encoding="utf-8").splitlines()
]
ROUNDS = settings(max_examples=300, deadline=None, derandomize=True)


def run(case: Mapping[str, Any]) -> Mapped:
    tools = {name: TOOLS[name] for name in case["tools"]}
    call = case["call"]
    return mapped(call["name"], call["arguments"], tools, lambda name: harmless(tools[name]))


def told(value: object) -> str:
    """As JSON, where 3 and 3.0 differ."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_is_corrected_or_asked_about(case: dict[str, Any]) -> None:
    made = run(case)
    if case["expected"] is None:
        assert made.problems or made.doubtful, f"a question was answered: {made}"
        return
    assert not made.problems
    expected = case["expected"]
    wanted = expected if isinstance(expected, list) else [expected]
    assert told([each._asdict() for each in made.calls]) == told(wanted)
    if "changes" in case:
        assert list(made.changes) == case["changes"]
    if case["class"] == "untouched":
        assert not made.changes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
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
    return mapped("do", arguments, {"do": {"name": "do", "parameters": schema}}, lambda _: free)


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
    assert not made.doubtful


@ROUNDS
@given(BROKEN, VALUES | BROKEN)
def test_nothing_raises_whatever_the_schema_and_the_arguments_are(
    schema: object, arguments: object
) -> None:
    made = one(schema, arguments)
    assert made.calls
    snippet({"name": "do", "parameters": schema}, made.problems)
    offered({"name": "do", "parameters": schema}, references=False, alternatives=False)
