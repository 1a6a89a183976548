"""Read a session to go on with it: as much of its end as any model can be told."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.foreign_values import text_of
from andy_cli.messages import Message, ToolCall
from andy_cli.sessions.log import (
    COMPACTION,
    END,
    VERSION,
    Log,
    Record,
    apply_record,
    as_message,
    intact_records,
    read_tail,
)
from andy_cli.sessions.store import SessionCard, explain_busy

MAX_READ_BYTES = 4_000_000
"""Bytes of a session that are read: about a million tokens, more than the windows of models."""
BEGUN = "There is no result: andy was ended while it ran. It may have had its effect, in part too."
NOT_BEGUN = "There is no result: andy was ended before it ran."


class Compaction(NamedTuple):
    """The messages told in place of the beginning of a session, because the user asked for it."""

    stands_for: int
    """So many messages."""
    messages: tuple[Message, ...]


class EndedCall(NamedTuple):
    """A call, and the record of how it ended."""

    call: ToolCall
    end: Record


class ResumedSession(NamedTuple):
    """A session that this process is the writer of."""

    card: SessionCard
    log: Log
    messages: list[Message]
    interrupted: list[ToolCall]
    """The calls that were running when andy was ended; none of them runs again by itself."""
    whole: bool
    """The messages are all there are, and not the last of them only."""
    compaction: Compaction | None = None
    ended: Sequence[EndedCall] = ()
    damaged_lines: int = 0
    """Lines of its file that cannot be read, and are left out."""


def _find_started(calls: Iterable[ToolCall], records: Iterable[Record]) -> list[ToolCall]:
    starts = [record for record in records if record.get("type") == "start"]
    started = {text_of(record, "call_id") for record in starts}
    return [call for call in calls if call.id in started]


def resume_session(session_card: SessionCard, secrets: Sequence[str] = ()) -> ResumedSession:
    """Open a session to go on with it; calls without a result get one that says why.

    Raises UsageError: another andy writes it, it cannot be read, or it is no session.
    """
    if session_card.version > VERSION:
        raise UsageError(
            f"The session {session_card.id} was written by a newer andy.",
            "Update andy to go on with it.",
        )
    session_log = Log(session_card.path.parent, session_card.id, secrets, session_card.as_record())
    try:
        session_log.open()
        records, is_whole, damaged_lines = read_end(session_card)
    except OSError as error:
        raise explain_busy(session_card, error, f"`andy -r {session_card.id}`") from error
    except UsageError:
        session_log.close()
        raise
    session_log.write_card()
    messages: list[Message] = []
    for record in records:
        apply_record(messages, record)
    compaction = find_compaction(records)
    if not is_whole:
        messages, count_before = from_first_turn(messages), len(messages)
        compaction = without_first(compaction, count_before - len(messages))
    unanswered = find_unanswered(messages)
    interrupted = _find_started(unanswered, records)
    for call in unanswered:
        content = BEGUN if call in interrupted else NOT_BEGUN
        result = Message("tool", content, call_id=call.id, name=call.name)
        session_log.message(result)
        messages.append(result)
    return ResumedSession(
        session_card,
        session_log,
        messages,
        interrupted,
        is_whole,
        compaction,
        find_ended(records),
        damaged_lines,
    )


class SessionEnd(NamedTuple):
    records: list[Record]
    is_whole: bool
    """These are all records."""
    damaged_lines: int
    """Lines that cannot be read, but for one that was begun and not ended: andy was, meanwhile."""


def read_end(session_card: SessionCard) -> SessionEnd:
    """The last records of a session. Raises OSError; UsageError: it is no session."""
    size = MAX_READ_BYTES
    while True:
        data = read_tail(session_card.path, size)
        is_whole = len(data) < size
        records = list(intact_records(data))
        if any(map(message_in, records)):
            lines = data.split(b"\n")[0 if is_whole else 1 : -1]
            damaged_lines = max(0, len({*filter(None, lines)}) - len(records))
            return SessionEnd(records, is_whole, damaged_lines)
        if is_whole:
            raise UsageError(f"Nothing was said in {session_card.path}, or it is no session.")
        size *= 8  # the last line alone is longer


def message_in(record: Record) -> Message | None:
    return as_message(record) if record.get("type") == "message" else None


def find_ended(records: Iterable[Record]) -> list[EndedCall]:
    """Find how the calls ended, of those that andy kept it of. An id may come twice: the later
    call is meant."""
    calls: dict[str, ToolCall] = {}
    ended: list[EndedCall] = []
    for record in records:
        if message := message_in(record):
            calls.update({call.id: call for call in message.calls})
        elif record.get("type") == END and (call := calls.get(text_of(record, "call_id"))):
            ended.append(EndedCall(call, record))
    return ended


def find_compaction(records: Iterable[Record]) -> Compaction | None:
    """The last time that the conversation was compacted; None where it never was."""
    latest = None
    messages_before: list[Message] = []
    for record in records:
        apply_record(messages_before, record)
        if record.get("type") == COMPACTION and (messages := _read_messages(record)):
            latest = Compaction(len(messages_before), messages)
    return latest


def _read_messages(record: Record) -> tuple[Message, ...]:
    """Read what a compaction kept; nothing unless all of it can be read.

    A foreign hand may have written it: rather the whole conversation than a part of a summary.
    """
    kept_records = record.get("messages")
    if not isinstance(kept_records, list):
        return ()
    read_messages = [
        as_message(message) if isinstance(message, dict) else None for message in kept_records
    ]
    messages = tuple(message for message in read_messages if message is not None)
    return messages if len(messages) == len(kept_records) else ()


def without_first(compaction: Compaction | None, count: int) -> Compaction | None:
    """The same where so many of the first messages are not read."""
    if compaction is None:
        return None
    return compaction._replace(stands_for=max(0, compaction.stands_for - count))


def from_first_turn(messages: list[Message]) -> list[Message]:
    """Without the turn whose beginning is not among them; all, if there is no other."""
    for position, message in enumerate(messages):
        if message.role == "user" and not message.note:
            return messages[position:]
    return messages


def find_unanswered(messages: Iterable[Message]) -> list[ToolCall]:
    """The calls without a result, in order. An id may come twice: the later call is waited for."""
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        waiting.update({call.id: call for call in message.calls})
        if message.role == "tool":
            waiting.pop(message.call_id, None)
    return list(waiting.values())
