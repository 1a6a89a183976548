"""The tools that clients of OpenAI's Responses API run, each as a function, and the calls of them.

The chat API and the notations taught in a prompt know functions alone. Here there are also tools in
a namespace, tools that take a text, and tools that OpenAI's models know without being told: each is
offered as a function, and a call of it is told to the client as what it was offered as. Tools that
OpenAI's servers run are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from andy_cli.frontends.serve.wires.answer_parts import ApiError, CompletedCall
from andy_cli.frontends.serve.wires.chat_request import read_arguments
from andy_cli.frontends.serve.wires.field_checks import (
    check_flag,
    check_list,
    check_name,
    check_object,
    check_text,
)
from andy_cli.frontends.serve.wires.freeform_tools import (
    freeform_arguments,
    freeform_parameters,
    function_schema,
    read_freeform_text,
)


class CallForm(NamedTuple):
    """The form that calls of a kind of tool have."""

    item: str
    given: str
    """The field with what the tool is given."""
    id: str


FORMS: Mapping[str, CallForm] = {
    "function": CallForm("function_call", "arguments", "fc"),
    "custom": CallForm("custom_tool_call", "input", "ctc"),
    "tool_search": CallForm("tool_search_call", "arguments", "tsc"),
    "local_shell": CallForm("local_shell_call", "action", "lsh"),
    "shell": CallForm("shell_call", "action", "sh"),
    "apply_patch": CallForm("apply_patch_call", "operation", "apc"),
}
BROUGHT = ("additional_tools", "tool_search_output")
"""Items of the input that bring tools along."""


KNOWN: Mapping[str, Mapping[str, object]] = {
    "local_shell": function_schema(
        "Run a command on the user's computer.",
        "command",
        command={
            "type": "array",
            "items": {"type": "string"},
            "description": 'program and arguments, as ["bash", "-lc", "ls"]',
        },
        working_directory={"type": "string"},
        timeout_ms={"type": "integer"},
    ),
    "shell": function_schema(
        "Run shell commands on the user's computer.",
        "commands",
        commands={"type": "array", "items": {"type": "string"}, "description": "command lines"},
        timeout_ms={"type": "integer"},
        max_output_length={"type": "integer"},
    ),
    "apply_patch": function_schema(
        "Create, change or delete a file.",
        "type path",
        type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
        path={"type": "string", "description": "of the file"},
        diff={
            "type": "string",
            "description": "lines that begin with + (new), - (removed) or a space (as it is), in "
            "hunks that begin with @@; every line of a new file begins with +",
        },
    ),
}
"""Descriptions of tools that models of OpenAI know without being told."""
HOSTED = ("container_auto", "container_reference")
"""Environments in which OpenAI's servers run a shell."""


class OfferedTool(NamedTuple):
    kind: str
    name: str
    """In its namespace."""
    namespace: str
    function: Mapping[str, object]


def read_offered_tools(body: Mapping[str, Any]) -> dict[str, OfferedTool]:
    """By the names under which models know them: those in no namespace keep theirs.

    Raises ApiError, also if only such are there as cannot be run from here: then nothing of what is
    wanted could be done.
    """
    tools_by_place: dict[tuple[str, str], OfferedTool] = {}
    for tool, field_path in _list_tools(body):
        tools_by_place |= {
            (offered.namespace, offered.name): offered for offered in _read_tool(tool, field_path)
        }
    if body.get("tools") and not tools_by_place:
        raise ApiError(
            400, "tools holds none that the client runs; others cannot be run from here."
        )
    offered_tools: dict[str, OfferedTool] = {}
    for offered in sorted(tools_by_place.values(), key=lambda offered: bool(offered.namespace)):
        name = (
            offered.name
            if offered.name not in offered_tools
            else f"{offered.namespace}__{offered.name}"
        )
        while name in offered_tools:
            name += "_"
        offered_tools[name] = offered
    return offered_tools


def index_names(offered_tools: Mapping[str, OfferedTool]) -> dict[tuple[str, str], str]:
    """(namespace, name) -> the name under which models know it."""
    return {(offered.namespace, offered.name): name for name, offered in offered_tools.items()}


def as_function(name: str, tool: OfferedTool) -> Mapping[str, object]:
    """As the chat API has it."""
    return {"type": "function", "function": {"name": name, **tool.function}}


