"""Calls inside JSON values, whatever the keys are called."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from andy_cli.compiler.bodies import json_text
from andy_cli.compiler.bodies.typed import allowed_kinds, kind_of
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

NAME_KEYS = tuple(
    "name tool_name tool function_name function action operation recipient_name".split()
)
ARGUMENT_KEYS = tuple(
    "arguments parameters args params input tool_input action_input kwargs".split()
)
WRAPPER_KEYS = tuple(
    "tool_calls toolCalls tool_uses function_call functionCall tool_call tool_use toolUse"
    " function call action command".split()
)
ID_KEYS = ("id", "tool_call_id", "call_id")
PREFIX = Expression(r"^(?:functions|function|default_api|tools?|namespace)[.:/]")
ESCAPED = Expression(r"\\([_.\-])")
SUFFIX = Expression(r"(?::\d+|<\|.*)$", re.S)


def read_requests(json_value: object, tools: Tools) -> list[ToolRequest] | None:
    """The calls a JSON value holds, in order; None if it is none, or not wholly calls."""
    if isinstance(json_value, list):
        return _requests_in_list(json_value, tools)
    if not isinstance(json_value, dict):
        return None
    if wrapped_requests := _wrapped_requests(json_value, tools):
        return wrapped_requests
    if len(json_value) > 1 and json_value.keys() <= tools.keys():
        return _requests_by_name(json_value, tools)
    request = read_request(json_value, tools)
    return None if request is None else [request]


def _requests_by_name(json_value: Mapping[str, object], tools: Tools) -> list[ToolRequest] | None:
    """Read `{"play": {...}, "seek": {...}}`."""
    named_requests = [
        read_single_key({key: key_arguments}, tools) for key, key_arguments in json_value.items()
    ]
    requests = [request for request in named_requests if request]
    return requests if len(requests) == len(named_requests) else None


def _wrapped_requests(json_value: Mapping[str, object], tools: Tools) -> list[ToolRequest] | None:
    """Read calls that stand under a key such as `tool_calls`; the first takes the id beside it."""
    for wrapper_key in WRAPPER_KEYS:
        wrapped_value = json_value.get(wrapper_key)
        requests = (
            read_requests(wrapped_value, tools) if isinstance(wrapped_value, dict | list) else None
        )
        if requests:
            return [add_call_id(requests[0], json_value), *requests[1:]]
    return None


def _requests_in_list(values: list[object], tools: Tools) -> list[ToolRequest] | None:
    if named_pair := read_named_pair(values, tools):
        return [named_pair]
    request_lists = [read_requests(element, tools) for element in values]
    if not request_lists or any(requests is None for requests in request_lists):
        return None
    return [request for requests in request_lists if requests for request in requests]


def read_named_pair(json_value: list[object], tools: Tools) -> ToolRequest | None:
    """Read `["play", {"track": "Blue"}]`, where the tool takes such arguments."""
    match json_value:
        case [str(name), dict(arguments)] if clean_tool_name(name, tools) in tools:
            tool_name = clean_tool_name(name, tools)
            if set(arguments) <= set(declared_properties(tools[tool_name])):
                return ToolRequest(tool_name, arguments)
    return None


FINAL_ANSWER = ("final answer", "final_answer")


def read_final_answer(value: object, tools: Tools) -> str | None:
    """Read the answer of `{"action": "Final Answer", "action_input": "..."}`, as LangChain's
    structured chat has its models write."""
    match value:
        case {"action": str(action), "action_input": str(answer), **rest}:
            is_final = action.lower() in FINAL_ANSWER and action not in tools
            return answer if is_final and not rest else None
    return None


NO_CALL = frozenset(
    "none null no_function no_call no_tool no_action nofunction nocall notool".split()
)
"""Names by which models say that nothing is to be called."""


def says_no_call(tool_name: str, tools: Tools) -> bool:
    return tool_name not in tools and tool_name.lower() in NO_CALL


def split_known(requests: Sequence[ToolRequest], tools: Tools) -> Parsed | None:
    """Keep the requests of a list without a marker that name a tool, and report the others.

    None if there is no tool among them: then it is text.
    """
    asked_requests = [request for request in requests if not says_no_call(request.name, tools)]
    known_requests = tuple(request for request in asked_requests if request.name in tools)
    if not known_requests:
        return Parsed() if requests and not asked_requests else None
    return Parsed(known_requests, fault=report_unknown(asked_requests, tools))


def report_unknown(requests: Sequence[ToolRequest], tools: Tools) -> str:
    """Name the tools that do not exist, in words the model can act on; empty without any."""
    unknown_names = ", ".join(request.name for request in requests if request.name not in tools)
    return unknown_names and f"There is no tool {unknown_names}. Use one that exists."


def only_fitting(arguments: Mapping[str, object], tools: Tools) -> str:
    """The name of the one tool that these arguments fit; empty if there are more, or none."""
    fitting_names = [
        tool_name for tool_name in tools if fits_tool(ToolRequest(tool_name, arguments), tools)
    ]
    # One tool may be there under several names, its own first.
    is_one_tool = len({id(tools[tool_name]) for tool_name in fitting_names}) == 1
    return fitting_names[0] if is_one_tool and arguments else ""


def names_arguments(json_value: object) -> bool:
    """Tell whether a JSON value that holds calls names their arguments as such."""
    if isinstance(json_value, list):
        return bool(json_value) and all(map(names_arguments, json_value))
    if not isinstance(json_value, Mapping):
        return False
    wrapped_values = [
        json_value[key] for key in WRAPPER_KEYS if isinstance(json_value.get(key), dict | list)
    ]
    return any(key in json_value for key in ARGUMENT_KEYS) or any(
        map(names_arguments, wrapped_values)
    )


def read_request(json_value: Mapping[str, object], tools: Tools) -> ToolRequest | None:
    """Read an object that is one call, by a key for the name and perhaps one for the arguments."""
    name_key = next((key for key in NAME_KEYS if isinstance(json_value.get(key), str)), None)
    if name_key is None:
        return read_single_key(json_value, tools)
    tool_name = clean_tool_name(str(json_value[name_key]), tools)
    tool_name = tool_name or name_by_arguments(json_value, tools)
    if not tool_name:
        return None
    arguments = find_arguments(json_value, name_key, tools.get(tool_name))
    if arguments is None or is_schema(arguments, tools.get(tool_name)):
        return None
    return add_call_id(ToolRequest(name=tool_name, arguments=arguments), json_value)


def find_arguments(
    json_value: Mapping[str, object], name_key: str, tool: Schema | None
) -> dict[str, object] | None:
    """Arguments under a key of their own, and those of the tool's that stand beside it."""
    arguments_key = next(
        (key for key in ARGUMENT_KEYS if key in json_value and key != name_key), None
    )
    if arguments_key is None:
        return arguments_beside_name(json_value, name_key, tool)
    arguments = read_argument_object(json_value[arguments_key] or "", tool)
    if arguments is None or tool is None:
        return arguments
    parameter_names = declared_properties(tool).keys() - {name_key, arguments_key, *ID_KEYS}
    return {
        **{key: key_value for key, key_value in json_value.items() if key in parameter_names},
        **arguments,
    }


