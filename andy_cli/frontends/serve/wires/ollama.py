"""Ollama's own API: its requests for answers as values, and answers on its wire.

    POST /api/chat      {"model", "messages", "tools", "format", "options", "stream", "think"}
    POST /api/generate  {"model", "prompt", "system", "images", "format", "options", "stream"}

What is put together here is a request of the chat API, which `chat_request` reads. Options that
only Ollama knows (num_ctx, mirostat, ...) are accepted, and mean nothing to the model's server.
Calls have no ids: a result names its call by `tool_call_id` where a client and its server have one,
else by the tool (`tool_name`, or `name`), else by its place: the first call without a result.

Each line of a streamed answer is a JSON object. Times are nanoseconds. Of a streamed answer the
time to its first piece is that of the prompt; of a whole one they are not known apart, and Ollama
too leaves out what it did not measure.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter_ns

from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
    find_finish,
    join_texts,
    list_calls,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, read_translated_request
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
    map_fields,
    wrong_type,
)
from andy_cli.frontends.serve.wires.transcript import ContentPart, Transcript, image_part, text_part

ROLES = ("system", "user", "assistant", "tool")
IMAGE_KINDS = {"iVBOR": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp", "Qk": "bmp"}
"""The beginning of a picture's base64 -> its kind."""


def read_messages(body: CheckedObject) -> list[Mapping[str, object]]:
    transcript = Transcript()
    for message in body.list_objects("messages"):
        _add_message(transcript, message)
    return transcript.list_messages()


def _add_message(transcript: Transcript, message: CheckedObject) -> None:
    role = message.get("role")
    if role not in ROLES:
        raise ApiError(400, f"{message.path}.role is one of {', '.join(ROLES)}.")
    content_parts: list[ContentPart] = []
    if message.get("content"):
        content_parts.append(text_part(message.read("content", check_text)))
    content_parts += read_images(message)
    if role == "tool":
        transcript.add_result(_find_call(transcript, message), content_parts, message.path)
        return
    calls = message.get("tool_calls") if role == "assistant" else None
    if content_parts or not calls:
        transcript.add_message(str(role), content_parts)
    if calls is not None:
        for call in message.list_objects("tool_calls"):
            _add_call(transcript, call)


def _add_call(transcript: Transcript, call: CheckedObject) -> None:
    function = call.read_object("function")
    name = function.read("name", check_name)
    if not isinstance(function.get("arguments"), str):
        function.read_given("arguments", check_object)
    id = call.get("id")
    if not isinstance(id, str) or not id or id in transcript.waiting:
        id = f"call_{transcript.call_count + 1}"
    transcript.add_call(id, name, function.get("arguments") or {})


def _find_call(transcript: Transcript, message: CheckedObject) -> str:
    """The id of the call a result belongs to."""
    id, waiting = message.get("tool_call_id"), transcript.waiting
    if isinstance(id, str) and id in waiting:
        return id
    # Also for an unknown id: some clients make up ids that they send with results alone.
    tool = message.get("tool_name") or message.get("name")
    for call_id, name in waiting.items():
        if name == tool:
            return call_id
    if not waiting:
        raise ApiError(
            400, f"{message.path} is a tool's result, and no call before it waits for one."
        )
    return next(iter(waiting))


def read_images(holder: CheckedObject) -> list[ContentPart]:
    """Read a list of pictures in base64, if there is one."""
    images = holder.read_given("images", check_texts) or ()
    return [image_part(image_url(data)) for data in images]


def image_url(data: str) -> str:
    """A data URL for the base64 of a picture; its kind is told by its first bytes."""
    if data.startswith("data:"):
        return data
    kinds = (kind for start, kind in IMAGE_KINDS.items() if data.startswith(start))
    return f"data:image/{next(kinds, 'jpeg')};base64,{data}"


EFFORTS = ("low", "medium", "high")
NO_TIME = re.compile(r"-?0+(\.0*)?[a-z]*")


def read_ollama_chat(value: object) -> ChatRequest:
    """Read a request to /api/chat. Raises ApiError (400) that names the field."""
    body = check_body(value)
    request: dict[str, object] = {"messages": read_messages(body)}
    if body.get("tools"):
        request["tools"] = body.read("tools", check_list)
    return read_request(body, request)


def read_ollama_generate(value: object) -> ChatRequest:
    """Read a request to /api/generate. Raises ApiError (400) that names the field."""
    body = check_body(value)
    if body.get("suffix"):
        raise ApiError(
            400, "Nothing is filled in between prompt and suffix here: the model reads chats alone."
        )
    messages: list[Mapping[str, object]] = []
    if body.get("system"):
        messages.append({"role": "system", "content": body.read("system", check_text)})
    prompt = text_part(body.read("prompt", check_text))
    messages.append({"role": "user", "content": [prompt, *read_images(body)]})
    return read_request(body, {"messages": messages})


