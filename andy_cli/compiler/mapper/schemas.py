"""A tool's schema, made ready once: what it says at each place, and whether a value fits there."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from andy_cli.compiler.mapper.cleaning import FLOATING, ROOT, cleaned, resolved, usable
from andy_cli.compiler.mapper.formats import follows
from andy_cli.compiler.mapper.kinds import kind_of
from andy_cli.messages import Problem, Schema

MOST = 512
"""Schemas that are kept ready."""
BRANCHES = 16
TOLD = 12
"""Problems that are told of one call."""


class Error(NamedTuple):
    path: tuple[str | int, ...]
    place: tuple[str | int, ...]
    """Where the rule stands in the schema."""
    rule: str
    message: str


Validate = Callable[[object], bool]
Judge = Callable[[dict[str, object]], frozenset[str]]


class Checker(Protocol):
    """What is needed of a validator of the library."""

    def is_valid(self, instance: object) -> bool: ...

    def iter_errors(self, instance: object) -> Iterator[Any]: ...


class Node:
    """One place in a schema. References and `allOf` are already followed."""

    def __init__(self, schema: Mapping[str, Any] | bool, ready: "Ready") -> None:
        self.ready = ready
        self.never = schema is False
        written = dict(schema) if isinstance(schema, Mapping) else {}
        self.schema: dict[str, Any] = _merged(written, ready.root, 0)
        self._written = schema if isinstance(schema, bool) else written
        self._valid: Validate | None = None
        self._judge: Judge | None = None
        self._children: dict[str | int, Node] = {}
        self._branches: tuple[Node, ...] | None = None
        kinds = self.schema.get("type", ())
        self.kinds = frozenset([kinds] if isinstance(kinds, str) else kinds) or _kinds_of(
            self.schema
        )
        self.properties: Mapping[str, Any] = self.schema.get("properties", {})
        self.required: tuple[str, ...] = tuple(self.schema.get("required", ()))
        self.floating = bool(self.schema.get(FLOATING))

    def takes(self, kind: str) -> bool:
        """Whether values of that kind are wanted here; where anything may stand none is."""
        return kind in self.kinds

    @property
    def choices(self) -> list[Any]:
        """The values that are allowed, where they are counted."""
        if "const" in self.schema:
            return [self.schema["const"]]
        found: list[Any] = self.schema.get("enum", [])
        return found

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

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """The properties whose values are, or hold, numbers of a declared form."""
        return tuple(
            name
            for name in self.properties
            if (child := self.child(name)) is not None and (child.counts or child.branches)
        )

    @property
    def counts(self) -> bool:
        item = self.item(0) if "array" in self.kinds else None
        whole = "integer" in self.kinds and "number" not in self.kinds
        return whole or self.floating or (item is not None and item.counts)

    @cached_property
    def timed(self) -> tuple[str, ...]:
        """The properties that declare a unit."""
        children = ((name, self.child(name)) for name in self.properties)
        return tuple(name for name, child in children if child and "x-unit" in child.schema)

    @property
    def about(self) -> str:
        return str(self.schema.get("description", "")).lower()

    def fits(self, value: object) -> bool:
        """Never raises: what cannot be validated does not fit."""
        if self._valid is None:
            self._valid = self.ready.validator(self._written)
        return self._valid(value) and (not self.ready.formats or self.formats_fit(value))

    def wrong(self, value: dict[str, object]) -> frozenset[str]:
        """The properties whose values do not fit, as far as they can be told apart."""
        if self.ready.formats:
            return frozenset(value)
        if self._judge is None:
            self._judge = self.ready.judge(self._written)
        return self._judge(value)

    def formats_fit(self, value: object) -> bool:
        if isinstance(value, str):
            return follows(value, str(self.schema.get("format", "")))
        if isinstance(value, dict):
            children = ((self.child(key), each) for key, each in value.items())
            return all(child is None or child.formats_fit(each) for child, each in children)
        if isinstance(value, list):
            items = ((self.item(at), each) for at, each in enumerate(value))
            return all(child is None or child.formats_fit(each) for child, each in items)
        return True

    def child(self, name: str) -> "Node | None":
        """The place of a property; None where nothing is said about it."""
        if name not in self._children:
            found = self._named(name)
            if found is None:
                return None
            self._children[name] = Node(found, self.ready)
        return self._children[name]

    def _named(self, name: str) -> Mapping[str, Any] | bool | None:
        if name in self.properties:
            declared: Mapping[str, Any] | bool = self.properties[name]
            return declared
        for pattern, each in self.schema.get("patternProperties", {}).items():
            if len(name) < 200 and usable(pattern) and self.ready.matches(pattern, name):
                wanted: Mapping[str, Any] | bool = each
                return wanted
        rest = self.schema.get("additionalProperties")
        return rest if isinstance(rest, Mapping) and rest else None

    def item(self, at: int) -> "Node | None":
        first = self.schema.get("prefixItems", ())
        key = at if at < len(first) else -1
        if key not in self._children:
            found = first[at] if key >= 0 else self.schema.get("items")
            if found is None or found is True:
                return None
            self._children[key] = Node(found, self.ready)
        return self._children[key]

    @property
    def branches(self) -> "tuple[Node, ...]":
        """What `anyOf` or `oneOf` leaves to choose from, each with what holds for all."""
        if self._branches is None:
            word = "anyOf" if "anyOf" in self.schema else "oneOf"
            base = {key: each for key, each in self.schema.items() if key != word}
            self._branches = tuple(
                Node(_both(base, _merged(dict(each), self.ready.root, 0)), self.ready)
                for each in self.schema.get(word, ())[:BRANCHES]
                if isinstance(each, Mapping)
            )
        return self._branches


def _kinds_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """By what else is said; empty: anything may stand here."""
    if schema.get("properties"):
        return frozenset(["object"])
    if "items" in schema or "prefixItems" in schema:
        return frozenset(["array"])
    allowed = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return frozenset(map(kind_of, allowed))


def _merged(schema: dict[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """With what `$ref` leads to and `allOf` adds, as far as one object can say it."""
    if depth > 10:
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = resolved(reference, root)
        rest = {key: each for key, each in schema.items() if key != "$ref"}
        found = dict(target) if isinstance(target, Mapping) else {}
        schema = _both(_merged(found, root, depth + 1), rest)
    for each in schema.get("allOf", ()):
        if isinstance(each, Mapping):
            schema = _both(schema, _merged(dict(each), root, depth + 1))
    return {key: each for key, each in schema.items() if key != "allOf"}


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    both = {**one, **other}
    if "properties" in one and "properties" in other:
        both["properties"] = {**one["properties"], **other["properties"]}
    if "required" in one and "required" in other:
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return both


class Ready:
    """A schema that can be asked."""

    def __init__(self, root: dict[str, Any]) -> None:
        # Costs 70 ms and is needed only where a tool is called.
        import jsonschema_rs

        self._rs = jsonschema_rs
        self.broken = False
        """Its rules contradict each other or cannot be read: only the names are known."""
        try:
            self._open(root)
        except (ValueError, TypeError, jsonschema_rs.ReferencingError):
            self.broken = True
            names: dict[str, object] = {name: {} for name in root.get("properties", {})}
            self._open({"type": "object", "properties": names, "additionalProperties": not names})
        self.formats = '"format"' in json.dumps(self.root, default=str)
        self.node = Node(self.root, self)

    def _open(self, root: dict[str, Any]) -> None:
        self.root = root
        refers = '"$ref"' in json.dumps(root, default=str)
        self._registry = self._rs.Registry([(ROOT, root)]) if refers else None
        self._whole = self._compiled(root)
        self._whole.is_valid({})

    def _compiled(self, schema: Mapping[str, Any] | bool) -> Checker:
        return self._rs.Draft202012Validator(
            schema if isinstance(schema, bool) else dict(schema),
            registry=self._registry,
            validate_formats=False,
            offline=True,
            # Backtracking is bounded: a pattern of a stranger must not hang us.
            pattern_options=self._rs.FancyRegexOptions(backtrack_limit=20_000),
        )

    def validator(self, schema: Mapping[str, Any] | bool) -> Validate:
        try:
            valid = self._compiled(schema).is_valid
        except (ValueError, TypeError, self._rs.ReferencingError):
            return lambda value: True

        def fits(value: object) -> bool:
            try:
                return bool(valid(value))
            except (ValueError, TypeError, OverflowError):
                return False

        return fits

    def judge(self, schema: Mapping[str, Any] | bool) -> Judge:
        try:
            errors = self._compiled(schema).iter_errors
        except (ValueError, TypeError, self._rs.ReferencingError):
            return lambda value: frozenset(value)

        def wrong(value: dict[str, object]) -> frozenset[str]:
            try:
                paths = [each.instance_path for each in errors(value)]
            except (ValueError, TypeError, OverflowError):
                return frozenset(value)
            return frozenset(str(path[0]) for path in paths if path)

        return wrong

    def matches(self, pattern: str, text: str) -> bool:
        return self.validator({"type": "string", "pattern": pattern})(text)

    def errors(self, arguments: object) -> Iterator[Error]:
        try:
            for each in self._whole.iter_errors(arguments):
                place = tuple(each.schema_path)
                rule = next((step for step in reversed(place) if isinstance(step, str)), "")
                yield Error(tuple(each.instance_path), place, rule, _short(each.message))
        except (ValueError, TypeError, OverflowError) as error:
            yield Error((), (), "type", f"cannot be written as JSON: {error}"[:200])

    def problems(self, arguments: object) -> tuple[Problem, ...]:
        """All that does not fit, at most a dozen; empty: valid."""
        found: list[Problem] = []
        for each in self.errors(arguments):
            path = "/".join(map(str, _precise(each)))
            found.append(Problem(path, each.rule, each.message))
            if len(found) == TOLD:
                break
        if not found and self.formats:
            found.extend(_formats(self.node, arguments, ()))
        return tuple(found)


def _precise(error: Error) -> tuple[str | int, ...]:
    """A missing or an unknown property is named in the path: `colour`, not the object it is in."""
    if error.rule in ("required", "additionalProperties"):
        quoted = error.message.split('"') if '"' in error.message else error.message.split("'")
        if len(quoted) > 2:
            return (*error.path, quoted[1])
    return error.path


def _short(message: str) -> str:
    return message if len(message) <= 240 else f"{message[:120]} ... {message[-110:]}"


def _formats(node: Node, value: object, path: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(value, str):
        form = str(node.schema.get("format", ""))
        if not follows(value, form):
            yield Problem("/".join(path), "format", f"{_short(json.dumps(value))} is no {form}")
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            child = node.child(str(key)) if isinstance(value, dict) else node.item(int(key))
            if child is not None:
                yield from _formats(child, each, (*path, str(key)))


_ready_by_place: dict[int, tuple[Schema, Ready]] = {}
_ready_by_content: dict[str, Ready] = {}
"""Making a schema ready takes longer than a hundred corrections; the outcome never differs."""


def ready(tool: Schema) -> Ready:
    """The tool's schema, ready to be asked. Never raises."""
    held = _ready_by_place.get(id(tool))
    if held is not None and held[0] is tool:
        return held[1]
    schema = parameters(tool)
    content = json.dumps(schema, default=repr, sort_keys=False)
    made = _ready_by_content.get(content)
    for kept in (_ready_by_place, _ready_by_content):
        if len(kept) >= MOST:
            kept.clear()
    if made is None:
        made = _ready_by_content[content] = Ready(cleaned(schema))
    _ready_by_place[id(tool)] = (tool, made)
    return made


def parameters(tool: Schema) -> Schema:
    """The JSON Schema of a tool's arguments, wherever its maker put it."""
    function = tool.get("function", tool)
    for key in ("parameters", "inputSchema", "input_schema"):
        found = function.get(key) if isinstance(function, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return {}
