"""Every fault of a model server in corpora/faults.jsonl, played against andy, and judged.

A row's script is what the server does (see model_server.py); `expect` is what a user must see. One
server plays all rows: the model's name says which row is meant, so that nothing learned about one
model touches another. A row may also be cut: the reply it ends with stops after some bytes of its
body, as if the connection had ended there.

    request   fields that a client of `andy serve` sends; such a row is for `andy serve` alone
    request_too   the same, of a row that is for andy itself too
    set       settings of andy
    serve     what a client of `andy serve` sees instead
    cut       bytes: it is cut after each of them; else at a few places
    sent      what the request that follows a refusal must look like (`check_sent`)
"""

import base64
import contextlib
import io
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.frontends.chat.screen.turn_view import TurnView
from andy_cli.frontends.run_command import RunPrinter, RunTask
from andy_cli.frontends.terminal import markdown
from andy_cli.guard.gate import Gate
from andy_cli.messages import Message, ToolCall
from andy_cli.models.client import Endpoint, RetryingClient
from andy_cli.models.http.chat import ChatClient
from andy_cli.settings import load
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, tool
from tests.certificates import secured
from tests.http_server import HttpServer
from tests.model_server import Answer, ModelServer, Operation, Received, streamed

CORPUS = Path(__file__).parent / "corpora" / "faults.jsonl"
KEY = "sk-test-EXAMPLE1234"
QUICK = (
    "network.connect_timeout=1",
    "network.idle_timeout=1",
    "network.first_backoff=0.01",
    "guard.sandbox=off",
)
DONE = streamed("Done.")
FINE = streamed("Fine.")
OPENS_ELSEWHERE = {"refuse", "url", "tls"}
"""First operations of rows that are no answer of the one server."""


class Row(NamedTuple):
    id: str
    title: str
    script: Sequence[Answer]
    expect: Mapping[str, Any]
    mode: str = "stream"
    request: Mapping[str, Any] = {}
    request_too: Mapping[str, Any] = {}
    set: Sequence[str] = ()
    sent: Mapping[str, Any] = {}
    serve: Mapping[str, Any] = {}
    cut: str = ""

    @property
    def opens(self) -> Operation:
        return self.script[0][0]

    @property
    def calls_tools(self) -> bool:
        return self.expect["outcome"] in CALLING


CALLING = {
    "tool_calls",
    "tool_calls_or_ask",
    "retry_or_error",
    "corrected_or_error",
    "ask",
    "capped",
}


@cache
def rows() -> list[Row]:
    """Those that are scripts; the others are described in words."""
    found = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    return [
        Row(*(row[name] for name in ("id", "title", "script", "expect")), **_optional(row))
        for row in found
        if row["target"] == "upstream"
    ]


def _optional(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: row[name]
        for name in ("mode", "request", "request_too", "set", "sent", "serve", "cut")
        if row.get(name)
    }


# The server.


@dataclass(slots=True)
class Play:
    """One row while it is played."""

    script: Sequence[Answer]
    requests: list[Mapping[str, Any]] = field(default_factory=list)
    told: bool = False
    """Results of tools are answered with the end of the turn, not by the script."""


class FaultServer:
    """Plays the row that the model's name stands for."""

    def __init__(self) -> None:
        self.plays: dict[str, Play] = {}
        self.elsewhere = ModelServer([FINE])
        self.server = ModelServer(self._answer, checked=False)

    def __enter__(self) -> "FaultServer":
        self.elsewhere.__enter__()
        self.server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.server.__exit__(kind, error, traceback)
        self.elsewhere.__exit__(kind, error, traceback)

    def begin(self, model: str, row: Row, cut: int | None = None, told: bool = True) -> Play:
        script = [self._placed(answer) for answer in row.script]
        if cut is not None:
            script[-1] = cut_answer(script[-1], cut)
        play = Play(script, told=row.calls_tools and told)
        self.plays[model] = play
        return play

    def _placed(self, answer: Answer) -> Answer:
        text = json.dumps(answer).replace("@other", str(self.elsewhere.port))
        placed: Answer = json.loads(text)
        return placed

    def _answer(self, received: Received) -> Answer:
        play = self.plays[received.body["model"]]
        play.requests.append(received.body)
        messages = received.body["messages"]
        if play.told and len(play.requests) > 1 and answers_a_call(messages):
            return DONE
        return play.script[min(len(play.requests), len(play.script)) - 1]


