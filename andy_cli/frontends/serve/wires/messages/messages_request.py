"""Anthropic's Messages API: its requests as values, and answers on its wire.

    {"model", "max_tokens", "system", "messages": [{"role", "content": text or blocks}], "tools"}

What is put together here is a request of the chat API, which `chat_request` reads. Blocks of
thinking in the history are left out: they mean something to the servers that made them alone.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, ToolChoice, read_chat_request
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.field_checks import (
    check_body,
    check_flag,
    check_limit,
    check_list,
    check_name,
    check_number,
    check_object,
    check_text,
    check_texts,
    map_fields,
    wrong_type,
)
from andy_cli.frontends.serve.wires.messages.messages_tools import read_messages_tools
from andy_cli.frontends.serve.wires.transcript import (
    ContentPart,
    Transcript,
    file_part,
    image_part,
    text_part,
)
from andy_cli.models.token_count import MESSAGE, tokens

FIELDS = {
    "model": ("model", check_name),
    "max_tokens": ("max_tokens", check_limit),
    "stop_sequences": ("stop", check_texts),
    "temperature": ("temperature", check_number),
    "top_p": ("top_p", check_number),
    "top_k": ("top_k", check_number),
    "stream": ("stream", check_flag),
}
KNOWN_FIELDS = frozenset(
    """model messages max_tokens system stream stop_sequences temperature top_p top_k tools
    tool_choice metadata thinking output_config output_format service_tier container
    context_management mcp_servers cache_control inference_geo speed diagnostics compaction
    billing_policy fallbacks fallback_credit_token user_profile_id workspace_id thread""".split()
)
"""Of Anthropic's API, with those of its betas; what is not understood of them is left out."""
ROLES = ("user", "assistant", "system")
THOUGHTS = ("thinking", "redacted_thinking")
FAILED = "Error: "


def read_messages_request(value: object) -> ChatRequest:
    """Raises ApiError (400) that names the field."""
    body = check_body(value)
    if body.get("max_tokens") is None:
        raise ApiError(400, "max_tokens is missing.")
    return translate_messages(body)


def refuse_unknown_fields(body: Mapping[str, Any]) -> None:
    """Raises ApiError for fields that Anthropic's API refuses.

    A client that keeps its conversation on the server sends only what is new of it; told in the
    API's own way that this is not possible here, the SDK sends the whole of it.
    """
    if body.get("thread") is not None:
        api_error = ApiError(
            400, "thread: nothing is kept here; send the whole conversation without."
        )
        api_error.details = {"error_code": "thread_unsupported_request"}
        raise api_error
    for name in body:
        if name not in KNOWN_FIELDS:
            raise ApiError(400, f"{name}: Extra inputs are not permitted")


def translate_messages(body: Mapping[str, Any]) -> ChatRequest:
    refuse_unknown_fields(body)
    tools = read_messages_tools(body.get("tools"))
    request = map_fields(body, FIELDS)
    request |= {"messages": _read_history(body), **_read_choice(body.get("tool_choice"))}
    request |= {"tools": tools} if tools else {}
    request |= _read_user(body.get("metadata")) | _read_format(body)
    made = read_chat_request(request)
    if made.choice.how == "required" and not made.tools:
        raise ApiError(400, "tool_choice wants a tool, and there are no tools.")
    # Without tools whatever the model writes is text.
    choice = made.choice if made.tools else ToolChoice("none")
    return made._replace(choice=choice, body=body)


def answer_token_count(value: object) -> bytes:
    """The answer to /v1/messages/count_tokens: an estimate, of the text alone."""
    made = translate_messages(check_body(value))
    found = sum(MESSAGE + tokens(message.content) for message in made.history)
    calls = [call for message in made.history for call in message.calls]
    found += sum(tokens(call.name) + tokens(str(dict(call.arguments))) for call in calls)
    found += sum(tokens(dump_json(tool).decode()) for tool in made.tools.values())
    return dump_json({"input_tokens": found})


def _read_history(body: Mapping[str, Any]) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("system"):
        transcript.add_message("system", _read_parts(body["system"], "system"))
    messages = check_list(body.get("messages"), "messages")
    if not messages:
        raise ApiError(400, "messages is empty.")
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        role = check_object(message, where).get("role")
        if role not in ROLES:
            raise ApiError(400, f"{where}.role is user, assistant or system.")
        _add_message(transcript, str(role), message.get("content"), f"{where}.content")
    return transcript.list_messages()


