"""What servers send, in every cut, and what it says."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler.dialects.native import NativeCalls
from andy_cli.errors import ModelError, TransientError
from andy_cli.messages import CallDelta, Chunk, Usage
from andy_cli.models.http.wire import WireReader
from tests.cases import loop_over

WIRE = Path(__file__).parent / "corpora" / "wire"
CASES = sorted(WIRE.glob("*.txt"))

Meaning = dict[str, Any]


def read(*pieces: bytes) -> tuple[list[Chunk], ModelError | None]:
    reader = WireReader()
    chunks = [chunk for piece in pieces for chunk in reader.feed(piece)]
    return [*chunks, *reader.finish()], reader.failure


def meaning(*pieces: bytes) -> Meaning:
    """What the reply says, in the form of the corpus' json files."""
    chunks, failure = read(*pieces)
    finishes = [chunk.finish for chunk in chunks if chunk.finish]
    calls = NativeCalls()
    for chunk in chunks:
        if chunk.call:
            calls.add(chunk.call)
    requests, incomplete, *_ = calls.read(complete=bool(finishes))
    usages = [list(chunk.usage[:2]) for chunk in chunks if chunk.usage]
    said: Meaning = {
        "text": "".join(chunk.text for chunk in chunks),
        "reasoning": "".join(chunk.reasoning for chunk in chunks),
        "calls": [[each.name, each.arguments] for each in requests],
        "incomplete": incomplete,
        "finish": finishes[-1] if finishes else "",
        "usage": usages[-1] if usages else None,
        "error": [failure.kind, str(failure)] if failure else None,
    }
    return {name: value for name, value in said.items() if value}


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@loop_over("case", CASES, ids=lambda case: case.stem)
def test_a_reply_means_what_its_file_says(case: Path) -> None:
    assert meaning(case.read_bytes()) == json.loads(case.with_suffix(".json").read_text())


@loop_over("case", CASES, ids=lambda case: case.stem)
@loop_over("size", [1, 2, 3, 7, 64])
def test_pieces_of_any_size_mean_the_same(case: Path, size: int) -> None:
    data = case.read_bytes()
    assert meaning(*cut(data, size)) == meaning(data)


@given(st.sampled_from(CASES), st.data())
def test_no_cut_changes_the_meaning(case: Path, draw: st.DataObject) -> None:
    data = case.read_bytes()
    cuts = sorted(draw.draw(st.sets(st.integers(0, len(data)), max_size=6)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert meaning(*pieces) == meaning(data)


@loop_over("end", ["\n", "\r", "\r\n"])
@loop_over("case", [case for case in CASES if case.read_bytes()[:5] == b"data:"])
def test_all_line_ends_mean_the_same(case: Path, end: str) -> None:
    data = case.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert meaning(*cut(data.replace(b"\n", end.encode()), 5)) == meaning(data)


@given(st.binary(max_size=200))
def test_no_bytes_at_all_raise(data: bytes) -> None:
    read(data)


fields = st.sampled_from(
    "choices delta message content index tool_calls function name arguments id usage error text "
    "finish_reason reasoning function_call prompt_tokens type code detail object".split()
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("error"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=12,
)


@given(junk, st.booleans())
def test_no_shape_of_an_event_raises(event: object, whole: bool) -> None:
    data = json.dumps(event)
    read(data.encode() if whole else f"data: {data}\n\n".encode())


def event(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"


def test_the_text_of_one_feed_is_one_chunk() -> None:
    assert WireReader().feed(event("a") + event("b") + event("c")) == [Chunk("abc")]


def test_text_is_given_as_soon_as_its_line_is_whole() -> None:
    reader = WireReader()
    assert reader.feed(event("a")[:-1]) == [Chunk("a")]


def test_pieces_of_calls_are_given_apart() -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{"}}
    data = json.dumps({"choices": [{"delta": {"tool_calls": [call, {"index": 1}]}}]})
    assert read(f"data: {data}\n\n".encode())[0] == [
        Chunk(call=CallDelta(0, "c1", "f", "{")),
        Chunk(call=CallDelta(1)),
    ]


def test_nothing_is_read_after_the_end() -> None:
    reader = WireReader()
    reader.feed(event("a") + b"data: [DONE]\n\n")
    assert reader.done
    assert reader.feed(event("b")) == []


def test_usage_comes_once_and_last() -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\n\n'
    chunks, _ = read(usage + event("a") + usage + b"data: [DONE]\n\n")
    assert chunks[-1] == Chunk(usage=Usage(3, 4))
    assert [chunk for chunk in chunks if chunk.usage] == [chunks[-1]]


def test_what_was_said_before_an_error_is_kept() -> None:
    error = b'data: {"error": {"message": "Provider disconnected", "code": 502}}\n\n'
    chunks, failure = read(event("Hel") + event("lo") + error)
    assert chunks == [Chunk("Hello")]
    assert isinstance(failure, TransientError)
    assert "Provider disconnected" in str(failure)


def test_a_reply_with_an_unreadable_line_does_not_end_well() -> None:
    end = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    chunks, failure = read(event("Hel") + b'data: {"id":"c1","cho\n\n' + event("lo") + end)
    assert "".join(chunk.text for chunk in chunks) == "Hello"
    assert not [chunk for chunk in chunks if chunk.finish]
    assert failure is None


def test_a_long_line_in_small_pieces_is_read_in_good_time() -> None:
    data = event("x" * 1_000_000)
    assert meaning(*cut(data, 10))["text"] == "x" * 1_000_000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "data: " + "[" * 100_000])
def test_deep_nesting_is_a_sentence(text: str) -> None:
    assert meaning(text.encode()).get("text") is None
