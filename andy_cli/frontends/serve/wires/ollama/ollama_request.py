"""Ollama's own API: its requests for answers as values.

    POST /api/chat      {"model", "messages", "tools", "format", "options", "stream", "think"}
    POST /api/generate  {"model", "prompt", "system", "images", "format", "options", "stream"}

What is put together here is a request of the chat API, which `chat_request` reads. Options that
only Ollama knows (num_ctx, mirostat, ...) are accepted, and mean nothing to the model's server.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, read_translated_request
from andy_cli.frontends.serve.wires.chat_writer import dump_json
from andy_cli.frontends.serve.wires.field_checks import (
    check_body,
    check_flag,
    check_list,
    check_name,
    check_number,
    check_object,
    check_text,
    check_texts,
    map_fields,
    wrong_type,
)
from andy_cli.frontends.serve.wires.ollama.ollama_messages import read_images, read_messages
from andy_cli.frontends.serve.wires.transcript import text_part

EFFORTS = ("low", "medium", "high")
NO_TIME = re.compile(r"-?0+(\.0*)?[a-z]*")
"""A duration of nothing: "0", "0s", "0m"."""


def read_ollama_chat(value: object) -> ChatRequest:
    """Read a request to /api/chat. Raises ApiError (400) that names the field."""
    body = check_body(value)
    tools = body.get("tools")
    request: dict[str, object] = {"messages": read_messages(body.get("messages"))}
    if tools:
        request["tools"] = check_list(tools, "tools")
    return read_request(body, request)


def read_ollama_generate(value: object) -> ChatRequest:
    """Read a request to /api/generate. Raises ApiError (400) that names the field."""
    body = check_body(value)
    if body.get("suffix"):
        raise ApiError(
            400, "Nothing is filled in between prompt and suffix here: the model reads chats alone."
        )
    messages: list[Mapping[str, object]] = []
    if system := body.get("system"):
        messages.append({"role": "system", "content": check_text(system, "system")})
    prompt = text_part(check_text(body.get("prompt"), "prompt"))
    images = read_images(body.get("images"), "images")
    messages.append({"role": "user", "content": [prompt, *images]})
    return read_request(body, {"messages": messages})


def read_request(body: Mapping[str, Any], request: Mapping[str, object]) -> ChatRequest:
    """Read what both kinds of requests have; `request` has the messages."""
    stream = body.get("stream")
    keep_alive = body.get("keep_alive")
    chat_fields = {
        **request,
        **read_options(body.get("options")),
        **read_format(body.get("format")),
        **read_effort(body.get("think")),
        **({} if keep_alive is None else {"keep_alive": keep_alive}),
        "model": strip_latest_tag(read_model(body)),
        "stream": True if stream is None else check_flag(stream, "stream"),
    }
    return read_translated_request(chat_fields, body)


def read_model(body: Mapping[str, Any]) -> str:
    """The model's name; old clients call the field `name`."""
    name = body.get("model") or body.get("name")
    if not name:
        raise ApiError(400, "model is required")
    return check_name(name, "model")


def read_options(value: object) -> dict[str, object]:
    """The options that the chat API has too, by its names."""
    if value is None:
        return {}
    known_options = map_fields(check_object(value, "options"), OPTION_READERS)
    return {name: option for name, option in known_options.items() if option is not None}


def read_format(value: object) -> dict[str, object]:
    if value is None or value == "":
        return {}
    if value == "json":
        return {"response_format": {"type": "json_object"}}
    if not isinstance(value, dict):
        raise ApiError(400, 'format is "json" or a schema.')
    named_schema = {"name": "answer", "schema": value}
    return {"response_format": {"type": "json_schema", "json_schema": named_schema}}


def read_effort(think: object) -> dict[str, object]:
    """Read how much it is to think; whether at all is said to an Ollama alone."""
    if think is None:
        return {}
    if isinstance(think, bool):
        return {"think": think}
    if think not in EFFORTS:
        raise ApiError(400, f"think is true, false, {', '.join(EFFORTS)}.")
    return {"reasoning_effort": think}


def read_whole_number(value: object, field_path: str) -> int:
    number = check_number(value, field_path)
    if number != int(number):
        raise wrong_type(field_path, "a whole number")
    return int(number)


def read_limit(value: object, field_path: str) -> int:
    """Read how many tokens at most; -1 for as many as there is room for, as all below 1 means."""
    limit = read_whole_number(value, field_path)
    return limit if limit > 0 else -1


def read_stop(value: object, field_path: str) -> list[str] | None:
    stop_texts = [value] if isinstance(value, str) else check_texts(value, field_path)
    return stop_texts or None


OPTION_READERS: Mapping[str, tuple[str, Callable[[object, str], object]]] = {
    "temperature": ("temperature", check_number),
    "top_p": ("top_p", check_number),
    "top_k": ("top_k", read_whole_number),
    "seed": ("seed", read_whole_number),
    "num_predict": ("max_tokens", read_limit),
    "num_ctx": ("num_ctx", read_whole_number),
    "stop": ("stop", read_stop),
    "presence_penalty": ("presence_penalty", check_number),
    "frequency_penalty": ("frequency_penalty", check_number),
}
"""Option -> the field of the chat API that means the same; `num_ctx` is for an Ollama behind."""


def is_thinking_shown(body: Mapping[str, object]) -> bool:
    """Tell whether the client wants to see the model's thoughts."""
    return body.get("think") is not False


# A request without words asks for the model to be loaded, or with keep_alive 0 to be unloaded.


def answer_chat_load(value: object) -> tuple[str, bytes] | None:
    """The model that is asked for and the answer; None for a request with messages."""
    body = check_body(value)
    if body.get("messages"):
        return None
    message = {"role": "assistant", "content": ""}
    return answer_load(body, {"message": message})


def answer_generate_load(value: object) -> tuple[str, bytes] | None:
    """The model that is asked for and the answer; None for a request with a prompt."""
    body = check_body(value)
    return None if body.get("prompt") else answer_load(body, {"response": ""})


def answer_load(body: Mapping[str, Any], empty: Mapping[str, object]) -> tuple[str, bytes]:
    keep_alive = body.get("keep_alive")
    name = read_model(body)
    unloads = keep_alive is not None and NO_TIME.fullmatch(str(keep_alive)) is not None
    reason = "unload" if unloads else "load"
    head = {"model": name, "created_at": format_time(datetime.now(UTC))}
    return name, dump_json({**head, **empty, "done": True, "done_reason": reason})


def format_time(moment: datetime) -> str:
    """As RFC 3339 has it, in UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def strip_latest_tag(name: str) -> str:
    """The name without the tag that Ollama's clients add where none was given."""
    return name.removesuffix(":latest") or name
