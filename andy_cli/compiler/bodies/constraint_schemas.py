"""JSON Schemas of what a reply may be, for servers that can hold a model to one.

They say no more than every such server reads: what a tool's own schema says beyond that is checked
when the call is there, as it is for models that nothing holds.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.provider_schema import render_provider_schema
from andy_cli.messages import Constraint, Schema

WORDS = frozenset("type enum const properties required items anyOf minItems".split())
"""Words that llama.cpp, xgrammar (vLLM) and hosted services keep to; others they pass over, or
refuse the whole schema for: `pattern`, `format`, `uniqueItems`, ..."""
BOUNDS = ("minimum", "maximum")
"""Of whole numbers alone: no grammar counts fractions."""

MANY = 60
"""Tools beyond which their arguments may be any object: a server reads every schema anew for each
request. So many cost llama.cpp 0.2 s."""


def make_object(properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> dict[str, Any]:
    """An object with these properties and no others, in this order."""
    left_out = set(optional)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": False,
    }


def one_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several objects."""
    # Many servers want to be told that it is an object, whichever.
    return schemas[0] if len(schemas) == 1 else {"type": "object", "anyOf": schemas}


def arguments_schemas(tools: Tools) -> dict[str, dict[str, Any]]:
    """Of each tool what its arguments may be."""
    if len(tools) > MANY:
        return {name: {"type": "object"} for name in tools}
    return {name: _arguments_schema(tool) for name, tool in tools.items()}


def _arguments_schema(tool: Schema) -> dict[str, Any]:
    shown = render_provider_schema(tool, references=False)["function"]["parameters"]
    return {**simplify_schema(shown), "type": "object"}


def simplify_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in words that every server reads; what is left out is allowed."""
    kept: dict[str, Any] = {}
    words = {*WORDS, *BOUNDS} if schema.get("type") == "integer" else WORDS
    for word, value in schema.items():
        match word, value:
            case "properties", Mapping():
                kept[word] = {name: _simplify_part(part) for name, part in value.items()}
            case "items", _:
                kept[word] = _simplify_part(value)
            case "anyOf", list():
                kept[word] = [_simplify_part(item) for item in value]
            case _ if word in words:
                kept[word] = value
    if kept.get("properties"):
        kept["additionalProperties"] = False
    return kept


def _simplify_part(schema: object) -> dict[str, Any]:
    return simplify_schema(schema) if isinstance(schema, Mapping) else {}


def call_constraint(tools: Tools) -> Constraint:
    """One call as plain JSON, which is read whatever notation the model was taught."""
    calls = [
        make_object({"name": {"const": name}, "arguments": schema})
        for name, schema in arguments_schemas(tools).items()
    ]
    return Constraint(schema=one_of(calls))
