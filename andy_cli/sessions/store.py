"""Sessions that are kept: find, list and resume them. No index: the ends of each file are enough.

To go on with a session as much of its end is read as any model can be told.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.foreign_values import text_of
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.messages import Effect, Message, Status, ToolCall
from andy_cli.sessions.log import (
    BUSY,
    CARD,
    COMPACTION,
    END,
    MAX_TITLE_LENGTH,
    TAIL_BYTES,
    VERSION,
    Log,
    Record,
    apply_record,
    as_message,
    count_damaged_lines,
    decode_record,
    first_words,
    int_of,
    intact_records,
    open_locked,
    read_tail,
)

HEAD_BYTES = 65_536
"""Bytes at the beginning of a session in which its first card and its first message stand."""
ALL = "`andy sessions list --all` shows what there is."
NAMED = 3
"""So many sessions are named where several are meant."""


@dataclass(frozen=True, slots=True)
class SessionCard:
    """The entry of one session in a list."""

    path: Path
    changed: float
    """Seconds since 1970."""
    size: int
    folder: str = ""
    """The folder it was begun in, or gone on with last; unknown of old files."""
    name: str = ""
    title: str = ""
    """The first words that the user said in it."""
    model: str = ""
    pid: int = 0
    """The process that wrote to it last."""
    version: int = 1

    @property
    def id(self) -> str:
        return self.path.stem

    def is_of(self, folder: Path) -> bool:
        """Tell whether it belongs to a folder, whose path is redacted as all that is kept."""
        path = str(folder)
        return bool(self.folder) and self.folder in (
            path,
            redact_text(path, secrets_of(os.environ)),
        )

    def as_record(self) -> dict[str, object]:
        """Write it as a log keeps it."""
        return {"folder": self.folder, "name": self.name, "title": self.title, "model": self.model}


def list_sessions(sessions: Path, of_folder: Path | None = None) -> Iterator[SessionCard]:
    """The sessions in a folder of them, newest first; of one working folder, or of all.

    Lazy: whoever wants the newest alone has no others read. What cannot be read is passed over.
    """
    files = [
        (status.st_mtime, path.stem, path, status) for path, status in _session_files(sessions)
    ]
    # The id begins with the time too: it decides between files of one moment.
    for _, _, path, status in sorted(files, reverse=True):
        session_card = SessionCard(path, status.st_mtime, status.st_size)
        try:
            session_card = read_card(session_card)
        except OSError:
            continue
        if of_folder is None or session_card.is_of(of_folder):
            yield session_card


def _session_files(sessions: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in sessions.glob("*.jsonl"):
        try:
            yield path, path.stat()
        except OSError:  # removed meanwhile
            continue


def read_card(session_card: SessionCard) -> SessionCard:
    """Read what the ends of the file say of the session. Raises OSError."""
    lines = read_tail(session_card.path, TAIL_BYTES).split(b"\n")
    for line in reversed(lines):
        record = decode_record(line) if b'"type": "session"' in line else None
        if record is not None and record.get("type") == CARD:
            return with_record(session_card, record)
    with session_card.path.open("rb") as file:
        return with_head(session_card, intact_records(file.read(HEAD_BYTES)))


def with_head(session_card: SessionCard, records: Iterable[Record]) -> SessionCard:
    """The card of a file whose end has none: the first one, or the user's first words."""
    for record in records:
        if record.get("type") == CARD:
            session_card = with_record(session_card, record)
        elif record.get("role") == "user" and not session_card.title:
            words = first_words(text_of(record, "content"))
            return replace(session_card, title=redact_text(words)[:MAX_TITLE_LENGTH])
    return session_card


def with_record(session_card: SessionCard, record: Record) -> SessionCard:
    return replace(
        session_card,
        folder=text_of(record, "folder"),
        name=text_of(record, "name"),
        title=text_of(record, "title"),
        model=text_of(record, "model"),
        pid=int_of(record, "pid"),
        version=int_of(record, "version") or 1,
    )


def find_newest(sessions: Path, folder: Path) -> SessionCard:
    """The newest session of a working folder. Raises UsageError where there is none."""
    for session_card in list_sessions(sessions, folder):
        return session_card
    raise UsageError(f"No session was held in {folder} yet.", f"`andy` begins one. {ALL}")


