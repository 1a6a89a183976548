"""The schemas of tools: as JSON Schema 2020-12 can read them, and as one provider or dialect does.

What servers and benchmarks send has type names of programming languages, `required` inside a
property, keywords of older drafts, references to other hosts and patterns that do not compile. What
has one meaning is written the standard way; what has none is left out, so that it forbids nothing.

For a provider names are made to fit an alphabet and a length, reversibly (R17); schemas lose what
it does not read. Nothing is ever left out without a word: a schema that cannot be kept says less.
What is validated against is always the original.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.json_values import FLOAT_NAMES, STANDARD_KINDS, parse_kind
from andy_cli.foreign_values import MAX_SCHEMA_DEPTH, as_record, list_required
from andy_cli.messages import Problem, Schema

ROOT = "urn:andy:tool"
"""References are made absolute, so that any part of a schema can be validated on its own."""
PARAMETER_KEYS = ("parameters", "inputSchema", "input_schema")
"""The places where makers of tools put the schema of their arguments."""
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
    for key in PARAMETER_KEYS:
        parameters = function.get(key) if isinstance(function, Mapping) else None
        if isinstance(parameters, Mapping):
            return parameters
    return {}


def is_strict(tool: Schema) -> bool:
    """Tell whether its maker wants OpenAI's strict mode, where what is optional may be null."""
    function = tool.get("function", tool)
    return isinstance(function, Mapping) and function.get("strict") is True


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
    if depth > MAX_SCHEMA_DEPTH:
        return {}
    standard: dict[str, Any] = {key: schema[key] for key in COPIED_KEYWORDS if key in schema}
    _copy_types(schema, standard)
    _copy_limits(schema, standard)
    _copy_subschemas(schema, standard, depth)
    if isinstance(schema.get("$ref"), str):
        standard["$ref"] = schema["$ref"]
    _translate_older_keywords(schema, standard, depth)
    if names := list_required(schema):
        standard["required"] = names
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
        standard.update(_standardize_part(names, MAX_SCHEMA_DEPTH))
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
            leads_somewhere = isinstance(resolve_reference(written, root_schema), Mapping)
            if leads_somewhere and not _is_circular(written, root_schema):
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


MAX_NAME_LENGTH = 64
FORBIDDEN_IN_NAME = Expression(r"[^A-Za-z0-9_-]")
OUR_KEYWORDS = frozenset(["x-aliases", "x-unit", "x-floating"])
UNREAD_KEYWORDS = OUR_KEYWORDS.union(
    "patternProperties propertyNames dependentSchemas dependentRequired if then else not contains "
    "unevaluatedProperties unevaluatedItems $defs definitions oneOf allOf".split()
)
"""Our own, and what providers refuse that take neither references nor alternatives."""
RULES_OF_NAMES = frozenset(["required", "additionalProperties"])
GENERAL_KEYWORDS = "patternProperties additionalProperties anyOf oneOf allOf".split()
"""Keywords that hold for properties that a schema does not name, and those of alternatives."""
MAX_EXCERPT_LENGTH = 1500


def replace_forbidden(name: str) -> str:
    """Put `_` for each character that some provider takes neither in a name nor in an id."""
    return FORBIDDEN_IN_NAME.sub("_", name)


def provider_names(names: Iterable[str]) -> dict[str, str]:
    """Registered name -> a name of letters, digits, `_` and `-`; no two are the same.

    A name that has to be changed never takes the place of one that need not be.
    """
    registered = list(dict.fromkeys(names))
    used_names = {name for name in registered if _is_provider_name(name)}
    offers: dict[str, str] = {}
    for name in registered:
        offer = name
        if name not in used_names:
            offer = replace_forbidden(name)
            if not offer[:1].isalpha() and offer[:1] != "_":
                offer = f"_{offer}"
            full_name, checksum = offer, crc32(name.encode("utf-8", "replace"))
            while len(offer) > MAX_NAME_LENGTH or offer in used_names:
                offer = f"{full_name[: MAX_NAME_LENGTH - 9]}_{checksum:08x}"
                checksum = (checksum + 1) % 2**32
            used_names.add(offer)
        offers[name] = offer
    return offers


