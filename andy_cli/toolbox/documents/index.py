"""The index of documents: one SQLite file in the data folder, for its user alone.

    with opened() as index:
        index.add(Path("/home/ada/notes"))

It holds the text of what was indexed in pieces of some pages, beside how each file was when it was
read. It can be made again at any time, so a damaged one is set aside, never repaired. Any number of
processes may use it: each change is short, and whoever comes second waits.
"""

import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.whereabouts import index_file

VERSION = 1
TIMEOUT = 20.0
"""Seconds to wait for another process that is writing."""
PAUSE_SECONDS = 0.01
"""Seconds until a busy file is asked again."""

SCHEMA = """
create table folders (id integer primary key, path text unique not null, updated real);
create table files (
  id integer primary key, folder integer not null, path text unique not null,
  size integer not null, changed integer not null, checked integer not null,
  hash blob not null, fault text not null
);
create index files_of_folder on files (folder);
create table parts (
  id integer primary key, file integer not null, place text not null, unit text not null,
  line integer not null
);
create index parts_of_file on parts (file);
create virtual table pieces using fts5 (
  name, body, tokenize = 'porter unicode61 remove_diacritics 2'
);
insert into pieces (pieces, rank) values ('rank', 'bm25(10.0, 1.0)');
"""
BATCH = 500
NO_TEXT = "no text"
"""The fault of a file that need not be told: there is no text in it."""

DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
"""Primary result codes: https://www.sqlite.org/rescode.html"""

CONTROLS = dict.fromkeys((*range(9), *range(14, 32), 0x200B), " ")
EAST = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Scripts without blanks between words: each character is one, and U+200B keeps it apart."""


class Piece(NamedTuple):
    """So much of a file as is looked at as one."""

    place: str
    unit: str
    line: int
    """The number of its first line, from 1."""
    text: str


class FileState(NamedTuple):
    """The state of a file when it was read."""

    size: int
    changed: int
    """Nanoseconds, as the file system keeps it."""
    checked: int
    """Nanoseconds, when it was read."""
    hash: bytes
    fault: str = ""
    """Why there is no text of it, if there is none."""


class ReadFile(NamedTuple):
    """A file as it goes into the index; without pieces its text has stayed the same."""

    path: str
    name: str
    """The name it may be found by: its path in the folder."""
    state: FileState
    pieces: Sequence[Piece] | None


class Folder(NamedTuple):
    path: str
    files: int
    faults: int
    updated: float
    """Seconds since 1970; 0 if it never was."""


@contextmanager
def open_index(path: Path | None = None) -> Iterator["DocumentIndex"]:
    """The index, made if there is none. Raises ToolError; a damaged one is set aside then."""
    path = path or index_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        inode = path.stat().st_ino
    except OSError as error:
        raise ToolError(f"{path} cannot be used: {error.strerror}.") from error
    try:
        with closing(sqlite3.connect(path, timeout=TIMEOUT, isolation_level=None)) as connection:
            _prepare_tables(connection)
            yield DocumentIndex(connection)
    except sqlite3.Error as error:
        raise _explain_fault(error, path, inode) from error


def _prepare_tables(connection: sqlite3.Connection) -> None:
    """Raises DatabaseError for a file of somebody else, or of another version."""
    version = _schema_version(connection)
    if version == VERSION:
        return
    _keep_write_ahead_log(connection)
    with _transaction(connection):
        # Another process may have been faster.
        version = _schema_version(connection)
        tables = connection.execute("select count(*) from sqlite_master").fetchone()[0]
        if version == 0 and not tables:
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute(f"pragma user_version = {VERSION}")
        elif version != VERSION:
            error = sqlite3.DatabaseError("made by another program or version")
            error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
            raise error


def _keep_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch the file to a write-ahead log, which lets others read while one writes.

    SQLite says at once that a file is busy when this is asked of it; it does not wait by itself.
    """
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _is_busy(error: sqlite3.Error) -> bool:
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


def _explain_fault(error: sqlite3.Error, path: Path, inode: int) -> ToolError:
    code = _primary_code(error)
    if code in DAMAGE:
        return ToolError(_set_aside(path, inode))
    if _is_busy(error):
        return ToolError("The index of documents is being written by another process. Try again.")
    if code == sqlite3.SQLITE_FULL:
        return ToolError(f"The disk is full: {path} cannot grow. Make room and try again.")
    return ToolError(f"The index of documents in {path} cannot be used: {error}.")


def _set_aside(path: Path, inode: int) -> str:
    """Move a damaged index away and begin a new one of the same folders; says what happened."""
    aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    try:
        if path.stat().st_ino == inode:  # else another process has done it
            folders = _folders_of(path)
            path.rename(aside)
            for suffix in ("-wal", "-shm"):
                companion = Path(f"{path}{suffix}")
                if companion.exists():
                    companion.rename(f"{aside}{suffix}")
            with open_index(path) as index:
                for folder in folders:
                    index.add(Path(folder))
    except OSError as error:
        return f"The index of documents is damaged and cannot be set aside ({error.strerror})."
    advice = "`andy docs update` reads" if folders else "`andy docs add` with the folders makes"
    return f"The index of documents was damaged; it was set aside as {aside}. {advice} it anew."


