"""`andy serve`: start the server, refuse what would be unsafe, end in good order."""

import asyncio
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, NoReturn

from andy_cli.errors import UsageError
from andy_cli.frontends.serve.call_records import SharedStats
from andy_cli.guard.addresses import is_loopback
from andy_cli.settings import Settings, load


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of the command line."""

    upstream: Sequence[str]
    model: str = ""
    dialect: str = "auto"
    host: str = "127.0.0.1"
    port: int = 8787
    workers: int = 1
    token: str = ""
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    drain: int = 7
    """Seconds that answers under way have to end once the server is told to end."""
    set: Sequence[str] = ()


def start_server(options: ServeOptions) -> int:
    """Serve until a signal ends it; returns the exit code. Raises UsageError."""
    settings = load(options.set)
    if not options.host:
        raise UsageError("--host is empty.", "Give an address, or leave it out for 127.0.0.1.")
    token = options.token or os.environ.get("ANDY_SERVE_TOKEN", "")
    if not is_loopback(options.host) and not token:
        raise UsageError(
            f"{options.host} can be reached from elsewhere, so a token is needed.",
            f"Give --token, for example --token {secrets.token_urlsafe(24)}, or stay at 127.0.0.1.",
        )
    if not options.upstream:
        raise UsageError(
            "There is no upstream.", "Give --upstream URL, PROVIDER:MODEL, or local:smollm2."
        )
    listening = open_listening_socket(options.host, options.port)
    return run_processes(WorkerContext(options, settings, token, listening, SignalRelay()))


def announce_address(options: ServeOptions, listening: socket.socket) -> None:
    """Tell where the server answers: by now its set-up has been found to be good."""
    port = listening.getsockname()[1]
    host = f"[{options.host}]" if ":" in options.host else options.host
    sys.stderr.write(f"andy serves at http://{host}:{port}/v1 (Ctrl-C ends it)\n")
    sys.stderr.flush()


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Raises UsageError for a port that is taken; it is shared with nobody."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio leaves Nagle's algorithm on: 40 ms an answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":
        # Only so that a port is free again right after a server has ended.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"Port {port} at {host} cannot be used: {error.strerror or error}.",
            "Another server may be there; give --port.",
        ) from error
    listening.set_inheritable(True)
    return listening


class SignalRelay:
    """Signals that end the server in good order, from before anybody is told of its port.

    A second one ends the process at once.
    """

    CODES: ClassVar = {signal.SIGINT: 130, signal.SIGTERM: 0}

    def __init__(self) -> None:
        self._code: int | None = None
        self._told: Callable[[int], object] | None = None
        for signal_number in self.CODES:
            # Not those of an event loop: it has not begun, and Windows has none.
            signal.signal(signal_number, self._handle_signal)

    def call_on_signal(self, notify: Callable[[int], object]) -> None:
        """Call it with the exit code once a signal comes; now, if one has come already."""
        self._told = notify
        if self._code is not None:
            notify(self._code)

    def _handle_signal(self, number: int, _: object) -> None:
        for signal_number in self.CODES:
            signal.signal(signal_number, signal.SIG_DFL)
        self._code = self.CODES[signal.Signals(number)]
        if self._told:
            self._told(self._code)


class ShutdownPipe(NamedTuple):
    """A pipe between the processes of a server: all end when the first one pulls, or is gone."""

    held: int = -1
    watched: int = -1

    def end_others(self) -> None:
        if self.held >= 0:
            os.write(self.held, b".")

    def close_held(self) -> "ShutdownPipe":
        """The pipe as a process has it that only watches."""
        os.close(self.held)
        return ShutdownPipe(watched=self.watched)

    def call_at_end(self, loop: asyncio.AbstractEventLoop, notify: Callable[[int], object]) -> None:
        """Call it with the exit code 0 once the pipe was pulled."""

        def end() -> None:
            loop.remove_reader(self.watched)
            notify(0)

        if self.watched >= 0:
            loop.add_reader(self.watched, end)


class WorkerContext(NamedTuple):
    """All that a process of the server begins with; most of it is shared with the others."""

    options: ServeOptions
    settings: Settings
    token: str
    listening: socket.socket
    signals: SignalRelay
    shutdown_pipe: ShutdownPipe = ShutdownPipe()
    stats: SharedStats | None = None
    slot: int = 0


def run_processes(context: WorkerContext) -> int:
    try:
        # 0.2 s, and only this command needs it.
        from andy_cli.frontends.serve.process import check_setup, run_worker
    except ImportError as error:
        raise UsageError(
            f"The server needs {error.name}: pip install 'andy-cli[serve]'."
        ) from error
    workers = context.options.workers
    if workers == 1:
        return run_in_loop(run_worker(context))
    if not hasattr(os, "fork"):
        raise UsageError("This system has no --workers.", "Start several servers instead.")
    asyncio.run(check_setup(context))
    announce_address(context.options, context.listening)
    watched, writing_end = os.pipe()
    pipe = ShutdownPipe(writing_end, watched)
    return WorkerKeeper(context._replace(stats=SharedStats(workers), shutdown_pipe=pipe)).run()


class WorkerKeeper:
    """Keeps as many workers as are wanted: one that dies is waited for, and another takes its
    place.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._children: dict[int, tuple[int, float]] = {}
        """Process -> its slot, and when it began."""
        self._code: int | None = None

    def run(self) -> int:
        """Keep them until a signal; returns the exit code once all have ended."""
        wakeup = open_wakeup_pipe()
        self._context.signals.call_on_signal(self._end)
        for slot in range(self._context.options.workers):
            self._begin_worker(slot)
        while self._children:
            os.read(wakeup, 4096)
            self._replace_ended()
        return self._code or 0

    def _replace_ended(self) -> None:
        for pid, (slot, began) in list(self._children.items()):
            if not os.waitpid(pid, os.WNOHANG)[0]:
                continue
            del self._children[pid]
            if self._code is None:
                # What dies at once, over and over, shall not keep the machine busy.
                time.sleep(max(0.0, began + SHORT_LIFE - time.monotonic()))
                self._begin_worker(slot)

    def _end(self, code: int) -> None:
        self._code = code
        self._context.shutdown_pipe.end_others()

    def _begin_worker(self, slot: int) -> None:
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            watched = self._context.shutdown_pipe.close_held()
            # A signal to it alone ends it alone.
            run_child(
                self._context._replace(signals=SignalRelay(), shutdown_pipe=watched, slot=slot)
            )
        self._children[pid] = slot, time.monotonic()


def open_wakeup_pipe() -> int:
    """Open a file that can be read once a signal has come or a process has ended.

    `os.waitpid` would sleep through a signal that comes right before it begins to wait.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


SHORT_LIFE = 1.0
"""Seconds between two beginnings of a worker, at least."""


def run_in_loop(coroutine: Coroutine[None, None, int]) -> int:
    """Run it in the quickest loop there is: uvloop writes what belongs together at once."""
    try:
        import uvloop  # not there on Windows
    except ImportError:
        return asyncio.run(coroutine)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(coroutine)


def run_child(context: WorkerContext) -> NoReturn:
    from andy_cli.frontends.serve.process import run_worker

    code = 1
    try:
        code = run_in_loop(run_worker(context))
    finally:
        os._exit(code)
