"""A schema as somebody wrote it -> one that JSON Schema 2020-12 can read.

What servers and benchmarks send has type names of programming languages, `required` inside a
property, keywords of older drafts, references to other hosts and patterns that do not compile. What
has one meaning is written the standard way; what has none is left out, so that it forbids nothing.
"""

import re
from collections.abc import Mapping
from typing import Any

from andy_cli.compiler.mapper.json_input import (
    FLOAT_NAMES,
    STANDARD_KINDS,
    parse_kind,
)
from andy_cli.messages import Schema

ROOT = "urn:andy:tool"
"""References are made absolute, so that any part of a schema can be validated on its own."""
DEEPEST_SCHEMA = 40
FLOATING = "x-floating"
"""Marks numbers that are declared as `float`: lists of them hold no whole numbers."""
NUMBER_LIMITS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
COUNT_LIMITS = (
    "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"
).split()
SUBSCHEMA_KEYWORDS = (
    "additionalProperties items not if then else contains propertyNames "
    "unevaluatedProperties unevaluatedItems"
).split()
SUBSCHEMA_LISTS = "anyOf oneOf allOf prefixItems".split()
SUBSCHEMA_MAPS = "properties patternProperties $defs definitions dependentSchemas".split()
COPIED_KEYWORDS = (
    "description default title format readOnly x-aliases x-unit contentMediaType".split()
)


def tool_parameters(tool: Schema) -> Schema:
    """The JSON Schema of a tool's arguments, wherever its maker put it."""
    function = tool.get("function", tool)
    for key in ("parameters", "inputSchema", "input_schema"):
        parameters = function.get(key) if isinstance(function, Mapping) else None
        if isinstance(parameters, Mapping):
            return parameters
    return {}


def standardize_schema(schema: object) -> dict[str, Any]:
    """The schema of a tool's arguments, an object whatever was written. Never raises."""
    standard = _standardize_part(schema if isinstance(schema, Mapping) else {}, 0)
    written = schema.get("type") if isinstance(schema, Mapping) else None
    standard["type"] = "object"
    if isinstance(written, str) and written not in STANDARD_KINDS and "properties" in standard:
        # The signature of a function, not a JSON Schema: nothing else may be given.
        standard.setdefault("additionalProperties", False)
    return _absolute_references(standard)


