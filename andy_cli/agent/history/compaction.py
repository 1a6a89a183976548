"""Fold what was said into a summary that the model writes, because the user asked for it.

Word for word stay the task, what the user decided in few words, their last words with the answer,
and the last calls with their results; the system prompt is no part of the history. The summary
stands behind the task, as a note of Andy's. The history itself stays whole, as does the session.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.history.compression import (
    DECIDED,
    WORTH,
    compress_history,
    dump_arguments,
    estimate_message,
    find_latest_calls,
)
from andy_cli.agent.prompt.system_prompt import load_prompt
from andy_cli.messages import Message, Wire
from andy_cli.models.token_count import tokens

LEAST = 300
"""Tokens that are worth a summary."""
HEAD = "(A summary stands here in place of earlier messages of this conversation.)\n\n"
WISHES = "The user says of the summary: {wishes}"
END = "\n\nThis was the conversation. Write the summary now."
SPEAKERS = {"user": "User", "assistant": "Assistant"}


class CompactionSizes(NamedTuple):
    """What became of a history."""

    messages: int
    """How many the summary stands for; 0 where nothing was changed."""
    before: int
    after: int
    """Estimated tokens of what is told of the history."""


def is_summary(message: Message) -> bool:
    return message.note and message.content.startswith(HEAD)


def find_verbatim_positions(history: Sequence[Message]) -> set[int]:
    """The places of what stays word for word."""
    own = [at for at, each in enumerate(history) if each.role == "user" and not each.note]
    stays = {*own[:1], *own[-1:]}
    stays |= {at for at in own if is_decision(history[at].content)}
    calls = find_latest_calls(history)
    if any(history[at].calls for at in calls):
        stays |= calls
    answers = [at for at, each in enumerate(history) if each.role == "assistant" and not each.calls]
    return stays | {at for at in answers[-1:] if not own or at > own[-1]}


def is_decision(words: str) -> bool:
    return len(words) <= WORTH and DECIDED.search(words) is not None


def is_worth_it(history: Sequence[Message]) -> bool:
    """Whether a summary could be shorter than what it would stand for."""
    stays = find_verbatim_positions(history)
    return (
        sum(estimate_message(each) for at, each in enumerate(history) if at not in stays) >= LEAST
    )


def render_summary_request(
    history: Sequence[Message], window: int, wishes: str
) -> tuple[Wire, ...]:
    """What the model is asked: the conversation as one text, as much of it as fits."""
    told = WISHES.format(wishes=wishes) if wishes else ""
    prompt = load_prompt("summary").substitute(wishes=told).strip()
    fits = compress_history(history, window, tokens(prompt) + tokens(END), leave_out=True)
    text = "\n\n".join(line for message in fits.history for line in render_transcript(message))
    return (
        {"role": "system", "content": prompt},
        {"role": "user", "content": text + END},
    )


def render_transcript(message: Message) -> Iterator[str]:
    """One message as a reader of the conversation would see it."""
    content = message.content.strip()
    if message.role == "tool":
        yield f"Result of {message.name or 'a tool'}: {content}"
    elif content:
        speaker = "Note" if message.note else SPEAKERS.get(message.role, "Note")
        yield f"{speaker}: {content}"
    for call in message.calls:
        yield f"Assistant called {call.name} {dump_arguments(call)}"


def insert_summary(history: Sequence[Message], summary: str) -> list[Message]:
    """What is told from now on: what stays, and the summary for the rest."""
    stays = sorted(find_verbatim_positions(history))
    messages = [history[at] for at in stays]
    task = 1 if messages and messages[0].role == "user" else 0
    messages.insert(task, Message("user", HEAD + escape_control_tokens(summary), note=True))
    return messages
