"""Anthropic's Messages API: its requests as values, and answers on its wire.

    {"model", "max_tokens", "system", "messages": [{"role", "content": text or blocks}], "tools"}

What is put together here is a request of the chat API, which `chat_request` reads. Blocks of
thinking in the history are left out: they mean something to the servers that made them alone. So
is what those servers did themselves, which is said in the text after it.

Each tool that the client runs is a function of the chat API. Some have no schema in the request:
Anthropic's models know them by their type, as `text_editor_20250728`. Tools that Anthropic's
servers run are left out.

Whole or streamed, an answer is made of the same blocks; a stream tells of each change of them.
"""

import re
import secrets
from collections.abc import Mapping, Sequence

from andy_cli.foreign_values import as_record
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    TextDelta,
    ToolCallDelta,
)
from andy_cli.frontends.serve.wires.chat_request import (
    ChatRequest,
    read_arguments,
    read_translated_request,
)
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.field_checks import (
    CheckedObject,
    check_body,
    check_flag,
    check_list,
    check_name,
    check_number,
    check_object,
    check_text,
    check_texts,
    check_token_limit,
    map_fields,
    wrong_type,
)
from andy_cli.frontends.serve.wires.freeform_tools import function_schema
from andy_cli.frontends.serve.wires.transcript import (
    ContentPart,
    Transcript,
    file_part,
    image_part,
    text_part,
)
from andy_cli.models.token_count import MESSAGE_TOKENS, estimate_tokens

