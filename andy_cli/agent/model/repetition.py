"""Stop a reply whose model writes the same again and again.

Weak models fall into it, and many servers let them write until the hour is over. Only what repeats
exactly counts, in text, in reasoning or in the arguments of a call, and so much of it that nobody
asks for it: a hundred lines of the same sentence are somebody's wish.
"""

from collections.abc import AsyncGenerator, AsyncIterator

from andy_cli.errors import ModelError
from andy_cli.messages import Chunk
from andy_cli.models.client import closing_stream

MIN_CHARACTERS = 8000
"""Characters at the end of a text that must be the same again and again."""
MIN_ROUNDS = 16
"""Times that the same must stand there."""
MIN_BLANKS = 4000
"""Characters at the end of a text that are all blank: constrained models often end in these."""
CHECK_EVERY = 1000
"""Characters from one look to the next."""
MAX_PERIOD = MIN_CHARACTERS // MIN_ROUNDS
KEY_LENGTH = 16


async def stop_repetition(chunks: AsyncIterator[Chunk]) -> AsyncGenerator[Chunk, None]:
    """Pass on a reply. Raises ModelError where it repeats itself and goes on."""
    tail, unchecked = "", 0
    async with closing_stream(chunks) as replies:
        async for chunk in replies:
            written = chunk.text + chunk.reasoning + (chunk.call.arguments if chunk.call else "")
            if written and unchecked >= CHECK_EVERY:
                tail, unchecked = tail[-MIN_CHARACTERS:], 0
                if is_endless(tail):
                    raise ModelError(
                        "The model writes the same again and again, and was stopped.",
                        "Say it otherwise, or use another model.",
                        kind="repetition",
                    )
            yield chunk
            tail += written
            unchecked += len(written)


def is_endless(tail: str) -> bool:
    """Tell whether nothing but more of the same is to be expected behind this end of a text."""
    is_blank = len(tail) >= MIN_BLANKS and not tail[-MIN_BLANKS:].strip()
    return is_blank or (len(tail) == MIN_CHARACTERS and find_period(tail) > 0)


def find_period(text: str) -> int:
    """Find after how many characters all of a text is the same again; 0 if it is not."""
    # The last characters stand one period earlier as well, or there is none.
    found = text.rfind(text[-KEY_LENGTH:], 0, len(text) - 1)
    period = len(text) - KEY_LENGTH - found
    is_same = found >= 0 and period <= MAX_PERIOD and text[period:] == text[:-period]
    return period if is_same else 0


def drop_repetition(text: str) -> str:
    """Leave of an end that repeats itself the first time: the rest would only be imitated."""
    end = text[-MIN_CHARACTERS // 2 :]
    period = find_period(end) if len(end) == MIN_CHARACTERS // 2 else 0
    if not period:
        return text
    start = len(text) - period
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return text[: start + period].rstrip()