def _add_message(transcript: Transcript, role: str, content: object, where: str) -> None:
    """Results come first, as the chat API wants them behind their calls."""
    parts: list[ContentPart] = []
    calls: list[Mapping[str, Any]] = []
    for at, block in enumerate(_read_blocks(content, where)):
        place = f"{where}[{at}]"
        match role, block.get("type"):
            case "assistant", "tool_use":
                calls.append(block)
                _check_call(block, place)
            case "user", "tool_result":
                _add_result(transcript, block, place)
            case "assistant", kind if kind in THOUGHTS:
                pass
            case _:
                parts += _read_block(block, place)
    if parts or not (calls or content):
        transcript.add_message(role, parts)
    for call in calls:
        transcript.add_call(call["id"], call["name"], call["input"])


def _check_call(block: Mapping[str, Any], place: str) -> None:
    check_name(block.get("id"), f"{place}.id")
    check_name(block.get("name"), f"{place}.name")
    check_object(block.get("input"), f"{place}.input")


def _add_result(transcript: Transcript, block: Mapping[str, Any], where: str) -> None:
    content = block.get("content")
    parts = [] if content is None else _read_parts(content, f"{where}.content")
    if block.get("is_error") is True:
        first = str(parts[0].get("text", "")) if parts else ""
        parts = (
            [text_part(FAILED + first), *parts[1:]]
            if first or not parts
            else [text_part(FAILED), *parts]
        )
    id = check_name(block.get("tool_use_id"), f"{where}.tool_use_id")
    transcript.add_result(id, parts, where)


def _read_blocks(content: object, where: str) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise wrong_type(where, "a text or a list of blocks")
    return [check_object(block, f"{where}[{at}]") for at, block in enumerate(content)]


def _read_parts(content: object, where: str) -> list[ContentPart]:
    blocks = enumerate(_read_blocks(content, where))
    return [part for at, block in blocks for part in _read_block(block, f"{where}[{at}]")]


def _read_block(block: Mapping[str, Any], where: str) -> list[ContentPart]:
    kind = block.get("type")
    if kind == "text":
        return [text_part(check_text(block.get("text"), f"{where}.text"))]
    if kind == "image":
        return [_read_picture(check_object(block.get("source"), f"{where}.source"), where)]
    if kind == "document":
        return _read_document(block, where)
    raise ApiError(400, f"{where} is a block of the type {kind!r}, which cannot stand here.")


def _read_picture(source: Mapping[str, Any], where: str) -> ContentPart:
    if source.get("type") == "base64":
        return image_part(_data_url(source, where))
    if source.get("type") == "url":
        return image_part(check_text(source.get("url"), f"{where}.source.url"))
    raise ApiError(400, f"{where}.source is base64 or url; files are not kept here.")


def _read_document(block: Mapping[str, Any], where: str) -> list[ContentPart]:
    source = check_object(block.get("source"), f"{where}.source")
    kind = source.get("type")
    title = block.get("title")
    if kind == "text":
        return [text_part(check_text(source.get("data"), f"{where}.source.data"))]
    if kind == "content":
        return _read_parts(source.get("content"), f"{where}.source.content")
    if kind == "base64":
        filename = title if isinstance(title, str) and title else "document.pdf"
        return [file_part(_data_url(source, where), filename)]
    raise ApiError(400, f"{where}.source is text, content or base64; others are not fetched here.")


def _data_url(source: Mapping[str, Any], where: str) -> str:
    kind = check_text(source.get("media_type"), f"{where}.source.media_type")
    return f"data:{kind};base64,{check_text(source.get('data'), f'{where}.source.data')}"


def _read_choice(value: object) -> dict[str, object]:
    if value is None:
        return {}
    choice = check_object(value, "tool_choice")
    found: dict[str, object] = {}
    if choice.get("disable_parallel_tool_use") is True:
        found["parallel_tool_calls"] = False
    kind = choice.get("type")
    if kind in ("auto", "any", "none"):
        return {**found, "tool_choice": "required" if kind == "any" else kind}
    if kind == "tool":
        named = {"name": check_name(choice.get("name"), "tool_choice.name")}
        return {**found, "tool_choice": {"type": "function", "function": named}}
    raise ApiError(400, "tool_choice.type is auto, any, tool or none.")


def _read_user(metadata: object) -> dict[str, object]:
    if metadata is None:
        return {}
    user = check_object(metadata, "metadata").get("user_id")
    return {} if user is None else {"user": check_text(user, "metadata.user_id")}


def _read_format(body: Mapping[str, Any]) -> dict[str, object]:
    """An answer by a schema, as `output_config.format` wants it."""
    config = body.get("output_config")
    wanted = None if config is None else check_object(config, "output_config").get("format")
    if wanted is None:
        return {}
    schema = check_object(wanted, "output_config.format").get("schema")
    checked = check_object(schema, "output_config.format.schema")
    named = {"name": "answer", "schema": checked, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def shows_thinking(chat_request: ChatRequest) -> bool:
    """Tell whether the client wants to see the model's thoughts."""
    thinking = chat_request.body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")