FIELD_READERS = {
    "model": ("model", check_name),
    "max_tokens": ("max_tokens", check_token_limit),
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
LEFT_OUT = re.compile("(redacted_)?thinking|(server|mcp)_tool_use|.+_tool_result")
FAILED = "Error: "


def read_messages_request(value: object) -> ChatRequest:
    """Raises ApiError (400) that names the field."""
    body = check_body(value)
    if body.get("max_tokens") is None:
        raise ApiError(400, "max_tokens is missing.")
    return translate_messages(body)


def refuse_unknown_fields(body: Mapping[str, object]) -> None:
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


def translate_messages(body: CheckedObject) -> ChatRequest:
    refuse_unknown_fields(body.values)
    tools = read_messages_tools(body)
    request = map_fields(body.values, FIELD_READERS)
    request |= {"messages": _read_history(body), **_read_choice(body)}
    if tools:
        request["tools"] = tools
    request |= _read_user(body) | _read_format(body)
    return read_translated_request(request, body.values)


def answer_token_count(value: object) -> bytes:
    """The answer to /v1/messages/count_tokens: an estimate, of the text alone."""
    chat_request = translate_messages(check_body(value))
    token_count = 0
    for message in chat_request.history:
        token_count += MESSAGE_TOKENS + estimate_tokens(message.content)
        for call in message.calls:
            token_count += estimate_tokens(call.name) + estimate_tokens(str(dict(call.arguments)))
    for tool in chat_request.tools.values():
        token_count += estimate_tokens(dump_json(tool).decode())
    return dump_json({"input_tokens": token_count})


def _read_history(body: CheckedObject) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("system"):
        transcript.add_message("system", _read_parts(body, "system"))
    if not body.read("messages", check_list):
        raise ApiError(400, "messages is empty.")
    for message in body.list_objects("messages"):
        if message.get("role") not in ROLES:
            raise ApiError(400, f"{message.path}.role is user, assistant or system.")
        _add_message(transcript, message)
    return transcript.list_messages()


def _add_message(transcript: Transcript, message: CheckedObject) -> None:
    """Results come first, as the chat API wants them after their calls."""
    role = str(message.get("role"))
    content_parts: list[ContentPart] = []
    calls: list[CheckedObject] = []
    for block in _read_blocks(message, "content"):
        match role, block.get("type"):
            case "assistant", "tool_use":
                calls.append(block)
                _check_call(block)
            case "user", "tool_result":
                _add_result(transcript, block)
            case "assistant", kind if LEFT_OUT.fullmatch(str(kind)):
                pass
            case _:
                content_parts += _read_block(block)
    if content_parts or not (calls or message.get("content")):
        transcript.add_message(role, content_parts)
    for call in calls:
        transcript.add_call(call.get("id"), call.get("name"), call.get("input"))


def _check_call(block: CheckedObject) -> None:
    block.read("id", check_name)
    block.read("name", check_name)
    block.read("input", check_object)


def _add_result(transcript: Transcript, block: CheckedObject) -> None:
    content_parts = [] if block.get("content") is None else _read_parts(block, "content")
    if block.get("is_error") is True:
        first = str(content_parts[0].get("text", "")) if content_parts else ""
        other_parts = content_parts[1:] if first else content_parts
        content_parts = [text_part(FAILED + first), *other_parts]
    transcript.add_result(block.read("tool_use_id", check_name), content_parts, block.path)


def _read_blocks(holder: CheckedObject, name: str) -> list[CheckedObject]:
    content = holder.get(name)
    if isinstance(content, str):
        return [CheckedObject({"type": "text", "text": content})]
    if not isinstance(content, list):
        raise wrong_type(holder.path_to(name), "a text or a list of blocks")
    return [*holder.list_objects(name)]


def _read_parts(holder: CheckedObject, name: str) -> list[ContentPart]:
    content_parts: list[ContentPart] = []
    for block in _read_blocks(holder, name):
        content_parts += _read_block(block)
    return content_parts


def _read_block(block: CheckedObject) -> list[ContentPart]:
    kind = block.get("type")
    if kind == "text":
        return [text_part(block.read("text", check_text))]
    if kind == "image":
        return [_read_picture(block.read_object("source"), block.path)]
    if kind == "document":
        return _read_document(block)
    if kind == "search_result":
        # A find of the client's own search.
        title, source = block.read("title", check_text), block.read("source", check_text)
        return [text_part(f"{title}\n{source}"), *_read_parts(block, "content")]
    if kind == "compaction":
        return [text_part(block.read("content", check_text) if block.get("content") else "")]
    if kind == "tool_reference":  # a search for tools found it; all of them are offered
        return [text_part(f"found: {block.read('tool_name', check_name)}")]
    raise ApiError(400, f"{block.path} is a block of the type {kind!r}, which cannot stand here.")


def _read_picture(source: CheckedObject, block_path: str) -> ContentPart:
    if source.get("type") == "base64":
        return image_part(_data_url(source))
    if source.get("type") == "url":
        return image_part(source.read("url", check_text))
    raise ApiError(400, f"{block_path}.source is base64 or url; files are not kept here.")


def _read_document(block: CheckedObject) -> list[ContentPart]:
    """Read a document; its title and what is said about it go before it."""
    source = block.read_object("source")
    kind = source.get("type")
    told_before = ("context",) if kind == "base64" else ("title", "context")  # its title is a name
    head = [text_part(block.read(key, check_text)) for key in told_before if block.get(key)]
    if kind == "text":
        return [*head, text_part(source.read("data", check_text))]
    if kind == "content":
        return [*head, *_read_parts(source, "content")]
    if kind == "base64":
        return [*head, file_part(_data_url(source), str(block.get("title") or "document.pdf"))]
    raise ApiError(400, f"{source.path} is text, content or base64; others are not fetched here.")


def _data_url(source: CheckedObject) -> str:
    kind, data = source.read("media_type", check_text), source.read("data", check_text)
    return f"data:{kind};base64,{data}"


def _read_choice(body: CheckedObject) -> dict[str, object]:
    if body.get("tool_choice") is None:
        return {}
    choice = body.read_object("tool_choice")
    choice_fields: dict[str, object] = {}
    if choice.get("disable_parallel_tool_use") is True:
        choice_fields["parallel_tool_calls"] = False
    kind = choice.get("type")
    if kind in ("auto", "any", "none"):
        return {**choice_fields, "tool_choice": "required" if kind == "any" else kind}
    if kind == "tool":
        chosen_tool = {"name": choice.read("name", check_name)}
        return {**choice_fields, "tool_choice": {"type": "function", "function": chosen_tool}}
    raise ApiError(400, "tool_choice.type is auto, any, tool or none.")


def _read_user(body: CheckedObject) -> dict[str, object]:
    if body.get("metadata") is None:
        return {}
    user = body.read_object("metadata").read_given("user_id", check_text)
    return {} if user is None else {"user": user}


def _read_format(body: CheckedObject) -> dict[str, object]:
    """An answer by a schema, as `output_config.format` wants it, or `output_format` of old."""
    holder, name = body, "output_format"
    if body.get("output_config") is not None:
        config = body.read_object("output_config")
        if config.get("format") is not None:
            holder, name = config, "format"
    if holder.get(name) is None:
        return {}
    schema = holder.read_object(name).read("schema", check_object)
    named_schema = {"name": "answer", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named_schema}}


