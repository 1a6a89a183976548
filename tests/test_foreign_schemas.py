"""What a property says of itself, `required: true`, means the same wherever a schema comes from."""

from collections.abc import Callable

import pytest

from andy_cli.compiler.compiler import tools_by_name
from andy_cli.compiler.dialects.protocols import andybot
from andy_cli.foreign_values import standardize_required
from andy_cli.frontends.serve.wires.chat_request import read_chat_request
from andy_cli.messages import Schema
from andy_cli.toolbox.mcp.tools import plain_schema

TEXT: Schema = {"type": "string"}
INNER: Schema = {"type": "object", "properties": {"x": {**TEXT, "required": True}}}
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "place": {**TEXT, "required": True},
        "note": {**TEXT, "required": False},
        "days": {"type": "array", "items": INNER},
        "required": {"type": "boolean", "optional": True},
    },
    "required": ["note", "days", "required"],
}


def of_functions(schema: Schema) -> Schema:
    tools = tools_by_name([{"name": "look", "parameters": schema}])
    function = tools["look"]["function"]
    assert isinstance(function, dict)
    return dict(function["parameters"])


def of_client(schema: Schema) -> Schema:
    tool = {"type": "function", "function": {"name": "look", "parameters": schema}}
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    return dict(read_chat_request(asked).tools["look"]["function"]["parameters"])


@pytest.mark.parametrize("read", [of_functions, of_client, plain_schema])
def test_a_property_that_says_it_is_required_is_so_for_all(
    read: Callable[[Schema], Schema],
) -> None:
    schema = read(SCHEMA)
    assert schema["required"] == ["days", "place"]
    assert "required" not in schema["properties"]["place"]
    assert schema["properties"]["days"]["items"]["required"] == ["x"]
    assert schema["properties"]["required"]["type"] == "boolean"
    interview = andybot.interview("look", schema, {})
    asked = [question.required for question in (next(interview), interview.send("here"))]
    assert asked == [True, False]


def test_a_schema_as_it_should_be_stays_as_it_is() -> None:
    schema = {
        "required": ["a"],
        "properties": {"a": TEXT, "b": {"enum": [{"properties": {"c": {"required": True}}}]}},
        "additionalProperties": False,
    }
    assert standardize_required(schema) == schema
    assert [*standardize_required(schema)] == [*schema]


def test_a_schema_without_an_end_is_read_as_far_as_anybody_would() -> None:
    endless: dict[str, object] = {"required": True}
    endless["items"] = endless
    assert "required" not in standardize_required(endless)
