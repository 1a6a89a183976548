"""`andy serve` as a process of its own, forked from one that has loaded its code already.

    with serve_in_fork("--upstream", url, cwd=home, environment={...}) as (process, stderr):
        ... stderr.readline() ... process.terminate() ... process.wait(20)

A fork goes through the same door with its own arguments, environment, folder and signals. What it
leaves out is the loading: half a second of a core, as much as many a test of a server takes.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TextIO

from tests.shell import ANDY, ROOT

LARGEST = 1 << 20
"""Bytes of a request: the environment is nearly all of it."""


class ForkedProcess:
    """What tests use of `subprocess.Popen`."""

    def __init__(self, reports: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._reports = reports

    def wait(self, seconds: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._reports.settimeout(seconds)
            try:
                self.returncode = int(self._reports.recv(64))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("andy serve", seconds or 0) from None
            self._reports.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


ServeProcess = ForkedProcess | subprocess.Popen[bytes]


def fork_serve(
    *arguments: str, cwd: Path, environment: Mapping[str, str], stderr: int
) -> ServeProcess:
    """`stderr`: an open file, which stays the caller's."""
    if sys.platform != "linux":  # others have no sockets that keep messages apart
        command, nothing = [ANDY, "serve", *arguments], subprocess.DEVNULL
        return subprocess.Popen(command, cwd=cwd, env=environment, stdin=nothing, stderr=stderr)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = json.dumps([["serve", *arguments], str(cwd), dict(environment)])
    with theirs:
        socket.send_fds(start_loader(), [request.encode()], [stderr, theirs.fileno()])
    return ForkedProcess(ours, int(ours.recv(64)))


@contextlib.contextmanager
def serve_in_fork(
    *arguments: str, cwd: Path, environment: Mapping[str, str]
) -> Iterator[tuple[ServeProcess, TextIO]]:
    """A server and what it writes to stderr."""
    reading, writing = os.pipe()
    with open(reading) as stderr:  # noqa: PTH123
        try:
            process = fork_serve(*arguments, cwd=cwd, environment=environment, stderr=writing)
        finally:
            os.close(writing)
        try:
            yield process, stderr
        finally:
            process.terminate()
            process.wait(20)


@functools.cache
def start_loader() -> socket.socket:
    """Start the process that all others are forked from; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        loader = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_start", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
        )

    def end() -> None:
        ours.close()
        loader.wait()

    atexit.register(end)
    return ours


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    load_serve()
    gc.freeze()  # what is never looked at again stays shared with the forks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who report
    while True:
        request, files, _, _ = socket.recv_fds(control, LARGEST, 2)
        if not request:
            return
        if not os.fork():
            control.close()
            report_end(request, *files)
        for file in files:
            os.close(file)


def load_serve() -> None:
    import andy_cli.__main__
    import andy_cli.cli
    import andy_cli.compiler
    import andy_cli.frontends.serve

    for package in (andy_cli.compiler, andy_cli.frontends.serve):
        load_package(package)


def load_package(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def report_end(request: bytes, stderr: int, reports: int) -> NoReturn:
    """Fork the server, and tell its number and then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if not pid:
        os.close(reports)
        run_door(request, stderr)
    os.close(stderr)
    os.write(reports, str(pid).encode())
    _, status = os.waitpid(pid, 0)
    os.write(reports, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run_door(request: bytes, stderr: int) -> NoReturn:
    from andy_cli.__main__ import door

    arguments, folder, environment = json.loads(request)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(os.devnull) as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(stderr, 2)
    os.close(stderr)
    # Those of the loader know what kind of file they were opened on; as long as they are here,
    # nobody closes what is under them.
    kept = [sys.stdin, sys.stderr]
    sys.stdin, sys.stderr = os.fdopen(0, closefd=False), os.fdopen(2, "w", 1, closefd=False)
    kept += [sys.stdin, sys.stderr]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = ["andy", *arguments]
    door()
    os._exit(1)


if __name__ == "__main__":
    main()