def name_by_arguments(json_value: Mapping[str, object], tools: Tools) -> str:
    given_arguments = next(
        (json_value[key] for key in ARGUMENT_KEYS if isinstance(json_value.get(key), dict)), None
    )
    return only_fitting(given_arguments, tools) if isinstance(given_arguments, dict) else ""


def is_schema(arguments: Mapping[str, object], tool: Schema | None) -> bool:
    """A tool's description, quoted, looks like a call whose arguments are a JSON Schema."""
    if not isinstance(arguments.get("properties"), Mapping) or "type" not in arguments:
        return False
    return tool is None or "properties" not in declared_properties(tool)


def read_single_key(json_value: Mapping[str, object], tools: Tools) -> ToolRequest | None:
    """`{"tool": {arguments}}`: only for a tool that exists."""
    if len(json_value) != 1:
        return None
    ((key, single_value),) = json_value.items()
    tool_name = clean_tool_name(key, tools)
    if tool_name not in tools or not isinstance(single_value, dict | None):
        return None
    return ToolRequest(name=tool_name, arguments=single_value or {})


def arguments_beside_name(
    json_value: Mapping[str, object], name_key: str, tool: Schema | None
) -> dict[str, object] | None:
    """Arguments that stand beside the name instead of under a key of their own."""
    other_items = {
        other_key: other_value
        for other_key, other_value in json_value.items()
        if other_key not in (name_key, "type", *ID_KEYS)
    }
    if not other_items:
        return {}
    if tool is None:
        return None
    return other_items if set(other_items) <= set(declared_properties(tool)) else None