def find_session(sessions: Path, beginning: str) -> SessionCard:
    """The session of this id, or of the only id that begins so. Raises UsageError."""
    cards = {path.stem: (path, status) for path, status in _session_files(sessions)}
    matching_ids = sorted(id for id in cards if beginning and id.startswith(beginning))
    if beginning in cards:
        matching_ids = [beginning]
    if not matching_ids:
        raise UsageError(f"There is no session {beginning!r}.", ALL)
    if len(matching_ids) > 1:
        others = ["..."] if len(matching_ids) > NAMED else []
        shown_ids = ", ".join([*matching_ids[-NAMED:], *others])
        raise UsageError(
            f"{len(matching_ids)} sessions begin with {beginning!r}: {shown_ids}.",
            "Give more of the id.",
        )
    path, status = cards[matching_ids[0]]
    try:
        return read_card(SessionCard(path, status.st_mtime, status.st_size))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def explain_busy(session_card: SessionCard, error: OSError, next_command: str) -> UsageError:
    """Why a session cannot be written: another process does, or the disk says no."""
    if error.strerror != BUSY:
        return UsageError(f"{session_card.path} cannot be written: {error.strerror or error}.")
    process = f"process {session_card.pid}" if session_card.pid else "another andy"
    return UsageError(
        f"The session {session_card.id} is open elsewhere: {process} writes to it.",
        f"Leave it there (Ctrl-D), then {next_command}.",
    )


def rename_session(session_card: SessionCard, name: str) -> None:
    """Give a session a name. Raises UsageError where another andy writes it, or a newer one did."""
    refuse_newer(session_card, "rename it")
    session_log = Log(
        session_card.path.parent,
        session_card.id,
        card_fields={**session_card.as_record(), "name": name},
    )
    try:
        session_log.open()
    except OSError as error:
        raise explain_busy(session_card, error, "rename it") from error
    session_log.write_card()
    session_log.close()
    if problem := session_log.take_problem():
        raise UsageError(problem)
    os.utime(
        session_card.path, (session_card.changed, session_card.changed)
    )  # nothing was said: it is no newer


def refuse_newer(session_card: SessionCard, wish: str) -> None:
    """Write nothing into a session that a newer andy wrote: its form may be another. Raises
    UsageError."""
    if session_card.version > VERSION:
        raise UsageError(
            f"The session {session_card.id} was written by a newer andy.", f"Update andy to {wish}."
        )


def remove_session(session_card: SessionCard) -> None:
    """Remove a session's file for good. Raises UsageError where another andy writes it."""
    try:
        descriptor = open_locked(session_card.path)
        try:
            if os.name != "nt":
                session_card.path.unlink()
        finally:
            os.close(descriptor)
        if os.name == "nt":  # there an open file cannot be removed
            session_card.path.unlink()
    except OSError as error:
        raise explain_busy(session_card, error, "remove it") from error


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
    refuse_newer(session_card, "go on with it")
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
    messages, compaction = replay_records(records)
    if not is_whole:
        messages, count_before = from_first_turn(messages), len(messages)
        if compaction is not None:
            # What was cut off stood before the rest: the summary speaks of so many messages fewer.
            stands_for = compaction.stands_for - (count_before - len(messages))
            compaction = compaction._replace(stands_for=max(0, stands_for))
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
            return SessionEnd(records, is_whole, count_damaged_lines(lines))
        if is_whole:
            raise UsageError(f"Nothing was said in {session_card.path}, or it is no session.")
        size *= 8  # the last line alone is longer


def message_in(record: Record) -> Message | None:
    return as_message(record) if record.get("type") == "message" else None


def find_ended(records: Iterable[Record]) -> list[EndedCall]:
    """Find how the calls ended, of those that andy kept it of. An id may come twice: the later
    call is meant. Of one call the last end counts."""
    calls: dict[str, ToolCall] = {}
    ended: list[EndedCall] = []
    for record in records:
        if message := message_in(record):
            calls.update({call.id: call for call in message.calls})
        elif (end := _read_end(record)) and (call := calls.get(text_of(record, "call_id"))):
            if ended and ended[-1].call is call:
                ended.pop()
            ended.append(EndedCall(call, end))
    return ended


def _read_end(record: Record) -> Record | None:
    """Read how a call ended; what was begun, and is done elsewhere, may be done without an end."""
    if record.get("type") == "start" and record.get("effect") == Effect.ACT:
        return {**record, "status": Status.CANCELLED.value, "may_be_done": True}
    return record if record.get("type") == END else None


def replay_records(records: Iterable[Record]) -> tuple[list[Message], Compaction | None]:
    """The messages of a session, and the last time that it was compacted, if it was."""
    messages: list[Message] = []
    compaction = None
    for record in records:
        apply_record(messages, record)
        if record.get("type") == COMPACTION and (told_messages := _read_messages(record)):
            compaction = Compaction(len(messages), told_messages)
    return messages, compaction


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
