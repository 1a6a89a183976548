"""One turn: the user speaks, the model asks for things until it answers.

Read this file first. Everything else is a collaborator it names.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator

from andy_cli import events
from andy_cli.agent.calls.tool_calls import run_tool_calls
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.finalize import audit_answer, request_rewrite
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.output.output_filter import OutputFilter
from andy_cli.agent.turn_state import TurnState
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
    state = TurnState(chat.usage)
    await chat.learn_server()
    yield chat.init()
    yield events.Said("user", user + attached)
    try:
        chat.hear(user, attached)
        async for event in run_rounds(chat, state):
            yield event
        for event in request_rewrite(chat, state):
            yield event
        if state.rewriting:
            async for event in run_rounds(chat, state):
                yield event
        for event in audit_answer(chat, state):
            yield event
    except AndyError as error:
        yield state.fail(error)
    for event in (*state.settle(chat), *chat.session_problem()):
        yield event
    chat.end_turn(state.calls > 0)
    yield state.ended(chat)


async def run_rounds(chat: Conversation, state: TurnState) -> AsyncIterator[Event]:
    """Replies and what they ask for, until one is the answer or there have been enough."""
    while not state.over:
        if state.rounds == chat.limits.rounds:
            state.stop(f"Stopped after {state.rounds} replies without an answer.")
            break
        state.rounds += 1
        async for event in run_round(chat, state):
            yield event
    for event in state.why_over():
        yield event
    if state.asked:
        chat.add(Message("assistant", state.asked))


async def run_round(chat: Conversation, state: TurnState) -> AsyncIterator[Event]:
    async for event in chat.make_room(state.failed):
        yield event
    reply = chat.reply()
    try:
        async for event in show_reply(chat, state, reply):
            yield event
        chat.note_native(reply)
    except ModelError as error:
        change = await chat.adapt(error)
        if not change:
            raise
        yield events.Failed("warning", error.kind, f"{error} {change}")
        return
    if state.refused:
        chat.add(Message("assistant", reply.raw))
        chat.add(Message("user", state.refused, note=True))
    elif reply.compiled.requests:
        async for event in run_tool_calls(chat, state, reply):
            yield event
    else:
        state.done = not ask_to_continue(chat, state, reply)


async def show_reply(
    chat: Conversation, state: TurnState, reply: ModelReply
) -> AsyncIterator[Event]:
    """The reply as it arrives. Whatever ends it, what was said is in the history."""
    shown = chat.output_filter(held=bool(state.rewriting))
    try:
        async for visible in reply:
            for event in shown.take(visible):
                yield event
    except BaseException as error:
        for event in keep_broken_reply(chat, state, reply, shown):
            if isinstance(error, AndyError | asyncio.CancelledError):
                yield event
        raise
    finally:
        chat.count(reply.usage)
    for event in finish_reply(chat, state, reply, shown):
        yield event


def keep_broken_reply(
    chat: Conversation, state: TurnState, reply: ModelReply, shown: OutputFilter
) -> list[Event]:
    rest = [*shown.take(reply.rest), *shown.release()]
    if reply.compiled.text:
        chat.add(Message("assistant", reply.compiled.text, partial=True))
        state.answer += shown.text
    return rest


def finish_reply(
    chat: Conversation, state: TurnState, reply: ModelReply, shown: OutputFilter
) -> Iterator[Event]:
    """Note what has to be noted of a reply that is complete."""
    if state.hear(shown.text, chat.letter(reply), chat.lenient):
        chat.give_up_letter()
    if not (state.refused or state.rewriting):
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


def ask_to_continue(chat: Conversation, state: TurnState, reply: ModelReply) -> bool:
    """A reply without requests is the answer, unless it was cut off or could not be read."""
    compiled = reply.compiled
    state.note_empty(compiled)
    if state.may_ask_empty_again(compiled) and chat.pause_native_tools():
        return True
    state.answer += state.spoken
    partial = reply.cut_off or compiled.incomplete
    chat.add(Message("assistant", compiled.text, reasoning=compiled.reasoning, partial=partial))
    if compiled.fault and state.may_resend():
        chat.add(Message("user", compiled.fault, note=True))
    elif partial and not state.continued:
        state.continued = True
        chat.add(Message("user", AGAIN if compiled.incomplete else CONTINUE, note=True))
    elif state.may_nudge(chat):
        chat.add(Message("user", NUDGE, note=True))
    else:
        state.cut_off, state.unreadable = partial, bool(compiled.fault)
        state.filtered = reply.finish == "content_filter"
        return False
    return True
