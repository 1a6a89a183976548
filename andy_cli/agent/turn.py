"""One turn: the user speaks, the model calls tools until it answers.

Read this file first. Everything else is a collaborator it names.
"""

from collections.abc import AsyncIterator, Iterator

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding import unsupported
from andy_cli.agent.reply import Reply
from andy_cli.agent.sanitizer import sanitize
from andy_cli.agent.steps import carried_out
from andy_cli.agent.tally import Tally
from andy_cli.compiler.compiler import Visible
from andy_cli.errors import AndyError, ModelError
from andy_cli.events import Event
from andy_cli.messages import Message

CONTINUE = "You were cut off. Go on exactly where you stopped."
AGAIN = "Your request was cut off and nothing was done. Write it again, shorter."


async def turn(chat: Conversation, user: str) -> AsyncIterator[Event]:
    """All that happens until the model has answered; the last event is `events.Ended`.

    Cancelling it leaves a history that can be gone on with: calls under way have a result that
    says they were cancelled, and what had been said is kept.
    """
    tally = Tally(chat.usage)
    yield chat.init()
    yield events.Said("user", user)
    try:
        chat.hear(user)
        async for event in rounds(chat, tally):
            yield event
    except AndyError as error:
        yield tally.fail(error)
    if audit := look_back(chat, tally):
        yield audit
    yield tally.ended(chat)


async def rounds(chat: Conversation, tally: Tally) -> AsyncIterator[Event]:
    while not (tally.stopped or tally.asked):
        if tally.rounds == chat.limits.rounds:
            tally.stop(f"Stopped after {tally.rounds} replies without an answer.")
            break
        tally.rounds += 1
        reply = chat.reply()
        try:
            async for event in said(chat, tally, reply):
                yield event
        except ModelError as error:
            if not await chat.without_native_tools(error):
                raise
            yield events.Failed("warning", error.kind, f"{error} Going on without them.")
            continue
        if reply.compiled.requests:
            async for event in carried_out(chat, tally, reply):
                yield event
        elif not told_to_go_on(chat, tally, reply):
            return
    if tally.asked:
        chat.add(Message("assistant", tally.asked))
        tally.answer = tally.asked
        yield events.Said("assistant", tally.asked, delta=True)
    else:
        yield events.Failed("warning", "limit", tally.stopped, "Say `go on` to continue.")


async def said(chat: Conversation, tally: Tally, reply: Reply) -> AsyncIterator[Event]:
    """The reply as it arrives. Whatever ends it, what was said is in the history."""
    try:
        async for visible in reply:
            for event in shown(visible):
                yield event
    except BaseException as error:
        if reply.compiled.text:
            chat.add(Message("assistant", reply.compiled.text, partial=True))
            tally.answer += reply.compiled.text
        if isinstance(error, AndyError):
            for event in shown(reply.rest):
                yield event
        raise
    finally:
        chat.count(reply.usage)
    compiled = reply.compiled
    if compiled.dialect or compiled.repairs or compiled.incomplete:
        yield events.Compiled(
            compiled.dialect or chat.dialect.name,
            compiled.spans,
            compiled.repairs,
            compiled.incomplete,
        )


def shown(visible: Visible) -> Iterator[Event]:
    if visible.reasoning:
        yield events.Reasoned(visible.reasoning)
    if visible.text:
        yield events.Said("assistant", visible.text, delta=True)


def told_to_go_on(chat: Conversation, tally: Tally, reply: Reply) -> bool:
    """A reply without requests is the answer, unless it was cut off or could not be read."""
    compiled = reply.compiled
    tally.answer += sanitize(compiled.text, chat.markers, chat.registry.functions)
    partial = reply.cut_off or compiled.incomplete
    chat.add(Message("assistant", compiled.text, reasoning=compiled.reasoning, partial=partial))
    if compiled.fault:
        chat.add(Message("user", compiled.fault))
    elif partial and not tally.continued:
        tally.continued = True
        chat.add(Message("user", AGAIN if compiled.incomplete else CONTINUE))
    else:
        return False
    return True


def look_back(chat: Conversation, tally: Tally) -> Event | None:
    """Where results were given, what the answer names must come from them or the user (R16)."""
    if not (tally.calls and tally.answer):
        return None
    sources = [each.content for each in chat.history if each.role in ("user", "tool")]
    tally.unsupported = unsupported(tally.answer, sources)
    return events.Audited(tally.unsupported) if tally.unsupported else None
