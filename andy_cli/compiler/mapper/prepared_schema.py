"""A tool's schema, prepared once: what each place says of its values, and what is wrong there.

The validation library is held at arm's length: it never fetches, hangs or raises.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

from andy_cli.compiler.bodies.typed import kind_of
from andy_cli.compiler.mapper.json_schema import (
    FLOATING,
    ROOT,
    is_usable_pattern,
    resolve_reference,
    standardize_schema,
    tool_parameters,
)
from andy_cli.compiler.mapper.json_values import follows_format, nesting_depth
from andy_cli.compiler.mapper.synonyms import only_limits
from andy_cli.messages import Problem, Schema

BACKTRACK_LIMIT = 20_000
"""Steps of one pattern: a pattern of a stranger must not hang us."""
MAX_RULES = 20_000
"""Rules that apply to one value at once; schemas can double them with every line."""
IN_PLACE = "allOf anyOf oneOf not if then else".split()


class UnreadableSchema(Exception):
    """A schema whose rules contradict each other, or are too many."""


class SchemaValidator(Protocol):
    """The methods that are needed of a validator of the library."""

    def is_valid(self, instance: object) -> bool: ...

    def iter_errors(self, instance: object) -> Iterator[Any]: ...


class Validators:
    """Validators for a schema and for each part of it. Raises Unreadable for a broken one."""

    def __init__(self, root_schema: dict[str, Any]) -> None:
        # Costs 70 ms and is needed only where a tool is called.
        import jsonschema_rs

        self._rs = jsonschema_rs
        self.faults = (ValueError, TypeError, OverflowError, jsonschema_rs.ReferencingError)
        self.root = root_schema
        self.merged: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        """Parts with their references followed, by identity: each is merged once."""
        text = json.dumps(root_schema, default=str)
        self.formats = '"format"' in text
        self.widest = count_alternatives(root_schema)
        if '"$ref"' in text and count_rules(root_schema) > MAX_RULES:
            raise UnreadableSchema("its references multiply")
        try:
            self._registry = (
                jsonschema_rs.Registry([(ROOT, root_schema)]) if '"$ref"' in text else None
            )
            self._whole = self._compile_schema(root_schema)
            self._whole.is_valid({})
        except self.faults as error:
            raise UnreadableSchema(str(error)) from error

    def _compile_schema(self, schema: Mapping[str, Any] | bool) -> SchemaValidator:
        return self._rs.Draft202012Validator(
            schema if isinstance(schema, bool) else dict(schema),
            registry=self._registry,
            validate_formats=False,
            offline=True,
            pattern_options=self._rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        )

    def compile_part(self, schema: Mapping[str, Any] | bool) -> SchemaValidator | None:
        """A validator for a part of the schema; None where it says nothing that can be read."""
        try:
            return self._compile_schema(schema)
        except self.faults:
            return None

    def matches(self, pattern: str, text: str) -> bool:
        validator = self.compile_part({"type": "string", "pattern": pattern})
        return validator is None or self.is_valid(validator, text)

    def is_valid(self, validator: SchemaValidator, value: object) -> bool:
        """Never raises: what cannot be validated does not fit."""
        try:
            return validator.is_valid(value)
        except self.faults:
            return False

    def find_problems(self, arguments: object) -> Iterator[Problem]:
        try:
            for error in self._whole.iter_errors(arguments):
                words = [step for step in error.schema_path if isinstance(step, str)]
                rule_name = words[-1] if words else ""
                path = _precise_path(error.instance_path, rule_name, error.message)
                yield Problem("/".join(map(str, path)), rule_name, _shorten_message(error.message))
        except self.faults as error:
            yield Problem("", "type", _shorten_message(f"cannot be written as JSON: {error}"))


def count_alternatives(schema_part: object) -> int:
    """The most alternatives there are in one place."""
    if isinstance(schema_part, list):
        return max(map(count_alternatives, schema_part), default=1)
    if not isinstance(schema_part, dict):
        return 1
    branch_counts = [
        len(schema_part[word])
        for word in ("anyOf", "oneOf")
        if isinstance(schema_part.get(word), list)
    ]
    return max([1, *branch_counts, *map(count_alternatives, schema_part.values())])


def count_rules(root_schema: dict[str, Any]) -> int:
    """The most rules that apply to one value, with all that references add."""
    weights: dict[int, int] = {}

    def weight(schema_part: object) -> int:
        if isinstance(schema_part, list):
            return sum(map(weight, schema_part))
        if not isinstance(schema_part, Mapping):
            return 1
        if id(schema_part) not in weights:
            weights[id(schema_part)] = 1  # what refers to itself counts once
            inner = [weight(schema_part[word]) for word in IN_PLACE if word in schema_part]
            if isinstance(schema_part.get("$ref"), str):
                inner.append(weight(resolve_reference(schema_part["$ref"], root_schema)))
            weights[id(schema_part)] = min(1 + sum(inner), MAX_RULES * MAX_RULES)
        return weights[id(schema_part)]

    def walk(schema_part: object) -> int:
        parts = schema_part if isinstance(schema_part, list) else []
        inner = schema_part.values() if isinstance(schema_part, dict) else parts
        return max(weight(schema_part), *map(walk, inner), 1)

    return walk(root_schema)


LISTS_IN_LISTS = 8
"""Lists in lists whose entries are looked at."""
MAX_BRANCHES = 16
"""Alternatives that are looked at."""
MAX_PREPARED = 512
"""Schemas that are kept ready."""
TOO_MANY_WAYS = 100_000
"""Combinations of alternatives, level by level; beyond them a call is judged, not corrected."""
MAX_PROBLEMS = 12
"""Problems that are told of one call."""


class SchemaNode:
    """One place in a schema. References and `allOf` are already followed."""

    def __init__(self, schema: Mapping[str, Any] | bool, judges: Validators) -> None:
        self.validators = judges
        self.never = schema is False
        written = dict(schema) if isinstance(schema, Mapping) else {}
        self.schema: dict[str, Any] = merge_references(written, judges)
        self._written = schema if isinstance(schema, bool) else written
        self._children: dict[str | int, SchemaNode] = {}
        kinds = self.schema.get("type", ())
        declared_kinds = frozenset([kinds] if isinstance(kinds, str) else kinds)
        self.kinds = declared_kinds or _infer_kinds(self.schema)
        self.properties: Mapping[str, Any] = self.schema.get("properties", {})
        self.required: tuple[str, ...] = tuple(self.schema.get("required", ()))
        self.is_whole = schema is judges.root
        """It is the place of all arguments, not of one."""
        self.optional_name = ""
        """Of the property that it is the place of, where that need not be given."""
        self.floating = bool(self.schema.get(FLOATING))

    def takes(self, kind: str) -> bool:
        """Tell whether values of that kind are wanted here; where anything may stand none is."""
        return kind in self.kinds

    @property
    def limits(self) -> bool:
        """It only says how much is shown: a number beyond its bounds may be clamped."""
        return only_limits(self.optional_name)

    @property
    def choices(self) -> list[Any]:
        """The values that are allowed, where they are counted."""
        if "const" in self.schema:
            return [self.schema["const"]]
        members: list[Any] = self.schema.get("enum", [])
        return members

    @property
    def only(self) -> str:
        """The one property that a lone value can be meant for, if there is but one."""
        names = self.required or tuple(self.properties)
        return names[0] if len(names) == 1 else ""

    @property
    def closed(self) -> bool:
        """Nothing but the declared properties may be given."""
        return False in (
            self.schema.get("additionalProperties"),
            self.schema.get("unevaluatedProperties"),
        )

    @property
    def takes_nothing(self) -> bool:
        """No property is declared, by its name or by a pattern of names."""
        return not self.properties and not self.schema.get("patternProperties")

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The properties whose values are, or hold, numbers of a declared form."""
        names: list[str] = []
        for name in self.properties:
            child = self.child(name)
            if child is not None and (child.counts or child.branches):
                names.append(name)
        return tuple(names)

    @property
    def counts(self) -> bool:
        node: SchemaNode | None = self
        for _ in range(LISTS_IN_LISTS):  # a list may be one of lists like itself
            if node is None:
                return False
            if node.floating or ("integer" in node.kinds and "number" not in node.kinds):
                return True
            node = node.item(0) if "array" in node.kinds else None
        return False

    @cached_property
    def timed(self) -> tuple[str, ...]:
        """The properties that declare a unit."""
        children = ((name, self.child(name)) for name in self.properties)
        return tuple(name for name, child in children if child and "x-unit" in child.schema)

    @property
    def about(self) -> str:
        return str(self.schema.get("description", "")).lower()

    @cached_property
    def _validator(self) -> SchemaValidator | None:
        return self.validators.compile_part(self._written)

    def fits(self, value: object) -> bool:
        """Never raises: what cannot be validated does not fit."""
        if not self.has_shape(value):
            return False
        if not self.validators.formats:
            return True
        return next(_format_problems(self, value, ()), None) is None

    def has_shape(self, value: object) -> bool:
        """Tell whether a value fits, formats apart."""
        validator = self._validator
        return validator is None or self.validators.is_valid(validator, value)

    def find_invalid_keys(self, value: dict[str, object]) -> frozenset[str]:
        """The properties whose values do not fit, as far as they can be told apart."""
        if self.validators.formats or self._validator is None:
            return frozenset(value)
        try:
            paths = [error.instance_path for error in self._validator.iter_errors(value)]
        except self.validators.faults:
            return frozenset(value)
        return frozenset(str(path[0]) for path in paths if path)

    def child(self, name: str) -> "SchemaNode | None":
        """The place of a property; None where nothing is said about it."""
        if name not in self._children:
            property_schema = self._find_named(name)
            if property_schema is None:
                return None
            child = self._children[name] = SchemaNode(property_schema, self.validators)
            child.optional_name = "" if name in self.required else name
        return self._children[name]

    def _find_named(self, name: str) -> Mapping[str, Any] | bool | None:
        if name in self.properties:
            declared: Mapping[str, Any] | bool = self.properties[name]
            return declared
        patterns: Mapping[str, Mapping[str, Any] | bool] = {}
        if len(name) < 200:
            patterns = self.schema.get("patternProperties", {})
        for pattern, pattern_schema in patterns.items():
            if is_usable_pattern(pattern) and self.validators.matches(pattern, name):
                return pattern_schema
        additional = self.schema.get("additionalProperties")
        return additional if isinstance(additional, Mapping) and additional else None

    def item(self, index: int) -> "SchemaNode | None":
        prefix_schemas = self.schema.get("prefixItems", ())
        key = index if index < len(prefix_schemas) else -1
        if key not in self._children:
            item_schema = prefix_schemas[index] if key >= 0 else self.schema.get("items")
            if item_schema is None or item_schema is True:
                return None
            self._children[key] = SchemaNode(item_schema, self.validators)
        return self._children[key]

    @cached_property
    def branches(self) -> "tuple[SchemaNode, ...]":
        """The alternatives of `anyOf` or `oneOf`, each with what holds for all."""
        word = "anyOf" if "anyOf" in self.schema else "oneOf"
        common = {key: value for key, value in self.schema.items() if key != word}
        merged = [
            _merge_two(common, merge_references(alternative, self.validators))
            for alternative in self.schema.get(word, ())[:MAX_BRANCHES]
            if isinstance(alternative, dict)
        ]
        return tuple(SchemaNode(branch, self.validators) for branch in merged)


