"""Show a reply while it arrives, and decide whether a reply without requests is the answer."""

import asyncio
from collections.abc import AsyncIterator, Iterator

from andy_cli import events
from andy_cli.agent.announcements import only_announces
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.output.output_filter import OutputFilter
from andy_cli.agent.turn_state import TurnState
from andy_cli.errors import AndyError
from andy_cli.events import Event
from andy_cli.messages import Message

CONTINUE = "You were cut off. Go on exactly where you stopped."
NUDGE = "You have not done it yet. Use a tool for it now, or say plainly why you cannot."
AGAIN = "Your request was cut off and nothing was done. Write it again, shorter."


async def show_reply(
    chat: Conversation, state: TurnState, reply: ModelReply
) -> AsyncIterator[Event]:
    """Show the reply as it arrives. Whatever ends it, what was said is in the history."""
    output = OutputFilter(bool(state.rejected_answer) or chat.model.enforces_format)
    try:
        async for visible in reply:
            for event in output.take(visible):
                yield event
    except BaseException as error:
        for event in keep_broken_reply(chat, state, reply, output):
            if isinstance(error, AndyError | asyncio.CancelledError):
                yield event
        raise
    finally:
        chat.model.add_usage(reply.usage)
    for event in finish_reply(chat, state, reply, output):
        yield event


def keep_broken_reply(
    chat: Conversation, state: TurnState, reply: ModelReply, output: OutputFilter
) -> list[Event]:
    """Put into the history what was said before the reply broke off."""
    rest = [*output.take(reply.rest), *output.release()]
    if reply.compiled.text:
        chat.history.add(Message("assistant", reply.compiled.text, partial=True))
        state.answer += output.text
    return rest


def finish_reply(
    chat: Conversation, state: TurnState, reply: ModelReply, output: OutputFilter
) -> Iterator[Event]:
    """Check the format of a complete reply, and note how the model writes."""
    model, compiled = chat.model, reply.compiled
    if state.check_format(output.text, model.find_format_violation(reply), model.is_lenient):
        model.stop_enforcing_format()
    if not (state.refusal or state.rejected_answer):
        yield from output.release()
    if warning := chat.budget.warn_of_unread(reply):
        yield events.Failed("warning", "context", warning)
    model.note_reasoning(reply)
    if compiled.dialect or compiled.repairs or compiled.incomplete or compiled.hidden:
        dialect = compiled.dialect or model.dialect.name
        yield events.Compiled(
            dialect, compiled.spans, compiled.repairs, compiled.incomplete, compiled.hidden
        )


def request_resend(chat: Conversation, state: TurnState, reply: ModelReply) -> None:
    """Tell the model what breaks the format of its reply, which it has to send again."""
    chat.history.add(Message("assistant", reply.raw))
    chat.history.add(Message("user", state.refusal, note=True))


def ask_to_continue(chat: Conversation, state: TurnState, reply: ModelReply) -> bool:
    """Take a reply without requests as the answer, or tell the model to go on and return True.

    It goes on where it was cut off, could not be read, says nothing, or only announces.
    """
    compiled = reply.compiled
    state.note_empty(compiled)
    if state.may_ask_empty_again() and chat.model.pause_native_tools():
        return True
    state.answer += state.reply_text
    partial = reply.cut_off or compiled.incomplete
    text, reasoning = compiled.text, compiled.reasoning
    chat.history.add(Message("assistant", text, reasoning=reasoning, partial=partial))
    if compiled.fault and state.count_resend():
        note = compiled.fault
    elif partial and not state.was_continued:
        state.was_continued = True
        note = AGAIN if compiled.incomplete else CONTINUE
    elif should_nudge(chat, state):
        state.announcement, state.answer = state.answer, ""
        note = NUDGE
    else:
        state.is_cut_off, state.is_unreadable = partial, bool(compiled.fault)
        state.is_filtered = reply.finish == "content_filter"
        return False
    chat.history.add(Message("user", note, note=True))
    return True


def should_nudge(chat: Conversation, state: TurnState) -> bool:
    """Tell whether the answer only announces something: then the model is told once to do it."""
    if state.announcement or not chat.model.profile.tools or state.answer != state.reply_text:
        return False
    return only_announces(chat.history.user_request, state.answer, done=state.calls > 0)
