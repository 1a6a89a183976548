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
    CheckedObject,
    check_body,
    check_flag,
    check_name,
    check_number,
    check_object,
    check_text,
    check_token_limit,
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
KINDS_BY_ITEM = {item_form.item: kind for kind, item_form in FORMS.items()}
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
    for tool in _list_tools(CheckedObject(body)):
        for offered in _read_tool(tool):
            tools_by_place[offered.namespace, offered.name] = offered
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


def _list_tools(body: CheckedObject) -> Iterator[CheckedObject]:
    """List the tools of a request, and those that items of its input bring along."""
    holders = [body]
    items = body.get("input")
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and item.get("type") in BROUGHT:
            holders.append(CheckedObject(item, f"input[{index}]"))
    for holder in holders:
        if holder.get("tools") is not None:
            yield from holder.list_objects("tools")


def _read_tool(tool: CheckedObject, namespace: str = "") -> Iterator[OfferedTool]:
    kind = tool.read("type", check_text)
    if kind == "namespace" and not namespace:
        name = tool.read("name", check_name)
        for member in tool.list_objects("tools"):
            yield from _read_tool(member, name)
    elif kind in ("function", "custom"):
        name = tool.read("name", check_name)
        function = _read_function(tool) if kind == "function" else _read_freeform(tool)
        yield OfferedTool(kind, name, namespace, function)
    elif kind == "tool_search" and tool.get("execution") == "client":
        yield OfferedTool(kind, kind, "", _read_function(tool))
    elif kind in KNOWN and as_record(tool.get("environment")).get("type") not in HOSTED:
        yield OfferedTool(kind, kind, "", KNOWN[kind])


def _read_function(tool: CheckedObject) -> dict[str, object]:
    function = {
        "description": tool.read_given("description", check_text),
        "parameters": tool.read_given("parameters", check_object),
        "strict": tool.read_given("strict", check_flag),
    }
    return {name: value for name, value in function.items() if value is not None}


def _read_freeform(tool: CheckedObject) -> dict[str, object]:
    function: dict[str, object] = {}
    if tool.get("description") is not None:
        function["description"] = tool.read("description", check_text)
    function["parameters"] = freeform_parameters()
    if tool.get("format"):
        text_format = tool.read_object("format")
        if text_format.get("type") == "grammar":
            grammar = text_format.read("definition", check_text)
            function["parameters"] = freeform_parameters(text_format.get("syntax"), grammar)
    return function


def read_call_input(kind: str, item: CheckedObject) -> object:
    """The arguments of an earlier call, as the function has them."""
    field = FORMS[kind].given
    if kind == "function":
        return item.read(field, check_text)
    if kind == "custom":
        return freeform_arguments(item.read(field, check_text))
    return item.read(field, check_object)


def write_call_item(tool: OfferedTool, call: CompletedCall, id: str) -> dict[str, object]:
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
    "max_output_tokens": ("max_tokens", check_token_limit),
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
    request = map_fields(body.values, FIELD_READERS)
    offered_tools = read_offered_tools(body.values)
    tools, choice = _choose_tools(body, offered_tools)
    if tools:
        request["tools"] = tools
    request |= {"messages": _read_history(body, offered_tools), "tool_choice": choice}
    request |= _read_format(body) | _read_effort(body)
    return read_translated_request(request, body.values)


def _read_history(
    body: CheckedObject, offered_tools: Mapping[str, OfferedTool]
) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("instructions") is not None:
        transcript.add_message("system", [text_part(body.read("instructions", check_text))])
    items = body.get("input")
    if isinstance(items, str):
        transcript.add_message("user", [text_part(items)])
        return transcript.list_messages()
    if not isinstance(items, list) or not items:
        raise wrong_type("input", "a text or a list of items")
    listed = {item_id(item) for item in items if not is_reference(item)}
    for item in body.list_objects("input"):
        if is_reference(item.values) and item_id(item.values) in listed:
            continue  # it stands in the input itself
        _read_item(transcript, item, offered_tools)
    return transcript.list_messages()


def _add_message(transcript: Transcript, item: CheckedObject) -> None:
    role = item.get("role")
    if role not in ROLES:
        raise refuse_field(f"{item.path}.role", "is user, assistant, system or developer.")
    transcript.add_message(str(role), _read_parts(item, "content"))


def _read_item(
    transcript: Transcript, item: CheckedObject, offered_tools: Mapping[str, OfferedTool]
) -> None:
    if is_reference(item.values):
        raise ApiError(
            404,
            f"Item with id '{item_id(item.values)}' not found. Items are not persisted here: with "
            "`store` false clients send the item itself. Or remove it from your input.",
            param="input",
        )
    type = str(item.get("type") or "message")
    kind = KINDS_BY_ITEM.get(type)
    if type == "message":
        _add_message(transcript, item)
    elif type in ("tool_search_call", "tool_search_output") and item.get("call_id") is None:
        return  # OpenAI's servers searched
    elif kind:
        own_name = check_name(item.get("name", kind), f"{item.path}.name")
        known_name = _find_known_name(offered_tools, own_name, str(item.get("namespace") or ""))
        id, call_input = item.read("call_id", check_name), read_call_input(kind, item)
        transcript.add_call(id, known_name, call_input)
    elif type in OUTPUTS:
        # That of a local shell may have no call_id: its id is that of the call.
        id = check_name(item.get("call_id", item.get("id")), f"{item.path}.call_id")
        transcript.add_result(id, OUTPUTS[type](item), item.path)
    elif type not in LEFT_OUT:
        raise refuse_field(item.path, f"is an item of the type {type!r}, which is not known here.")


