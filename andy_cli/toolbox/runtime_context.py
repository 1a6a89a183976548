"""The surroundings of a call: settings, the workspace, the files it may open, the time it has.

A process has one context. Whoever opens a conversation enters it; what runs without (a test of one
tool) finds the settings as they are read from files, and the current folder.

Tools never open a path they were given. They ask here where it really is, and open it from there
without following a link again, so that nothing can be exchanged behind the gate's back.

A model may write a path as an address, in quotes, with an @ or in another case: a path that is
there as it was written is what was meant. The disk is looked at inside the workspace only; whether
a path may be used is judged afterwards, of the path that was found.

What takes long runs in a thread that can be stopped: by whoever waits for it, and by its own limit.

    async def search(...):
        return await in_thread(lambda work: search_files(files, work), seconds=30)

    for file in files:
        work.go_on()        # raises ToolError when it is to stop, ToolTimeout when its time is up

Work that cannot be stopped runs in a thread that the end of the program does not wait for. Not by
`asyncio.to_thread`, nor an executor: Python waits for their threads when it ends, however long a
look-up of a name, a page without end or somebody's tool takes.
"""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.foreign_values import as_record
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import (
    NO_GRANTS,
    Grants,
    Operation,
    compose_name,
    contain,
    inside,
    open_inside,
    resolve,
)
from andy_cli.messages import Arguments, Schema
from andy_cli.settings import Settings, load


class RuntimeContext(NamedTuple):
    settings: Settings
    workspace: Path
    """Absolute, links followed."""
    session_id: str = ""
    journals: Path | None = None
    """The folder where changes of files are kept, so that they can be taken back later."""


_entered: list[RuntimeContext] = []


def enter_context(
    settings: Settings, workspace: Path, session_id: str = "", journals: Path | None = None
) -> None:
    _entered[:] = [RuntimeContext(settings, workspace.resolve(), session_id, journals)]


def leave_context() -> None:
    _entered.clear()


def current_context() -> RuntimeContext:
    """Raises UsageError for settings that cannot be read."""
    return _entered[0] if _entered else RuntimeContext(load(), Path.cwd().resolve())


class GrantedPath(NamedTuple):
    path: Path
    """Absolute, without links when it was looked up."""
    root: Path
    """The folder from which it is reached without following a link."""

    def open(self) -> BinaryIO:
        """The file, to read its bytes. Raises ToolError for what is no plain file by now."""
        return open_inside(self.path, self.root)


_granted: ContextVar[Grants] = ContextVar("granted", default=NO_GRANTS)


@contextmanager
def granting_places(grants: Grants) -> Iterator[None]:
    """Grant what runs inside these places too: where each path led when it was judged."""
    token = _granted.set(grants)
    try:
        yield
    finally:
        _granted.reset(token)


def not_judged(written: Iterable[str]) -> list[str]:
    """The paths that were no part of what the gate judged; none where it judged nothing.

    What a pattern means may have changed since.
    """
    granted = _granted.get()
    return [path for path in written if str(Path(path)) not in granted] if granted else []


def granted_path(written: str | Path, operation: Operation = "read") -> GrantedPath:
    """Find where a path of this call is. Raises ToolError where the call may not use it."""
    workspace = current_context().workspace
    judged = _granted.get().get(str(Path(written)))
    contained = contain(str(written), workspace, operation, judged)
    if contained.verdict == "invalid":
        raise ToolError(f"{spell_out(str(written))} cannot be used: {contained.reason}.")
    if contained.path is not None and contained.verdict != "outside":
        return GrantedPath(contained.path, workspace)
    path = judged or resolve(str(written), workspace, operation)
    if judged or inside(path, _granted.get().values()):
        return GrantedPath(path, Path(path.anchor))
    outside = spell_out(str(written))
    raise ToolError(f"{outside} is outside the workspace, and nobody agreed to it.")


QUOTES = "`\"'\u201c\u201d"
SCHEME = "file:"


class MeantPaths(NamedTuple):
    arguments: Arguments
    changes: tuple[str, ...] = ()


def find_meant_paths(arguments: Arguments, schema: Schema, workspace: Path) -> MeantPaths:
    """Replace those arguments that the schema calls paths and that mean another one.

    `schema` is that of the arguments: paths have `"format": "path"`.
    """
    meant_by_key: dict[str, object] = {}
    for key, property_schema in as_record(schema.get("properties")).items():
        written = arguments.get(key)
        if isinstance(written, str) and property_schema.get("format") == "path":
            meant_path = find_meant_path(written, workspace)
            if meant_path != written:
                meant_by_key[key] = meant_path
        elif paths := split_listed_paths(written, property_schema, workspace):
            meant_by_key[key] = paths
    if not meant_by_key:
        return MeantPaths(arguments)
    changes = tuple(
        f"{key}: {arguments[key]} -> {meant_path}" for key, meant_path in meant_by_key.items()
    )
    return MeantPaths({**arguments, **meant_by_key}, changes)


