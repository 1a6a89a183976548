"""Real conversations, killed: what was shown or done is in the session, once, for the next start.

`andy run` and `andy chat` call a tool that leaves a mark for each time it runs. They are killed
with SIGKILL at a random moment, when the session's file reaches a random size, or in the middle of
a call that writes it (tests/dying). Then the file is read as the program reads it, and gone on
with as the next start does.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

from andy_cli.messages import Message
from andy_cli.sessions.log import Log, decode_record, read, read_records
from tests.marking_conversation import ANSWER, answer_request, call_id, install_mark_tool
from tests.model_server import ModelServer
from tests.shell import ANDY, ROOT, environment
from tests.terminal import Terminal

WAYS = ("run, any moment", "run, as it grows", "run, in a write", "chat, any moment",
        "chat, in a write")  # fmt: skip
SHARE = {"chat, any moment": 10, "chat, in a write": 10, "run, any moment": 40}
"""How many of a hundred; the others share the rest."""
MARKS_OF_A_RUN, MARKS_OF_A_TURN = 6, 3
BATCH = 10
PATIENCE = 60.0


@dataclass
class Tally:
    """What came of many kills: all but the first four numbers must be 0."""

    kills: int = 0
    torn: int = 0
    messages: int = 0
    tools_run: int = 0
    lost: int = 0
    doubled: int = 0
    run_twice: int = 0
    run_unrecorded: int = 0
    misread: int = 0

    def add(self, other: "Tally") -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    @property
    def broken(self) -> int:
        return self.lost + self.doubled + self.run_twice + self.run_unrecorded + self.misread


@dataclass(frozen=True)
class Shown:
    """What a user had seen when the process was killed."""

    user: int = 0
    """Turns that were seen to begin."""
    called: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    answers: int = 0


@dataclass(frozen=True)
class Place:
    """Where one conversation leaves its files."""

    folder: Path
    config: Path

    @property
    def marks(self) -> Path:
        return self.folder / "marks"

    @property
    def sessions(self) -> Path:
        return self.folder / "andy" / "sessions"

    def session(self) -> Path | None:
        return next(self.sessions.glob("*.jsonl"), None)

    def size(self) -> int:
        session = self.session()
        return session.stat().st_size if session else 0

    def environment(self, dies_at: str) -> dict[str, str]:
        hook = {"PYTHONPATH": str(ROOT / "tests" / "dying"), "DIES_AT": dies_at}
        folders = {"XDG_STATE_HOME": str(self.folder), "ANDY_CONFIG_DIR": str(self.config)}
        return {**folders, "MARKS": str(self.marks), **(hook if dies_at else {})}


def dies_at(way: str, chance: random.Random) -> str:
    """For tests/dying: a step of those that keep a conversation, and how much of it is done."""
    if not way.endswith("in a write"):
        return ""
    return f"{chance.randint(1, 44)}:{chance.choice((0.0, chance.random(), 1.0))}"


def kill_run(server: ModelServer, place: Place, way: str, chance: random.Random) -> Shown:
    out = place.folder / "out"
    command = [str(ANDY), "run", "-y", "--no-wait", "-o", "stream-json", "--base-url", server.url]
    with out.open("wb") as stdout:
        child = subprocess.Popen(
            [*command, "--model", "m", f"Mark {MARKS_OF_A_RUN} times."],
            cwd=place.folder,
            env=environment(place.folder, **place.environment(dies_at(way, chance))),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until_due(child, place, way, chance)
        finally:
            child.kill()
            child.wait()
    return shown_by_run(out.read_bytes())


def wait_until_due(
    child: subprocess.Popen[bytes], place: Place, way: str, chance: random.Random
) -> None:
    """Until the process is to be killed, or has ended."""
    give_up = time.monotonic() + PATIENCE
    size = chance.randint(1, 5_000) if way == "run, as it grows" else 1
    if way == "run, in a write":
        child.wait(PATIENCE)
        return
    while child.poll() is None and place.size() < size:
        assert time.monotonic() < give_up, "the conversation does not go on"
        time.sleep(0.0005)
    if way == "run, any moment":
        time.sleep(chance.uniform(0, 0.25))


def shown_by_run(out: bytes) -> Shown:
    """Of the lines of stream-json those that are complete."""
    events = [json.loads(line) for line in out.split(b"\n")[:-1]]
    called = {event["tool_id"] for event in events if event["type"] == "tool_use"}
    results = {event["tool_id"] for event in events if event["type"] == "tool_result"}
    answers = sum(event["type"] == "result" for event in events)
    # The user's message is shown as the turn begins, and is kept before the model is asked.
    return Shown(int(len(called) > 0), frozenset(called), frozenset(results), answers)


def kill_chat(server: ModelServer, place: Place, way: str, chance: random.Random) -> Shown:
    flags = ("--permission-mode", "auto", "--base-url", server.url, "--model", "m")
    last = chance.choice((1, 2)) if way == "chat, any moment" else 3
    os.environ.update(place.environment(dies_at(way, chance)))
    answers = 0
    with Terminal("chat", *flags, folder=place.folder) as terminal:
        terminal.prompts()
        for turn in range(1, 3):
            terminal.type(f"Mark {MARKS_OF_A_TURN} times, {turn}.\r")
            if turn == last:
                terminal.settle(chance.uniform(0, 0.4))
                break
            if not terminal.prompts_or_ends(PATIENCE):
                break
            answers += 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(terminal.pid, signal.SIGKILL)
        text = terminal.settle(0.2)
    marks = range(1, 2 * MARKS_OF_A_TURN + 1)
    results = frozenset(call_id(mark) for mark in marks if f"• marked {mark}\n" in text)
    return Shown(int(bool(results)), results=results, answers=answers)


def check(place: Place, shown: Shown) -> Tally:
    """Read the session as the next start does, and go on with it."""
    tally = Tally(kills=1)
    marks = place.marks.read_text().split() if place.marks.exists() else []
    ran = [call_id(int(mark)) for mark in marks]
    tally.tools_run = len(ran)
    tally.run_twice = len(ran) - len(set(ran))
    session = place.session()
    if session is None:
        tally.lost = shown.user + len(shown.results) + len(ran)
        return tally
    lines = session.read_bytes().split(b"\n")
    torn = [at for at, line in enumerate(lines) if line and decode_record(line) is None]
    tally.torn = len(torn)
    tally.misread = sum(at != len(lines) - 1 for at in torn)
    messages = [*read(session)]
    tally.messages = len(messages)
    tally.lost = count_lost(messages, shown)
    tally.doubled = count_doubled(messages)
    answered = {message.call_id for message in messages if message.role == "tool"}
    starts = [record for record in read_records(session) if record.get("type") == "start"]
    begun = {str(record["call_id"]) for record in starts}
    tally.run_unrecorded = len(set(ran) - answered - begun)
    tally.misread += count_misread_by_next_start(session, messages)
    return tally


def count_lost(messages: list[Message], shown: Shown) -> int:
    called = {call.id for message in messages for call in message.calls}
    answered = {message.call_id for message in messages if message.role == "tool"}
    users = sum(message.role == "user" for message in messages)
    answers = sum(message.content.startswith(ANSWER) for message in messages)
    missing = max(0, shown.user - users) + max(0, shown.answers - answers)
    return missing + len(shown.called - called) + len(shown.results - answered)


def count_doubled(messages: list[Message]) -> int:
    counted = Counter((message.role, message.content, message.call_id) for message in messages)
    return sum(times - 1 for times in counted.values())


def count_misread_by_next_start(session: Path, before: list[Message]) -> int:
    """A line after a torn one must be a line of its own, with the next number."""
    log = Log(session.parent, session.stem)
    log.message(Message("user", "I am back."))
    kept = log.is_kept
    log.close()
    numbers = [record["seq"] for record in read_records(session)]
    right = [*read(session)] == [*before, Message("user", "I am back.")]
    return int(not (kept and right and numbers == [*range(1, len(numbers) + 1)]))


def way_of(number: int) -> str:
    """Which way a kill goes; the same for the same number."""
    at, ends = number * 37 % 100, 0
    rest = (100 - sum(SHARE.values())) // (len(WAYS) - len(SHARE))
    for way in WAYS:
        ends += SHARE.get(way, rest)
        if at < ends:
            return way
    return WAYS[0]


def kill_batch(first: int, size: int) -> dict[str, Tally]:
    """So many kills, numbered from `first`: a number decides all that is left to chance."""
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as folder, ModelServer(answer_request) as server:
        # What the terminal gives on: nothing of the machine, and each kill's own on top.
        own = environment(Path(folder))
        config = Path(folder) / "config"
        install_mark_tool(config)
        for number in range(first, first + size):
            way, chance = way_of(number), random.Random(number)
            place = Place(Path(folder) / str(number), config)
            place.folder.mkdir()
            os.environ.clear()
            os.environ.update(own)
            kill = kill_chat if way.startswith("chat") else kill_run
            tally = check(place, kill(server, place, way, chance))
            tallies.setdefault(way, Tally()).add(tally)
            if tally.broken:
                sys.stdout.write(f"kill {number}, {way}: {tally}\n")
    return tallies


def main(kills: int) -> int:
    started = time.monotonic()
    totals = {way: Tally() for way in WAYS}
    starts = range(0, kills, BATCH)
    sizes = [min(BATCH, kills - start) for start in starts]
    with ProcessPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        for tallies in pool.map(kill_batch, starts, sizes):
            for way, tally in tallies.items():
                totals[way].add(tally)
    totals["all"] = Tally()
    for way in WAYS:
        totals["all"].add(totals[way])
    names = [field.name.replace("_", " ") for field in fields(Tally)]
    sys.stdout.write(f"{'':18}" + "".join(f"{name:>16}" for name in names) + "\n")
    for way, tally in totals.items():
        numbers = [getattr(tally, field.name) for field in fields(tally)]
        sys.stdout.write(f"{way:18}" + "".join(f"{number:>16,}" for number in numbers) + "\n")
    seconds = time.monotonic() - started
    sys.stdout.write(f"kills: {kills:,}, {totals['all'].broken} broken, {seconds:.0f} s\n")
    return 1 if totals["all"].broken else 0
