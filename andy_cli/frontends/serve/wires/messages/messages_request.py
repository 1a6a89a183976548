"""Anthropic's Messages API: its requests as values, and answers on its wire.

    {"model", "max_tokens", "system", "messages": [{"role", "content": text or blocks}], "tools"}

What is put together here is a request of the chat API, which `asked` reads. Blocks of thinking in
the history are left out: they mean something to the servers that made them alone.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve.wires import field_checks
from andy_cli.frontends.serve.wires.answer_parts import Refused
from andy_cli.frontends.serve.wires.chat_request import Asked, Choice, asked
from andy_cli.frontends.serve.wires.chat_writer import dumped
from andy_cli.frontends.serve.wires.messages.messages_tools import offered
from andy_cli.frontends.serve.wires.transcript import Part, Transcript, attached, pictured, said
from andy_cli.models.token_count import MESSAGE, tokens

FIELDS = {
    "model": ("model", field_checks.name),
    "max_tokens": ("max_tokens", field_checks.limit),
    "stop_sequences": ("stop", field_checks.texts),
    "temperature": ("temperature", field_checks.number),
    "top_p": ("top_p", field_checks.number),
    "top_k": ("top_k", field_checks.number),
    "stream": ("stream", field_checks.switch),
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


def asked_messages(value: object) -> Asked:
    """Raises Refused (400) that names the field."""
    body = field_checks.request(value)
    if body.get("max_tokens") is None:
        raise Refused(400, "max_tokens is missing.")
    return understood(body)


def check_fields(body: Mapping[str, Any]) -> None:
    """Raises Refused for fields that Anthropic's API refuses.

    A client that keeps its conversation on the server sends only what is new of it; told in the
    API's own way that this is not possible here, the SDK sends the whole of it.
    """
    if body.get("thread") is not None:
        refused = Refused(400, "thread: nothing is kept here; send the whole conversation without.")
        refused.details = {"error_code": "thread_unsupported_request"}
        raise refused
    for name in body:
        if name not in KNOWN_FIELDS:
            raise Refused(400, f"{name}: Extra inputs are not permitted")


def understood(body: Mapping[str, Any]) -> Asked:
    check_fields(body)
    tools = offered(body.get("tools"))
    request = field_checks.taken(body, FIELDS)
    request |= {"messages": _messages(body), **_choice(body.get("tool_choice"))}
    request |= {"tools": tools} if tools else {}
    request |= _user(body.get("metadata")) | _format(body)
    made = asked(request)
    if made.choice.how == "required" and not made.tools:
        raise Refused(400, "tool_choice wants a tool, and there are no tools.")
    # Without tools whatever the model writes is text.
    choice = made.choice if made.tools else Choice("none")
    return made._replace(choice=choice, body=body)


def counted(value: object) -> bytes:
    """The answer to /v1/messages/count_tokens: an estimate, of the text alone."""
    made = understood(field_checks.request(value))
    found = sum(MESSAGE + tokens(each.content) for each in made.history)
    calls = [call for each in made.history for call in each.calls]
    found += sum(tokens(call.name) + tokens(str(dict(call.arguments))) for call in calls)
    found += sum(tokens(dumped(tool).decode()) for tool in made.tools.values())
    return dumped({"input_tokens": found})


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("system"):
        transcript.say("system", _parts(body["system"], "system"))
    messages = field_checks.sequence(body.get("messages"), "messages")
    if not messages:
        raise Refused(400, "messages is empty.")
    for at, each in enumerate(messages):
        where = f"messages[{at}]"
        role = field_checks.mapping(each, where).get("role")
        if role not in ROLES:
            raise Refused(400, f"{where}.role is user, assistant or system.")
        _message(transcript, str(role), each.get("content"), f"{where}.content")
    return transcript.messages()


def _message(transcript: Transcript, role: str, content: object, where: str) -> None:
    """Results come first, as the chat API wants them behind their calls."""
    parts: list[Part] = []
    calls: list[Mapping[str, Any]] = []
    for at, each in enumerate(_blocks(content, where)):
        place = f"{where}[{at}]"
        kind = each.get("type")
        if kind == "tool_use" and role == "assistant":
            calls.append(each)
            field_checks.name(each.get("id"), f"{place}.id")
            field_checks.name(each.get("name"), f"{place}.name")
            field_checks.mapping(each.get("input"), f"{place}.input")
        elif kind == "tool_result" and role == "user":
            _result(transcript, each, place)
        elif kind not in THOUGHTS or role != "assistant":
            parts += _part(each, place)
    if parts or not (calls or content):
        transcript.say(role, parts)
    for call in calls:
        transcript.call(call["id"], call["name"], call["input"])


def _result(transcript: Transcript, block: Mapping[str, Any], where: str) -> None:
    content = block.get("content")
    parts = [] if content is None else _parts(content, f"{where}.content")
    if block.get("is_error") is True:
        first = str(parts[0].get("text", "")) if parts else ""
        parts = [said(FAILED + first), *parts[1:]] if first or not parts else [said(FAILED), *parts]
    id = field_checks.name(block.get("tool_use_id"), f"{where}.tool_use_id")
    transcript.result(id, parts, where)


def _blocks(content: object, where: str) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise field_checks.wrong(where, "a text or a list of blocks")
    return [field_checks.mapping(each, f"{where}[{at}]") for at, each in enumerate(content)]


def _parts(content: object, where: str) -> list[Part]:
    blocks = enumerate(_blocks(content, where))
    return [part for at, each in blocks for part in _part(each, f"{where}[{at}]")]


def _part(block: Mapping[str, Any], where: str) -> list[Part]:
    kind = block.get("type")
    if kind == "text":
        return [said(field_checks.text(block.get("text"), f"{where}.text"))]
    if kind == "image":
        return [_picture(field_checks.mapping(block.get("source"), f"{where}.source"), where)]
    if kind == "document":
        return _document(block, where)
    raise Refused(400, f"{where} is a block of the type {kind!r}, which cannot stand here.")


def _picture(source: Mapping[str, Any], where: str) -> Part:
    if source.get("type") == "base64":
        return pictured(_data_url(source, where))
    if source.get("type") == "url":
        return pictured(field_checks.text(source.get("url"), f"{where}.source.url"))
    raise Refused(400, f"{where}.source is base64 or url; files are not kept here.")


def _document(block: Mapping[str, Any], where: str) -> list[Part]:
    source = field_checks.mapping(block.get("source"), f"{where}.source")
    kind = source.get("type")
    title = block.get("title")
    if kind == "text":
        return [said(field_checks.text(source.get("data"), f"{where}.source.data"))]
    if kind == "content":
        return _parts(source.get("content"), f"{where}.source.content")
    if kind == "base64":
        filename = title if isinstance(title, str) and title else "document.pdf"
        return [attached(_data_url(source, where), filename)]
    raise Refused(400, f"{where}.source is text, content or base64; others are not fetched here.")


def _data_url(source: Mapping[str, Any], where: str) -> str:
    kind = field_checks.text(source.get("media_type"), f"{where}.source.media_type")
    return f"data:{kind};base64,{field_checks.text(source.get('data'), f'{where}.source.data')}"


def _choice(value: object) -> dict[str, object]:
    if value is None:
        return {}
    choice = field_checks.mapping(value, "tool_choice")
    found: dict[str, object] = {}
    if choice.get("disable_parallel_tool_use") is True:
        found["parallel_tool_calls"] = False
    kind = choice.get("type")
    if kind in ("auto", "any", "none"):
        return {**found, "tool_choice": "required" if kind == "any" else kind}
    if kind == "tool":
        named = {"name": field_checks.name(choice.get("name"), "tool_choice.name")}
        return {**found, "tool_choice": {"type": "function", "function": named}}
    raise Refused(400, "tool_choice.type is auto, any, tool or none.")


def _user(metadata: object) -> dict[str, object]:
    if metadata is None:
        return {}
    user = field_checks.mapping(metadata, "metadata").get("user_id")
    return {} if user is None else {"user": field_checks.text(user, "metadata.user_id")}


def _format(body: Mapping[str, Any]) -> dict[str, object]:
    """An answer by a schema, as `output_config.format` wants it."""
    config = body.get("output_config")
    wanted = None if config is None else field_checks.mapping(config, "output_config").get("format")
    if wanted is None:
        return {}
    schema = field_checks.mapping(wanted, "output_config.format").get("schema")
    checked = field_checks.mapping(schema, "output_config.format.schema")
    named = {"name": "answer", "schema": checked, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def thinks(asked: Asked) -> bool:
    """Whether the client wants to see the model's thoughts."""
    thinking = asked.body.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")
