"""One turn: the user speaks, the model asks for things until it answers.

Read this file first. Everything else is a collaborator it names.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.endings import look_back, rewrite
from andy_cli.agent.output_filter import OutputFilter
from andy_cli.agent.reply import Reply
from andy_cli.agent.steps import carried_out
from andy_cli.agent.tally import Tally
from andy_cli.errors import AndyError, ModelError
from andy_cli.events import Event
from andy_cli.messages import Message

CONTINUE = "You were cut off. Go on exactly where you stopped."
NUDGE = "You have not done it yet. Use a tool for it now, or say plainly why you cannot."
AGAIN = "Your request was cut off and nothing was done. Write it again, shorter."


async def turn(chat: Conversation, user: str, attached: str = "") -> AsyncIterator[Event]:
    """All that happens until the model has answered; the last event is `events.Ended`.

    `attached` stands behind the user's words and is none of them: foreign text (foreign_text.py).

    Cancelling it leaves a history that can be gone on with: calls under way have a result that
    says they were cancelled, and what had been said is kept.
    """
    tally = Tally(chat.usage)
    await chat.learn_server()
    yield chat.init()
    yield events.Said("user", user + attached)
    try:
        chat.hear(user, attached)
        async for event in rounds(chat, tally):
            yield event
        for event in rewrite(chat, tally):
            yield event
        if tally.rewriting:
            async for event in rounds(chat, tally):
                yield event
        for event in look_back(chat, tally):
            yield event
    except AndyError as error:
        yield tally.fail(error)
    for event in (*tally.settle(chat), *chat.session_problem()):
        yield event
    chat.end_turn(tally.calls > 0)
    yield tally.ended(chat)


async def rounds(chat: Conversation, tally: Tally) -> AsyncIterator[Event]:
    """Replies and what they ask for, until one is the answer or there have been enough."""
    while not tally.over:
        if tally.rounds == chat.limits.rounds:
            tally.stop(f"Stopped after {tally.rounds} replies without an answer.")
            break
        tally.rounds += 1
        async for event in one_round(chat, tally):
            yield event
    for event in tally.why_over():
        yield event
    if tally.asked:
        chat.add(Message("assistant", tally.asked))


async def one_round(chat: Conversation, tally: Tally) -> AsyncIterator[Event]:
    async for event in chat.make_room(tally.failed):
        yield event
    reply = chat.reply()
    try:
        async for event in said(chat, tally, reply):
            yield event
        chat.note_native(reply)
    except ModelError as error:
        change = await chat.adapt(error)
        if not change:
            raise
        yield events.Failed("warning", error.kind, f"{error} {change}")
        return
    if tally.refused:
        chat.add(Message("assistant", reply.raw))
        chat.add(Message("user", tally.refused, note=True))
    elif reply.compiled.requests:
        async for event in carried_out(chat, tally, reply):
            yield event
    else:
        tally.done = not told_to_go_on(chat, tally, reply)


async def said(chat: Conversation, tally: Tally, reply: Reply) -> AsyncIterator[Event]:
    """The reply as it arrives. Whatever ends it, what was said is in the history."""
    shown = chat.output_filter(held=bool(tally.rewriting))
    try:
        async for visible in reply:
            for event in shown.take(visible):
                yield event
    except BaseException as error:
        for event in broken_off(chat, tally, reply, shown):
            if isinstance(error, AndyError | asyncio.CancelledError):
                yield event
        raise
    finally:
        chat.count(reply.usage)
    for event in end_reply(chat, tally, reply, shown):
        yield event


def broken_off(chat: Conversation, tally: Tally, reply: Reply, shown: OutputFilter) -> list[Event]:
    rest = [*shown.take(reply.rest), *shown.release()]
    if reply.compiled.text:
        chat.add(Message("assistant", reply.compiled.text, partial=True))
        tally.answer += shown.text
    return rest


def end_reply(
    chat: Conversation, tally: Tally, reply: Reply, shown: OutputFilter
) -> Iterator[Event]:
    """Note what has to be noted of a reply that is complete."""
    if tally.hear(shown.text, chat.letter(reply), chat.lenient):
        chat.give_up_letter()
    if not (tally.refused or tally.rewriting):
        yield from shown.release()
    if warning := chat.dropped(reply):
        yield events.Failed("warning", "context", warning)
    compiled = reply.compiled
    chat.learn(reply)
    if compiled.dialect or compiled.repairs or compiled.incomplete or compiled.hidden:
        dialect = compiled.dialect or chat.dialect.name
        yield events.Compiled(
            dialect, compiled.spans, compiled.repairs, compiled.incomplete, compiled.hidden
        )


def told_to_go_on(chat: Conversation, tally: Tally, reply: Reply) -> bool:
    """A reply without requests is the answer, unless it was cut off or could not be read."""
    compiled = reply.compiled
    tally.note_empty(compiled)
    if tally.may_ask_empty_again(compiled) and chat.pause_native_tools():
        return True
    tally.answer += tally.spoken
    partial = reply.cut_off or compiled.incomplete
    chat.add(Message("assistant", compiled.text, reasoning=compiled.reasoning, partial=partial))
    if compiled.fault and tally.may_resend():
        chat.add(Message("user", compiled.fault, note=True))
    elif partial and not tally.continued:
        tally.continued = True
        chat.add(Message("user", AGAIN if compiled.incomplete else CONTINUE, note=True))
    elif tally.may_nudge(chat):
        chat.add(Message("user", NUDGE, note=True))
    else:
        tally.cut_off, tally.unreadable = partial, bool(compiled.fault)
        tally.filtered = reply.finish == "content_filter"
        return False
    return True
