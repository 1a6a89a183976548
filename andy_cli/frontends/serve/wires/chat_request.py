"""Read requests of the chat completions API into checked values.

The readers of other APIs make the same of their requests. What is not known here is passed on to
the model's server as it came. Calls may have the legacy form too, `functions` and `function_call`:

    {"functions": [{"name", "parameters"}], "function_call": "auto" | "none" | {"name"}}
    history:  {"role": "assistant", "function_call": {"name", "arguments"}}
              {"role": "function", "name", "content"}
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from andy_cli.compiler.dialect import Tools
from andy_cli.foreign_values import as_record, as_records, read_json, standardize_required, text_of
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.field_checks import (
    MAX_TOOLS,
    check_fields,
    refuse_field,
    wrong_type,
)
from andy_cli.frontends.serve.wires.freeform_tools import freeform_arguments, freeform_parameters
from andy_cli.messages import Arguments, Message, Role, Schema, ToolCall

NOT_FORWARDED = frozenset(
    """model messages tools tool_choice parallel_tool_calls stream stream_options functions
    function_call""".split()
)
"""Fields that are not simply passed on."""
NO_FIELDS: Mapping[str, object] = MappingProxyType({})
ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


ANY_OBJECT: Schema = {"type": "object"}


class ToolChoice(NamedTuple):
    """`tool_choice`: whether a call may, must or must not be made, and of which tool."""

    how: Literal["auto", "none", "required"] = "auto"
    name: str = ""


class ChatRequest(NamedTuple):
    model: str
    history: tuple[Message, ...]
    tools: Tools
    """Name -> function tool. Where a client leaves them out in later requests of a conversation,
    those its history shows were there."""
    choice: ToolChoice = ToolChoice()
    parallel: bool = True
    stream: bool = False
    usage: bool = False
    """True if a stream ends with the usage."""
    fields: Mapping[str, object] = NO_FIELDS
    """The fields that are passed on: seed, top_p, stop, response_format, ..."""
    body: Mapping[str, object] = NO_FIELDS
    parts: Mapping[str, object] = NO_FIELDS
    """Pictures and the like, by the mark that stands for them in the history."""

    @property
    def answer_schema(self) -> Schema | None:
        """The schema of the answer, where the client wants JSON."""
        return read_answer_schema(as_record(self.fields.get("response_format")))

    @property
    def freeform_tools(self) -> frozenset[str]:
        """Names of the tools of the chat API that take a text."""
        tools = as_records(self.body.get("tools"))
        custom = [tool.get("custom") for tool in tools if tool.get("type") == "custom"]
        return frozenset(str(tool.get("name")) for tool in as_records(custom))


def read_answer_schema(answer_format: Mapping[str, object]) -> Schema | None:
    if answer_format.get("type") == "json_object":
        return ANY_OBJECT
    schema = as_record(answer_format.get("json_schema")).get("schema")
    return schema if isinstance(schema, dict) else None


def read_chat_request(body: object) -> ChatRequest:
    """Raises ApiError (400) that names the field."""
    if not isinstance(body, dict):
        raise ApiError(400, "The request body is no JSON object.")
    check_fields(body)
    kept_parts: dict[str, object] = {}
    history = tuple(_read_history(body.get("messages"), kept_parts))
    tools = _keep_allowed(body, _read_tools(body) or _infer_tools(history))
    options = body.get("stream_options")
    return ChatRequest(
        model=_read_model(body.get("model")),
        history=history,
        tools=tools,
        choice=_read_choice(body, tools),
        parallel=body.get("parallel_tool_calls") is not False,
        stream=body.get("stream") is True,
        usage=isinstance(options, dict) and options.get("include_usage") is True,
        fields={key: value for key, value in body.items() if key not in NOT_FORWARDED},
        body=body,
        parts=kept_parts,
    )


def read_translated_request(
    request: Mapping[str, object], body: Mapping[str, object]
) -> ChatRequest:
    """Read what was put together of another API's request, whose `body` is kept."""
    chat_request = read_chat_request(request)
    if chat_request.tools:
        return chat_request._replace(body=body)
    if chat_request.choice.how == "required":
        raise refuse_field("tool_choice", "wants a tool, and there are no tools.")
    # Without tools whatever the model writes is text.
    return chat_request._replace(choice=ToolChoice("none"), body=body)