def read_request(body: CheckedObject, request: Mapping[str, object]) -> ChatRequest:
    """Read what both kinds of requests have; `request` has the messages."""
    chat_fields = {
        **request,
        **read_options(body.get("options")),
        **read_format(body.get("format")),
        **read_effort(body.get("think")),
        "model": strip_latest_tag(read_model(body)),
        "stream": body.read_given("stream", check_flag) is not False,
    }
    if body.get("keep_alive") is not None:
        chat_fields["keep_alive"] = body.get("keep_alive")
    return read_translated_request(chat_fields, body.values)


def read_model(body: CheckedObject) -> str:
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


# A request without words asks for the model to be loaded, or with keep_alive 0 to be unloaded.


def answer_chat_load(value: object) -> tuple[str, bytes] | None:
    """The model that is asked for and the answer; None for a request with messages."""
    return answer_load(value, "messages", {"message": {"role": "assistant", "content": ""}})


def answer_generate_load(value: object) -> tuple[str, bytes] | None:
    """The model that is asked for and the answer; None for a request with a prompt."""
    return answer_load(value, "prompt", {"response": ""})


def answer_load(value: object, field: str, empty: Mapping[str, object]) -> tuple[str, bytes] | None:
    body = check_body(value)
    if body.get(field):
        return None
    keep_alive = body.get("keep_alive")
    name = read_model(body)
    unloads = keep_alive is not None and NO_TIME.fullmatch(str(keep_alive)) is not None
    reason = "unload" if unloads else "load"
    head = {"model": name, "created_at": format_time(datetime.now(UTC))}
    return name, dump_json({**head, **empty, "done": True, "done_reason": reason})


def format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def strip_latest_tag(name: str) -> str:
    """The name without the tag that Ollama's clients add where none was given."""
    return name.removesuffix(":latest") or name


LINES = "application/x-ndjson"


class OllamaChatWriter:
    """Writes one answer of /api/chat."""

    def __init__(self, chat_request: ChatRequest, model: str) -> None:
        self._model = chat_request.body.get("model") or model
        self._thinks = chat_request.body.get("think") is not False
        self._began = perf_counter_ns()
        self._first = 0

    def streams_call(self, name: str) -> bool:
        """Arguments are objects here, and come whole."""
        return False

    def write_event(self, answer_part: AnswerPart) -> bytes:
        if answer_part != TextDelta(""):  # which only keeps the stream alive
            self._first = self._first or perf_counter_ns()
        if isinstance(answer_part, Finish):
            spent = self._first - self._began
            return dump_line({**self._render_pieces([]), **self._render_end(answer_part, spent)})
        if isinstance(answer_part, ReasoningDelta) and not self._thinks:
            return b""
        return dump_line({**self._render_pieces([answer_part]), "done": False})

    def write_answer(self, answer_parts: Sequence[AnswerPart]) -> bytes:
        finish = find_finish(answer_parts)
        return dump_json({**self._render_pieces(answer_parts), **self._render_end(finish)})

    @staticmethod
    def write_failure(api_error: ApiError) -> bytes:
        return dump_line(render_error(api_error))

    def _render_pieces(self, answer_parts: Sequence[AnswerPart]) -> dict[str, object]:
        """The head of an answer, and what the pieces say."""
        head = {"model": self._model, "created_at": format_time(datetime.now(UTC))}
        text = join_texts(answer_parts, TextDelta)
        thinking = join_texts(answer_parts, ReasoningDelta) if self._thinks else ""
        calls = [render_call(call) for call in list_calls(answer_parts)]
        return {**head, **self._render_content(text, thinking, calls)}

    def _render_content(
        self, text: str, thinking: str, calls: Sequence[Mapping[str, object]]
    ) -> dict[str, object]:
        message: dict[str, object] = {"role": "assistant", "content": text}
        if thinking:
            message["thinking"] = thinking
        if calls:
            message["tool_calls"] = calls
        return {"message": message}

    def _render_end(self, finish: Finish, prompt_time: int = 0) -> dict[str, object]:
        """Render the last line; `prompt_time`: nanoseconds, 0 if not known."""
        total = perf_counter_ns() - self._began
        prompt = {"prompt_eval_duration": prompt_time} if prompt_time else {}
        return {
            "done": True,
            "done_reason": "length" if finish.reason == "length" else "stop",
            "total_duration": total,
            "load_duration": 0,
            "prompt_eval_count": finish.input_tokens,
            **prompt,
            "eval_count": finish.output_tokens,
            "eval_duration": total - prompt_time,
        }


class OllamaGenerateWriter(OllamaChatWriter):
    """Writes one answer of /api/generate, which makes no calls."""

    def _render_content(
        self, text: str, thinking: str, calls: Sequence[Mapping[str, object]]
    ) -> dict[str, object]:
        return {"response": text, "thinking": thinking} if thinking else {"response": text}


def render_call(call: CompletedCall) -> dict[str, object]:
    """A call; its id is there for clients that know ids."""
    arguments: object = json.loads(call.arguments)
    function = {"index": call.position, "name": call.name, "arguments": arguments}
    return {"id": call.id, "function": function}


def render_error(api_error: ApiError) -> dict[str, object]:
    return {"error": api_error.message}


def dump_line(value: object) -> bytes:
    return dump_json(value) + b"\n"
