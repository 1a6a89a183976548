"""OpenAI's Responses API: its requests as values, and the tools that its clients run.

    {"model", "instructions", "input": text or items, "tools": [{"type": "function", "name", ...}]}

What is put together here is a request of the chat API, which `chat_request` reads. Nothing is kept
between requests, so what refers to an earlier one is refused. Reasoning in the history is left out:
it means something to the servers that made it alone; so is what those servers did themselves. So
are fields that are not in `FIELD_READERS`: no server of the chat API would know them, and some
refuse what they do not know.

The chat API and the notations taught in a prompt know functions alone. Here there are also tools in
a namespace, tools that take a text, and tools that OpenAI's models know without being told: each is
offered as a function, and a call of it is told to the client as what it was offered as. Tools that
OpenAI's servers run are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from andy_cli.foreign_values import as_record, text_of
from andy_cli.frontends.serve.wires.answer_parts import ApiError, CompletedCall
from andy_cli.frontends.serve.wires.chat_request import (
    ChatRequest,
    read_arguments,
    read_translated_request,
)
from andy_cli.frontends.serve.wires.field_checks import (
    check_body,
    check_flag,
    check_limit,
    check_list,
    check_name,
    check_number,
    check_object,
    check_text,
    map_fields,
    refuse_field,
    wrong_type,
)
from andy_cli.frontends.serve.wires.freeform_tools import (
    freeform_arguments,
    freeform_parameters,
    function_schema,
    read_freeform_text,
)
from andy_cli.frontends.serve.wires.transcript import (
    ContentPart,
    Transcript,
    file_part,
    image_part,
    text_part,
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
        raise refuse_field(
            "tools", "holds none that the client runs; others cannot be run from here."
        )
    offered_tools: dict[str, OfferedTool] = {}
    for offered in sorted(tools_by_place.values(), key=lambda offered: bool(offered.namespace)):
        name = offered.name
        if name in offered_tools:
            name = f"{offered.namespace}__{name}"
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
        read = _read_function if kind == "function" else _read_freeform
        yield OfferedTool(kind, name, namespace, read(tool, field_path))
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


FIELD_READERS = {
    "model": ("model", check_name),
    "max_output_tokens": ("max_tokens", check_limit),
    "temperature": ("temperature", check_number),
    "top_p": ("top_p", check_number),
    "user": ("user", check_text),
    "stream": ("stream", check_flag),
    "parallel_tool_calls": ("parallel_tool_calls", check_flag),
}
STATEFUL_FIELDS = ("previous_response_id", "conversation", "prompt")
"""Fields that only a server that keeps something can know."""
ROLES = ("user", "assistant", "system", "developer")
LEFT_OUT = frozenset(
    """reasoning compaction additional_tools web_search_call file_search_call code_interpreter_call
    image_generation_call mcp_list_tools mcp_call mcp_approval_request mcp_approval_response program
    program_output""".split()
)
"""Items that tell a model nothing: what they brought is offered, or said in what follows them, or
it is written for the servers that made them alone."""


def read_responses_request(value: object) -> ChatRequest:
    """Raises ApiError (400) that names the field."""
    body = check_body(value)
    for name in STATEFUL_FIELDS:
        if body.get(name) is not None:
            raise refuse_field(
                name,
                "is not supported: nothing is kept here between requests. Send the whole "
                "conversation as input.",
                code="unsupported_parameter",
            )
    if body.get("background") is True:
        raise refuse_field("background", "is not supported.", code="unsupported_parameter")
    request = map_fields(body, FIELD_READERS)
    offered_tools = read_offered_tools(body)
    tools, choice = _choose_tools(body, offered_tools)
    request |= {"tools": tools} if tools else {}
    request |= {"messages": _read_history(body, index_names(offered_tools)), "tool_choice": choice}
    request |= _read_format(body) | _read_effort(body)
    return read_translated_request(request, body)


def _read_history(
    body: Mapping[str, Any], known_names: Mapping[tuple[str, str], str]
) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("instructions") is not None:
        transcript.add_message(
            "system", [text_part(check_text(body["instructions"], "instructions"))]
        )
    items = body.get("input")
    if isinstance(items, str):
        transcript.add_message("user", [text_part(items)])
        return transcript.list_messages()
    if not isinstance(items, list) or not items:
        raise wrong_type("input", "a text or a list of items")
    listed = {item_id(item) for item in items if not is_reference(item)}
    for index, item in enumerate(items):
        if is_reference(item) and item_id(item) in listed:
            continue  # it stands in the input itself
        _read_item(
            transcript, check_object(item, f"input[{index}]"), f"input[{index}]", known_names
        )
    return transcript.list_messages()


def _add_message(transcript: Transcript, item: Mapping[str, Any], field_path: str) -> None:
    role = item.get("role")
    if role not in ROLES:
        raise refuse_field(f"{field_path}.role", "is user, assistant, system or developer.")
    transcript.add_message(str(role), _read_parts(item.get("content"), f"{field_path}.content"))


def _read_item(
    transcript: Transcript,
    item: Mapping[str, Any],
    field_path: str,
    known_names: Mapping[tuple[str, str], str],
) -> None:
    if is_reference(item):
        raise ApiError(
            404,
            f"Item with id '{item_id(item)}' not found. Items are not persisted here: with "
            "`store` false clients send the item itself. Or remove it from your input.",
            param="input",
        )
    type = str(item.get("type") or "message")
    kind = find_kind_of_call(type)
    if type == "message":
        _add_message(transcript, item, field_path)
    elif type in ("tool_search_call", "tool_search_output") and item.get("call_id") is None:
        return  # OpenAI's servers searched
    elif kind:
        own_name = check_name(item.get("name", kind), f"{field_path}.name")
        namespace = str(item.get("namespace") or "")
        transcript.add_call(
            check_name(item.get("call_id"), f"{field_path}.call_id"),
            known_names.get((namespace, own_name), own_name),
            read_call_input(kind, item, field_path),
        )
    elif type in OUTPUTS:
        # That of a local shell may have no call_id: its id is that of the call.
        id = check_name(item.get("call_id", item.get("id")), f"{field_path}.call_id")
        transcript.add_result(id, OUTPUTS[type](item, field_path), field_path)
    elif type not in LEFT_OUT:
        raise refuse_field(field_path, f"is an item of the type {type!r}, which is not known here.")


def is_reference(item: object) -> bool:
    """Tell whether it names an item of an earlier answer; its type may be left out."""
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    typed = item.get("type")
    return typed == "item_reference" or (typed is None and set(item) <= {"id", "type"})


def item_id(item: object) -> str:
    return text_of(as_record(item), "id")


def _read_output(item: Mapping[str, Any], field_path: str) -> list[ContentPart]:
    return _read_parts(item.get("output"), f"{field_path}.output")


def _read_shell_output(item: Mapping[str, Any], field_path: str) -> list[ContentPart]:
    """Read what each command of a shell printed, and how it ended."""
    output_parts = []
    for index, command in enumerate(check_list(item.get("output"), f"{field_path}.output")):
        run_path = f"{field_path}.output[{index}]"
        command_run = check_object(command, run_path)
        outcome = check_object(command_run.get("outcome") or {}, f"{run_path}.outcome")
        ended = f"exit code {outcome['exit_code']}" if "exit_code" in outcome else "timeout"
        texts = [command_run.get("stdout"), command_run.get("stderr"), ended if outcome else ""]
        output_parts.append(text_part("\n".join(str(text) for text in texts if text)))
    return output_parts


def _read_patch_output(item: Mapping[str, Any], field_path: str) -> list[ContentPart]:
    status, output = str(item.get("status") or ""), item.get("output")
    words = "" if output is None else check_text(output, f"{field_path}.output")
    return [text_part("\n".join(filter(None, [status, words])))]


def _read_found_tools(item: Mapping[str, Any], field_path: str) -> list[ContentPart]:
    """They are offered from now on; here only their names."""
    listed = check_list(item.get("tools"), f"{field_path}.tools")
    tools = [check_object(tool, f"{field_path}.tools") for tool in listed]
    found_names = ", ".join(str(tool.get("name")) for tool in tools)
    return [text_part(f"found: {found_names or 'nothing'}")]


OUTPUTS: Mapping[str, Callable[[Mapping[str, Any], str], list[ContentPart]]] = {
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "local_shell_call_output": _read_output,
    "shell_call_output": _read_shell_output,
    "apply_patch_call_output": _read_patch_output,
    "tool_search_output": _read_found_tools,
}


def _read_parts(content: object, field_path: str) -> list[ContentPart]:
    if isinstance(content, str):
        return [text_part(content)]
    if not isinstance(content, list):
        raise wrong_type(field_path, "a text or a list of parts")
    return [
        _read_part(check_object(content_part, f"{field_path}[{index}]"), f"{field_path}[{index}]")
        for index, content_part in enumerate(content)
    ]


def _read_part(content_part: Mapping[str, Any], field_path: str) -> ContentPart:
    kind = content_part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return text_part(check_text(content_part.get("text"), f"{field_path}.text"))
    if kind == "refusal":
        return text_part(check_text(content_part.get("refusal"), f"{field_path}.refusal"))
    if kind == "input_image" and content_part.get("image_url") is not None:
        url = check_text(content_part["image_url"], f"{field_path}.image_url")
        return image_part(url, content_part.get("detail"))
    if kind == "input_file" and content_part.get("file_data") is not None:
        name = content_part.get("filename")
        filename = name if isinstance(name, str) and name else "file"
        return file_part(check_text(content_part["file_data"], f"{field_path}.file_data"), filename)
    if kind in ("input_image", "input_file"):
        raise refuse_field(field_path, "holds no data; files are neither kept nor fetched here.")
    raise refuse_field(field_path, f"is a part of the type {kind!r}, which is not known here.")


def _choose_tools(
    body: Mapping[str, Any], offered_tools: Mapping[str, OfferedTool]
) -> tuple[list[Mapping[str, object]], object]:
    """The tools in the chat API's form, and the choice of them."""
    tools = {name: as_function(name, tool) for name, tool in offered_tools.items()}
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return list(tools.values()), choice
    if choice.get("type") == "allowed_tools":
        listed = check_list(choice.get("tools"), "tool_choice.tools")
        allowed = [
            _find_chosen_tool(check_object(tool, "tool_choice.tools"), offered_tools)
            for tool in listed
        ]
        return [tool for name, tool in tools.items() if name in allowed], choice.get("mode")
    if str(choice.get("type")) not in FORMS:
        raise refuse_field("tool_choice", "is auto, none, required, a tool here or allowed_tools.")
    function = {"name": _find_chosen_tool(choice, offered_tools)}
    return list(tools.values()), {"type": "function", "function": function}


