"""The session on disk: one JSON object a line, written, flushed and synced before it counts.

    {"seq": 1, "type": "message", "role": "user", "content": "...", "check": "9a3f51c2"}

`check` is the CRC-32 of the line without it: a torn line is known as such and passed over. A line
begins on a line of its own, whatever was torn before it. Secrets are redacted, as in captures.

What a list shows of a session stands in lines of type `session`: its folder, name, model, process
and first words. One is written first, and again every CARD_EVERY bytes, so that the end of a file
is enough to know it. Files from before there were such lines have none.

Not an error that ends the turn: a disk that is full is no reason to end a conversation. What cannot
be written is told once and kept back, and written first as soon as that is possible again.
"""

import errno
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from andy_cli.errors import UsageError
from andy_cli.foreign_values import as_record, as_records, read_json, text_of
from andy_cli.messages import Message, Role, ToolCall
from andy_cli.settings import lock_file, sync_folder

Record = Mapping[str, object]
MENDING = {
    errno.ENOSPC: " Make room, or give --no-session.",
    errno.EDQUOT: " Make room, or give --no-session.",
    errno.EROFS: " Set XDG_STATE_HOME to a folder that can be written, or give --no-session.",
    errno.EACCES: " Let andy write to that folder, or give --no-session.",
}
"""Advice to the user, by the error of the system."""
ROLES: tuple[Role, ...] = get_args(Role)
BUSY = "another andy is writing it"
CARD = "session"
COMPACTION = "compaction"
RETRACTION = "retraction"
AUDIT = "audit"
"""The record of an answer that did not hold and was asked for anew: none of both is told."""
END = "end"
"""The record of how a call ended; one that did not begin has it too."""
VERSION = 2
"""Of the file's format, as its cards tell it; files without a card are of version 1."""
CARD_EVERY = 16_384
"""Bytes of a session after which its card is written again."""
TAIL_BYTES = 131_072
"""Bytes at the end of a session that hold a card and a number, unless a line is longer."""
MAX_TITLE_LENGTH = 200
"""Characters of the first words that a card holds."""


