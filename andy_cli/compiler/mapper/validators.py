"""The validation library, held at arm's length: it never fetches, hangs or raises."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from andy_cli.compiler.mapper.standard_schema import ROOT, resolve_reference

Validate = Callable[[object], bool]
FindMisfits = Callable[[dict[str, object]], frozenset[str]]
BACKTRACK_LIMIT = 20_000
"""Steps of one pattern: a pattern of a stranger must not hang us."""
MOST_RULES = 20_000
"""Rules that apply to one value at once; schemas can double them with every line."""
IN_PLACE = "allOf anyOf oneOf not if then else".split()


class UnreadableSchema(Exception):
    """A schema whose rules contradict each other, or are too many."""


class SchemaValidator(Protocol):
    """The methods that are needed of a validator of the library."""

    def is_valid(self, instance: object) -> bool: ...

    def iter_errors(self, instance: object) -> Iterator[Any]: ...


class SchemaError(NamedTuple):
    path: tuple[str | int, ...]
    rule: str
    message: str


class Validators:
    """Validators for a schema and for each part of it. Raises Unreadable for a broken one."""

    def __init__(self, root_schema: dict[str, Any]) -> None:
        # Costs 70 ms and is needed only where a tool is called.
        import jsonschema_rs

        self._rs = jsonschema_rs
        self._faults = (ValueError, TypeError, OverflowError, jsonschema_rs.ReferencingError)
        self.root = root_schema
        self.merged: dict[int, tuple[Mapping[str, Any], dict[str, Any]]] = {}
        """Parts with their references followed, by identity: each is merged once."""
        text = json.dumps(root_schema, default=str)
        self.formats = '"format"' in text
        self.widest = count_alternatives(root_schema)
        if '"$ref"' in text and count_rules(root_schema) > MOST_RULES:
            raise UnreadableSchema("its references multiply")
        try:
            self._registry = (
                jsonschema_rs.Registry([(ROOT, root_schema)]) if '"$ref"' in text else None
            )
            self._whole = self._compile_schema(root_schema)
            self._whole.is_valid({})
        except self._faults as error:
            raise UnreadableSchema(str(error)) from error

    def _compile_schema(self, schema: Mapping[str, Any] | bool) -> SchemaValidator:
        return self._rs.Draft202012Validator(
            schema if isinstance(schema, bool) else dict(schema),
            registry=self._registry,
            validate_formats=False,
            offline=True,
            pattern_options=self._rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        )

    def compile_validator(self, schema: Mapping[str, Any] | bool) -> Validate:
        try:
            valid = self._compile_schema(schema).is_valid
        except self._faults:
            return lambda value: True

        def fits(value: object) -> bool:
            try:
                return bool(valid(value))
            except self._faults:
                return False

        return fits

    def compile_misfit_finder(self, schema: Mapping[str, Any] | bool) -> FindMisfits:
        """Find which properties of an object do not fit: all, where that cannot be told."""
        try:
            errors = self._compile_schema(schema).iter_errors
        except self._faults:
            return lambda value: frozenset(value)

        def find_misfits(value: dict[str, object]) -> frozenset[str]:
            try:
                paths = [error.instance_path for error in errors(value)]
            except self._faults:
                return frozenset(value)
            return frozenset(str(path[0]) for path in paths if path)

        return find_misfits

    def matches(self, pattern: str, text: str) -> bool:
        return self.compile_validator({"type": "string", "pattern": pattern})(text)

    def errors(self, arguments: object) -> Iterator[SchemaError]:
        try:
            for schema_error in self._whole.iter_errors(arguments):
                schema_path = tuple(schema_error.schema_path)
                rule_name = next(
                    (
                        path_element
                        for path_element in reversed(schema_path)
                        if isinstance(path_element, str)
                    ),
                    "",
                )
                yield SchemaError(
                    tuple(schema_error.instance_path), rule_name, schema_error.message
                )
        except self._faults as error:
            yield SchemaError((), "type", f"cannot be written as JSON: {error}")


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
            weights[id(schema_part)] = min(1 + sum(inner), MOST_RULES * MOST_RULES)
        return weights[id(schema_part)]

    def walk(schema_part: object) -> int:
        inner = (
            schema_part.values()
            if isinstance(schema_part, dict)
            else schema_part
            if isinstance(schema_part, list)
            else ()
        )
        return max(weight(schema_part), *map(walk, inner), 1)

    return walk(root_schema)