def _find_chosen_tool(choice: Mapping[str, Any], offered_tools: Mapping[str, OfferedTool]) -> str:
    """The name under which models know a tool that is chosen."""
    kind = str(choice.get("type"))
    written_name = kind if kind in KNOWN or kind == "tool_search" else choice.get("name")
    name = check_name(written_name, "tool_choice.name")
    namespace = choice.get("namespace")
    fitting_names = [
        known_name
        for known_name, tool in offered_tools.items()
        if tool.name == name and namespace in (None, tool.namespace)
    ]
    return fitting_names[0] if fitting_names else name


def _read_format(body: Mapping[str, Any]) -> dict[str, object]:
    config = body.get("text")
    wanted_format = None if config is None else check_object(config, "text").get("format")
    if wanted_format is None:
        return {}
    text_format = check_object(wanted_format, "text.format")
    kind = text_format.get("type")
    if kind == "text":
        return {}
    if kind == "json_object":
        return {"response_format": {"type": "json_object"}}
    if kind != "json_schema":
        raise refuse_field("text.format.type", "is text, json_object or json_schema.")
    check_name(text_format.get("name"), "text.format.name")
    check_object(text_format.get("schema"), "text.format.schema")
    named_schema = {
        key: value for key, value in text_format.items() if key != "type" and value is not None
    }
    return {"response_format": {"type": "json_schema", "json_schema": named_schema}}


def _read_effort(body: Mapping[str, Any]) -> dict[str, object]:
    config = body.get("reasoning")
    effort = None if config is None else check_object(config, "reasoning").get("effort")
    return {} if effort is None else {"reasoning_effort": check_text(effort, "reasoning.effort")}


def find_kind_of_call(type: str) -> str:
    """Find which kind of call an item is; empty if it is none."""
    return next((kind for kind, item_form in FORMS.items() if item_form.item == type), "")