def _infer_kinds(schema: Mapping[str, Any]) -> frozenset[str]:
    """By what else is said; empty: anything may stand here."""
    if schema.get("properties"):
        return frozenset(["object"])
    if "items" in schema or "prefixItems" in schema:
        return frozenset(["array"])
    allowed = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return frozenset(map(kind_of, allowed))


def merge_references(schema: Mapping[str, Any], validators: Validators) -> dict[str, Any]:
    """With what `$ref` leads to and `allOf` adds, as far as one object can say it."""
    earlier_merge = validators.merged.get(id(schema))
    if earlier_merge is not None and earlier_merge[0] is schema:
        return earlier_merge[1]
    # Whoever refers to itself gets what it says without that.
    validators.merged[id(schema)] = (schema, dict(schema))
    merged = {key: value for key, value in schema.items() if key not in ("allOf", "$ref")}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = resolve_reference(reference, validators.root)
        referenced = merge_references(target, validators) if isinstance(target, Mapping) else {}
        merged = _merge_two(referenced, merged)
    for added_schema in schema.get("allOf", ())[:MAX_BRANCHES]:
        if isinstance(added_schema, Mapping):
            merged = _merge_two(merged, merge_references(added_schema, validators))
    validators.merged[id(schema)] = (schema, merged)
    return merged