class Log:
    """One session, appended to: a 0600 file in a 0700 folder, by one process at a time."""

    def __init__(
        self,
        folder: Path,
        session_id: str,
        secrets: Sequence[str] = (),
        card_fields: Record | None = None,
    ) -> None:
        """`secrets` are values known to be some. The file is opened with the first message.

        `card_fields` is what a list shall show of the session; without it the file has no cards.
        """
        self.path = folder / f"{session_id}.jsonl"
        self.secrets = list(secrets)
        self._card = dict(card_fields) if card_fields is not None else None
        self._since_card = CARD_EVERY
        """Bytes written after the last card; so many at first that one is due."""
        self._descriptor = -1
        self._seq = 0
        self._waiting: list[Record] = []
        """Records that are not known to be on disk; the first `_written` are in the file."""
        self._written = 0
        self._torn = False
        """The file does not end with the end of a line."""
        self._problem = ""
        self._error_number: int | None = None
        self._told = False

    def message(self, message: Message) -> None:
        """Keep a message of the conversation; it is on disk when this returns, if it can be."""
        if message.role == "user" and self._card is not None and not self._card.get("title"):
            self._card["title"] = first_words(message.content)[:MAX_TITLE_LENGTH]
        self.append("message", **make_record(message))

    def compaction(self, messages: Sequence[Message]) -> None:
        """Keep what the model is told from now on in place of all that was said so far.

        An andy that does not know this kind of line tells the model the whole.
        """
        self.append(COMPACTION, messages=[make_record(message) for message in messages])

    def retraction(self, messages_after: int) -> None:
        """Keep that an answer and the question after it count no more; so many messages follow
        them.

        An andy that does not know this kind of line tells the model both.
        """
        self.append(RETRACTION, messages_after=messages_after)

    def audit(self, unverified: Sequence[str]) -> None:
        """Keep what of the last answer nothing supports."""
        self.append(AUDIT, unverified=list(unverified))

    def append(self, type: str, **fields: object) -> None:
        """Keep a record, after the card if that is due."""
        if self._since_card >= CARD_EVERY and self._card is not None:
            self._add_card()
        self._add_record(type, fields)
        # A long record is followed by the card at once: the next may be as long.
        if self._since_card >= CARD_EVERY and self._card is not None:
            self._add_card()
        self._keep_waiting()

    def note(self, type: str, **fields: object) -> None:
        """Keep a record together with the next one; one that is killed before may lose it."""
        self._add_record(type, fields)

    def update_card(self, **fields: object) -> None:
        """Change what a list shows of the session; written with the next record."""
        if self._card is not None:
            self._card.update(fields)
            self._since_card = CARD_EVERY

    def write_card(self) -> None:
        """Say in the session whose it is now."""
        self._add_card()
        self._keep_waiting()

    def _add_record(self, type: str, fields: Mapping[str, object]) -> None:
        from andy_cli.guard.redactor import redact_value  # 3 ms, after the prompt

        record = redact_value(fields, self.secrets)
        assert isinstance(record, dict)
        self._waiting.append({"type": type, "time": round(time.time(), 3), **record})
        # Characters will do: it only says when the next card is due.
        self._since_card += len(str(record)) if self._card is not None else 0

    def _add_card(self) -> None:
        assert self._card is not None
        card_record = {"version": VERSION, "pid": os.getpid(), **self._card}
        self._add_record(CARD, card_record)
        self._since_card = 0

    @property
    def is_kept(self) -> bool:
        """True if all that was said is on disk."""
        return not self._waiting

    def take_problem(self) -> str:
        """Why the session is not kept, in words for the user; once until it is kept again."""
        if not self._problem or self._told:
            return ""
        self._told = True
        return f"This session is not kept in {self.path}: {self._problem}."

    @property
    def advice(self) -> str:
        """The advice to the user about the problem that was told."""
        return f"The conversation goes on.{MENDING.get(self._error_number or 0, '')}"

    def close(self) -> None:
        """Give up the file; what still waits is tried once more."""
        if self._waiting:
            self._keep_waiting()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _keep_waiting(self) -> None:
        """Write and sync all that waits; what fails is tried again with the next record."""
        try:
            self.open()
            while self._written < len(self._waiting):
                numbered = {"seq": self._seq + self._written + 1, **self._waiting[self._written]}
                self._write_line(encode_record(numbered))
                self._written += 1
            self._sync_file()
        except OSError as error:
            self._problem = error.strerror or str(error)
            self._error_number = error.errno
            return
        self._seq += self._written
        self._waiting, self._written = [], 0
        self._problem, self._told = "", False

    def open(self) -> None:
        """Be the only writer of the session from now on, and go on where its file ends.

        Nothing is written yet. Raises OSError where that cannot be, with BUSY as its text where
        another process is the writer.
        """
        if self._descriptor >= 0:
            return
        descriptor = open_locked(self.path)
        try:
            data = read_tail(self.path, TAIL_BYTES)
            self._seq = last_number(data)
            if data and not self._seq:  # one line is longer than what was read
                self._seq = last_number(self.path.read_bytes())
        except OSError:
            os.close(descriptor)
            raise
        self._torn = bool(data) and not data.endswith(b"\n")
        self._descriptor = descriptor

    def _write_line(self, line: bytes) -> None:
        """Write a line on a line of its own, after one that was written only in part too."""
        data = b"\n" + line if self._torn else line
        self._torn = True
        while data:
            data = data[os.write(self._descriptor, data) :]
        self._torn = False

    def _sync_file(self) -> None:
        """Have it on disk; lines of which that is not known are written again, the very same."""
        try:
            os.fsync(self._descriptor)
        except OSError:
            self._written = 0
            raise


def first_words(content: str) -> str:
    """Cut a session's title from a message: its first paragraph, as files may follow."""
    beginning = content.lstrip()[: 5 * MAX_TITLE_LENGTH]
    paragraph, _, _ = beginning.partition("\n\n")
    return " ".join(paragraph.split())


