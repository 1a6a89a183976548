"""A recognised call is never emptied: it has its arguments, or it is a fault.

Every frame with every body, and random arguments: what no notation writes, and models do.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from tests.cases import draw_cases, quick_every
from tests.mixed_frames import BODIES, NAMED, Frame

PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "ratio": {"type": "number"},
    "metric": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
}
TOOLS = {
    name: {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": PROPERTIES}},
    }
    for name in ("get_weather", "play_mp3")
}
MARKERS = Markers(discover(dialects, Dialect, "DIALECT"), tuple(TOOLS))
words = st.text(st.sampled_from("abcdefghijklmnop éüß東京 .,!?-/"), min_size=1, max_size=20).filter(
    lambda text: text.strip(" .,!?-/") and text == text.strip()
)
arguments = st.fixed_dictionaries(
    {"city": words},
    optional={
        "days": st.integers(-1000, 1000),
        "metric": st.booleans(),
        "tags": st.lists(words, max_size=3),
    },
)


def read(text: str, size: int = 0) -> CompiledReply:
    compiler = Compiler(MARKERS, TOOLS)
    for at in range(0, len(text), size or max(1, len(text))):
        compiler.feed(text[at : at + (size or len(text))])
    return compiler.finish()[1]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("frame", quick_every(9, NAMED), ids=lambda frame: str(frame.name))
@draw_cases(8)
@given(given_arguments=arguments)
def test_a_call_has_its_arguments_or_is_a_fault(
    frame: Frame, body: str, given_arguments: dict[str, object]
) -> None:
    text = frame.write("get_weather", BODIES[body]("get_weather", given_arguments))
    reply = read(text)
    calls = [(each.name, dict(each.arguments or {})) for each in reply.requests]
    if calls:
        assert json.dumps(calls) == json.dumps([("get_weather", given_arguments)])
    else:
        assert reply.fault or reply.incomplete
    assert reply.text == ""
    assert read(text, 3) == reply


PAIRS_READ = 0.95
"""Of all pairs of a frame and a body, those that are read and not only reported."""


def test_most_pairs_are_read() -> None:
    wanted = {"city": "Porto Alegre", "days": 3, "metric": True}
    pairs = [(frame, body) for frame in NAMED for body in BODIES]
    read_well = [
        (frame.name, body)
        for frame, body in pairs
        for reply in [read(frame.write("get_weather", BODIES[body]("get_weather", wanted)))]
        if [dict(each.arguments or {}) for each in reply.requests] == [wanted]
    ]
    assert len(read_well) >= PAIRS_READ * len(pairs)