def _list_tools(body: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    lists = [(body.get("tools"), "tools")]
    items = body.get("input")
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and item.get("type") in BROUGHT:
            lists.append((item.get("tools"), f"input[{index}].tools"))
    for listed, field_path in lists:
        for index, member in enumerate(() if listed is None else check_list(listed, field_path)):
            yield check_object(member, f"{field_path}[{index}]"), f"{field_path}[{index}]"


def _read_tool(
    tool: Mapping[str, Any], field_path: str, namespace: str = ""
) -> Iterator[OfferedTool]:
    kind = check_text(tool.get("type"), f"{field_path}.type")
    if kind == "namespace" and not namespace:
        name = check_name(tool.get("name"), f"{field_path}.name")
        for index, member in enumerate(check_list(tool.get("tools"), f"{field_path}.tools")):
            member_path = f"{field_path}.tools[{index}]"
            yield from _read_tool(check_object(member, member_path), member_path, name)
    elif kind in ("function", "custom"):
        name = check_name(tool.get("name"), f"{field_path}.name")
        function = (
            _read_function(tool, field_path)
            if kind == "function"
            else _read_freeform(tool, field_path)
        )
        yield OfferedTool(kind, name, namespace, function)
    elif kind == "tool_search" and tool.get("execution") == "client":
        yield OfferedTool(kind, kind, "", _read_function(tool, field_path))
    elif kind in KNOWN and not _is_hosted(tool):
        yield OfferedTool(kind, kind, "", KNOWN[kind])


def _is_hosted(tool: Mapping[str, Any]) -> bool:
    environment = tool.get("environment")
    return isinstance(environment, dict) and environment.get("type") in HOSTED


def _read_function(tool: Mapping[str, Any], field_path: str) -> dict[str, object]:
    function = _read_description(tool, field_path)
    if tool.get("parameters") is not None:
        function["parameters"] = check_object(tool["parameters"], f"{field_path}.parameters")
    if tool.get("strict") is not None:
        function["strict"] = check_flag(tool["strict"], f"{field_path}.strict")
    return function


def _read_description(tool: Mapping[str, Any], field_path: str) -> dict[str, object]:
    about = tool.get("description")
    return {} if about is None else {"description": check_text(about, f"{field_path}.description")}


def _read_freeform(tool: Mapping[str, Any], field_path: str) -> dict[str, object]:
    """A tool that takes a text, perhaps by a grammar."""
    about = _read_description(tool, field_path)
    text_format = check_object(tool.get("format") or {}, f"{field_path}.format")
    if text_format.get("type") != "grammar":
        return {**about, "parameters": freeform_parameters()}
    grammar = check_text(text_format.get("definition"), f"{field_path}.format.definition")
    return {**about, "parameters": freeform_parameters(text_format.get("syntax"), grammar)}


def read_call_input(kind: str, item: Mapping[str, Any], field_path: str) -> object:
    """The arguments of an earlier call, as the function has them."""
    field = FORMS[kind].given
    value, input_path = item.get(field), f"{field_path}.{field}"
    if kind == "function":
        return check_text(value, input_path)
    if kind == "custom":
        return freeform_arguments(check_text(value, input_path))
    return {**check_object(value, input_path)}


def write_call_item(tool: OfferedTool, call: CompletedCall, id: str) -> dict[str, object]:
    """A call as the client gets it."""
    item_form = FORMS[tool.kind]
    head: dict[str, object] = {
        "type": item_form.item,
        "id": f"{item_form.id}_{id}",
        "call_id": call.id,
    }
    if tool.kind in ("function", "custom"):
        head |= {"name": tool.name} | ({"namespace": tool.namespace} if tool.namespace else {})
    if tool.kind == "tool_search":
        head |= {"execution": "client"}
    return {
        **head,
        item_form.given: _write_call_input(tool.kind, call.arguments),
        "status": "completed" if call.is_whole else "incomplete",
    }


def _write_call_input(kind: str, arguments: str) -> object:
    if kind == "function":
        return arguments
    call_arguments = read_arguments(arguments)
    if kind == "custom":
        return read_freeform_text(call_arguments)
    if kind == "local_shell":
        return {"env": {}, **call_arguments, "type": "exec"}
    return call_arguments