def add_call_id(request: ToolRequest, json_value: Mapping[str, object]) -> ToolRequest:
    written_id = next(
        (json_value[key] for key in ID_KEYS if isinstance(json_value.get(key), str)), ""
    )
    if request.id or not written_id:
        return request
    return ToolRequest(name=request.name, arguments=request.arguments, id=str(written_id))


def read_argument_object(json_value: object, tool: Schema | None) -> dict[str, object] | None:
    """The arguments as an object: decoded when they were written as text, at most twice.

    None for what cannot be read, so None is none either.
    """
    for _ in range(2):
        if not isinstance(json_value, str):
            break
        if json_value.strip() in ("", "null"):
            return {}
        json_value = json_text.read_value(json_value)
    if isinstance(json_value, list):
        return name_positional(json_value, tool)
    if not isinstance(json_value, dict):
        return None
    return unwrap_arguments(
        {ESCAPED.sub(r"\1", str(key)): item_value for key, item_value in json_value.items()}, tool
    )


def read_named_call(name: str, arguments_text: str, tools: Tools, id: str = "") -> Parsed | None:
    """A call whose arguments are JSON; None where they cannot be read though they are whole."""
    json_value = json_text.read_value(arguments_text) if arguments_text.strip() else {}
    arguments = read_argument_object(json_value, tools.get(name))
    if arguments is None:
        return None if json_text.is_balanced(arguments_text) else Parsed(incomplete=True)
    return Parsed((ToolRequest(name=name, arguments=arguments, id=id),))


def name_positional(
    positional_values: list[object], tool: Schema | None
) -> dict[str, object] | None:
    """A list of values in the schema's order; a list of one object is that object."""
    if not positional_values:
        return {}
    if named_pairs := pairs_in(positional_values):
        return named_pairs
    first_value = positional_values[0]
    if len(positional_values) == 1 and isinstance(first_value, dict):
        return first_value
    parameter_names = list(declared_properties(tool))
    if len(parameter_names) < len(positional_values):
        return None
    return dict(zip(parameter_names, positional_values, strict=False))


def pairs_in(values: list[object]) -> dict[str, object]:
    """Read `[{"name": "track", "value": "Blue"}]`; empty where it is something else."""
    named_values: dict[str, object] = {}
    for pair_entry in values:
        match pair_entry:
            case {"name": str(key), "value": value, **rest} if not rest:
                named_values[key] = value
            case _:
                return {}
    return named_values


def unwrap_arguments(value: dict[str, object], tool: Schema | None) -> dict[str, object]:
    """`{"arguments": {...}}` once too often, or the whole call, if the schema has no such keys."""
    if tool is not None and (arguments := whole_call(value, tool)) is not None:
        return arguments
    if len(value) == 1 and tool is not None:
        ((key, inner_value),) = value.items()
        parameter_names = declared_properties(tool)
        if key in ARGUMENT_KEYS and key not in parameter_names and isinstance(inner_value, dict):
            return inner_value
    return value


def whole_call(json_value: Mapping[str, object], tool: Schema) -> dict[str, object] | None:
    """The arguments, where the whole call was written once more inside its own frame."""
    argument_objects = {
        key: key_value
        for key in ARGUMENT_KEYS
        if isinstance(key_value := json_value.get(key), dict)
    }
    name_keys = [key for key in NAME_KEYS if isinstance(json_value.get(key), str)]
    if len(argument_objects) != 1 or not name_keys:
        return None
    if set(json_value) - {*argument_objects, *name_keys, "type", *ID_KEYS}:
        return None
    ((key, arguments),) = argument_objects.items()
    if key in declared_properties(tool):
        return None
    own_name = tool.get("function", tool).get("name")
    written_name = clean_tool_name(str(json_value[name_keys[0]]), {str(own_name): tool})
    return dict(arguments) if written_name == own_name else None