def answers_a_call(messages: Sequence[Mapping[str, Any]]) -> bool:
    last = messages[-1]
    return last["role"] == "tool" or str(last["content"]).startswith("Result")


def body_bytes(answer: Answer) -> bytes:
    """What an answer says after its head."""
    return b"".join(_bytes_of(operation) for operation in answer)


def _bytes_of(operation: Operation) -> bytes:
    match operation["op"]:
        case "json":
            return json.dumps(operation["body"]).encode()
        case "sse":
            return f"data: {json.dumps(operation['data'])}\n\n".encode()
        case "raw":
            b64 = operation.get("b64")
            return base64.b64decode(b64) if b64 else str(operation["text"]).encode()
        case "split":
            return str(operation["text"]).encode()
        case "repeat_raw":
            return str(operation["text"]).encode() * int(operation["n"])
    return b""


def cut_answer(answer: Answer, at: int) -> Answer:
    head = [operation for operation in answer if operation["op"] == "status"]
    said = base64.b64encode(body_bytes(answer)[:at]).decode()
    return [*head, {"op": "raw", "b64": said, "text": ""}, {"op": "close"}]


FINISHED = re.compile(rb'"(?:finish_reason|done_reason)"\s*:\s*"|\[DONE\]')


def first_end(answer: Answer) -> int:
    """How many bytes of it are needed before anybody may take it for finished."""
    said = body_bytes(answer)
    found = FINISHED.search(said)
    return found.end() if found else len(said) + 1


