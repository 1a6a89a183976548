"""Every write of every file that andy keeps fails once; and real disks that are full or read-only.

First each step of each scenario of tests/failing_writes.py, with each error, at once and half-way.
Then whole conversations on a small tmpfs and on a read-only one (bubblewrap mounts them, without
root), two processes that write one session, and a clock that is set back in the middle.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from andy_cli.messages import Message
from andy_cli.sessions.log import Log, decode_record, read, read_records
from tests.failing_writes import ERRORS, SCENARIOS, as_line, break_each_step
from tests.marking_conversation import ANSWER, answer_request, install_mark_tool
from tests.model_server import ModelServer
from tests.shell import ANDY, environment
from tests.terminal import Terminal

MOUNT = ("bwrap", "--dev-bind", "/", "/")
FULL = 4096
"""Bytes of the small disk: one page, which is full in the middle of a conversation."""
NOT_KEPT = "This session is not kept in"
Mount = Callable[[Path], list[str]]
WRITER = """
import sys
from itertools import count
from pathlib import Path
from andy_cli.messages import Message
from andy_cli.sessions.log import Log
log = Log(Path(sys.argv[1]), "s")
for number in range(int(sys.argv[3])):
    log.message(Message("user", f"{sys.argv[2]} {number}"))
sys.stdin.read()
while not log.is_kept:
    log.close()
log.close()
"""


def mount_full(folder: Path) -> list[str]:
    return [*MOUNT, "--size", str(FULL), "--tmpfs", str(folder)]


def mount_read_only(folder: Path) -> list[str]:
    return [*MOUNT, "--ro-bind", str(folder), str(folder)]


def run_on_disk(mount: Mount) -> Iterator[str]:
    """A task on that disk: it is carried out, and told once that its session is not kept."""
    with tempfile.TemporaryDirectory() as made, ModelServer(answer_request) as server:
        folder = Path(made)
        state, copy = folder / "state", folder / "copy"
        (state / "andy" / "sessions").mkdir(parents=True)
        install_mark_tool(folder / "config")
        andy = f"{ANDY} run -y --base-url {server.url} --model m 'Mark 12 times.'"
        line = f"{andy}; code=$?; cp -r {state} {copy}; exit $code"
        done = subprocess.run(
            [*mount(state), "bash", "-c", line],
            cwd=folder,
            env=environment(folder, **variables(folder)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not done.stdout.startswith(ANSWER):
            yield f"the task failed: {done.returncode} {done.stdout!r} {done.stderr[-300:]!r}"
        if done.stderr.count(NOT_KEPT) != 1 or "Traceback" in done.stderr:
            yield f"stderr holds: {done.stderr!r}"
        if (folder / "marks").read_text().split() != [str(mark) for mark in range(1, 13)]:
            yield "a tool did not run once"
        yield from look_for_torn_lines(copy)


def variables(folder: Path) -> dict[str, str]:
    return {
        "XDG_STATE_HOME": str(folder / "state"),
        "ANDY_CONFIG_DIR": str(folder / "config"),
        "MARKS": str(folder / "marks"),
    }


def look_for_torn_lines(state: Path) -> Iterator[str]:
    for session in state.rglob("sessions/*.jsonl"):
        *lines, _ = session.read_bytes().split(b"\n")
        torn = [line for line in lines if line and decode_record(line) is None]
        if torn:
            yield f"{len(torn)} torn lines have another behind them on the same line"


def chat_on_disk(mount: Mount) -> Iterator[str]:
    """Two turns and a third: the chat goes on, and tells it once."""
    with tempfile.TemporaryDirectory() as made, ModelServer(answer_request) as server:
        folder = Path(made)
        (folder / "state").mkdir()
        install_mark_tool(folder / "config")
        os.environ.update(environment(folder, **variables(folder)))
        andy = (str(ANDY), "chat", "--permission-mode", "auto", "--base-url", server.url)
        words = [*mount(folder / "state"), *andy, "--model", "m"]
        with Terminal(*words[1:], command=words[0], folder=folder) as terminal:
            terminal.prompts()
            for turn in range(1, 4):
                terminal.type(f"Mark 5 times, {turn}.\r")
                text = terminal.prompts()
                if f"{ANSWER} {turn}." not in text:
                    yield f"turn {turn} has no answer"
            if "".join(text.split()).count(NOT_KEPT.replace(" ", "")) != 1:
                yield f"it is not told once:\n{text}"
            if "went wrong" in text:
                yield f"the chat broke:\n{text}"


def full_disk() -> Iterator[str]:
    yield from run_on_disk(mount_full)
    yield from chat_on_disk(mount_full)


def read_only_disk() -> Iterator[str]:
    yield from run_on_disk(mount_read_only)
    yield from chat_on_disk(mount_read_only)


def two_processes() -> Iterator[str]:
    """Both write as they go; one has the file, the other waits for it. Nothing is lost."""
    messages = 200
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, made, name, str(messages)], stdin=subprocess.PIPE
            )
            for name in ("first", "second")
        ]
        for writer in writers:
            assert writer.stdin
            writer.stdin.close()
        for writer in writers:
            writer.wait(60)
        path = folder / "s.jsonl"
        found = [message.content for message in read(path)]
        numbers = [record["seq"] for record in read_records(path)]
        for name in ("first", "second"):
            own = [content for content in found if content.startswith(name)]
            if own != [f"{name} {number}" for number in range(messages)]:
                yield f"of the {name} process {len(own)} of {messages} messages are there"
        if numbers != [*range(1, 2 * messages + 1)]:
            yield "the numbers are not those of one file"
        if look := [*look_for_torn_lines(folder)]:
            yield str(look)


def clock_set_back() -> Iterator[str]:
    """The order of a session is that of its numbers, whatever the clock says."""
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        clock = count(1_800_000_000, -3600)
        patch.setattr(time, "time", lambda: float(next(clock)))
        log = Log(Path(made), "s")
        for number in range(100):
            log.message(Message("user", str(number)))
            if number == 50:
                log.close()
                log = Log(Path(made), "s")
        log.close()
        records = [*read_records(log.path)]
        if [record["content"] for record in records] != [str(number) for number in range(100)]:
            yield "messages are not in their order"
        if [record["seq"] for record in records] != [*range(1, 101)]:
            yield "the numbers are not in order"


WHOLE: dict[str, Callable[[], Iterator[str]]] = {
    "a full disk": full_disk,
    "a read-only disk": read_only_disk,
    "two processes on one session": two_processes,
    "a clock that is set back": clock_set_back,
}


def main(_: int) -> int:
    started = time.monotonic()
    broken = total = 0
    for name in SCENARIOS:
        steps = failures = 0
        for error in ERRORS:
            for short in (False, True):
                done = break_each_step(name, error, short)
                steps += done.steps
                failures += len(done.failures)
                for failure in done.failures:
                    sys.stdout.write(f"{as_line(failure)}\n")
        sys.stdout.write(f"{name:32}{steps:>6} failed writes{failures:>4} broken\n")
        broken, total = broken + failures, total + steps
    for name, check in WHOLE.items():
        problems = [*check()]
        sys.stdout.write(f"{name:32}{len(problems):>4} broken\n")
        sys.stdout.writelines(f"  {problem}\n" for problem in problems)
        broken += len(problems)
    seconds = time.monotonic() - started
    sys.stdout.write(f"writes: {total:,} failed writes, {broken} broken, {seconds:.0f} s\n")
    return 1 if broken else 0
