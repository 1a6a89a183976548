"""A request as the JSON object that servers of the OpenAI chat API want. Pure.

What a server has refused of it is left out by `adapting.py`, on the way out.
"""

from andy_cli.messages import Request, Wire
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
    return body


def _without_reasoning(message: Wire) -> Wire:
    if "reasoning_content" not in message:
        return message
    return {name: value for name, value in message.items() if name != "reasoning_content"}
