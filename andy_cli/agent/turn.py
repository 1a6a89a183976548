"""One turn: the user speaks, the model asks for things until it answers.

Read this file first, and `model/reply.py` beside it, which holds the loop (`exchange`).
"""

from collections.abc import AsyncIterator

from andy_cli import events
from andy_cli.agent.answer import (
    accept_answer,
    audit_answer,
    finish_turn,
    request_resend,
    request_rewrite,
    show_reply,
)
from andy_cli.agent.calls.tool_calls import run_tool_calls
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.model.reply import ModelReply, exchange
from andy_cli.agent.turn_state import TurnState
from andy_cli.errors import AndyError, ModelError
from andy_cli.events import Event
from andy_cli.messages import Message


async def turn(
    conversation: Conversation, user_text: str, attached: str = ""
) -> AsyncIterator[Event]:
    """Yield all that happens until the model has answered; the last event is `events.Ended`.

    `attached` is appended to the user's words: foreign text, which is never taken for the user's
    wish (history.py).

    After it is cancelled the conversation can be continued: calls under way have a result that says
    they were cancelled, and what had been said is kept.
    """
    state = TurnState(conversation.model.usage)
    await conversation.model.learn_server()
    yield conversation.describe()
    yield events.Said("user", user_text + attached)
    try:
        conversation.begin_turn(user_text, attached)
        async for event in run_rounds(conversation, state):
            yield event
        async for event in request_rewrite(conversation, state):
            yield event
        if state.rejected_answer:
            async for event in run_rounds(conversation, state):
                yield event
        async for event in audit_answer(conversation, state):
            yield event
    except AndyError as error:
        yield state.fail(error, conversation.ways)
    for event in finish_turn(conversation, state):
        yield event


async def run_rounds(conversation: Conversation, state: TurnState) -> AsyncIterator[Event]:
    """Ask for replies and do what they ask for, until one is the answer or a limit is reached."""
    async for event in exchange(TurnAsker(conversation, state)):
        yield event
    for event in state.explain_end(conversation.ways.go_on):
        yield event
    if state.question:
        conversation.history.add(Message("assistant", state.question))


class TurnAsker:
    """Asks the model for one turn (reply.py): shows its replies, and runs what they ask for."""

    def __init__(self, conversation: Conversation, state: TurnState) -> None:
        self._conversation, self._state = conversation, state
        self._compression_events: list[Event] = []
        """Of what had to be shortened for the request; shown with the reply to it."""

    def begin_round(self) -> bool:
        return not self._state.is_over and self._state.begin_round(self._conversation.limits)

    async def ask(self) -> ModelReply:
        shortening = self._conversation.budget.make_room(self._state.failed_calls)
        self._compression_events = [event async for event in shortening]
        return self._conversation.ask_model()

    async def show(self, reply: ModelReply) -> AsyncIterator[Event]:
        for event in self._compression_events:
            yield event
        async for event in show_reply(self._conversation, self._state, reply):
            yield event
        self._conversation.note_native_reply(reply)

    async def recover(self, error: ModelError) -> Event:
        change = await self._conversation.adapt(error)
        if not change:
            raise error
        return events.Failed("warning", error.kind, str(error), change)

    async def use(self, reply: ModelReply) -> AsyncIterator[Event]:
        conversation, state = self._conversation, self._state
        if state.resend_note:
            request_resend(conversation, state, reply)
        elif reply.compiled.requests:
            async for event in run_tool_calls(conversation, state, reply):
                yield event
        else:
            state.is_done = accept_answer(conversation, state, reply)
