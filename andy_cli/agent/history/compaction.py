"""Fold what was said into a summary that the model writes, because the user asked for it.

Word for word stay the task, what the user decided in few words, their last words with the answer,
and the last calls with their results; the system prompt is no part of the history. The summary
stands after the task, as a note of Andy's. The history itself stays whole, as does the session.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.history.compression import (
    DECIDED,
    MIN_CUT_CHARACTERS,
    compress_history,
    dump_arguments,
    estimate_message,
    find_latest_calls,
)
from andy_cli.agent.prompt.system_prompt import load_prompt
from andy_cli.messages import Message, Wire
from andy_cli.models.token_count import tokens

MIN_SUMMARY_TOKENS = 300
"""Tokens that are worth a summary."""
HEAD = "(A summary stands here in place of earlier messages of this conversation.)\n\n"
WISHES = "The user says of the summary: {wishes}"
END = "\n\nThis was the conversation. Write the summary now."
SPEAKERS = {"user": "User", "assistant": "Assistant"}


class CompactionSizes(NamedTuple):
    """The sizes of a history before and after it was compacted."""

    messages: int
    """The number that the summary stands for; 0 where nothing was changed."""
    before: int
    after: int
    """Estimated tokens of what is told of the history."""


def is_summary(message: Message) -> bool:
    return message.note and message.content.startswith(HEAD)


def find_verbatim_positions(history: Sequence[Message]) -> set[int]:
    """Find the positions of the messages that stay word for word."""
    user_positions = find_user_positions(history)
    positions = {*user_positions[:1], *user_positions[-1:]}
    positions |= {position for position in user_positions if is_decision(history[position].content)}
    latest_calls = find_latest_calls(history)
    if any(history[position].calls for position in latest_calls):
        positions |= latest_calls
    last_question = user_positions[-1] if user_positions else -1
    last_answer = find_last_answer(history)
    return positions | ({last_answer} if last_answer > last_question else set())


def find_user_positions(history: Sequence[Message]) -> list[int]:
    """Find the positions of what the user said; notes are andy's own."""
    return [
        position
        for position, message in enumerate(history)
        if message.role == "user" and not message.note
    ]


def find_last_answer(history: Sequence[Message]) -> int:
    """Find the position of the last message of the assistant without calls; -1 if there is none."""
    for position in reversed(range(len(history))):
        if history[position].role == "assistant" and not history[position].calls:
            return position
    return -1


def is_decision(words: str) -> bool:
    return len(words) <= MIN_CUT_CHARACTERS and DECIDED.search(words) is not None


def is_worth_it(history: Sequence[Message]) -> bool:
    """Tell whether a summary could be shorter than what it would stand for."""
    verbatim = find_verbatim_positions(history)
    summarized = (
        estimate_message(message)
        for position, message in enumerate(history)
        if position not in verbatim
    )
    return sum(summarized) >= MIN_SUMMARY_TOKENS


def render_summary_request(
    history: Sequence[Message], window: int, wishes: str
) -> tuple[Wire, ...]:
    """Render the request for a summary: the conversation as one text, as much as fits."""
    wishes_line = WISHES.format(wishes=wishes) if wishes else ""
    prompt = load_prompt("summary").substitute(wishes=wishes_line).strip()
    compressed = compress_history(history, window, tokens(prompt) + tokens(END), leave_out=True)
    text = "\n\n".join(
        line for message in compressed.history for line in render_transcript(message)
    )
    return ({"role": "system", "content": prompt}, {"role": "user", "content": text + END})


def render_transcript(message: Message) -> Iterator[str]:
    """Render one message as a reader of the conversation would see it."""
    content = message.content.strip()
    if message.role == "tool":
        yield f"Result of {message.name or 'a tool'}: {content}"
    elif content:
        speaker = "Note" if message.note else SPEAKERS.get(message.role, "Note")
        yield f"{speaker}: {content}"
    for call in message.calls:
        yield f"Assistant called {call.name} {dump_arguments(call)}"


def insert_summary(history: Sequence[Message], summary: str) -> list[Message]:
    """Put the summary in place of all that does not stay word for word."""
    messages = [history[position] for position in sorted(find_verbatim_positions(history))]
    task = 1 if messages and messages[0].role == "user" else 0
    messages.insert(task, Message("user", HEAD + escape_control_tokens(summary), note=True))
    return messages
