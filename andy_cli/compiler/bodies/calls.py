"""Calls inside JSON values, whatever the keys are called."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from andy_cli.compiler.bodies import json_text
from andy_cli.compiler.bodies.typed import allowed_kinds, kind_of
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

NAMES = (
    "name",
    "tool_name",
    "tool",
    "function_name",
    "function",
    "action",
    "operation",
    "recipient_name",
)
ARGUMENTS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "tool_input",
    "action_input",
    "kwargs",
)
WRAPPERS = (
    "tool_calls",
    "toolCalls",
    "function_call",
    "tool_call",
    "tool_use",
    "function",
    "call",
    "action",
)
IDS = ("id", "tool_call_id", "call_id")
PREFIX = Expression(r"^(?:functions|function|default_api|tools?|namespace)[.:/]")
ESCAPED = Expression(r"\\([_.\-])")
ESCAPABLE = Expression(r"[_.]")
SUFFIX = Expression(r"(?::\d+|<\|.*)$", re.S)


def read_requests(value: object, tools: Tools, known: bool = False) -> list[ToolRequest] | None:
    """The calls a JSON value holds, in order; None if it is none, or not wholly calls.

    With `known` every name must be that of a tool: nothing else says that this is a request.
    """
    if isinstance(value, list):
        return _requests_in_list(value, tools, known)
    if not isinstance(value, dict):
        return None
    if wrapped := _wrapped_requests(value, tools, known):
        return wrapped
    if len(value) > 1 and value.keys() <= tools.keys():
        return _requests_by_name(value, tools)
    request = read_request(value, tools)
    if request is None or (known and request.name not in tools):
        return None
    return [request]


def _requests_by_name(value: Mapping[str, object], tools: Tools) -> list[ToolRequest] | None:
    """Read `{"play": {...}, "seek": {...}}`."""
    named = [read_single_key({key: item}, tools) for key, item in value.items()]
    found = [request for request in named if request]
    return found if len(found) == len(named) else None


def _wrapped_requests(
    value: Mapping[str, object], tools: Tools, known: bool
) -> list[ToolRequest] | None:
    """Read calls that stand under a key such as `tool_calls`; the first takes the id beside it."""
    for wrapper in WRAPPERS:
        inner = value.get(wrapper)
        requests = read_requests(inner, tools, known) if isinstance(inner, dict | list) else None
        if requests:
            return [add_call_id(requests[0], value), *requests[1:]]
    return None


def _requests_in_list(values: list[object], tools: Tools, known: bool) -> list[ToolRequest] | None:
    if pair := read_named_pair(values, tools):
        return [pair]
    found = [read_requests(part, tools, known) for part in values]
    if not found or any(requests is None for requests in found):
        return None
    return [request for requests in found if requests for request in requests]


def read_named_pair(value: list[object], tools: Tools) -> ToolRequest | None:
    """Read `["play", {"track": "Blue"}]`, where the tool takes such arguments."""
    match value:
        case [str(name), dict(arguments)] if clean_tool_name(name, tools) in tools:
            known = clean_tool_name(name, tools)
            if set(arguments) <= set(declared_properties(tools[known])):
                return ToolRequest(known, arguments)
    return None


NO_CALL = frozenset(
    "none null no_function no_call no_tool no_action nofunction nocall notool".split()
)
"""Names by which models say that nothing is to be called."""


def says_no_call(name: str, tools: Tools) -> bool:
    return name not in tools and name.lower() in NO_CALL


def split_known(requests: Sequence[ToolRequest], tools: Tools) -> Parsed | None:
    """Keep the requests of a list without a marker that name a tool, and report the others.

    None if there is no tool among them: then it is text.
    """
    called = [request for request in requests if not says_no_call(request.name, tools)]
    known = tuple(request for request in called if request.name in tools)
    if not known:
        return Parsed() if requests and not called else None
    return Parsed(known, fault=report_unknown(called, tools))


def report_unknown(requests: Sequence[ToolRequest], tools: Tools) -> str:
    """Name the tools that do not exist, in words the model can act on; empty without any."""
    unknown = ", ".join(request.name for request in requests if request.name not in tools)
    return unknown and f"There is no tool {unknown}. Use one that exists."


def only_fitting(arguments: Mapping[str, object], tools: Tools) -> str:
    """The name of the one tool that these arguments fit; empty if there are more, or none."""
    found = [name for name in tools if fits_tool(ToolRequest(name, arguments), tools)]
    return found[0] if len(found) == 1 and arguments else ""


def names_arguments(value: object) -> bool:
    """Tell whether a JSON value that holds calls names their arguments as such."""
    if isinstance(value, list):
        return bool(value) and all(map(names_arguments, value))
    if not isinstance(value, Mapping):
        return False
    inner = [value[key] for key in WRAPPERS if isinstance(value.get(key), dict | list)]
    return any(key in value for key in ARGUMENTS) or any(map(names_arguments, inner))


def read_request(value: Mapping[str, object], tools: Tools) -> ToolRequest | None:
    """Read an object that is one call, by a key for the name and perhaps one for the arguments."""
    name_key = next((key for key in NAMES if isinstance(value.get(key), str)), None)
    if name_key is None:
        return read_single_key(value, tools)
    name = clean_tool_name(str(value[name_key]), tools) or name_by_arguments(value, tools)
    if not name:
        return None
    arguments = find_arguments(value, name_key, tools.get(name))
    if arguments is None or is_schema(arguments, tools.get(name)):
        return None
    return add_call_id(ToolRequest(name=name, arguments=arguments), value)


def find_arguments(
    value: Mapping[str, object], name_key: str, tool: Schema | None
) -> dict[str, object] | None:
    """Arguments under a key of their own, and those of the tool's that stand beside it."""
    given = next((key for key in ARGUMENTS if key in value and key != name_key), None)
    if given is None:
        return arguments_beside_name(value, name_key, tool)
    arguments = read_argument_object(value[given] or "", tool)
    if arguments is None or tool is None:
        return arguments
    beside = declared_properties(tool).keys() - {name_key, given, *IDS}
    return {**{key: item for key, item in value.items() if key in beside}, **arguments}


