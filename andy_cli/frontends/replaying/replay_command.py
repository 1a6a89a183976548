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
from typing import NamedTuple

from andy_cli.agent.model.reply import ModelReply, record_reply
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.detect import choose_by_name, describe_detection
from andy_cli.compiler.dialect import Tools, dialects_by_name
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.mapper.json_schema import add_aliases
from andy_cli.errors import ModelError, UsageError
from andy_cli.foreign_values import as_records
from andy_cli.frontends.replaying.capture_reader import (
    RecordedCapture,
    RecordedRequest,
    read_capture,
)
from andy_cli.frontends.replaying.turn_replay import replay_turns
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Chunk
from andy_cli.toolbox import collection

COMPARED = ("dialect", "calls", "content", "reasoning", "incomplete", "faults")
ReplayOutcome = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReplayFlags:
    """The flags of the command."""

    dialect: str = ""
    model_as: str = ""
    diff: bool = False
    to_test: str = ""
    turns: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True)
class ReplayedRequest:
    recorded: RecordedRequest
    outcome: ReplayOutcome
    finish: str
    texts: tuple[str, ...]
    """The pieces of text, which are what a test case is made of."""
    failure: str
    tools: Tools


def replay_capture(path: str, flags: ReplayFlags) -> int:
    """The exit code: 1 if `diff` found a difference, 2 if the file is damaged.

    Raises `UsageError` when there is nothing to replay or to compare.
    """
    file = _find_file(path)
    capture = read_capture(file)
    if flags.turns:
        _check_turn_flags(flags)
        exit_code = replay_turns(capture, flags.json)
        return _report_damage(capture, file) or exit_code
    only_dialect = _find_only_dialect(flags)
    if flags.diff:
        _check_comparable(capture, file, only_dialect)
    different = sum(
        _replay_request(request, flags, file, only_dialect) for request in capture.requests
    )
    if flags.diff and not flags.json:
        _print_lines(
            "", f"{different or 'nothing'} of {len(capture.requests)} came out differently"
        )
    return _report_damage(capture, file) or (1 if different else 0)


def _check_turn_flags(flags: ReplayFlags) -> None:
    """Raise UsageError for what is done to single replies, and not to turns."""
    if flags != ReplayFlags(turns=True, json=flags.json):
        raise UsageError("--turns goes with none of --dialect, --model-as, --diff and --to-test.")


def _check_comparable(capture: RecordedCapture, file: Path, only_dialect: str) -> None:
    """Raise UsageError where there is nothing that a replay could be compared with."""
    if not only_dialect and not any(request.outcome for request in capture.requests):
        raise UsageError(
            f"{file} does not say what was made of its replies: there is nothing to compare.",
            "Give --dialect or --model-as to compare with that.",
        )


def _replay_request(
    request: RecordedRequest, flags: ReplayFlags, file: Path, only_dialect: str
) -> bool:
    """Print what a request compiles to now; True if `diff` found a difference."""
    replayed = compile_again(request, only_dialect)
    changes = list(_list_changes(replayed, only_dialect)) if flags.diff else []
    if flags.json:
        record = record_replay(replayed)
        if flags.diff:
            record["changes"] = [change._asdict() for change in changes]
        _print_lines(json.dumps(record, default=str))
    else:
        _print_lines(*describe_replay(replayed), *map(_describe_change, changes))
    if flags.to_test:
        case_note = _append_case(Path(flags.to_test), replayed, f"{file.stem}-{request.number}")
        _print_lines(*([] if flags.json else [f"  {case_note}"]))
    return bool(changes)


def record_replay(replayed: ReplayedRequest) -> dict[str, object]:
    """Make a record of what a request compiles to."""
    recorded, outcome = replayed.recorded, replayed.outcome
    return {
        "request": recorded.number,
        "model": recorded.model,
        "pieces": len(recorded.pieces),
        "finish": replayed.finish,
        **{name: outcome[name] for name in COMPARED},
        "error": recorded.error or replayed.failure,
    }


def _find_file(path: str) -> Path:
    """The file; of a folder the newest capture in it."""
    capture_path = Path(path).expanduser()
    if not capture_path.is_dir():
        return capture_path
    captures = sorted(capture_path.glob("*.jsonl"))
    if not captures:
        raise UsageError(f"There is no capture in {path!r}.", "They are made with ANDY_DEBUG_RAW.")
    return captures[-1]


def _find_only_dialect(flags: ReplayFlags) -> str:
    """The one dialect to read with; empty for all of them, as in a conversation."""
    if flags.dialect:
        return describe_detection(flags.dialect, "--dialect", dialects_by_name()).dialect.name
    if not flags.model_as:
        return ""
    dialect = choose_by_name(flags.model_as, dialects_by_name().values())
    if dialect is None:
        raise UsageError(
            f"The name {flags.model_as!r} does not say which dialect it writes.",
            "Name a dialect with --dialect.",
        )
    return dialect.name


