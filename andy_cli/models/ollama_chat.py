"""One Ollama, spoken to by its own API, and how much each of its models is given to read.

`num_ctx` is the context that a model is loaded with: another one loads it again, which takes
seconds. So it begins with what the model is loaded with, it is what is needed in powers of two, it
grows only, and a model's own maximum is its end. What is set (`limits.context`) is sent as it is.
"""

import json
from collections.abc import Awaitable, Callable

from andy_cli.foreign_values import as_records
from andy_cli.models.http.ollama_wire import chat_address, set_context, write_request
from andy_cli.models.http.refusals import ServerRefusal, names_no_model, too_long
from andy_cli.models.http.request import Body
from andy_cli.models.server.facts import ServerFacts
from andy_cli.models.token_count import MESSAGE_TOKENS, estimate_tokens

FIRST_WINDOW = 8192
"""Tokens that a model is loaded with at first, unless its Modelfile has `num_ctx`."""
REPLY_TOKENS = 4096
"""Tokens for a reply where its request says nothing."""
MAX_REPLY_LENGTH = 8192
"""Tokens that are kept free for a reply at most: clients ask for much more than they need."""
WRONG_BY = 1.25
"""The estimate of the prompt is multiplied by this; it may be too low by some."""
PICTURE_TOKENS = 1500
"""Tokens of a picture, about."""
MAX_TOKENS = 131072
"""Tokens that a model is loaded with at most, where its server does not say what it can."""
MAX_REMEMBERED_MODELS = 1000
"""Of which the size is kept: clients choose the names."""


class OllamaChat:
    """`speaks` until the server turns out to be none: then it is spoken to as any other."""

    def __init__(
        self, base_url: str, context: int, ask_facts: Callable[[str], Awaitable[ServerFacts]]
    ) -> None:
        """`context`: tokens as set, or 0; `ask_facts` tells what the server says of a model."""
        self.address = chat_address(base_url)
        self.speaks = True
        self._context = context
        self._ask = ask_facts
        self._sizes: dict[str, ContextSize] = {}

    async def write(self, body: Body) -> Body:
        """A request of the chat completions API in its words. Raises BadRequestError."""
        written = write_request(body)
        size = self._context
        if not size:
            needed = max(estimate_request(written) + count_reply(body), read_count(body, "num_ctx"))
            size = (await self._size(str(body.get("model")))).fit(needed)
        return set_context(written, size)

    def learn(self, status: int, refusal: ServerRefusal, body: Body) -> bool:
        """Learn from a refusal at `address`; tell whether the request may be taken once more."""
        if status in (404, 405) and not names_no_model(status, refusal):
            self.speaks = False
            return True
        size = self._sizes.get(str(body.get("model")))
        return size is not None and too_long(refusal) and size.double()

    async def _size(self, model: str) -> "ContextSize":
        if model not in self._sizes:
            facts = await self._ask(model)
            if len(self._sizes) >= MAX_REMEMBERED_MODELS:
                self._sizes.clear()
            self._sizes.setdefault(model, ContextSize(facts))
        return self._sizes[model]


class ContextSize:
    """The context that one model is loaded with, in tokens."""

    def __init__(self, facts: ServerFacts) -> None:
        self._most = facts.longest or facts.context or MAX_TOKENS
        # What is in force and not the longest is what its Modelfile says.
        set_to = facts.context if facts.longest and facts.context != facts.longest else None
        self._size = min(max(set_to or FIRST_WINDOW, facts.loaded or 0), self._most)

    def fit(self, needed: int) -> int:
        """The size for a request that needs so many tokens; never less than before."""
        while self._size < needed and self.double():
            pass
        return self._size

    def double(self) -> bool:
        """To the next power of two; returns whether it could grow."""
        size_before = self._size
        self._size = min(2 ** size_before.bit_length(), self._most)
        return self._size > size_before


def estimate_request(written: Body) -> int:
    """Estimate the tokens of a request in Ollama's words, rather too many."""
    token_count = 0
    for message in as_records(written["messages"]):
        words = {name: value for name, value in message.items() if name != "images"}
        token_count += MESSAGE_TOKENS + estimate_value(words)
        images = message.get("images")
        if isinstance(images, list):
            token_count += PICTURE_TOKENS * len(images)
    return int(WRONG_BY * (token_count + estimate_value(written.get("tools") or "")))


def estimate_value(value: object) -> int:
    """Estimate the tokens of a value as JSON. Not kept: what is said in conversations is long."""
    return estimate_tokens.__wrapped__(json.dumps(value, ensure_ascii=False))


def count_reply(body: Body) -> int:
    """Tokens to keep free for the reply."""
    asked_tokens = read_count(body, "max_tokens") or read_count(body, "max_completion_tokens")
    return min(asked_tokens or REPLY_TOKENS, MAX_REPLY_LENGTH)


def read_count(body: Body, name: str) -> int:
    value = body.get(name)
    return value if isinstance(value, int) and value > 0 else 0
