"""Tools as one provider or dialect takes them. What is validated against is always the original.

Names are made to fit an alphabet and a length, reversibly (R17); schemas lose what a provider does
not read. Nothing is ever left out without a word: a schema that cannot be kept says less.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.standard_schema import (
    resolve_reference,
    standardize_schema,
    tool_parameters,
)
from andy_cli.messages import Problem, Schema

LONGEST_NAME = 64
FORBIDDEN_IN_NAME = Expression(r"[^A-Za-z0-9_-]")
OUR_KEYWORDS = frozenset(["x-aliases", "x-unit", "x-floating"])
UNREAD_KEYWORDS = OUR_KEYWORDS.union(
    "patternProperties propertyNames dependentSchemas dependentRequired if then else not contains "
    "unevaluatedProperties unevaluatedItems $defs definitions oneOf allOf".split()
)
"""Our own, and what providers refuse that take neither references nor alternatives."""
RULES_OF_NAMES = frozenset(["required", "additionalProperties"])
LONGEST_EXCERPT = 1500


def provider_names(names: Iterable[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Registered name -> a name of letters, digits, `_` and `-`; no two are the same.

    A name that has to be changed never takes the place of one that need not be.
    """
    registered = list(dict.fromkeys(names))
    used_names = {name for name in registered if _is_provider_name(name, longest)}
    offers: dict[str, str] = {}
    for name in registered:
        offer = name
        if name not in used_names:
            offer = FORBIDDEN_IN_NAME.sub("_", name)
            if not offer[:1].isalpha() and offer[:1] != "_":
                offer = f"_{offer}"
            full_name, checksum = offer, crc32(name.encode("utf-8", "replace"))
            while len(offer) > longest or offer in used_names:
                offer = f"{full_name[: longest - 9]}_{checksum:08x}"
                checksum = (checksum + 1) % 2**32
            used_names.add(offer)
        offers[name] = offer
    return offers


def _is_provider_name(name: str, longest: int) -> bool:
    starts = name[:1].isalpha() or name[:1] == "_"
    return starts and len(name) <= longest and not FORBIDDEN_IN_NAME.search(name)


def render_provider_schema(
    tool: Schema, name: str = "", references: bool = True, alternatives: bool = True
) -> dict[str, Any]:
    """The function tool without our own keywords, for a model to see.

    `name`: what to call it, when not as registered. Without `references` each `$ref` is written
    out, as deep as it makes sense; without `alternatives` so is the first of each `anyOf`.
    """
    function = tool.get("function", tool)
    schema = tool_parameters(tool)
    if not (references and alternatives):
        root_schema = standardize_schema(schema)
        shown_parameters = SchemaSimplifier(root_schema, references, alternatives).simplify_part(
            root_schema
        )
    else:
        shown_parameters = _drop_our_keywords(schema)
    shown_function = {
        key: value
        for key, value in function.items()
        if key not in ("parameters", "inputSchema", "input_schema", "annotations", *OUR_KEYWORDS)
    }
    shown_function["name"] = name or shown_function.get("name", "")
    shown_function["parameters"] = shown_parameters
    return {"type": "function", "function": shown_function}


def _drop_our_keywords(schema: Mapping[str, object], is_names: bool = False) -> dict[str, object]:
    return {
        key: _drop_in_value(value, is_names=key == "properties" and not is_names)
        for key, value in schema.items()
        if is_names or key not in OUR_KEYWORDS
    }


def _drop_in_value(value: object, is_names: bool) -> object:
    if isinstance(value, Mapping):
        return _drop_our_keywords(value, is_names)
    return (
        [_drop_in_value(item, is_names=False) for item in value]
        if isinstance(value, list)
        else value
    )