def _folders_of(damaged: Path) -> list[str]:
    """Read what can still be read of the folders in a damaged index."""
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(damaged))}?mode=ro", uri=True)
        ) as damaged_index:
            rows = damaged_index.execute("select path from folders").fetchall()
    except sqlite3.Error:
        return []
    return [row[0] for row in rows if isinstance(row[0], str)]


def as_indexed(text: str) -> str:
    """A text as the index takes it, documents and queries alike."""
    text = text.translate(CONTROLS)
    return text if text.isascii() else EAST.sub("\\g<0>\u200b", text)


def as_written(text: str) -> str:
    return text.replace("\u200b", "")


class DocumentIndex:
    """An open index. Its methods raise sqlite3's errors, which `open_index` puts into words."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def folders(self) -> list[Folder]:
        rows = self._connection.execute(
            """select folders.path, count(files.id) filter (where fault = ''),
                      count(files.id) filter (where fault not in ('', ?)), coalesce(updated, 0)
               from folders left join files on files.folder = folders.id
               group by folders.id order by folders.path""",
            [NO_TEXT],
        )
        return [Folder(*row) for row in rows]

    def add(self, folder: Path) -> Path:
        """Have a folder, or a single file, in the index from now on; what is in it comes later.

        Returns the folder it is a part of, which may have been there before. Folders inside the new
        one become part of it.
        """
        indexed_folders = [Path(folder.path) for folder in self.folders()]
        for indexed_folder in indexed_folders:
            if folder.is_relative_to(indexed_folder):
                return indexed_folder
        execute = self._connection.execute
        with _transaction(self._connection):
            execute("insert or ignore into folders (path) values (?)", [str(folder)])
            (new_id,) = execute("select id from folders where path = ?", [str(folder)]).fetchone()
            for indexed_folder in indexed_folders:
                if indexed_folder.is_relative_to(folder):
                    (old_id,) = execute(
                        "select id from folders where path = ?", [str(indexed_folder)]
                    ).fetchone()
                    execute("update files set folder = ? where folder = ?", [new_id, old_id])
                    execute("delete from folders where id = ?", [old_id])
        return folder

    def remove(self, folder: Path) -> int:
        """Forget a folder and all that is in it; returns how many files that were."""
        paths = list(self.states(folder))
        self.forget(paths)
        self._connection.execute("delete from folders where path = ?", [str(folder)])
        # What is deleted stays in the file until it is written anew. Nobody else may use it then.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("insert into pieces (pieces) values ('optimize')")
            self._connection.execute("vacuum")
            self._connection.execute("pragma wal_checkpoint (truncate)")
        return len(paths)

    def states(self, folder: Path) -> dict[str, FileState]:
        """Return how each of a folder's files was when it was read, by its path."""
        rows = self._connection.execute(
            """select files.path, size, changed, checked, hash, fault from files
               join folders on folders.id = files.folder where folders.path = ?""",
            [str(folder)],
        )
        return {row[0]: FileState(*row[1:]) for row in rows}

    def put(self, folder: Path, files: Iterable[ReadFile]) -> None:
        """Take in files of a folder, all or none of them."""
        with _transaction(self._connection):
            folder_row = self._connection.execute(
                "select id from folders where path = ?", [str(folder)]
            ).fetchone()
            for file in files if folder_row else ():  # another process may have removed it
                self._put_file(folder_row[0], file)

    def _put_file(self, folder: int, read: ReadFile) -> None:
        execute = self._connection.execute
        if read.pieces is not None:
            self._drop_file(read.path)
        (file_id,) = execute(
            """insert into files (folder, path, size, changed, checked, hash, fault)
               values (?, ?, ?, ?, ?, ?, ?)
               on conflict (path) do update set size = excluded.size, changed = excluded.changed,
                 checked = excluded.checked, hash = excluded.hash, fault = excluded.fault
               returning id""",
            [folder, read.path, *read.state],
        ).fetchone()
        for index, piece in enumerate(read.pieces or ()):
            part_id = execute(
                "insert into parts (file, place, unit, line) values (?, ?, ?, ?)",
                [file_id, piece.place, piece.unit, piece.line],
            ).lastrowid
            execute(
                "insert into pieces (rowid, name, body) values (?, ?, ?)",
                [part_id, "" if index else read.name, piece.text],
            )

    def _drop_file(self, path: str) -> None:
        """Forget the text of a file."""
        execute = self._connection.execute
        execute(
            """delete from pieces where rowid in (select parts.id from parts
               join files on files.id = parts.file where files.path = ?)""",
            [path],
        )
        execute("delete from parts where file in (select id from files where path = ?)", [path])

    def forget(self, paths: Sequence[str]) -> None:
        """Take files out, in batches so that nobody waits long."""
        for batch_start in range(0, len(paths), BATCH):
            with _transaction(self._connection):
                for path in paths[batch_start : batch_start + BATCH]:
                    self._drop_file(path)
                    self._connection.execute("delete from files where path = ?", [path])

    def mark_updated(self, folder: Path) -> None:
        """Note that a folder was read to its end."""
        self._connection.execute(
            "update folders set updated = ? where path = ?", [time.time(), str(folder)]
        )

    def faults(self, folder: Path) -> list[tuple[str, str]]:
        """The files that could not be read, each with why."""
        states = self.states(folder).items()
        faulty_files = ((path, state.fault) for path, state in states)
        return sorted(row for row in faulty_files if row[1] not in ("", NO_TEXT))

    def rows(self, statement: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        """Run a query; for those who search."""
        return self._connection.execute(statement, values).fetchall()