def is_legacy(body: object) -> bool:
    """Tell whether a client knows functions and no tools."""
    if not isinstance(body, dict) or body.get("tools") is not None:
        return False
    history = as_records(body.get("messages"))
    return body.get("functions") is not None or any(map(is_legacy_message, history))


def is_legacy_message(message: Mapping[str, object]) -> bool:
    called = isinstance(message.get("function_call"), dict) and not message.get("tool_calls")
    return called or message.get("role") == "function"


def read_legacy_request(body: object) -> ChatRequest:
    """Read the request of such a client, who gets one call at most. Raises ApiError (400)."""
    return read_chat_request(body)._replace(parallel=False)


def _with_tool_calls(messages: Sequence[Any]) -> list[Any]:
    """The history with ids, by which a result in the legacy form belongs to its call."""
    waiting = ""
    modern_messages: list[Any] = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not is_legacy_message(message):
            modern_messages.append(message)
        elif message.get("role") == "function":
            id, waiting = waiting or f"call_{index}", ""
            modern_messages.append({**message, "tool_call_id": id})
        else:
            waiting = f"call_{index}"
            call = {"id": waiting, "function": message["function_call"]}
            modern_messages.append({**message, "tool_calls": [call]})
    return modern_messages


def _read_model(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > 256 or not value.isprintable():
        raise wrong_type("model", "a name")
    if ".." in value or value.startswith(("/", "~", "\\")):
        raise refuse_field("model", "is a name and no path.", code="model_not_found")
    return value


def _read_history(messages: object, kept_parts: dict[str, object]) -> list[Message]:
    if not isinstance(messages, list) or not messages:
        raise wrong_type("messages", "a list of at least one message")
    names: dict[str, str] = {}  # of the tools, by the ids of their calls
    history: list[Message] = []
    for index, message in enumerate(_with_tool_calls(messages)):
        role = ROLES.get(str(as_record(message).get("role")))
        if role is None:
            raise refuse_field(
                f"messages[{index}]", "has no role that is known.", code="invalid_value"
            )
        content = message.get("content")
        content = message.get("refusal") if content is None else content
        text = read_content(content, kept_parts, index)
        if role == "assistant":
            calls = tuple(_read_calls(message, index))
            names |= {call.id: call.name for call in calls}
            history.append(Message(role, text, calls))
        elif role == "tool":
            history.append(_read_result(message, text, names))
        else:
            history.append(Message(role, text))
    return _assign_results(history)


def _assign_results(history: Sequence[Message]) -> list[Message]:
    """Give results whose id no call has to the calls that wait."""
    result_ids = {message.call_id for message in history}
    call_ids = {call.id for message in history for call in message.calls}
    waiting: list[ToolCall] = []
    assigned: list[Message] = []
    for message in history:
        if message.calls:
            waiting = [call for call in message.calls if call.id not in result_ids]
        elif message.role == "tool" and message.call_id not in call_ids:
            message = _assign_result(message, waiting)
        assigned.append(message)
    return assigned


def _assign_result(result: Message, waiting: list[ToolCall]) -> Message:
    """Give a result to the first call of its tool that waits, else to the first of all."""
    named = (call for call in waiting if call.name == result.name)
    call = next(named, waiting[0] if waiting else None)
    if call is None:
        return result
    waiting.remove(call)
    return result._replace(call_id=call.id, name=call.name)


def check_results(history: Sequence[Message]) -> None:
    """Refuse a result of a call that is not there, or that has its result already.

    Its words would not reach the model. A request that is passed on as it came is for the model's
    server to judge. Raises ApiError.
    """
    waiting: Counter[str] = Counter()
    for index, message in enumerate(history):
        waiting.update(call.id for call in message.calls)
        if message.role != "tool":
            continue
        if not waiting[message.call_id]:
            problem = "is a tool's result, and no call before it waits for one."
            raise refuse_field(f"messages[{index}]", problem)
        waiting[message.call_id] -= 1


def _read_result(message: Mapping[str, object], text: str, names: Mapping[str, str]) -> Message:
    id = str(message.get("tool_call_id") or "")
    return Message("tool", text, call_id=id, name=names.get(id, str(message.get("name") or "")))


def read_content(content: object, kept_parts: dict[str, object], index: int) -> str:
    """Read the text of a message; a mark that `kept_parts` knows stands for what is no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong_type(f"messages[{index}].content", "a text or a list")
    return "\n".join(_read_part(content_part, kept_parts, index) for content_part in content)


def _read_part(content_part: object, kept_parts: dict[str, object], index: int) -> str:
    if isinstance(content_part, str):
        return content_part
    if not isinstance(content_part, dict):
        content_part = {}
    if isinstance(content_part.get("text"), str):
        return str(content_part["text"])
    kind = content_part.get("type")
    if kind == "refusal":
        return str(content_part.get("refusal") or "")
    if kind in (None, "text"):
        raise refuse_field(f"messages[{index}].content", "holds no text and no part with a type.")
    placeholder = f"\ufdd0{len(kept_parts)}\ufdd1"
    kept_parts[placeholder] = content_part
    return placeholder


def _read_calls(message: Mapping[str, object], index: int) -> list[ToolCall]:
    listed = message.get("tool_calls")
    if listed is not None and not isinstance(listed, list):
        raise wrong_type(f"messages[{index}].tool_calls", "a list of calls")
    return [_read_call(call, index) for call in listed or ()]


def _read_call(value: object, index: int) -> ToolCall:
    call = as_record(value)
    custom = call.get("type") == "custom"
    function = as_record(call.get("custom" if custom else "function"))
    name = function.get("name")
    if not isinstance(name, str):
        raise refuse_field(f"messages[{index}].tool_calls", "holds no calls.")
    written = function.get("arguments")
    if custom:
        written = freeform_arguments(str(function.get("input") or ""))
    return ToolCall(str(call.get("id") or ""), name, read_arguments(written))


def read_arguments(written: object) -> Arguments:
    if isinstance(written, dict):
        return written
    value = read_json(str(written or "{}"), written)
    return value if isinstance(value, dict) else {"arguments": value}


def _read_tools(body: Mapping[str, object]) -> dict[str, Schema]:
    listed = body.get("tools")
    older_functions = body.get("functions")
    if listed is None and older_functions is not None:
        if not isinstance(older_functions, list):
            raise wrong_type("functions", "a list of functions")
        listed = [{"type": "function", "function": function} for function in older_functions]
    if listed is None:
        return {}
    if not isinstance(listed, list) or len(listed) > MAX_TOOLS * 8:
        raise wrong_type("tools", "a list of tools")
    return dict(_read_tool(tool, index) for index, tool in enumerate(listed))


def _read_tool(value: object, index: int) -> tuple[str, Schema]:
    """Read a tool: its name, and itself as a function."""
    tool = as_record(value)
    function = as_record(tool.get("function"))
    if tool.get("type") == "custom":
        function = _read_freeform_tool(as_record(tool.get("custom")), index)
    name = text_of(function, "name")
    if not name:
        raise refuse_field(f"tools[{index}]", "is no function with a name.", code="invalid_value")
    if not isinstance(function.get("parameters"), dict | None):
        raise wrong_type(f"tools[{index}].function.parameters", "no schema")
    if not isinstance(function.get("description"), str | None):
        raise wrong_type(f"tools[{index}].function.description", "no text")
    return name, {"type": "function", "function": _complete_function(function)}


def _read_freeform_tool(custom: Mapping[str, object], index: int) -> dict[str, object]:
    grammar = as_record(custom.get("format")).get("grammar")
    if grammar is None:
        parameters = freeform_parameters()
    elif isinstance(grammar, dict) and isinstance(grammar.get("definition"), str):
        parameters = freeform_parameters(grammar.get("syntax"), grammar["definition"])
    else:
        raise refuse_field(
            f"tools[{index}].custom.format.grammar", "has no definition.", code="invalid_type"
        )
    name_and_description = {key: custom.get(key) for key in ("name", "description")}
    return {**name_and_description, "parameters": parameters}


def _complete_function(function: Mapping[str, object]) -> dict[str, object]:
    """With parameters that are the schema of an object; others say nothing."""
    parameters = function.get("parameters")
    if not isinstance(parameters, dict):
        parameters = {"type": "object", "properties": {}}
    properties = parameters.get("properties")
    if not isinstance(properties, dict):
        properties = {}
    usable_properties = {
        name: schema for name, schema in properties.items() if isinstance(schema, dict)
    }
    return {
        **function,
        "description": str(function.get("description") or ""),
        "parameters": standardize_required({**parameters, "properties": usable_properties}),
    }


def _infer_tools(history: Sequence[Message]) -> dict[str, Schema]:
    """Tools that a client offered earlier in this conversation, from the calls in it (case 12)."""
    tools: dict[str, Schema] = {}
    for call in (call for message in history for call in message.calls):
        earlier_properties = tools.get(call.name, {}).get("function", {}).get("parameters", {})
        known_properties: dict[str, object] = {name: {} for name in call.arguments}
        known_properties |= earlier_properties.get("properties", {})
        parameters = {"type": "object", "properties": known_properties}
        function = {"name": call.name, "description": "", "parameters": parameters}
        tools[call.name] = {"type": "function", "function": function}
    return tools


def _keep_allowed(body: Mapping[str, object], tools: dict[str, Schema]) -> dict[str, Schema]:
    """Keep the tools that may be called now, where `tool_choice` lists them."""
    choice = find_tool_choice(body)
    if not isinstance(choice, dict) or choice.get("type") != "allowed_tools":
        return tools
    listed = as_record(choice.get("allowed_tools")).get("tools")
    if not isinstance(listed, list) or not listed:
        raise wrong_type("tool_choice.allowed_tools.tools", "a list of tools")
    names = [*map(find_tool_name, listed)]
    if unknown := [name for name in names if name not in tools]:
        raise refuse_field("tool_choice", f"allows {unknown[0]!r}, which is none of the tools.")
    return {name: tool for name, tool in tools.items() if name in names}


def find_tool_choice(body: Mapping[str, object]) -> object:
    return body.get("tool_choice", body.get("function_call"))


def find_tool_name(tool: object) -> str:
    named = as_record(tool)
    function = as_record(named.get("function", named.get("custom")))
    return text_of(named if function.get("name") is None else function, "name")


def _read_choice(body: Mapping[str, object], tools: Tools) -> ToolChoice:
    value = find_tool_choice(body)
    if isinstance(value, dict) and value.get("type") == "allowed_tools":
        value = value["allowed_tools"].get("mode", "auto")
    if value in (None, "auto"):
        return ToolChoice()
    if value == "none":
        return ToolChoice("none")
    if value in ("required", "any"):
        return ToolChoice("required")
    if isinstance(value, dict):
        name = find_tool_name(value)
        if name in tools:
            return ToolChoice("required", name)
        raise refuse_field("tool_choice", f"names {name!r}, which is none of the tools.")
    raise refuse_field(
        "tool_choice", "is auto, none, required or a function.", code="invalid_value"
    )
