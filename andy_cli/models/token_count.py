"""An estimate of the tokens of a text and of a message, cheap enough to ask before every request.

Characters are counted by kind, which costs microseconds. The weights were fitted to the counts of
four real vocabularies (o200k, cl100k, Llama 3, Mistral 7B) over 21 kinds of text. The estimate
divided by the true count: English, code and schemas 0.9 to 1.2; JSON, paths, logs, CSV and HTML
0.8 to 1.4; other languages 0.6 to 2.3, high where a vocabulary knows the script well.
"""

import json
import string
from functools import lru_cache

from andy_cli.messages import Message, ToolCall

KINDS = (
    (string.ascii_lowercase.encode(), 0.25),
    (string.ascii_uppercase.encode(), 1.1),
    (string.digits.encode(), 0.95),
    (string.punctuation.encode(), 0.53),
    (bytes(range(0xC2, 0xE0)), 0.6),  # first bytes of characters of two, three and four bytes
    (bytes(range(0xE0, 0xF0)), 1.25),
    (bytes(range(0xF0, 0xF5)), 2.5),
)
MESSAGE_TOKENS = 4
"""Tokens around each message: its role and the marks of the template."""
CALL_TOKENS = 8
"""Tokens around each call."""
REPLY_TOKENS = 4096
"""Tokens kept free for the reply at most; a quarter of a small window."""


@lru_cache(maxsize=4096)
def estimate_tokens(text: str) -> int:
    """The estimated number of tokens; 0 only for the empty text."""
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    estimated = sum(weight * (size - len(data.translate(None, kind))) for kind, weight in KINDS)
    return max(int(estimated + 0.999), bool(text))


def estimate_message(message: Message) -> int:
    """Estimate the tokens of a message as it is sent."""
    estimated = MESSAGE_TOKENS + estimate_tokens(message.content)
    for call in message.calls:
        estimated += CALL_TOKENS + estimate_tokens(call.name)
        estimated += estimate_tokens(dump_arguments(call))
    return estimated


def dump_arguments(call: ToolCall) -> str:
    """Write the arguments of a call as they are sent and counted."""
    return json.dumps(dict(call.arguments), ensure_ascii=False, default=str)


def reserve_for_reply(window: int, most_tokens: int = REPLY_TOKENS) -> int:
    """Reserve tokens of the window for the reply."""
    return min(most_tokens, window // 4)