def compile_again(recorded: RecordedRequest, only_dialect: str = "") -> ReplayedRequest:
    """One reply, compiled again, by all dialects or by `only_dialect`."""
    tools = _find_tools(recorded)
    if recorded.outcome is not None and not tools:
        # A conversation reads the answers to its own small questions as plain text.
        found_dialects = []
    elif only_dialect:
        found_dialects = [dialects_by_name()[only_dialect]]
    else:
        found_dialects = list(dialects_by_name().values())
    texts: list[str] = []
    reply = ModelReply(
        _replay_chunks(recorded, texts),
        Compiler(Markers(found_dialects, tuple(add_aliases(tools))), tools),
    )
    failure = asyncio.run(_drain(reply))
    outcome = record_reply(reply.compiled)
    return ReplayedRequest(recorded, outcome, reply.finish, tuple(texts), failure, tools)


async def _drain(reply: ModelReply) -> str:
    """Read to the end; what went wrong on the way."""
    try:
        await reply.read_whole()
    except ModelError as error:
        return str(error)
    return ""


async def _replay_chunks(
    recorded: RecordedRequest, texts: list[str]
) -> AsyncGenerator[Chunk, None]:
    for chunk in recorded.read_chunks():
        texts += [chunk.text] if chunk.text else []
        yield chunk


def _find_tools(recorded: RecordedRequest) -> Tools:
    """Find the tools that the compiler knew, else those in the request, else those of today."""
    for source in (recorded.outcome, recorded.body):
        listed = source.get("tools") if source else None
        if isinstance(listed, list):
            return tools_by_name(as_records(listed))
    return _load_own_tools()


@cache
def _load_own_tools() -> Tools:
    return collection.load_tool_files().functions


def describe_replay(replayed: ReplayedRequest) -> Iterator[str]:
    """Describe what a request compiles to."""
    recorded, outcome = replayed.recorded, replayed.outcome
    count = len(recorded.pieces)
    head = f"request {recorded.number}: {recorded.model or 'a model'}, {count} pieces"
    yield head + (f", ended with {replayed.finish}" if replayed.finish else ", not ended")
    yield from _describe_calls(outcome["calls"])
    for name in ("dialect", "content", "reasoning"):
        if outcome[name]:
            yield f"  {name:9}  " + str(outcome[name]).replace("\n", "\n             ")
    if outcome["incomplete"]:
        yield "  incomplete: a call was cut off"
    for fault in outcome["faults"] if isinstance(outcome["faults"], list) else ():
        yield f"  fault      {fault}"
    if failure := recorded.error or replayed.failure:
        yield f"  error      {failure}"


def _describe_calls(calls: object) -> Iterator[str]:
    for call in as_records(calls):
        yield f"  call       {call['name']} {_to_json(call['arguments'])}"


class OutcomeChange(NamedTuple):
    """A part of an outcome that is another than before."""

    name: str
    earlier: object
    current: object


def _list_changes(replayed: ReplayedRequest, only_dialect: str) -> Iterator[OutcomeChange]:
    """List how the outcome differs from the one at the time, or from that by all dialects."""
    earlier_outcome = replayed.recorded.outcome
    if earlier_outcome is None and only_dialect:
        earlier_outcome = compile_again(replayed.recorded).outcome
    if earlier_outcome is None:
        return
    for name in COMPARED:
        change = OutcomeChange(name, earlier_outcome.get(name), replayed.outcome[name])
        if _to_json(change.earlier) != _to_json(change.current):
            yield change


def _describe_change(change: OutcomeChange) -> str:
    earlier, current = _to_json(change.earlier), _to_json(change.current)
    return f"  - {change.name} {earlier}\n  + {change.name} {current}"


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _append_case(file: Path, replayed: ReplayedRequest, id: str) -> str:
    """Append the reply as a case of tests/corpora/dialects; says what was done.

    A case is a reply that was not cut off: what it means then is what is kept.
    """
    text = "".join(replayed.texts)
    if not text:
        return "no test case: the reply holds no text"
    markers = Markers(list(dialects_by_name().values()), tuple(add_aliases(replayed.tools)))
    compiler = Compiler(markers, replayed.tools)
    compiler.feed(text)
    _, reply = compiler.finish()
    record = record_reply(reply)
    row = {"id": id, "text": text, **{name: record[name] for name in COMPARED[:-1]}}
    row["tools"] = list(replayed.tools.values())
    row["why"] = f"a reply of {replayed.recorded.model}"
    try:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row, ensure_ascii=True) + "\n")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error
    return f"test case {id} added to {file}"


def _report_damage(capture: RecordedCapture, file: Path) -> int:
    if not capture.damage:
        return 0
    first, *further_damage = capture.damage
    further_note = f" and {len(further_damage)} more places are bad" if further_damage else ""
    sys.stderr.write(f"andy: {file} is damaged: {first}{further_note}; the rest was replayed.\n")
    return 2


def _print_lines(*lines: str) -> None:
    sys.stdout.write("".join(f"{neutralize_text(line)}\n" for line in lines))
