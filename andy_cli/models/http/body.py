"""A request as the JSON object that servers of the OpenAI chat API want. Pure.

What a server has refused of it is left out by `adapting.py`, on the way out.
"""

from collections.abc import Sequence

from andy_cli.messages import Constraint, Request, Wire
from andy_cli.models.client import Endpoint

Body = dict[str, object]

WANTS_REASONING = frozenset({"deepseek"})
"""Providers that demand the reasoning of earlier replies back; others must ask for it."""


def body_of(
    endpoint: Endpoint, request: Request, max_tokens: int = 0, reasoning: bool = False
) -> Body:
    """`max_tokens` holds where the request names none; 0 leaves it to the server.

    `reasoning`: the server has demanded the reasoning of earlier replies.
    """
    messages = list(request.messages)
    if not (reasoning or endpoint.provider in WANTS_REASONING):
        messages = [_without_reasoning(message) for message in messages]
    body: Body = {
        "model": endpoint.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if request.stop:
        body["stop"] = list(request.stop)
    if limit := request.max_tokens or max_tokens:
        body["max_tokens"] = limit
    if request.constraint:
        body |= constrained(endpoint.provider, request.constraint)
    return body


def _without_reasoning(message: Wire) -> Wire:
    if "reasoning_content" not in message:
        return message
    return {name: value for name, value in message.items() if name != "reasoning_content"}


def constrained(provider: str, constraint: Constraint) -> Body:
    """The constraint in the words of a provider; empty when it has none for it.

    Free text beside the choices is left unconstrained: none of these servers can score.
    """
    if constraint.free_text:
        return {}
    choices = [choice.text for choice in constraint.choices]
    if provider == "llamacpp":
        if choices:
            return {"grammar": choice_grammar(choices)}
        if constraint.grammar:
            return {"grammar": constraint.grammar}
        return {"json_schema": dict(constraint.schema)} if constraint.schema else {}
    if provider == "vllm":
        if choices:
            return {"structured_outputs": {"choice": choices}}
        if constraint.grammar:
            return {"structured_outputs": {"grammar": constraint.grammar}}
        schema = constraint.schema
        return {"structured_outputs": {"json": dict(schema)}} if schema else {}
    if constraint.schema and not choices:
        # Ollama's `format` belongs to its own API; its chat API reads this field like the others.
        named = {"name": "reply", "schema": dict(constraint.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {}


def choice_grammar(choices: Sequence[str]) -> str:
    """A GBNF grammar for exactly one of the texts."""
    return "root ::= " + " | ".join(f'"{_escaped(choice)}"' for choice in choices)


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
