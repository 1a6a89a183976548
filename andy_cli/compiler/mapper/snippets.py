"""The part of a schema that was not met, for the one message to the model (D15)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from andy_cli.compiler.mapper.schemas import tool_parameters
from andy_cli.messages import Problem, Schema

LONGEST_EXCERPT = 1500


def schema_excerpt(tool: Schema, problems: Sequence[Problem]) -> str:
    """The failing properties of the tool's own schema and what is required, as compact JSON."""
    schema = tool_parameters(tool)
    declared = schema.get("properties")
    properties: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
    heads = {each.path.split("/")[0] for each in problems}
    named = {name: each for name, each in properties.items() if name in heads}
    if not named or any(each.rule in ("required", "additionalProperties") for each in problems):
        # What the model has to choose from, when it used a name that does not exist.
        others = {name: _keep_types(each) for name, each in properties.items() if name not in named}
        named = {**named, **others}
    part: dict[str, object] = {
        "properties": {name: _drop_labels(each) for name, each in named.items()}
    }
    if isinstance(schema.get("required"), list):
        part["required"] = schema["required"]
    text = _compact_json(part)
    if len(text) > LONGEST_EXCERPT:
        part["properties"] = {name: _keep_types(each) for name, each in named.items()}
        text = _compact_json(part)
    return text


def _compact_json(part: object) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"), default=str)


def _drop_labels(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return schema
    return {key: each for key, each in schema.items() if key not in ("x-aliases", "title")}


def _keep_types(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return schema
    return {key: schema[key] for key in ("type", "enum") if key in schema}