def _is_provider_name(name: str) -> bool:
    starts = name[:1].isalpha() or name[:1] == "_"
    return starts and len(name) <= MAX_NAME_LENGTH and not FORBIDDEN_IN_NAME.search(name)


def list_aliases(tool: Schema) -> list[str]:
    """List the other names that a function tool declares for itself in `x-aliases`."""
    function = tool.get("function", tool)
    aliases = function.get("x-aliases") if isinstance(function, Mapping) else None
    return [str(alias) for alias in aliases] if isinstance(aliases, list) else []


def add_aliases(tools: Mapping[str, Schema]) -> dict[str, Schema]:
    """Add the tools under each other name by which they can be asked for in the midst of text:
    their aliases, and their own name as `writeFile` and `WriteFile`.

    An alias of one word, `cat`, is too often a word of the text: it counts where a marker says
    that something is called.
    """
    named_again = {
        alias: tool for tool in tools.values() for alias in list_aliases(tool) if "_" in alias
    }
    for name, tool in tools.items():
        named_again |= dict.fromkeys(join_words(name), tool)
    # The names themselves come first: who reads a name roughly takes the first that fits.
    return {**tools, **{name: tool for name, tool in named_again.items() if name not in tools}}


def join_words(name: str) -> list[str]:
    """Write a name of several words in capitals in place of `_`; nothing for any other."""
    words = name.split("_")
    if len(words) < 2 or not all(map(str.isalnum, words)):
        return []
    capitalized = [word[:1].upper() + word[1:] for word in words]
    return ["".join([words[0], *capitalized[1:]]), "".join(capitalized)]


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
    if isinstance(value, list):
        return [_drop_in_value(item, is_names=False) for item in value]
    return value


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
    """The failing properties of the tool's own schema, what is required and what they refer to, as
    compact JSON."""
    schema = tool_parameters(tool)
    declared = schema.get("properties")
    properties: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
    heads = {problem.path.split("/")[0] for problem in problems}
    failing = {name: inner for name, inner in properties.items() if name in heads}
    rules: dict[str, object] = {}
    if not failing or not RULES_OF_NAMES.isdisjoint(problem.rule for problem in problems):
        # What the model has to choose from, when it used a name that does not exist.
        failing = {**failing, **_map_values(_keep_types, properties), **failing}
        rules = _pick_keys(schema, GENERAL_KEYWORDS)
    excerpt: dict[str, object] = {"properties": _map_values(_drop_labels, failing)}
    if isinstance(schema.get("required"), list):
        excerpt["required"] = schema["required"]
    full_excerpt = {**excerpt, **rules}
    text = _compact_json(full_excerpt | _find_definitions(full_excerpt, schema))
    if len(text) <= MAX_EXCERPT_LENGTH:
        return text
    return _compact_json({**excerpt, "properties": _map_values(_keep_types, failing)})


def _find_definitions(excerpt: object, schema: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """Find the definitions that an excerpt refers to, and those that they refer to."""
    found: dict[str, dict[str, object]] = {"$defs": {}, "definitions": {}}
    unread = [excerpt]
    while unread:
        text, unread = _compact_json(unread), []
        for keyword, definitions in found.items():
            for name, part in as_record(schema.get(keyword)).items():
                if name not in definitions and f'"#/{keyword}/{name}"' in text:
                    definitions[name] = part
                    unread.append(part)
    return {keyword: definitions for keyword, definitions in found.items() if definitions}


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
    return _pick_keys(schema, ("type", "enum", "$ref"))


def _pick_keys(schema: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: schema[key] for key in keys if key in schema}
