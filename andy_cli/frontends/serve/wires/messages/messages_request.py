"""Anthropic's Messages API: its requests as values, and answers on its wire.

    {"model", "max_tokens", "system", "messages": [{"role", "content": text or blocks}], "tools"}

What is put together here is a request of the chat API, which `chat_request` reads. Blocks of
thinking in the history are left out: they mean something to the servers that made them alone.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, read_translated_request
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
from andy_cli.models.token_count import MESSAGE_TOKENS, tokens

FIELD_READERS = {
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
    request = map_fields(body, FIELD_READERS)
    request |= {"messages": _read_history(body), **_read_choice(body.get("tool_choice"))}
    request |= {"tools": tools} if tools else {}
    request |= _read_user(body.get("metadata")) | _read_format(body)
    return read_translated_request(request, body)


def answer_token_count(value: object) -> bytes:
    """The answer to /v1/messages/count_tokens: an estimate, of the text alone."""
    chat_request = translate_messages(check_body(value))
    token_count = sum(MESSAGE_TOKENS + tokens(message.content) for message in chat_request.history)
    calls = [call for message in chat_request.history for call in message.calls]
    token_count += sum(tokens(call.name) + tokens(str(dict(call.arguments))) for call in calls)
    token_count += sum(tokens(dump_json(tool).decode()) for tool in chat_request.tools.values())
    return dump_json({"input_tokens": token_count})


def _read_history(body: Mapping[str, Any]) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("system"):
        transcript.add_message("system", _read_parts(body["system"], "system"))
    messages = check_list(body.get("messages"), "messages")
    if not messages:
        raise ApiError(400, "messages is empty.")
    for index, message in enumerate(messages):
        field_path = f"messages[{index}]"
        role = check_object(message, field_path).get("role")
        if role not in ROLES:
            raise ApiError(400, f"{field_path}.role is user, assistant or system.")
        _add_message(transcript, str(role), message.get("content"), f"{field_path}.content")
    return transcript.list_messages()


def _add_message(transcript: Transcript, role: str, content: object, field_path: str) -> None:
    """Results come first, as the chat API wants them after their calls."""
    content_parts: list[ContentPart] = []
    calls: list[Mapping[str, Any]] = []
    for index, block in enumerate(_read_blocks(content, field_path)):
        block_path = f"{field_path}[{index}]"
        match role, block.get("type"):
            case "assistant", "tool_use":
                calls.append(block)
                _check_call(block, block_path)
            case "user", "tool_result":
                _add_result(transcript, block, block_path)
            case "assistant", kind if kind in THOUGHTS:
                pass
            case _:
                content_parts += _read_block(block, block_path)
    if content_parts or not (calls or content):
        transcript.add_message(role, content_parts)
    for call in calls:
        transcript.add_call(call["id"], call["name"], call["input"])


def _check_call(block: Mapping[str, Any], block_path: str) -> None:
    check_name(block.get("id"), f"{block_path}.id")
    check_name(block.get("name"), f"{block_path}.name")
    check_object(block.get("input"), f"{block_path}.input")


def _add_result(transcript: Transcript, block: Mapping[str, Any], field_path: str) -> None:
    content = block.get("content")
    content_parts = [] if content is None else _read_parts(content, f"{field_path}.content")
    if block.get("is_error") is True:
        first = str(content_parts[0].get("text", "")) if content_parts else ""
        content_parts = (
            [text_part(FAILED + first), *content_parts[1:]]
            if first or not content_parts
            else [text_part(FAILED), *content_parts]
        )
    id = check_name(block.get("tool_use_id"), f"{field_path}.tool_use_id")
    transcript.add_result(id, content_parts, field_path)


def _read_blocks(content: object, field_path: str) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise wrong_type(field_path, "a text or a list of blocks")
    return [check_object(block, f"{field_path}[{index}]") for index, block in enumerate(content)]


def _read_parts(content: object, field_path: str) -> list[ContentPart]:
    blocks = enumerate(_read_blocks(content, field_path))
    return [
        content_part
        for index, block in blocks
        for content_part in _read_block(block, f"{field_path}[{index}]")
    ]


def _read_block(block: Mapping[str, Any], field_path: str) -> list[ContentPart]:
    kind = block.get("type")
    if kind == "text":
        return [text_part(check_text(block.get("text"), f"{field_path}.text"))]
    if kind == "image":
        return [
            _read_picture(check_object(block.get("source"), f"{field_path}.source"), field_path)
        ]
    if kind == "document":
        return _read_document(block, field_path)
    raise ApiError(400, f"{field_path} is a block of the type {kind!r}, which cannot stand here.")


def _read_picture(source: Mapping[str, Any], field_path: str) -> ContentPart:
    if source.get("type") == "base64":
        return image_part(_data_url(source, field_path))
    if source.get("type") == "url":
        return image_part(check_text(source.get("url"), f"{field_path}.source.url"))
    raise ApiError(400, f"{field_path}.source is base64 or url; files are not kept here.")


def _read_document(block: Mapping[str, Any], field_path: str) -> list[ContentPart]:
    source = check_object(block.get("source"), f"{field_path}.source")
    kind = source.get("type")
    title = block.get("title")
    if kind == "text":
        return [text_part(check_text(source.get("data"), f"{field_path}.source.data"))]
    if kind == "content":
        return _read_parts(source.get("content"), f"{field_path}.source.content")
    if kind == "base64":
        filename = title if isinstance(title, str) and title else "document.pdf"
        return [file_part(_data_url(source, field_path), filename)]
    raise ApiError(
        400, f"{field_path}.source is text, content or base64; others are not fetched here."
    )


def _data_url(source: Mapping[str, Any], field_path: str) -> str:
    kind = check_text(source.get("media_type"), f"{field_path}.source.media_type")
    return f"data:{kind};base64,{check_text(source.get('data'), f'{field_path}.source.data')}"


def _read_choice(value: object) -> dict[str, object]:
    if value is None:
        return {}
    choice = check_object(value, "tool_choice")
    choice_fields: dict[str, object] = {}
    if choice.get("disable_parallel_tool_use") is True:
        choice_fields["parallel_tool_calls"] = False
    kind = choice.get("type")
    if kind in ("auto", "any", "none"):
        return {**choice_fields, "tool_choice": "required" if kind == "any" else kind}
    if kind == "tool":
        chosen_tool = {"name": check_name(choice.get("name"), "tool_choice.name")}
        return {**choice_fields, "tool_choice": {"type": "function", "function": chosen_tool}}
    raise ApiError(400, "tool_choice.type is auto, any, tool or none.")


def _read_user(metadata: object) -> dict[str, object]:
    if metadata is None:
        return {}
    user = check_object(metadata, "metadata").get("user_id")
    return {} if user is None else {"user": check_text(user, "metadata.user_id")}


def _read_format(body: Mapping[str, Any]) -> dict[str, object]:
    """An answer by a schema, as `output_config.format` wants it."""
    config = body.get("output_config")
    wanted_format = None if config is None else check_object(config, "output_config").get("format")
    if wanted_format is None:
        return {}
    schema = check_object(wanted_format, "output_config.format").get("schema")
    checked = check_object(schema, "output_config.format.schema")
    named_schema = {"name": "answer", "schema": checked, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named_schema}}


def shows_thinking(chat_request: ChatRequest) -> bool:
    """Tell whether the client wants to see the model's thoughts."""
    thinking = chat_request.body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")
