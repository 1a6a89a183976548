"""The JSON Schema of a function's parameters, without building a model of them.

pydantic would take a millisecond for each tool, at every start and for every tool there is. The
plain types are described here, as pydantic would; a function with others is left to it.
"""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

PLAIN: Mapping[object, Mapping[str, object]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Path: {"type": "string", "format": "path"},
    object: {},
    Any: {},
}
NUMBERS = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}


class NotPlain(Exception):
    """A type that pydantic has to describe."""


def describe_function(
    function: Callable[..., object], hints: Mapping[str, object]
) -> dict[str, Any] | None:
    """An object with properties; None for a function whose types are not all plain ones."""
    properties: dict[str, Any] = {}
    required = []
    try:
        for name, parameter in inspect.signature(function).parameters.items():
            properties[name] = _describe_property(hints[name])
            if parameter.default is parameter.empty:
                required.append(name)
            elif parameter.default is not None:
                properties[name]["default"] = _as_json(parameter.default)
    except NotPlain:
        return None
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _describe_property(type_hint: object) -> dict[str, Any]:
    if get_origin(type_hint) is not Annotated:
        return _describe_type(type_hint)
    written, *metadata = get_args(type_hint)
    schema = _describe_type(written)
    for field_info in metadata:
        if not isinstance(field_info, FieldInfo) or field_info.default_factory or field_info.alias:
            raise NotPlain
        schema |= _field_limits(field_info, str(schema.get("type", "")))
        if field_info.description:
            schema["description"] = field_info.description
        if isinstance(field_info.json_schema_extra, dict):
            schema |= field_info.json_schema_extra
        elif field_info.json_schema_extra:
            raise NotPlain
    return schema


def _field_limits(field_info: FieldInfo, kind: str) -> dict[str, Any]:
    """The limits of a field, under the names of JSON Schema."""
    limits: dict[str, Any] = {}
    for constraint in field_info.metadata:
        stated_limits = {
            name: value
            for name in NUMBERS
            if (value := getattr(constraint, name, None)) is not None
        }
        limits |= {NUMBERS[name]: value for name, value in stated_limits.items()}
        for name, word in (("min_length", "min"), ("max_length", "max")):
            if (length := getattr(constraint, name, None)) is not None:
                if kind not in LENGTHS:
                    raise NotPlain
                limits[word + LENGTHS[kind]] = length
                stated_limits[name] = length
        if not stated_limits:
            raise NotPlain
    return limits


def _describe_union(arguments: Sequence[object]) -> dict[str, Any]:
    kinds = [_describe_property(argument) for argument in arguments if argument is not type(None)]
    if len(kinds) == 1:
        return kinds[0]
    if type(None) in arguments:
        kinds.append({"type": "null"})
    return {"anyOf": kinds}


def _describe_type(type_hint: object) -> dict[str, Any]:
    try:
        if type_hint in PLAIN:
            return dict(PLAIN[type_hint])
    except TypeError:  # a hint that cannot be looked up
        raise NotPlain from None
    origin, arguments = get_origin(type_hint), get_args(type_hint)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, types.UnionType):
        return _describe_union(arguments)
    if origin is list and len(arguments) == 1:
        return {"type": "array", "items": _describe_property(arguments[0])}
    if origin is dict and arguments[0] is str:
        values = _describe_property(arguments[1])
        return {"type": "object", "additionalProperties": values or True}
    raise NotPlain


def _one_of(values: tuple[object, ...]) -> dict[str, Any]:
    if not all(isinstance(value, str) for value in values):
        raise NotPlain
    if len(values) == 1:
        return {"const": values[0], "type": "string"}
    return {"enum": list(values), "type": "string"}


def _as_json(default: object) -> object:
    if isinstance(default, Path):
        return str(default)
    if isinstance(default, str | int | float | bool | list | dict):
        return default
    raise NotPlain
