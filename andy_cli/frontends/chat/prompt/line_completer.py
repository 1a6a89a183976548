"""Complete what is typed: slash commands at Tab, and `@path` in a message.

Imported before the first prompt: what knows the commands is loaded when it is first needed.

Paths are those of the workspace, the best match first: a name that begins with what was typed comes
before one that holds it, and that before one that has its letters in this order. What `.gitignore`
leaves out is not offered. The folder is walked in a thread, the nearest folders first, and what was
found is kept for a while: typing never waits.
"""

import asyncio
import heapq
import os
import re
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

TAB_SECONDS = 2.0
"""Seconds that somebody waits after Tab; what is not known by then is not offered."""
ATTACHMENT = re.compile(r"(?<![^\s(])@(?:\"(?P<quoted>[^\"\n]*)|(?P<plain>[^\s\"]*))\Z")
OUTSIDE = ("/", "~", "../")
"""The beginnings of paths that lead out of the workspace."""

FRESH_SECONDS = 5.0
"""Seconds for which a walk is believed."""
MAX_WALK_LENGTH = 5.0
WALK_SECONDS = 0.3
"""Seconds a walk is waited for; what it finds later is offered at the next key."""
MAX_OFFERED = 50


def load_commands(typed: str) -> None:
    """Import all commands, if a command is typed."""
    if typed.startswith("/"):
        from andy_cli.frontends.chat.command_lookup import list_commands

        list_commands()


