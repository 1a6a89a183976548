"""What a streamed event and a long answer cost."""

import json
import tempfile
from collections.abc import Callable

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.models.http.wire import WireReader
from tests.benchmarks.measure import ANDY, cpu, per_item, table
from tests.benchmarks.server import answer, words
from tests.benchmarks.startup import instant_server

EVENTS = 20_000
BLOCK = 16_384
"""Bytes the network hands over at once when a server is fast."""


def reading(stream: bytes, size: int) -> Callable[[], None]:
    def work() -> None:
        reader = WireReader()
        for at in range(0, len(stream), size):
            reader.feed(stream[at : at + size])
        reader.finish()

    return work


def one_by_one(stream: bytes) -> Callable[[], None]:
    """Each event on its own, as a slow server sends them."""
    pieces = [piece + b"\n\n" for piece in stream.split(b"\n\n") if piece]

    def work() -> None:
        reader = WireReader()
        for piece in pieces:
            reader.feed(piece)
        reader.finish()

    return work


def parsing(stream: bytes) -> Callable[[], None]:
    lines = [line[6:] for line in stream.split(b"\n") if line.startswith(b"data: {")]

    def work() -> None:
        for line in lines:
            json.loads(line)

    return work


def compiling(pieces: list[str]) -> Callable[[], None]:
    markers = Markers(discover(dialects, Dialect, "DIALECT"))

    def work() -> None:
        compiler = Compiler(markers)
        for piece in pieces:
            compiler.feed(piece)
        compiler.finish()

    return work


def main() -> None:
    stream = answer(EVENTS)
    floor = per_item(parsing(stream), EVENTS)
    burst = per_item(reading(stream, BLOCK), EVENTS)
    single = per_item(one_by_one(stream), EVENTS)
    compiled = per_item(compiling(words(EVENTS)), EVENTS)
    table(
        "stream: microseconds an event",
        [
            (
                "before the compiler, in bursts",
                f"{burst:.2f}",
                f"{floor:.2f}  json.loads",
                "(<= 5)",
            ),
            (
                "before the compiler, one by one",
                f"{single:.2f}",
                f"{floor:.2f}  json.loads",
                "(<= 5)",
            ),
            ("the compiler, 4 characters each", f"{compiled:.2f}", "", ""),
        ],
    )
    rows = []
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "OPENAI_API_KEY": ""}
        for tokens in (20, 20_000, 40_000, 80_000):
            with instant_server(tokens) as url:
                spent = cpu([ANDY, "run", "--base-url", url, "--model", "m", "x"], env=env)
            goal = "(<= 1)" if tokens == 20_000 else ""
            rows.append((f"andy run, {tokens} tokens", f"{spent:.2f}", "", goal))
    table("stream: CPU seconds of a whole run", rows)
