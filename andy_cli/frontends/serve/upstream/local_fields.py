"""Translate the fields of a chat request for a model in this process. Pure.

A server reads them itself; here they become a `Request`, which `LocalClient` keeps to.
"""

from collections.abc import Mapping

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.messages import Constraint, Request, Sampling, Schema


def understand_fields(request: Request, fields: Mapping[str, object]) -> Request:
    """The request with what the fields of the chat API say of it. Raises ApiError (400)."""
    refuse_unscored(fields)
    token_limit = fields.get("max_completion_tokens") or fields.get("max_tokens")
    schema = read_response_format(fields.get("response_format"))
    constraint = request.constraint
    if schema is not None:
        constraint = (constraint or Constraint())._replace(schema=schema)
    return request._replace(
        constraint=constraint,
        stop=(*request.stop, *stop_sequences(fields)),
        max_tokens=read_limit(token_limit) or request.max_tokens,
        sampling=Sampling(
            temperature=read_number(fields.get("temperature")),
            top_p=read_number(fields.get("top_p")),
            seed=read_whole(fields.get("seed")),
            presence_penalty=read_number(fields.get("presence_penalty")),
            frequency_penalty=read_number(fields.get("frequency_penalty")),
        ),
        keep_whole=True,
    )


UNSCORED = ("logprobs", "top_logprobs", "logit_bias")
"""Fields for models whose scores of tokens are at hand."""


def refuse_unscored(fields: Mapping[str, object]) -> None:
    """Raise ApiError (400) for a field that could only be passed over."""
    for name in UNSCORED:
        if fields.get(name):
            raise ApiError(
                400,
                f"{name} is not there for this model: the scores of its tokens are not told.",
                code="unsupported_parameter",
                param=name,
            )


def read_number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_limit(value: object) -> int | None:
    """-1 for no limit; None where nothing is said."""
    limit = read_whole(value)
    return limit if limit is None or limit > 0 else -1


def stop_sequences(fields: Mapping[str, object]) -> tuple[str, ...]:
    given_stop = fields.get("stop")
    listed = given_stop if isinstance(given_stop, list) else [given_stop]
    return tuple(text for text in listed if isinstance(text, str) and text)


def read_response_format(value: object) -> Schema | None:
    """The schema of the answer; None where it may be any text. Raises ApiError (400)."""
    if not isinstance(value, dict) or value.get("type") == "text":
        return None
    if value.get("type") == "json_object":
        return ANY_OBJECT
    named_schema = value.get("json_schema")
    schema = named_schema.get("schema") if isinstance(named_schema, dict) else None
    if value.get("type") != "json_schema" or not isinstance(schema, dict):
        raise ApiError(
            400,
            "response_format is text, json_object, or json_schema with a name and a schema.",
            param="response_format",
        )
    return schema or ANY_OBJECT


ANY_OBJECT: Schema = {"type": "object"}
