"""Find and list the sessions that are kept. There is no index: the ends of each file are enough."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.foreign_values import text_of
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.sessions.log import (
    BUSY,
    CARD,
    MAX_TITLE_LENGTH,
    TAIL_BYTES,
    Log,
    Record,
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
    for path, status in sorted(_session_files(sessions), key=_newest_first):
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


def _newest_first(file: tuple[Path, os.stat_result]) -> tuple[float, str]:
    path, status = file
    # The id begins with the time too: it decides between files of one moment.
    return -status.st_mtime, "".join(chr(0x10FFFF - ord(character)) for character in path.stem)


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
    matching_ids = (
        [beginning]
        if beginning in cards
        else sorted(id for id in cards if beginning and id.startswith(beginning))
    )
    if not matching_ids:
        raise UsageError(f"There is no session {beginning!r}.", ALL)
    if len(matching_ids) > 1:
        shown_ids = ", ".join(matching_ids[-NAMED:]) + (
            ", ..." if len(matching_ids) > NAMED else ""
        )
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
    """Give a session a name. Raises UsageError where another andy writes it."""
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
