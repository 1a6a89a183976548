"""Complete `@path` in a message: the files and folders of the workspace, the best match first.

A name that begins with what was typed comes before one that holds it, and that before one that has
its letters in this order. What `.gitignore` leaves out is not offered. The folder is walked in a
thread, the nearest folders first, and what was found is kept for a while: typing never waits.
"""

import asyncio
import heapq
import os
import re
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import NamedTuple

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

TYPED = re.compile(r"(?<![^\s(])@(?:\"(?P<quoted>[^\"\n]*)|(?P<plain>[^\s\"]*))\Z")
OUTSIDE = re.compile(r"/|~|\.\.(?:/|$)")
"""How a path begins that leads out of the workspace."""

FRESH = 5.0
"""Seconds for which a walk is believed."""
LONGEST_WALK = 5.0
PATIENCE = 0.3
"""Seconds a walk is waited for; what it finds later is offered at the next key."""
OFFERED = 50
PLAIN = re.compile(r"[^\s\"]+")
"""A path that needs no quotation marks."""


class Walked(NamedTuple):
    """A walk of the workspace; `paths` grows while it goes on."""

    began: float
    paths: list[str]
    done: threading.Event


class AttachmentCompleter(Completer):
    def __init__(self, folder: Path) -> None:
        """`folder` is the workspace. Nothing is looked at before the first `@`."""
        self._folder = folder
        self._walked: Walked | None = None
        self._before: list[str] = []
        """What the walk before this one found."""

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        match = TYPED.search(document.text_before_cursor)
        if match is None:
            return
        typed = match["plain"] if match["quoted"] is None else match["quoted"]
        found = find_outside(typed, self._folder) if OUTSIDE.match(typed) else self._find(typed)
        for path in found:
            yield Completion(written(path), -len(match[0]) + 1, display=path)

    async def get_completions_async(
        self, document: Document, event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """The same, in a thread: keys are taken meanwhile."""
        if TYPED.search(document.text_before_cursor):
            for each in await asyncio.to_thread(lambda: [*self.get_completions(document, event)]):
                yield each

    def _find(self, typed: str) -> list[str]:
        walked = self._walk()
        walked.done.wait(PATIENCE)
        # While a walk goes on, what the one before found is offered too.
        paths = [*walked.paths] if walked.done.is_set() else [*walked.paths, *self._before]
        return best(typed, paths)

    def _walk(self) -> Walked:
        """The walk that is believed now; a new one is begun where there is none."""
        walked = self._walked
        if walked is not None:
            if not walked.done.is_set() or time.monotonic() - walked.began < FRESH:
                return walked
            self._before = walked.paths
        self._walked = walked = Walked(time.monotonic(), [], threading.Event())
        threading.Thread(target=walk, args=(self._folder, walked), daemon=True).start()
        return walked


def walk(folder: Path, walked: Walked) -> None:
    """Find what lies in the folder, level by level; a folder ends in a slash."""
    # All that is needed to look at files takes 20 ms to load.
    from andy_cli.errors import AndyError, ToolError
    from andy_cli.toolbox.files.search.ignoring import Ignored
    from andy_cli.toolbox.files.search.walking import DEEPEST, MOST, list_entries
    from andy_cli.toolbox.granted_paths import GrantedPath

    try:
        place = GrantedPath(folder.resolve(), folder.resolve())
        ignored = Ignored(place)
        waiting: deque[tuple[str, ...]] = deque([()])
        while waiting and len(walked.paths) < MOST:
            above = waiting.popleft()
            if time.monotonic() - walked.began > LONGEST_WALK:
                return
            try:
                there = [each for each in list_entries(place, above) if not ignored(each)]
            except ToolError:
                continue
            for entry in filter(lambda each: is_offered(each.path[-1]), there):
                walked.paths.append("/".join(entry.path) + "/" * (entry.kind == "folder"))
                if entry.kind == "folder" and len(entry.path) < DEEPEST:
                    waiting.append(entry.path)
    except (AndyError, OSError):
        return  # settings that cannot be read are told of elsewhere
    finally:
        walked.done.set()


def is_offered(name: str) -> bool:
    """Whether a name can be typed: it may not act on the terminal, nor end its quotation."""
    return name.isprintable() and '"' not in name


def best(typed: str, paths: list[str]) -> list[str]:
    """The paths that match, the best first."""
    wanted = typed.lower()
    letters = re.compile(".*?".join(map(re.escape, wanted)))
    ranked = ((rank(wanted, letters, path.lower()), path) for path in dict.fromkeys(paths))
    fitting = ((*key, path) for key, path in ranked if key is not None)
    return [path for *_, path in heapq.nsmallest(OFFERED, fitting)]


def rank(wanted: str, letters: re.Pattern[str], path: str) -> tuple[int, int, int] | None:
    """How well a path matches, the smallest best: the way, how deep it lies, how long it is."""
    whole = path.rstrip("/")
    name = whole[whole.rfind("/") + 1 :]
    if name.startswith(wanted):
        way = 0
    elif path.startswith(wanted):
        way = 1
    elif wanted in name:
        way = 2
    elif wanted in path:
        way = 3
    elif letters.search(path):
        way = 4
    else:
        return None
    return way, whole.count("/"), len(path) if wanted else 0


def find_outside(typed: str, folder: Path) -> list[str]:
    """What lies in the folder outside the workspace that is typed, by the beginning of its name."""
    above, _, begun = typed.rpartition("/")
    if "/" not in typed:
        return [f"{typed}/"]
    try:
        place = folder / Path(f"{above}/").expanduser()
        with os.scandir(place) as entries:
            names = [each.name + "/" * each.is_dir() for each in entries if is_offered(each.name)]
    except (OSError, RuntimeError):
        return []
    fitting = [each for each in names if each.lower().startswith(begun.lower())]
    shown = [each for each in fitting if begun or not each.startswith(".")]
    return [f"{above}/{each}" for each in sorted(shown)[:OFFERED]]


def written(path: str) -> str:
    """As it stands in a message; the quotation of a folder stays open for what is in it."""
    if PLAIN.fullmatch(path):
        return path
    return f'"{path}' if path.endswith("/") else f'"{path}"'
