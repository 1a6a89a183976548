"""The compiler as a library: what docs/library.md shows works, and it loads little."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

import andy_cli.compiler
from andy_cli.compiler import StreamCompiler, compile_text, list_dialects, write_call, write_history
from andy_cli.compiler.compiler import Compiler
from tests.cases import loop_over
from tests.test_compiler import MARKERS, TOOLS, replies

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "library.md"
FUNCTIONS = list(TOOLS.values())
HEAVY = "openai httpx httpx2 pydantic rich typer prompt_toolkit jinja2 asyncio".split()


def test_the_examples_of_the_document_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), names)


def test_the_stub_has_every_name_that_is_exported() -> None:
    stub = (ROOT / "andy_cli" / "compiler" / "__init__.pyi").read_text(encoding="utf-8")
    imports = [each for each in ast.parse(stub).body if isinstance(each, ast.ImportFrom)]
    named = [alias.name for each in imports for alias in each.names]
    assert named == andy_cli.compiler.__all__
    assert all(hasattr(andy_cli.compiler, name) for name in named)


def test_importing_it_loads_nothing_and_using_it_nothing_heavy() -> None:
    code = f"""
import sys
import andy_cli.compiler
print(*(name for name in sys.modules if name.startswith("andy_cli")))
andy_cli.compiler.compile_text("Hello.", [{{"name": "ping"}}])
andy_cli.compiler.fit_arguments("ping", {{}}, [{{"name": "ping"}}])
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["andy_cli andy_cli.compiler", ""]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'parse'"):
        andy_cli.compiler.__getattr__("parse")


def test_an_unknown_dialect_is_a_value_error_that_names_all() -> None:
    for ask in (
        lambda: compile_text("Hello.", dialect="klingon"),
        lambda: write_call("ping", {}, "klingon"),
        lambda: write_history([], "klingon"),
    ):
        with pytest.raises(ValueError, match=r"'klingon'\. There are: action, andybot"):
            ask()


@given(replies)
def test_complete_requests_are_requests_in_the_end(reply: str) -> None:
    for cut_off in (False, True):
        compiler = Compiler(MARKERS, TOOLS)
        seen = [compiler.feed(character) and compiler.settled for character in reply]
        _, whole = compiler.finish(cut_off)
        assert all(whole.requests[: len(each)] == each for each in seen)


@loop_over("dialect", [each for each in list_dialects() if each != "native"])
def test_what_is_written_is_read_in_a_stream(dialect: str) -> None:
    arguments = {"path": "a", "file": "b.mp3"}
    stream = StreamCompiler(FUNCTIONS, dialect)
    for character in write_call("play_mp3", arguments, dialect):
        stream.feed(character)
    _, reply = stream.finish()
    assert [request.name.lower() for request in reply.requests] == ["play_mp3"]
    assert reply.requests[0].arguments in (None, {}, arguments)


def test_open_reasoning_is_reasoning() -> None:
    reply = compile_text("Hm.</think>Yes.", reasoning_open=True)
    assert (reply.reasoning, reply.text) == ("Hm.", "Yes.")


def test_a_call_that_was_cut_off_is_none() -> None:
    reply = compile_text('<tool_call>{"name": "ping", "argum', FUNCTIONS, cut_off=True)
    assert (reply.requests, reply.incomplete) == ((), True)


def test_native_history_stays_what_it_is() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    history: list[dict[str, object]] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Ping."}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "pong"},
        {"role": "critic", "content": "left out"},
    ]
    written = write_history(history, "native")
    assert [message["role"] for message in written] == ["system", "user", "assistant", "tool"]
    assert written[1]["content"] == "Ping."
    assert written[2]["tool_calls"] == [call]
    assert written[3]["tool_call_id"] == "1"


@pytest.mark.parametrize("arguments", ["{", "[]", None, {"path": "a"}])
def test_arguments_of_a_history_are_an_object(arguments: object) -> None:
    function = {"name": "ping", "arguments": arguments}
    calls: list[object] = [{"id": "1", "function": function}, "nonsense"]
    history: list[dict[str, object]] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": calls},
    ]
    assert '"ping"' in str(write_history(history, "hermes")[1]["content"])
