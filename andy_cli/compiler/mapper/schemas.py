"""A tool's schema, made ready once, and what is wrong with arguments by it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from andy_cli.compiler.mapper.cleaning import standardize_schema
from andy_cli.compiler.mapper.formats import follows_format
from andy_cli.compiler.mapper.given import nesting_depth
from andy_cli.compiler.mapper.judges import SchemaError, UnreadableSchema, Validators
from andy_cli.compiler.mapper.nodes import SchemaNode
from andy_cli.messages import Problem, Schema

MOST_PREPARED = 512
"""Schemas that are kept ready."""
TOO_MANY_WAYS = 100_000
"""Combinations of alternatives, level by level; beyond them a call is judged, not corrected."""
MOST_PROBLEMS = 12
"""Problems that are told of one call."""


class PreparedSchema:
    """A schema that can be asked."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.broken = False
        """Its rules cannot be read: only the names are known."""
        try:
            self.validators = Validators(root)
        except UnreadableSchema:
            self.broken = True
            names: dict[str, object] = {name: {} for name in root.get("properties", {})}
            self.validators = Validators(
                {"type": "object", "properties": names, "additionalProperties": not names}
            )
        self.node = SchemaNode(self.validators.root, self.validators)

    def too_many(self, arguments: object) -> bool:
        """Whether there are too many ways to read the arguments for looking at all of them."""
        ways: int = self.validators.widest ** min(nesting_depth(arguments), 40)
        return ways > TOO_MANY_WAYS

    def _outlines(self, arguments: object) -> Iterator[Problem]:
        """Which arguments do not fit, without the reasons."""
        if self.node.fits(arguments):
            return
        for name, each in arguments.items() if isinstance(arguments, dict) else ():
            child = self.node.child(name)
            if child is not None and not child.fits(each):
                yield Problem(name, "anyOf", "it fits none of the forms that are allowed")
        yield Problem("", "anyOf", "the arguments do not fit their schema")

    def problems(self, arguments: object) -> tuple[Problem, ...]:
        """All that does not fit, at most a dozen; empty: valid."""
        if self.too_many(arguments):
            return tuple(self._outlines(arguments))
        found: list[Problem] = []
        for each in self.validators.errors(arguments):
            path = "/".join(map(str, _precise_path(each)))
            found.append(Problem(path, each.rule, _shorten_message(each.message)))
            if len(found) == MOST_PROBLEMS:
                break
        if not found and self.validators.formats:
            found.extend(_format_problems(self.node, arguments, ()))
        return tuple(found)


def _precise_path(error: SchemaError) -> tuple[str | int, ...]:
    """A missing or an unknown property is named in the path: `colour`, not the object it is in."""
    if error.rule in ("required", "additionalProperties"):
        quoted = error.message.split('"') if '"' in error.message else error.message.split("'")
        if len(quoted) > 2:
            return (*error.path, quoted[1])
    return error.path


def _shorten_message(message: str) -> str:
    return message if len(message) <= 240 else f"{message[:120]} ... {message[-110:]}"


def _format_problems(node: SchemaNode, value: object, path: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(value, str):
        form = str(node.schema.get("format", ""))
        if not follows_format(value, form):
            yield Problem(
                "/".join(path), "format", f"{_shorten_message(json.dumps(value))} is no {form}"
            )
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            child = node.child(str(key)) if isinstance(value, dict) else node.item(int(key))
            if child is not None:
                yield from _format_problems(child, each, (*path, str(key)))


_ready_by_place: dict[int, tuple[Schema, PreparedSchema]] = {}
_ready_by_content: dict[str, PreparedSchema] = {}
"""Making a schema ready takes longer than a hundred corrections; the outcome never differs."""


def prepare_schema(tool: Schema) -> PreparedSchema:
    """The tool's schema, ready to be asked. Never raises."""
    held = _ready_by_place.get(id(tool))
    if held is not None and held[0] is tool:
        return held[1]
    schema = tool_parameters(tool)
    content = json.dumps(schema, default=repr, sort_keys=False)
    made = _ready_by_content.get(content)
    for kept in (_ready_by_place, _ready_by_content):
        if len(kept) >= MOST_PREPARED:
            kept.clear()
    if made is None:
        made = _ready_by_content[content] = PreparedSchema(standardize_schema(schema))
    _ready_by_place[id(tool)] = (tool, made)
    return made


def tool_parameters(tool: Schema) -> Schema:
    """The JSON Schema of a tool's arguments, wherever its maker put it."""
    function = tool.get("function", tool)
    for key in ("parameters", "inputSchema", "input_schema"):
        found = function.get(key) if isinstance(function, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return {}