def fits_tool(request: ToolRequest, tools: Tools) -> bool:
    """The tool exists, takes these arguments with values of these types, and needs no others."""
    tool = tools.get(request.name)
    if tool is None:
        return False
    schema, parameter_schemas = parameters_schema(tool), declared_properties(tool)
    arguments = request.arguments or {}
    required = schema.get("required")
    required_names = set(required) if isinstance(required, list) else set()
    if not (required_names <= set(arguments) <= set(parameter_schemas)):
        return False
    return all(
        has_declared_type(argument_value, parameter_schemas[parameter_name], schema)
        for parameter_name, argument_value in arguments.items()
    )


def has_declared_type(argument_value: object, schema: object, root_schema: Schema) -> bool:
    """Tell whether a value has a type that its schema lets through; of lists the items too."""
    if not isinstance(schema, Mapping):
        return True
    schema_kinds, value_kinds = allowed_kinds(schema, root_schema), {kind_of(argument_value)}
    if "integer" in value_kinds:
        value_kinds.add("number")
    if schema_kinds and value_kinds.isdisjoint(schema_kinds):
        return "" in schema_kinds
    if not isinstance(argument_value, list):
        return True
    item_schema = schema.get("items")
    return all(has_declared_type(item, item_schema, root_schema) for item in argument_value)


def declared_properties(tool: Schema | None) -> Mapping[str, Schema]:
    """The schemas of a tool's parameters by their names; empty without a tool."""
    parameters = tool.get("function", tool).get("parameters") if tool else None
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def parameters_schema(tool: Schema | None) -> Schema:
    return clean_schema(tool.get("function", tool).get("parameters") if tool else None)


def clean_schema(schema: object) -> Schema:
    """The schema without what is malformed in it: what is no schema at all says nothing.

    Clients send such as `"required": true`, and readers count on lists of names and of values.
    """
    if not isinstance(schema, Mapping):
        return {}
    malformed = [
        word
        for word, has_valid_shape in SHAPES.items()
        if word in schema and not has_valid_shape(schema[word])
    ]
    return {word: value for word, value in schema.items() if word not in malformed}


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


SHAPES: Mapping[str, Callable[[object], bool]] = {
    "required": _is_list_of_names,
    "enum": lambda value: isinstance(value, list | tuple),
    "properties": lambda value: isinstance(value, Mapping),
}
"""Word of a schema -> whether its value has the form that it must have."""


def clean_tool_name(written_name: str, tools: Tools) -> str:
    """The name without quotes, prefixes (`functions.`) and suffixes (`:0`) that drift onto it."""
    cleaned_name = ESCAPED.sub(r"\1", written_name.strip().strip("\"'`")).strip()
    if cleaned_name in tools:
        return cleaned_name
    short_name = SUFFIX.sub("", cleaned_name).strip()
    while short_name not in tools and PREFIX.match(short_name):
        short_name = PREFIX.sub("", short_name, count=1)
    if short_name in tools:
        return short_name
    # Providers take no dots in names, so models have learned to write them otherwise.
    similar_names = _by_underscored(tuple(tools)).get(underscore_name(short_name), ())
    return similar_names[0] if len(similar_names) == 1 else short_name


@lru_cache(maxsize=8)
def _by_underscored(tool_names: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """The names that are one without dots and dashes; kept, for every `{` of a reply asks."""
    grouped_names: dict[str, list[str]] = {}
    for tool_name in tool_names:
        grouped_names.setdefault(underscore_name(tool_name), []).append(tool_name)
    return grouped_names


def underscore_name(tool_name: str) -> str:
    return tool_name.replace(".", "_").replace("-", "_")


def name_spellings(tool_name: str) -> list[str]:
    """A tool's name as models write it in text: Markdown escapes, and no dots."""
    plain_name = underscore_name(tool_name)
    escaped_names = (_escape_markdown(tool_name), _escape_markdown(plain_name))
    return list(dict.fromkeys((tool_name, plain_name, *escaped_names)))


def _escape_markdown(tool_name: str) -> str:
    return tool_name.replace("_", "\\_").replace(".", "\\.")