def open_locked(path: Path) -> int:
    """Open a session's file to append to it. Raises OSError, also where another andy writes it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    created = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        become_writer(descriptor)
        if not os.fstat(descriptor).st_nlink:  # removed while we waited for the lock
            raise FileNotFoundError(errno.ENOENT, "it was removed just now")
        if created:
            sync_folder(path.parent)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def become_writer(descriptor: int) -> None:
    """Be the only writer. Raises OSError where there is another; without locks there is no say."""
    try:
        lock_file(descriptor)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            raise OSError(errno.EAGAIN, BUSY) from error


def encode_record(record: Record) -> bytes:
    """The line of a record; half a surrogate pair becomes an escape and stays what it is."""
    line = json.dumps(record, ensure_ascii=False, default=str)
    data = line.encode("utf-8", "backslashreplace")
    return data[:-1] + MARK + line_checksum(data) + b'"}\n'


MARK = b', "check": "'


def line_checksum(data: bytes) -> bytes:
    return b"%08x" % zlib.crc32(data)


def decode_record(line: bytes) -> Record | None:
    """The record of a line; None where the line is damaged or none of ours."""
    record = read_json(checked_data(line))
    return record if isinstance(record, dict) else None


def checked_data(line: bytes) -> bytes:
    """The record of a line as it was before it got its checksum; empty where that is not right."""
    head, mark_found, end = line.rpartition(MARK)
    data = head + b"}"
    return data if mark_found and end == line_checksum(data) + b'"}' else b""


def count_damaged_lines(lines: Iterable[bytes]) -> int:
    """Count the lines that cannot be read; one that was written twice counts once."""
    return sum(not checked_data(line) for line in set(filter(None, lines)))


def intact_records(data: bytes) -> Iterator[Record]:
    """The records in a session's bytes, in order; a line that was written twice counts once."""
    seen_lines: set[bytes] = set()
    for line in data.split(b"\n"):  # no other sign ends a line, whatever a message holds
        record = decode_record(line) if line not in seen_lines else None
        if record is not None:
            seen_lines.add(line)
            yield record


def last_number(data: bytes) -> int:
    """The highest number in a session's bytes; 0 where there is none."""
    return max((int_of(record, "seq") for record in intact_records(data)), default=0)


def read_tail(path: Path, size: int) -> bytes:
    """The last bytes of a file; the first line of them may be without its beginning."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - size))
        return file.read()


def read_records(path: Path) -> Iterator[Record]:
    """The intact records of a session, in order. Raises UsageError where it cannot be read."""
    yield from intact_records(read_whole(path))


def read_whole(path: Path) -> bytes:
    """The bytes of a session. Raises UsageError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def read(path: Path) -> Iterator[Message]:
    """The messages of a session, in order; damaged lines are passed over."""
    messages: list[Message] = []
    for record in read_records(path):
        apply_record(messages, record)
    yield from messages


def apply_record(messages: list[Message], record: Record) -> None:
    """Do to the messages so far what a record says: add one, take back an answer and the question
    after it, or tell what of the last answer nothing supports."""
    if record.get("type") == "message":
        if message := as_message(record):
            messages.append(message)
    elif record.get("type") == RETRACTION:
        end = len(messages) - int_of(record, "messages_after")
        if 2 <= end <= len(messages) and is_answer_with_note(*messages[end - 2 : end]):
            del messages[end - 2 : end]
    elif record.get("type") == AUDIT and messages and messages[-1].role == "assistant":
        texts = record.get("unverified")
        unverified = tuple(map(str, texts)) if isinstance(texts, list) else ()
        messages[-1] = messages[-1]._replace(unverified=unverified)


def is_answer_with_note(answer: Message, note: Message) -> bool:
    """Tell whether these are an answer and what andy asked of it: after a damaged line they may be
    something else."""
    return answer.role == "assistant" and not answer.calls and note.note


def make_record(message: Message) -> dict[str, object]:
    record: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        record["calls"] = [
            {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            for call in message.calls
        ]
    for name in ("call_id", "name", "reasoning", "partial", "note", "unverified"):
        if value := getattr(message, name):
            record[name] = value
    return record


def as_message(record: Record) -> Message | None:
    """The message in a record; None where a foreign hand wrote something else there."""
    role = next((role for role in ROLES if role == record.get("role")), None)
    content, calls = record.get("content"), record.get("calls", [])
    if role is None or not isinstance(content, str) or not isinstance(calls, list):
        return None
    return Message(
        role=role,
        content=content,
        calls=tuple(map(as_call, as_records(calls))),
        call_id=text_of(record, "call_id"),
        name=text_of(record, "name"),
        reasoning=text_of(record, "reasoning"),
        partial=record.get("partial") is True,
        note=record.get("note") is True,
    )


def as_call(record: Record) -> ToolCall:
    arguments = as_record(record.get("arguments"))
    return ToolCall(text_of(record, "id"), text_of(record, "name"), arguments)


def int_of(record: Record, key: str) -> int:
    value = record.get(key)
    return value if isinstance(value, int) else 0
