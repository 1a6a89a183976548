"""`andy docs add|list|remove|update`."""

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from andy_cli.errors import Cancelled, ToolError, UsageError
from andy_cli.frontends.terminal.progress_bars import counting_bar
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.settings import load
from andy_cli.toolbox.documents import index
from andy_cli.toolbox.documents.index import DocumentIndex
from andy_cli.toolbox.documents.indexing import IndexingCounts
from andy_cli.toolbox.documents.indexing import update_folder as brought_up_to_date

SHOWN = 20
"""Files that could not be read, at most; the others are counted."""

MEGABYTE = 1_000_000


def add(written: Sequence[str], overrides: Sequence[str]) -> int:
    """Index these and bring them up to date; returns the exit code."""
    folders = [_there(path) for path in written]
    with _opened() as opened:
        added = [opened.add(folder) for folder in folders]
        return _update(opened, list(dict.fromkeys(added)), overrides)


def update(overrides: Sequence[str]) -> int:
    """Bring all that is indexed up to date; returns the exit code."""
    with _opened() as opened:
        folders = [Path(folder.path) for folder in opened.folders()]
        if not folders:
            sys.stdout.write("Nothing is indexed. Run `andy docs add FOLDER`.\n")
        return _update(opened, folders, overrides)


def list_folders(as_json: bool) -> None:
    with _opened() as opened:
        folders = opened.folders()
    if as_json:
        print_json([{**folder._asdict(), "updated": _when(folder.updated)} for folder in folders])
    elif not folders:
        sys.stdout.write("Nothing is indexed. Run `andy docs add FOLDER`.\n")
    else:
        print_table(
            [
                (
                    _shown(folder.path),
                    _count(folder.files),
                    f"{folder.faults} not read" if folder.faults else "",
                    _when(folder.updated),
                )
                for folder in folders
            ]
        )


def remove(written: Sequence[str]) -> None:
    with _opened() as opened:
        for path in written:
            folder = Path(path).expanduser().resolve()
            known = [found.path for found in opened.folders()]
            if str(folder) not in known:
                listed = ", ".join(map(_shown, known)) or "nothing"
                raise UsageError(f"{spell_out(path)} is not indexed.", f"There is: {listed}")
            count = opened.remove(folder)
            sys.stdout.write(f"{_shown(str(folder))} is not indexed any more ({count} files).\n")


def _there(written: str) -> Path:
    path = Path(written).expanduser().resolve()
    if not path.exists():
        raise UsageError(f"There is no {spell_out(written)}.", "Name a folder or a file.")
    if path == Path(path.anchor):
        raise UsageError("The whole disk is not indexed.", "Name the folders with your documents.")
    return path


@contextmanager
def _opened() -> Iterator[DocumentIndex]:
    """The index; its troubles end the command with their line."""
    try:
        with index.open_index() as opened:
            yield opened
    except ToolError as error:
        raise UsageError(str(error)) from error


def _update(opened: DocumentIndex, folders: Sequence[Path], overrides: Sequence[str]) -> int:
    gc.enable()  # the door switched it off, and this takes its time
    largest = load(overrides).whole("documents.largest_file") * MEGABYTE
    code = 0
    for folder in folders:
        bar = counting_bar(f"indexing {_shown(str(folder))}", "files")
        try:
            tally = brought_up_to_date(opened, folder, largest, bar)
        except ToolError as error:
            sys.stderr.write(f"andy: {error}\n")
            code = 1
        except KeyboardInterrupt:
            raise Cancelled(
                "Stopped. What was read is kept; `andy docs update` goes on from there."
            ) from None
        else:
            sys.stdout.write(_told(folder, tally))
    return code


def _told(folder: Path, tally: IndexingCounts) -> str:
    parts = [_count(tally.files - len(tally.faults)), f"{tally.read} read now"]
    parts += [f"{tally.gone} gone"] if tally.gone else []
    lines = [f"{_shown(str(folder))}: {', '.join(parts)}"]
    lines += [f"  {_shown(path)}: {one_line(why)}" for path, why in tally.faults[:SHOWN]]
    if len(tally.faults) > SHOWN:
        lines.append(f"  and {len(tally.faults) - SHOWN} more that could not be read")
    return "\n".join(lines) + "\n"


def _count(files: int) -> str:
    return f"{files} file{'s' * (files != 1)}"


def _shown(path: str) -> str:
    home = str(Path.home())
    return spell_out(f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path)


def _when(updated: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(updated)) if updated else "unfinished"