def plan_cuts(rows: Sequence[Row], stride: int) -> dict[str, range]:
    """Where the last reply of a row is cut; of rows that end alike the first stands for all."""
    plan: dict[str, range] = {}
    known: set[bytes] = set()
    for row in rows:
        said = body_bytes(row.script[-1])
        if said in known or not may_be_cut(row):
            continue
        known.add(said)
        apart = stride if row.cut == "bytes" else max(stride, len(said) // PLACES)
        plan[row.id] = range(0, len(said), apart)
    return plan


PLACES = 12
"""At which replies are cut that are not cut after each byte."""


def may_be_cut(row: Row) -> bool:
    last = row.script[-1]
    plain = all(each["op"] not in ("stall", "reset", "sleep", "repeat_raw") for each in last)
    return plain and last[0]["op"] == "status" and last[0]["code"] == 200


# What was seen of it.


@dataclass(slots=True)
class Seen:
    """What a user, or a client of `andy serve`, saw of a row."""

    text: str = ""
    ok: bool = False
    kind: str = ""
    said: str = ""
    """What was told beside the answer."""
    runs: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    attempts: int = 0
    seconds: float = 0.0
    bodies: Sequence[Mapping[str, Any]] = ()
    screen: str = ""
    second: str = ""
    """The answer to what the user said next; empty where nobody did."""


RUNS: list[tuple[str, Mapping[str, Any]]] = []


def _ran(name: str, **arguments: object) -> str:
    RUNS.append((name, {key: value for key, value in arguments.items() if value != ""}))
    return "done"


@tool(effect="read", action="list the music in {path}")
def list_mp3s(path: str = "") -> Outcome:
    """List all MP3 files in the music library"""
    _ran("list_mp3s", path=path)
    return Outcome(["a.mp3"], f"listed 1 song in {path}")


@tool(effect="play", action="play {file}")
def play_mp3(file: str) -> str:
    """Play a specific MP3 file"""
    return _ran("play_mp3", file=file)


@tool(effect="write", action="write {path}")
def write_file(path: str, content: str) -> str:
    """Write a file"""
    return _ran("write_file", path=path, content=content)


@tool(effect="destroy", action="delete {path}")
def delete_file(path: Annotated[str, Field(description="the file")]) -> str:
    """Delete a file"""
    return _ran("delete_file", path=path)


TOOLS = Registry([list_mp3s, play_mp3, write_file, delete_file])
EARLIER = (
    # Something to leave out, where a server says that the conversation is too long.
    Message("user", "tell me of music"),
    Message("assistant", "Music is made of tones. " * 300),
    Message("user", "what music is there?"),
    Message(
        "assistant",
        "",
        (ToolCall("call_0123456789abcdefghij", "list_mp3s", {"path": "music"}),),
        reasoning="I had better look.",
    ),
    Message("tool", '["a.mp3"]', call_id="call_0123456789abcdefghij", name="list_mp3s"),
    Message("assistant", "There is a.mp3."),
)


async def play_in_process(row: Row, url: str, model: str, play: Play | None) -> Seen:
    """The row as `andy run` and `andy chat` have it: one turn, shown by both; and one more."""
    told: list[str] = []
    settings = load([*QUICK, *row.set], environment={})
    http = ChatClient(Endpoint("openai", model, url, KEY, "OPENAI_API_KEY"), settings)
    client = RetryingClient(http, settings, told.append)
    folder = Path.cwd()
    chat = Conversation(client, TOOLS, Gate(folder, mode="auto"), settings, folder)
    chat.history.messages.extend(EARLIER)
    seen, began = Seen(), time.monotonic()
    RUNS.clear()
    await _show_turn(chat, seen)
    seen.seconds = time.monotonic() - began
    seen.runs = list(RUNS)
    seen.said += "\n".join(told)
    seen.attempts = 1 + sum("Trying again" in line for line in told)
    if play is not None:
        seen.bodies = list(play.requests)
        seen.attempts = len(seen.bodies)
        play.script = [FINE]
        again = Seen()
        await _show_turn(chat, again)
        seen.second = again.text
        if row.expect.get("remember") and shape(play.requests[-1]) != shape(seen.bodies[-1]):
            seen.second = "what was refused was sent again"
    await client.close()
    return seen


def shape(body: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    return set(body), {str(message["role"]) for message in body["messages"]} - {"tool"}


async def _show_turn(chat: Conversation, seen: Seen) -> None:
    out, err, screen = io.StringIO(), io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(screen):
        view = TurnView(markdown.create_console(plain=True))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        printer = RunPrinter(RunTask("hi"))
        async for event in turn(chat, "hi"):
            printer.show_event(event)
            view.show_event(event)
            if isinstance(event, events.Ended):
                seen.ok = event.exit_code == 0
                seen.kind = event.error["kind"] if event.error else ""
        view.close()
    seen.text, seen.said = out.getvalue().removesuffix("\n"), err.getvalue()
    seen.screen = screen.getvalue()


# Whether it is what the row expects.


def find_wrong(row: Row, seen: Seen) -> str:
    """What is wrong with what was seen; empty if nothing is."""
    expect = row.expect
    wrong = JUDGES[expect["outcome"]](expect, seen)
    wrong = wrong or _wrong_words(expect, seen)
    if not wrong and "attempts" in expect and not row.calls_tools:
        least, most = expect["attempts"]
        if not least <= seen.attempts <= most:
            wrong = f"{seen.attempts} attempts"
    if not wrong and seen.seconds < expect.get("min_s", 0):
        wrong = f"only {seen.seconds:.1f} s"
    return wrong or check_sent(row.sent, seen.bodies)


def _wrong_words(expect: Mapping[str, Any], seen: Seen) -> str:
    everything = seen.text + seen.said + seen.screen
    for word in ("Traceback", "\x1b", KEY, "<html", "RecursionError"):
        if word in everything:
            return f"{word!r} was shown"
    for word in expect.get("words", ()):
        if word.lower() not in seen.said.lower():
            return f"{word!r} was not said: {seen.said[:200]!r}"
    return ""


def _answer(expect: Mapping[str, Any], seen: Seen) -> str:
    texts = expect.get("text_in") or [expect.get("text")]
    prefix = expect.get("text_prefix")
    if not seen.ok:
        return f"no success: {seen.kind} {seen.said[:200]!r}"
    if seen.text in texts or (prefix and seen.text.startswith(prefix)):
        return ""
    return f"the text is {seen.text[:200]!r}"


def _partial(expect: Mapping[str, Any], seen: Seen) -> str:
    text = expect["text"]
    if seen.ok:
        return "taken for a success"
    # A reply that was cut off is continued once, and the script says the same again.
    if seen.text not in (text, text + text):
        return f"the text is {seen.text!r}"
    return "" if seen.said else "nothing was said about it"


def _error(expect: Mapping[str, Any], seen: Seen) -> str:
    if seen.ok:
        return f"taken for a success: {seen.text!r}"
    kind = expect.get("kind", seen.kind)
    if seen.kind != kind:
        return f"the kind is {seen.kind!r}: {seen.said[:300]!r}"
    return "" if seen.said else "nothing was said about it"


def _calls(expect: Mapping[str, Any], seen: Seen) -> str:
    wanted = [(call["name"], call["arguments"]) for call in expect["calls"]]
    return "" if seen.runs == wanted else f"what ran is {seen.runs}"


def _no_empty_calls(expect: Mapping[str, Any], seen: Seen) -> str:
    return "ran with nothing" if any(not given for _, given in seen.runs) else ""


def _no_run(expect: Mapping[str, Any], seen: Seen) -> str:
    return f"ran {seen.runs}" if seen.runs else ""


def _corrected(expect: Mapping[str, Any], seen: Seen) -> str:
    known = [name for name, _ in seen.runs if name != "list_mp3s"]
    return f"ran {known}" if known else ""


def _capped(expect: Mapping[str, Any], seen: Seen) -> str:
    return "" if len(seen.runs) <= expect["runs_max"] else f"{len(seen.runs)} runs"


def _either(expect: Mapping[str, Any], seen: Seen) -> str:
    return "" if seen.ok else _error(expect, seen)


def _empty(expect: Mapping[str, Any], seen: Seen) -> str:
    if seen.ok and seen.text in ("Hello",):
        return ""
    shown = seen.text in ("", "Hello") and not seen.ok
    return "" if shown else f"an empty reply gave {seen.text!r}"


def _answer_or_partial(expect: Mapping[str, Any], seen: Seen) -> str:
    return _answer(expect, seen) if seen.ok else _partial(expect, seen)


JUDGES = {
    "answer": _answer,
    "partial": _partial,
    "error": _error,
    "tool_calls": _calls,
    "tool_calls_or_ask": _no_empty_calls,
    "retry_or_error": _no_run,
    "corrected_or_error": _corrected,
    "ask": _no_run,
    "capped": _capped,
    "error_or_compress": _either,
    "answer_or_empty_notice": _empty,
    "empty_notice": _empty,
    "answer_or_partial": _answer_or_partial,
}


def check_sent(sent: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with the last request.

    `without`, `with`: fields; `no_roles`; `ids`: a pattern of the ids of calls; `messages_without`,
    `messages_with`: fields of the assistant's messages; `first`: fields that were there at first.
    """
    if not sent or not bodies:
        return ""
    first, last = bodies[0], bodies[-1]
    messages = [message for message in last["messages"] if message["role"] == "assistant"]
    inside = {name for message in messages for name in message}
    roles = {message["role"] for message in last["messages"]}
    ids = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    checks = {
        "first": [name for name in sent.get("first", ()) if name not in first],
        "without": [name for name in sent.get("without", ()) if name in last],
        "with": [name for name in sent.get("with", ()) if name not in last],
        "no_roles": [role for role in sent.get("no_roles", ()) if role in roles],
        "ids": [id for id in ids if not re.fullmatch(sent.get("ids", ".*"), id)],
        "messages_without": [name for name in sent.get("messages_without", ()) if name in inside],
        "messages_with": [name for name in sent.get("messages_with", ()) if name not in inside],
    }
    wrong = {name: found for name, found in checks.items() if found}
    return f"the last request is wrong: {wrong}" if wrong else ""


def find_wrong_cut(row: Row, seen: Seen, cut: int, client: bool = False) -> str:
    """What is wrong with what was seen of a reply that was cut; empty if nothing is."""
    if cut >= first_end(row.script[-1]):
        return _wrong_words({}, seen)
    if seen.ok:
        return f"taken for a success: {seen.text!r}"
    if seen.runs and not client:
        return f"ran {seen.runs}"
    whole = row.expect.get("text", "")
    texts = [whole[:at] for at in range(len(whole) + 1)]
    if whole and seen.text.replace("\N{REPLACEMENT CHARACTER}", "") not in {
        first + again for first in texts for again in ("", first)
    }:
        return f"the text is {seen.text!r}"
    return _wrong_words({}, seen) or ("" if seen.said else "nothing was said about it")


# Addresses at which something else listens.


@contextlib.contextmanager
def opened_elsewhere(row: Row, folder: Path, server: FaultServer) -> Iterator[str]:
    """The base URL of a row whose first operation is no answer."""
    kind = row.opens["op"]
    if kind == "url":
        yield str(row.opens["url"]).replace("@port", str(server.server.port))
    elif kind == "refuse":
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"
    else:
        with TlsServer(folder) as tls:
            yield f"{row.opens['scheme']}://127.0.0.1:{tls.port}/v1"


class TlsServer(HttpServer):
    """Speaks TLS with a certificate that nobody knows, and hangs up."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._context, _ = secured(folder, ["127.0.0.1"])

    def serve_connection(self, connection: socket.socket) -> None:
        connection.settimeout(2)
        self._context.wrap_socket(connection, server_side=True).close()