def name_by_arguments(value: Mapping[str, object], tools: Tools) -> str:
    given = next((value[key] for key in ARGUMENTS if isinstance(value.get(key), dict)), None)
    return only_fitting(given, tools) if isinstance(given, dict) else ""


def is_schema(arguments: Mapping[str, object], tool: Schema | None) -> bool:
    """A tool's description, quoted, looks like a call whose arguments are a JSON Schema."""
    if not isinstance(arguments.get("properties"), Mapping) or "type" not in arguments:
        return False
    return tool is None or "properties" not in declared_properties(tool)


def read_single_key(value: Mapping[str, object], tools: Tools) -> ToolRequest | None:
    """`{"tool": {arguments}}`: only for a tool that exists."""
    if len(value) != 1:
        return None
    ((key, inner),) = value.items()
    name = clean_tool_name(key, tools)
    if name not in tools or not isinstance(inner, dict | None):
        return None
    return ToolRequest(name=name, arguments=inner or {})


def arguments_beside_name(
    value: Mapping[str, object], key: str, tool: Schema | None
) -> dict[str, object] | None:
    """Arguments that stand beside the name instead of under a key of their own."""
    rest = {other: item for other, item in value.items() if other not in (key, "type", *IDS)}
    if not rest:
        return {}
    if tool is None:
        return None
    return rest if set(rest) <= set(declared_properties(tool)) else None


def add_call_id(request: ToolRequest, value: Mapping[str, object]) -> ToolRequest:
    written = next((value[key] for key in IDS if isinstance(value.get(key), str)), "")
    if request.id or not written:
        return request
    return ToolRequest(name=request.name, arguments=request.arguments, id=str(written))


def read_argument_object(value: object, tool: Schema | None) -> dict[str, object] | None:
    """The arguments as an object: decoded when they were written as text, at most twice.

    None for what cannot be read, so None is none either.
    """
    for _ in range(2):
        if not isinstance(value, str):
            break
        if value.strip() in ("", "null"):
            return {}
        value = json_text.read_value(value)
    if isinstance(value, list):
        return name_positional(value, tool)
    if not isinstance(value, dict):
        return None
    return unwrap_arguments(
        {ESCAPED.sub(r"\1", str(key)): item for key, item in value.items()}, tool
    )


def name_positional(value: list[object], tool: Schema | None) -> dict[str, object] | None:
    """A list of values in the schema's order; a list of one object is that object."""
    if not value:
        return {}
    if len(value) == 1 and isinstance(value[0], dict) and not pairs_in(value):
        return value[0]
    if pairs := pairs_in(value):
        return pairs
    names = list(declared_properties(tool)) if tool else []
    return dict(zip(names, value, strict=False)) if len(names) >= len(value) else None


def pairs_in(values: list[object]) -> dict[str, object]:
    """Read `[{"name": "track", "value": "Blue"}]`; empty where it is something else."""
    found: dict[str, object] = {}
    for entry in values:
        match entry:
            case {"name": str(key), "value": value, **rest} if not rest:
                found[key] = value
            case _:
                return {}
    return found