class LineCompleter(Completer):
    def __init__(self, session: Callable[[], object]) -> None:
        """`session` returns the chat's `ChatSession`, or None before there is one.

        To name its type here would load it before the first prompt.
        """
        self._session = session

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor
        if not typed.startswith("/") or "\n" in typed:
            return
        from andy_cli.frontends.chat.command_lookup import find_offers  # imports all commands

        for replaced, value, about in find_offers(typed, self._session()):
            yield Completion(value, start_position=-replaced, display_meta=about)

    async def get_completions_async(
        self, document: Document, event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """In a thread: the screen lives on while a slow disk is read."""
        # The first Tab waits as long as it takes to import them, or it would do nothing.
        await asyncio.to_thread(load_commands, document.text_before_cursor)

        def find_completions() -> list[Completion]:
            return list(self.get_completions(document, event))

        try:
            completions = await asyncio.wait_for(asyncio.to_thread(find_completions), TAB_SECONDS)
        except TimeoutError:
            return
        for completion in completions:
            yield completion


class FolderWalk(NamedTuple):
    """A walk of the workspace; `paths` grows while it goes on."""

    began: float
    paths: list[str]
    done: threading.Event


class AttachmentCompleter(Completer):
    def __init__(self, folder: Path) -> None:
        """`folder` is the workspace. Nothing is looked at before the first `@`."""
        self._folder = folder
        self._current_walk: FolderWalk | None = None
        self._earlier_paths: list[str] = []
        """The findings of the walk before this one."""

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        match = ATTACHMENT.search(document.text_before_cursor)
        if match is None:
            return
        typed = match["plain"] if match["quoted"] is None else match["quoted"]
        is_outside = typed.startswith(OUTSIDE) or typed == ".."
        found_paths = find_outside(typed, self._folder) if is_outside else self._find_paths(typed)
        for path in found_paths:
            yield Completion(quote_path(path), -len(match[0]) + 1, display=path)

    async def get_completions_async(
        self, document: Document, event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Complete in a thread: keys are taken meanwhile."""
        if ATTACHMENT.search(document.text_before_cursor):
            for completion in await asyncio.to_thread(
                lambda: list(self.get_completions(document, event))
            ):
                yield completion

    def _find_paths(self, typed: str) -> list[str]:
        current_walk = self._start_walk()
        current_walk.done.wait(WALK_SECONDS)
        if current_walk.done.is_set():
            return find_best(typed, list(current_walk.paths))
        # While a walk goes on, what the one before found is offered too.
        return find_best(typed, [*current_walk.paths, *self._earlier_paths])

    def _start_walk(self) -> FolderWalk:
        """The walk that is believed now; a new one is begun where there is none."""
        current_walk = self._current_walk
        if current_walk is not None:
            if (
                not current_walk.done.is_set()
                or time.monotonic() - current_walk.began < FRESH_SECONDS
            ):
                return current_walk
            self._earlier_paths = current_walk.paths
        self._current_walk = current_walk = FolderWalk(time.monotonic(), [], threading.Event())
        threading.Thread(target=walk_folder, args=(self._folder, current_walk), daemon=True).start()
        return current_walk


def walk_folder(folder: Path, current_walk: FolderWalk) -> None:
    """Find what lies in the folder, level by level; a folder ends in a slash."""
    # All that is needed to look at files takes 20 ms to load.
    from andy_cli.errors import AndyError
    from andy_cli.toolbox.files.search.walking import MAX_ENTRIES

    try:
        for paths in list_folders(folder, current_walk.began + MAX_WALK_LENGTH):
            current_walk.paths.extend(paths)
            if len(current_walk.paths) >= MAX_ENTRIES:
                return
    except (AndyError, OSError):
        return  # settings that cannot be read are told of elsewhere
    finally:
        current_walk.done.set()


def list_folders(folder: Path, deadline: float) -> Iterator[list[str]]:
    """Yield the paths in one folder after the other, the nearest first, until the deadline."""
    from andy_cli.errors import ToolError
    from andy_cli.toolbox.files.search.ignoring import IgnoreFilter
    from andy_cli.toolbox.files.search.walking import MAX_DEPTH, list_entries
    from andy_cli.toolbox.runtime_context import GrantedPath

    granted = GrantedPath(folder.resolve(), folder.resolve())
    ignored = IgnoreFilter(granted)
    waiting: deque[tuple[str, ...]] = deque([()])
    while waiting and time.monotonic() <= deadline:
        try:
            entries = list_entries(granted, waiting.popleft())
        except ToolError:
            continue
        paths = []
        for entry in entries:
            if ignored(entry) or not is_offered(entry.path[-1]):
                continue
            is_folder = entry.kind == "folder"
            paths.append("/".join(entry.path) + "/" * is_folder)
            if is_folder and len(entry.path) < MAX_DEPTH:
                waiting.append(entry.path)
        yield paths


def is_offered(name: str) -> bool:
    """Check that a name can be typed: it may not act on the terminal, nor end its quotation."""
    return name.isprintable() and '"' not in name


def find_best(typed: str, paths: list[str]) -> list[str]:
    """The paths that match, the best first."""
    typed_lower = typed.lower()
    ranked = ((rank_path(typed_lower, path.lower()), path) for path in dict.fromkeys(paths))
    fitting = ((*key, path) for key, path in ranked if key is not None)
    return [path for *_, path in heapq.nsmallest(MAX_OFFERED, fitting)]


def rank_path(typed_lower: str, path: str) -> tuple[int, int, int] | None:
    """Rank a path, the smallest best: by the way it matches, then its depth, then its length."""
    whole_path = path.rstrip("/")
    name = whole_path[whole_path.rfind("/") + 1 :]
    if name.startswith(typed_lower):
        match_rank = 0
    elif path.startswith(typed_lower):
        match_rank = 1
    elif typed_lower in name:
        match_rank = 2
    elif typed_lower in path:
        match_rank = 3
    elif has_letters(typed_lower, path):
        match_rank = 4
    else:
        return None
    return match_rank, whole_path.count("/"), len(path) if typed_lower else 0


def has_letters(typed_lower: str, path: str) -> bool:
    """Tell whether a path has the letters in this order, whatever stands between."""
    following_letters = iter(path)
    return all(letter in following_letters for letter in typed_lower)


def find_outside(typed: str, folder: Path) -> list[str]:
    """List the folder outside the workspace that is typed, by the beginning of its names."""
    folder_above, _, beginning = typed.rpartition("/")
    if "/" not in typed:
        return [f"{typed}/"]
    names = list_names(folder, f"{folder_above}/")
    if not beginning:
        names = [name for name in names if not name.startswith(".")]
    fitting = [name for name in names if name.lower().startswith(beginning.lower())]
    return [f"{folder_above}/{name}" for name in sorted(fitting)[:MAX_OFFERED]]


def list_names(folder: Path, written: str) -> list[str]:
    """List the names in a folder as it was written; none where it cannot be read."""
    try:
        with os.scandir(folder / Path(written).expanduser()) as entries:
            return [
                entry.name + "/" * entry.is_dir() for entry in entries if is_offered(entry.name)
            ]
    except (OSError, RuntimeError):
        return []


def quote_path(path: str) -> str:
    """As it stands in a message; the quotation of a folder stays open for what is in it."""
    if path.split() == [path] and '"' not in path:
        return path
    return f'"{path}' if path.endswith("/") else f'"{path}"'
