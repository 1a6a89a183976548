r"""Ollama's own chat API: its requests made from those of the other API, its lines read as chunks.

    POST /api/chat   {"model": "m", "messages": [...], "options": {"num_ctx": 16384}, ...}

    {"message": {"role": "assistant", "content": "Hel"}, "done": false}
    {"message": {"content": "lo"}, "done": true, "done_reason": "stop", "eval_count": 2, ...}

Its chat completions API knows no `num_ctx`, and cuts what is longer than the default without a
word: https://docs.ollama.com/openai. Fields as in https://docs.ollama.com/api/chat. Pure.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence

from andy_cli.errors import BadRequestError, ModelError
from andy_cli.foreign_values import as_record, as_records, read_json
from andy_cli.messages import Chunk, Wire
from andy_cli.models.http.refusals import ServerRefusal, as_error, read_refusal
from andy_cli.models.http.request import Body
from andy_cli.models.http.wire import ChoiceReader, WireReader, cut_off, not_a_reply

CHAT = "/api/chat"

SAME_OPTIONS = """temperature top_p top_k min_p seed stop presence_penalty frequency_penalty
repeat_penalty""".split()
OPTION_NAMES = {
    **{name: name for name in SAME_OPTIONS},
    "max_tokens": "num_predict",
    "max_completion_tokens": "num_predict",
}
"""Field of the chat completions API -> Ollama's option that means the same."""

OLLAMA_FIELDS = frozenset({"think", "keep_alive"})
"""Fields of its own that are sent as they are."""


def chat_address(base_url: str) -> str:
    """Return where the own API of an Ollama is, from the base URL of its chat completions API."""
    return base_url.rstrip("/").removesuffix("/v1") + CHAT


def _write_options(body: Body) -> Body:
    options = {
        OPTION_NAMES[name]: body[name] for name in OPTION_NAMES if body.get(name) is not None
    }
    if isinstance(stop_text := options.get("stop"), str):
        options["stop"] = [stop_text]
    return options


def write_request(body: Body) -> Body:
    """The request as Ollama wants it, but for `num_ctx`.

    Raises BadRequestError for pictures that would have to be fetched, and for other kinds.
    """
    messages = body.get("messages")
    request: Body = {
        "model": body.get("model"),
        "messages": _write_messages(messages if isinstance(messages, list | tuple) else ()),
        "stream": body.get("stream") is not False,
        "options": _write_options(body),
        # What does not fit is an error, and a reply ends where the context does: by default the
        # beginning is dropped. Versions that do not know these fields pass over them.
        "truncate": False,
        "shift": False,
    }
    if body.get("tools") and body.get("tool_choice") != "none":
        request["tools"] = body["tools"]
    if (answer_format := _write_format(body.get("response_format"))) is not None:
        request["format"] = answer_format
    if effort := body.get("reasoning_effort"):
        request["think"] = False if effort == "none" else effort
    request |= {name: body[name] for name in OLLAMA_FIELDS if name in body}
    return request


def set_context(written: Body, size: int) -> Body:
    """The request with the tokens that its model is to be loaded with."""
    return {**written, "options": {**as_record(written.get("options")), "num_ctx": size}}


def _write_format(value: object) -> object:
    """`json` or a schema; None for any text."""
    if not isinstance(value, Mapping) or value.get("type") not in ("json_object", "json_schema"):
        return None
    return as_record(value.get("json_schema")).get("schema") or "json"


def _write_messages(messages: Sequence[Wire]) -> list[Wire]:
    names: dict[object, object] = {}  # tool of each call so far: a result says whose it is
    written: list[Wire] = []
    for message in messages:
        calls = as_records(message.get("tool_calls"))
        names |= {call.get("id"): as_record(call.get("function")).get("name") for call in calls}
        written.append(_write_message(message, [_write_call(call) for call in calls], names))
    return written


def _write_message(
    message: Wire, calls: Sequence[Wire], names: Mapping[object, object]
) -> dict[str, object]:
    role = "system" if message.get("role") == "developer" else message.get("role")
    text, images = _write_content(message.get("content"))
    ollama_message: dict[str, object] = {"role": role, "content": text}
    if images:
        ollama_message["images"] = images
    if thoughts := message.get("reasoning_content"):
        ollama_message["thinking"] = thoughts
    if calls:
        ollama_message["tool_calls"] = calls
    if role == "tool":
        id = message.get("tool_call_id")
        ollama_message["tool_name"] = names.get(id) or message.get("name") or ""
        ollama_message["tool_call_id"] = id or ""
    return ollama_message


def _write_call(call: Wire) -> Wire:
    """With arguments that are an object, as the templates of models want them."""
    function = as_record(call.get("function"))
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError, RecursionError):  # else it is told as it was written
            arguments = json.loads(arguments or "{}")
    if not isinstance(arguments, Mapping):
        arguments = {} if arguments is None else {"arguments": arguments}
    ollama_function = {"name": function.get("name") or "", "arguments": arguments}
    return {"id": call.get("id") or "", "function": ollama_function}