Schema = Mapping[str, object]


def _text_schema(about: str) -> Schema:
    return {"type": "string", "description": about}


def _enum_schema(*commands: str) -> Schema:
    return {"type": "string", "enum": commands, "description": "what to do"}


RANGE: Schema = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "for view: first and last line; the last may be -1, the end",
}
LINE: Schema = {"type": "integer", "description": "for insert: after which line; 0 is the start"}
EDITING: Mapping[str, Schema] = {
    "path": _text_schema("of the file or folder"),
    "file_text": _text_schema("for create: what is in the file"),
    "old_str": _text_schema("for str_replace: the text there is, which must be there once"),
    "new_str": _text_schema("for str_replace: the text in its place"),
    "insert_line": LINE,
    "insert_text": _text_schema("for insert: the new lines"),
    "view_range": RANGE,
}
OLDER_EDITING = {
    **{name: schema for name, schema in EDITING.items() if name != "insert_text"},
    "new_str": _text_schema("for str_replace and insert: the new text"),
}
OLDER_EDITOR = function_schema(
    "Look at, create and change files.",
    "command path",
    command=_enum_schema("view", "create", "str_replace", "insert", "undo_edit"),
    **OLDER_EDITING,
)
"""Here the text to insert is `new_str`, and the last change can be undone."""
OLDER = ("text_editor_20241022", "text_editor_20250124")
KNOWN: Mapping[str, Schema] = {
    "bash": function_schema(
        "Run a command in a shell that stays open.",
        "",
        command=_text_schema("the command line"),
        restart={"type": "boolean", "description": "open the shell anew instead"},
    ),
    "text_editor": function_schema(
        "Look at, create and change files.",
        "command path",
        command=_enum_schema("view", "create", "str_replace", "insert"),
        **EDITING,
    ),
    "memory": function_schema(
        "Keep notes in files under /memories; look at them before anything else.",
        "command",
        command=_enum_schema("view", "create", "str_replace", "insert", "delete", "rename"),
        **EDITING,
        old_path=_text_schema("for rename"),
        new_path=_text_schema("for rename"),
    ),
}
"""By the type without its date."""


def read_messages_tools(body: CheckedObject) -> list[Mapping[str, object]]:
    """`tools`, as the chat API has them.

    Raises ApiError if only such are there as cannot be run from here: then nothing of what is
    wanted could be done.
    """
    if body.get("tools") is None:
        return []
    functions: dict[str, Mapping[str, object]] = {}
    for tool in body.list_objects("tools"):
        name, type = tool.read("name", check_name), tool.get("type")
        if name in functions:
            raise ApiError(400, "tools: Tool names must be unique.")
        described = _find_known_tool(type) if isinstance(type, str) else {}
        if type in (None, "custom"):
            described = _describe_tool(tool)
        if described:
            functions[name] = {"type": "function", "function": {"name": name, **described}}
    if body.get("tools") and not functions:
        raise ApiError(
            400, "tools holds none that the client runs; others cannot be run from here."
        )
    return list(functions.values())


def _find_known_tool(type: str) -> Mapping[str, object]:
    """Nothing for a type that Anthropic's servers run."""
    return OLDER_EDITOR if type in OLDER else KNOWN.get(type.rpartition("_")[0], {})


def _describe_tool(tool: CheckedObject) -> dict[str, object]:
    parameters, described = tool.read("input_schema", check_object), {}
    if tool.get("description") is not None:
        described["description"] = tool.read("description", check_text)
    return {**described, "parameters": parameters}


REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
KINDS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Status -> type of an error; what is not here is the client's below 500, the server's above."""
TOO_LONG = "prompt is too long"
"""The beginning of Anthropic's own message, which has no code: its clients look for these words."""


