"""`andy replay CAPTURE`: the recorded bytes through today's wire reader and compiler.

Their borders are those of the network when they were recorded. Nothing is sent, no tool runs.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from andy_cli.agent.reply import Reply, as_record
from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.detect import by_name, describe_detection
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.errors import ModelError, UsageError
from andy_cli.frontends.recorded import Recorded, Recording, read
from andy_cli.frontends.rerun import rerun
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Chunk
from andy_cli.models.http.ollama_wire import reader_at
from andy_cli.toolbox import collection

COMPARED = ("dialect", "calls", "content", "reasoning", "incomplete", "faults")
Outcome = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The flags of the command."""

    dialect: str = ""
    model_as: str = ""
    diff: bool = False
    to_test: str = ""
    turns: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    recorded: Recorded
    outcome: Outcome
    finish: str
    texts: tuple[str, ...]
    """The pieces of text, which are what a test case is made of."""
    failure: str
    tools: Tools


def replay(path: str, wanted: Wanted) -> int:
    """The exit code: 1 if `diff` found a difference, 2 if the file is damaged.

    Raises `UsageError` when there is nothing to replay or to compare.
    """
    file = _file(path)
    recording = read(file)
    if wanted.turns:
        return _damage(recording, file) or rerun(recording, wanted.json)
    only = _only(wanted)
    if wanted.diff and not only and not any(each.outcome for each in recording.requests):
        raise UsageError(
            f"{file} does not say what was made of its replies: there is nothing to compare.",
            "Give --dialect or --model-as to compare with that.",
        )
    different = 0
    for each in recording.requests:
        replayed = once(each, only)
        _write(*shown(replayed))
        if wanted.diff:
            changes = list(_changes(replayed, only))
            _write(*changes)
            different += bool(changes)
        if wanted.to_test:
            _write(f"  {_keep(Path(wanted.to_test), replayed, f'{file.stem}-{each.number}')}")
    if wanted.diff:
        _write("", f"{different or 'nothing'} of {len(recording.requests)} came out differently")
    return _damage(recording, file) or (1 if different else 0)


def _file(path: str) -> Path:
    """The file; of a folder the newest capture in it."""
    found = Path(path).expanduser()
    if not found.is_dir():
        return found
    captures = sorted(found.glob("*.jsonl"))
    if not captures:
        raise UsageError(f"There is no capture in {found}.", "They are made with ANDY_DEBUG_RAW.")
    return captures[-1]


def _only(wanted: Wanted) -> str:
    """The one dialect to read with; empty for all of them, as in a conversation."""
    if wanted.dialect:
        return describe_detection(wanted.dialect, "--dialect", _known()).dialect.name
    if not wanted.model_as:
        return ""
    dialect = by_name(wanted.model_as, _known().values())
    if dialect is None:
        raise UsageError(
            f"The name {wanted.model_as!r} does not say which dialect it writes.",
            "Name a dialect with --dialect.",
        )
    return dialect.name


@cache
def _known() -> Mapping[str, Dialect]:
    return {each.name: each for each in discover(dialects, Dialect, "DIALECT")}


def once(recorded: Recorded, only: str = "") -> Replayed:
    """One reply, compiled again, by all dialects or `only` one of them."""
    tools = _tools(recorded)
    # A conversation reads the answers to its own small questions as plain text.
    plain = recorded.outcome is not None and not tools
    found = [] if plain else [_known()[only]] if only else list(_known().values())
    texts: list[str] = []
    reply = Reply(_chunks(recorded, texts), Compiler(Markers(found, tuple(tools)), tools))
    failure = asyncio.run(_drained(reply))
    outcome = as_record(reply.compiled)
    return Replayed(recorded, outcome, reply.finish, tuple(texts), failure, tools)


async def _drained(reply: Reply) -> str:
    """Read to the end; what went wrong on the way."""
    try:
        async for _ in reply:
            pass
    except ModelError as error:
        return str(error)
    return ""


async def _chunks(recorded: Recorded, texts: list[str]) -> AsyncGenerator[Chunk, None]:
    """What the client would have yielded for these bytes."""
    reader = reader_at(recorded.address)
    for piece in recorded.pieces:
        for chunk in [piece] if isinstance(piece, Chunk) else reader.feed(piece):
            texts += [chunk.text] if chunk.text else []
            yield chunk
    for chunk in reader.finish():
        texts += [chunk.text] if chunk.text else []
        yield chunk
    if reader.failure:
        raise reader.failure


def _tools(recorded: Recorded) -> Tools:
    """Those the compiler knew, else those in the request, else those of today."""
    for there in (recorded.outcome, recorded.body):
        listed = there.get("tools") if there else None
        if isinstance(listed, list):
            return tools_by_name([each for each in listed if isinstance(each, dict)])
    return _registered()


@cache
def _registered() -> Tools:
    return collection.load_tool_files().functions


def shown(replayed: Replayed) -> Iterator[str]:
    """What a request compiles to, for people."""
    recorded, outcome = replayed.recorded, replayed.outcome
    count = len(recorded.pieces)
    head = f"request {recorded.number}: {recorded.model or 'a model'}, {count} pieces"
    yield head + (f", ended with {replayed.finish}" if replayed.finish else ", not ended")
    calls = outcome["calls"]
    for call in calls if isinstance(calls, list) else ():
        yield f"  call       {call['name']} {_json(call['arguments'])}"
    for name in ("dialect", "content", "reasoning"):
        if outcome[name]:
            yield f"  {name:9}  " + str(outcome[name]).replace("\n", "\n             ")
    if outcome["incomplete"]:
        yield "  incomplete: a call was cut off"
    for fault in outcome["faults"] if isinstance(outcome["faults"], list) else ():
        yield f"  fault      {fault}"
    if failure := recorded.error or replayed.failure:
        yield f"  error      {failure}"


def _changes(replayed: Replayed, only: str) -> Iterator[str]:
    """How the outcome differs from the one at the time, or from that by all dialects."""
    before = replayed.recorded.outcome
    if before is None and only:
        before = once(replayed.recorded).outcome
    if before is None:
        return
    for name in COMPARED:
        was, now = _json(before.get(name)), _json(replayed.outcome[name])
        if was != now:
            yield f"  - {name} {was}"
            yield f"  + {name} {now}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _keep(file: Path, replayed: Replayed, id: str) -> str:
    """Append the reply as a case of tests/corpora/dialects; says what was done.

    A case is a reply that was not cut off: what it means then is what is kept.
    """
    text = "".join(replayed.texts)
    if not text:
        return "no test case: the reply holds no text"
    markers = Markers([*_known().values()], tuple(replayed.tools))
    compiler = Compiler(markers, replayed.tools)
    compiler.feed(text)
    _, reply = compiler.finish()
    found = as_record(reply)
    row = {"id": id, "text": text, **{name: found[name] for name in COMPARED[:-1]}}
    row["tools"] = [*replayed.tools.values()]
    row["why"] = f"a reply of {replayed.recorded.model}"
    try:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row, ensure_ascii=True) + "\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
    return f"test case {id} added to {file}"


def _damage(recording: Recording, file: Path) -> int:
    if not recording.damage:
        return 0
    first, *more = recording.damage
    rest = f" and {len(more)} more places are bad" if more else ""
    sys.stderr.write(f"andy: {file} is damaged: {first}{rest}; the rest was replayed.\n")
    return 2


def _write(*lines: str) -> None:
    sys.stdout.write("".join(f"{neutralize_text(line)}\n" for line in lines))
