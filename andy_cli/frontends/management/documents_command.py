"""`andy docs add|list|remove|update`."""

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from andy_cli.errors import Cancelled, ToolError, UsageError
from andy_cli.frontends.terminal.progress_bars import create_counting_bar
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.settings import load
from andy_cli.toolbox.documents import index
from andy_cli.toolbox.documents.index import DocumentIndex, Folder
from andy_cli.toolbox.documents.indexing import IndexingCounts, update_folder
from andy_cli.toolbox.files.names import count_noun, shorten_home

SHOWN = 20
"""Files that could not be read, at most; the others are counted."""

MEGABYTE = 1_000_000


def add_folders(paths: Sequence[str], overrides: Sequence[str]) -> int:
    """Index these and bring them up to date; returns the exit code."""
    folders = [_find_folder(path) for path in paths]
    with _open_index() as document_index:
        added = [document_index.add(folder) for folder in folders]
        return _update_index(document_index, list(dict.fromkeys(added)), overrides)


def update_folders(overrides: Sequence[str]) -> int:
    """Bring all that is indexed up to date; returns the exit code."""
    with _open_index() as document_index:
        folders = [Path(folder.path) for folder in document_index.folders()]
        if not folders:
            sys.stdout.write("Nothing is indexed. Run `andy docs add FOLDER`.\n")
        return _update_index(document_index, folders, overrides)


def list_folders(as_json: bool) -> None:
    with _open_index() as document_index:
        folders = document_index.folders()
    if as_json:
        print_json(
            [{**folder._asdict(), "updated": _format_time(folder.updated)} for folder in folders]
        )
    elif not folders:
        sys.stdout.write("Nothing is indexed. Run `andy docs add FOLDER`.\n")
    else:
        print_table([_make_row(folder) for folder in folders])


def _make_row(folder: Folder) -> tuple[str, ...]:
    return (
        shorten_home(Path(folder.path)),
        count_noun(folder.files, "file"),
        f"{folder.faults} not read" if folder.faults else "",
        _format_time(folder.updated),
    )


def remove_folders(paths: Sequence[str]) -> None:
    with _open_index() as document_index:
        for path in paths:
            folder = Path(path).expanduser().resolve()
            indexed_paths = [indexed_folder.path for indexed_folder in document_index.folders()]
            if str(folder) not in indexed_paths:
                listed = ", ".join(map(shorten_home, map(Path, indexed_paths))) or "nothing"
                raise UsageError(f"{spell_out(path)} is not indexed.", f"There is: {listed}")
            count = document_index.remove(folder)
            sys.stdout.write(f"{shorten_home(folder)} is not indexed any more ({count} files).\n")


def _find_folder(written: str) -> Path:
    path = Path(written).expanduser().resolve()
    if not path.exists():
        raise UsageError(f"There is no {spell_out(written)}.", "Name a folder or a file.")
    if path == Path(path.anchor):
        raise UsageError("The whole disk is not indexed.", "Name the folders with your documents.")
    return path


@contextmanager
def _open_index() -> Iterator[DocumentIndex]:
    """The index; its troubles end the command with their line."""
    try:
        with index.open_index() as document_index:
            yield document_index
    except ToolError as error:
        raise UsageError(str(error)) from error


def _update_index(
    document_index: DocumentIndex, folders: Sequence[Path], overrides: Sequence[str]
) -> int:
    gc.enable()  # the door switched it off, and this takes its time
    largest = load(overrides).whole("documents.largest_file") * MEGABYTE
    code = 0
    for folder in folders:
        progress_bar = create_counting_bar(f"indexing {shorten_home(folder)}")
        try:
            counts = update_folder(document_index, folder, largest, progress_bar)
        except ToolError as error:
            sys.stderr.write(f"andy: {error}\n")
            code = 1
        except KeyboardInterrupt:
            raise Cancelled(
                "Stopped. What was read is kept; `andy docs update` goes on from there."
            ) from None
        else:
            sys.stdout.write(_describe_update(folder, counts))
    return code


def _describe_update(folder: Path, counts: IndexingCounts) -> str:
    counted_parts = [
        count_noun(counts.files - len(counts.faults), "file"),
        f"{counts.read} read now",
    ]
    counted_parts += [f"{counts.gone} gone"] if counts.gone else []
    lines = [f"{shorten_home(folder)}: {', '.join(counted_parts)}"]
    lines += [
        f"  {shorten_home(Path(path))}: {one_line(reason)}"
        for path, reason in counts.faults[:SHOWN]
    ]
    if len(counts.faults) > SHOWN:
        lines.append(f"  and {len(counts.faults) - SHOWN} more that could not be read")
    return "\n".join(lines) + "\n"


def _format_time(updated: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(updated)) if updated else "unfinished"