def _standardize_part(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > DEEPEST_SCHEMA:
        return {}
    standard: dict[str, Any] = {key: schema[key] for key in COPIED_KEYWORDS if key in schema}
    _copy_types(schema, standard)
    _copy_limits(schema, standard)
    _copy_subschemas(schema, standard, depth)
    if isinstance(schema.get("$ref"), str):
        standard["$ref"] = schema["$ref"]
    _translate_older_keywords(schema, standard, depth)
    _copy_required(schema, standard)
    if "patternProperties" in standard:
        by_pattern = standard["patternProperties"].items()
        usable = {pattern: inner for pattern, inner in by_pattern if is_usable_pattern(pattern)}
        standard["patternProperties"] = usable
    return _make_nullable(standard) if schema.get("nullable") is True else standard


def _copy_subschemas(schema: Mapping[str, Any], standard: dict[str, Any], depth: int) -> None:
    for key in SUBSCHEMA_KEYWORDS:
        if isinstance(schema.get(key), bool | Mapping):
            standard[key] = _standardize_any(schema[key], depth)
    for key in SUBSCHEMA_LISTS:
        if isinstance(schema.get(key), list) and schema[key]:
            standard[key] = [_standardize_any(inner, depth) for inner in schema[key]]
    for key in SUBSCHEMA_MAPS:
        if isinstance(schema.get(key), Mapping):
            subschemas = schema[key].items()
            standard[key] = {
                str(name): _standardize_any(inner, depth) for name, inner in subschemas
            }


def _standardize_any(schema: object, depth: int) -> dict[str, Any] | bool:
    if isinstance(schema, bool):
        return schema
    if isinstance(schema, str):
        return _standardize_part({"type": schema}, depth + 1)
    return _standardize_part(schema, depth + 1) if isinstance(schema, Mapping) else {}


def _copy_types(schema: Mapping[str, Any], standard: dict[str, Any]) -> None:
    written = schema.get("type")
    names = [written] if isinstance(written, str) else written
    if isinstance(names, list):
        _copy_kinds([name for name in names if isinstance(name, str)], standard)
        if schema.get("format") in ("float", "double"):
            standard[FLOATING] = True
    elif isinstance(names, Mapping):
        standard.update(_standardize_part(names, DEEPEST_SCHEMA))
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        standard["enum"] = schema["enum"]
    if "const" in schema:
        standard["const"] = schema["const"]


def _copy_kinds(names: list[str], standard: dict[str, Any]) -> None:
    kinds = list(dict.fromkeys(map(parse_kind, names)))
    if kinds and all(kinds):
        standard["type"] = kinds[0] if len(kinds) == 1 else kinds
    if any(name.lower() in FLOAT_NAMES for name in names):
        standard[FLOATING] = True


def _copy_limits(schema: Mapping[str, Any], standard: dict[str, Any]) -> None:
    for key in NUMBER_LIMITS:
        if _is_number(schema.get(key)):
            standard[key] = schema[key]
    if standard.get("multipleOf", 1) <= 0:
        del standard["multipleOf"]
    for key in COUNT_LIMITS:
        if _is_count(schema.get(key)):
            standard[key] = schema[key]
    if isinstance(schema.get("uniqueItems"), bool):
        standard["uniqueItems"] = schema["uniqueItems"]
    if isinstance(schema.get("pattern"), str) and is_usable_pattern(schema["pattern"]):
        standard["pattern"] = schema["pattern"]
    if isinstance(schema.get("dependentRequired"), Mapping):
        standard["dependentRequired"] = _lists_of_names(schema["dependentRequired"])


def _is_number(value: object) -> bool:
    """Tell whether it is a number that can be compared with: NaN is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _lists_of_names(written: Mapping[str, object]) -> dict[str, list[str]]:
    return {
        str(name): _unique_names(others)
        for name, others in written.items()
        if isinstance(others, list)
    }


def _translate_older_keywords(
    schema: Mapping[str, Any], standard: dict[str, Any], depth: int
) -> None:
    """Keywords of earlier drafts, in the words of 2020-12."""
    _translate_items(schema, standard, depth)
    for limit in ("Minimum", "Maximum"):
        if schema.get(f"exclusive{limit}") is True and limit.lower() in standard:
            standard[f"exclusive{limit}"] = standard.pop(limit.lower())
    older = schema.get("dependencies")
    for name, needed in older.items() if isinstance(older, Mapping) else ():
        if isinstance(needed, list):
            standard.setdefault("dependentRequired", {})[str(name)] = _unique_names(needed)
        elif isinstance(needed, Mapping):
            standard.setdefault("dependentSchemas", {})[str(name)] = _standardize_any(needed, depth)


def _translate_items(schema: Mapping[str, Any], standard: dict[str, Any], depth: int) -> None:
    """Translate `items` that are a list, a schema for each place, or the name of a type."""
    items = schema.get("items")
    if isinstance(items, str):
        standard["items"] = _standardize_any(items, depth)
    if not isinstance(items, list):
        return
    if items:
        standard["prefixItems"] = [_standardize_any(item, depth) for item in items]
    else:
        standard.pop("prefixItems", None)
    if isinstance(schema.get("additionalItems"), bool | Mapping):
        standard["items"] = _standardize_any(schema["additionalItems"], depth)


def _copy_required(schema: Mapping[str, Any], standard: dict[str, Any]) -> None:
    """With what stands in the wrong place: `required: true` or `optional: true` in a property."""
    written = schema.get("required")
    names = dict.fromkeys(_unique_names(written) if isinstance(written, list) else ())
    inner = schema.get("properties")
    for name, declared in inner.items() if isinstance(inner, Mapping) else ():
        if not isinstance(declared, Mapping):
            continue
        if declared.get("required") is True:
            names.setdefault(str(name))
        if declared.get("optional") is True or declared.get("required") is False:
            names.pop(name, None)
    if names:
        standard["required"] = list(names)


def _unique_names(written: list[object]) -> list[str]:
    return list(dict.fromkeys(name for name in written if isinstance(name, str)))


def _make_nullable(standard: dict[str, Any]) -> dict[str, Any]:
    kinds = standard.get("type")
    if isinstance(kinds, str):
        standard["type"] = [kinds, "null"]
    elif isinstance(kinds, list) and "null" not in kinds:
        standard["type"] = [*kinds, "null"]
    if "enum" in standard and None not in standard["enum"]:
        standard["enum"] = [*standard["enum"], None]
    return standard


def is_usable_pattern(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return len(pattern) < 2000


def _absolute_references(root_schema: dict[str, Any]) -> dict[str, Any]:
    """References that lead somewhere are made absolute; all others go."""

    def walk(schema_part: object) -> None:
        if isinstance(schema_part, list):
            for item in schema_part:
                walk(item)
        if not isinstance(schema_part, dict):
            return
        written = schema_part.get("$ref")
        if isinstance(written, str):
            if isinstance(resolve_reference(written, root_schema), Mapping) and not _is_circular(
                written, root_schema
            ):
                schema_part["$ref"] = f"{ROOT}#{written.partition('#')[2]}"
            else:
                del schema_part["$ref"]
        for key, inner in schema_part.items():
            if key not in ("enum", "const", "default"):
                walk(inner)

    walk(root_schema)
    return root_schema


def _is_circular(reference: str, root_schema: Mapping[str, Any]) -> bool:
    followed = {reference.partition("#")[2]}
    target = resolve_reference(reference, root_schema)
    while isinstance(target, Mapping) and isinstance(target.get("$ref"), str):
        pointer = target["$ref"].partition("#")[2]
        if pointer in followed:
            return True
        followed.add(pointer)
        target = resolve_reference(target["$ref"], root_schema)
    return False


def resolve_reference(reference: str, root_schema: Mapping[str, Any]) -> object:
    """Follow a reference inside the document; None for any other."""
    document, _, pointer = reference.partition("#")
    if document not in ("", ROOT) or (pointer and not pointer.startswith("/")):
        return None
    target: object = root_schema
    for segment in pointer.split("/")[1:]:
        key = segment.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(key)
        elif isinstance(target, list) and key.isdigit() and int(key) < len(target):
            target = target[int(key)]
        else:
            return None
    return target
