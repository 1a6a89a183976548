"""What is looked at when a turn is over: whether the answer holds, and what went on beside it."""

from collections.abc import AsyncIterator

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding import unsupported
from andy_cli.agent.tally import Tally
from andy_cli.events import Event


async def look_back(chat: Conversation, tally: Tally) -> AsyncIterator[Event]:
    for failure in chat.background.failures():
        yield events.Failed("warning", "background", f"Could not {failure.did}: {failure.content}")
    if tally.calls and tally.answer:
        sources = [each.content for each in chat.history if each.role in ("user", "tool")]
        tally.unsupported = unsupported(tally.answer, sources)
        if tally.unsupported:
            yield events.Audited(tally.unsupported)
