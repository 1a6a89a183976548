"""A client around a client that counts tokens where the server does not."""

import json
from collections.abc import AsyncGenerator

from andy_cli.messages import Chunk, Request, Usage
from andy_cli.models.client import ForwardingClient, closing_stream
from andy_cli.models.token_count import MESSAGE_TOKENS, estimate_tokens


class CountingClient(ForwardingClient):
    """Every reply ends with a usage: the server's own, else our estimate."""

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        was_told, written = False, 0
        async with closing_stream(self._client.reply(request)) as chunks:
            async for chunk in chunks:
                was_told = was_told or (chunk.usage is not None and any(chunk.usage))
                written += estimate_tokens(chunk.text + chunk.reasoning)
                if chunk.call:
                    written += estimate_tokens(chunk.call.name + chunk.call.arguments)
                yield chunk
        if not was_told:
            yield Chunk(usage=Usage(estimate_request(request), written))


def estimate_request(request: Request) -> int:
    """About how many tokens the request is."""
    texts = (json.dumps(tool, ensure_ascii=False, default=str) for tool in request.tools)
    return sum(map(estimate_tokens, texts)) + sum(
        MESSAGE_TOKENS + estimate_tokens(json.dumps(message, ensure_ascii=False, default=str))
        for message in request.messages
    )
