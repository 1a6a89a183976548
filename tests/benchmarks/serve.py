"""What andy serve costs: beside the model asked directly, and beside the barest proxy.

Client, model and server share the machine's processors: look at the ratios.
"""

import asyncio
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvloop

from tests.benchmarks.instant import EVENTS
from tests.benchmarks.load import Asking, connected, request
from tests.serving import MP3S, USER

PLAIN = {"model": "m", "messages": [USER]}
STREAM = {**PLAIN, "stream": True}
COMPILED = {**STREAM, "tools": MP3S, "user": "calling"}
REQUESTS = 3000
ROUNDS = 5


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": home},
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def until_there(port: int) -> float:
    """Seconds until somebody listens."""
    began = time.perf_counter()
    while time.perf_counter() - began < 20:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return time.perf_counter() - began
        time.sleep(0.002)
    raise TimeoutError


class Client:
    def __init__(self, port: int) -> None:
        self._port = port

    async def latency(self, body: bytes) -> float:
        """Median of 400 requests one after the other, in ms."""
        asking, written = await connected(self._port), request(self._port, body)
        times = []
        for _ in range(450):
            began = time.perf_counter()
            await asking.ask(written)
            times.append(time.perf_counter() - began)
        asking.close()
        return statistics.median(times[50:]) * 1000

    async def rate(self, body: bytes, clients: int, requests: int = REQUESTS) -> float:
        """Requests a second."""
        written = request(self._port, body)

        async def work(asking: Asking) -> None:
            for _ in range(requests // clients):
                await asking.ask(written)

        connections = [await connected(self._port) for _ in range(clients)]
        began = time.perf_counter()
        await asyncio.gather(*(work(each) for each in connections))
        seconds = time.perf_counter() - began
        for each in connections:
            each.close()
        return requests / seconds

    async def first(self, body: bytes) -> float:
        """Median time to the first content of a stream, in ms."""
        asking, written = await connected(self._port), request(self._port, body)
        times = []
        for _ in range(60):
            began = time.perf_counter()
            whole = asking.ask(written)
            await asking.first
            times.append(time.perf_counter() - began)
            await whole
        asking.close()
        return statistics.median(times) * 1000


async def measured(port: int) -> dict[str, list[float]]:
    plain, stream = json.dumps(PLAIN).encode(), json.dumps(STREAM).encode()
    compiled = json.dumps(COMPILED).encode()
    found: dict[str, list[float]] = {}
    client = Client(port)
    for _ in range(ROUNDS):
        figures = {
            "latency": await client.latency(plain),
            "16": await client.rate(plain, 16),
            "64": await client.rate(plain, 64),
            "events": await client.rate(stream, 4, 24) * EVENTS,
            "first": await client.first(stream),
            "compiled": await client.rate(compiled, 4, 24) * EVENTS,
        }
        for name, figure in figures.items():
            found.setdefault(name, []).append(figure)
    return found


def of(port: int) -> dict[str, float]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(measured(port))
    return {name: statistics.median(each) for name, each in figures.items()}


def memory(process: subprocess.Popen[str]) -> float:
    """MB that are resident."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:  # noqa: PTH123
        found = re.search(r"VmRSS:\s+(\d+)", file.read())
    return int(found[1]) / 1024 if found else 0


def main() -> None:
    model, bare, ours, taught = (free_port() for _ in range(4))
    url = f"http://127.0.0.1:{model}/v1"
    with started("tests.benchmarks.instant", str(model)):
        until_there(model)
        direct = of(model)
        with started("tests.benchmarks.bare_proxy", str(bare), f"{url}/chat/completions"):
            until_there(bare)
            floor = of(bare)
        serve = ("andy_cli", "serve", "--upstream", url, "--model", "m")
        starts = []
        for _ in range(ROUNDS):
            with started(*serve, "--port", str(ours)):
                starts.append(until_there(ours))
        with started(*serve, "--port", str(ours)) as process:
            until_there(ours)
            time.sleep(0.3)
            idle = memory(process)
            passed = of(ours)
            after = memory(process)
        with started(*serve, "--dialect", "hermes", "--port", str(taught)):
            until_there(taught)
            compiled = of(taught)
    print(f"{'':26}{'model itself':>14}{'bare proxy':>14}{'andy serve':>14}   goal")
    for name, words, goal in RATES:
        show(words, [each[name] for each in (direct, floor, passed)], goal)
    show("first content, ms", [each["first"] for each in (direct, floor, passed)], "+2")
    added = [each["latency"] - direct["latency"] for each in (floor, passed)]
    show("latency added, p50, ms", [0, *added], "0.6")
    show("events/s compiled", [0, 0, compiled["compiled"]], "20000")
    show("events/s read along", [0, 0, passed["compiled"]], "")
    show("start to listening, s", [0, 0, statistics.median(starts)], "0.3")
    show("idle, MB", [0, 0, idle], "60")
    show("after all of this, MB", [0, 0, after], "")


RATES = (
    ("16", "requests/s, 16 clients", "4000"),
    ("64", "requests/s, 64 clients", "4000"),
    ("events", "events/s passed on", "40000"),
)


def show(words: str, figures: Sequence[float], goal: str) -> None:
    cells = [f"{each:>14.2f}" if 0 < each < 100 else f"{each:>14.0f}" for each in figures]
    print(f"{words:26}{''.join(cells)}   {goal}")