def _merge_two(first_schema: Mapping[str, Any], second_schema: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**first_schema, **second_schema}
    if "properties" in first_schema and "properties" in second_schema:
        merged["properties"] = {**first_schema["properties"], **second_schema["properties"]}
    if "required" in first_schema and "required" in second_schema:
        merged["required"] = list(
            dict.fromkeys([*first_schema["required"], *second_schema["required"]])
        )
    return merged


class PreparedSchema:
    """A schema that can be asked."""

    def __init__(self, root_schema: dict[str, Any]) -> None:
        try:
            self.validators = Validators(root_schema)
        except UnreadableSchema:
            # Its rules cannot be read: only the names are known.
            names: dict[str, object] = {name: {} for name in root_schema.get("properties", {})}
            self.validators = Validators(
                {"type": "object", "properties": names, "additionalProperties": not names}
            )
        self.node = SchemaNode(self.validators.root, self.validators)

    def too_many(self, arguments: object) -> bool:
        """Tell whether there are too many ways to read the arguments for looking at all of them."""
        possible_readings: int = self.validators.widest ** min(nesting_depth(arguments), 40)
        return possible_readings > TOO_MANY_WAYS

    def _outline_problems(self, arguments: object) -> Iterator[Problem]:
        """Yield the arguments that do not fit, without the reasons."""
        if self.node.fits(arguments):
            return
        for name, value in arguments.items() if isinstance(arguments, dict) else ():
            child = self.node.child(name)
            if child is not None and not child.fits(value):
                yield Problem(name, "anyOf", "it fits none of the forms that are allowed")
        yield Problem("", "anyOf", "the arguments do not fit their schema")

    def problems(self, arguments: object) -> tuple[Problem, ...]:
        """All that does not fit, at most a dozen; empty: valid."""
        if self.too_many(arguments):
            return tuple(self._outline_problems(arguments))
        problems = list(islice(self.validators.find_problems(arguments), MAX_PROBLEMS))
        if not problems and self.validators.formats:
            problems.extend(_format_problems(self.node, arguments, ()))
        return tuple(problems)