def unwrap_arguments(value: dict[str, object], tool: Schema | None) -> dict[str, object]:
    """`{"arguments": {...}}` once too often, or the whole call, if the schema has no such keys."""
    if tool is not None and (arguments := whole_call(value, tool)) is not None:
        return arguments
    if len(value) == 1 and tool is not None:
        ((key, inner),) = value.items()
        names = declared_properties(tool)
        if key in ARGUMENTS and key not in names and isinstance(inner, dict):
            return inner
    return value


def whole_call(value: Mapping[str, object], tool: Schema) -> dict[str, object] | None:
    """The arguments, where the whole call was written once more inside its own frame."""
    own = tool.get("function", tool).get("name")
    given = {key: item for key in ARGUMENTS if isinstance(item := value.get(key), dict)}
    named = [key for key in NAMES if isinstance(value.get(key), str)]
    if len(given) != 1 or not named or set(value) - {*given, *named, "type", *IDS}:
        return None
    ((key, arguments),) = given.items()
    is_own = clean_tool_name(str(value[named[0]]), {str(own): tool}) == own
    return dict(arguments) if is_own and key not in declared_properties(tool) else None


def fits_tool(request: ToolRequest, tools: Tools) -> bool:
    """The tool exists, takes these arguments with values of these types, and needs no others."""
    tool = tools.get(request.name)
    if tool is None:
        return False
    schema, known = parameters_schema(tool), declared_properties(tool)
    given = request.arguments or {}
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    if not (needed <= set(given) <= set(known)):
        return False
    return all(has_declared_type(value, known[name], schema) for name, value in given.items())


def has_declared_type(value: object, schema: object, root: Schema) -> bool:
    """Tell whether a value has a type that its schema lets through; of lists the items too."""
    if not isinstance(schema, Mapping):
        return True
    kinds, kind = allowed_kinds(schema, root), kind_of(value)
    fits = not kinds or kind in kinds or (kind == "integer" and "number" in kinds)
    if not fits:
        return "" in kinds
    items = schema.get("items")
    return not isinstance(value, list) or all(
        has_declared_type(item, items, root) for item in value
    )


def declared_properties(tool: Schema) -> Mapping[str, Schema]:
    function = tool.get("function", tool)
    parameters = function.get("parameters") or {}
    found = parameters.get("properties") if isinstance(parameters, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def parameters_schema(tool: Schema | None) -> Schema:
    return clean_schema(tool.get("function", tool).get("parameters") if tool else None)


def clean_schema(schema: object) -> Schema:
    """The schema without what is malformed in it: what is no schema at all says nothing.

    Clients send such as `"required": true`, and readers count on lists of names and of values.
    """
    if not isinstance(schema, Mapping):
        return {}
    malformed = [word for word, fits in SHAPES.items() if word in schema and not fits(schema[word])]
    return {word: value for word, value in schema.items() if word not in malformed}


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


SHAPES: Mapping[str, Callable[[object], bool]] = {
    "required": _is_list_of_names,
    "enum": lambda value: isinstance(value, list | tuple),
    "properties": lambda value: isinstance(value, Mapping),
}
"""Word of a schema -> whether its value has the form that it must have."""


def clean_tool_name(written: str, tools: Tools) -> str:
    """The name without quotes, prefixes (`functions.`) and suffixes (`:0`) that drift onto it."""
    name = ESCAPED.sub(r"\1", written.strip().strip("\"'`")).strip()
    if name in tools:
        return name
    short = SUFFIX.sub("", name).strip()
    while short not in tools and PREFIX.match(short):
        short = PREFIX.sub("", short, count=1)
    if short in tools:
        return short
    # Providers take no dots in names, so models have learned to write them otherwise.
    same = _by_underscored(tuple(tools)).get(underscore_name(short), ())
    return same[0] if len(same) == 1 else short


@lru_cache(maxsize=8)
def _by_underscored(names: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """The names that are one without dots and dashes; kept, for every `{` of a reply asks."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(underscore_name(name), []).append(name)
    return found


def underscore_name(name: str) -> str:
    return name.replace(".", "_").replace("-", "_")


def name_spellings(name: str) -> list[str]:
    """A tool's name as models write it in text: Markdown escapes, and no dots."""
    plain = underscore_name(name)
    escaped = ESCAPABLE.sub(r"\\\g<0>", name)
    return list(dict.fromkeys((name, plain, escaped, ESCAPABLE.sub(r"\\\g<0>", plain))))
