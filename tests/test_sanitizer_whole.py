"""The corpus of what is shown, through a whole turn and through a real `andy serve`."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from andy_cli import events
from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler, tools_by_name
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import words_of_name
from tests.cases import CORPORA, Row, loop_over, rows, sample_every
from tests.fakes import ScriptedModel
from tests.model_server import Received, streamed
from tests.scripted_tools import desk, list_directory, speak
from tests.serve_client import Served
from tests.test_serve import served

NAMES = tuple(json.loads((CORPORA / "sanitizer" / "tools.json").read_text(encoding="utf-8")))
TOOLS = tools_by_name([{"function": {"name": each}} for each in NAMES])
REGISTRY = Registry(
    [replace(list_directory, name=each, title=words_of_name(each)) for each in NAMES]
)
MARKERS = Markers(discover(dialects, Dialect, "DIALECT"), NAMES)
STRIP, KEEP = rows("sanitizer/strip.jsonl"), rows("sanitizer/keep.jsonl")
ENDS = "told back with call"
"""After a call a result is invented, and the reply ends there: an answer goes on."""


ALONE = ('{"tool": "x"}\n\n{"tool": "y"}',)
"""But for an object of no tool that exists nothing is left of these: then it is shown."""
END = "That was all."
"""What the model says when it is asked again."""


def expected_of(row: Row) -> str:
    if row["text"] in ALONE:
        return str(row["text"])
    return "" if row["why"] == ENDS else str(row.get("expected", row["text"]))


def seen_of(row: Row) -> list[events.Event]:
    chat = desk(ScriptedModel([row["text"], *[END] * 9], tools=True), registry=REGISTRY)
    return speak(chat, row.get("user") or "go")


def first_shown(seen: list[events.Event]) -> tuple[str, bool]:
    """What is shown of a first reply, and whether it asked for something."""
    parts: list[str] = []
    for event in seen:
        if isinstance(event, events.Said) and event.role == "assistant":
            parts.append(event.content)
        elif isinstance(event, events.ToolUsed | events.Failed | events.Audited | events.Ended):
            return "".join(parts).partition(END)[0], isinstance(event, events.ToolUsed)
    raise AssertionError("a turn ends")


@loop_over("row", sample_every(10, STRIP), ids=lambda row: str(row["why"]))
def test_a_turn_shows_no_plumbing(row: Row) -> None:
    assert first_shown(seen_of(row))[0].strip() == expected_of(row).strip()


@loop_over("row", sample_every(10, KEEP), ids=lambda row: str(row["why"]))
def test_a_turn_shows_all_the_rest(row: Row) -> None:
    seen = seen_of(row)
    shown, called = first_shown(seen)
    if called:
        assert row["why"] == "fence alone"  # in a reply that is a call, in an answer it is none
    else:
        last = seen[-1]
        assert isinstance(last, events.Ended)
        assert shown == row["text"]
        assert last.result in (shown, END)  # a claim is asked for anew


def as_a_client_reads_it(row: Row) -> str:
    """What is expected of a server: its clients read what the model says of their tools."""
    compiler = Compiler(MARKERS, TOOLS, runs_requests=False)
    compiler.feed(row["text"])
    text = compiler.finish()[1].text
    return text if text == row["text"] else expected_of(row)


def script(received: Received) -> list[Any]:
    """Say the text that the user names by its number, and the end when asked again."""
    users = [each["content"] for each in received.body["messages"] if each["role"] == "user"]
    number = int(str(users[0]).partition("#")[2])
    return [*streamed(str(ALL[number]["text"]) if len(users) == 1 else END)]


ALL = [*STRIP, *KEEP]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("home")
    with served(script, "--dialect", "hermes", home=home) as (server, _):
        yield server


@pytest.mark.slow
@loop_over("at", range(len(ALL)), ids=lambda at: str(ALL[at]["why"]))
def test_a_server_shows_no_plumbing_and_all_the_rest(server: Served, at: int) -> None:
    user = {"role": "user", "content": f"go #{at}"}
    message = server.message(user, tools=[*TOOLS.values()])
    shown = str(message.get("content") or "").partition(END)[0].strip()
    if message.get("tool_calls") and at >= len(STRIP):
        assert ALL[at]["why"] == "fence alone"
    else:
        assert shown == as_a_client_reads_it(ALL[at]).strip()