def split_listed_paths(written: object, schema: Schema, workspace: Path) -> list[str]:
    """Split the one path of a list into the files it names; empty where it is one that is there,
    or something that it names is not."""
    items = schema.get("items")
    is_paths = isinstance(items, Mapping) and items.get("format") == "path"
    if not (is_paths and isinstance(written, list) and len(written) == 1):
        return []
    text = str(written[0])
    parts = [part.strip("'\"") for part in text.split(", ")]
    return parts if len(parts) > 1 and are_meant(parts, text, workspace) else []


def are_meant(parts: Sequence[str], text: str, workspace: Path) -> bool:
    """Tell whether all of these files are there, and none that is called by the whole text."""
    try:
        is_one = _is_there(text, workspace)
        return not is_one and all(_is_there(part, workspace) for part in parts)
    except (ToolError, OSError, ValueError):
        return False


def find_meant_path(written: str, workspace: Path) -> str:
    """The path that was meant; itself where nothing says otherwise."""
    try:
        if _is_there(written, workspace):
            return written
        plain = _plain(written)
        # As users attach it to a message.
        if plain.startswith("@") and _is_there(plain[1:], workspace):
            return plain[1:]
        return plain if _is_there(plain, workspace) else _in_other_case(plain, workspace)
    except (ToolError, OSError, ValueError):
        return written


def _plain(written: str) -> str:
    """Without quotation marks and blanks around it, and no address of a file."""
    plain = written.strip()
    while len(plain) > 2 and plain[0] in QUOTES and plain[-1] in QUOTES:
        plain = plain[1:-1].strip()
    if plain.lower().startswith(SCHEME):
        url_parts = urlsplit(plain)
        if url_parts.netloc in ("", "localhost") and url_parts.path:
            return unquote(url_parts.path)
    return plain or written


def _is_there(written: str, workspace: Path) -> bool:
    path = resolve(written, workspace)
    return inside(path, [workspace.resolve()]) and os.path.lexists(path)


def _fold_case(name: str) -> str:
    return compose_name(name).lower()


def _in_other_case(written: str, workspace: Path) -> str:
    """The one path of the workspace that differs in nothing but its case; else as written."""
    path, workspace_root = resolve(written, workspace), workspace.resolve()
    if not inside(path, [workspace_root]):
        return written
    matched_path = workspace_root
    for component in path.relative_to(workspace_root).parts:
        names = [entry.name for entry in matched_path.iterdir()]
        same_names = [name for name in names if _fold_case(name) == _fold_case(component)]
        candidates = [component] if component in names else same_names
        if len(candidates) != 1:
            return written
        matched_path /= candidates[0]
    if Path(written).is_absolute():
        return str(matched_path)
    return str(matched_path.relative_to(workspace_root))


Result = TypeVar("Result")


async def run_in_daemon_thread(function: Callable[[], Result]) -> Result:
    """Return or raise what the work does. Cancelled, it is left to itself."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = copy_context()

    def run() -> None:
        try:
            result = context.run(function)
        except Exception as error:
            # Whatever it is, it belongs to who waits.
            deliver(partial(future.set_exception, error))
        else:
            deliver(partial(future.set_result, result))

    def deliver(outcome: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(deliver_once, outcome)

    def deliver_once(outcome: Callable[[], None]) -> None:
        if not future.done():
            outcome()

    threading.Thread(target=run, daemon=True).start()
    return await future


async def run_at_most(seconds: float, function: Callable[[], Result]) -> Result:
    """Return or raise what the work does. Raises TimeoutError, and leaves it to itself then."""
    async with asyncio.timeout(seconds):
        return await run_in_daemon_thread(function)


GoOn = Callable[[], None]
"""Called between two pieces of work; may raise."""


def go_on_always() -> None:
    """Goes on."""


GRACE_PERIOD = 0.3
"""Seconds a worker that was told to stop is waited for."""


class Work:
    """The time limit and stop sign of a worker, which it asks between two pieces of its work."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def over(self) -> bool:
        """True once its time is up."""
        return time.monotonic() >= self._end

    def go_on(self) -> None:
        """Raises ToolError if it was stopped, ToolTimeout if its time is up."""
        if self.is_stopped:
            raise ToolError("It was stopped.")
        if self.over:
            raise ToolTimeout(
                f"It was stopped after {self.seconds:g} s.", "Ask for less at a time."
            )

    def wait(self, seconds: float) -> None:
        """So long, or until it is stopped."""
        self._stopped.wait(seconds)


async def in_thread(
    function: Callable[[Work], Result], seconds: float, grace: float = GRACE_PERIOD
) -> Result:
    """Run `function` in a thread; return its result.

    Cancelled, it is stopped and waited for `grace`.
    """
    work = Work(seconds)
    task = asyncio.create_task(run_in_daemon_thread(lambda: function(work)))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        work.stop()
        task.add_done_callback(_looked_at)
        await asyncio.wait([task], timeout=grace)
        raise


def _looked_at(task: "asyncio.Task[Result]") -> None:
    """Nobody waits for how it ended."""
    if not task.cancelled():
        task.exception()
