"""A client around a client that counts tokens where the server does not, and ends long replies."""

import json
from collections.abc import AsyncGenerator

from andy_cli.compiler.control_tokens import REASONING, SPLITTING
from andy_cli.messages import Chunk, Request, Usage
from andy_cli.models.client import ForwardingClient, closing_stream
from andy_cli.models.token_count import MESSAGE_TOKENS, tokens

MAX_TEXT = 300
"""Tokens of a reply that are no thoughts: no task needs so many, and a model that has lost its way
writes on and on."""


MAX_UNSEEN_THOUGHTS = 700
"""Tokens of a text that may be thoughts which the prompt has begun: only their end would tell."""


class CountingClient(ForwardingClient):
    """Every reply ends with a usage: the server's own, else our estimate."""

    thinks_unseen: bool | None = None
    """Its replies begin inside thoughts that the prompt opened; None before one has shown it."""

    async def reply(self, request: Request) -> AsyncGenerator[Chunk, None]:
        was_told, written, length = False, 0, ReplyLength(self.thinks_unseen)
        async with closing_stream(self._client.reply(request)) as chunks:
            async for chunk in chunks:
                was_told = was_told or (chunk.usage is not None and any(chunk.usage))
                written += count_written(chunk)
                is_too_long = length.add(chunk.text)
                self.thinks_unseen = length.thinks_unseen
                yield chunk
                if is_too_long:
                    yield Chunk(finish="length")
                    break
        if not was_told:
            yield Chunk(usage=Usage(estimate_request(request), written))


def count_written(chunk: Chunk) -> int:
    """Count what the model wrote, be it seen or not."""
    call = chunk.call.name + chunk.call.arguments if chunk.call else ""
    return tokens(chunk.text + chunk.reasoning) + tokens(call)


class ReplyLength:
    """Counts the tokens of a reply that are no thoughts."""

    def __init__(self, thinks_unseen: bool | None) -> None:
        self.thinks_unseen = thinks_unseen
        self._text = ""
        self._shown = 0
        self._is_behind_thoughts = False

    def add(self, text: str) -> bool:
        """Add what came next; returns True once it is longer than any task needs."""
        self._text += text
        self._count(text)
        may_be_thought = not self._is_behind_thoughts and self.thinks_unseen is not False
        if self._shown <= (MAX_UNSEEN_THOUGHTS if may_be_thought else MAX_TEXT):
            return False
        if may_be_thought:
            self.thinks_unseen = bool(self.thinks_unseen)
        return True

    def _count(self, text: str) -> None:
        opener = next(filter(self._text.lstrip().startswith, REASONING), "")
        closers = REASONING.get(opener, SPLITTING)
        if not self._is_behind_thoughts and any(closer in self._text for closer in closers):
            self._is_behind_thoughts, self._shown = True, 0
            self.thinks_unseen = self.thinks_unseen or not opener
        elif self._is_behind_thoughts or not opener:
            self._shown += tokens(text)


def estimate_request(request: Request) -> int:
    """About how many tokens the request is."""
    texts = (json.dumps(tool, ensure_ascii=False, default=str) for tool in request.tools)
    return sum(map(tokens, texts)) + sum(
        MESSAGE_TOKENS + tokens(json.dumps(message, ensure_ascii=False, default=str))
        for message in request.messages
    )