def _precise_path(path: Sequence[str | int], rule_name: str, message: str) -> Sequence[str | int]:
    """A missing or an unknown property is named in the path: `flavour`, not the object it is in."""
    if rule_name in ("required", "additionalProperties"):
        quoted = message.split('"' if '"' in message else "'")
        if len(quoted) > 2:
            return (*path, quoted[1])
    return path


def _shorten_message(message: str) -> str:
    return message if len(message) <= 240 else f"{message[:120]} ... {message[-110:]}"


def _format_problems(node: SchemaNode, value: object, path: tuple[str, ...]) -> Iterator[Problem]:
    yield from _branch_problems(node, value, path)
    if isinstance(value, str):
        text_format = str(node.schema.get("format", ""))
        if not follows_format(value, text_format):
            yield Problem(
                "/".join(path),
                "format",
                f"{_shorten_message(json.dumps(value))} is no {text_format}",
            )
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            child = node.child(str(key)) if isinstance(value, dict) else node.item(int(key))
            if child is not None:
                yield from _format_problems(child, inner, (*path, str(key)))


def _branch_problems(node: SchemaNode, value: object, path: tuple[str, ...]) -> list[Problem]:
    """List the problems of the alternative with the fewest, of those that the value may be."""
    shaped_branches = [branch for branch in node.branches if branch.has_shape(value)]
    problems = [list(_format_problems(branch, value, path)) for branch in shaped_branches]
    return min(problems, key=len, default=[])


_prepared_by_place: dict[int, tuple[Schema, PreparedSchema]] = {}
_prepared_by_content: dict[str, PreparedSchema] = {}
"""Making a schema ready takes longer than a hundred corrections; the outcome never differs."""


def prepare_schema(tool: Schema) -> PreparedSchema:
    """The tool's schema, ready to be asked. Never raises."""
    cached = _prepared_by_place.get(id(tool))
    if cached is not None and cached[0] is tool:
        return cached[1]
    schema = tool_parameters(tool)
    content = json.dumps(schema, default=repr, sort_keys=False)
    prepared = _prepared_by_content.get(content)
    for cache in (_prepared_by_place, _prepared_by_content):
        if len(cache) >= MAX_PREPARED:
            cache.clear()
    if prepared is None:
        prepared = _prepared_by_content[content] = PreparedSchema(standardize_schema(schema))
    _prepared_by_place[id(tool)] = (tool, prepared)
    return prepared
