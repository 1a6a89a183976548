"""`-c` and `-r`: which session is gone on with, and what the user is told of it first."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from andy_cli.agent.history.history import split_message
from andy_cli.errors import UsageError
from andy_cli.frontends.command_line.options import ANY, Options
from andy_cli.frontends.management.session_text import describe_call
from andy_cli.frontends.session_factory import sessions_folder
from andy_cli.frontends.terminal.tables import shorten_text
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.guard.terminal_sanitizer import neutralize_text, one_line
from andy_cli.messages import Message
from andy_cli.sessions.store import (
    ResumedSession,
    SessionCard,
    find_newest,
    find_session,
    list_sessions,
    resume_session,
)
from andy_cli.toolbox.files.names import count_noun

MAX_NUMBERED = 15
"""Sessions that are shown with a number; the others are meant by their ids."""
MAX_LINES = 3
"""Of the last message and of its answer, so many are shown."""
MAX_LINE_LENGTH = 200
MAX_LABEL_LENGTH = 50
"""Characters of a line, and of a name in a list."""
CONSENTS = "What you agreed to then is asked again."


def find_named_session(options: Options) -> SessionCard | None:
    """The session that the options name; None where none is named, or the user has to choose.

    Raises UsageError: there is none, several are meant, or the options contradict each other.
    """
    if not options.resumes:
        return None
    if options.no_session:
        raise UsageError(
            "--no-session keeps nothing on disk, and a session is gone on with in its file.",
            "Leave out --no-session.",
        )
    if options.continue_last and options.resume:
        raise UsageError("-c is the newest session and -r names one.", "Give one of them.")
    if options.continue_last:
        return find_newest(sessions_folder(), Path.cwd())
    return None if options.resume == ANY else find_session(sessions_folder(), options.resume)


def open_session(session_card: SessionCard) -> ResumedSession:
    """Become the writer of a session. Raises UsageError."""
    return resume_session(session_card, secrets_of(os.environ))


def offer_sessions(without: str = "") -> list[SessionCard]:
    """This folder's sessions to choose from, newest first; not the one of the id `without`."""
    cards = list_sessions(sessions_folder(), Path.cwd())
    return [session_card for session_card in cards if session_card.id != without]


def number_sessions(cards: Sequence[SessionCard]) -> str:
    """Number the first sessions, and say how many more there are."""
    rows = [
        f"{number:>3}  {describe_session(session_card)}"
        for number, session_card in enumerate(cards[:MAX_NUMBERED], start=1)
    ]
    if len(cards) > MAX_NUMBERED:
        rows.append(f"{len(cards) - MAX_NUMBERED:,} more: `andy sessions list` shows all.")
    return "\n".join(rows)


def describe_session(session_card: SessionCard) -> str:
    return (
        f"{session_card.id}  {format_age(session_card.changed):>6}  {label_session(session_card)}"
    )


def format_age(changed: float) -> str:
    """Format how long ago something was, in its largest unit."""
    seconds = max(0, int(time.time() - changed))
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return "now"


def label_session(session_card: SessionCard) -> str:
    """The name of a session, else its first words."""
    words = session_card.name or session_card.title or "(nothing was said)"
    return one_line(shorten_text(words, MAX_LABEL_LENGTH))


def pick_session(answer: str, offered: Sequence[SessionCard]) -> SessionCard:
    """The session of a number in the list, else of an id. Raises UsageError."""
    answer = answer.strip()
    if answer.isdecimal() and len(answer) < 3:
        if not 0 < int(answer) <= min(len(offered), MAX_NUMBERED):
            raise UsageError(f"There is no number {answer} in the list.")
        return offered[int(answer) - 1]
    return find_session(sessions_folder(), answer)


def summarize_session(resumed: ResumedSession) -> str:
    """Tell the user where it goes on, the last that was said, and what was interrupted."""
    return neutralize_text(redact_text("\n".join(summarize_lines(resumed)), secrets_of(os.environ)))


def summarize_lines(resumed: ResumedSession) -> Iterator[str]:
    session_card = resumed.card
    session_name = (
        f"{session_card.id} ({session_card.name})" if session_card.name else session_card.id
    )
    yield f"Going on with {session_name}. {CONSENTS}"
    if session_card.folder and not session_card.is_of(Path.cwd()):
        missing_note = "" if Path(session_card.folder).is_dir() else ", which is gone"
        yield f"It was held in {session_card.folder}{missing_note}; tools work in {Path.cwd()} now."
    if not resumed.whole:
        number = len(resumed.messages)
        yield f"It is long: the model is told of the last {number:,} messages at most."
    if resumed.damaged_lines:
        yield describe_damage(resumed.damaged_lines)
    if resumed.compaction is not None:
        yield "It was compacted: the model is told the summary, the file keeps all."
    yield from quote_last(resumed.messages)
    for call in resumed.interrupted:
        action = shorten_text(describe_call(call.name, call.arguments), MAX_LINE_LENGTH)
        yield (
            f"andy was ended in the middle of: {action}. Whether it had its effect "
            "only you can see. It does not run again by itself."
        )


def describe_damage(damaged_lines: int) -> str:
    lines = count_noun(damaged_lines, "line")
    return f"{lines} of its file cannot be read: what stood there is left out."


def quote_last(messages: Sequence[Message]) -> Iterator[str]:
    """Quote the user's last message and its answer, each by its first lines."""
    user_positions = [
        position
        for position, message in enumerate(messages)
        if message.role == "user" and not message.note
    ]
    last_position = user_positions[-1] if user_positions else 0
    if user_positions:
        words, came_with_them = split_message(messages[last_position].content)
        yield from shorten_lines("> ", words or came_with_them)
    if answer := find_last_answer(messages[last_position:]):
        yield from shorten_lines("  ", answer.content)


def find_last_answer(messages: Sequence[Message]) -> Message | None:
    answers = [
        message for message in messages if message.role == "assistant" and message.content.strip()
    ]
    return answers[-1] if answers else None


def shorten_lines(prefix: str, text: str) -> Iterator[str]:
    """The first lines of a text, each after a mark."""
    beginning = text[: 10 * MAX_LINE_LENGTH]
    lines = [line.rstrip() for line in beginning.split("\n") if line.strip()]
    for line in lines[:MAX_LINES]:
        yield prefix + shorten_text(line, MAX_LINE_LENGTH)
    if len(lines) > MAX_LINES or beginning != text:
        yield f"{prefix}..."