def is_reference(item: object) -> bool:
    """Tell whether it names an item of an earlier answer; its type may be left out."""
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    typed = item.get("type")
    return typed == "item_reference" or (typed is None and set(item) <= {"id", "type"})


def item_id(item: object) -> str:
    return text_of(as_record(item), "id")


def _read_output(item: CheckedObject) -> list[ContentPart]:
    return _read_parts(item, "output")


def _read_shell_output(item: CheckedObject) -> list[ContentPart]:
    """Read what each command of a shell printed, and how it ended."""
    output_parts = []
    for command_run in item.list_objects("output"):
        texts = [command_run.get("stdout"), command_run.get("stderr")]
        if command_run.get("outcome"):
            outcome = command_run.read("outcome", check_object)
            ended = f"exit code {outcome['exit_code']}" if "exit_code" in outcome else "timeout"
            texts.append(ended)
        output_parts.append(text_part("\n".join(str(text) for text in texts if text)))
    return output_parts


def _read_patch_output(item: CheckedObject) -> list[ContentPart]:
    texts = [str(item.get("status") or ""), item.read_given("output", check_text)]
    return [text_part("\n".join(filter(None, texts)))]


def _read_found_tools(item: CheckedObject) -> list[ContentPart]:
    """They are offered from now on; here only their names."""
    found_names = ", ".join(str(tool.get("name")) for tool in item.list_objects("tools"))
    return [text_part(f"found: {found_names or 'nothing'}")]


OUTPUTS: Mapping[str, Callable[[CheckedObject], list[ContentPart]]] = {
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "local_shell_call_output": _read_output,
    "shell_call_output": _read_shell_output,
    "apply_patch_call_output": _read_patch_output,
    "tool_search_output": _read_found_tools,
}


def _read_parts(holder: CheckedObject, name: str) -> list[ContentPart]:
    content = holder.get(name)
    if isinstance(content, str):
        return [text_part(content)]
    if not isinstance(content, list):
        raise wrong_type(holder.path_to(name), "a text or a list of parts")
    return [_read_part(content_part) for content_part in holder.list_objects(name)]


def _read_part(content_part: CheckedObject) -> ContentPart:
    kind = content_part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return text_part(content_part.read("text", check_text))
    if kind == "refusal":
        return text_part(content_part.read("refusal", check_text))
    if kind == "input_image" and content_part.get("image_url") is not None:
        return image_part(content_part.read("image_url", check_text), content_part.get("detail"))
    if kind == "input_file" and content_part.get("file_data") is not None:
        filename = text_of(content_part.values, "filename") or "file"
        return file_part(content_part.read("file_data", check_text), filename)
    path = content_part.path
    if kind in ("input_image", "input_file"):
        raise refuse_field(path, "holds no data; files are neither kept nor fetched here.")
    raise refuse_field(path, f"is a part of the type {kind!r}, which is not known here.")


def _choose_tools(
    body: CheckedObject, offered_tools: Mapping[str, OfferedTool]
) -> tuple[list[Mapping[str, object]], object]:
    tools: dict[str, Mapping[str, object]] = {}
    for name, tool in offered_tools.items():
        tools[name] = {"type": "function", "function": {"name": name, **tool.function}}
    written_choice = body.get("tool_choice")
    if not isinstance(written_choice, dict):
        return list(tools.values()), written_choice
    choice = body.read_object("tool_choice")
    if choice.get("type") == "allowed_tools":
        allowed = [_find_chosen_tool(tool, offered_tools) for tool in choice.list_objects("tools")]
        return [tool for name, tool in tools.items() if name in allowed], choice.get("mode")
    if str(choice.get("type")) not in FORMS:
        raise refuse_field("tool_choice", "is auto, none, required, a tool here or allowed_tools.")
    function = {"name": _find_chosen_tool(choice, offered_tools)}
    return list(tools.values()), {"type": "function", "function": function}


def _find_chosen_tool(choice: CheckedObject, offered_tools: Mapping[str, OfferedTool]) -> str:
    kind = str(choice.get("type"))
    written_name = kind if kind in KNOWN or kind == "tool_search" else choice.get("name")
    name = check_name(written_name, "tool_choice.name")
    return _find_known_name(offered_tools, name, choice.get("namespace"))


def _find_known_name(offered_tools: Mapping[str, OfferedTool], name: str, namespace: object) -> str:
    """Find the name under which models know a tool; `namespace`: None for any."""
    for known_name, tool in offered_tools.items():
        if tool.name == name and namespace in (None, tool.namespace):
            return known_name
    return name


def _read_format(body: CheckedObject) -> dict[str, object]:
    config = None if body.get("text") is None else body.read_object("text")
    if config is None or config.get("format") is None:
        return {}
    text_format = config.read_object("format")
    kind = text_format.get("type")
    if kind == "text":
        return {}
    if kind == "json_object":
        return {"response_format": {"type": "json_object"}}
    if kind != "json_schema":
        raise refuse_field("text.format.type", "is text, json_object or json_schema.")
    text_format.read("name", check_name)
    text_format.read("schema", check_object)
    named_schema = {
        key: value
        for key, value in text_format.values.items()
        if key != "type" and value is not None
    }
    return {"response_format": {"type": "json_schema", "json_schema": named_schema}}


def _read_effort(body: CheckedObject) -> dict[str, object]:
    if body.get("reasoning") is None:
        return {}
    effort = body.read_object("reasoning").read_given("effort", check_text)
    return {} if effort is None else {"reasoning_effort": effort}