def _write_content(content: object) -> tuple[str, list[str]]:
    """The text of a message, and its pictures in base64."""
    if isinstance(content, str):
        return content, []
    texts: list[str] = []
    pictures: list[object] = []
    foreign_kinds: set[str] = set()
    for content_part in as_records(content):
        kind, text = content_part.get("type"), content_part.get("text")
        if isinstance(text, str):
            texts.append(text)
        if kind == "image_url":
            pictures.append(content_part["image_url"])
        elif kind != "text":
            foreign_kinds.add(str(kind))
    if foreign_kinds:
        kinds = ", ".join(sorted(foreign_kinds))
        raise BadRequestError(f"Ollama reads texts and pictures, no {kinds}.")
    return "\n".join(texts), [_read_picture(picture) for picture in pictures]


def _read_picture(picture: object) -> str:
    url = picture.get("url") if isinstance(picture, Mapping) else picture
    head, comma, data = str(url).partition(",")
    if not (head.startswith("data:") and head.endswith(";base64") and comma):
        raise BadRequestError("Ollama fetches no pictures: send them as data: URLs in base64.")
    return data


def find_thinking(refusal: ServerRefusal) -> ServerRefusal:
    """The refusal with the fields that it is about, which are not called as it says."""
    if "support thinking" not in refusal.message:
        return refusal
    return refusal._replace(fields=(*refusal.fields, "think", "reasoning_effort"))


class OllamaReader:
    """Reads one reply, streamed or whole, as `WireReader` reads those of the other API."""

    def __init__(self) -> None:
        self.failure: ModelError | None = None
        self.done = False
        """The server said that nothing follows."""
        self._pieces: list[bytes] = []
        """Of a line that is not whole."""
        self._stray = ""
        self._read_any = False
        self._calls = 0
        self._choices = ChoiceReader()

    @property
    def damaged(self) -> bool:
        """Something of the reply could not be read."""
        return bool(self._stray)

    def feed(self, data: bytes) -> list[Chunk]:
        if self.failure or self.done:
            return []
        *lines, unfinished_line = data.split(b"\n")
        if lines:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces = []
        self._pieces.append(unfinished_line)
        for line in lines:
            self._read_line(line)
        return self._choices.take()

    def finish(self) -> list[Chunk]:
        """The connection has ended."""
        if not (self.failure or self.done):
            self._read_line(b"".join(self._pieces))
            if self._stray and not self._read_any:
                begun = self._stray.startswith("{")
                self.failure = cut_off() if begun else not_a_reply(self._stray)
        return self._choices.take(is_last=self._choices.any)

    def _read_line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").strip()
        if not text or self.failure or self.done:
            return
        event = read_json(text)
        if isinstance(event, dict) and event.get("error"):
            self.failure = as_error(
                500, read_refusal(event), "The model server", tells_status=False
            )
        elif isinstance(event, dict) and isinstance(event.get("message"), dict):
            self._take_event(event, event["message"], text)
        else:
            self._stray = self._stray or text[:200]

    def _take_event(self, event: Mapping[str, object], message: Wire, line: str) -> None:
        """One event, as the other API would have said it."""
        self._read_any = True
        calls = message.get("tool_calls")
        delta = {
            "content": message.get("content"),
            "reasoning": message.get("thinking"),
            "tool_calls": [self._number_call(call) for call in as_records(calls)],
        }
        ended = event.get("done") is True
        choice = {"delta": delta, "finish_reason": self._finish_reason(event) if ended else None}
        chat_event = {"choices": [choice], "usage": _read_usage(event)}
        self._choices.read(chat_event, escaped="\\u" in line, is_sure=not self._stray)
        if ended:
            self.done = True
            self._choices.finish_reply(is_sure=not self._stray)

    def _number_call(self, call: Wire) -> Wire:
        """A call is whole wherever it stands; not every version numbers them."""
        self._calls += 1
        return {**call, "index": self._calls - 1}

    def _finish_reason(self, event: Mapping[str, object]) -> str:
        if event.get("done_reason") == "length":
            return "length"
        return "tool_calls" if self._calls else "stop"


def _read_usage(event: Mapping[str, object]) -> Wire | None:
    counts = {"prompt_tokens": "prompt_eval_count", "completion_tokens": "eval_count"}
    usage = {
        name: event[ollama_name] for name, ollama_name in counts.items() if ollama_name in event
    }
    return usage or None


def reader_at(address: str) -> WireReader | OllamaReader:
    """Choose the reader of replies to requests that are sent to an address."""
    return OllamaReader() if address.endswith(CHAT) else WireReader()