class SchemaSimplifier(NamedTuple):
    """Writes a schema for somebody who does not read all of it."""

    root: Mapping[str, Any]
    references: bool
    alternatives: bool

    def simplify_part(self, schema: object, trail: tuple[str, ...] = ()) -> dict[str, Any]:
        """`trail`: the references that led here; one that leads to itself is not followed."""
        if not isinstance(schema, Mapping):
            return {}
        if not self.references and "$ref" in schema:
            return self._follow_reference(schema, trail)
        simplified = (
            dict(schema) if self.alternatives else _pick_alternative(dict(schema), self.root)
        )
        if not self.references and "$ref" in simplified:
            return self._follow_reference(simplified, trail)
        return {
            key: self._simplify_keyword(key, value, trail)
            for key, value in simplified.items()
            if self._is_read(key)
        }

    def _is_read(self, keyword: str) -> bool:
        return keyword not in UNREAD_KEYWORDS or (keyword == "$defs" and self.references)

    def _follow_reference(
        self, schema: Mapping[str, Any], trail: tuple[str, ...]
    ) -> dict[str, Any]:
        reference = schema["$ref"]
        sibling_keywords = {key: value for key, value in schema.items() if key != "$ref"}
        target = None if reference in trail else resolve_reference(reference, self.root)
        target_schema = target if isinstance(target, Mapping) else {}
        return self.simplify_part({**target_schema, **sibling_keywords}, (*trail, reference))

    def _simplify_keyword(self, key: str, value: object, trail: tuple[str, ...]) -> object:
        if key == "$ref":
            return "#" + str(value).partition("#")[2]
        if key in ("properties", "$defs"):
            names = value.items() if isinstance(value, Mapping) else ()
            return {name: self.simplify_part(inner, trail) for name, inner in names}
        if key in ("items", "additionalProperties") and isinstance(value, Mapping):
            return self.simplify_part(value, trail)
        if key in ("anyOf", "prefixItems") and isinstance(value, list):
            return [self.simplify_part(branch, trail) for branch in value]
        return value


def _pick_alternative(schema: dict[str, Any], root_schema: Mapping[str, Any]) -> dict[str, Any]:
    """With the first alternative that is not null in place of them all, and what all demand."""
    chosen: dict[str, Any] = {}
    for word in ("anyOf", "oneOf"):
        chosen |= _first_branch(schema.pop(word, ()))
    for demanded in schema.pop("allOf", ()):
        target = demanded
        if isinstance(demanded, Mapping) and "$ref" in demanded:
            target = resolve_reference(demanded["$ref"], root_schema)
        if isinstance(target, Mapping):
            chosen |= target
    merged = {**chosen, **schema}
    kinds = merged.get("type")
    if isinstance(kinds, list):
        merged["type"] = next((kind for kind in kinds if kind != "null"), kinds[0])
    return merged


def _first_branch(branches: Iterable[object]) -> Mapping[str, Any]:
    """The first alternative that is not null; where all are, the first."""
    written = [branch for branch in branches if isinstance(branch, Mapping)]
    not_null = [branch for branch in written if branch.get("type") != "null"]
    return next(iter(not_null or written), {})


def schema_excerpt(tool: Schema, problems: Sequence[Problem]) -> str:
    """The failing properties of the tool's own schema and what is required, as compact JSON."""
    schema = tool_parameters(tool)
    declared = schema.get("properties")
    properties: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
    heads = {problem.path.split("/")[0] for problem in problems}
    failing = {name: inner for name, inner in properties.items() if name in heads}
    if not failing or not RULES_OF_NAMES.isdisjoint(problem.rule for problem in problems):
        # What the model has to choose from, when it used a name that does not exist.
        failing = {**failing, **_map_values(_keep_types, properties), **failing}
    excerpt: dict[str, object] = {"properties": _map_values(_drop_labels, failing)}
    if isinstance(schema.get("required"), list):
        excerpt["required"] = schema["required"]
    text = _compact_json(excerpt)
    if len(text) <= LONGEST_EXCERPT:
        return text
    return _compact_json({**excerpt, "properties": _map_values(_keep_types, failing)})


def _map_values(
    change: Callable[[object], object], properties: Mapping[str, object]
) -> dict[str, object]:
    return {name: change(inner) for name, inner in properties.items()}


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _drop_labels(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return schema
    return {key: value for key, value in schema.items() if key not in ("x-aliases", "title")}


def _keep_types(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return schema
    return {key: schema[key] for key in ("type", "enum") if key in schema}
