"""A request to a model server: its JSON body, what holds the reply to a form, and how it is sent.

The body is what servers of the OpenAI chat API want. Each kind of server is held to what a reply
may be by fields of its own:

    llama.cpp   grammar (GBNF), json_schema, response_format
                https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
    vLLM        structured_outputs, response_format
                https://docs.vllm.ai/en/latest/features/structured_outputs.html
    Ollama      response_format; on its own API that is `format` (ollama_wire.py)
    others      response_format: LM Studio, SGLang, hosted services, ...

Servers of an unknown kind pass over fields that they do not know, or refuse them: what one refused
is left out from then on (features.py), on the way out, and its next field is tried.

There are two ways to send a body and get its bytes back; both speak httpx2, and are loaded when
something is sent.
"""

import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from andy_cli.foreign_values import as_record, read_json
from andy_cli.messages import Chunk, Constraint, Request, Schema, Wire
from andy_cli.models.client import Endpoint, closing_stream
from andy_cli.models.http.wire import EXTRA
from andy_cli.settings import Settings

Body = dict[str, object]

WANTS_REASONING = frozenset({"deepseek"})
"""Providers that demand the reasoning of earlier replies back; others must ask for it."""


NO_EXTRAS: Mapping[str, object] = {}


def body_of(
    endpoint: Endpoint,
    request: Request,
    max_tokens: int = 0,
    reasoning: bool = False,
    extras: Mapping[str, object] = NO_EXTRAS,
) -> Body:
    """`max_tokens` holds where the request names none; 0 leaves it to the server.

    `reasoning`: the server has demanded the reasoning of earlier replies. `extras`: what it wants
    back beside calls, by their ids.
    """
    body: Body = {
        "model": endpoint.model,
        "messages": _fit_messages(
            request.messages, reasoning or endpoint.provider in WANTS_REASONING, extras
        ),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if request.stop:
        body["stop"] = list(request.stop)
    if limit := request.max_tokens or max_tokens:
        body["max_tokens"] = limit
    if request.sampling.temperature is not None:
        body["temperature"] = request.sampling.temperature
    return body


def _fit_messages(
    messages: Iterable[Wire], reasoning: bool, extras: Mapping[str, object]
) -> list[Wire]:
    """Fit messages to what their server wants back, `extras` and perhaps the reasoning."""
    kept = messages if reasoning else map(_without_reasoning, messages)
    return [_return_extras(message, extras) for message in kept]


def _return_extras(message: Wire, extras: Mapping[str, object]) -> Wire:
    calls = message.get("tool_calls")
    if not extras or not isinstance(calls, list | tuple):
        return message
    returned = [
        {**call, EXTRA: extras[call["id"]]} if call.get("id") in extras else call for call in calls
    ]
    return {**message, "tool_calls": returned}


def _without_reasoning(message: Wire) -> Wire:
    if "reasoning_content" not in message:
        return message
    return {name: value for name, value in message.items() if name != "reasoning_content"}


GRAMMAR, JSON_SCHEMA = "grammar", "json_schema"
STRUCTURED_OUTPUTS, RESPONSE_FORMAT = "structured_outputs", "response_format"
CONSTRAINT_FIELDS = frozenset({GRAMMAR, JSON_SCHEMA, STRUCTURED_OUTPUTS, RESPONSE_FORMAT})

BY_KIND: Mapping[str, tuple[str, ...]] = {
    "llamacpp": (GRAMMAR, JSON_SCHEMA, RESPONSE_FORMAT),
    "vllm": (STRUCTURED_OUTPUTS, RESPONSE_FORMAT),
}
"""The fields that a kind of server takes, the one that says most first."""
OTHERS = (RESPONSE_FORMAT,)

REPLY, ANSWER = "andy_reply", "andy_answer"
"""Names of our schemas: of an object, and of what stands in one since it is none by itself."""
KEY = "answer"

UNHELPFUL = "constraints"
"""Among what is known of a server: no field is sent, as the model does better without."""


def fields_of(kind: str, refused: Collection[str] = ()) -> tuple[str, ...]:
    """The fields that are sent to a kind of server which has refused these."""
    if UNHELPFUL in refused:
        return ()
    return tuple(field for field in BY_KIND.get(kind, OTHERS) if field not in refused)


def write_constraint(kind: str, constraint: Constraint, refused: Collection[str] = ()) -> Body:
    """The constraint as the first field that can say it; empty where none can.

    Free text beside the choices is left unconstrained: none of these servers can score.
    """
    if constraint.free_text:
        return {}
    for field in fields_of(kind, refused):
        if value := _write_field(field, constraint):
            return {field: value}
    return {}


def _write_field(field: str, constraint: Constraint) -> object:
    """The value of a field, or None where it cannot say this."""
    choices = [choice.text for choice in constraint.choices]
    schema: Schema | None = {"enum": choices} if choices else constraint.schema
    if field == GRAMMAR:
        return choice_grammar(choices) if choices else not schema and constraint.grammar
    if field == STRUCTURED_OUTPUTS:
        return _write_structured_outputs(choices, schema, constraint.grammar)
    if not schema:
        return None
    if field == RESPONSE_FORMAT:
        return {"type": "json_schema", "json_schema": _name_schema(schema)}
    return dict(schema)


def _write_structured_outputs(
    choices: Sequence[str], schema: Schema | None, grammar: str
) -> object:
    if choices:
        return {"choice": choices}
    if schema:
        return {"json": dict(schema)}
    return {"grammar": grammar} if grammar else None


def _name_schema(schema: Schema) -> Body:
    """A schema as `response_format` has it; many servers take none but those of objects."""
    if schema.get("type") == "object":
        return {"name": REPLY, "schema": dict(schema)}
    inside: Schema = {
        "type": "object",
        "properties": {KEY: dict(schema)},
        "required": [KEY],
        "additionalProperties": False,
    }
    return {"name": ANSWER, "schema": inside}


def choice_grammar(choices: Sequence[str]) -> str:
    """A GBNF grammar for exactly one of the texts."""
    return "root ::= " + " | ".join(f'"{_escape_literal(choice)}"' for choice in choices)


def _escape_literal(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def find_ours(body: Mapping[str, object]) -> list[str]:
    """The fields of a request that hold its reply to a constraint of ours, and not a client's."""
    return [
        field for field in sorted(CONSTRAINT_FIELDS & body.keys()) if _is_ours(field, body[field])
    ]


def _is_ours(field: str, value: object) -> bool:
    return field != RESPONSE_FORMAT or _schema_name(value) in (REPLY, ANSWER)


def _schema_name(response_format: object) -> str:
    named_schema = as_record(response_format).get("json_schema")
    return str(as_record(named_schema).get("name", ""))


def read_reply(
    chunks: AsyncGenerator[Chunk, None], written: Mapping[str, object]
) -> AsyncGenerator[Chunk, None]:
    """The reply to a request, out of the object that its answer may stand in."""
    is_wrapped = _schema_name(written.get(RESPONSE_FORMAT)) == ANSWER
    return unwrap_answers(chunks) if is_wrapped else chunks


async def unwrap_answers(chunks: AsyncIterator[Chunk]) -> AsyncGenerator[Chunk, None]:
    """A reply whose text is the answer alone: `{"answer": "on"}` is `on`. It comes whole."""
    text = ""
    async with closing_stream(chunks) as reply_chunks:
        async for chunk in reply_chunks:
            text += chunk.text
            if chunk.finish and text:
                yield Chunk(text=read_answer(text))
                text = ""
            if any(chunk_without_text := chunk._replace(text="")):
                yield chunk_without_text
    if text:
        yield Chunk(text=read_answer(text))


def read_answer(text: str) -> str:
    """The answer in our object; another text is that of a server that read no field."""
    answer_object = read_json(text)
    if not isinstance(answer_object, dict) or KEY not in answer_object:
        return text
    answer = answer_object[KEY]
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


AZURE = ".openai.azure.com"

LINGER = 0.05
"""Seconds for a server to close a reply that it has ended."""


class HttpAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Names in lower case, or found by them."""
    bytes: AsyncIterator[bytes]
    """Unpacked."""


class Transport(Protocol):
    """Both raise `ModelError`, a kind of it that says why, when there is no answer.

    `send` raises it from inside its block too, while the bytes are read.
    """

    def send(self, body: Body, address: str = "") -> AbstractAsyncContextManager[HttpAnswer]:
        """`address`: another than that of the chat completions API."""
        ...

    async def get(self, path: str) -> object:
        """The JSON at a path below the base URL; None whenever there is none."""
        ...

    async def close(self) -> None: ...


def choose_transport(endpoint: Endpoint, settings: Settings) -> Transport:
    """The way the settings ask for; Azure always goes through the openai package."""
    host = urlsplit(endpoint.base_url).hostname or ""
    if settings.text("client") == "openai" or host.endswith(AZURE):
        # 0.5 s, and few people choose this way.
        from andy_cli.models.http.through_openai import ThroughOpenAI

        return ThroughOpenAI(endpoint, settings)
    # 80 ms, and only whoever sends something needs it.
    from andy_cli.models.http.direct import DirectTransport

    return DirectTransport(endpoint, settings)


async def drain_answer(answer: HttpAnswer) -> None:
    """Let the server close a reply it has ended, so that its connection can be used again."""
    import asyncio  # both were imported long ago: they brought the answer

    import httpx2

    try:
        async with asyncio.timeout(LINGER):
            async for _ in answer.bytes:
                pass
    except (TimeoutError, httpx2.HTTPError):
        return