class MessagesWriter:
    def __init__(self, chat_request: ChatRequest, model: str) -> None:
        thinking = as_record(chat_request.body.get("thinking"))
        self._thinks = thinking.get("type") in ("enabled", "adaptive")
        self._blocks: list[dict[str, object]] = []
        self._texts: list[str] = []
        self._open = ""
        self._message: dict[str, object] = {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self._begun = False
        self._calling = ""
        """The arguments that went on of a call that is being written."""

    def streams_call(self, name: str) -> bool:
        """Arguments of every tool go on in pieces."""
        return True

    def write_event(self, answer_part: AnswerPart) -> bytes:
        first = b""
        if not self._begun:
            first = write_messages_event("message_start", message=self._message)
            first += write_messages_event("ping")
            self._begun = True
        if isinstance(answer_part, Finish):
            return first + self._close_block() + self._write_end(answer_part)
        if isinstance(answer_part, ToolCallDelta):
            return first + self._calling_piece(answer_part)
        if isinstance(answer_part, CompletedCall):
            return first + self._write_call(answer_part)
        if isinstance(answer_part, TextDelta):
            return first + self._add_text("text", answer_part.text)
        return first + (self._add_text("thinking", answer_part.text) if self._thinks else b"")

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes:
        for answer_part in answer_parts:
            self.write_event(answer_part)
        return dump_json({**self._message, "content": self._blocks})

    @staticmethod
    def write_failure(api_error: ApiError) -> bytes:
        return write_messages_event("error", error=write_messages_error(api_error)["error"])

    def _add_text(self, kind: str, text: str) -> bytes:
        """A piece of a block, which is opened where it is not."""
        first = b"" if self._open == kind else self._close_block() + self._open_block(kind)
        self._texts.append(text)
        return first + self._write_delta({"type": f"{kind}_delta", kind: text})

    def _open_block(self, kind: str) -> bytes:
        further_fields = {"signature": ""} if kind == "thinking" else {}
        self._blocks.append({"type": kind, kind: "", **further_fields})
        self._open = kind
        return self._write_start(self._blocks[-1])

    def _close_block(self) -> bytes:
        if not self._open:
            return b""
        self._blocks[-1][self._open] = "".join(self._texts)
        self._texts, self._open = [], ""
        return write_messages_event("content_block_stop", index=self._block_index)

    def _calling_piece(self, answer_part: ToolCallDelta) -> bytes:
        _, id, name, text = answer_part
        first = b""
        if not self._calling:
            first = self._close_block()
            self._blocks.append({"type": "tool_use", "id": id, "name": name, "input": {}})
            first += self._write_start(self._blocks[-1])
        self._calling += text
        return first + self._write_delta({"type": "input_json_delta", "partial_json": text})

    def _write_call(self, answer_part: CompletedCall) -> bytes:
        remaining_text = answer_part.arguments[len(self._calling) :]
        data = self._calling_piece(ToolCallDelta(*answer_part[:3], remaining_text))
        self._calling = ""
        self._blocks[-1] = {**self._blocks[-1], "input": read_arguments(answer_part.arguments)}
        return data + write_messages_event("content_block_stop", index=self._block_index)

    @property
    def _block_index(self) -> int:
        return len(self._blocks) - 1

    def _write_start(self, block: Mapping[str, object]) -> bytes:
        return write_messages_event(
            "content_block_start", index=self._block_index, content_block=block
        )

    def _write_delta(self, delta: Mapping[str, object]) -> bytes:
        return write_messages_event("content_block_delta", index=self._block_index, delta=delta)

    def _write_end(self, finish: Finish) -> bytes:
        reason = REASONS.get(finish.reason, "stop_sequence" if finish.stopped_at else "end_turn")
        ended = {"stop_reason": reason, "stop_sequence": finish.stopped_at or None}
        cached = finish.cached_tokens  # which this API counts apart
        usage = {
            "input_tokens": max(0, finish.input_tokens - cached),
            "output_tokens": finish.output_tokens,
        }
        if cached:
            usage["cache_read_input_tokens"] = cached
        self._message = {**self._message, **ended, "usage": usage}
        change = write_messages_event("message_delta", delta=ended, usage=usage)
        return change + write_messages_event("message_stop")


def write_messages_error(api_error: ApiError) -> dict[str, object]:
    usual_kind = "invalid_request_error" if api_error.status < 500 else "api_error"
    kind = KINDS.get(api_error.status, usual_kind)
    message = api_error.message
    if api_error.code == "context_length_exceeded" and TOO_LONG not in message:
        message = f"{TOO_LONG}: {message}"
    error_record: dict[str, object] = {"type": kind, "message": message}
    if api_error.details:
        error_record["details"] = api_error.details
    return {"type": "error", "error": error_record}


def write_messages_event(type: str, **event_fields: object) -> bytes:
    return f"event: {type}\ndata: ".encode() + dump_json({"type": type, **event_fields}) + b"\n\n"
