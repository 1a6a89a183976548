"""JSON Schemas of what a reply may be, for servers that can hold a model to one.

They say no more than every such server reads: what a tool's own schema says beyond that is checked
when the call is there, as it is for models that nothing holds.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.json_schema import render_provider_schema
from andy_cli.messages import Constraint, Schema

WORDS = frozenset("type enum const properties required items anyOf minItems".split())
"""Words that llama.cpp, xgrammar (vLLM) and hosted services keep to; others they pass over, or
refuse the whole schema for: `pattern`, `format`, `uniqueItems`, ..."""
BOUNDS = ("minimum", "maximum")
"""Of whole numbers alone: no grammar counts fractions."""

MAX_TYPED_TOOLS = 60
"""Tools beyond which their arguments may be any object: a server reads every schema anew for each
request. So many cost llama.cpp 0.2 s."""


def make_object(properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> dict[str, Any]:
    """An object with these properties and no others, in this order."""
    left_out = set(optional)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [
            property_name for property_name in properties if property_name not in left_out
        ],
        "additionalProperties": False,
    }


def one_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several objects."""
    # Many servers want to be told that it is an object, whichever.
    return schemas[0] if len(schemas) == 1 else {"type": "object", "anyOf": schemas}


def arguments_schemas(tools: Tools) -> dict[str, dict[str, Any]]:
    """Of each tool what its arguments may be."""
    if len(tools) > MAX_TYPED_TOOLS:
        return {tool_name: {"type": "object"} for tool_name in tools}
    return {tool_name: _arguments_schema(tool) for tool_name, tool in tools.items()}


def _arguments_schema(tool: Schema) -> dict[str, Any]:
    parameters_schema = render_provider_schema(tool, references=False)["function"]["parameters"]
    return {**simplify_schema(parameters_schema), "type": "object"}


def simplify_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in words that every server reads; what is left out is allowed."""
    simplified: dict[str, Any] = {}
    allowed_keywords = {*WORDS, *BOUNDS} if schema.get("type") == "integer" else WORDS
    for schema_keyword, keyword_value in schema.items():
        match schema_keyword, keyword_value:
            case "properties", Mapping():
                simplified[schema_keyword] = {
                    property_name: _simplify_part(property_schema)
                    for property_name, property_schema in keyword_value.items()
                }
            case "items", _:
                simplified[schema_keyword] = _simplify_part(keyword_value)
            case "anyOf", list():
                simplified[schema_keyword] = [
                    _simplify_part(element_schema) for element_schema in keyword_value
                ]
            case _ if schema_keyword in allowed_keywords:
                simplified[schema_keyword] = keyword_value
    if simplified.get("properties"):
        simplified["additionalProperties"] = False
    return simplified


def _simplify_part(schema: object) -> dict[str, Any]:
    return simplify_schema(schema) if isinstance(schema, Mapping) else {}


def call_constraint(tools: Tools) -> Constraint:
    """One call as plain JSON, which is read whatever notation the model was taught."""
    call_schemas = [
        make_object({"name": {"const": tool_name}, "arguments": schema})
        for tool_name, schema in arguments_schemas(tools).items()
    ]
    return Constraint(schema=one_of(call_schemas))
