"""Show a reply while it arrives, and decide whether a reply without requests is the answer."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.turn_state import TurnState
from andy_cli.compiler.compiler import Visible
from andy_cli.errors import AndyError
from andy_cli.events import Event
from andy_cli.messages import Message


class OutputFilter:
    """Turns what the compiler lets through into events. Build a new one for each reply.

    `held`: no text is shown before it is known whether the reply keeps to its protocol.
    """

    def __init__(self, is_held: bool = False) -> None:
        self._parts: list[str] = []
        self._held = is_held

    @property
    def text(self) -> str:
        """All that was shown, or may be."""
        return "".join(self._parts)

    def take(self, visible: Visible) -> list[Event]:
        """Take the next piece as the compiler gives it."""
        shown_events: list[Event] = []
        if visible.retracted:  # what is on the screen stays there; the answer is a new paragraph
            self._parts = []
            shown_events += self._say("\n\n")
        if visible.reasoning:
            shown_events.append(events.Reasoned(visible.reasoning))
        if visible.text:
            self._parts.append(visible.text)
            shown_events += self._say(visible.text)
        return shown_events

    def _say(self, text: str) -> list[Event]:
        return [] if self._held else [events.Said("assistant", text, delta=True)]

    def release(self) -> list[Event]:
        """Show what was held after all."""
        was_held, self._held = self._held, False
        return [events.Said("assistant", self.text, delta=True)] if was_held and self.text else []


CONTINUE = "You were cut off. Go on exactly where you stopped."
NUDGE = "You have not done it yet. Use a tool for it now, or say plainly why you cannot."
AGAIN = "Your request was cut off and nothing was done. Write it again, shorter."


async def show_reply(
    conversation: Conversation, state: TurnState, reply: ModelReply
) -> AsyncIterator[Event]:
    """Show the reply as it arrives. Whatever ends it, what was said is in the history."""
    output = OutputFilter(bool(state.rejected_answer) or conversation.model.enforces_format)
    try:
        async for visible in reply:
            for event in output.take(visible):
                yield event
    except BaseException as error:
        for event in keep_broken_reply(conversation, state, reply, output):
            if isinstance(error, AndyError | asyncio.CancelledError):
                yield event
        raise
    finally:
        conversation.model.add_usage(reply.usage)
    for event in finish_reply(conversation, state, reply, output):
        yield event


def keep_broken_reply(
    conversation: Conversation, state: TurnState, reply: ModelReply, output: OutputFilter
) -> list[Event]:
    """Put into the history what was said before the reply broke off."""
    remaining_events = [*output.take(reply.rest), *output.release()]
    if reply.compiled.text:
        conversation.history.add(Message("assistant", reply.compiled.text, partial=True))
        state.answer += output.text
    return remaining_events


def finish_reply(
    conversation: Conversation, state: TurnState, reply: ModelReply, output: OutputFilter
) -> Iterator[Event]:
    """Check the format of a complete reply, and note how the model writes."""
    model, compiled = conversation.model, reply.compiled
    if state.check_format(output.text, model.find_format_violation(reply), model.is_lenient):
        model.stop_enforcing_format()
    if not (state.refusal or state.rejected_answer):
        yield from output.release()
    if warning := conversation.budget.warn_of_unread(reply):
        yield events.Failed("warning", "context", warning)
    model.note_reasoning(reply)
    if compiled.dialect or compiled.repairs or compiled.incomplete or compiled.hidden:
        dialect = compiled.dialect or model.dialect.name
        yield events.Compiled(
            dialect, compiled.spans, compiled.repairs, compiled.incomplete, compiled.hidden
        )


def request_resend(conversation: Conversation, state: TurnState, reply: ModelReply) -> None:
    """Tell the model what breaks the format of its reply, which it has to send again."""
    conversation.history.add(Message("assistant", reply.raw))
    conversation.history.add(Message("user", state.refusal, note=True))


def ask_to_continue(conversation: Conversation, state: TurnState, reply: ModelReply) -> bool:
    """Take a reply without requests as the answer, or tell the model to go on and return True.

    It goes on where it was cut off, could not be read, says nothing, or only announces.
    """
    compiled = reply.compiled
    state.note_empty(compiled)
    if state.may_ask_empty_again() and conversation.model.pause_native_tools():
        return True
    state.answer += state.reply_text
    partial = reply.cut_off or compiled.incomplete
    text, reasoning = compiled.text, compiled.reasoning
    conversation.history.add(Message("assistant", text, reasoning=reasoning, partial=partial))
    if compiled.fault and state.count_resend():
        note = compiled.fault
    elif partial and not state.was_continued:
        state.was_continued = True
        note = AGAIN if compiled.incomplete else CONTINUE
    elif should_nudge(conversation, state):
        state.announcement, state.answer = state.answer, ""
        note = NUDGE
    else:
        state.is_cut_off, state.is_unreadable = partial, bool(compiled.fault)
        state.is_filtered = reply.finish == "content_filter"
        return False
    conversation.history.add(Message("user", note, note=True))
    return True


def should_nudge(conversation: Conversation, state: TurnState) -> bool:
    """Tell whether the answer only announces something: then the model is told once to do it.

    One whose steps are chosen announces nothing, and would take that for the user's next wish.
    """
    if state.announcement or conversation.client.guided or state.answer != state.reply_text:
        return False
    if not conversation.model.profile.tools:
        return False
    return only_announces(conversation.history.user_request, state.answer, is_done=state.calls > 0)


LONGEST = 160
"""Characters; more is an answer."""
FEWEST = 4
"""Words; fewer is an answer too."""
STEM = 4
"""Letters by which words are the same: `list` and `listing`, `Lied` and `Lieder`."""
OPEN_END = (":", "\uff1a", "...", "\u2026")
SUBSTANCE = re.compile(r"[\d`\"'\u2018\u201c\u201e\u00ab/\\<>\n|*#]")
CONTRACTION = re.compile(r"(?<=\w)['\u2019](?=\w)")
WORD = re.compile(r"[^\W\d_]+")


def only_announces(user: str, reply: str, is_done: bool = False) -> bool:
    """Tell whether a reply that calls nothing announces what the user asked for, and stops.

    No words of any language are looked for. A reply that stops at a colon or an ellipsis has more
    to come. Else it is one short line that repeats a wish of the user and adds nothing to it: no
    figure, no name, no quotation, no place.

    `is_done`: something was done before; then its end alone tells.
    """
    line = CONTRACTION.sub(" ", reply.strip())
    if not line or len(line) > LONGEST or "\n" in line:
        return False
    if line.endswith(OPEN_END):
        return True
    is_question = "?" in f"{line}{user}" or "\uff1f" in line
    words = WORD.findall(line)
    if is_done or len(words) < FEWEST or SUBSTANCE.search(line) or is_question:
        return False
    return _only_repeats_wish(words, user)


def _only_repeats_wish(words: Sequence[str], user: str) -> bool:
    """Tell whether words repeat a wish of the user, and name nothing that the user does not."""
    wished = {_cut_to_stem(word) for word in WORD.findall(user)}
    repeats = any(len(word) >= STEM and _cut_to_stem(word) in wished for word in words)
    names = [word for word in words[1:] if word[0].isupper() and _cut_to_stem(word) not in wished]
    return repeats and not any(len(name) > 1 for name in names)


def _cut_to_stem(word: str) -> str:
    return word.lower()[:STEM]
